"""What the tools of every Kafka Connect cluster must answer; run by the fake and by real workers."""

from __future__ import annotations

import pytest

from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR, ConnectTools
from kafka_migration.core.findings.errors import Refused, TransientError
from sandbox.parts import free_ports

# The least that the connector needs.
CONFIG = {
    "name": "kafka-migration.shop",
    "source.cluster.alias": "shop-source",
    "target.cluster.alias": "shop-target",
    "topics": "orders",
    "tasks.max": "3",
}


class ConnectToolsContract:
    """Inherit it and give the tools of one worker, the address of a second one, and the id of their Kafka cluster."""

    tools: ConnectTools
    second: str
    cluster_id: str

    def test_root_names_release_and_cluster(self) -> None:
        """A worker says its release and the id of its Kafka cluster."""
        root = self.tools.root()

        assert (True, self.cluster_id) == (root.version[:1].isdecimal(), root.cluster_id)

    def test_plugins_have_versions(self) -> None:
        """The plugins of a worker are its connector classes with their versions."""
        assert self.tools.root().version == self.tools.plugins()[SOURCE_CONNECTOR]

    def test_good_configuration_has_no_problem(self) -> None:
        """A configuration that a worker would take has no problem."""
        assert {} == self.tools.problems(CONFIG)

    def test_problem_names_its_key(self) -> None:
        """What a worker would refuse is named by its key, in Connect's words."""
        ((key, said),) = self.tools.problems({**CONFIG, "tasks.max": "many"}).items()

        assert ("tasks.max", True) == (key, "Not a number" in said[0])

    def test_each_worker_answers_at_its_own_address(self) -> None:
        """Another worker of the same cluster is asked at its own address."""
        assert self.tools.root() == self.tools.at(self.second).root()
        assert self.tools.plugins() == self.tools.at(self.second).plugins()

    def test_no_worker_is_no_answer(self) -> None:
        """An address at which nobody listens does not answer, which may pass."""
        with pytest.raises(TransientError, match="did not answer"):
            self.tools.at(f"http://127.0.0.1:{free_ports(1)[0]}/").root()

    def test_no_address_is_refused(self) -> None:
        """What is no address of a service is refused, and not asked."""
        with pytest.raises(Refused):
            self.tools.at("NOTUSED").root()
