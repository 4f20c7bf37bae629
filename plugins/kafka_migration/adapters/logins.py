"""The login of the operating system under which this process runs."""

from __future__ import annotations

import os
import pwd


def service_login() -> str:
    """Return the login under which Airflow runs here; the user id where the system knows no name for it."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
