"""Screenshots of Airflow's UI with a real cutover: `python docs/screenshots.py FOLDER`, after `make up`.

Triggers a cutover of the demo, waits for its question, and writes one PNG per page at 1440 × 900. The cutover is then
approved, so the next call needs `make down` and `make up`. Needs `chromedriver` and a Chromium (Debian:
`chromium-driver`).
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from sandbox.airflow_api import AirflowApi  # noqa: E402
from sandbox.parts import free_ports  # noqa: E402
from sandbox.sandbox import DEFAULT_ROOT  # noqa: E402
from sandbox.state import FILE_NAME, SandboxState  # noqa: E402
from tests.waiting import ASKING_AIRFLOW_S, wait_until  # noqa: E402

DAG = "kafka_migration__demo"
SIZE = (1440, 900)
PATIENCE_S = 900
# The UI draws its graph after its data have arrived.
DRAWN_AFTER_S = 6


class Browser:
    """A headless Chromium, driven by WebDriver's HTTP interface."""

    def __init__(self, port: int) -> None:
        # Driver and Airflow are on loopback, which a proxy cannot reach.
        self._http = httpx.Client(timeout=120, trust_env=False)
        self._base = f"http://127.0.0.1:{port}"
        switches = ["--headless=new", "--no-sandbox", f"--window-size={SIZE[0]},{SIZE[1]}", "--hide-scrollbars"]
        wanted = {"alwaysMatch": {"goog:chromeOptions": {"args": switches}}}
        session = self._call("POST", "/session", {"capabilities": wanted})["sessionId"]
        self._base += f"/session/{session}"
        # The window has a frame, also without a screen.
        frame = self.run("return outerHeight - innerHeight")
        self._call("POST", "/window/rect", {"width": SIZE[0], "height": SIZE[1] + frame})

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

    def click(self, label: str) -> None:
        """Click the button of this label as soon as the page has it."""
        button = f"document.querySelector('button[aria-label^=\"{label}\"]')"
        wait_until(lambda: self.run(f"return {button} !== null"), what=f"the button {label}")
        self.run(f"{button}.click()")

    def shoot(self, path: Path, text: str = "") -> None:
        """Write what the window shows, as soon as the page has this text."""
        wait_until(lambda: text in self.text(), what=f"a page with {text!r}")
        time.sleep(DRAWN_AFTER_S)
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def close(self) -> None:
        """End the browser."""
        self._call("DELETE", "")


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a driver with its browser; stop both."""
    program = shutil.which("chromedriver")
    if program is None:
        sys.exit("chromedriver is missing. On Debian: apt-get install chromium-driver")
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


def main(folder: Path) -> None:
    """Take all screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (DEFAULT_ROOT / FILE_NAME).exists():
        sys.exit("No sandbox is running. Start it with `make up`.")
    state = SandboxState.load(DEFAULT_ROOT / FILE_NAME)
    api, url = AirflowApi.of(state), state.airflow_url
    with browser() as page:
        page.log_in(url, api.token())
        page.open(f"{url}/dags/{DAG}")
        page.click("Show Graph")
        page.shoot(folder / "graph.png")
        page.click("Show Grid")
        page.click("Expand all task groups")
        page.shoot(folder / "grid.png")
        page.click("Trigger Dag")
        page.shoot(folder / "form.png")
        run_id = api.trigger(DAG, {"mode": "cutover"})
        run = f"{url}/dags/{DAG}/runs/{run_id}"
        wait_until(lambda: _is_waiting(api, run_id), PATIENCE_S, "the question", ASKING_AIRFLOW_S)
        page.open(f"{run}/tasks/watch_lag")
        page.shoot(folder / "progress.png", "The fence is proved")
        page.open(f"{run}/tasks/approve/required_actions")
        page.shoot(folder / "approval.png", "Before you answer")
        api.answer(DAG, run_id, "approve", "Approve")
        wait_until(lambda: api.run(DAG, run_id).is_finished, PATIENCE_S, "the end of the cutover", ASKING_AIRFLOW_S)
        page.open(run)
        page.shoot(folder / "run.png", "cutover · PASS")
        page.open(f"{url}/kafka-migration/report/{quote(DAG, safe='')}/{quote(run_id, safe='')}")
        page.shoot(folder / "report.png")


def _is_waiting(api: AirflowApi, run_id: str) -> bool:
    task = api.run(DAG, run_id).task("approve")
    return task is not None and task.state in {"deferred", "awaiting_input"}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
