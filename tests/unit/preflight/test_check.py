"""Rules of the results of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import Barrier, Event, current_thread
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import GroupMember, NewTopic
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.clusters import other_mirrors_check as other_mirrors
from kafka_migration.preflight.scene.check import Asked, Check, CheckResult, NotApplicable, run_checks
from kafka_migration.preflight.scene.scene import Scene
from tests.checked_scene import Run, alone, scene_of
from tests.contract.fake_cluster import FakeGroup

LOWER, DIFFERS, GONE = (
    Finding(code, "topic orders", "this", "that", "Change it.")
    for code in (Code.RECORD_LIMIT_LOWER, Code.TOPIC_CONFIG_DIFFERS, Code.SOURCE_TOPIC_MISSING)
)


@pytest.mark.parametrize(
    ("findings", "warnings", "state", "reason"),
    [
        ((), (), "passed", None),
        ((), (GONE,), "passed", None),
        ((LOWER,), (), "accepted", "RECORD_LIMIT_LOWER"),
        ((LOWER,), (DIFFERS, DIFFERS, GONE), "accepted", "RECORD_LIMIT_LOWER, TOPIC_CONFIG_DIFFERS"),
        ((LOWER, GONE), (), "failed", None),
    ],
)
def test_accepted_findings_leave_the_others(
    findings: tuple[Finding, ...], warnings: tuple[Finding, ...], state: str, reason: str | None
) -> None:
    """A check with only accepted findings has passed; what is not accepted remains a finding or a warning."""
    result = CheckResult("limits", findings, warnings=warnings).accepting({LOWER.code, DIFFERS.code})

    assert (state, reason, state != "failed") == (result.state, result.reason, result.has_passed)
    assert {GONE} >= {*result.findings, *result.warnings}
    assert {LOWER, DIFFERS} >= set(result.accepted)
    assert len(findings + warnings) == len(result.findings + result.warnings + result.accepted)


def check(name: str, ask: Callable[[Scene], Iterable[Finding]] = lambda _: (), **more: Any) -> Check:
    """Return a check that asks nobody."""
    return Check(name, ask, asks={Asked.FILE}, **more)


def lacking(side: str, code: Code = Code.RIGHT_MISSING) -> Finding:
    return Finding(code, f"{side} (x)", "no right", "a right", "Grant it.")


@pytest.mark.parametrize(
    ("earlier", "later", "is_hidden"),
    [
        ([lacking("source")], [lacking("source")], True),
        ([lacking("source"), lacking("target")], [lacking("target")], True),
        ([lacking("source")], [lacking("target")], False),
        ([lacking("source")], [lacking("source"), lacking("target")], False),
        ([lacking("source")], [lacking("source"), GONE], False),
        ([lacking("source")], [lacking("source", Code.LOGIN_REFUSED)], False),
        ([lacking("source", Code.LOGIN_REFUSED)], [lacking("source")], False),
        ([], [lacking("source")], False),
    ],
)
def test_missing_right_is_named_once(
    migration: Migration, earlier: list[Finding], later: list[Finding], is_hidden: bool
) -> None:
    """A check that ends for a right says nothing if an earlier check names what is missing on that cluster."""

    def refuse(scene: Scene) -> Any:
        raise Refused(later)

    checks = [check("rights", lambda _: earlier), check("topics", refuse), check("limits", needs=("topics",))]
    _, topics, limits = run_checks(checks, scene_of(Run(migration)))

    assert ([] if is_hidden else later) == list(topics.findings)
    assert "not applicable" == limits.state
    assert is_hidden == (topics.not_applicable is not None)


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (ValueError("odd"), [GONE.code, Code.CHECK_FAILED]),
        (Refused([DIFFERS]), [GONE.code, DIFFERS.code]),
        (NotApplicable("no tool"), [GONE.code]),
    ],
)
def test_warnings_that_fail_hide_no_finding(migration: Migration, error: Exception, codes: list[Code]) -> None:
    """What a check has found stays, whatever ends the search for its warnings."""

    def warn(scene: Scene) -> Any:
        raise error

    (result,) = run_checks([check("limits", lambda _: (GONE,), warn=warn)], scene_of(Run(migration)))

    assert codes == [finding.code for finding in result.findings]


def test_not_applicable_is_never_accepted() -> None:
    """A check that was not run keeps its reason."""
    result = CheckResult("limits", not_applicable="the check topics did not pass").accepting(set(Code))

    assert ("not applicable", False) == (result.state, result.has_passed)


@pytest.mark.parametrize(
    "code",
    [
        Code.SAME_CLUSTER,
        Code.CONNECTION_INSECURE,
        Code.TARGET_TOPIC_NOT_EMPTY,
        Code.TOPIC_PARTITIONS_DIFFER,
        Code.ALREADY_CUT_OVER,
        Code.GAP,
        Code.CHECK_FAILED,
        Code.TOPIC_NEVER_COPIED,
        Code.RIGHT_MISSING,
    ],
)
def test_what_protects_records_is_not_acceptable(code: Code) -> None:
    """No file can accept what would lose, double or skip records, or an unknown result."""
    assert not code.accepted


@pytest.mark.parametrize(
    ("asks", "error", "code"),
    [
        ({Asked.SOURCE, Asked.TARGET}, TransientError("source (old): late"), Code.CLUSTER_UNREACHABLE),
        ({Asked.REGISTRY}, TransientError("late"), Code.REGISTRY_UNREACHABLE),
        ({Asked.SOURCE, Asked.TARGET, Asked.HOST}, TransientError("target (new): late"), Code.CLUSTER_UNREACHABLE),
        ({Asked.SOURCE, Asked.TARGET, Asked.HOST}, TransientError("late"), Code.SSH_UNREACHABLE),
        ({Asked.TOOLS}, TransientError("late"), Code.SSH_UNREACHABLE),
        ({Asked.HOST}, TransientError.of(replace(GONE, code=Code.HOST_LOCKED)), Code.HOST_LOCKED),
    ],
)
def test_code_says_who_did_not_answer(
    migration: Migration, asks: set[Asked], error: TransientError, code: Code
) -> None:
    """The code is that of the cluster that the error names, else that of the party to which the check belongs."""

    def late(scene: Scene) -> Any:
        raise error

    (result,) = run_checks([Check("any", late, asks=asks)], scene_of(Run(migration)))

    assert [code] == [finding.code for finding in result.findings]


def test_parties_are_told_before_their_checks(migration: Migration) -> None:
    """A person who waits reads whom the checks ask, once per party."""
    events: list[str] = []
    told = [Asked.FILE, Asked.SOURCE, Asked.TARGET, Asked.HOST]

    def telling(party: Asked) -> Check:
        def ask(_: Scene) -> Iterable[Finding]:
            events.append(party.key)
            return ()

        return Check(party.key, ask, asks={party})

    checks = [telling(party) for party in told]
    run_checks(checks, scene_of(Run(migration)), events.append)

    words = [party.words for party in told]
    assert [words[0], "file", words[1], words[3]] == events[:4]
    assert ["source", "target"] == [each for each in events[4:] if each != "host"]
    assert "host" in events[4:]


def parties(*asked: Asked, ask: Callable[[Scene], Iterable[Finding]]) -> list[Check]:
    """Return a check of each party, which asks this."""
    return [Check(party.key, ask, asks={party}) for party in asked]


def test_parties_are_asked_at_the_same_time(migration: Migration) -> None:
    """No party waits for another: each check waits until all parties are asked."""
    asked = Asked.SOURCE, Asked.SPARK, Asked.HOST, Asked.TOOLS
    all_of_them = Barrier(len(asked))

    def meet(_: Scene) -> Iterable[Finding]:
        all_of_them.wait(60)
        return ()

    results = run_checks(parties(*asked, ask=meet), scene_of(Run(migration)))

    assert [(party.key, "passed") for party in asked] == [(result.name, result.state) for result in results]


def test_checks_of_files_run_first_and_in_the_callers_thread(migration: Migration) -> None:
    """They read Airflow's connections, whose client does not work in several threads."""
    ran: list[tuple[str, bool]] = []

    def note(key: str) -> Callable[[Scene], Iterable[Finding]]:
        return lambda _: ran.append((key, current_thread() is caller)) or ()  # type: ignore[func-returns-value]

    caller = current_thread()
    asked = Asked.FILE, Asked.SOURCE, Asked.HOST
    run_checks([Check(each.key, note(each.key), asks={each}) for each in asked], scene_of(Run(migration)))

    assert ("file", True) == ran[0]
    assert [("host", False), ("source", False)] == sorted(ran[1:])


def test_slow_or_broken_party_hides_no_other(migration: Migration) -> None:
    """Results are in the order of the checks, also if the first party answers last and another one fails."""
    others_ended = Event()

    def slow(_: Scene) -> Iterable[Finding]:
        assert others_ended.wait(60)
        return (GONE,)

    def broken(_: Scene) -> Iterable[Finding]:
        raise TransientError("late")

    def last(_: Scene) -> Iterable[Finding]:
        others_ended.set()
        return (DIFFERS,)

    checks = [
        *parties(Asked.SOURCE, ask=slow),
        *parties(Asked.SPARK, ask=broken),
        *parties(Asked.HOST, ask=last),
        Check("needs the source", lambda _: (LOWER,), asks={Asked.HOST}, needs=("source",)),
    ]
    results = run_checks(checks, scene_of(Run(migration)))

    codes = [[finding.code for finding in result.findings] for result in results]
    assert [[GONE.code], [Code.CLUSTER_UNREACHABLE], [DIFFERS.code], []] == codes
    assert "the check source did not pass" == results[-1].reason


def test_error_that_is_no_finding_ends_the_checks(migration: Migration) -> None:
    """What no check may hide, such as the end of the process, is raised, and no other check waits for it forever."""

    def end(_: Scene) -> Iterable[Finding]:
        raise SystemExit(3)

    checks = [*parties(Asked.SOURCE, ask=end), Check("host", asks={Asked.HOST}, needs=("source",))]
    with pytest.raises(SystemExit):
        run_checks(checks, scene_of(Run(migration)))


def test_a_running_mirrormaker_is_named_although_its_copy_is_refused(migration: Migration) -> None:
    """Who replaces a MirrorMaker 2 learns that it still runs while its copied records make the check `topics` fail."""
    run = Run(migration)
    scene = scene_of(run)
    run.target.create_topics([NewTopic("heartbeats", 1, 1, {})])
    run.target.produce("heartbeats", 0, (b"k", b"v"), timestamp_ms=int(scene.now.timestamp() * 1000))
    before = [check(name) for name in ("earlier runs", "clusters")]

    *_, result = run_checks([*before, check("topics", lambda _: (GONE,)), other_mirrors.other_mirror], scene)

    assert [Code.OTHER_MIRRORMAKER] == [warning.code for warning in result.warnings]


def test_a_mirrormaker_that_has_no_positions_yet_is_named(migration: Migration) -> None:
    """A MirrorMaker 2 in its first minute has stored no position, so it is not known what it copies."""
    run = Run(migration)
    worker = GroupMember("id", "worker", "/10.0.0.1", frozenset())
    run.target.groups["primary-mm2"] = FakeGroup(members=[worker], kind="connect")
    run.target.create_topics([NewTopic("mm2-offsets.primary.internal", 1, 1, {})])

    (result,) = run_checks([alone(other_mirrors.other_mirror)], scene_of(run))

    assert ["topics that are not known" in warning.found for warning in result.warnings] == [True]
