"""The operators, sensors and triggers for DAGs of your own; the modules that define them may change.

A DAG file that imports operators imports no trigger, because a trigger imports all that it does (ADR 0059).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kafka_migration.orchestration.cutover.approve import ApproveOperator
from kafka_migration.orchestration.cutover.hook import HookOperator
from kafka_migration.orchestration.cutover.moving import (
    ConfirmCutoverOperator,
    PlanOffsetsOperator,
    SyncOffsetsOperator,
    TranslateOffsetsOperator,
)
from kafka_migration.orchestration.cutover.rolling_back import (
    ApproveRollbackOperator,
    PlanRollbackOperator,
    RollBackOperator,
    TranslateBackOperator,
)
from kafka_migration.orchestration.operators.copying import (
    CreateTopicsOperator,
    JudgeOperator,
    PlanOperator,
    PreflightOperator,
    ReserveOperator,
    RestoreSettingsOperator,
    StartMirrorOperator,
    StopMirrorOperator,
    ValidateTopicsOperator,
)
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, reporting
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.group_lag import ConsumerGroupLagSensor
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from kafka_migration.orchestration.task.failures import FailedForGood

if TYPE_CHECKING:
    from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger
    from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger
    from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
    from kafka_migration.orchestration.triggers.reservation import ReservationTrigger

_TRIGGERS = {
    "AnnouncementTrigger": "announcement",
    "ConsumerGroupLagTrigger": "group_lag_trigger",
    "MirrorLagTrigger": "mirror_lag",
    "ReservationTrigger": "reservation",
}

__all__ = [
    "AnnouncementTrigger",
    "ApproveOperator",
    "ApproveRollbackOperator",
    "ConfirmCutoverOperator",
    "ConsumerGroupLagSensor",
    "ConsumerGroupLagTrigger",
    "CreateTopicsOperator",
    "DrainGroupsSensor",
    "FailedForGood",
    "FinishOperator",
    "HookOperator",
    "JudgeOperator",
    "MigrationOperator",
    "MirrorLagSensor",
    "MirrorLagTrigger",
    "PlanOffsetsOperator",
    "PlanOperator",
    "PlanRollbackOperator",
    "PreflightOperator",
    "ReservationTrigger",
    "ReserveOperator",
    "RestoreSettingsOperator",
    "RollBackOperator",
    "StartMirrorOperator",
    "StopMirrorOperator",
    "SyncOffsetsOperator",
    "TranslateBackOperator",
    "TranslateOffsetsOperator",
    "ValidateTopicsOperator",
    "reporting",
]


def __getattr__(name: str) -> object:
    if name not in _TRIGGERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kafka_migration.orchestration.triggers.{_TRIGGERS[name]}"), name)
