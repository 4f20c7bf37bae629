"""Compares topics of two Kafka clusters: `validate_topics.py --request REQUEST --result RESULT
[--clients-once CLIENTS]`.

REQUEST and RESULT are paths of JSON documents (a local path or any URI that Spark's Hadoop supports; the contract is in
`kafka_migration/core/validation/contract.py`, docs/reference/spark-jobs.md shows an example). CLIENTS is a file on the
driver with the Kafka reader options of both sides, including secrets; it is removed as soon as it is read.
`--clients` takes a file that is kept, or the name of one shipped with `--files`.
Differences are written as a Parquet file next to the result, `<RESULT without .json>.differences.parquet`.

Exit code 0: the result was written, regardless of its content. 1: it was not; the last line that begins with
`validate_topics:` gives the reason with a code (spark-submit prints the job's stderr on its stdout). Earlier lines show
the progress. 2: usage.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from kafka_digest.shell.command import Clients, run_job
from kafka_digest.shell.documents import as_uri, remove
from kafka_digest.shell.errors import naming
from kafka_digest.validate import validate


def compare(session: SparkSession, request: Mapping[str, Any], clients: Clients, result: str) -> Mapping[str, Any]:
    """Measure, with all differences in a file next to the result. Raises `JobError`."""
    differences = f"{as_uri(result).removesuffix('.json')}.differences.parquet"
    with naming(f"removing the differences of an earlier result {differences}"):
        remove(session, differences)
    return validate(session, request, clients, differences)


if __name__ == "__main__":
    sys.exit(run_job(sys.argv[1:], compare, program="validate_topics.py"))
