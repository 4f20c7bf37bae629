"""A TCP relay on loopback that delays what passes through it, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Self

from sandbox.parts import HOST

CHUNK_BYTES = 1 << 16


class Relay:
    """Passes bytes between clients of `port` and a server on `to_port`, each way `one_way_s` seconds late.

    Chunks are delayed side by side, not one after the other, as on a long line.
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

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _listen(self) -> None:
        await asyncio.start_server(self._serve, HOST, self._port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(HOST, self._to_port)
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(CHUNK_BYTES):
                self._loop.call_later(self._one_way_s, writer.write, chunk)
        except ConnectionError:
            pass
        self._loop.call_later(self._one_way_s, writer.close)
