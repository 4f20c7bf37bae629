"""A mirrorctl of another version on the host."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.core.mirror.mirrorctl_protocol import checked


@pytest.mark.parametrize(
    ("message", "is_old"),
    [
        ("usage: reserve|release|status <migration>", True),
        ("the subject of a probe is host, brokers, space, quotas or clock, not clusters", True),
        ("a topic's name is not allowed", False),
    ],
)
def test_mirrorctl_of_another_version_is_named(message: str, is_old: bool) -> None:
    """A mirrorctl that does not know a verb or a subject has to be installed again; other refusals differ."""
    reply = HostReply(ok=False, code="HOST_REFUSED", message=message, verb="probe", migration="shop")
    with pytest.raises(Refused) as error:
        checked(reply)

    assert is_old == (error.value.findings[0].remedy == "Install this version's mirrorctl on the host again.")
