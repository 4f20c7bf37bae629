"""`kafka-migration stop NAME --now`: ends MirrorMaker from here, for when no run of the migration is active.

On a host, MirrorMaker ends by itself when no run renews its lease. A connector on Kafka Connect has no lease.
"""

from __future__ import annotations

from contextlib import closing

from kafka_migration.cli.shell.airflow_access import shown_deployment
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.ledger.generations import Generation
from kafka_migration.core.mirror.mirror_process import ProcessReply
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.answers.kept_migration import MigrationStore


def stopped_now(store: MigrationStore, generation: Generation) -> ProcessReply:
    """Stop the open generation where it runs, and return how it ended; the next run writes its stop certificate.

    The place and its connection are those of the migration file that the generation's run froze. A run that is active
    all the same finds its MirrorMaker stopped, and fails. Raises like `MirrorProcess.stop`.
    """
    text = store.evidence_of(generation.start.run).frozen_migration()
    migration = load_migration(text, where=f"{store.name} (frozen)")
    with closing(shown_deployment(None).open_mirror(migration)) as mirror:
        working("Stopping MirrorMaker")
        holder = mirror.process.status().holder or generation.start.run
        reply: ProcessReply = mirror.process.stop(holder, generation.number, migration.mirror.stop_grace_s)
        return reply
