"""The built book, and what tests of its pages share: a server, and the path of Chromium."""

import os
import shutil
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
BUILT = ROOT / "_build" / "html"
AXE = Path(__file__).resolve().parent / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DISABLED = ["gpu", "quic", "sync", "background-networking", "component-update"]
FLAGS = ["--no-sandbox", "--no-first-run", *(f"--disable-{feature}" for feature in DISABLED)]
MINUTE = 60_000  # ms; a long timeout, because a busy machine is not a fault of a page

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CHAPTERS = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
# Pages of code are all built in the same way; these two together have code in every colour.
CODE = ["code/userdp/worstcase", "code/tests/site/test_publishing"]
PAGES = [*CHAPTERS, "404", "genindex", "prf-prf", "search", *CODE]

REQUIRED = bool(os.environ.get("USERDP_REQUIRE_PAGES"))
on_the_built_pages = pytest.mark.skipif(
    not REQUIRED and not BUILT.exists(), reason="the book is not built: run `make book` first"
)
every_chapter = pytest.mark.parametrize("name", CHAPTERS)
every_page = pytest.mark.parametrize("name", PAGES)

TYPESET = "() => document.fonts.ready.then(() => true)"  # formulas are typeset, with their fonts
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
UNFOLD = """{
  for (const node of document.querySelectorAll('details')) node.open = true;
  for (const button of document.querySelectorAll('.toggle-hidden button')) button.click();
}"""


def set_appearance(page, width, theme):
    """Set the width of the window and the theme."""
    page.set_viewport_size({"width": width, "height": 900})
    chosen = f"{{mode: '{theme}', theme: '{theme}'}}"
    page.evaluate(f"Object.assign(document.documentElement.dataset, {chosen})")
    page.evaluate(PAINTED)


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@contextmanager
def serve(folder: Path):
    """Serve a folder, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
