"""Rules of the report as HTML: no foreign text becomes markup, and a browser loads nothing for it."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from kafka_migration.core.report.sections import Chart, ChartBar
from kafka_migration.report_formats.html_pieces import drawn
from kafka_migration.report_formats.html_report import policy_of, render_html
from tests.report_runs import run_of_partitions
from tests.stored_examples import read_run
from tests.unit.report.test_hostile_report import EVERY_PLACE, HOSTILE, RUN, changed, is_free
from tests.unit.report.test_report_of_a_run import run_of

OTHERS = {("mode",), ("outcome",), ("groups", 0, "outcome")}


class Elements(HTMLParser):
    """The elements of a page, with the names of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))


def elements(document: dict[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    return Elements(render_html(read_run(document))).found


def test_no_text_of_a_run_becomes_an_element() -> None:
    """Whatever text stands in any field, the page has the same elements; pairs of backticks set code apart."""
    for path in filter(is_free, EVERY_PLACE):
        plain = elements(changed(RUN, path, "plain"))
        for text in ("\n".join(HOSTILE).replace("`", ""), "'\"><script>alert(1)</script><img src=x onerror=alert(1)>"):
            assert path in OTHERS or plain == elements(changed(RUN, path, text)), (path, text)


def test_page_loads_nothing() -> None:
    """No element and no attribute lets a browser load, run, send or open anything."""
    found = {each for run in (RUN, changed(RUN, ("note",), HOSTILE[0])) for each in elements(run)}
    names = {name for _, attributes in found for name in attributes}

    assert {"class", "scope", "tabindex", "role", "aria-label", "lang", "name", "content", "charset", "http-equiv"} | {
        *("viewbox", "x", "y", "width", "height")
    } == names
    assert not {"script", "link", "img", "iframe", "form", "a", "object", "base"} & {tag for tag, _ in found}


def test_policy_allows_the_style_and_nothing_else() -> None:
    """The policy in the page has the hash of its style, and is the one that the page's answer has."""
    page = render_html(run_of())
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"

    assert policy == policy_of(page)
    assert f'http-equiv="Content-Security-Policy" content="{policy.replace(chr(39), "&#39;")}"' in page
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert "style=" not in page
    assert "url(" not in style
    assert "@import" not in style


def test_headings_are_in_order() -> None:
    """There is one heading of the first level, and none is more than one level below the one before it."""
    levels = [int(tag[1]) for tag, _ in elements(RUN) if re.fullmatch("h[1-6]", tag)]

    assert 1 == levels.count(1)
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_tables_have_captions_and_headings() -> None:
    """Each table has a caption, and each heading of a column or row says which it is."""
    found = [tag for tag, _ in elements(RUN)]

    assert found.count("table") == found.count("caption") > 5
    assert {("scope",)} == {attributes for tag, attributes in elements(RUN) if tag == "th"}


@pytest.mark.parametrize(("outcome", "verdict", "level"), [("success", "PASS", "proved"), ("failed", "PASS", "wrong")])
def test_page_shows_its_result(outcome: str, verdict: str, level: str) -> None:
    """The heading is marked as good only for a run that succeeded with a good verdict."""
    assert f'<main class="{level}">' in render_html(run_of("sync", outcome=outcome, verdict=verdict))
    assert '<main class="open">' in render_html(run_of("sync", outcome="behind", verdict=None))


def test_bars_stand_in_their_drawing() -> None:
    """Bars follow each other on one scale; the smallest amount can be seen, and no amount has no bar."""
    bars = (ChartBar("a", 0, 1, ""), ChartBar("b", 1, 9_999, ""), ChartBar("c", 10_000, 0, ""))
    found = drawn(Chart("c", bars, 10_000))

    assert [(0, 0, 1.5), (0, 24, 300), (300, 48, 0)] == [(round(each.x), each.y, each.width) for each in found]
    assert [0.0] == [each.width for each in drawn(Chart("none", (ChartBar("a", 0, 0, ""),), 0))]


def test_every_topic_and_group_has_a_row() -> None:
    """A large report leaves no topic and no group out."""
    page = render_html(run_of_partitions(500))

    assert 500 == len(set(re.findall(r'<th scope="row"><code>(shop\.orders-of-customers-\d+)</code>', page)))
    assert 500 == len(set(re.findall(r'<th scope="row"><code>(billing-of-customers-\d+)</code>', page)))
