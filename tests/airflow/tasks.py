"""The operators and sensors of the tasks, by task id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

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
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor

TASKS: Mapping[str, Callable[..., Any]] = {
    "after_cutover": partial(HookOperator, hook="after_cutover"),
    "approve": ApproveOperator,
    "approve_rollback": ApproveRollbackOperator,
    "confirm_cutover": ConfirmCutoverOperator,
    "create_topics": CreateTopicsOperator,
    "drain_groups": DrainGroupsSensor,
    "finish": FinishOperator,
    "judge": JudgeOperator,
    "plan": PlanOperator,
    "plan_offsets": PlanOffsetsOperator,
    "plan_rollback": PlanRollbackOperator,
    "preflight": PreflightOperator,
    "reserve": ReserveOperator,
    "restore_settings": RestoreSettingsOperator,
    "roll_back": RollBackOperator,
    "start_mirror": StartMirrorOperator,
    "stop_mirror": StopMirrorOperator,
    "stop_producers": partial(HookOperator, hook="stop_producers"),
    "sync_offsets": SyncOffsetsOperator,
    "translate_back": TranslateBackOperator,
    "translate_offsets": TranslateOffsetsOperator,
    "validate_topics": ValidateTopicsOperator,
    "watch_lag": MirrorLagSensor,
}
