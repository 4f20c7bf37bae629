"""Rules that hold for the report in every format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from kafka_migration.core.report.report_sections import report_of
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.sections import Line, Section
from kafka_migration.core.text.markdown import WIDTH, columns
from kafka_migration.report_formats.report_format import ReportFormat, rendered_reports
from tests.markdown_text import seen
from tests.report_runs import run_of_partitions
from tests.stored_examples import read_run
from tests.unit.report.test_hostile_report import whole_run
from tests.unit.report.test_report_of_a_run import run_of

WHOLE, LARGE = read_run(whole_run()), run_of_partitions(1_000)


def test_formats_have_files_of_their_own() -> None:
    """Each format has a file `report.*` of its own, and a name of the command line."""
    assert len(ReportFormat) == len({each.file for each in ReportFormat})
    assert all(each.file.startswith("report.") and str(each).islower() for each in ReportFormat)


@pytest.mark.parametrize("broken", ReportFormat)
def test_format_that_cannot_be_rendered_stops_no_other(
    broken: ReportFormat, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A format whose renderer raises is named in the log; the files of all others are written."""

    def fail(_: RunDocument) -> str:
        raise ArithmeticError("no")

    monkeypatch.setattr(broken, "render", fail)

    assert {each.file for each in ReportFormat if each is not broken} == rendered_reports(run_of()).keys()
    assert f"{broken.file} is not written" in caplog.text


@pytest.mark.parametrize("each", ReportFormat)
def test_large_reports_are_small_files(each: ReportFormat) -> None:
    """The report of 1,000 partitions has at most 1 MB."""
    assert len(each.render(LARGE).encode()) <= 1_000_000


def lines_of(section: Section) -> Iterator[Line]:
    """Yield each line and each cell of a section and its parts."""
    yield from (section.title, *section.lead, *section.facts, *section.notes)
    if section.table:
        yield from (*section.table.header, *(cell for row in section.table.rows for cell in row))
    for part in section.parts:
        yield from lines_of(part)


class Text(HTMLParser):
    """The text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.text += f"{data} "


def words(text: str) -> str:
    """Return a text without what formats write differently: spaces, and the backticks around code."""
    return re.sub(r"[\s`]", "", text)


READERS = {ReportFormat.HTML: lambda page: Text(page).text, ReportFormat.MARKDOWN: seen}


@pytest.mark.parametrize("each", READERS)
@pytest.mark.parametrize("run", [WHOLE, LARGE], ids=["whole", "large"])
def test_every_line_of_a_report_is_in_it(each: ReportFormat, run: RunDocument) -> None:
    """HTML and Markdown have every title, line and cell of every section of the run."""
    found = words(READERS[each](each.render(run)))
    lines = (words("".join((line,) if isinstance(line, str) else line)) for line in lines_of(report_of(run)))

    # The first column of a list has no heading, and an empty cell is not in it.
    assert {"–", "Group", "Topic", "Partition"} >= {line for line in lines if line not in found}


@pytest.mark.parametrize("run", [WHOLE, LARGE, run_of("cutover")], ids=["whole", "large", "cutover"])
def test_lines_of_markdown_fit_a_terminal(run: RunDocument) -> None:
    """No line has more than 80 columns, except headings, and words that are longer."""
    wide = [line for line in ReportFormat.MARKDOWN.render(run).splitlines() if columns(line) > WIDTH]

    assert [] == [line for line in wide if not line.startswith("#") and " " in re.sub(r"^[- ]+|`[^`]*`", "", line)]


def test_markdown_has_no_character_references() -> None:
    """What people read as text has no `&#60;`."""
    assert not re.search(r"&#?\w+;", ReportFormat.MARKDOWN.render(WHOLE))


def test_first_page_comes_first() -> None:
    """The first page says what is proved, who decided, how long clients stood still, and what to keep."""
    titles = [part.title for part in report_of(WHOLE).parts]
    begins = [part.begins_page for part in report_of(WHOLE).parts]
    still = "How long producers and consumers would stand still"

    assert ["What is proved", "Who", still, "What to keep", "What is wrong"] == titles[:5]
    assert [False] * 4 + [True] == begins[:5]
    assert not any(begins[5:])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Proved by all runs together: 1 of 1 topic, 200 records on the target."),
        ({"topics": []}, "This run judged no topic, so it proves nothing about the copy."),
        ({"records": {"orders": {"source": None, "target": 5}}}, "not known source records, 5 target records"),
        ({"stood_still": None}, "Not known: the run did not measure it."),
    ],
)
def test_first_page_says_what_is_not_known(changes: dict[str, Any], words: str) -> None:
    """What was not measured, compared or judged is named as such; an unknown number makes a sum unknown."""
    assert words in " ".join(ReportFormat.MARKDOWN.render(run_of(**changes)).split())
