"""The services of one checkout under its own project name."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from sandbox.compose.commands import found, run
from sandbox.compose.engine import Engine
from sandbox.compose.failure import ComposeTestFailed, NotPossibleHere

FILE = "docker-compose.yaml"
PROFILES = "COMPOSE_PROFILES"
BUILD_S = 3600
UP_S = 900
HEALTHY_S = 300
DOWN_S = 300
POLL_S = 2
LOG_LINES = 60


@dataclass(frozen=True)
class ServiceState:
    """The state of a service's container; `health` is empty without a health check."""

    status: str
    health: str
    exit_code: int

    def is_done(self, *, one_shot: bool) -> bool:
        """True if a one-shot service succeeded, or another service is healthy."""
        if one_shot:
            return (self.status, self.exit_code) == ("exited", 0)
        return (self.status, self.health) == ("running", "healthy")

    def __str__(self) -> str:
        return (
            f"{self.status} with {self.exit_code}"
            if self.status == "exited"
            else f"{self.status} {self.health}".strip()
        )


@dataclass(frozen=True)
class Project:
    """A checkout's `docker-compose.yaml`, its name, and the variables that differ from its `.env`."""

    engine: Engine
    folder: Path
    name: str
    variables: Mapping[str, str] = field(default_factory=dict)

    def compose(self, *arguments: str, timeout_s: float = 120, stdin: str | None = None) -> str:
        """Return what `docker compose …` printed."""
        command = (*compose_command(self.engine.docker), "-p", self.name, *arguments)
        return run(command, timeout_s, environment=self.environment(), folder=self.folder, stdin=stdin)

    def environment(self) -> dict[str, str]:
        """Return Compose's environment: the file's variables come from `.env`, not from the caller."""
        asked = set(re.findall(r"\$\{(\w+)", (self.folder / FILE).read_text()))
        kept = {name: value for name, value in self.engine.environment.items() if name not in asked}
        return {**kept, **self.variables}

    def build(self, service: str) -> None:
        """Build a service's image; a failed step leaves no container."""
        self.compose("build", "--force-rm", service, timeout_s=BUILD_S)

    def up(self) -> None:
        """Start everything and wait until it is healthy and all one-shot services ended with 0.

        Raises:
            ComposeTestFailed: this takes too long; the text has the state of each service.
        """
        self.compose("up", "-d", "--no-build", timeout_s=UP_S)
        deadline = time.monotonic() + HEALTHY_S
        while lacking := self.lacking():
            if time.monotonic() > deadline:
                raise ComposeTestFailed(f"not healthy after {HEALTHY_S} s: {_words(lacking)}")
            time.sleep(POLL_S)

    def down(self, *, volumes: bool) -> None:
        """Remove containers and network, and optionally the volumes."""
        self.compose("down", *(("--volumes",) if volumes else ()), timeout_s=DOWN_S)

    def how_to_remove(self) -> str:
        """Return the commands that remove what `down` did not remove."""
        label = f"--filter label=com.docker.compose.project={self.name}"
        lists = {"ps --all": "rm --force", "volume ls": "volume rm", "network ls": "network rm"}
        return "\n".join(
            f"  docker {listing} --quiet {label} | xargs -r docker {removal}" for listing, removal in lists.items()
        )

    def execute(self, service: str, *command: str, stdin: str | None = None) -> str:
        """Return what a command printed in a service's container."""
        return self.compose("exec", "-T", service, *command, stdin=stdin)

    def services(self) -> dict[str, bool]:
        """Return {service: whether it is a one-shot}, of the services without a profile and of the chosen profile.

        One-shot services are not restarted.
        """
        document = yaml.safe_load((self.folder / FILE).read_text())
        return {
            name: service["restart"] == "no"
            for name, service in document["services"].items()
            if {*service.get("profiles", ())} <= {self.variables.get(PROFILES)}
        }

    def images(self) -> dict[str, str]:
        """Return {image: the service that builds it}."""
        services = yaml.safe_load(self.compose("config"))["services"]
        return {service["image"]: name for name, service in services.items() if "build" in service}

    def lacking(self) -> dict[str, ServiceState]:
        """Return the services that are not healthy, and the one-shot services that did not succeed."""
        states = {name: self.state(name) for name in self.services()}
        return {name: state for name, state in states.items() if not state.is_done(one_shot=self.services()[name])}

    def state(self, service: str) -> ServiceState:
        """Return the state of a service's container; `missing` if there is none."""
        label = ("--filter", f"label=com.docker.compose.project={self.name}")
        which = ("--filter", f"label=com.docker.compose.service={service}")
        ids = self.engine.run("ps", "--all", "--quiet", *label, *which).split()
        if not ids:
            return ServiceState("missing", "", -1)
        state = json.loads(self.engine.run("inspect", "--format", "{{json .State}}", ids[0]))
        return ServiceState(state["Status"], state.get("Health", {}).get("Status", ""), state["ExitCode"])

    def tell_logs(self) -> None:
        """Print the end of the log of every unhealthy service."""
        for name, state in self.lacking().items():
            print(f"--- {name} is {state}; the end of its log:", flush=True)
            print(self.compose("logs", "--no-color", f"--tail={LOG_LINES}", name), flush=True)


def compose_command(docker: str) -> tuple[str, ...]:
    """Return `docker compose` (version 2) if it is installed, else `docker-compose`.

    Raises:
        NotPossibleHere: neither is installed.
    """
    try:
        run((docker, "compose", "version"), 30)
    except ComposeTestFailed as error:
        single = found("docker-compose")
        if single is None:
            raise NotPossibleHere(
                "Docker Compose is not installed. On Debian: apt-get install docker-compose"
            ) from error
        return (single,)
    return (docker, "compose")


def _words(states: Mapping[str, ServiceState]) -> str:
    return ", ".join(f"{name} ({state})" for name, state in states.items())
