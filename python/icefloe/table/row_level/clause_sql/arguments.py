"""The arguments of functions of the SQL of conditions and values, as texts and as literals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.coercion import coerced
from icefloe.table.row_level.clause_sql.parsing import not_in_grammar, piece

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from icefloe.table.row_level.clause_sql.value import Value


class Arguments:
    """Bound arguments of functions.

    Args:
        bind: Returns the value of a syntax tree.
        names: Full names of the columns that a text may read, for messages.
    """

    def __init__(self, bind: Callable[[Any], Value], names: Sequence[str]) -> None:
        self.bind = bind
        self._names = names

    def text(self, node: Any) -> Value:
        """Return an argument that is a text or null.

        Raises:
            ValidationError: It has another type.
        """
        value = self.bind(node)
        if value.kind not in (pa.string(), pa.null()):
            raise ValidationError(
                f"{piece(node)}: expected a string, got {kinds.name_of(value.kind)}; cast it to string"
            )
        return coerced(value, pa.string())

    def constant_text(self, node: Any) -> str:
        """Return the text of an argument that is a literal; ValidationError if it is none."""
        value = self.bind(node)
        text = value.single().as_py() if value.constant else None
        if not isinstance(text, str):
            raise ValidationError(
                f"{piece(node)}: expected a literal string, got an expression, which is {self.not_in_grammar()}"
            )
        return text

    def constant_int(self, node: Any) -> int:
        """Return the number of an argument that is a literal of type int; ValidationError if it is none."""
        value = self.bind(node)
        number = value.single().as_py() if value.constant and value.kind == pa.int32() else None
        if number is None:
            raise ValidationError(
                f"{piece(node)}: expected a literal int, got an expression, which is {self.not_in_grammar()}"
            )
        return int(number)

    def not_in_grammar(self) -> str:
        """Return the words for a part of a text that the grammar lacks, with what to write instead."""
        return not_in_grammar(self._names)
