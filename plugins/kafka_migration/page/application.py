"""The web application of the plugin. Every Airflow component loads it, so a request imports its routes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any


async def page_app(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Serve the pages (ASGI)."""
    await _application()(scope, receive, send)


@cache
def _application() -> Any:
    from kafka_migration.page.routes import application

    return application()
