"""`restore_settings`: gives topics that are no copy any more the retention that they were to have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.errors import Finding, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.topics import settings_to_restore
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary, hold_reservation
from kafka_migration.orchestration.run import MigrationRun


class RestoreSettingsOperator(MigrationOperator):
    """Set the frozen settings of the target's topics to their real values, which the ledger recorded as it made them.

    After a cutover those of the topics that it moved, after a rollback those that it took back. Only of topics that
    this package created and nobody has created anew since. A cluster that denies it fails nothing, because everything
    else is done: the report says what is left to be done by hand. Doing it twice changes nothing.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Restore, record."""
        mode = run.request.mode
        if not (mode.moves_groups or mode.rolls_back):
            raise AirflowSkipException(f"Mode {mode} leaves the settings frozen.")
        hold_reservation(run)
        topics = run.evidence.require(Kind.ROLLED_BACK if mode.rolls_back else Kind.CUTOVER)["topics"]
        configs = settings_to_restore(run.ledger.read(), topics, run.describe("target", topics))
        denied = _restore(run, configs)
        restored = {topic: dict(values) for topic, values in configs.items() if not denied}
        document = {"at": run.now(), "restored": restored, "warnings": [finding.to_document() for finding in denied]}
        run.evidence.write(Kind.SETTINGS, document)
        for finding in denied:
            self.log.warning("%s", finding)
        return {"restored": sorted(restored)}


def _restore(run: MigrationRun, configs: Mapping[str, Mapping[str, Any]]) -> Collection[Finding]:
    """Set the values and record it; return the cluster's reasons where it denied one."""
    if not configs:
        return ()
    try:
        run.target.alter_configs(configs)
    except Refused as refused:
        return refused.findings
    entry = {"kind": "settings-restored", "run": run.identity.holder, "at": run.now(), "topics": sorted(configs)}
    run.ledger.append(entry)
    return ()
