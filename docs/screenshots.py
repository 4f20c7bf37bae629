"""Screenshots of Airflow's UI with a real cutover: `python docs/screenshots.py FOLDER`, after `make up`.

Triggers a cutover of the demo, waits for its question, and writes one PNG per page at 1440 × 900. The cutover is then
rejected. Needs `chromedriver` and a Chromium (Debian: `chromium-driver`).
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

import httpx

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from sandbox.airflow_api import AirflowApi, AirflowApiError  # noqa: E402
from sandbox.sandbox import DEFAULT_ROOT  # noqa: E402
from sandbox.state import FILE_NAME, SandboxState  # noqa: E402

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

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        reply = self._http.request(method, self._base + path, json=body)
        return reply.raise_for_status().json()["value"]

    def open(self, url: str) -> None:
        """Open a page."""
        self._call("POST", "/url", {"url": url})

    def run(self, script: str) -> Any:
        """Run a script in the page."""
        return self._call("POST", "/execute/sync", {"script": script, "args": []})

    def log_in(self, url: str, token: str) -> None:
        """Give the UI a token, and let it show a DAG as its graph."""
        self.open(f"{url}/auth/login")
        self._call("POST", "/cookie", {"cookie": {"name": "_token", "value": token, "path": "/"}})
        self.run(f"localStorage.setItem('dagView', 'graph'); localStorage.setItem('dagView-{DAG}', 'graph')")

    def shoot(self, path: Path) -> None:
        """Write what the window shows."""
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
    port = 39515
    driver = subprocess.Popen([program, f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        made = _when_ready(lambda: Browser(port))
        yield made
        made.close()
    finally:
        driver.terminate()
        driver.wait(30)


def _when_ready(make: Any) -> Any:
    for _ in range(60):
        try:
            return make()
        except httpx.TransportError:
            time.sleep(0.5)
    return make()


def main(folder: Path) -> None:
    """Take all screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (DEFAULT_ROOT / FILE_NAME).exists():
        sys.exit("No sandbox is running. Start it with `make up`.")
    state = SandboxState.load(DEFAULT_ROOT / FILE_NAME)
    api, url = AirflowApi.of(state), state.airflow_url
    with browser() as page:
        page.log_in(url, _token(state))
        page.open(f"{url}/dags/{DAG}")
        page.shoot(folder / "graph.png")
        page.open(f"{url}/dags/{DAG}/trigger")
        page.shoot(folder / "form.png")
        run_id = api.trigger(DAG, {"mode": "cutover"})
        _wait(lambda: api.run(DAG, run_id).task("watch_lag"), "the watch")
        run = f"{url}/dags/{DAG}/runs/{run_id}"
        page.open(f"{run}/tasks/watch_lag")
        page.shoot(folder / "progress.png")
        _wait(lambda: _question(api, run_id), "the question")
        page.open(f"{run}/tasks/approve/required_actions")
        page.shoot(folder / "approval.png")
        page.open(run)
        page.shoot(folder / "run.png")
        api.answer(DAG, run_id, "approve", "Reject")


def _token(state: SandboxState) -> str:
    login = {"username": state.airflow_user, "password": state.airflow_password}
    reply = httpx.post(f"{state.airflow_url}/auth/token", json=login, timeout=60, trust_env=False)
    return str(reply.raise_for_status().json()["access_token"])


def _question(api: AirflowApi, run_id: str) -> str:
    try:
        return api.question(DAG, run_id, "approve")
    except AirflowApiError:
        return ""


def _wait(condition: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"{what} did not come within {PATIENCE_S} s")
        time.sleep(2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
