"""Rules of silence: who does not answer, since when, who is told, and when the watch gives up."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import OutcomeUnknown, TransientError
from kafka_migration.core.watching.unreachable import Party, SilenceWatch, party_of, silences_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
GONE = "target (new_kafka, b:9092) did not answer in time"


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def a_watch() -> SilenceWatch:
    return SilenceWatch(told_after_s=60, limit_s=180)


def test_silence_is_told_once_after_its_time() -> None:
    """Not before `told_after_s`, and not again while it lasts; the text has who, since when and why."""
    watch, told = a_watch(), []
    for seconds in range(0, 180, 15):
        watch.take((), {Party.TARGET: GONE}, after(seconds))
        told += [(seconds, str(silence)) for silence in watch.take_untold(after(seconds))]

    assert [(60, f"no answer from the target cluster since 2030-01-01T00:00:00+00:00: {GONE}")] == told


def test_second_silence_is_told_again() -> None:
    """An answer ends a silence, also for the limit; the next one is another."""
    watch = a_watch()
    watch.take((), {Party.TARGET: GONE}, NOW)
    assert watch.take_untold(after(60))
    (ended,) = watch.take({Party.TARGET}, {}, after(100))
    watch.take((), {Party.TARGET: GONE}, after(120))

    assert (Party.TARGET, True) == (ended.party, ended.is_told)
    assert () == watch.too_long(after(299))
    assert [after(120)] == [silence.since for silence in watch.take_untold(after(180))]


def test_who_was_not_asked_stays_silent() -> None:
    """A poll that ended at the host says nothing of the clusters."""
    watch = a_watch()
    watch.take((), {Party.TARGET: GONE}, NOW)
    watch.take({Party.HOST}, {}, after(30))

    assert watch.take_untold(after(60))


def test_answer_to_one_question_only_is_no_answer() -> None:
    """Asked twice in one poll, a cluster that answered once is silent."""
    watch = a_watch()
    watch.take({Party.SOURCE}, {Party.SOURCE: "gone"}, NOW)

    assert [Party.SOURCE] == list(watch.silences)


def test_limit_fails_with_all_that_are_silent() -> None:
    """The finding has cluster, address, since when and the limit; one that fell silent later is named as well."""
    watch = a_watch()
    watch.take((), {Party.TARGET: GONE}, NOW)
    watch.take((), {Party.TARGET: GONE, Party.SOURCE: "source (old) gone"}, after(170))
    assert () == watch.too_long(after(179))
    first, second = watch.too_long(after(180))

    assert (Code.UNREACHABLE, "target cluster", "source cluster") == (first.code, first.subject, second.subject)
    assert first.found == f"no answer since 2030-01-01T00:00:00+00:00 ({GONE})"
    assert first.expected == "an answer within 3m00s (watch.unreachable_after)"


def test_host_that_runs_something_else_is_not_looked_for_in_the_network() -> None:
    """A host that answers with another program has a remedy of its own."""
    watch = a_watch()
    watch.take((), {Party.HOST: f'{Code.HOST_ANSWERS_OTHERWISE}: me@host: output "hello"'}, NOW)
    (silent,) = watch.too_long(after(180))

    assert "forced command" in silent.remedy
    assert "reaches it by SSH" not in silent.remedy


def test_silences_survive_their_documents() -> None:
    """A restarted triggerer continues with the same silences."""
    watch = a_watch()
    watch.take((), {Party.TARGET: GONE, Party.EVIDENCE: "disk"}, NOW)
    watch.take_untold(after(60))
    documents = json.loads(json.dumps([silence.to_document() for silence in watch.silences.values()]))

    assert watch.silences == silences_of(documents)


@pytest.mark.parametrize(
    ("error", "party"),
    [
        (TransientError(GONE), Party.TARGET),
        (TransientError("source (old_kafka, a:9092): Local: Timed out"), Party.SOURCE),
        (TransientError("SSH_UNREACHABLE: me@host:22: no route"), Party.HOST),
        (TransientError("HOST_REPLY_UNREADABLE: renew of shop: nothing"), Party.HOST),
        (OutcomeUnknown("start was sent"), Party.HOST),
        (OSError("disk full"), Party.EVIDENCE),
        (TransientError("the target's ends still rise"), None),
    ],
)
def test_error_names_who_is_silent(error: Exception, party: Party | None) -> None:
    """The first words or the type of an error name the party; otherwise it is the one that was asked."""
    assert (party, party or Party.SOURCE) == (party_of(error), party_of(error, Party.SOURCE))
