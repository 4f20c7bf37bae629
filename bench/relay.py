"""A TCP relay on loopback that delays all traffic, in its own thread, and a cluster that is reached through it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.brokers import running_broker
from sandbox.kafka import KafkaCluster
from sandbox.parts import HOST, free_ports

CHUNK_BYTES = 1 << 16


class Relay:
    """Passes bytes between clients of `port` and a server on `to_port`, each way `one_way_s` seconds late.

    Chunks are delayed concurrently, as on a long network path.
    """

    def __init__(self, port: int, to_port: int, one_way_s: float) -> None:
        self._port, self._to_port, self._one_way_s = port, to_port, one_way_s
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self) -> None:
        # The next relay may use the same port.
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, self._port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(HOST, self._to_port)
        try:
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        except asyncio.CancelledError:
            # The end of the relay; asyncio would print a traceback per connection.
            writer.close()
            far_writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(CHUNK_BYTES):
                self._loop.call_later(self._one_way_s, writer.write, chunk)
        except ConnectionError:
            pass
        self._loop.call_later(self._one_way_s, writer.close)


@dataclass(frozen=True)
class RelayedCluster(KafkaCluster):
    """A cluster whose broker has a second listener, which it advertises on `relay_port`."""

    relayed_port: int = 0
    relay_port: int = 0

    def properties(self) -> str:
        """Add the second listener."""
        text = super().properties()
        relayed = {
            "\nlisteners=": f"\nlisteners=RELAYED://{HOST}:{self.relayed_port},",
            "advertised.listeners=": f"advertised.listeners=RELAYED://{HOST}:{self.relay_port},",
            "protocol.map=": "protocol.map=RELAYED:PLAINTEXT,",
        }
        for before, after in relayed.items():
            text = text.replace(before, after, 1)
        return f"{text}inter.broker.listener.name=PLAINTEXT\n"


@contextmanager
def relayed_cluster(root: Path) -> Iterator[RelayedCluster]:
    """Start a cluster that can be reached directly and through a relay, which the caller provides."""
    port, controller_port, relayed_port, relay_port = free_ports(4)
    cluster = RelayedCluster(
        "bench", root / "bench", port, controller_port, relayed_port=relayed_port, relay_port=relay_port
    )
    with running_broker(cluster):
        yield cluster
