"""The entries of the manual on codes, kinds of alerts, labels and verdicts; the heading of each is its anchor."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import groupby

from kafka_migration.cli.files.explanations import Explanation, explanations
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.text.shortened import capitalized

CODES = "error-codes.md"
# What the manual has beyond the package, at the codes for which it helps.
PAGES_OF_CODES: dict[str, str] = {
    Code.ALERTS_INVALID: "alerts.md",
    Code.CONNECTION_INSECURE: "installation.md#kafka-source-and-target",
    Code.CONNECTION_INVALID: "installation.md#kafka-source-and-target",
    Code.EVIDENCE_CHANGED: "operate/security.md#who-can-do-what",
    Code.HOOK_NOT_FOUND: "howto/cutover.md#hooks",
    Code.INTERVAL_NOT_COPIED: "howto/backfill.md",
    Code.INTERVAL_NOT_RETAINED: "howto/backfill.md",
    Code.INTERVAL_NOT_VALIDATED: "howto/backfill.md",
    Code.KAFKA_CLIENT_WITHOUT_KERBEROS: "installation.md#kerberos",
    Code.LEDGER_BROKEN: "concepts/evidence.md",
    Code.MIRROR_NOT_STOPPED: "runbook.md#mirrormaker-may-still-run",
    Code.RECORDS_NOT_VERIFIABLE: "concepts/validation.md",
    Code.RECORD_UNREADABLE: "concepts/validation.md#a-record-that-cannot-be-read",
    Code.TARGET_ONLY_RECORDS: "howto/rollback.md",
    Code.TOPIC_CREATION_UNCLEAR: "adr/0042-actions-that-survive-a-kill.md",
    Code.VALIDATION_RESULT_MISSING: "reference/spark-jobs.md#where-they-run",
}


def entries(page: str, *kinds: str) -> str:
    """Return the entries of some kinds for a page, below the headings of their groups without the kinds."""
    own = (each for each in explanations() if each.kind.partition(",")[0] in kinds)
    return "\n".join(
        f"## {capitalized(heading.rpartition(': ')[2])}\n\n{''.join(_entry(each, page) for each in group)}"
        for heading, group in groupby(own, lambda each: each.heading)
    )


def _entry(each: Explanation, page: str) -> str:
    paragraphs = "\n\n".join(filter(None, ("\n".join(_first(each)), each.more, "\n".join(_last(each, page)))))
    return f"### `{each.name}`\n\n{_linked(paragraphs, each.name, page)}\n\n"


def _first(each: Explanation) -> Iterator[str]:
    yield each.meaning
    if each.cause:
        yield f"Cause: {each.cause}"
    yield f"**What to do:** {each.act}"


def _last(each: Explanation, page: str) -> Iterator[str]:
    if each.accepted:
        yield f"With `accept` you say: {each.accepted}"
    if page == CODES:
        # Those of the other kinds are the same for all.
        yield f"Commands: {', '.join(f'`{command}`' for command in each.commands)}"
        yield from (f"[More]({PAGES_OF_CODES[name]})" for name in (each.name,) if name in PAGES_OF_CODES)


def _linked(text: str, own: str, page: str) -> str:
    """Return a text in which the other codes, and the command that explains one, are links."""

    def link(found: re.Match[str]) -> str:
        name = found[1]
        place = "" if page == CODES else posixpath.relpath(CODES, posixpath.dirname(page))
        return f"[{found[0]}]({place}#{name.lower()})" if name in set(Code) and name != own else found[0]

    return re.sub(r"`(?:kafka-migration explain )?([A-Z][A-Z0-9_]+)`", link, text)
