"""Files just under the limit of size that make a careless reader slow: each has much of one thing."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from kafka_migration.cli.main import main
from tests.unit.mirrormaker_files.planted import HEAD, START

SIZE = 990_000
# The processor time that a whole file may take on an idle machine: most take half a second, none three, and one
# quadratic step takes longer than this. A part of a file has the square of its share.
LIMIT_S = 128
# A file has this multiple of what its quarter took in addition, because a busy machine is several times slower. Work
# in proportion to the file takes four times as much, and a quadratic step sixteen times.
QUARTER, MULTIPLE = 4, 8
KIND = "kind: KafkaMirrorMaker2\n"


def _lines(line: str, number: int) -> str:
    return "\n".join(line.format(each) for each in range(number))


def _filled(start: str, part: str, share: int) -> str:
    return start + part * ((SIZE // share - len(start)) // len(part))


def _json(fields: int) -> str:
    return json.dumps({"connector.class": "x", **{f"a{each}": "" for each in range(fields)}})


def _aliases(number: int) -> str:
    return f"clusters = {','.join(f'a{each}' for each in range(number))}\n"


# Each takes how many of the thing there are.
NUMBERED: dict[str, tuple[Callable[[int], str], int]] = {
    "aliases": (_aliases, 30_000),
    "aliases and settings": (lambda n: _aliases(n) + _lines("a{0}.x = 1", n), 30_000),
    "aliases and flows": (lambda n: _aliases(n) + _lines("a{0}->a1.enabled = true", n), 30_000),
    "unknown keys": (lambda n: HEAD + _lines("topcs{0} = 1", n), 50_000),
    "unknown client keys": (lambda n: HEAD + _lines("new.producer.lingr{0} = 1", n), 30_000),
    "JSON fields": (_json, 60_000),
    "JSON connectors": (
        lambda n: json.dumps([{"connector.class": "Mirror", "name": f"a{each}"} for each in range(n)]),
        20_000,
    ),
    "flow keys": (lambda n: HEAD + _lines("a{0}->b.x=1", n), 50_000),
    "protocols": (lambda n: HEAD + _lines("security.protocol=SASL_PLAINTEXT", n), 25_000),
    "in flight": (lambda n: "linger.ms=5\n" + _lines("max.in.flight.requests.per.connection=5", n), 20_000),
    "commands on a line": (lambda n: "kafka-mirror-maker " * n, 50_000),
    "commands with an option": (lambda n: _lines("kafka-mirror-maker --x{0}", n), 30_000),
    "brackets": (lambda n: "[" * n, 5_000),
    "brackets in YAML": (lambda n: f"{KIND}x: {'[' * n}", 5_000),
    "mappings in YAML": (lambda n: f"{KIND}x: {'{a: ' * n}", 5_000),
    "dashes in YAML": (lambda n: f"{KIND}x:\n {'- ' * n}a", 5_000),
    "questions in YAML": (lambda n: f"{KIND}? {'? ' * n}a", 5_000),
    "deep JSON": (lambda n: '{"a":' * n + "1" + "}" * n, 100_000),
    "anchors in YAML": (lambda n: KIND + _lines("a{0}: &a{0} b", n), 50_000),
    "merge keys in YAML": (lambda n: f"{KIND}base: &b {{a: 1}}\n" + _lines("a{0}: {{<<: *b}}", n), 30_000),
    "clusters in YAML": (
        lambda n: f"{KIND}spec:\n  clusters:\n" + _lines("    - {{alias: a{0}, bootstrapServers: x}}", n),
        20_000,
    ),
    "mirrors in YAML": (
        lambda n: f"{KIND}spec:\n  mirrors:\n" + _lines("    - {{sourceCluster: a{0}, targetCluster: b}}", n),
        20_000,
    ),
    "topics": (lambda n: HEAD + "old->new.groups = " + ",".join(f"a{each}*" for each in range(n)), 100_000),
    "topics and exclusions": (
        lambda n: (
            f"{HEAD}old->new.topics = {','.join(f'a{each}' for each in range(n))}\n"
            f"topics.exclude = {','.join(f'b{each}.*' for each in range(n))}\n"
        ),
        50_000,
    ),
    "repeated keys": (lambda n: HEAD + _lines("tasks.max = {0}", n), 50_000),
}

_PARTS = ("a", "\n", "\\", '"', "$(", "${", "kafka-mirror-maker:")
_STARTS = {
    "text": "",
    "key": f"{HEAD}x",
    "value": f"{HEAD}topics.exclude = ",
    "login": f"{HEAD}old.security.protocol = SASL_SSL\nold.sasl.jaas.config = x username=",
    "JSON": '{"connector.class": "',
    "resource": f"{KIND}x: ",
    "command": f"{START} --whitelist ",
}


def large_files(share: int = 1) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file: much of one thing, and a megabyte of one part after a beginning.

    `share` divides the size of all files.
    """
    yield from ((name, make(number // share)) for name, (make, number) in NUMBERED.items())
    yield from (
        (f"{name} of {part!r}", _filled(start, part, share)) for name, start in _STARTS.items() for part in _PARTS
    )


def _imported(path: Path, text: str, limit_s: float) -> tuple[int, float]:
    """Return the exit code of `import` on a text, and the processor time that it took, in seconds."""
    path.write_text(text, newline="")
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    before = time.process_time()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = main(["import", str(path), "--name", "copied"])
    return code, time.process_time() - before


def run_all(folder: Path, share: int) -> None:
    """Run `import`, which lints first, on each file, and print its name before, and the exit code after it.

    A file that takes all of its time ends the process by a signal.
    """
    limit_s = LIMIT_S / share**2
    for (name, quarter), (_, text) in zip(large_files(share * QUARTER), large_files(share), strict=True):
        os.write(1, f"{name}: ".encode())
        _, took_s = _imported(folder / "large", quarter, limit_s)
        code, _ = _imported(folder / "large", text, limit_s + MULTIPLE * took_s)
        os.write(1, f"{code}\n".encode())


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), int(sys.argv[2]))
