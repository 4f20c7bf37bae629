"""`python -m sandbox.compose [--profile connect]`: tests that `docker-compose.yaml` starts what a migration needs.

Builds a copy of the project whose brokers require a login, starts it with new secrets on a free port, runs the demo's
migration through the REST API, searches Spark's containers for the login, checks the verdict, restarts everything, runs
the migration again, and removes everything except the images. With the profile `connect`, two Kafka Connect workers
copy. Ends with `COMPOSE TEST PASS` or `COMPOSE TEST FAIL: <why>`. Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 not
possible here, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sandbox.airflow_api import AirflowApi, DagRun
from sandbox.compose import checks
from sandbox.compose.base_image import NAME as BASE_IMAGE
from sandbox.compose.base_image import ensure_base_image
from sandbox.compose.checkout import make_checkout
from sandbox.compose.commands import Steps
from sandbox.compose.connectors import require_stopped_connector
from sandbox.compose.engine import Engine, engine
from sandbox.compose.failure import NotPossibleHere, cleaning_up
from sandbox.compose.logins import Search, give_logins
from sandbox.compose.project import PROFILES, Project, compose_command
from sandbox.errors import SandboxError
from sandbox.interrupts import Interrupts
from sandbox.parts import HOST, free_ports

TAG = "test"
CONNECT = "connect"
# The variables of a project with a profile. `connect` has a migration file of its own.
VARIABLES = {"": {}, CONNECT: {PROFILES: CONNECT, "MIGRATIONS": "./include/connect"}}
INTERRUPTED_EXIT_CODE = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the test and print how it ended; see the module's docstring for the exit codes."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.compose", description=__doc__)
    parser.add_argument("--profile", choices=[CONNECT], default="", help="also start the services of this profile")
    profile: str = parser.parse_args(arguments).profile
    interrupts = Interrupts()
    interrupts.install()
    try:
        with engine() as found:
            _test(found, Steps(), interrupts, VARIABLES[profile])
    except KeyboardInterrupt:
        return _end("interrupted", INTERRUPTED_EXIT_CODE)
    except SystemExit as leaving:  # what SIGTERM and SIGHUP are turned into
        return _end("interrupted", leaving.code if isinstance(leaving.code, int) else 1)
    except NotPossibleHere as lacking:
        return _end(str(lacking), 3)
    except SandboxError as error:
        return _end(str(error), 1)
    finally:
        interrupts.restore()
    return _end("", 0)


def _end(why: str, exit_code: int) -> int:
    print(f"COMPOSE TEST FAIL: {why}" if why else "COMPOSE TEST PASS", flush=True)
    return exit_code


def _test(found: Engine, steps: Steps, interrupts: Interrupts, own: Mapping[str, str]) -> None:
    compose_command(found.docker)
    with steps.step("base image"):
        print(f"  {ensure_base_image(found)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kmc-") as folder:
        secret = make_checkout(Path(folder))
        login = secrets.token_hex(16)
        give_logins(Path(folder), login)
        project = Project(found, Path(folder), f"kmc{secrets.token_hex(4)}", {**own, "KAFKA_MIGRATION_TAG": TAG})
        for image, service in project.images().items():
            with steps.step(f"build {image}"):
                project.build(service)
        sizes = _sizes(project)
        # Chosen now, because another process could take it during the builds.
        port = free_ports(1)[0]
        project = replace(project, variables={**project.variables, "AIRFLOW_PORT": str(port)})
        with _running(project, steps, interrupts):
            _migrate(project, steps, f"http://{HOST}:{port}", secret["ADMIN_PASSWORD"], login)
    print(f"\nTimes:\n{steps.table()}\n\nImages, with the layers that they share:\n{sizes}\n", flush=True)


@contextmanager
def _running(project: Project, steps: Steps, interrupts: Interrupts) -> Iterator[None]:
    """Start everything; finally print the logs of unhealthy services and remove everything with its volumes."""
    print(f"The project is called {project.name}", flush=True)
    try:
        with steps.step("up, until healthy"):
            project.up()
        yield
    except Exception:
        with cleaning_up():
            project.tell_logs()
        raise
    finally:
        with interrupts.ignored(), cleaning_up(), steps.step("down, with volumes"):
            _take_down(project)


def _take_down(project: Project) -> None:
    try:
        project.down(volumes=True)
    except Exception:
        print(f"If anything was not removed, remove it with:\n{project.how_to_remove()}", flush=True)
        raise


def _migrate(project: Project, steps: Steps, url: str, password: str, login: str) -> None:
    checks.require_no_root(project)
    checks.require_pages(url)
    with AirflowApi(url, "admin", password) as api:
        search = Search(project, login)
        _run(project, steps, api, "sync", login, search.on_poll)
        search.after_run()
        print("  Kafka's login cannot be found in Spark's containers", flush=True)
        with steps.step("down and up again"):
            project.down(volumes=False)
            project.up()
        # Without its volumes this run would find other brokers, or would lack the positions to continue from.
        _run(project, steps, api, "rehearse", login)


def _run(
    project: Project,
    steps: Steps,
    api: AirflowApi,
    mode: str,
    login: str,
    on_poll: Callable[[DagRun], None] = lambda _: None,
) -> None:
    with steps.step(f"run in mode {mode}"):
        checks.run_migration(api, mode, on_poll)
    if project.variables.get(PROFILES) == CONNECT:
        require_stopped_connector(project, login)
    else:
        checks.require_no_mirror(project)
    print(f"  verdict PASS: {checks.require_pass(project)}", flush=True)


def _sizes(project: Project) -> str:
    rows = {name: project.engine.image_bytes(name) for name in (BASE_IMAGE, *sorted(project.images()))}
    return "\n".join(f"  {size / 1e6:6.0f} MB  {name}" for name, size in rows.items())


if __name__ == "__main__":
    sys.exit(main())
