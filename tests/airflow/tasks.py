"""The operators and sensors of the tasks, by task id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka_migration.orchestration.cutover.approve import ApproveOperator
from kafka_migration.orchestration.cutover.approve_rollback import ApproveRollbackOperator
from kafka_migration.orchestration.cutover.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.cutover.hook import HookOperator
from kafka_migration.orchestration.cutover.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.cutover.plan_rollback import PlanRollbackOperator
from kafka_migration.orchestration.cutover.roll_back import RollBackOperator
from kafka_migration.orchestration.cutover.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.cutover.translate_back import TranslateBackOperator
from kafka_migration.orchestration.cutover.translate_offsets import TranslateOffsetsOperator
from kafka_migration.orchestration.operators.create_topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.restore_settings import RestoreSettingsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.validate_topics import ValidateTopicsOperator
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
BEFORE_START = ("preflight", "reserve", "plan", "create_topics")
