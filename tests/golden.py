"""Golden files: what a test produced, kept as text that a person can review.

`GOLDEN=write pytest …` writes the files again; review the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def assert_golden(path: Path, results: Mapping[str, str]) -> None:
    """Compare the results, one per case, with the file.

    :param results: by case, lines of text
    """
    text = "\n".join(f"## {case}\n{result}\n" for case, result in results.items())
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text().split("\n## ") == text.split("\n## ")
