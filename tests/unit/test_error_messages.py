"""Every error that the values of the format raise says what is expected or what to do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import icefloe
import pytest

PACKAGE = Path(icefloe.__file__).parent
ROOMS = ("conversions", "expressions", "io", "manifest", "schema", "transforms", "types")
SOURCES = [*(path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))), PACKAGE / "partitioning.py"]
# Words that say what is expected or what to do.
ADVICE = re.compile(
    r"expected|must |use `?[iI]s|pass |cast |choose |rename |split |bind |upgrade |needs |filter by |select its |give each "
    r"|match case|ids are|names are|near_misses|partition\(|nested more than|select |remove |add one |explain\(|\{what\}|cannot set|serialize |\{error\}|\{problem\}"
)


def raised_messages(path: Path) -> list[str]:
    """Return the arguments of the exceptions that a module raises, as source; messages without text are left out."""
    raised = [node.exc for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Raise)]
    calls = [call for call in raised if isinstance(call, ast.Call) and len(call.args) > 0]
    messages = [ast.unparse(call.args[0]) for call in calls if not isinstance(call.func, ast.Attribute)]
    return [message for message in messages if "'" in message or '"' in message]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_raised_message_says_what_is_expected_or_what_to_do(path: Path) -> None:
    assert [message for message in raised_messages(path) if ADVICE.search(message) is None] == []
