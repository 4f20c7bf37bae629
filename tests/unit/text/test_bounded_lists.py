"""Rules of texts that list names: a migration has up to 5,000 topics, and a text shows the first ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_migration.core.text.shortened import some
from kafka_migration.core.watching.producers_question import StopProducers, question_body
from tests.syntax import nodes_of

PACKAGE = Path(__file__).parents[3] / "plugins" / "kafka_migration"
# What a cluster or a migration may have thousands of.
MANY = re.compile(
    r"topic|group|partition|names|moved|remaining|unproved|missing|unknown|changes|unreadable|reasons|\bleft\b"
)
# Not a text for people, or bounded elsewhere.
ALLOWED = {
    "core/mirror/mirrorctl_protocol.py": "the request to the host has every topic",
    "engines/kafka_connect.py": "MirrorMaker's configuration has every topic",
    "engines/mirrormaker2.py": "MirrorMaker's configuration has every topic",
    "engines/mirrormaker1.py": "MirrorMaker's configuration has every topic",
    "core/waves/wave_plan.py": "the list is cut before",
    "mirrormaker_files": "the words of a file of MirrorMaker",
    "migration_file": "the fields of the migration file",
    "core/connections": "the settings of one connection",
    "core/documents/codec.py": "the fields of a document",
    "core/evidence/evidence_documents.py": "a reason for each form of a kind of document, three at most",
    "core/groups/clusters_seen.py": "a reason for each of two clusters",
    "core/cutover/not_moved.py": "codes",
    "core/report/run_forecast.py": "the phases of a run",
    "core/run/stand_still.py": "the phases of a cutover",
    "core/kafka/transaction_log.py": "two reasons",
    "core/spark/spark_target.py": "settings of Spark",
    "cli/shell/arguments.py": "the options of a command",
    "steps/mirror/topic_creation.py": "the settings of a topic",
    "preflight": "a reason for each of two clusters, and names of connections",
    "steps/mirror/watcher.py": "a reason for each of two clusters",
}


def unbounded() -> Iterator[str]:
    """Yield each place that joins names with commas or semicolons and neither cuts the list nor is allowed to."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = str(path.relative_to(PACKAGE))
        if any(place.startswith(allowed) for allowed in ALLOWED):
            continue
        for node in nodes_of(path):
            if _joins_many(node):
                yield f"{place}: {ast.unparse(node)}"


def _joins_many(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"):
        return False
    separator, joined = node.func.value, ast.unparse(node.args[0]) if node.args else ""
    is_list = (
        isinstance(separator, ast.Constant) and isinstance(separator.value, str) and set(separator.value) & {*",;"}
    )
    return bool(is_list) and MANY.search(joined) is not None and "[:" not in joined


def test_names_are_listed_by_the_one_function_that_cuts_the_list() -> None:
    """`some` lists topics, groups and partitions; a text that joins all of them would grow without a bound."""
    assert [] == list(unbounded())


def test_some_names_the_first_and_counts_the_others() -> None:
    """The first names are there, then the number of the others and where they are."""
    names = [f"topic-{number}" for number in range(5_000)]

    assert "topic-0, topic-1 and 4,998 more (kafka-migration plan)" == some(names, 2, where="kafka-migration plan")
    assert "topic-0, topic-1" == some(names[:2], 2, where="kafka-migration plan")
    assert "<topic-0>; <topic-1>" == some(names[:2], word="<{}>".format, separator="; ")


ANNOUNCED = datetime(2030, 1, 1, 3, 16, 40, tzinfo=UTC)


def stop(count: int = 12, wait_s: float = 1_600, *, is_chosen: bool = False) -> StopProducers:
    topics = [f"topic-{number}" for number in range(count)]
    return StopProducers("shop", topics, "old_kafka", ANNOUNCED, wait_s, 60.0, is_chosen)


def test_instruction_comes_first_with_a_clock_time() -> None:
    """The first words say what to stop, where and until when, by the clock and from now."""
    assert "Stop producers of 12 topics on old_kafka before 03:43 UTC (26 minutes)." == stop().at(ANNOUNCED)
    assert stop().at(ANNOUNCED + timedelta(seconds=1_599)).endswith("(1 second).")
    assert stop(1).at(ANNOUNCED).startswith("Stop producers of 1 topic on old_kafka before 03:43 UTC (26 minutes).")


@pytest.mark.parametrize(
    ("wait_s", "expected"),
    [
        (90, "before 03:18:10 UTC (1 minute)."),
        (5_400, "before 04:46 UTC (1 hour 30 minutes)."),
        (86_400, "before 03:16 UTC on 2 January (24 hours)."),
    ],
)
def test_deadline_is_never_later_than_the_real_one(wait_s: float, expected: str) -> None:
    """A short time has seconds, a long one its day; both are rounded down."""
    assert stop(wait_s=wait_s).at(ANNOUNCED).endswith(expected)


def test_deadline_that_has_passed_is_named() -> None:
    """After a restart the time may be over; the instruction still comes first."""
    assert stop().at(ANNOUNCED + timedelta(hours=1)).endswith("before 03:43 UTC (this time has passed: stop them now).")


def test_question_of_5_000_topics_lists_ten() -> None:
    """The question, stored by Airflow, names ten topics and the command that lists all of them."""
    body = question_body(stop(5_000))

    assert "`topic-9` and 4,990 more (kafka-migration plan shop --mode cutover lists all)" in body
    assert "`topic-10`" not in body
    assert "the field topics of this run has all" in question_body(stop(11, is_chosen=True))
    assert " more (" not in question_body(stop(10))
