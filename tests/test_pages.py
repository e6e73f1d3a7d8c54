"""The built book in a browser: pages render, equations and figures included, without a network."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "_build" / "html" / "book"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
REQUIRED = bool(os.environ.get("USERDP_REQUIRE_PAGES"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
NAMES = [
    Path(file).name
    for file in [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
]

pytestmark = [
    pytest.mark.skipif(
        not REQUIRED and not PAGES.exists(), reason="the book is not built: run `make book` first"
    ),
    pytest.mark.skipif(not REQUIRED and not CHROMIUM, reason="Chromium is not installed"),
]


def rendered(name, profile):
    """The page's HTML after its scripts have run."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command = [
        CHROMIUM,
        *flags,
        f"--user-data-dir={profile}",
        "--virtual-time-budget=20000",
        "--dump-dom",
        (PAGES / f"{name}.html").as_uri(),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.parametrize("name", NAMES)
def test_page_renders_without_a_network(name, tmp_path):
    page = rendered(name, tmp_path)
    formulas = len(re.findall(r'class="math', (PAGES / f"{name}.html").read_text()))
    assert page.count("<mjx-container") >= formulas
    assert "<mjx-merror" not in page
    loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page)
    assert loaded == []
    for image in re.findall(r'<img[^>]+src="([^"]+)"', page):
        assert (PAGES / image).exists()


def test_figure_1_shows_both_panels_and_both_values(tmp_path):
    page = rendered("figure-1", tmp_path)
    assert page.count("<mjx-container") > 50
    assert "585/56" in page
    assert "169/44" in page
    assert re.search(r'<img[^>]+alt="Two panels, error against privacy budget', page)
