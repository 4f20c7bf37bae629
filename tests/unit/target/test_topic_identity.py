"""Rules of whether a topic is still the one that MirrorMaker started with."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.target.topic_identity import IdentityWatch, recreated_topics
from tests.unit.partitions import P0, P1

SIDES: dict[Side, Code] = {"source": Code.SOURCE_TOPIC_RECREATED, "target": Code.TARGET_TOPIC_RECREATED}


@pytest.mark.parametrize(("side", "code"), SIDES.items())
def test_another_id_names_the_topic_with_both_ids(side: Side, code: Code) -> None:
    """Each topic with another id is named once; how the others continue is said."""
    watch = IdentityWatch(side, 4, {"a": "1", "b": "2", "c": "3"})

    assert () == watch.take({"a": "1", "b": "2", "c": "3"}, {})
    findings = watch.take({"a": "7", "b": "2", "c": "8"}, {})

    assert [(code, "topic a", "topic id 7"), (code, "topic c", "topic id 8")] == [
        (f.code, f.subject, f.found) for f in findings
    ]
    assert "1, the topic id when generation 4 started" == findings[0].expected
    assert "remove this one from topics" in findings[0].remedy
    assert {"a", "c"} == recreated_topics(findings, side)


@pytest.mark.parametrize(
    ("known", "present"), [({}, {"orders": "1"}), ({"orders": "1"}, {"orders": ""}), ({"a": "1"}, {})]
)
def test_unknown_id_proves_nothing(known: Mapping[str, str], present: Mapping[str, str]) -> None:
    """A topic whose id is not known, then or now, and a topic that is missing are not called another one."""
    assert () == IdentityWatch("source", 1, known).take(present, {})


def test_end_that_falls_is_another_topic_where_there_are_no_ids() -> None:
    """An end below the highest one seen, or below that of the start, names the topic once; ends that rise are well."""
    watch = IdentityWatch("source", 1, {}, {P0: 5, P1: 5})

    assert () == watch.take({"orders": ""}, {P0: 5, P1: 9})
    (finding,) = watch.take({"orders": ""}, {P0: 4, P1: 8})

    assert ("topic orders", "end 4 on partition 0", "at least 5, the end seen before") == (
        finding.subject,
        finding.found,
        finding.expected,
    )
    assert "or a broker lost records" in finding.happened
