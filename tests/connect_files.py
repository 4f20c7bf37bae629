"""A small valid migration file of engine `connect`."""

from __future__ import annotations

from tests.conftest import MIGRATION_TEXT

CONNECT_TEXT = MIGRATION_TEXT.replace(
    "  connection: mirror_host\n",
    "  engine: connect\n  connection: shop_connect\n  connect:\n    status_topic: connect-status\n",
)
