"""The pages for people who use a keyboard, a magnifier, a telephone or a screen reader, in a real browser."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.axe import serious_faults
from tests.browser import SIZE, Browser, browser
from tests.live.conftest import LiveWorld
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

TELEPHONE = (390, 844)
# What 1440 × 900 pixels show at 200 %.
MAGNIFIED = (720, 450)
# WebDriver's code point of the key.
TAB = "\ue004"
THEMES = ("light", "dark")
REACHABLE = "a[href], button, summary, input, select, textarea, [tabindex]"
# What is right of the window, unless it is in a part of the page that scrolls.
BEYOND = """
const beyond = (each) => each.getBoundingClientRect().right > innerWidth;
return [...document.querySelectorAll('main *')]
  .filter((each) => beyond(each) && !beyond(each.parentElement) && !each.parentElement.closest('.wide'))
  .map((each) => 'right of the window: ' + each.outerHTML.slice(0, 200));
"""


@pytest.fixture
def addresses(live: LiveWorld) -> dict[str, str]:
    """Run a migration that succeeds and one without a run; return {what a page shows: its address}."""
    migration, unused = live.migration("seen-by-all"), live.migration("seen-unused")
    migration.produce(100)
    run_id = migration.trigger()
    assert "success" == migration.finished(run_id).state
    base = f"{live.sandbox.state.airflow_url}/kafka-migration"
    return {
        "the list": f"{base}/",
        "a migration": f"{base}/dag/{migration.dag_id}",
        "a run": f"{base}/run/{migration.dag_id}/{quote(run_id, safe='')}",
        "a topic": f"{base}/topic/{migration.dag_id}/{migration.name}",
        "a migration without a run": f"{base}/dag/{unused.dag_id}",
        "a DAG that is no migration": f"{base}/dag/none",
    }


def test_pages_are_accessible(live: LiveWorld, addresses: dict[str, str]) -> None:
    """In light and dark, at each size: axe-core finds nothing serious, no page is wider than the window, and Tab
    reaches each link with a focus that is seen."""
    url = str(live.sandbox.state.airflow_url)
    with browser() as page:
        page.log_in(url, live.api.token())
        found = [
            f"{name}, {theme}, {size[0]} pixels wide: {fault}"
            for theme, size in itertools.product(THEMES, (SIZE, MAGNIFIED, TELEPHONE))
            for name, address in addresses.items()
            for fault in faults(page, address, theme, size)
        ]
    assert [] == found


def faults(page: Browser, address: str, theme: str, size: tuple[int, int]) -> Iterator[str]:
    page.resize(*size)
    page.run(f"localStorage.setItem('theme', '{theme}')")
    page.open(address)
    wait_until(lambda: page.run("return document.documentElement.dataset.theme") == theme, what=f"the page in {theme}")
    yield from serious_faults(page)
    yield from page.run(BEYOND)
    yield from missed_by_tab(page)


def missed_by_tab(page: Browser) -> Iterator[str]:
    """Press Tab until it begins again; yield each element that it did not reach, or reached without a sign.

    An element is known by its tag, because a page that polls replaces its elements.
    """
    tag = "const tag = (each) => each.cloneNode(false).outerHTML;"
    tags = f"[...document.querySelectorAll('{REACHABLE}')].filter((each) => each.checkVisibility()).map(tag)"
    wanted = page.run(f"{tag} return {tags}")
    page.run("document.activeElement.blur()")
    reached = set()
    for _ in range(len(wanted) + 1):
        page.press(TAB)
        reached.add(
            page.run(
                f"{tag} const at = document.activeElement; const style = getComputedStyle(at);"
                "return style.outlineStyle !== 'none' || style.boxShadow !== 'none' ? tag(at) : ''"
            )
        )
    yield from (f"not reached by Tab: {each[:200]}" for each in wanted if each not in reached)
