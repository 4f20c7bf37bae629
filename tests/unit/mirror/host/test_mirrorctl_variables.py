"""mirrorctl's variables: POSIX sh has no local ones, so no function may change one that its caller still needs."""

from __future__ import annotations

import re

import pytest

from kafka_migration.adapters.host.mirrorctl_host import mirrorctl_text
from tests.shell_variables import Script

MIRRORCTL = mirrorctl_text()
VERBS = ("reserve", "release", "start", "renew", "stop", "logs", "clean", "fingerprint", "probe", "supervise", "watch")
CLOBBERED = """\
# Set `found`.
helper() {
    found=1
    wanted=$found
}

caller() {
    wanted=$1
    helper
    echo "$found $wanted"
}
"""


@pytest.fixture(scope="module")
def script() -> Script:
    """The functions of mirrorctl."""
    return Script(MIRRORCTL)


def test_no_function_changes_what_its_caller_needs(script: Script) -> None:
    """What a function reads after a call was not changed by that call, unless the called function's comment says so."""
    assert set() == script.silent_changes()


def test_arguments_keep_their_values(script: Script) -> None:
    """No verb, and no function that it calls, assigns an argument of the call."""
    arguments = script.functions["main"].assigned
    changed = {verb: arguments & script.changed_below(verb) for verb in VERBS}

    assert {"migration", "generation", "lease_s", "grace_s", "lines", "keep"} <= arguments
    assert {verb: set() for verb in VERBS} == changed


def test_environment_sets_no_variable(script: Script) -> None:
    """Each variable that may be read before it is assigned is unset first, so that the environment cannot set it."""
    unset = re.search(r"^unset (.*)$", MIRRORCTL, re.MULTILINE)
    assert unset is not None

    assert script.needed("main") | script.needed("forced") <= set(unset[1].split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CLOBBERED, {("caller", "wanted", "helper")}),
        (CLOBBERED.replace("`found`", "`found` and `wanted`"), set()),
        (CLOBBERED.replace("    helper\n", "    (helper)\n"), set()),
        (CLOBBERED.replace("    helper\n", "    x=$(helper)\n"), set()),
        (CLOBBERED.replace("    helper\n", "    helper &\n"), set()),
        (CLOBBERED.replace("    wanted=$found\n", '    eval "wanted=\\$found"\n'), {("caller", "wanted", "helper")}),
        (CLOBBERED.replace("    wanted=$found\n", "    read -r wanted <x\n"), {("caller", "wanted", "helper")}),
        (
            CLOBBERED.replace("    wanted=$found\n", "    for wanted in x; do :; done\n"),
            {("caller", "wanted", "helper")},
        ),
        (CLOBBERED.replace("    wanted=$found\n", "    exit 1\n"), set()),
    ],
    ids=["silent", "said", "subshell", "substitution", "background", "eval", "read", "for", "no return"],
)
def test_silent_change_is_found(text: str, found: set[tuple[str, str, str]]) -> None:
    """The rule finds a variable that a called function changes, and only that."""
    assert found == Script(text).silent_changes()
