"""The alarm rules on the real promtool: which alarms fire in which situation, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from kafka_migration.core.kafka.offsets import Known, Lag, Unknown
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.watching.progress import ProgressMeter
from tests.monitoring.promtool import RULES, STEP_S, Story, at, input_series, promtool, unit_tests

BEHIND = Known(5)
GROUPS = yaml.safe_load(RULES.read_text())["groups"]
ALARMS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"]}


class Fires(NamedTuple):
    """An alarm that fires: its value as text, and its labels besides the migration `shop`."""

    alarm: str
    value: str = ""
    labels: tuple[tuple[str, str], ...] = ()


def night(
    begin: float = 0.5,
    verdict: str = "PASS",
    outcome: str = "success",
    limit: float | None = 30,
    after: Story | None = None,
) -> Story:
    """Return a night that began, mirrored, stopped, was judged and ended within an hour, after others."""
    story = after or Story()
    of = story.of
    story.then(begin, *of.began(Mode.SYNC, at(begin)), *of.polled(BEHIND, ProgressMeter(5), at(begin), None))
    story.then(begin + 0.25, of.watched(None), *of.next_start(None if limit is None else at(limit), at(begin)))
    story.then(begin + 0.5, *of.judged(verdict, at(begin + 0.5)))
    return ended(story, begin + 0.75, outcome)


def ended(story: Story, hours: float, outcome: str, phase: Phase = Phase.SYNCING) -> Story:
    return story.then(hours, *story.of.ended(outcome, at(hours)), *story.of.freed(phase))


def began(story: Story, hours: float, mode: Mode = Mode.SYNC) -> Story:
    return story.then(hours, *story.of.began(mode, at(hours)))


def polled(story: Story, *hours: float, lag: Lag = BEHIND) -> Story:
    for each in hours:
        story.then(each, *story.of.polled(lag, ProgressMeter(5), at(each), None))
    return story


def waiting(hours: float, kind: AlertKind) -> Story:
    story = began(night(), hours, Mode.CUTOVER)
    return story.then(hours, story.of.waits(kind, at(hours)))


def failed_only() -> Story:
    return ended(began(Story(), 0.5), 0.75, "failed")


def half_hours(first: int, last: int) -> tuple[float, ...]:
    return tuple(step / 2 for step in range(first * 2, last * 2 + 1))


START_SOON, OVERDUE = Fires("KafkaMigrationStartSoon", "5h 0m 0s"), Fires("KafkaMigrationStartOverdue")
FAILED, NO_GOOD = Fires("KafkaMigrationRunFailed"), Fires("KafkaMigrationNoGoodRun", "1d 5h 0m 0s")
MOVED = ended(night(limit=30), 2, "success", Phase.CUT_OVER)
# Each situation: its name, what happened, the hour at which it is looked at, and the alarms that fire.
SITUATIONS: list[tuple[str, Story, float, list[Fires]]] = [
    ("a good night", night(), 3, []),
    ("a good night has not been followed by another for long", night(limit=None), 30, [NO_GOOD]),
    ("the limit is near", night(), 25, [START_SOON]),
    ("the limit is near, and MirrorMaker runs", polled(began(night(), 24.5), *half_hours(24, 25)), 25, []),
    ("the limit is over", night(), 30, [OVERDUE, NO_GOOD]),
    ("the source keeps everything", night(limit=None), 25, []),
    ("all topics are cut over", MOVED, 40, []),
    ("a run failed", ended(began(night(), 2), 3, "failed"), 4, [FAILED]),
    ("a run moved some groups", ended(began(night(), 2), 3, "partly done"), 4, [FAILED]),
    ("a run failed and the next was good", ended(ended(night(), 2, "failed"), 3, "success"), 4, []),
    (
        "a run outside its window after a failed one",
        ended(ended(night(), 2, "failed"), 3, "not in window"),
        4,
        [FAILED],
    ),
    ("the copy differs", night(1, "FAIL", "failed"), 4, [Fires("KafkaMigrationCopyDiffers"), FAILED]),
    (
        "the copy is not verifiable",
        night(1, "NOT_VERIFIABLE", "failed"),
        4,
        [Fires("KafkaMigrationCopyNotProved"), FAILED],
    ),
    ("a warning is good", night(24, "WARN", limit=None, after=night(limit=None)), 29, []),
    ("all verdicts are warnings", night(24, "WARN", limit=None, after=night(1, "WARN", limit=None)), 29, []),
    ("no run was ever good", failed_only(), 27, [Fires("KafkaMigrationNeverGood"), FAILED]),
    ("the first run failed", failed_only(), 4, [FAILED]),
    ("a night was behind", night(outcome="behind"), 4, [Fires("KafkaMigrationBehind")]),
    ("a validation is pending", night(outcome="validation pending"), 4, [Fires("KafkaMigrationBehind")]),
    ("MirrorMaker runs", polled(began(night(), 2), *half_hours(2, 4)), 4, []),
    (
        "MirrorMaker was left running",
        polled(began(night(), 2), 2),
        4,
        [Fires("KafkaMigrationMirrorMakerUnwatched", "2h 0m 0s")],
    ),
    (
        "a plan waits",
        waiting(2, AlertKind.APPROVAL),
        3,
        [Fires("KafkaMigrationWaitsForPerson", "", (("alert", "approval"),))],
    ),
    (
        "producers have to stop",
        waiting(2, AlertKind.PRODUCERS),
        3,
        [Fires("KafkaMigrationWaitsForPerson", "", (("alert", "producers"),))],
    ),
    ("the answer has come", waiting(2, AlertKind.APPROVAL).then(3, Story().of.waits(AlertKind.APPROVAL, None)), 4, []),
    (
        "the lag is unknown",
        polled(began(night(), 2), *half_hours(2, 3), lag=Unknown("no answer")),
        3,
        [Fires("KafkaMigrationLagUnknown")],
    ),
    ("the lag was unknown when MirrorMaker stopped", ended(polled(night(), 2, lag=Unknown("")), 2.1, "success"), 3, []),
    (
        "a run takes too long",
        began(night(), 2),
        15,
        [Fires("KafkaMigrationRunTooLong", "", (("mode", "sync"),))],
    ),
    ("a run follows the source", began(night(limit=None), 2, Mode.FOLLOW), 15, []),
    ("the exporter was restarted", night().then(10), 25, [START_SOON]),
    (
        "the exporter was restarted and no run came",
        night().then(2),
        52,
        [Fires("KafkaMigrationSilent"), Fires("KafkaMigrationNoMetrics", "none")],
    ),
]


def test_rules_are_valid() -> None:
    """Promtool accepts the file, with no rule twice."""
    assert f"{len(ALARMS)} rules found" in promtool("check", "rules", RULES)


def test_exactly_these_alarms_fire(tmp_path: Path) -> None:
    """In each situation exactly the alarms fire that it needs, with its names and times in their texts."""
    unit_tests(tmp_path, [_unit_test(*situation) for situation in SITUATIONS])


def test_a_wrong_expectation_is_found(tmp_path: Path) -> None:
    """Promtool compares: an alarm that fires and is not expected fails the test."""
    _, story, hour, _ = SITUATIONS[2]

    with pytest.raises(AssertionError, match="KafkaMigrationStartSoon"):
        unit_tests(tmp_path, [_unit_test("wrong", story, hour, [])])


def test_every_alarm_fires_in_a_situation() -> None:
    """No alarm is without an example, so none can be one that never fires."""
    assert set(ALARMS) == {fires.alarm for *_, alarms in SITUATIONS for fires in alarms}


@pytest.mark.parametrize("alarm", ALARMS)
def test_alarm_says_what_happened_and_what_to_do(alarm: str) -> None:
    """An alarm has a severity, one sentence as summary, and two lines: why it matters, and what to do."""
    rule = ALARMS[alarm]
    matters, act = rule["annotations"]["description"].splitlines()

    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert re.fullmatch(r"[A-Z][^.]*\.", rule["annotations"]["summary"].replace("{{ $labels.", "{{ $labels"))
    assert matters.endswith(".")
    assert re.match(r"(Start|Read|Run|Check|Find|Open|If) ", act), act


def _unit_test(name: str, story: Story, hour: float, fires: list[Fires]) -> dict[str, Any]:
    """Return the unit test of a situation: for each alarm whether it fires, and with what texts."""
    expected = {each.alarm: each for each in fires}
    return {
        "name": name,
        "interval": f"{STEP_S}s",
        "input_series": input_series([story], hour),
        "alert_rule_test": [
            {
                "eval_time": f"{round(hour * 3600)}s",
                "alertname": alarm,
                "exp_alerts": list(_expected(expected.get(alarm))),
            }
            for alarm in ALARMS
        ],
    }


def _expected(fires: Fires | None) -> Iterator[dict[str, Any]]:
    if fires is None:
        return
    rule = ALARMS[fires.alarm]
    own = {} if fires.value == "none" else {"migration": "shop", **dict(fires.labels)}
    yield {
        "exp_labels": {**rule["labels"], **own},
        "exp_annotations": {name: _filled(text, own, fires.value) for name, text in rule["annotations"].items()},
    }


def _filled(text: str, labels: dict[str, str], value: str) -> str:
    for name, label in labels.items():
        text = text.replace(f"{{{{ $labels.{name} }}}}", label)
    return text.replace("{{ $value | humanizeDuration }}", value)
