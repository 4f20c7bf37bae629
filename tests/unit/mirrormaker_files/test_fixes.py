"""The third sentence of a finding, followed literally, removes the finding."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.rules.linter import lint
from tests.unit.mirrormaker_files.fixing import fixed
from tests.unit.mirrormaker_files.planted import PLANTED
from tests.unit.mirrormaker_files.planted_flows import PLANTED_FLOWS
from tests.unit.mirrormaker_files.reading import read_mirror_file

pytestmark = pytest.mark.unit

TEXTS = {name: text for name, (text, _) in {**PLANTED, **PLANTED_FLOWS}.items() if name.endswith(".properties")}
# Their fixes leave a decision to the reader, such as which of two flows is meant.
DECISIONS = frozenset(
    {
        LintCode.ADDRESS_PLACEHOLDER,
        LintCode.ADDRESS_REFUSED,
        LintCode.ADDRESS_SCHEME,
        LintCode.ALIAS_UNKNOWN,
        LintCode.BACKSLASH_LOST,
        LintCode.BOOTSTRAP_MISSING,
        LintCode.CHECKPOINTS_REFUSED,
        LintCode.CLASS_UNKNOWN,
        LintCode.CLUSTERS_MISSING,
        LintCode.COMMENT_NOT_CONTINUED,
        LintCode.ENCODING_WRONG,
        LintCode.FILE_NOT_LOADED,
        LintCode.GROUP_MISSING,
        LintCode.GROUP_SYNC_WITHOUT_CHECKPOINTS,
        LintCode.KEY_UNKNOWN,
        LintCode.LOGIN_MISSING,
        LintCode.LOGIN_NOT_USED,
        LintCode.LOGIN_UNENCRYPTED,
        LintCode.LOOP,
        LintCode.MECHANISM_UNKNOWN,
        LintCode.NAMES_MERGED,
        LintCode.NOTHING_COPIED,
        LintCode.NO_FLOW,
        LintCode.PATTERN_SPLIT,
        LintCode.PROVIDER_MISSING,
        LintCode.REPLICATION_BELOW_MIN_INSYNC,
        LintCode.SECRET_IN_FILE,
        LintCode.SEPARATOR_BLANK,
        LintCode.SEPARATOR_MISSING,
        LintCode.TOPIC_NOT_COPIED,
        LintCode.VALUE_BACKSLASH,
        LintCode.VALUE_REFUSED,
        LintCode.VALUE_TYPE,
        LintCode.VARIABLE_NOT_REPLACED,
    }
)


def mistakes(name: str, text: str, version: str = "") -> list[LintFinding]:
    findings = lint([read_mirror_file(name, text)], kafka_keys(), version)
    return [each for each in findings if each.code.severity is not Severity.INFO]


def causes(findings: list[LintFinding]) -> set[tuple[LintCode, str, str]]:
    return {(each.code, each.key, each.found) for each in findings}


@pytest.mark.parametrize("name", TEXTS)
def test_a_fix_that_is_followed_literally_removes_the_finding_and_brings_no_other(name: str) -> None:
    """Who does what the finding says, and nothing else, has one mistake less and no new one."""
    before = mistakes(name, TEXTS[name])
    for finding in before:
        text = fixed(TEXTS[name], finding)
        assert text is not None or finding.code in DECISIONS, str(finding)
        if text is not None and finding.code not in DECISIONS:
            after = causes(mistakes(name, text))
            assert causes([finding]) & after == set(), str(finding)
            assert {code for code, _, _ in after} <= {each.code for each in before}, str(finding)


@pytest.mark.parametrize("version", ["2.4", "2.8", "4.2"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_fix_of_a_key_names_no_key_that_the_named_version_lacks(name: str, version: str) -> None:
    """Who writes the key that a finding names gets no line that Kafka of the named version ignores."""
    before = mistakes(name, TEXTS[name], version)
    lacking = LintCode.KEY_OF_ANOTHER_VERSION
    known = {(each.key, each.found) for each in before if each.code is lacking}
    for finding in (each for each in before if each.code.startswith("KEY_")):
        text = fixed(TEXTS[name], finding)
        after = [] if text is None or finding.code in DECISIONS else mistakes(name, text, version)
        assert {(each.key, each.found) for each in after if each.code is lacking} <= known, str(finding)
