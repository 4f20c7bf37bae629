"""What a page of a migration shows, read from the document in the browser as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.browser import Browser

# Cells as text; of the sections the text under each heading, of the tables the rows with their headings.
_READ = """
const text = (element) => (element?.innerText ?? '').trim();
const all = (selector, within = page) => [...within.querySelectorAll(selector)];
const rows = (table) => all('tr', table).map((row) => all('th, td', row).map(text));
const moment = (element) => element?.getAttribute('datetime') ?? null;
const since = page.querySelector('section > p > strong + time.since');
const told = since?.parentElement.querySelector('.reported time.since');
const facts = {};
for (const name of all('dt')) facts[text(name)] = text(name.nextElementSibling);
const sections = {}, tables = {};
for (const heading of all('h2, h3')) {
  const parent = heading.parentElement;
  sections[text(heading)] = text(parent);
  const table = all(':scope > .wide > table, :scope > table', parent)[0];
  if (table && parent.tagName === 'SECTION') tables[text(heading)] = rows(table);
}
return {
  whole: text(page.querySelector('main')),
  banners: all('p.banner').filter((each) => !each.hidden).map(text),
  verdict: text(page.querySelector('.verdict')),
  problems: all('.problems li').map(text),
  acts: all('main > ol li').map(text),
  step: text(since?.previousElementSibling),
  step_since: moment(since),
  told_at: moment(told),
  facts, sections, tables,
  links: all('a.outer').map((each) => each.getAttribute('href')),
};
"""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """The answers of a page; `whole` is all text.

    `step` is empty, and the two moments are `None`, if no run is active; `told_at` is when the run reported what is
    shown. `tables` has the rows of each section's table, headings included.
    """

    whole: str
    banners: tuple[str, ...]
    verdict: str
    problems: tuple[str, ...]
    acts: tuple[str, ...]
    step: str
    step_since: datetime | None
    told_at: datetime | None
    facts: Mapping[str, str]
    sections: Mapping[str, str]
    tables: Mapping[str, tuple[tuple[str, ...], ...]]
    links: tuple[str, ...]

    def column(self, section: str, heading: str) -> dict[str, str]:
        """Return {first cell: cell of a column} of a section's table; empty without the table."""
        head, *rows = self.tables.get(section, ((heading,),))
        return {row[0]: row[head.index(heading)] for row in rows}


def shown_page(browser: Browser) -> ShownPage:
    """Read the page in Airflow's frame."""
    found: dict[str, Any] = browser.in_frame(_READ)
    tables = {title: tuple(map(tuple, rows)) for title, rows in found["tables"].items()}
    return ShownPage(
        found["whole"],
        tuple(found["banners"]),
        found["verdict"],
        tuple(found["problems"]),
        tuple(found["acts"]),
        found["step"],
        _moment(found["step_since"]),
        _moment(found["told_at"]),
        found["facts"],
        found["sections"],
        tables,
        tuple(found["links"]),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
