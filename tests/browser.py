"""A headless Chromium, driven by WebDriver's HTTP interface. Needs `chromedriver` (Debian: `chromium-driver`)."""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from sandbox.parts import free_ports
from tests.waiting import wait_until

SIZE = (1440, 900)
# The UI draws its graph after its data have arrived.
DRAWN_AFTER_S = 6
# axe-core looks at each of the many thousand elements of a large report.
SCRIPT_S = 300


class Browser:
    """A headless Chromium, driven by WebDriver's HTTP interface."""

    def __init__(self, port: int) -> None:
        # Driver and Airflow are on loopback, which a proxy cannot reach.
        self._http = httpx.Client(timeout=SCRIPT_S + 60, trust_env=False)
        self._base = f"http://127.0.0.1:{port}"
        switches = ["--headless=new", "--no-sandbox", f"--window-size={SIZE[0]},{SIZE[1]}", "--hide-scrollbars"]
        wanted = {"alwaysMatch": {"goog:chromeOptions": {"args": switches}}}
        session = self._call("POST", "/session", {"capabilities": wanted})["sessionId"]
        self._base += f"/session/{session}"
        self._call("POST", "/timeouts", {"script": SCRIPT_S * 1000})
        # The window has a frame, also without a screen.
        self.resize(*SIZE)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        reply = self._http.request(method, self._base + path, json=body)
        return reply.raise_for_status().json()["value"]

    def open(self, url: str) -> None:
        """Open a page."""
        self._call("POST", "/url", {"url": url})

    def run(self, script: str) -> Any:
        """Run a script in the page."""
        return self._call("POST", "/execute/sync", {"script": script, "args": []})

    def text(self) -> str:
        """Return the text of the page."""
        return str(self.run("return document.body.innerText"))

    def log_in(self, url: str, token: str) -> None:
        """Give the UI a token."""
        self.open(f"{url}/auth/login")
        self._call("POST", "/cookie", {"cookie": {"name": "_token", "value": token, "path": "/"}})

    def resize(self, width: int, height: int) -> None:
        """Give the page this size, in CSS pixels."""
        frame = self.run("return outerHeight - innerHeight")
        self._call("POST", "/window/rect", {"width": width, "height": height + frame})

    def prefer(self, theme: str) -> None:
        """Let the system prefer a theme, `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": theme}]
        command = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        self._call("POST", "/goog/cdp/execute", command)

    def in_frame(self, script: str) -> Any:
        """Run a script with `page`, the document in the frame of Airflow's UI."""
        return self.run(f"const page = document.querySelector('iframe').contentDocument; {script}")

    def framed_text(self) -> str:
        """Return the text in the frame of Airflow's UI; empty while there is none."""
        frame = "document.querySelector('iframe')?.contentDocument?.body?.innerText ?? ''"
        return str(self.run(f"return {frame}"))

    def click(self, label: str) -> None:
        """Click the button of this label as soon as the page has it."""
        button = f"document.querySelector('button[aria-label^=\"{label}\"]')"
        wait_until(lambda: self.run(f"return {button} !== null"), what=f"the button {label}")
        self.run(f"{button}.click()")

    def press(self, key: str) -> None:
        """Press a key; special keys have the code points of WebDriver."""
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def shoot(self, path: Path, text: str = "") -> None:
        """Write what the window shows, as soon as the page has this text."""
        wait_until(lambda: text in self.text(), what=f"a page with {text!r}")
        time.sleep(DRAWN_AFTER_S)
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def printed(self) -> bytes:
        """Return the page as the browser prints it: a PDF."""
        return base64.b64decode(self._call("POST", "/print", {}))

    def close(self) -> None:
        """End the browser."""
        self._call("DELETE", "")
        self._http.close()


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a driver with its browser; stop both."""
    program = shutil.which("chromedriver")
    if program is None:
        raise FileNotFoundError("chromedriver is missing. On Debian: apt-get install chromium-driver")
    (port,) = free_ports(1)
    driver = subprocess.Popen([program, f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: _is_ready(port), what="chromedriver")
        made = Browser(port)
        yield made
        made.close()
    finally:
        driver.terminate()
        driver.wait(30)


def _is_ready(port: int) -> bool:
    try:
        return bool(httpx.get(f"http://127.0.0.1:{port}/status", trust_env=False).json()["value"]["ready"])
    except httpx.TransportError:
        return False
