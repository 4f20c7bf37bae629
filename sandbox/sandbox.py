"""The sandbox: all parts started, health-checked and stopped as one.

    with Sandbox(airflow=False) as sandbox:
        print(sandbox.state.source_bootstrap)

The end of the `with` block or of the process always ends all processes of the sandbox: after an error or Ctrl-C the end
of the block does, after SIGTERM and SIGHUP `SystemExit` does, and after kill -9 the watchdog (`reaper.py`) does.
"""

from __future__ import annotations

import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox import jars
from sandbox.airflow import API_SERVER, COMPONENTS, SCHEDULER, AirflowFolders
from sandbox.errors import PartDied, PartNotReady, SandboxError
from sandbox.folder import Folder
from sandbox.interrupts import Interrupts
from sandbox.kafka import SHORT_LIVED
from sandbox.layout import Layout, plan_layout
from sandbox.parts import Part, PartSpec, wait_ready
from sandbox.postgres import PART as DATABASE
from sandbox.processes import Process, belonging, end_all
from sandbox.security.kdc import KerberosLogin
from sandbox.security.listeners import Security
from sandbox.shell import airflow_login, write_shell
from sandbox.state import SandboxState
from sandbox.watchdog import Watchdog
from sandbox.yarn import fetched as fetched_yarn

DEFAULT_ROOT = jars.PROJECT / ".sandbox"
WATCH_S = 1.0
REVIVALS = 5


def say(text: str) -> None:
    """Print a line at once, even if the output is a file."""
    print(text, flush=True)


class Sandbox:
    """Two Kafka clusters, an SSH host and, if requested, Airflow, Connect workers and YARN, below one root folder.

    Args:
        root: its own folder; emptied at start, but its evidence is moved and kept.
        airflow: start Airflow too; without it `state.airflow_url` is `None`.
        airflow_port: a fixed port for Airflow; by default a free one.
        folders: the folders of DAGs, plugins and migration files.
        java_options: for the JVMs of the brokers, of MirrorMaker and of Connect; none for throughput measurements.
        secured: the clusters also have listeners with TLS and logins, and an authorizer.
        kerberos: the Kerberos logins of `source` and `target`; without one there is no listener for Kerberos.
        versions: the Kafka versions of `source`, `target` and `connect`; others than the sandbox's own are fetched.
        connect: the number of Kafka Connect workers, whose Kafka is the target.
        yarn: start a YARN too, whose jars are fetched.
        extra_environment: further variables for Airflow's parts and for `environment`; they win.
        report: gets short status lines.
    """

    def __init__(
        self,
        root: Path = DEFAULT_ROOT,
        *,
        airflow: bool = True,
        airflow_port: int | None = None,
        folders: AirflowFolders | None = None,
        java_options: tuple[str, ...] = SHORT_LIVED,
        extra_environment: Mapping[str, str] | None = None,
        secured: bool = False,
        kerberos: Mapping[str, KerberosLogin] | None = None,
        versions: Mapping[str, str] | None = None,
        connect: int = 0,
        yarn: bool = False,
        report: Callable[[str], None] = say,
    ) -> None:
        self.sandbox_id = secrets.token_hex(8)
        self._folder = Folder(root.resolve())
        self._with_airflow = airflow
        self._airflow_port = airflow_port
        self._airflow_folders = folders or AirflowFolders()
        self._java_options = java_options
        self._secured = secured
        self._kerberos = kerberos
        self._versions = dict(versions or {})
        self._connect = connect
        self._yarn = yarn
        self._extra_environment = dict(extra_environment or {})
        self._report = report
        self._parts: dict[str, Part] = {}
        self._tracked: set[Process] = set()
        self._watchdog: Watchdog | None = None
        self._interrupts = Interrupts()
        self._stopping = threading.Event()
        self._layout: Layout | None = None
        self._state: SandboxState | None = None

    @property
    def state(self) -> SandboxState:
        """The running parts and their addresses; raises `SandboxError` before the start and after the stop."""
        if self._state is None:
            raise SandboxError("the sandbox is not running")
        return self._state

    @property
    def bootstraps(self) -> dict[str, str]:
        """`host:port` of `source` and `target`, without encryption and login."""
        return {"source": self.state.source_bootstrap, "target": self.state.target_bootstrap}

    @property
    def security(self) -> Mapping[str, Security]:
        """The certificates and logins of `source` and `target`; empty unless the sandbox is secured."""
        return self._layout.security if self._layout else {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start every part and wait until all answer; if that fails, everything is stopped.

        Raises:
            AlreadyRunning: another process runs a sandbox in this root.
            PortTaken: the requested port is in use.
            PartDied, PartNotReady: a part did not start; the text has the end of its log.
        """
        self._folder.acquire()
        self._interrupts.install()
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all processes of the sandbox, including indirectly started ones; harmless if nothing runs.

        Raises:
            SandboxError: processes survived SIGKILL; the text has the pids.
        """
        with self._interrupts.ignored():
            self._stopping.set()
            self._folder.withdraw()
            self._state = None
            survivors = end_all(self.sandbox_id, self._tracked)
            for part in self._parts.values():
                part.stop()
            for security in self.security.values():
                security.tokens.stop()
            if self._watchdog:
                self._watchdog.dismiss()
            if not survivors:
                self._folder.forget()
            self._folder.release()
        self._interrupts.restore()
        if survivors:
            raise SandboxError(f"these processes survived SIGKILL: {sorted(item.pid for item in survivors)}")

    def check(self) -> None:
        """Raise `PartDied`, with the end of its log, if a part ended unexpectedly."""
        for part in self._parts.values():
            part.check()

    def pids_alive(self) -> set[int]:
        """Return the pids of all living processes of this sandbox, MirrorMakers started through SSH included."""
        return {process.pid for process in belonging(self.sandbox_id, self._tracked)}

    def kill(self, part: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to a part's process and return at once; its end is not reported as an error."""
        self._parts[part].kill(number)

    def restart(self, part: str) -> None:
        """Stop a part in an orderly way if it still runs, start it on its old ports, wait until it answers."""
        self._parts[part].stop()
        self._launch(self._parts[part])
        wait_ready([self._parts[part]])
        self._publish()

    def revive(self) -> None:
        """Restart every part whose process has ended, on its old ports; report parts that do not start.

        Without its database Airflow's parts end one by one, so all of Airflow is restarted with PostgreSQL.
        """
        ended = [name for name, part in self._parts.items() if part.has_ended()]
        if DATABASE in ended:
            ended += [name for name in COMPONENTS if name not in ended]
        for name in ended:
            if self._stopping.is_set():
                return
            self._report(f"{name} is started again")
            self._bring_back(self._parts[name])
        if not self._stopping.is_set():
            self._publish()

    def airflow_env(self) -> dict[str, str]:
        """Return the complete environment for `airflow` commands against this sandbox."""
        return dict(self.state.environment)

    def run_airflow(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an `airflow` command against this sandbox; return the finished process."""
        command = ("airflow", *arguments)
        return subprocess.run(command, env=self.airflow_env(), capture_output=True, text=True, check=False)

    def _start(self) -> None:
        began = time.monotonic()
        kept = self._folder.begin(self.sandbox_id)
        if kept:
            self._report(f"The evidence of the last sandbox is kept in {kept}")
        jars.ensure(self._report)
        jars.ensure_kafka(self._versions.values(), self._report)
        if self._yarn:
            fetched_yarn(self._report)
        root = self._folder.root
        self._layout = plan_layout(
            root,
            self.sandbox_id,
            self._airflow_folders,
            self._airflow_port,
            self._java_options,
            secured=self._secured,
            kerberos=self._kerberos,
            versions=self._versions,
            connect=self._connect,
            yarn=self._yarn,
        )
        self._watchdog = Watchdog(self.sandbox_id, self._folder.state_file, self._layout.logs / "reaper.log")
        self._start_base(self._layout)
        self._start_workers(self._layout)
        self._start_yarn(self._layout)
        if self._with_airflow:
            self._start_airflow(self._layout)
        wait_ready(self._parts.values(), self._report)
        for cluster in (self._layout.source, self._layout.target) if self._secured else ():
            self._layout.security[cluster.name].create_users(cluster.bootstrap)
        self._publish()
        threading.Thread(target=self._watch, name="sandbox-watch", daemon=True).start()
        self._report(f"everything answers after {time.monotonic() - began:.0f} s")

    def _start_base(self, layout: Layout) -> None:
        for security in layout.security.values():
            security.tokens.start()
        environment = layout.base_environment()
        for cluster in (layout.source, layout.target):
            cluster.format(environment)
            self._add(cluster.parts(environment, layout.logs))
        layout.host.prepare(environment)
        layout.airflow.write_home()
        layout.evidence.mkdir()
        self._add([layout.host.part(environment, layout.logs)])

    def _start_workers(self, layout: Layout) -> None:
        # A worker asks its Kafka first, and ends if that does not answer.
        wait_ready([self._parts[layout.target.name]] if layout.workers else [])
        environment = layout.base_environment()
        self._add(worker.part(environment, layout.logs) for worker in layout.workers)

    def _start_yarn(self, layout: Layout) -> None:
        if layout.yarn:
            # A node whose manager does not answer tries again for a long time.
            environment = layout.base_environment()
            manager = layout.yarn.manager_part(environment, layout.logs)
            self._add([manager])
            wait_ready([self._parts[manager.name]])
            self._add([layout.yarn.node_part(environment, layout.logs)])

    def _start_airflow(self, layout: Layout) -> None:
        environment = layout.airflow_environment(self._extra_environment)
        layout.airflow.prepare_database(environment, layout.logs)
        self._add([layout.airflow.database.part(environment, layout.logs)])
        wait_ready([self._parts[DATABASE]])
        parts = {part.name: part for part in layout.airflow.parts(environment, layout.logs)}
        scheduler = parts.pop(SCHEDULER)
        self._add(parts.values())
        # A scheduled task that begins before the api-server answers fails.
        wait_ready([self._parts[API_SERVER]])
        self._add([scheduler])

    def _add(self, specs: Iterable[PartSpec]) -> None:
        for spec in specs:
            self._parts[spec.name] = Part(spec)
            self._launch(self._parts[spec.name])

    def _launch(self, part: Part) -> None:
        identity = part.start()
        self._tracked.add(identity)
        if self._watchdog:
            self._watchdog.track(identity)

    def _bring_back(self, part: Part) -> None:
        """Start a part until it keeps running: remains of its predecessor may block it for a moment."""
        for attempt in range(1, REVIVALS + 1):
            part.stop()
            self._launch(part)
            try:
                wait_ready([part], self._report)
                return
            except (PartDied, PartNotReady) as error:
                if self._stopping.wait(WATCH_S):
                    return
                if attempt == REVIVALS or isinstance(error, PartNotReady):
                    self._report(f"FAULT: {error}")
                    return

    def _publish(self) -> None:
        if self._layout is None:
            raise SandboxError("the sandbox is not running")
        pids = {name: part.process.pid for name, part in self._parts.items() if part.process}
        environment = self._layout.airflow_environment(self._extra_environment)
        own = self._layout.own_environment(self._extra_environment)
        self._state = self._layout.state(pids, environment, with_airflow=self._with_airflow)
        login = airflow_login(self._state.airflow_url, self._state.airflow_user, self._state.airflow_password)
        write_shell(self._folder.root, {**own, **login}, self._airflow_folders.plugins)
        self._state.save(self._folder.state_file)

    def _watch(self) -> None:
        """Report each part's unexpected end once, as soon as it happens; restart dead parts on request."""
        reported: set[Process | None] = set()
        while not self._stopping.wait(WATCH_S):
            if self._interrupts.asked.is_set():
                self._interrupts.asked.clear()
                self.revive()
            for part in self._parts.values():
                try:
                    part.check()
                except PartDied as error:
                    if part.identity not in reported and not self._stopping.is_set():
                        self._report(f"FAULT: {error}")
                    reported.add(part.identity)
