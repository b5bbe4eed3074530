"""The texts of the errors that `icefloe.spark` raises, read from its source."""

from __future__ import annotations

import ast
from pathlib import Path

import icefloe.spark

PACKAGE = Path(icefloe.spark.__file__).parent


def raised_texts(rooms=(), *, without=()):
    """Yield the longest literal text of each error that the package raises, and the place of the statement.

    Args:
        rooms: Rooms and modules to read; all of the package if empty.
        without: Rooms and modules to leave out.
    """
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = {path.stem, *path.relative_to(PACKAGE).parts}
        if parts & set(without) or (rooms and not parts & set(rooms)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            texts = [
                part.value
                for argument in node.exc.args
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value.strip()
            ]
            if texts:
                yield max(texts, key=len), f"{path.relative_to(PACKAGE)}:{node.lineno}"


def texts_without_a_case(texts, errors, unreachable):
    """Return the raised texts that no error has, by place; those that begin with an unreachable text are left out."""
    messages = [str(error) for error in errors.values()]
    return {
        place: text
        for text, place in texts
        if not text.startswith(tuple(unreachable)) and not any(text in message for message in messages)
    }
