"""`python -m kafka_migration`: the command line where the folders were copied and nothing was installed."""

from __future__ import annotations

import sys

from kafka_migration.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
