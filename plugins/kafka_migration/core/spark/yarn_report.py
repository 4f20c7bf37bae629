"""What `spark-submit` says of an application on YARN: its state, why it waits, and YARN's page of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_APPLICATION = re.compile(r"\b(application_\d{1,20}_\d{1,10})\b")
_STATE = re.compile(r"Application report for \S{1,60} \(state: (\w{1,20})\)")
_FIELD = re.compile(r"\s*(diagnostics|queue|tracking URL): (.{1,500})")
_ERROR = re.compile(
    r"(?:Exception in thread \"main\" |Caused by: )?(?:[\w$]{1,60}\.){2,12}\w{0,60}(?:Exception|Error): (.{1,500})"
)
_ENDED = {"FINISHED", "FAILED", "KILLED"}


@dataclass(frozen=True, slots=True)
class YarnReport:
    """The newest that `spark-submit` has said of its application; empty texts are unknown."""

    application: str = ""
    state: str = ""
    queue: str = ""
    diagnostics: str = ""
    page: str = ""
    error: str = ""

    def heard(self, line: str) -> YarnReport:
        """Return the report after a line of `spark-submit`."""
        made = self
        if found := _APPLICATION.search(line):
            made = replace(made, application=found[1])
        if found := _STATE.search(line):
            made = replace(made, state=found[1])
        if found := _FIELD.fullmatch(line):
            name = {"tracking URL": "page"}.get(found[1], found[1])
            made = replace(made, **{name: "" if found[2] == "N/A" else found[2]})
        if found := _ERROR.match(line):
            made = replace(made, error=found[1])
        return made

    @property
    def may_run(self) -> bool:
        """Whether there is an application that has not ended as far as is known."""
        return bool(self.application) and self.state not in _ENDED

    @property
    def words(self) -> str:
        """The application with its state, its queue and why it waits."""
        where = f" in queue {self.queue}" if self.queue else ""
        why = f": {self.diagnostics}" if self.diagnostics else ""
        return f"{self.application} is {self.state or 'submitted'}{where}{why}"
