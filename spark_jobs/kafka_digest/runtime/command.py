"""The command line of a job: `REQUEST` and `CLIENTS` in, `RESULT` out, and one line for an error."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from pyspark.sql import SparkSession

from kafka_digest.runtime.executors import needing_executors, tell_place
from kafka_digest.runtime.job_documents import read_clients, read_document, take_clients, write_document
from kafka_digest.runtime.job_errors import JobError, masked, naming, tell
from kafka_digest.runtime.letters import Letters, taken_word
from kafka_digest.runtime.session import START_OPTIONS, check_versions, set_up
from kafka_digest.runtime.waiting import Ending, task_process

Clients = Mapping[str, Mapping[str, str]]
Job = Callable[[SparkSession, Mapping[str, Any], Clients, str], Mapping[str, Any]]
"""Session, request, clients and the location of the result in, result out. May raise `JobError`."""


def run_job(arguments: Sequence[str], job: Job, *, program: str) -> int:
    """Run a job in its own Spark session and return its exit code; code 2 is raised as `SystemExit`."""
    options = _parsed(arguments, program)
    clients: dict[str, dict[str, str]] = {}
    try:
        if options.clients_once:
            clients |= take_clients(options.clients_once)
        word = taken_word(options.task_word) if options.task_word else ""
        ending = Ending(task_process(options.task_process))
        with ending.watched(), _session(program) as session:
            ending.session = session
            letters = Letters(session, options.result, word) if word else None
            with letters.exchanged() if letters else nullcontext():
                return _code_of(session, options, job, clients, letters)
    except JobError as error:
        return _failed(error, clients)


def _parsed(arguments: Sequence[str], program: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--request", required=True, help="path of the request, a JSON document")
    parser.add_argument("--result", required=True, help="path of the result")
    options_of = "file with the Kafka reader options of both sides"
    parser.add_argument("--clients", default="clients.json", help=f"{options_of}, or the name of one that was shipped")
    parser.add_argument("--clients-once", help=f"{options_of}; removed as soon as it is read")
    text = "file with a word, with which a waiting task sends these options in a letter beside the result"
    parser.add_argument("--task-word", help=text)
    text = "process of the task on this machine, as PID:START of /proc/PID/stat; the job ends if it ends"
    parser.add_argument("--task-process", default="", help=text)
    text = "how long the job may have work but no executor on a cluster (default: no limit)"
    parser.add_argument("--executors-within", type=float, metavar="SECONDS", help=text)
    return parser.parse_args(arguments)


@contextmanager
def _session(program: str) -> Iterator[SparkSession]:
    with naming("starting Spark"):
        builder = SparkSession.builder.appName(f"kafka-migration {program}").config(map=dict(START_OPTIONS))
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _code_of(
    session: SparkSession,
    options: argparse.Namespace,
    job: Job,
    clients: dict[str, dict[str, str]],
    letters: Letters | None,
) -> int:
    """Do the work and return the exit code. Log a failure while the session and the letters still exist."""
    try:
        tell_place(session)
        check_versions(session)
        set_up(session)
        clients |= clients or (letters.clients() if letters else read_clients(options.clients))
        with naming(f"reading the request {options.request}"):
            request = read_document(session, options.request)
        with needing_executors(session, options.executors_within):
            result = job(session, request, clients, options.result)
        with naming(f"writing the result {options.result}"):
            write_document(session, options.result, result)
    except JobError as error:
        return _failed(error, clients)
    return 0


def _failed(error: JobError, clients: Clients) -> int:
    tell(f"{error.code}: {masked(str(error), clients)}")
    return 1
