"""Producers that continue while a migration runs."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from types import TracebackType
from typing import Self

from sandbox.data import records
from sandbox.data.records import Record
from sandbox.data.sending import Sender, TransactionalSender
from sandbox.data.topics import ORDERS, PAYMENTS, TRANSFERS, wait_until_settled
from sandbox.errors import SandboxError

TICK_S = 0.1
TICKS_IN_TRANSACTION = 5
ABORTED_EVERY = 5
STOP_TIMEOUT_S = 240.0
SHARES = {ORDERS.name: 0.7, PAYMENTS.name: 0.2, TRANSFERS.name: 0.1}


class LiveTraffic:
    """Produce to orders, payments and (in transactions) transfers until the `with` block ends.

        with LiveTraffic(state.source_bootstrap) as traffic:
            ...
        traffic.acknowledged    # {topic: committed records}

    Leaving the block waits until all records are acknowledged and visible, and raises the error that ended the traffic
    early.
    """

    def __init__(self, bootstrap: str, records_per_s: int = 300) -> None:
        self._bootstrap = bootstrap
        self._per_tick = {topic: max(1, round(records_per_s * TICK_S * share)) for topic, share in SHARES.items()}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live-traffic", daemon=True)
        self._error: Exception | None = None
        self._acknowledged: dict[str, int] = {}

    @property
    def acknowledged(self) -> Mapping[str, int]:
        """Records acknowledged so far per topic; for transfers, only those of committed transactions."""
        return dict(self._acknowledged)

    @property
    def total(self) -> int:
        """Records acknowledged so far."""
        return sum(self.acknowledged.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(STOP_TIMEOUT_S)
        if kind is None:
            self._check()

    def wait_for_more(self, count: int, timeout_s: float = 600.0) -> None:
        """Return once `count` more records are acknowledged.

        Raises:
            SandboxError: the traffic ended or is too slow.
        """
        wanted, deadline = self.total + count, time.monotonic() + timeout_s
        while self.total < wanted:
            self.check()
            if time.monotonic() > deadline:
                raise SandboxError(f"the live traffic sent fewer than {count} records in {timeout_s:.0f} s")
            time.sleep(TICK_S)

    def check(self) -> None:
        """Raise `SandboxError` if the traffic has ended by itself."""
        if not self._thread.is_alive():
            self._check()
            raise SandboxError("the live traffic is not running")

    def _check(self) -> None:
        if self._error is not None:
            raise SandboxError(f"the live traffic ended early: {self._error}") from self._error
        if self._thread.is_alive():
            raise SandboxError(f"the live traffic did not end within {STOP_TIMEOUT_S:.0f} s")

    def _run(self) -> None:
        try:
            self._produce()
        except Exception as error:  # the main thread must raise it
            self._error = error

    def _produce(self) -> None:
        stream = f"live-{secrets.token_hex(4)}"
        plain = Sender(self._bootstrap, {"compression.type": "snappy", "linger.ms": 5})
        booked = _Bookings(self._bootstrap, stream)
        sources = {ORDERS.name: records.orders(_clock(), stream), PAYMENTS.name: records.payments(_clock(), stream)}
        while not self._stop.wait(TICK_S):
            for topic, source in sources.items():
                for record in islice(source, self._per_tick[topic]):
                    plain.send(topic, record)
            booked.send(self._per_tick[TRANSFERS.name])
            self._acknowledged = {**plain.acknowledged, **booked.committed}
        plain.flush()
        booked.end()
        wait_until_settled(self._bootstrap, TRANSFERS)
        self._acknowledged = {**plain.acknowledged, **booked.committed}


class _Bookings:
    """Transfers in transactions of some ticks each; some are aborted."""

    def __init__(self, bootstrap: str, stream: str) -> None:
        self._source: Iterator[Record] = records.transfers(_clock(), stream)
        self._sender = TransactionalSender(bootstrap, f"transfers-{stream}")
        self._ticks = 0

    @property
    def committed(self) -> Mapping[str, int]:
        """Records of committed transactions per topic."""
        return self._sender.committed

    def send(self, count: int) -> None:
        """Send some records, ending the transaction when it is time."""
        if self._ticks % TICKS_IN_TRANSACTION == 0:
            self._sender.begin()
        for record in islice(self._source, count):
            self._sender.send(TRANSFERS.name, record)
        self._ticks += 1
        if self._ticks % TICKS_IN_TRANSACTION == 0:
            self._finish()

    def end(self) -> None:
        """Finish the open transaction."""
        if self._ticks % TICKS_IN_TRANSACTION:
            self._finish()

    def _finish(self) -> None:
        number = self._ticks // TICKS_IN_TRANSACTION
        if number % ABORTED_EVERY == ABORTED_EVERY - 1:
            self._sender.abort()
        else:
            self._sender.commit()


def _clock() -> Iterator[int]:
    while True:
        yield int(time.time() * 1000)
