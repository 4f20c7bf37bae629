"""Rules of what a person is told about a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.engine_table import EngineName
from kafka_migration.core.report.alerts import Alert, Ended, ended_alert, run_link
from kafka_migration.core.report.run_document import Refusal
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import some
from kafka_migration.core.watching.unfinished_work import behind_finding
from kafka_migration.core.watching.watch import Outcome, WatchResult
from tests.present import present


def finding(code: Code = Code.COPY_DIFFERS, subject: str = "topic orders") -> Finding:
    return Finding(code, subject, "this", "that", "Do so.")


def refusal(error: str, *codes: Code) -> Refusal:
    return Refusal("judge", tuple(map(finding, codes)), error)


RUN = RunIdentity("kafka_migration__shop", "manual__2026-11-25T03:02:11+00:00", 1)
NOW = LocalTime("Europe/Berlin").weekday("2026-12-02T02:42:11+00:00")
LATE = (behind_finding("shop", WatchResult(Outcome.BEHIND, "")),)


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (Ended("success"), None),
        (Ended("nothing to do"), None),
        (Ended("failed", [refusal("Refused", Code.GAP)]), AlertKind.REFUSED),
        (Ended("failed", [refusal("MirrorFailed", Code.MIRROR_DEAD)]), AlertKind.STALLED),
        (Ended("failed", [refusal("MirrorFailed", Code.FENCE_MOVING)]), AlertKind.REFUSED),
        (Ended("failed", [refusal("MirrorFailed", Code.BEHIND)]), AlertKind.BEHIND),
        (Ended("failed", [refusal("ValidationFailed", Code.COPY_DIFFERS)]), AlertKind.FAILED),
        (Ended("failed", [refusal("OffsetsNotMoved", Code.OFFSETS_NOT_WRITTEN)]), AlertKind.ERROR),
        (Ended("failed", bad_tasks={"plan": "failed"}), AlertKind.ERROR),
        (Ended("failed", late=LATE), AlertKind.BEHIND),
        (Ended("failed", [refusal("ValidationFailed", Code.COPY_DIFFERS)], late=LATE), AlertKind.FAILED),
        (Ended("failed", [refusal("MirrorFailed", Code.GAP_DURING_RUN)], late=LATE), AlertKind.STALLED),
        (Ended("failed", bad_tasks={"judge": "failed"}, late=LATE), AlertKind.ERROR),
        (Ended("success", late=LATE), AlertKind.BEHIND),
        (Ended("failed", [refusal("Refused", Code.GAP)], may_run=True), AlertKind.NOT_STOPPED),
        # A refusal of `finish` itself names no error.
        (Ended("failed", [refusal("", Code.EVIDENCE_UNREADABLE)]), AlertKind.REFUSED),
    ],
)
def test_the_worst_of_an_end_is_what_is_told(ended: Ended, kind: AlertKind | None) -> None:
    """A MirrorMaker that may run comes first, then a bad copy, failed mirroring, a refusal, and lateness last."""
    assert kind == ended.kind


@pytest.mark.parametrize(
    ("engine", "says", "never"),
    [
        ("mirrormaker1", "the host stops it when its lease ends (mirror.lease)", "--now"),
        ("mirrormaker2", "the host stops it when its lease ends (mirror.lease)", "--now"),
        ("connect", "it copies until the next run, or until `kafka-migration stop shop --now`", "lease"),
        (None, "MirrorMaker: may still run", ";"),
    ],
)
def test_what_ends_a_mirrormaker_that_may_run_fits_its_engine(engine: EngineName | None, says: str, never: str) -> None:
    """A host stops it when its lease ends; on Kafka Connect it copies until the next run or until it is stopped."""
    alert = present(ended_alert("shop", RUN, NOW, "http://x", Ended("failed", may_run=True, engine=engine)))
    (line,) = (line for line in alert.lines if line.startswith("MirrorMaker: "))

    assert line.endswith(says)
    assert never not in line


def test_many_findings_do_not_hide_the_first() -> None:
    """A message names ten causes, counts the rest, and has every code; findings of one cause count once."""
    codes = tuple(Code)[:13]
    many = [refusal("Refused", *codes, *codes)]

    alert = present(ended_alert("shop", RUN, NOW, "http://x", Ended("failed", many)))

    assert 10 == sum(alert.text.count(f"{code} · ") for code in codes)
    assert "… and 3 more in the report" in alert.text
    assert codes == alert.codes


def test_names_are_no_markup() -> None:
    """A topic may not put a link into a mail."""
    subject = '<a href="http://evil">orders</a>'
    ended = Ended("failed", [Refusal("judge", (finding(subject=subject),), "Refused")])

    alert = present(ended_alert("shop", RUN, NOW, "http://x", ended))

    assert "<a " not in alert.html
    assert subject in alert.text


def test_subject_is_one_line() -> None:
    """A subject with a line break would be a header of a mail."""
    alert = Alert(
        AlertKind.ERROR, "shop", RunIdentity("dag", "a\nrun", 1), NOW, "http://x", "look", (), ("two\nlines",)
    )

    assert "\n" not in alert.subject


def test_link_of_a_run_survives_any_run_id() -> None:
    """A run id may hold what means something in an address."""
    link = run_link("http://airflow/", "kafka_migration__shop", "manual__2030-01-01T00:00:00+00:00/#x", "approve")

    assert (
        "http://airflow/dags/kafka_migration__shop/runs/manual__2030-01-01T00%3A00%3A00%2B00%3A00%2F%23x"
        "/tasks/approve/required_actions"
    ) == link


def test_sentences_of_a_finding_have_lines_of_their_own() -> None:
    """A mail says code and subject, what happened, why it matters and what to do, below each other."""
    told = replace(finding(), happened="Orders differ.", matters="Consumers miss records.")
    ended = Ended("failed", [Refusal("judge", (told,), "ValidationFailed")])

    alert = present(ended_alert("shop", RUN, NOW, "http://x", ended))

    said = ("COPY_DIFFERS · topic orders", "  Orders differ.", "  Consumers miss records.", "  Do so.")
    assert said == alert.lines[:4]


@pytest.mark.parametrize("kind", AlertKind)
def test_a_kind_has_all_its_texts(kind: AlertKind) -> None:
    """A kind without a meaning or a first step would be a message that helps no reader; both are whole sentences."""
    assert kind.headline
    for text in (kind.meaning, kind.first_step):
        assert text.endswith(".")
        assert "{" not in text
    assert str(kind.urgency) == Alert(kind, "shop", RUN, NOW, "http://x").to_document()["urgency"]


@pytest.mark.parametrize("kind", AlertKind)
def test_an_alert_has_a_time_a_first_step_and_a_short_name_of_its_run(kind: AlertKind) -> None:
    """Its text says when it was sent, with a clock and a zone, what to do first, of which run, and where to look."""
    alert = Alert(kind, "shop", RUN, NOW, "http://x/question")

    assert "Sent: Wed 2026-12-02 03:42 CET (02:42 UTC)" in alert.text.splitlines()
    assert f"What to do: {kind.first_step.replace('<name>', 'shop')}" in alert.text.splitlines()
    assert "Run: manual 25 Nov 03:02 of kafka_migration__shop" in alert.text.splitlines()
    assert "http://x/question" == alert.text.splitlines()[-1]
    assert str(RUN) == alert.to_document()["run"]


TOPICS = tuple(f"orders.{number}" for number in range(5_000))


def topics_of(text: str) -> set[str]:
    """Return the topics that a text names."""
    return {word.strip(".") for word in re.findall(r"[\w.-]+", text)} & set(TOPICS)


def listing(code: Code, topics: Sequence[str]) -> Finding:
    """Return a finding that lists topics itself."""
    return replace(finding(code, some(topics)), happened=f"They differ: {some(topics)}.")


@pytest.mark.parametrize(
    "findings",
    [
        [finding(subject=f"topic {topic}") for topic in TOPICS],
        [listing(code, TOPICS[10 * number :]) for number, code in enumerate(list(Code)[:50])],
        [listing(Code.GROUP_ACTIVE, TOPICS[10 * number :]) for number in range(200)],
        [finding(code, f"topic {topic}") for code in list(Code)[:3] for topic in TOPICS],
    ],
    ids=["one cause", "many causes", "lists of one cause", "three causes"],
)
def test_an_alert_names_at_most_ten_topics(findings: list[Finding]) -> None:
    """However many topics fail for however many causes, an alert names ten of them, and says that there are more."""
    ended = Ended("failed", [Refusal("judge", tuple(findings), "Refused")])

    alert = present(ended_alert("shop", RUN, NOW, "http://x", ended, TOPICS))

    assert 0 < len(topics_of(alert.text)) <= 10
    assert str(findings[0].code) in alert.text
    assert " more" in alert.text
