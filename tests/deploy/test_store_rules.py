"""The evidence root in each kind of object store, reached by Airflow's provider: emulators of S3, Azure and Google."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deploy.object_stores import STORES, ObjectStore
from tests.deploy.stock import StockAirflow

pytestmark = [pytest.mark.live, pytest.mark.campaign]

RULES = Path(__file__).parent / "store_rules.py"


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_store_keeps_the_rules_of_the_evidence_root(
    installed: StockAirflow, store: ObjectStore, tmp_path: Path
) -> None:
    """What the package asks of an evidence root holds in each kind of store: the rules of `store_rules.py`."""
    # Their own pins do not go with the lock file's.
    installed.install(*store.packages, "pytest", is_locked=False)
    asked = {
        "STORE_ROOT": f"{store.scheme}://store@proofs/kafka",
        "REFUSED_ROOT": f"{store.scheme}://refused@proofs/kafka",
        "REFUSAL": store.refusal,
        "MOST_IN_ONE_REPLY": str(store.most_in_one_reply),
    }
    alone = ("-c", "/dev/null", "--rootdir", str(tmp_path), "--noconftest", "-p", "no:cacheprovider")
    with store.running(installed, tmp_path) as variables:
        airflow = installed.with_home(tmp_path / "home", **variables, **asked)
        said = airflow.command("python", "-m", "pytest", *alone, "-q", str(RULES))

    assert " passed" in said
    assert " skipped" not in said
