"""`python -m sandbox.data`: fill a source cluster, by default that of the running sandbox, with the demo's data."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from sandbox.data.clicks import CLICKS, are_clicks_whole, fill_clicks
from sandbox.data.groups import have_committed
from sandbox.data.records import SPAN_MS
from sandbox.data.seeding import seed
from sandbox.data.topics import TOPICS, present_topics
from sandbox.errors import SandboxError
from sandbox.sandbox import DEFAULT_ROOT
from sandbox.state import FILE_NAME, SandboxState

WANTED = {topic.name for topic in (*TOPICS, CLICKS)}
HALF_FILLED = (
    "filling the source was interrupted, so it holds only part of the demo's data. Start again: make down, make up; "
    "in containers: docker compose down, docker volume rm <project>_kafka-source, docker compose up -d"
)


class HalfFilled(SandboxError):
    """An earlier call was interrupted; its partial data cannot be completed."""


def main(arguments: list[str] | None = None) -> int:
    """Fill the source unless it is filled already; 0 done, 1 failed or partly filled by an interrupted call."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.data", description=__doc__)
    parser.add_argument("--root", type=Path, default=DEFAULT_ROOT, help="the sandbox's folder (%(default)s)")
    parser.add_argument("--bootstrap", help="fill this cluster instead, as host:port")
    options = parser.parse_args(arguments)
    try:
        print(_fill(options.bootstrap or SandboxState.load(options.root / FILE_NAME).source_bootstrap), flush=True)
    except FileNotFoundError:
        print("No sandbox is running; start one with: make up", flush=True)
        return 1
    except SandboxError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 1
    return 0


def _fill(bootstrap: str) -> str:
    present = present_topics(bootstrap) & WANTED
    if not present:
        counts = seed(bootstrap, int(time.time() * 1000) - SPAN_MS)
        fill_clicks(bootstrap)
        return "Source filled: " + ", ".join([*(f"{topic} {count:,}" for topic, count in counts.items()), CLICKS.name])
    # The groups commit last. Brokers delete them after a while, but then the clicks exist.
    if present == WANTED - {CLICKS.name} and have_committed(bootstrap):
        fill_clicks(bootstrap)
        return f"Source filled: {CLICKS.name}; the other topics already existed."
    if present != WANTED or not are_clicks_whole(bootstrap):
        raise HalfFilled(HALF_FILLED)
    return "The source already has the demo's topics."


if __name__ == "__main__":
    sys.exit(main())
