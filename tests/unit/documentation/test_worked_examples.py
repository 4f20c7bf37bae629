"""The worked examples of the concept pages: every number and verdict is what the real rules give."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_migration.core.groups.offsets_plan import OffsetsMove
from kafka_migration.core.translation.by_partition import Position, resent_ranges
from kafka_migration.core.validation.compared_windows import delta_windows, pieces_of
from kafka_migration.core.validation.judging import TopicVerdict
from kafka_migration.core.validation.replays import Replays
from tests.present import present
from tests.unit.groups.copied_partition import proposed
from tests.unit.groups.lived_partition import LivedPartition
from tests.unit.partitions import P0
from tests.unit.validation.replay_model import Life, Record, told

DOCS = Path(__file__).parents[3] / "docs"
OFFSETS, VALIDATION = ((DOCS / "concepts" / f"{name}.md").read_text() for name in ("offsets", "validation"))
DRAWING = ElementTree.parse(DOCS / "images" / "one-kill.svg")
MARKER = None
SOURCE = ["A", MARKER, "B", "C", "D", "E"]
SENT, STORED, COMMITTED = 5, 4, 2


def partition() -> LivedPartition:
    """Return the copy of the pages: a killed generation, another one to the end, and a validation of both."""
    lived = LivedPartition(random.Random(1), list(SOURCE))
    lived.copy(SENT, stored=STORED)
    lived.copy(len(SOURCE))
    lived.judge(whole=True)
    return lived


def move(offset: int) -> OffsetsMove:
    """Return the plan of a group that committed this offset on the source."""
    (planned,) = partition().plan(offset).moves
    return planned


def rows(page: str) -> list[list[str]]:
    """Return the cells of all rows of tables in the page's example, without the lines below their heads."""
    example = page.partition("\n## One example\n")[2].partition("\n## ")[0]
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in example.splitlines()
        if re.match(r"\|\s*[^-\s]", line)
    ]


def table(page: str, first: str) -> Iterator[list[str]]:
    """Yield the rows of the example's table whose head begins with this cell."""
    found = rows(page)
    start = next(number for number, row in enumerate(found) if row[0] == first)
    for row in found[start + 1 :]:
        if len(row) != len(found[start]):
            return
        yield row


def test_table_of_offsets_is_what_the_planner_finds() -> None:
    """For each committed offset: the unread records, the place on the target, and how many are delivered again."""
    computed = [
        [str(at), " ".join(partition().unread(at)) or "none", str(proposed(move(at))), str(move(at).delivered_again)]
        for at in range(len(SOURCE) + 1)
        if at == len(SOURCE) or SOURCE[at] is not MARKER
    ]

    assert computed == list(table(OFFSETS, "Committed on the source"))


def test_places_of_unread_records_are_those_of_the_comparison() -> None:
    """Each unread record has the place that the comparison from the right gives it."""
    lived = partition()
    (wanted,) = resent_ranges({P0: lived.partition_copy}, [Position(P0, COMMITTED)])
    found = lived._compare(wanted)
    places = {SOURCE[offset]: str(place) for offset, place in zip(found.offsets, found.places, strict=True)}
    records, offsets = (row[1:] for row in rows(OFFSETS) if row[0] in {"Unread record", "Offset on the target"})

    assert records == [*reversed(lived.unread(COMMITTED))]
    assert offsets == [places[unread] for unread in records]


def test_words_around_the_tables_of_offsets_are_true() -> None:
    """The lengths are equal, the number of the committed offset is another record, and the group reads what is said."""
    lived, place = partition(), proposed(move(COMMITTED))

    assert 6 == len(lived.source) == len(lived.target)
    assert ("B", "C") == (lived.source[COMMITTED], lived.target[COMMITTED])
    assert "Both sides have 6 offsets" in OFFSETS
    assert f"start at offset {COMMITTED} of the target, which is C." in OFFSETS
    assert f"`billing` continues at offset {place}." in OFFSETS
    assert f"**The group reads {', '.join(lived.target[place:])}.**" in OFFSETS
    assert place == lived.best(COMMITTED)


TARGET = "A B C D D E"
OTHERS = ("A C D D E", "A B X D D E, where X has the key of C", "A C B D D E")


def life(target: str = TARGET, *, killed: bool = True) -> Life:
    """Return the same copy for a validation, with these records on the target."""
    found = Life(0, transactions=False, alphabet=0)
    found.source = [None if letter is MARKER else record(letter) for letter in SOURCE]
    if killed:
        found.copy(0, SENT, stored=STORED)
        found.copy(STORED, len(SOURCE), stored=len(SOURCE))
    else:
        found.copy(0, len(SOURCE), stored=len(SOURCE))
    assert not killed or letters(found.target) == TARGET
    found.target = [record(letter) for letter in target.partition(",")[0].split()]
    return found


def record(letter: str) -> Record:
    return ord("C" if letter == "X" else letter), ord(letter)


def letters(records: list[Record | None]) -> str:
    return " ".join(chr(record[1]) for record in records if record)


def row_of(target: str, verdict: TopicVerdict) -> list[str]:
    """Return the row of the page for a target."""
    counts = {str(label): number for label, number in verdict.differences.counts.items()} if verdict.differences else {}
    found = [f"{number} `{label}`" for label, number in sorted(counts.items())]
    if any("first difference reordered" in finding.found for finding in verdict.findings):
        found.append("first difference `reordered`")
    numbers = f"{verdict.source_records} and {verdict.target_records}"
    return [target, f"`{verdict.verdict}`", numbers, ", ".join(found) or "none"]


def test_table_of_verdicts_is_what_the_judge_says() -> None:
    """Each target has the verdict, the numbers of records and the labels that the comparison gives."""
    clean = row_of("A B C D E, without a kill", present(life("A B C D E", killed=False).judge()))
    computed = [clean, *(row_of(target, present(life(target).judge())) for target in (TARGET, *OTHERS))]

    assert computed == list(table(VALIDATION, "Records on the target"))


def test_words_around_the_table_of_verdicts_are_true() -> None:
    """Alone the killed generation has no verdict, and the next run compares it again; with the next generation it is
    one window with a piece per process."""
    killed = Life(0, transactions=False, alphabet=0)
    killed.source = life().source
    killed.copy(0, SENT, stored=STORED)
    alone, both = present(killed.judge()), life()
    killed.copy(STORED, len(SOURCE), stored=len(SOURCE))
    again = present(killed.judge())
    (window,) = delta_windows(both.ledger.generations, Replays(both.ledger, by_key=False))
    warning = present(both.judge())

    assert ("NOT_VERIFIABLE", 3, 4) == (str(alone.verdict), alone.source_records, alone.target_records)
    assert ("WARN", 5, 6) == (str(again.verdict), again.source_records, again.target_records)
    assert "with 3 records.\nThe target window has 4 records." in VALIDATION
    assert (6, 6) == (window.source_end - window.source_start, window.target_end - window.target_start)
    assert "5 records in 6 offsets, the target 6 records in 6 offsets" in VALIDATION
    assert [(0, 0), (STORED, 4)] == [(piece.source_start, piece.target_start) for piece in pieces_of(window)]
    assert {"RECORDS_REPLAYED"} == told(warning.warnings)


def drawn(prefix: str) -> dict[str, str]:
    """Return the texts of the drawing's parts whose id begins with this."""
    return {each.attrib["id"]: each.text or "" for each in DRAWING.iter() if each.get("id", "").startswith(prefix)}


def test_drawing_is_the_example() -> None:
    """The drawing has both logs, a line for each record that was sent, and the place of the group on both sides."""
    sent = [offset for begin, end in ((0, SENT), (STORED, len(SOURCE))) for offset in range(begin, end)]
    lines = {f"copy-{offset}-{n}" for n, offset in enumerate(o for o in sent if SOURCE[o] is not MARKER)}

    assert {f"source-{n}": letter or "marker" for n, letter in enumerate(SOURCE)} == drawn("source-")
    assert {f"target-{n}": letter for n, letter in enumerate(partition().target)} == drawn("target-")
    assert lines == set(drawn("copy-"))
    assert f"committed {COMMITTED}" == drawn("committed")["committed"]
    assert f"continues at {proposed(move(COMMITTED))}" == drawn("continues")["continues"]


@pytest.mark.parametrize("page", [OFFSETS, VALIDATION])
def test_pages_show_the_drawing(page: str) -> None:
    """Both pages have the drawing, described by what the logs hold."""
    (described,) = re.findall(r"!\[(.*)\]\(\.\./images/one-kill\.svg\)", page)

    assert f"Target: {', '.join(partition().target)} at 0 to 5." in described
    assert "Source: A at 0, a marker at 1, B to E at 2 to 5." in described
