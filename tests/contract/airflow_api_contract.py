"""What Airflow's REST API must do for the command line; run by the server of the tests and by a real API server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafka_migration.adapters.http.airflow_api import HttpAirflow
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused
from tests.contract.airflow_server import DAG_ID, PASSWORD, USER

RUN_ID = "manual__2030-01-01T00:00:00.000001+00:00"


class AirflowApiContract:
    """Inherit it and give the address of an Airflow with the paused DAG of the migration `shop`."""

    url: str

    @pytest.fixture
    def made(self) -> Iterator[Callable[..., HttpAirflow]]:
        """Return clients, which are closed at the end."""
        clients: list[HttpAirflow] = []

        def make(user: str = USER, password: str = PASSWORD, token: str = "") -> HttpAirflow:
            clients.append(HttpAirflow("--server", HttpSettings("--server", self.url, user, password), token))
            return clients[-1]

        yield make
        for client in clients:
            client.close()

    def test_a_run_is_created_once(self, made: Callable[..., HttpAirflow]) -> None:
        """A run has the id that the client gave it; a second one with this id is refused."""
        airflow = made()
        assert airflow.run_state(DAG_ID, RUN_ID) is None
        airflow.trigger(DAG_ID, RUN_ID, {"mode": "sync", "note": "a ticket"})

        assert "queued" == airflow.run_state(DAG_ID, RUN_ID)
        assert {} == airflow.questions(DAG_ID, RUN_ID)
        assert () == airflow.active_tasks(DAG_ID, RUN_ID)
        with pytest.raises(Refused, match=r"AIRFLOW_API_REFUSED .*status 409"):
            airflow.trigger(DAG_ID, RUN_ID, {"mode": "sync"})

    def test_a_dag_is_unpaused(self, made: Callable[..., HttpAirflow]) -> None:
        """A new DAG is paused until it is unpaused; an unknown DAG is none."""
        airflow = made()
        paused = airflow.dag(DAG_ID)
        airflow.unpause(DAG_ID)
        unpaused = airflow.dag(DAG_ID)

        assert (True, False) == (paused and paused["is_paused"], unpaused and unpaused["is_paused"])
        assert airflow.dag("kafka_migration__foreign") is None

    def test_a_value_that_the_form_refuses(self, made: Callable[..., HttpAirflow]) -> None:
        """Airflow checks the conf with the form of the DAG; the finding names the field."""
        with pytest.raises(Refused, match=r"RUN_CONF_INVALID · run conf field topics: .*'foreign' is not one of"):
            made().trigger(DAG_ID, "manual__2", {"mode": "sync", "topics": ["foreign"]})

    @pytest.mark.parametrize(
        ("login", "found"),
        [
            ({"password": "wrong"}, "a refused login"),
            ({"user": "", "password": ""}, "no user and no token"),
            ({"token": "wrong"}, "a wrong token"),
        ],
    )
    def test_a_wrong_login_is_refused(
        self, made: Callable[..., HttpAirflow], login: dict[str, str], found: str
    ) -> None:
        """A wrong password, a missing login and a wrong token are findings."""
        with pytest.raises(Refused, match=rf"AIRFLOW_API_REFUSED · --server: .*{found}"):
            made(**login).dag(DAG_ID)
