"""The quotas that may slow MirrorMaker, and the time of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.preflight.host.tools_checks import ControllerClock, Quota, known_time, quota_findings
from kafka_migration.preflight.scene.check import Fact, UnknownFact

QUOTAS: list[dict[str, Any]] = [
    {"of": {"user": "mirror"}, "rates": {"producer_byte_rate": "1024.0"}},
    {"of": {"user": "other"}, "rates": {"producer_byte_rate": "1.0"}},
    {"of": {"user": None}, "rates": {"consumer_byte_rate": "5.0"}},
    {"of": {"client-id": "app"}, "rates": {"producer_byte_rate": "2.0"}},
    {"of": {"client-id": None}, "rates": {"request_percentage": "10.0", "controller_mutation_rate": "3.0"}},
    {"of": {"client-id": "app", "user": "mirror"}, "rates": {"producer_byte_rate": "3.0"}},
    {"of": {"client-id": None, "user": None}, "rates": {"producer_byte_rate": "4.0"}},
]
TIME_MS = 1_795_558_429_892


def found(side: Any, quotas: list[dict[str, Any]]) -> list[str]:
    """Return what is found in quotas, as the host answers them."""
    asked = [Quota.from_document(each) for each in quotas]
    return [finding.found for finding in quota_findings(side, asked, lambda _: "User:mirror")]


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        (
            "source",
            [
                "a quota for the default client-id: request_percentage=10.0",
                "a quota for the default user-principal: consumer_byte_rate=5.0",
            ],
        ),
        (
            "target",
            [
                "a quota for the default client-id: request_percentage=10.0",
                "a quota for the default user-principal, the default client-id: producer_byte_rate=4.0",
                "a quota for user-principal 'mirror': producer_byte_rate=1024.0",
            ],
        ),
    ],
)
def test_quotas_of_the_login_and_of_everyone_are_warned_of(side: str, expected: list[str]) -> None:
    """Only quotas of the login, or of every user or client, slow MirrorMaker, and only with rates of that side."""
    assert expected == found(side, QUOTAS)
    assert expected == found(side, QUOTAS[::-1])


def test_long_names_are_cut() -> None:
    """A host may be hostile: what it calls a quota does not fill a report."""
    (text,) = found("source", [{"of": {"user": "mirror"}, "rates": {"consumer_byte_rate": "9" * 10**6}}])

    assert len(text) < 2_000


def test_quota_that_does_not_fit_is_an_error() -> None:
    """A host that answers another form is not believed."""
    with pytest.raises(ValueError, match="rates"):
        Quota.from_document({"of": {}, "rates": {"producer_byte_rate": 1}})


def test_cluster_shows_the_time_of_its_leader() -> None:
    """A time of the leader is known; without one, and after the year 5138, the time is unknown."""
    known = ControllerClock.from_document({"before": TIME_MS, "after": TIME_MS, "shown": TIME_MS})
    silent = [ControllerClock(TIME_MS, TIME_MS, shown) for shown in (0, -1, 10**15)]
    unknown = UnknownFact(Fact("x", "y"), "no right")

    assert known == known_time(known)
    assert unknown == known_time(unknown)
    assert [True] * 3 == [isinstance(known_time(each), UnknownFact) for each in silent]
    assert ControllerClock(1, 2, 0) == ControllerClock.from_document({"before": 1, "after": 2})
