"""Rules of the codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kafka_migration.core.connections.client_settings import SETTINGS
from kafka_migration.core.findings import more_steps
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Ended, ended_alert
from kafka_migration.core.run.run_identity import RunIdentity
from tests.present import present
from tests.syntax import nodes_of

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "kafka_migration"
# Texts and rules of one use of a few codes, which do not belong to the codes themselves.
OF_ONE_USE = {
    "core/backfill/backfill_answers.py": "the sentences of the answers for an interval",
    "core/connect/connect_words.py": "the sentences of the refusals of a place without a host, as of the next but one",
    "core/mirror/diagnosis.py": "what the log of MirrorMaker may explain",
    "core/mirror/mirrorctl_protocol.py": "the sentences of the refusals of a host, which sends a code only",
    "core/spark/spark_target.py": "the sentences for the ends of a Spark job",
    "core/validation/difference_words.py": "the sentences of the good verdicts on a copy that differs",
}
# A rule may name two codes of the same cause.
MOST_TOGETHER = 2
# At night one line is not enough for these.
NEED_MORE = {
    Code.ALERTS_INVALID,
    Code.CLUSTER_UNREACHABLE,
    Code.COPY_DIFFERS,
    Code.EVIDENCE_CHANGED,
    Code.EVIDENCE_MISSING,
    Code.GAP,
    Code.GAP_DURING_RUN,
    Code.MIGRATION_UNKNOWN,
    Code.MIRROR_NOT_STOPPED,
    Code.MOVED_TOPIC_CHANGED,
    Code.OFFSETS_NOT_WRITTEN,
    Code.SSH_UNREACHABLE,
    Code.TARGET_OFFSETS_CHANGED,
    Code.TARGET_ONLY_RECORDS,
    Code.VALIDATION_RESULT_MISSING,
}


@pytest.mark.parametrize("code", Code)
def test_a_code_is_said_in_short_sentences(code: Code) -> None:
    """Meaning and first step are there, the first step is a few short sentences, and the value is the name."""
    assert code.name == code.value
    for text in filter(None, (code.meaning, code.cause, code.act, code.more, code.accepted)):
        assert text == text.strip()
        assert text.endswith(".")
        assert text.count("`") % 2 == 0
    assert 0 < len(code.act) <= 230
    assert code.meaning


def test_a_code_has_no_second_home() -> None:
    """What is the same for all findings of a code is in its row, not in a table or a set of another module."""
    home = PACKAGE / "core" / "findings" / "codes.py"
    tables = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path != home
        for node in nodes_of(path)
        if len(_codes_in(node)) > MOST_TOGETHER
    }

    assert set(OF_ONE_USE) == tables


def _codes_in(node: ast.AST) -> set[str]:
    """Return the codes that a set or the keys of a dictionary name."""
    members = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set) else []
    return {m.attr for m in members if isinstance(m, ast.Attribute) and ast.unparse(m.value) == "Code"}


def test_codes_that_need_more_than_a_line_have_it() -> None:
    """They say what to do after the first step."""
    assert set() == {code for code in NEED_MORE if not code.more}


def test_every_text_of_further_steps_is_used() -> None:
    """A text that no code names would be read by no one."""
    texts = {name for name in vars(more_steps) if name.isupper() and not name.startswith("_")}
    used = re.findall(r"more_steps\.([A-Z_]+)", (PACKAGE / "core" / "findings" / "codes.py").read_text())

    assert texts - {"COPY_AGAIN", "ONE_RECORD"} <= set(used) <= texts
    assert more_steps.COPY_AGAIN in more_steps.WRONG_COPY


def test_the_alert_of_a_mirrormaker_that_may_run_leads_to_its_code() -> None:
    """The alert names the code whose explanation has the steps."""
    ended = Ended("failed", release_problem="no answer", may_run=True)
    alert = present(ended_alert("shop", RunIdentity("dag", "run", 1), "now", "", ended))

    assert AlertKind.NOT_STOPPED is alert.kind
    assert "`kafka-migration explain MIRROR_NOT_STOPPED`" in alert.next_act


def test_the_accepted_settings_of_a_connection_are_explained() -> None:
    """The explanation of a wrong connection names each setting that Java clients get too."""
    settings = {name for name, each in SETTINGS.items() if each.in_java in {"same", "built"}} - {"sasl.mechanisms"}

    assert set() == {name for name in settings if f"`{name}`" not in Code.CONNECTION_INVALID.more}
