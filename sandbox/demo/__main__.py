"""`python -m sandbox.demo [--damage drop|alter|duplicate|reorder] [--engine NAME] [--full]`: the demo.

The last line is `DEMO PASS`, with `--damage` `DEMO PASS: the damage was found: <where>`, or `DEMO FAIL: <why>`. Exit
code 0: passed. 1: failed, also when the damage was not found, or at another place. 2: wrong usage. 130: Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from sandbox.airflow import AirflowFolders
from sandbox.airflow_api import AirflowApi
from sandbox.data.damage import Damage
from sandbox.demo.display import Display, open_display
from sandbox.demo.failure import DemoFailed
from sandbox.demo.nights import Nights
from sandbox.demo.story import Story
from sandbox.errors import SandboxError
from sandbox.jars import PROJECT, JarsError
from sandbox.sandbox import DEFAULT_ROOT, Sandbox

INTERRUPTED_EXIT_CODE = 130


@dataclass(frozen=True)
class Setting:
    """Where the migration file of an engine is, and the number of Kafka Connect workers that it needs."""

    migrations: Path
    workers: int = 0


DEFAULT_ENGINE = "mirrormaker2"
SETTINGS = {
    DEFAULT_ENGINE: Setting(AirflowFolders.migrations),
    "connect": Setting(PROJECT / "include" / "connect", workers=2),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the demo and print how it ended; see the module's docstring for the exit codes."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.full and options.engine != DEFAULT_ENGINE:
        parser.error("--full shows a nightly sync, whose migration file has no other engine")
    text, exit_code = _run(options, open_display())
    sys.stderr.flush()
    result = "DEMO FAIL" if exit_code else "DEMO PASS"
    print(f"{result}: {text}" if text else result, flush=True)
    return exit_code


def _run(options: argparse.Namespace, display: Display) -> tuple[str, int]:
    """Return the final text and the exit code. Nothing is running when it returns."""
    try:
        found = _demo(options, display)
    except DemoFailed as failure:
        return str(failure), 1
    except KeyboardInterrupt:
        return "interrupted", INTERRUPTED_EXIT_CODE
    except SystemExit as leaving:  # the sandbox turns SIGTERM and SIGHUP into this
        return "interrupted", (leaving.code if isinstance(leaving.code, int) else 0) or 1
    except (SandboxError, JarsError) as error:
        display.line(str(error))
        return f"{type(error).__name__}: {str(error).splitlines()[0]}", 1
    except Exception as error:
        traceback.print_exc()
        return f"{type(error).__name__}: {' '.join(str(error).split())}", 1
    return f"the damage was found: {found}" if found else "", 0


def _demo(options: argparse.Namespace, display: Display) -> str:
    """Run all steps; return where the requested damage was found."""
    setting = SETTINGS[options.engine]
    workers = f"{setting.workers} Kafka Connect workers, " if setting.workers else ""
    display.section(f"Start two Kafka clusters, {workers}an SSH host and Airflow")
    folders = AirflowFolders(migrations=setting.migrations)
    with (
        Sandbox(options.root, folders=folders, connect=setting.workers, report=display.line) as sandbox,
        AirflowApi.of(sandbox.state) as api,
    ):
        state = sandbox.state
        display.line(f"Airflow UI while the demo runs: {state.airflow_url}")
        display.line(f"User {state.airflow_user}, password {state.airflow_password}")
        try:
            found = Story(sandbox, api, display).tell(Damage(options.damage) if options.damage else None)
            if options.full and not options.damage:
                Nights(sandbox, api, display).show()
        finally:
            _say_where_things_are(state.evidence_root, state.logs, display)
    return found


def _say_where_things_are(evidence: Path, logs: Path, display: Display) -> None:
    display.section("Look at it")
    display.line(f"Evidence  {evidence}  (each run's report.html; the next start moves it to earlier-evidence)")
    display.line(f"Logs      {logs}")
    display.line("Airflow   `make up` starts the sandbox again and keeps it running with the Airflow UI")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox.demo", description=__doc__)
    parser.add_argument("--damage", choices=[str(damage) for damage in Damage], help="damage one record of the copy")
    text = "the engine that copies (%(default)s)"
    parser.add_argument("--engine", choices=list(SETTINGS), default=DEFAULT_ENGINE, help=text)
    parser.add_argument("--full", action="store_true", help="also run a nightly sync and a backfill")
    parser.add_argument("--root", type=Path, default=DEFAULT_ROOT, help="the sandbox's folder (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
