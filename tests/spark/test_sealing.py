"""Kafka's logins are sealed in Airflow's Python, and opened in the JVM of Spark's driver."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from kafka_digest.runtime.sealing import KeyPair
from kafka_migration.adapters.system.sealed_text import sealed


def test_only_the_driver_that_asked_opens_what_was_sealed(spark: SparkSession) -> None:
    """A driver reads the text that was sealed for its key; another driver, or a changed text, gives an error."""
    ours, other = KeyPair(spark._jvm), KeyPair(spark._jvm)
    text = '{"source": {"kafka.sasl.jaas.config": "pässword"}}'
    letter = sealed(ours.public, text)

    assert text == ours.opened(letter)
    assert "ssword" not in letter
    assert letter != sealed(ours.public, text)
    for key, changed in ((other, letter), (ours, f"{letter[:-8]}AAAAAAA=")):
        with pytest.raises(Py4JJavaError):
            key.opened(changed)
