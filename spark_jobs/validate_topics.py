"""Compares topics of two Kafka clusters: `validate_topics.py --request REQUEST --result RESULT [--clients CLIENTS]`.

REQUEST and RESULT are locations of JSON documents (a local path or any URI that Spark's Hadoop knows; the
contract is in `kafka_migration/core/validation.py`, docs/validation.md shows one). CLIENTS is the name of a file
shipped with `--files` that holds the Kafka reader options of both sides, with their secrets. What differs is written as
a Parquet file beside the result, `<RESULT without .json>.differences.parquet`.

Exit code 0: the result was written, whatever it says. 1: it was not; the last line that begins with
`validate_topics:` says why (spark-submit prints the job's stderr on its stdout). Lines before it tell how far the
reading is. 2: usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from kafka_digest.documents import as_uri, read_clients, read_document, remove, write_document
from kafka_digest.errors import JobError, masked, naming, tell
from kafka_digest.job import validate
from kafka_digest.session import START_OPTIONS


def main(arguments: Sequence[str]) -> int:
    """Run the job and return its exit code."""
    parser = argparse.ArgumentParser(prog="validate_topics.py", description="Compare topics of two Kafka clusters.")
    parser.add_argument("--request", required=True, help="location of the request, a JSON document")
    parser.add_argument("--result", required=True, help="where the result is written to")
    parser.add_argument("--clients", default="clients.json", help="name of the file with the Kafka reader options")
    options = parser.parse_args(arguments)
    clients: dict[str, dict[str, str]] = {}
    try:
        with naming("starting Spark"):
            builder = SparkSession.builder.appName("kafka-migration validation").config(map=dict(START_OPTIONS))
            session = builder.getOrCreate()
        try:
            clients |= read_clients(options.clients)
            compare(session, options.request, options.result, clients)
        finally:
            session.stop()
    except JobError as error:
        tell(masked(str(error), clients))
        return 1
    return 0


def compare(session: SparkSession, request: str, result: str, clients: Mapping[str, Mapping[str, str]]) -> None:
    """Read the request, measure, write the result. Raises `JobError`."""
    with naming(f"reading the request {request}"):
        document = read_document(session, request)
    differences = f"{as_uri(result).removesuffix('.json')}.differences.parquet"
    with naming(f"removing the differences of an earlier result {differences}"):
        remove(session, differences)
    measured = validate(session, document, clients, differences)
    with naming(f"writing the result {result}"):
        write_document(session, result, measured)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
