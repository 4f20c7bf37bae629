"""Rules of findings that have one cause: they become one, and nothing that a reader needs is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.cli.shell.output import complain
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import Remembered, StopCertificate
from kafka_migration.core.watching.gap_guard import continuity_findings

PARTITIONS = [TopicPartition("orders", number) for number in range(24)]
FULL = Finding(Code.HOST_REFUSED, "MirrorMaker host", "no space left on device", "an answer", "Free space.")


def missing_positions(command: str) -> tuple[Finding, ...]:
    """Return what a start finds if no position of 24 partitions is stored any more."""
    positions = {p: 10 + p.partition for p in PARTITIONS}
    stop = StopCertificate(1, "run", "t", True, 143, "", positions, {}, Remembered(positions))
    return continuity_findings(stop, {}, dict.fromkeys(PARTITIONS, 0), lambda p, at: command.format(p.partition, at))


def test_lost_positions_are_one_finding() -> None:
    """24 lost positions of one copy have one cause; the finding names the first ones and counts the others."""
    (finding,) = by_cause(missing_positions(""))

    assert Code.POSITION_MISSING == finding.code
    assert finding.subject.startswith("orders[0], orders[1], ")
    assert finding.subject.endswith("orders[9] and 14 more")
    assert "no stored position" == finding.found
    assert finding.expected.startswith("10, 11, ")
    assert finding.expected.endswith(" and 14 more, as certified when generation 1 stopped")
    assert 1 == " ".join(finding.sentences).count("MirrorMaker would copy all records again")
    assert "stored position of orders[0] (10), orders[1] (11), " in finding.happened


def test_commands_stay_whole() -> None:
    """Each object keeps its own command, which is not divided into what is common and what differs."""
    (finding,) = by_cause(missing_positions("tool --topic orders:{} --to-offset {} --execute")[:2])

    assert finding.remedy.endswith(
        "run again: tool --topic orders:0 --to-offset 10 --execute; tool --topic orders:1 --to-offset 11 --execute"
    )


def test_parts_with_commas_are_told_apart() -> None:
    """What differs is separated by semicolons if it has commas itself."""
    sides = ("a", "source"), ("b", "target")
    findings = [
        replace(FULL, subject=f"{name} {side}", happened=f"It lacks {name}, the {side}.") for name, side in sides
    ]
    (finding,) = by_cause(findings)

    assert "It lacks a, the source; b, the target." == finding.happened


def test_other_words_are_another_cause() -> None:
    """Findings with other codes, objects of another kind or other words stay as they are, in their order."""
    findings = (
        FULL,
        replace(FULL, found="read-only file system"),
        replace(FULL, remedy="Ask an administrator."),
        replace(FULL, code=Code.SSH_UNREACHABLE),
    )

    assert findings == by_cause(findings)
    assert findings == by_cause((*findings, *findings))


def test_ids_do_not_separate() -> None:
    """Topic ids are different for each topic, and no cause of their own."""
    one = Finding(Code.TARGET_TOPIC_RECREATED, "topic a", "topic id AAAAAAAAAAAAAAAAAAAAAA", "id", "Find out.")
    other = replace(one, subject="topic b", found="topic id BBBBBBBBBBBBBBBBBBBB_-")
    (finding,) = by_cause((one, other))

    assert ("topic a, b", "topic id AAAAAAAAAAAAAAAAAAAAAA, BBBBBBBBBBBBBBBBBBBB_-") == (finding.subject, finding.found)


def test_long_lists_are_bounded() -> None:
    """Thousands of objects give one finding of a readable length, with at least one whole command."""
    findings = [replace(FULL, subject=f"topic t{n}", remedy=f"Do: {'x' * 3_000} t{n}") for n in range(5_000)]
    (finding,) = by_cause(findings)

    assert finding.remedy.endswith("t0 and 4,999 more")
    assert finding.subject.endswith("t9 and 4,990 more")


def test_name_at_the_end_of_a_sentence_is_a_name() -> None:
    """The object of a finding may be the last word of its remedy."""
    findings = [replace(FULL, subject=f"topic {name}", remedy=f"Stop it. Then delete topic {name}.") for name in "ab"]
    (finding,) = by_cause(findings)

    assert "topic a, b" == finding.subject
    assert "Stop it. Then delete topic a. Then delete topic b." == finding.remedy


def test_equal_texts_have_one_cause() -> None:
    """A service that does not answer several checks is one finding, whatever the checks are called."""
    silent = replace(FULL, found="the host is silent")
    (finding,) = by_cause(replace(silent, subject=f"check {name}") for name in ("host", "host disk", "quotas"))

    assert "check host, host disk, quotas" == finding.subject


TEXTS = st.text(alphabet="ab1. :,", max_size=12)


@given(st.lists(st.builds(Finding, st.just(Code.GAP), TEXTS, TEXTS, TEXTS, TEXTS), max_size=5))
def test_no_finding_is_lost(findings: list[Finding]) -> None:
    """Whatever the texts are, equal ones are one finding, and one that is alone stays as it is."""
    results = by_cause(findings)

    assert len(results) <= len({(each.found, each.expected, each.remedy) for each in findings})
    assert bool(results) == bool(findings)
    assert tuple(findings[:1]) == by_cause(findings[:1])


def test_reader_of_the_command_line_sees_one_line_per_cause(capsys: pytest.CaptureFixture[str]) -> None:
    """Findings of several checks with one cause are named once."""
    complain([FULL, *missing_positions(""), FULL])

    lines = capsys.readouterr().err.splitlines()
    assert ["HOST_REFUSED", "POSITION_MISSING"] == [line.split(" · ")[0] for line in lines if line[0] != " "]


def test_results_of_a_comparison_stay_apart() -> None:
    """What a comparison found is read partition by partition."""
    one = Finding(Code.COPY_DIFFERS, "topic a, partition 1", "3 missing records", "none", "Look.")
    other = replace(one, subject="topic a, partition 2", found="5 missing records")

    assert (one, other) == by_cause((one, other))


def test_names_at_the_end_of_sentences_are_one_sentence() -> None:
    """Sentences of one cause that differ in their last word become one with a list; whole ones stand one after one."""
    missing = [
        replace(FULL, subject=name, happened=f"There is no {name}.", matters="None.", remedy=f"Run: add {name}.")
        for name in ("a", "b")
    ]
    (finding,) = by_cause(missing)
    (apart,) = by_cause([replace(each, happened=f"{each.subject} is not there.") for each in missing])

    assert ("There is no a, b.", "None.", "Run: add a; add b.") == finding.sentences
    assert "a, b is not there." == apart.happened


def test_path_in_a_sentence_is_a_name() -> None:
    """Folders of other depths do not separate findings of one full disk."""
    full = [
        replace(FULL, subject=path, happened=f"The store took no document in {path}.")
        for path in ("/root/shop/ledger", "/root/shop/run/attempt-1")
    ]

    assert 1 == len(by_cause(full))
