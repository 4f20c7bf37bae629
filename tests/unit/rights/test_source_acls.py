"""Lists of the source become lists on the migration's own topics and groups, and nothing more."""

from __future__ import annotations

import shlex

import pytest

from kafka_migration.core.kafka.cluster import Acl, Resource, ResourceKind
from kafka_migration.core.rights.source_acls import ByMirrorMaker, by_mirrormaker, move_lines, moves

TOPICS = {"orders": "old.orders", "orders-eu": "old.orders-eu", "pay": "old.pay"}
GROUPS = ("billing", "shop")


def acl(kind: ResourceKind, name: str, operation: str = "Read", *, prefix: bool = False, allowed: bool = True) -> Acl:
    """A list for one user."""
    return Acl(Resource(kind, name, prefix), "User:ann", "*", operation, allowed)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (acl("topic", "orders"), ["old.orders"]),
        (acl("topic", "orders", prefix=True), ["old.orders", "old.orders-eu"]),
        (acl("topic", "*"), ["old.orders", "old.orders-eu", "old.pay"]),
        (acl("topic", "order"), []),
        (acl("topic", "other", prefix=True), []),
        (acl("group", "billing"), ["billing"]),
        (acl("group", "*"), ["billing", "shop"]),
        (acl("group", "orders"), []),
        (acl("cluster", "kafka-cluster"), []),
    ],
)
def test_list_is_narrowed_to_the_migration(given: Acl, expected: list[str]) -> None:
    """A list on a prefix or on all names becomes one on each topic or group of the migration, under its new name."""
    found = moves([given], TOPICS, GROUPS)

    assert expected == [each.resource.name for move in found for each in move.on_target]
    assert not any(each.resource.is_prefix for move in found for each in move.on_target)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (acl("topic", "orders"), ByMirrorMaker.SAME),
        (acl("topic", "orders", "Write", allowed=False), ByMirrorMaker.SAME),
        (acl("topic", "orders", "All"), ByMirrorMaker.ONLY_READ),
        (acl("topic", "orders", "All", allowed=False), ByMirrorMaker.SAME),
        (acl("topic", "orders", "Write"), ByMirrorMaker.WRITES),
        (acl("topic", "orders", prefix=True), ByMirrorMaker.PATTERN),
        (acl("topic", "*"), ByMirrorMaker.PATTERN),
        (acl("group", "billing"), ByMirrorMaker.GROUP),
    ],
)
def test_what_mirrormaker_would_do(given: Acl, expected: ByMirrorMaker) -> None:
    """MirrorMaker 2 copies lists on single topics only, without the right to write."""
    assert expected is by_mirrormaker(given)


def test_only_selected_users_are_moved() -> None:
    """With a selection of users, lists of others are left out."""
    other = Acl(Resource("topic", "pay"), "User:bob", "*", "Read")
    found = moves([acl("topic", "pay"), other], TOPICS, (), ["User:bob"])

    assert [other] == [move.acl for move in found]


def test_commands_are_safe_and_not_repeated() -> None:
    """Each right is one command, whose words no shell reads otherwise; a refusal stays a refusal."""
    strange = Acl(Resource("topic", "pay"), "User:CN=a b;rm -rf /", "10.0.0.1", "Write", is_allowed=False)
    lines = list(move_lines(moves([acl("topic", "pay"), acl("topic", "*"), strange], {"pay": "pay"}, ()), '"$TARGET"'))
    commands = [shlex.split(line) for line in lines if not line.startswith("#")]

    assert 2 == len(commands)
    assert ["--deny-principal", "User:CN=a b;rm -rf /", "--deny-host", "10.0.0.1"] in (c[6:10] for c in commands)
    assert 3 == len(lines) - len(commands)
