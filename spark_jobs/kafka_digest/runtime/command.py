"""The command line of a job: `REQUEST` and `CLIENTS` in, `RESULT` out, and one line for an error."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from kafka_digest.runtime.job_documents import read_clients, read_document, take_clients, write_document
from kafka_digest.runtime.job_errors import JobError, masked, naming, tell
from kafka_digest.runtime.session import START_OPTIONS, check_versions, set_up

Clients = Mapping[str, Mapping[str, str]]
Job = Callable[[SparkSession, Mapping[str, Any], Clients, str], Mapping[str, Any]]
"""Session, request, clients and the location of the result in, result out. May raise `JobError`."""


def run_job(arguments: Sequence[str], job: Job, *, program: str) -> int:
    """Run a job in its own Spark session and return its exit code; code 2 is raised as `SystemExit`."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--request", required=True, help="path of the request, a JSON document")
    parser.add_argument("--result", required=True, help="path of the result")
    options_of = "file with the Kafka reader options of both sides"
    parser.add_argument("--clients", default="clients.json", help=f"{options_of}, or the name of one that was shipped")
    parser.add_argument("--clients-once", help=f"{options_of}; removed as soon as it is read")
    options = parser.parse_args(arguments)
    clients: dict[str, dict[str, str]] = {}
    try:
        if options.clients_once:
            clients |= take_clients(options.clients_once)
        with naming("starting Spark"):
            builder = SparkSession.builder.appName(f"kafka-migration {program}").config(map=dict(START_OPTIONS))
            session = builder.getOrCreate()
        try:
            check_versions(session)
            set_up(session)
            clients |= clients or read_clients(options.clients)
            with naming(f"reading the request {options.request}"):
                request = read_document(session, options.request)
            result = job(session, request, clients, options.result)
            with naming(f"writing the result {options.result}"):
                write_document(session, options.result, result)
        finally:
            session.stop()
    except JobError as error:
        tell(f"{error.code}: {masked(str(error), clients)}")
        return 1
    return 0
