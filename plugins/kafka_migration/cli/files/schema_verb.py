"""`kafka-migration schema`: the JSON Schema of the migration file, for editors."""

from __future__ import annotations

from argparse import Namespace

from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output
from kafka_migration.cli.shell.output import ExitCode, say_json
from kafka_migration.migration_file.json_schema import migration_schema


def add_schema(verbs: Verbs) -> None:
    """Add the verb `schema`."""
    add_output(add_bare_verb(verbs, schema, "schema", "schema > migration-file.schema.json"), "json")


def schema(_: Namespace) -> int:
    """Print the schema as one JSON document."""
    say_json(migration_schema())
    return ExitCode.DONE
