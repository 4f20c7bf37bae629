"""The address and the login of Airflow's REST API: from an Airflow connection, or from options and the environment."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_migration.cli.shell.airflow_access import need_connections
from kafka_migration.cli.shell.arguments import place
from kafka_migration.core.connections.http import HttpSettings, http_findings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.migration_file.regular_files import regular_bytes

if TYPE_CHECKING:
    from kafka_migration.adapters.http.airflow_api import HttpAirflow

SERVER, USER, PASSWORD, TOKEN, CA_FILE = (
    f"KAFKA_MIGRATION_AIRFLOW_{name}" for name in ("SERVER", "USER", "PASSWORD", "TOKEN", "CA_FILE")
)
# The list of all public authorities has a quarter of it.
_MOST_CERTIFICATES = 1_000_000


def add_server(verb: argparse.ArgumentParser) -> None:
    """Add the options for the address; a password is never an argument."""
    where = verb.add_mutually_exclusive_group()
    where.add_argument("--server", type=place, metavar="URL", help=f"address of Airflow (default: ${SERVER})")
    where.add_argument(
        "--connection", type=place, metavar="CONNECTION", help="Airflow connection of type http, instead of --server"
    )


def airflow_of(arguments: argparse.Namespace) -> HttpAirflow:
    """Return Airflow's API; raises `Refused` if address or login cannot be used."""
    # Its import takes a tenth of a second, which no other verb should wait for.
    from kafka_migration.adapters.http.airflow_api import HttpAirflow

    if arguments.connection is not None:
        return HttpAirflow(f"connection {arguments.connection}", _of_connection(arguments.connection))
    subject = "--server" if arguments.server else f"${SERVER}"
    settings, token = _given(subject, arguments.server or os.environ.get(SERVER, "")), os.environ.get(TOKEN, "")
    # A token is a secret like a password.
    findings = http_findings(replace(settings, password=settings.password or token), {})
    if found := [_about(subject, finding) for finding in findings]:
        raise Refused(found)
    return HttpAirflow(subject, settings, token)


def _given(subject: str, url: str) -> HttpSettings:
    if not url:
        raise Refused([_no_address()])
    user, password = os.environ.get(USER, ""), os.environ.get(PASSWORD, "")
    return HttpSettings(subject, url.rstrip("/"), user, password, _certificates())


def _of_connection(connection_id: str) -> HttpSettings:
    need_connections()
    # Importing Airflow takes seconds, and an address does not need it.
    from kafka_migration.airflow_adapters.airflow_connections import http_settings

    return http_settings(connection_id)


def _certificates() -> str:
    """Return the certificates of the authorities that sign the server's certificate; empty: those of the system."""
    path = os.environ.get(CA_FILE, "")
    try:
        return regular_bytes(Path(path), _MOST_CERTIFICATES).decode("ascii", errors="replace") if path else ""
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refused([_no_certificates(path, reason or type(error).__name__)]) from None


def _about(subject: str, finding: Finding) -> Finding:
    """Return a finding about a connection as one about an option or a variable."""
    if finding.code is Code.CONNECTION_INSECURE:
        return replace(finding, subject=subject, remedy="Use the https address of Airflow. Nothing was sent.")
    return replace(finding, code=Code.COMMAND_INVALID, subject=subject, remedy="Correct the address. Nothing was sent.")


def _no_address() -> Finding:
    return Finding(
        Code.COMMAND_INVALID,
        "the command line",
        "no address of Airflow",
        f"--server, --connection, or the variable {SERVER}",
        f"Give the address in one of the three. Give the login in the variables {USER} and {PASSWORD}, or in {TOKEN}.",
        happened="The address of Airflow is missing: neither --server, nor --connection, nor the variable "
        f"{SERVER} is given.",
        matters="The request has no destination, so nothing was sent.",
    )


def _no_certificates(path: str, reason: str) -> Finding:
    return Finding(
        Code.COMMAND_INVALID,
        f"${CA_FILE}",
        f"{path}: {reason}",
        "a readable file with certificates in PEM",
        "Correct the path, or remove the variable to trust the authorities of the system.",
        happened=f"The variable {CA_FILE} names {path}, which is no readable file with certificates ({reason}).",
        matters="The identity of the server cannot be checked, so nothing was sent.",
    )
