"""The *Report* link of a run; every process that parses a DAG file imports it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from airflow.sdk import BaseOperatorLink, conf

URL_PREFIX = "/kafka-migration"


class ReportLink(BaseOperatorLink):
    """The link from `finish` to the report of its run."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the URL; without `[api] base_url` it is relative to the server that shows the link."""
        return report_link(conf.get("api", "base_url", fallback="") or "", ti_key.dag_id, ti_key.run_id)


def report_link(base_url: str, dag_id: str, run_id: str) -> str:
    """Return the URL of the report of a run."""
    return f"{base_url.rstrip('/')}{URL_PREFIX}/report/{quote(dag_id, safe='')}/{quote(run_id, safe='')}"
