"""A headless Chromium to test pages with: served files, real key presses, values read back.

It is steered through its own protocol over a pipe, which needs no package beside the browser.
"""

import fcntl
import itertools
import json
import os
import select
import shutil
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "_build" / "html"
AXE = ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
]
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9, "Enter": 13}
KEYS |= {"Escape": 27}
TYPES = {".mjs": "text/javascript", ".html": "text/html"}
SECONDS = 30

REQUIRED = bool(os.environ.get("USERDP_REQUIRE_PAGES"))
in_a_browser = pytest.mark.skipif(not REQUIRED and not CHROMIUM, reason="Chromium is not installed")
on_the_built_pages = pytest.mark.skipif(
    not REQUIRED and not BUILT.exists(), reason="the book is not built: run `make book` first"
)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends stay clear of the numbers 3 and 4, at which Chromium expects its own."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


class Page:
    """A browser that shows one page at a time."""

    def __init__(self, profile: Path) -> None:
        (theirs_in, self._out), (self._in, theirs_out) = _pipe(), _pipe()
        actions = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}"]
        quiet = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
        self._process = os.posix_spawn(
            CHROMIUM, command, os.environ, file_actions=[*actions, quiet]
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers, self._unread, self._session = itertools.count(1), b"", None
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._tab = ""

    def close(self) -> None:
        """End the browser."""
        self._session = None
        self.send("Browser.close")
        os.close(self._out)
        os.close(self._in)
        os.waitpid(self._process, 0)

    def send(self, method: str, **params) -> dict:
        """Give a command of the protocol, and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if "method" in answer:
                self._note(answer["method"], answer["params"])
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _note(self, method: str, params: dict) -> None:
        """Keep what went wrong in the page, and what it asked for."""
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(str(params["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def _read(self) -> dict:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], SECONDS)
            piece = os.read(self._in, 1 << 16) if ready else b""
            if not piece:
                raise RuntimeError("Chromium does not answer.")
            self._unread += piece
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def run(self, script: str):
        """Return the value of a script in the page."""
        result = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, condition: str):
        """Return the value of a script once it is true; fail where it stays false."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                value = self.run(condition)
            except RuntimeError:  # between two pages
                value = None
            if value:
                return value
            time.sleep(0.02)
        raise TimeoutError(f"never came true: {condition}")

    def open(self, address: str) -> None:
        """Load a page from the beginning, in a new tab."""
        self.errors.clear()
        self.requests.clear()
        self._session, left = None, self._tab
        self._tab = self.send("Target.createTarget", url="about:blank")["targetId"]
        if left:
            self.send("Target.closeTarget", targetId=left)
        attached = self.send("Target.attachToTarget", targetId=self._tab, flatten=True)
        self._session = attached["sessionId"]
        for domain in ["Runtime", "Log", "Network"]:
            self.send(f"{domain}.enable")
        self.send("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window another size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def point(self, x: float, y: float) -> None:
        """Move the mouse to a point of the window."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press a key, or type a character, into what has the focus."""
        if key in KEYS:
            code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            text = "\r" if key == "Enter" else ""  # without which a button is not pressed
            kind = "keyDown" if text else "rawKeyDown"
            self.send("Input.dispatchKeyEvent", type=kind, text=text, **code)
            self.send("Input.dispatchKeyEvent", type="keyUp", **code)
        else:
            self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key)


@contextmanager
def served(folder: Path, changed=lambda name, text: text):
    """Serve a folder here, its pages and scripts as `changed` returns them; yield the address."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            path = Path(self.translate_path(self.path))
            if path.suffix not in TYPES or not path.exists():
                super().do_GET()
                return
            body = changed(path.name, path.read_text()).encode()
            self.send_response(200)
            self.send_header("Content-Type", TYPES[path.suffix])
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
