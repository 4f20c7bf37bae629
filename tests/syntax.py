"""The syntax of source files. Many rules read all files of the package, so each process parses a file once.

A tree stays as it is, because every rule of the process reads the same one.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file, as `ast.walk` yields them."""
    return tuple(ast.walk(tree_of(path)))
