"""`python -m sandbox up | down | status | steps`: the sandbox in the background."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sandbox import control
from sandbox.airflow import AirflowFolders
from sandbox.errors import SandboxError
from sandbox.jars import JarsError
from sandbox.sandbox import DEFAULT_ROOT, Sandbox


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 done, 1 failed, 2 usage, 3 nothing is running (status)."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (SandboxError, JarsError) as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. None of the sandbox's processes is running.", flush=True)
        return 130


def _run(options: argparse.Namespace) -> int:
    if options.command == "up":
        return control.up(options.root, _flags(options))
    if options.command == "supervise":
        return control.supervise(_sandbox(options))
    return {"down": control.down, "status": control.status, "steps": control.steps}[options.command](options.root)


def _sandbox(options: argparse.Namespace) -> Sandbox:
    return Sandbox(
        options.root,
        airflow=options.airflow,
        airflow_port=options.airflow_port,
        folders=AirflowFolders(migrations=options.migrations),
        connect=options.connect,
        yarn=options.yarn,
    )


def _flags(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the start options again as `supervise` reads them."""
    port = ("--airflow-port", str(options.airflow_port)) if options.airflow_port is not None else ()
    others = ("--connect", str(options.connect), "--migrations", str(options.migrations.resolve()))
    switches = (*(() if options.airflow else ("--no-airflow",)), *(("--yarn",) if options.yarn else ()))
    return (*port, *others, *switches)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="up | down | status | steps")
    _add(
        commands,
        "up",
        "start everything in the background, or restart dead parts, and print the addresses",
        starts=True,
    )
    _add(commands, "down", "stop everything that was started")
    _add(commands, "status", "print what is running and which part is not well")
    _add(commands, "steps", "print the next steps for a running sandbox")
    _add(commands, "supervise", "own the parts in the foreground (used by up)", starts=True)
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    *,
    starts: bool = False,
) -> None:
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument("--root", type=Path, default=DEFAULT_ROOT, help="the sandbox's folder (%(default)s)")
    if starts:
        command.add_argument("--airflow-port", type=int, help="a fixed port for Airflow (default: a free port)")
        command.add_argument("--no-airflow", dest="airflow", action="store_false", help="clusters and host only")
        text = "start this many Kafka Connect workers on the target (default: none)"
        command.add_argument("--connect", type=int, default=0, metavar="WORKERS", help=text)
        text = "start a YARN for Spark too, whose jars are fetched"
        command.add_argument("--yarn", action="store_true", help=text)
        text = "the folder of the migration files (%(default)s)"
        command.add_argument("--migrations", type=Path, default=AirflowFolders.migrations, metavar="FOLDER", help=text)


if __name__ == "__main__":
    sys.exit(main())
