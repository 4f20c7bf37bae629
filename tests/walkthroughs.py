"""The walkthroughs of the documentation, as files to write and commands to run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.security.authority import Authority
from tests.contract.manager_servers import ManagerServer, ambari_answers, cloudera_answers, tls_of
from tests.documents import all_blocks, joined_lines

FOLDER = Path(__file__).parents[1] / "docs" / "walkthroughs"
# What every page begins with.
PREPARATION = "index"
# What every page ends with.
REST = "rehearse-and-cut-over"
PAGES = ("hdinsight", "cloudera", "to-msk", "mirrormaker1-to-2", "kafka-connect")
# A certificate that a page does not show in full.
PEM = "-----BEGIN CERTIFICATE-----…"
# The commands that end with another exit code than 0 where the page says so: their beginnings, and the codes in order.
EXIT_CODES: Mapping[str, Mapping[str, Sequence[int]]] = {
    "hdinsight": {"kafka-migration lint": [2]},
    "mirrormaker1-to-2": {"kafka-migration plan shop": [3]},
}
ON_EVERY_PAGE = {"kafka-migration decommission": [5]}
Replaced = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Step:
    """A command, or the content of a file."""

    text: str
    file: str = ""


def steps(page: str) -> list[Step]:
    """Return the steps of a page in their order; a walkthrough ends with those of all."""
    pages = (page, REST) if page in PAGES else (page,)
    return [step for each in pages for step in _steps((FOLDER / f"{each}.md").read_text())]


def _steps(text: str) -> Iterator[Step]:
    for fence, content in all_blocks(text):
        title = re.search(r'title="(.+)"', fence)
        if title:
            yield Step(content, title[1])
        elif fence == "sh":
            yield from (Step(line) for line in joined_lines(content))


class ExitCodes:
    """The exit codes that a page names."""

    def __init__(self, page: str) -> None:
        named = {**EXIT_CODES.get(page, {}), **ON_EVERY_PAGE}
        self._left = {beginning: list(codes) for beginning, codes in named.items()}

    def next_of(self, command: str) -> int:
        """Return the exit code of the next call of a command."""
        codes = next((codes for beginning, codes in self._left.items() if command.startswith(beginning)), [])
        return codes.pop(0) if codes else 0


def replaced(text: str, table: Replaced) -> str:
    """Return a text with the addresses and paths of the test in place of the page's."""
    for shown, mine in table:
        text = text.replace(shown, mine)
    return text


def in_json(text: str) -> str:
    """Return a text as JSON writes it, without the quotes."""
    return json.dumps(text)[1:-1]


@contextmanager
def managers(folder: Path) -> Iterator[Replaced]:
    """Serve the cluster managers of all pages; yield what replaces their addresses."""
    authority = Authority("managers")
    tls = tls_of(authority, folder)
    certificate = f'"extra": {{"ssl.ca.pem": "{in_json(authority.certificate)}"}}'
    table = [
        ('"password": "ambari-password"', f'"password": "ambari-password", {certificate}'),
        (f'"password": "cm-password", "extra": {{"ssl.ca.pem": "{PEM}"}}', f'"password": "cm-password", {certificate}'),
    ]
    with ExitStack() as servers:
        for age in ("old", "new"):
            ambari = servers.enter_context(ManagerServer(_of_ambari(age), tls=tls))
            cloudera = servers.enter_context(ManagerServer(_of_cloudera(age), tls=tls))
            table.append((f"https://{age}.azurehdinsight.net", ambari.url))
            table.append((f"https://cm-{age}.example.com:7183", cloudera.url))
        yield table


def _of_ambari(age: str) -> dict[str, Any]:
    text = json.dumps(ambari_answers()).replace("demo", age)
    return dict(json.loads(text.replace("2.4.1", "3.2.0") if age == "new" else text))


def _of_cloudera(age: str) -> dict[str, Any]:
    text = json.dumps(cloudera_answers(has_kerberos=False))
    return dict(json.loads(re.sub(r"\bhost(\d)\.example\.com", rf"broker\1-{age}.example.com", text)))
