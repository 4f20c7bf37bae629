"""Rules of when a MirrorMaker that died is started again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.engine_table import ROWS
from kafka_migration.core.mirror.mirror_process import ProcessReply, ProcessState
from kafka_migration.core.mirror.restart_policy import Death, dead_for_good, stopped_by_others

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def reply(state: ProcessState = ProcessState.DEAD, reason: str = "ended") -> ProcessReply:
    log = "one\n\ntwo\nthree\nOutOfMemoryError\n"
    return ProcessReply(4, state, exit_code=3, exit_reason=reason, log=log)


@pytest.mark.parametrize(("earlier", "pause_s"), [(0, 5), (1, 15), (2, 45), (3, 135), (4, 300), (19, 300)])
def test_pauses_grow_and_have_an_end(earlier: int, pause_s: int) -> None:
    """Each death in a run makes the pause before the next start three times as long, at most five minutes."""
    assert NOW + timedelta(seconds=pause_s) == Death.of(reply(), NOW, earlier).start_after


def test_death_tells_how_it_came() -> None:
    """The cause comes first, then exit code and reason; MirrorMaker's exception only where asked for, or log lines."""
    death = Death.of(reply(), NOW, 0)
    short = "MirrorMaker is out of memory; generation 4 ended: exit code 3, ended"

    assert short == str(death)
    assert f"{short}; MirrorMaker says: OutOfMemoryError" == death.with_log
    assert replace(death, log="one\n\ntwo\nthree\nfour\n").with_log.endswith("last log lines: two | three | four")
    assert "the end was not observed" in Death.of(reply(reason=""), NOW, 0).reason
    assert "exit code unknown, ended" == Death.of(replace(reply(), exit_code=None, log=None), NOW, 0).reason


@pytest.mark.parametrize(
    ("code", "reason", "is_told"), [(137, "ended", True), (137, "lease-expired", False), (3, "ended", False)]
)
def test_killed_process_has_no_words_of_its_own(code: int, reason: str, is_told: bool) -> None:
    """A process that something on the host killed says so, and names the lack of memory that no log of it tells."""
    death = Death.of(replace(reply(reason=reason), exit_code=code), NOW, 0)

    assert is_told == ("by the kernel because the host had no free memory" in str(death))


def test_findings_name_every_death() -> None:
    """A run that gives up names all deaths and the number of restarts; a stop on request is not called a death."""
    deaths = [Death.of(reply(), NOW, 0), Death.of(reply(), NOW, 1)]
    finding, on_workers = (dead_for_good(deaths, 1, ROWS[engine]) for engine in ("mirrormaker2", "connect"))

    assert (Code.MIRROR_DEAD, 2) == (finding.code, finding.found.count("generation 4"))
    assert "restarted 1 time(s) (mirror.restarts)" in finding.expected
    assert "mirror.restarts" not in str(on_workers)
    assert ("mirrormaker.log on the host" in finding.remedy) > ("host" in on_workers.remedy)
    assert 1 == finding.found.count("says: OutOfMemoryError")
    assert "generation 4 was stopped on request" in stopped_by_others(reply()).found


@pytest.mark.parametrize(
    ("log", "ends"),
    [
        (
            "ConfigException: Topic 'x' supplied via the 'offset.storage.topic' property is required to have",
            True,
        ),
        ("org.apache.kafka.common.config.ConfigException: Invalid value x for configuration acks", True),
        ("org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes", True),
        ("java.lang.OutOfMemoryError: Java heap space", False),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: failed", False),
        ("INFO killed", False),
    ],
)
def test_cause_that_stays_is_not_tried_again(log: str, ends: bool) -> None:
    """A setting, a topic or a record that ends each start; a login or memory may be different at the next one."""
    assert ends is replace(Death.of(reply(), NOW, 0), log=log).ends_each_start
