"""The JSON answers of the verbs about runs, as golden texts: programs read their fields."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import NewsStore, StopRequestStore
from kafka_migration.cli.main import main
from kafka_migration.core.ledger.cutovers import CutOver, RolledBack
from kafka_migration.core.run.stop_request import StopRequest
from tests.golden import assert_golden
from tests.unit.cli.test_cli import AT, RUN, end, judge, kafka_migration, mirrored_twice
from tests.unit.cli.test_cli_present import FOREIGN, POLLED, ended

GOLDEN = Path(__file__).with_name("cli_json.golden")
# What depends on the time of the test.
_NOW = re.compile(r'("(?:age|ago|at|step_at|in_step|Copy)": )(?:"(?:[^"]* ago|20[^"]*|\d+s)"|\d+)')


def lived(root: Path) -> Path:
    """Leave a migration of which every field of an answer has a value."""
    mirrored_twice(root)
    StopRequestStore(root, "shop").request(StopRequest(2, RUN.holder, AT, "ada", "lunch"))
    end(root, 2)
    LedgerStore(root, "shop").append(CutOver(RUN.holder, AT, ("billing",), ("orders",), True, ("audit",)).to_document())
    back = RolledBack(RUN.holder, AT, "restore", ("orders",), ("billing",), ("other",), {"orders": 2})
    LedgerStore(root, "shop").append(back.to_document())
    now = datetime.now(UTC).isoformat()
    NewsStore(root, "shop").tell_progress({**POLLED, "at": now, "step_at": now})
    ended(root, FOREIGN)
    return root


def test_json_answers_are_golden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed field of an answer is a decision: the golden text shows it."""
    lived(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "ledger").mkdir()
    found = {}
    for verb in (["status", "shop"], ["verdict", "shop"], ["decommission", "new"], ["status", "new"], ["status"]):
        main([*verb, "-o", "json", "--evidence-root", str(tmp_path)])
        found[" ".join(verb)] = _NOW.sub(r'\1"…"', capsys.readouterr().out)

    assert_golden(GOLDEN, found)


def test_one_unreadable_migration_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the list of all migrations, one that cannot be read has the code of its problem."""
    judge(mirrored_twice(tmp_path), 2)
    (tmp_path / "bad" / "ledger").mkdir(parents=True)
    (tmp_path / "bad" / "ledger" / "000001.json").write_text("{")

    assert 1 == kafka_migration(tmp_path, "status", "-o", "json")
    assert_golden(GOLDEN.with_name("cli_list.golden"), {"status": capsys.readouterr().out})
