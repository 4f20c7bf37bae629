"""Redis as the broker of CeleryExecutor, which can be told to deliver each message twice."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.parts import HOST, Part, PartSpec
from sandbox.private import write_private
from tests.programs import installed

CONFIG = """\
bind {host}
port {port}
requirepass {password}
dir {folder}
save ""
appendonly no
"""
EVERY_S = "0.05"
# A message that a worker has taken and not acknowledged yet is put into the queue again, once, under another tag.
DELIVER_TWICE = """\
local taken = redis.call('HGETALL', 'unacked')
for i = 1, #taken, 2 do
  local tag, copy = taken[i], string.reverse(taken[i])
  if redis.call('SADD', 'delivered', tag) == 1 then
    redis.call('SADD', 'delivered', copy)
    local message = string.match(taken[i + 1], '^%[(.*), "[^"]*", "[^"]*"%]$')
    local pattern = string.gsub(tag, '%-', '%%-')
    local twin = string.gsub(message, pattern, copy)
    redis.call('LPUSH', 'default', twin)
    redis.call('INCR', 'copies')
  end
end
return redis.call('GET', 'copies')
"""


@dataclass(frozen=True)
class Broker:
    """A Redis on loopback with a password."""

    port: int
    folder: Path
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def url(self) -> str:
        """The address as Celery writes it, password included."""
        return f"redis://:{self.password}@{HOST}:{self.port}/0"

    def part(self, environment: Mapping[str, str]) -> Part:
        """Return the server, not started."""
        config = self.folder / "redis.conf"
        text = CONFIG.format(host=HOST, port=self.port, password=self.password, folder=self.folder)
        write_private(config, text)
        return Part(
            PartSpec(
                name="redis",
                command=(installed("redis-server"), str(config)),
                environment=environment,
                log=self.folder / "redis.log",
                is_ready=lambda log: "Ready to accept connections" in log,
            )
        )

    @contextmanager
    def delivering_twice(self) -> Iterator[None]:
        """Deliver each message twice until the end of the block: the second time at once, to whoever is free."""
        command = [*self._cli(), "-r", "-1", "-i", EVERY_S, "eval", DELIVER_TWICE, "0"]
        with (self.folder / "copies.log").open("w") as log:
            copying = subprocess.Popen(command, env=self._login(), stdout=log, stderr=log)
        try:
            yield
            assert copying.poll() is None, (self.folder / "copies.log").read_text()
        finally:
            copying.terminate()
            copying.wait(30)

    @property
    def copies(self) -> int:
        """How many messages were delivered twice."""
        done = subprocess.run(
            [*self._cli(), "get", "copies"], env=self._login(), capture_output=True, text=True, check=True
        )
        return int(done.stdout.strip() or 0)

    def _cli(self) -> list[str]:
        return [installed("redis-cli"), "-h", HOST, "-p", str(self.port)]

    def _login(self) -> dict[str, str]:
        return {"REDISCLI_AUTH": self.password}
