"""The Airflow DAGs of every migration file in `include/migrations`.

Each file has three DAGs: `kafka_migration__<name>`, triggered manually; `kafka_nightly_sync__<name>`, run by its
schedule and by backfills, with the same tasks up to `judge`; `kafka_rollback__<name>`, triggered manually to roll
cutovers back.

    preflight ─ reserve ─ plan ─ create_topics ─ start_mirror ─ watch_lag ─┐
                   │ setup                                                  │
                   └──────────── stop_mirror (teardown of reserve) ─────────┤
       validate_topics ─ judge ─ drain_groups ─ translate_offsets ─ plan_offsets ─ approve ─ sync_offsets ─┐
                                                                        confirm_cutover ─ hooks ─ restore_settings ┘
    finish: a teardown below every task, the only leaf

    preflight ─ reserve ─ translate_back ─ plan_rollback ─ approve ─ roll_back ─ restore_settings ─ finish
"""

from __future__ import annotations

from kafka_migration.orchestration.factory import migration_dags

globals().update(migration_dags())
