"""Redis as the broker of CeleryExecutor."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
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
