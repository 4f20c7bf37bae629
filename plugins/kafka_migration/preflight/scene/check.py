"""The checks of a run: their types and their execution."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import groupby
from typing import TypeAlias, TypeVar

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.stored.stored_documents import CheckDocument
from kafka_migration.core.text.shortened import sentence
from kafka_migration.preflight.scene.scene import Scene

T = TypeVar("T")
Findings = Iterable[Finding]
"""What a check finds, or warns of."""

log = logging.getLogger(__name__)


class Asked(Enum):
    """A party that a check asks. A check belongs to the last one of its parties, in the order of this list.

    Every check may read `FILE`: the migration file, the run's request, the ledger and Airflow's connections. A check
    that asks only for these declares it alone. `TOOLS` is a Kafka client on the host, which asks both clusters.
    """

    FILE = "file", "files", "the migration file and Airflow's connections", Code.CLUSTER_UNREACHABLE
    SOURCE = "source", "clusters", "both clusters", Code.CLUSTER_UNREACHABLE
    TARGET = "target", "clusters", "both clusters", Code.CLUSTER_UNREACHABLE
    REGISTRY = "registry", "clusters", "both clusters", Code.REGISTRY_UNREACHABLE
    SPARK = "spark", "spark", "Spark and the evidence root", Code.CLUSTER_UNREACHABLE
    CONNECT = "connect", "connect", "the Kafka Connect cluster", Code.CONNECT_UNREACHABLE
    HOST = "host", "host", "the MirrorMaker host", Code.SSH_UNREACHABLE
    TOOLS = "tools", "host", "both clusters from the MirrorMaker host, with a Kafka client", Code.SSH_UNREACHABLE

    def __init__(self, key: str, room: str, words: str, unreachable: Code) -> None:
        self.key = key
        self.room = room
        """The room of `preflight` with the checks of this party."""
        self.words = words
        """What a person reads while these checks run: `Checking the MirrorMaker host …`."""
        self.unreachable = unreachable
        """The code of a finding that this party did not answer."""


_ORDER = list(Asked)
BOTH = frozenset({Asked.SOURCE, Asked.TARGET})
BOTH_AND_HOST = BOTH | {Asked.HOST}
BOTH_AND_CONNECT = BOTH | {Asked.CONNECT}


def last_of(asked: Collection[Asked]) -> Asked:
    """Return the last party, to which a check with these parties belongs."""
    return max(asked, key=_ORDER.index)


def silent_one(asked: Collection[Asked], error: Exception) -> Asked:
    """Return which of the parties did not answer.

    An error of a cluster starts with its side, such as `target (new_kafka, kafka:9092)`.
    """
    named = [party for party in asked if str(error).startswith(f"{party.key} (")]
    return named[0] if named else last_of(asked)


class NotApplicable(Exception):
    """A check has nothing to say, for the reason that is its text."""


def _nothing(_: Scene) -> Findings:
    return ()


def without_mirrormaker(scene: Scene) -> str:
    """Return why a check of the copy does not apply: the run starts no MirrorMaker. Empty if it does."""
    return "" if scene.mode.mirrors else "this run starts no MirrorMaker"


def without_connect(scene: Scene) -> str:
    """Return why a check of a Kafka Connect cluster does not apply: the run has none, or starts nothing there."""
    return scene.migration.mirror.abilities.needs_connect.why_not or without_mirrormaker(scene)


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what it finds, whom it asks, and the checks that must have passed before it.

    `warn` returns what does not refuse the run. `unless` returns why the check does not apply to a run, empty if it
    does. `asks` are all parties that `ask` and `warn` ask.
    """

    name: str
    ask: Callable[[Scene], Findings] = _nothing
    asks: Set[Asked] = field(kw_only=True)
    needs: tuple[str, ...] = ()
    warn: Callable[[Scene], Findings] = _nothing
    unless: Callable[[Scene], str] = lambda _: ""

    @property
    def party(self) -> Asked:
        """The party to which the check belongs."""
        return last_of(self.asks)

    @property
    def rule(self) -> Callable[[Scene], Findings]:
        """`ask`, or `warn` if the check only warns; the docstring of this function says what the check checks."""
        return self.warn if self.ask is _nothing else self.ask


def check(
    name: str,
    *,
    asks: Set[Asked],
    needs: tuple[str, ...] = (),
    warn: Callable[[Scene], Findings] = _nothing,
    unless: Callable[[Scene], str] = lambda _: "",
    warns: bool = False,
) -> Callable[[Callable[[Scene], Findings]], Check]:
    """Make a check of a function, whose docstring says what it checks; `warns` if it only warns."""
    made = Check(name, asks=asks, needs=needs, warn=warn, unless=unless)
    return lambda rule: replace(made, warn=rule) if warns else replace(made, ask=rule)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check: passed, failed with findings, accepted, or not applicable with the reason.

    `warnings` do not prevent the run. `accepted` are findings and warnings that the migration file accepts.
    """

    name: str
    findings: tuple[Finding, ...] = ()
    not_applicable: str | None = None
    warnings: tuple[Finding, ...] = ()
    accepted: tuple[Finding, ...] = ()

    @property
    def has_passed(self) -> bool:
        """Whether the check was run and found nothing that the migration file does not accept."""
        return not self.findings and self.not_applicable is None

    @property
    def state(self) -> str:
        """The result in one or two words."""
        if not self.has_passed:
            return "failed" if self.findings else "not applicable"
        return "accepted" if self.accepted else "passed"

    @property
    def reason(self) -> str | None:
        """Why the check was not applicable, or what was accepted; `None` for the other states."""
        codes = dict.fromkeys(finding.code for finding in self.accepted if self.has_passed)
        return self.not_applicable or ", ".join(codes) or None

    @property
    def document(self) -> CheckDocument:
        """The result as it is stored and printed."""
        return CheckDocument(self.name, self.state, self.reason, self.findings, self.warnings, self.accepted)

    def accepting(self, codes: Collection[Code]) -> CheckResult:
        """Return the result after the findings with these codes were accepted."""
        accepted = tuple(finding for finding in (*self.findings, *self.warnings) if finding.code in codes)
        findings, warnings = (
            tuple(finding for finding in found if finding.code not in codes) for found in (self.findings, self.warnings)
        )
        return replace(self, findings=findings, warnings=warnings, accepted=accepted)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a check; `is_cut`: an error ended it before it found anything."""

    result: CheckResult
    is_cut: bool = False


_Outcomes: TypeAlias = "Mapping[str, Future[_Outcome]]"


def run_checks(
    checks: Sequence[Check], scene: Scene, begins: Callable[[str], None] = lambda _: None
) -> tuple[CheckResult, ...]:
    """Run the checks and return their results in order; one failure does not hide the others.

    The checks of files run first. Then the parties are asked at the same time, each in the order of its checks; a check
    waits for those that it needs. `begins` gets the words of each party (`Asked.words`) before the first of its checks,
    unless that does not apply: then the run does not have this party.
    """
    outcomes: _Outcomes = {check.name: Future() for check in checks}
    groups = {words: tuple(group) for words, group in groupby(checks, lambda check: check.party.words)}
    first = {words: group for words, group in groups.items() if words == Asked.FILE.words}
    for at_once in (first, {words: group for words, group in groups.items() if words not in first}):
        for words, group in at_once.items():
            if not group[0].unless(scene):
                begins(words)
        scene.airflow.at_once([partial(_run_in_order, group, scene, outcomes) for group in at_once.values()])
    return _each_right_once([outcome.result() for outcome in outcomes.values()])


def _run_in_order(checks: Sequence[Check], scene: Scene, outcomes: _Outcomes) -> None:
    """Run the checks of a party; an error that is no finding also ends those that wait for one of them."""
    for number, check in enumerate(checks):
        try:
            outcomes[check.name].set_result(_run(check, scene, outcomes))
        except BaseException as error:
            for each in checks[number:]:
                outcomes[each.name].set_exception(error)
            raise


def _each_right_once(outcomes: Sequence[_Outcome]) -> tuple[CheckResult, ...]:
    """Return the results in order; a check that a missing right ended does not name it again."""
    results: list[CheckResult] = []
    named: set[str] = set()
    for outcome in outcomes:
        result, lacking = outcome.result, _lacking(outcome.result.findings)
        if outcome.is_cut and result.findings and named.issuperset(lacking or {""}):
            reason = "a right is missing, which an earlier check names"
            result, lacking = CheckResult(result.name, not_applicable=reason), set()
        named |= lacking
        results.append(result)
    return tuple(results)


def without_checks(checks: Sequence[Check], reason: str) -> tuple[CheckResult, ...]:
    """Return the results of a run that has nothing to check, for this reason."""
    return tuple(CheckResult(check.name, not_applicable=reason) for check in checks)


def _run(check: Check, scene: Scene, outcomes: _Outcomes) -> _Outcome:
    results = (outcomes[name].result().result for name in check.needs)
    if unmet := next((result for result in results if not result.has_passed), None):
        # A run without a host has no check of the host, for the reason of the first of them.
        reason = unmet.not_applicable or f"the check {unmet.name} did not pass"
        return _Outcome(CheckResult(check.name, not_applicable=reason))
    outcome = _asked(check, scene)
    return replace(outcome, result=outcome.result.accepting(scene.migration.accept))


def _asked(check: Check, scene: Scene) -> _Outcome:
    findings: tuple[Finding, ...] = ()
    try:
        if reason := check.unless(scene):
            return _Outcome(CheckResult(check.name, not_applicable=reason))
        findings = tuple(check.ask(scene))
        return _Outcome(CheckResult(check.name, findings, warnings=tuple(check.warn(scene))))
    except NotApplicable as error:
        return _Outcome(CheckResult(check.name, findings, None if findings else str(error)))
    except Exception as error:
        return _Outcome(CheckResult(check.name, (*findings, *_findings_of(check, error))), is_cut=not findings)


def _lacking(findings: Collection[Finding]) -> set[str]:
    """Return the sides on which a right is missing, if that is all that was found."""
    is_all = all(finding.code is Code.RIGHT_MISSING for finding in findings)
    return {finding.subject.partition(" ")[0] for finding in findings} if is_all else set()


def _findings_of(check: Check, error: Exception) -> tuple[Finding, ...]:
    """Return the findings about an error that ended a check; those of the other checks must not be lost."""
    if isinstance(error, Refused):
        return tuple(error.findings)
    if isinstance(error, TransientError):
        return (error.finding or _unreachable(check, error),)
    log.error("The check %s failed with an unexpected error.", check.name, exc_info=error)
    return (_unknown(check, error),)


def _unknown(check: Check, error: Exception) -> Finding:
    # Not the error's text, which may quote a secret and would be written to the evidence.
    found = type(error).__name__
    return Finding(
        Code.CHECK_FAILED,
        f"check {check.name}",
        found,
        "a completed check",
        "Read the whole error in the log of this task. If the cause is outside of this package, remove the cause and "
        "trigger the run again. Otherwise report the error as a bug.",
        happened=f"Nothing was started, because the check {check.name} ended with an unexpected error ({found}).",
        matters="Without this check it is unknown whether the run is safe, so the run is refused.",
    )


def _unreachable(check: Check, error: TransientError) -> Finding:
    return Finding(
        silent_one(check.asks, error).unreachable,
        f"check {check.name}",
        str(error),
        "an answer",
        "Check the address in the Airflow connection, the network path, and that the service runs. Then trigger the "
        "run again.",
        happened=sentence(f"Nothing was started, because the check {check.name} got no answer: {error}"),
        matters="Without this check it is unknown whether the run is safe, so the run is refused.",
    )


NO_DESCRIBE_CONFIGS = "the login has no right DescribeConfigs on the cluster"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a check reads: `words` complete the sentence "It is unknown …", `matters` says why.

    `right` is what a login needs to read it.
    """

    words: str
    matters: str
    right: str = ""


@dataclass(frozen=True, slots=True)
class UnknownFact:
    """A fact that could not be read, and why; `remedy` is empty if these versions cannot answer.

    `is_failure`: the tool ran and failed, for example because no broker answered.
    """

    fact: Fact
    reason: str
    remedy: str = ""
    is_failure: bool = False

    def __str__(self) -> str:
        return f"it is unknown {self.fact.words}: {self.reason}"


def unknown_finding(subject: str, unknown: UnknownFact) -> Finding:
    """Return the warning that a check could not read a fact about `subject`."""
    return Finding(
        Code.FACT_UNKNOWN,
        subject,
        unknown.reason,
        unknown.fact.words,
        unknown.remedy or "Look at the cluster yourself, because these versions of Kafka do not show this.",
        happened=f"It is unknown {unknown.fact.words}: {unknown.reason}.",
        matters=unknown.fact.matters,
    )


def warnings_of_sides(
    answers: Mapping[Side, T | UnknownFact], find: Callable[[Side, T], Findings] = lambda *_: ()
) -> tuple[Finding, ...]:
    """Return what is found in the answers about both sides, and a warning per side of which a fact is unknown."""
    known = {side: answer for side, answer in answers.items() if not isinstance(answer, UnknownFact)}
    found = [finding for side, answer in known.items() for finding in find(side, answer)]
    unknowns = {f"{side}.connection": answer for side, answer in answers.items() if isinstance(answer, UnknownFact)}
    return (*found, *unknown_warnings(unknowns, is_more_known=bool(found)))


def unknown_warnings(unknowns: Mapping[str, UnknownFact], *, is_more_known: bool = False) -> Findings:
    """Yield a warning per unknown fact that can be made readable; `unknowns` are named by what they are about.

    If all are facts that these versions cannot answer, `NotApplicable` is raised, or if more is known, they are
    warnings too.
    """
    is_warned = is_more_known or any(unknown.remedy for unknown in unknowns.values())
    if unknowns and not is_warned:
        raise NotApplicable("; ".join(f"{where}: {unknown}" for where, unknown in unknowns.items()))
    yield from (unknown_finding(where, unknown) for where, unknown in unknowns.items())
