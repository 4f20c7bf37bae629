"""What a process on a Kafka Connect cluster keeps; fakes and real workers inherit it."""

from __future__ import annotations

from abc import abstractmethod

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.core.mirror.mirror_process import ProcessState
from tests.contract.process_contract import GRACE_S, ME, ProcessContract


class ConnectProcessContract(ProcessContract):
    """The suite of every process; a Connect cluster takes the count of the run where it has no connector."""

    process: ConnectProcess

    @abstractmethod
    def free(self) -> None:
        """Delete the connector of the reservation, as an operator may do; the copier runs on."""

    def make_way(self) -> bool:
        """A connector that failed is still there, and its other tasks copy: it must be stopped."""
        return self.process.stop(ME, None, GRACE_S).state is ProcessState.STOPPED

    def test_death_is_seen(self) -> None:
        """A restart of a task ends the generation, and the next one starts once it was stopped."""
        self.started()
        self.kill_process()

        reply = self.process.renew(ME, 1)

        assert (ProcessState.DEAD, None) == (reply.state, reply.pid)
        assert "restarted on worker" in reply.exit_reason
        stopped = self.process.stop(ME, 1, GRACE_S)
        assert (ProcessState.STOPPED, True, False) == (stopped.state, stopped.resent, stopped.is_orderly)
        assert self.process.start(ME, 2, self.launch()).is_running

    def test_orderly_stop_is_proved_by_the_workers(self) -> None:
        """After a stop each task has ended in order, and nothing was sent again."""
        self.started()
        tasks = self.process.status().tasks
        reply = self.process.stop(ME, 1, GRACE_S)

        assert 2 == len(tasks or ())
        assert (True, False, None) == (reply.is_orderly, reply.resent, reply.tasks)
