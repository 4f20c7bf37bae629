"""`kafka-migration spark-archive`: the class archive with which Spark's driver starts sooner."""

from __future__ import annotations

from argparse import Namespace

from kafka_migration.cli.shell.airflow_access import need_connections
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output, place
from kafka_migration.cli.shell.output import ExitCode, aligned, respond
from kafka_migration.cli.shell.progress_line import working

ARCHIVE_SCHEMA = 1


def add_spark_archive(verbs: Verbs) -> None:
    """Add the verb `spark-archive`."""
    verb = add_bare_verb(verbs, spark_archive, "spark-archive", "spark-archive demo_spark")
    verb.add_argument("connection", type=place, metavar="CONNECTION", help="Airflow connection of type spark")
    add_output(verb)


def spark_archive(arguments: Namespace) -> int:
    """Make the archive and print its path, as lines or as one JSON document."""
    need_connections()
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters.archive_making import make_archive

    working("Starting Spark once without Kafka, which takes a minute or more")
    made = make_archive(arguments.connection)
    document = {
        "schema": ARCHIVE_SCHEMA,
        "connection": arguments.connection,
        "archive": str(made.path),
        "bytes": made.path.stat().st_size,
        "removed": [str(path) for path in made.removed],
    }
    lines = [("Archive", str(made.path)), ("Size", f"{made.path.stat().st_size >> 20} MiB")]
    respond(arguments, document, aligned([*lines, *(("Removed", str(path)) for path in made.removed)]))
    return ExitCode.DONE
