"""`python -m sandbox.data`: fill a source cluster, by default that of the running sandbox, with the demo's data."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from sandbox.data.clicks import CLICKS, fill_clicks
from sandbox.data.records import SPAN_MS
from sandbox.data.seeding import seed
from sandbox.data.topics import TOPICS, present_topics
from sandbox.errors import SandboxError
from sandbox.sandbox import DEFAULT_ROOT
from sandbox.state import FILE_NAME, SandboxState


def main(arguments: list[str] | None = None) -> int:
    """Seed, or say that it is done already; 0 done, 1 failed."""
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
    if present_topics(bootstrap) >= {topic.name for topic in TOPICS}:
        return "The source has the demo's topics already."
    counts = seed(bootstrap, int(time.time() * 1000) - SPAN_MS)
    fill_clicks(bootstrap)
    return "Source filled: " + ", ".join([*(f"{topic} {count:,}" for topic, count in counts.items()), CLICKS.name])


if __name__ == "__main__":
    sys.exit(main())
