"""Spark can be given the logins of the Kafka connections, and its Kafka client is new enough for them."""

from __future__ import annotations

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.spark.spark_target import shipping_findings
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    if scene.mode is Mode.RESTORE or not scene.has_login:
        return ()
    spark = scene.airflow.spark
    target = spark.spark_target(scene.migration.validation.spark_connection)
    return (*shipping_findings(target), *spark.spark_client_findings())


CHECK = Check("spark client", _check, asks={Asked.SPARK}, needs=("clusters",))
