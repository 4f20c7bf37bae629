"""The pictures of the documentation: `python docs/screenshots.py docs/images`, after `make up`.

Triggers a cutover of the demo, waits for its question, and writes each picture twice: `NAME.png` in light and
`NAME-dark.png` in dark. A picture whose point is outside of the window is an error. The cutover is then approved, so
the next call needs `make down` and `make up`. Needs `chromedriver` and a Chromium (Debian: `chromium-driver`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from sandbox.airflow_api import AirflowApi  # noqa: E402
from sandbox.sandbox import DEFAULT_ROOT  # noqa: E402
from sandbox.state import FILE_NAME, SandboxState  # noqa: E402
from tests.browser import SIZE, Browser, browser  # noqa: E402
from tests.waiting import ASKING_AIRFLOW_S, wait_until  # noqa: E402

DAG = "kafka_migration__demo"
PATIENCE_S = 900
# The ending of a picture's name in each theme.
THEMES = {"light": "", "dark": "-dark"}
# Scrolls the first text to the top; whether the window shows it and all others whole.
IS_SHOWN = """
const root = document.querySelector('iframe')?.contentDocument ?? document;
const found = (text) => {
  const places = [];
  const nodes = root.createTreeWalker(root.body ?? root, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const node = nodes.currentNode, start = node.data.indexOf(text);
    if (start < 0 || !node.parentElement.checkVisibility()) continue;
    const range = root.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + text.length);
    places.push({element: node.parentElement, box: () => range.getBoundingClientRect()});
  }
  return places;
};
const isInside = (box, edge) =>
  box.top >= edge.top - 1 && box.left >= edge.left - 1 && box.bottom <= edge.bottom + 1 && box.right <= edge.right + 1;
const isWhole = (place) => {
  const box = place.box();
  for (let outer = place.element; outer && outer !== root.body; outer = outer.parentElement) {
    const hides = root.defaultView.getComputedStyle(outer).overflow !== 'visible';
    if (hides && !isInside(box, outer.getBoundingClientRect())) return false;
  }
  const {innerHeight, innerWidth} = root.defaultView;
  return isInside(box, {top: 0, left: 0, bottom: innerHeight, right: innerWidth});
};
const [top, texts] = [%s, %s];
if (top) found(top)[0]?.element.scrollIntoView({block: 'start'});
return [top, ...texts].filter(Boolean).every((text) => found(text).some(isWhole));
"""


@dataclass(frozen=True)
class Picture:
    """One picture: the page and the buttons to click there, what must be seen in it, and what is at its top."""

    name: str
    page: str
    shows: tuple[str, ...]
    clicks: tuple[str, ...] = ()
    top: str = ""
    height: int = SIZE[1]

    def take(self, browser: Browser, url: str, folder: Path) -> None:
        """Write the picture in both themes."""
        browser.resize(SIZE[0], self.height)
        for theme, ending in THEMES.items():
            # The report is in a sandbox of its own, which has no storage and follows the system.
            browser.open(url)
            browser.run(f"localStorage.setItem('theme', '{theme}'); localStorage.setItem('log_wrap', 'true')")
            browser.prefer(theme)
            browser.open(f"{url}/{self.page}")
            for label in self.clicks:
                browser.click(label)
            wait_until(partial(self._is_shown, browser), what=f"all of {self.shows} in {self.name}.png")
            browser.shoot(folder / f"{self.name}{ending}.png")

    def _is_shown(self, browser: Browser) -> bool:
        return bool(browser.run(IS_SHOWN % (json.dumps(self.top), json.dumps(self.shows))))


BEFORE_THE_RUN = (
    Picture(
        "form",
        f"dags/{DAG}",
        ("Mode", "Consumer groups", "Generations"),
        clicks=("Show Grid", "Expand all task groups", "Trigger Dag"),
    ),
)


def while_it_waits(run: str) -> tuple[Picture, ...]:
    """Return the pictures of a cutover that waits for its approval."""
    return (
        Picture(
            "progress",
            f"{run}/tasks/watch_lag",
            ("Stop producers of", " before ", "The fence is proved"),
            height=1100,
        ),
        Picture(
            "approval",
            f"{run}/tasks/approve/required_actions",
            ("Skipped records: 0", "Delivered again"),
            top="Consumer groups of migration",
            height=1100,
        ),
        Picture("migration", f"{run}/plugin/kafka-migration-run", ("The copy is proved", "What to do next")),
    )


def after_it(run: str, run_id: str) -> tuple[Picture, ...]:
    """Return the pictures of a finished cutover."""
    report = f"kafka-migration/report/{quote(DAG, safe='')}/{quote(run_id, safe='')}"
    return (
        Picture("run", run, ("cutover · PASS", "finish"), clicks=("Show Grid",)),
        Picture("graph", run, ("move_consumers", "finish"), clicks=("Show Graph",)),
        Picture("migrations", "plugin/kafka-migrations", ("demo",)),
        Picture("report", report, ("PASS",)),
    )


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (DEFAULT_ROOT / FILE_NAME).exists():
        sys.exit("No sandbox is running. Start it with `make up`.")
    state = SandboxState.load(DEFAULT_ROOT / FILE_NAME)
    api, url = AirflowApi.of(state), str(state.airflow_url)
    with browser() as page:
        page.log_in(url, api.token())

        def take(pictures: Iterable[Picture]) -> None:
            for picture in pictures:
                picture.take(page, url, folder)

        take(BEFORE_THE_RUN)
        run_id = api.trigger(DAG, {"mode": "cutover"})
        run = f"dags/{DAG}/runs/{run_id}"
        wait_until(lambda: _is_waiting(api, run_id), PATIENCE_S, "the question", ASKING_AIRFLOW_S)
        take(while_it_waits(run))
        api.answer(DAG, run_id, "approve", "Approve")
        wait_until(lambda: api.run(DAG, run_id).is_finished, PATIENCE_S, "the end of the cutover", ASKING_AIRFLOW_S)
        take(after_it(run, run_id))


def _is_waiting(api: AirflowApi, run_id: str) -> bool:
    task = api.run(DAG, run_id).task("approve")
    return task is not None and task.state in {"deferred", "awaiting_input"}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
