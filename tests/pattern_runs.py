"""Run patterns on large texts, each pattern in a process of its own that may take a bounded time of the processor.

`re` holds the interpreter's lock and takes no signal while it searches, so only the end of its process stops it.
Arguments: a file with the patterns, and one for the results.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

MEDIUM = 128 * 2**10
# A pattern whose time grows with the square of the text takes minutes for 1 MiB, and hours for 8 MiB.
MOST_MEMORY = 3 * 2**30
MOST_MATCHES = 10_000
ONE_MATCH = frozenset({"match", "fullmatch", "search"})
# Of a pattern with many literals, evenly chosen pairs are mixed.
MOST_MIXTURES = 30
# Of each kind: a letter, a digit, a blank, and the signs at which patterns begin and end.
LETTERS = ("a", "0", " ", "\n", "\\", "_")


def texts(literals: Sequence[str], large: int, *, is_linear: bool) -> Iterator[str]:
    """Yield a letter and each literal repeated to a large text; single signs, and mixtures of two, to 128 KiB.

    A pattern whose form bounds the steps at each place takes a time in proportion to any text. Two large texts show how
    long: a letter, and all its literals in turn.
    """
    yield "a" * large
    if is_linear:
        every = "".join(literals) or " "
        yield every * (large // len(every))
        return
    for literal in literals:
        yield literal * ((large if len(literal) > 1 else MEDIUM) // len(literal))
    yield from (letter * MEDIUM for letter in LETTERS)
    mixtures = [(literal, other) for literal in literals for other in (*literals, *LETTERS)]
    for literal, other in mixtures[:: 1 + len(mixtures) // MOST_MIXTURES]:
        yield literal + other * (MEDIUM // len(other))
        yield (literal + other) * (MEDIUM // len(literal + other))
        yield other * (MEDIUM // len(other)) + literal
    yield "".join(literals) * (MEDIUM // max(1, len("".join(literals))))


def use(pattern: re.Pattern[str], methods: Sequence[str], text: str) -> None:
    """Use a pattern on a text as the package does; whoever takes many matches begins with the search for one."""
    used = {method if method in ONE_MATCH else "finditer" for method in methods}
    for method in used - ({"search"} if "finditer" in used else set()):
        if method == "finditer":
            deque(islice(pattern.finditer(text), MOST_MATCHES), maxlen=0)
        else:
            getattr(pattern, method)(text)


def run(task: dict[str, Any]) -> str:
    """Return how the child that runs one pattern ended; empty if it was quick enough."""
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        return "" if status == 0 else f"ended with status {status}"
    resource.setrlimit(resource.RLIMIT_CPU, (task["cpu_s"], task["cpu_s"]))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    code = 1
    try:
        pattern = re.compile(task["pattern"], task["flags"])
        for text in texts(task["literals"], task["large"], is_linear=task["is_linear"]):
            use(pattern, task["methods"], text)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    given, results = map(Path, sys.argv[1:])
    results.write_text(json.dumps({task["place"]: run(task) for task in json.loads(given.read_text())}))
