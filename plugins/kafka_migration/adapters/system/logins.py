"""The login of the operating system under which this process runs."""

from __future__ import annotations

import os
import pwd


def service_login() -> str:
    """Return the operating system login of Airflow; the user id if it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
