"""`python -m sandbox.compose`: does `docker-compose.yaml` really bring up all that a migration needs?

Builds a copy of the project, brings it up with fresh secrets on a free port, runs the demo's migration through the
REST API, checks the verdict, brings it down and up again, and removes everything but the images. Ends with
`COMPOSE TEST PASS` or `COMPOSE TEST FAIL: <why>`. Exit codes: 0 passed, 1 failed, 3 not possible here, 130 Ctrl-C.
"""

from __future__ import annotations

import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.airflow_api import AirflowApi
from sandbox.compose import checks
from sandbox.compose.base_image import ensure_base_image
from sandbox.compose.checkout import make_checkout
from sandbox.compose.commands import Steps
from sandbox.compose.engine import Engine, engine
from sandbox.compose.failure import NotPossibleHere
from sandbox.compose.project import Project, compose_command
from sandbox.errors import SandboxError
from sandbox.interrupts import Interrupts
from sandbox.parts import HOST, free_ports

TAG = "test"
INTERRUPTED_EXIT_CODE = 130


def main() -> int:
    """Run the test and print how it ended; see the module's docstring for the exit codes."""
    interrupts = Interrupts()
    interrupts.install()
    try:
        with engine() as found:
            _test(found, Steps(), interrupts)
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


def _test(found: Engine, steps: Steps, interrupts: Interrupts) -> None:
    compose_command(found.docker)
    with steps.step("base image"):
        print(f"  {ensure_base_image(found)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kmc-") as folder:
        secret = make_checkout(Path(folder))
        port = free_ports(1)[0]
        variables = {"AIRFLOW_PORT": str(port), "KAFKA_MIGRATION_TAG": TAG}
        project = Project(found, Path(folder), f"kmc{secrets.token_hex(4)}", variables)
        for image, service in project.images().items():
            with steps.step(f"build {image}"):
                project.build(service)
        sizes = _sizes(project)
        with _running(project, steps, interrupts):
            _migrate(project, steps, f"http://{HOST}:{port}", secret["ADMIN_PASSWORD"])
    print(f"\nTimes:\n{steps.table()}\n\nImages, with the layers that they share:\n{sizes}\n", flush=True)


@contextmanager
def _running(project: Project, steps: Steps, interrupts: Interrupts) -> Iterator[None]:
    """Have everything up; take it down with its volumes, whatever happened, the logs of the unhealthy printed first."""
    try:
        with steps.step("up, until healthy"):
            project.up()
        yield
    except Exception:
        project.tell_logs()
        raise
    finally:
        with interrupts.ignored(), steps.step("down, with volumes"):
            project.down(volumes=True)


def _migrate(project: Project, steps: Steps, url: str, password: str) -> None:
    checks.require_no_root(project)
    checks.require_pages(url)
    with AirflowApi(url, "admin", password) as api:
        for mode in ("sync", "rehearse"):
            with steps.step(f"run in mode {mode}"):
                checks.run_migration(api, mode)
            checks.require_no_mirror(project)
            print(f"  verdict PASS: {checks.require_pass(project)}", flush=True)
    with steps.step("down and up again"):
        project.down(volumes=False)
        project.up()
    print(f"  verdict still PASS: {checks.require_pass(project)}", flush=True)


def _sizes(project: Project) -> str:
    rows = {name: project.engine.image_bytes(name) for name in sorted(project.images())}
    return "\n".join(f"  {size / 1e6:6.0f} MB  {name}" for name, size in rows.items())


if __name__ == "__main__":
    sys.exit(main())
