"""Screenshots of Airflow's UI with a real cutover: `python docs/screenshots.py FOLDER`, after `make up`.

Triggers a cutover of the demo, waits for its question, and writes one PNG per page at 1440 × 900. The cutover is then
approved, so the next call needs `make down` and `make up`. Needs `chromedriver` and a Chromium (Debian:
`chromium-driver`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from sandbox.airflow_api import AirflowApi  # noqa: E402
from sandbox.sandbox import DEFAULT_ROOT  # noqa: E402
from sandbox.state import FILE_NAME, SandboxState  # noqa: E402
from tests.browser import browser  # noqa: E402
from tests.waiting import ASKING_AIRFLOW_S, wait_until  # noqa: E402

DAG = "kafka_migration__demo"
PATIENCE_S = 900


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
        page.open(f"{run}/plugin/kafka-migration-run")
        wait_until(lambda: "The copy is proved" in page.framed_text(), what="the page of the migration")
        page.shoot(folder / "migration.png")
        api.answer(DAG, run_id, "approve", "Approve")
        wait_until(lambda: api.run(DAG, run_id).is_finished, PATIENCE_S, "the end of the cutover", ASKING_AIRFLOW_S)
        page.open(run)
        page.shoot(folder / "run.png", "cutover · PASS")
        page.open(f"{url}/plugin/kafka-migrations")
        wait_until(lambda: "demo" in page.framed_text(), what="the list of migrations")
        page.shoot(folder / "migrations.png")
        page.open(f"{url}/kafka-migration/report/{quote(DAG, safe='')}/{quote(run_id, safe='')}")
        page.shoot(folder / "report.png")


def _is_waiting(api: AirflowApi, run_id: str) -> bool:
    task = api.run(DAG, run_id).task("approve")
    return task is not None and task.state in {"deferred", "awaiting_input"}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
