"""Each check asks exactly the parties that it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.mirror.host import HostProbe, ProbeSubject
from kafka_migration.engines.kafka_connect import KafkaConnect
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.preflight import checks as checks_module
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import Asked, Check, CheckResult, run_checks
from kafka_migration.steps.run.run_request import RunRequest
from tests.checked_scene import Airflow, Connections, Deployed, Run, Spark, alone, on_connect, scene_of
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_connect_tools import FakeConnectTools
from tests.contract.fake_mirror_host import FakeMirrorHost

PREFLIGHT = Path(str(checks_module.__file__)).parent


@pytest.fixture(autouse=True)
def _rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine on Kafka Connect render any configuration, which is not what is tested here."""
    monkeypatch.setattr(KafkaConnect, "launch", lambda *_: SimpleNamespace(config={"topics": "orders"}))


class NotDeclared(Exception):
    """A check asked a party that it does not declare."""


@dataclass
class Fence:
    """Lets only the allowed parties answer, and knows who was asked."""

    allowed: frozenset[Asked]
    heard: set[Asked] = field(default_factory=set)

    def ask(self, party: Asked) -> None:
        """Note that a party is asked."""
        self.heard.add(party)
        if party not in self.allowed:
            raise NotDeclared(party.key)

    def around(self, answering: Any, party_of: Callable[..., Asked]) -> Any:
        """Return what answers like this one, as far as its party may."""
        return Fenced(answering, self, party_of)

    def registry(self, side: Side, connection: str) -> Any:
        """Return a registry that answers that it has no schema."""
        self.ask(Asked.REGISTRY)
        return Registry()


class Registry:
    """A registry without schemas."""

    def schema(self, number: int) -> None:
        """Return that there is none."""

    def close(self) -> None:
        """Do nothing."""


@dataclass
class Fenced:
    """Something whose methods answer only if their party may."""

    answering: Any
    fence: Fence
    party_of: Callable[..., Asked]

    def __getattr__(self, name: str) -> Any:
        if not callable(found := getattr(self.answering, name)):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self.fence.ask(self.party_of(*args))
            return found(*args, **kwargs)

        return call


def party_of_probe(*args: Any) -> Asked:
    """Return who answers a call of the host: a Kafka client there, or the host itself."""
    is_tool = bool(args) and isinstance(args[0], HostProbe) and args[0].subject is not ProbeSubject.HOST
    return Asked.TOOLS if is_tool else Asked.HOST


def cluster(side: str) -> FakeCluster:
    """Return a cluster with the topics of the migration, if it is the source, and some records."""
    made = FakeCluster(side)
    if side == "source":
        made.create_topics([NewTopic("orders", 3, 1, {}), NewTopic("audit", 1, 1, {})])
        made.produce("orders", 0, (b"k", b"v"))
    made.workers["connect-cluster"] = ("http://127.0.0.1:8083/",)
    return made


@dataclass(frozen=True)
class Case:
    """A run in which some checks ask more than in others."""

    mode: Mode = Mode.SYNC
    engine: str = "mirrormaker2"
    kafka: str = "3.9.1"
    more: str = ""
    request: dict[str, Any] = field(default_factory=dict)

    def run(self, text: str, fence: Fence) -> Run:
        """Return the run behind the fence."""
        is_connect = self.engine == "connect"
        text = on_connect(text) if is_connect else text.replace("mirror:\n", f"mirror:\n  engine: {self.engine}\n")
        text += self.more
        host = FakeMirrorHost(facts={"kafka": self.kafka, "java": "17.0.1"})
        return Run(
            load_migration(text, where="shop.yaml"),
            RunRequest(mode=self.mode, **self.request),
            source=fence.around(cluster("source"), lambda *_: Asked.SOURCE),
            target=fence.around(cluster("target"), lambda *_: Asked.TARGET),
            host=fence.around(host, party_of_probe),
            connect=fence.around(FakeConnectTools(), lambda *_: Asked.CONNECT),
            second_host=fence.around(FakeMirrorHost(), party_of_probe),
            deployment=Deployed(open_registry=fence.registry),
        )


REGISTRIES = "schema_registry:\n  source: old_registry\n  target: new_registry\n"
CASES = {
    "sync": Case(),
    "mirrormaker 1": Case(engine="mirrormaker1"),
    "connect": Case(engine="connect"),
    "kafka 4": Case(kafka="4.0.0"),
    "registries": Case(more=REGISTRIES),
    "groups": Case(Mode.REHEARSE, request={"groups": ("billing",), "topics": ("orders",)}),
    "validate": Case(Mode.VALIDATE, request={"generations": range(1, 2)}),
    "interval": Case(Mode.INTERVAL),
    "back": Case(Mode.FAIL_BACK),
}


def asked_by(check: Check, case: Case, text: str, allowed: frozenset[Asked]) -> tuple[CheckResult, set[Asked]]:
    """Run one check with only these parties; return its result and whom it asked."""
    fence = Fence(allowed)
    airflow = Airflow(Connections(), fence.around(Spark(), lambda *_: Asked.SPARK))
    (result,) = run_checks([alone(check)], scene_of(case.run(text, fence), airflow))
    return result, fence.heard


@pytest.mark.parametrize("name", CASES)
def test_check_needs_only_the_parties_that_it_declares(name: str, migration_text: str) -> None:
    """A check works when no other party than the declared ones answers, so other parties can be asked meanwhile."""
    results = [asked_by(check, CASES[name], migration_text, frozenset(check.asks))[0] for check in CHECKS]

    assert [] == [(each.name, finding.found) for each in results for finding in each.findings if _is_failure(each)]


def _is_failure(result: CheckResult) -> bool:
    return Code.CHECK_FAILED in {finding.code for finding in result.findings}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_check_asks_every_party_that_it_declares(check: Check, migration_text: str) -> None:
    """A declared party is asked in some run: a declaration that is too wide would make a check wait for nothing."""
    heard = set[Asked]().union(*(asked_by(check, case, migration_text, frozenset(Asked))[1] for case in CASES.values()))

    assert check.asks - {Asked.FILE} == heard


def test_undeclared_party_is_found(migration_text: str) -> None:
    """The fence works: a check that asks more than it declares fails."""
    (limits,) = [check for check in CHECKS if check.name == "limits"]
    result, _ = asked_by(limits, CASES["sync"], migration_text, frozenset({Asked.TARGET}))

    assert [NotDeclared.__name__] == [finding.found for finding in result.findings]


def test_file_is_declared_alone() -> None:
    """Every check may read the migration file, so only a check that asks for nothing else declares it."""
    assert [] == [
        check.name for check in CHECKS if not check.asks or (Asked.FILE in check.asks and len(check.asks) > 1)
    ]


def test_room_of_a_check_is_that_of_its_parties() -> None:
    """A check is in the room of the last party that it asks, and each check of a room is in the list once."""
    there = [
        (each.name, path.parent.name)
        for path in PREFLIGHT.glob("*/*.py")
        for each in vars(import_module(f"kafka_migration.preflight.{path.parent.name}.{path.stem}")).values()
        if isinstance(each, Check)
    ]

    assert sorted(there) == sorted((check.name, check.party.room) for check in CHECKS)


def test_checks_of_a_party_stand_together() -> None:
    """Each party is asked in one go, after those before it in the list of the parties."""
    order = [party.words for party in Asked]
    asked = [order.index(check.party.words) for check in CHECKS]

    assert sorted(asked) == asked


def test_needed_checks_run_before() -> None:
    """A check needs only checks that ran before it."""
    names = [check.name for check in CHECKS]

    assert len(set(names)) == len(names)
    assert [] == [
        check.name for number, check in enumerate(CHECKS) for need in check.needs if need not in names[:number]
    ]


def test_every_check_says_what_it_checks() -> None:
    """The first line of a check's docstring is its line in the list of the checks, and no two are equal."""
    lines = [str(check.rule.__doc__).partition("\n")[0] for check in CHECKS]

    assert len(CHECKS) == len(set(lines))
    assert [] == [line for line in lines if not line.endswith(".")]
