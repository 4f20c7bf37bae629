"""A common time limit ends the requests of HTTP clients too."""

from __future__ import annotations

from contextlib import closing

import pytest

from kafka_migration.adapters.http.http_service import HttpService
from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError
from tests.contract.hostile_http import DRIPS, HostileServer

pytestmark = pytest.mark.unit


def test_request_ends_when_the_time_of_all_calls_is_over() -> None:
    """A server that answers byte by byte keeps every timeout of a read from firing; the limit of a poll holds."""
    with HostileServer(lambda: server.drip(DRIPS["status line"])) as server:
        settings = HttpSettings("shop", f"http://127.0.0.1:{server.port}")
        with (
            closing(HttpService("the service", settings, lambda found: Refused([]))) as service,
            at_most(0),
            pytest.raises(TransientError, match=r"within 0\.5 s"),
        ):
            service.get("/")
