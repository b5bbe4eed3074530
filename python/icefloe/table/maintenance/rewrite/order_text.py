"""Sort orders and curves as text: `a DESC NULLS LAST, bucket(4, b)`, `zorder(a, b)` and `hilbert(a, b)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from icefloe.transforms import IdentityTransform, Transform
from icefloe.transforms.parsing import parse_transform

if TYPE_CHECKING:
    from icefloe.schema import Schema

_QUOTED = re.compile(r'`((?:[^`]|``)+)`|"((?:[^"]|"")+)"')
# Characters for private use, which no name has: they stand around the number of a quoted name.
_FIRST, _LAST = "\ue000", "\ue001"
_STAND_IN = re.compile(f"{_FIRST}(\\d+){_LAST}")
_CURVE = re.compile(r"\s*(zorder|hilbert)\s*\(([^()]*)\)\s*", re.IGNORECASE)
_CURVE_KEY = re.compile(r"\s*(zorder|hilbert)\s*\(", re.IGNORECASE)
_KEY = re.compile(
    r"\s*(?P<term>\S.*?)(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_TRANSFORM = re.compile(r"(?P<name>\w+)\s*\((?P<arguments>[^()]*)\)")
_COMMA = re.compile(r",(?![^()]*\))")


class OrderText:
    """The text of a sort order or a curve; names with special characters are in backquotes or double quotes.

    Args:
        text: The text.
        verb: The verb that errors name.
    """

    def __init__(self, text: str, verb: str) -> None:
        self._verb = verb
        self._names: list[str] = []
        self._text = _QUOTED.sub(self._stand_in, text)

    def curve(self) -> tuple[str, list[str]] | None:
        """Return the strategy and the columns of a curve, None for a sort order."""
        found = _CURVE.fullmatch(self._text)
        return None if found is None else (found[1].lower(), [self._name(one) for one in found[2].split(",")])

    def sort_order(self, schema: Schema) -> SortOrder:
        """Return the sort order, with id 0.

        Raises:
            ValidationError: The text is of another form.
            ResolveError: A column does not exist.
        """
        return SortOrder(*(self._sort_field(key, schema) for key in _COMMA.split(self._text)), order_id=0)

    def _sort_field(self, text: str, schema: Schema) -> SortField:
        key = _KEY.fullmatch(text)
        if key is None:
            raise ValidationError(
                f"{self._verb}: sort order: expected keys such as 'a DESC NULLS LAST, b', got {self._name(text)!r}"
            )
        if _CURVE_KEY.match(text):
            raise ValidationError(
                f"{self._verb}: sort order: expected one zorder(...) or hilbert(...) of columns and no other key, "
                f"got {self._name(self._text)!r}"
            )
        name, transform = self._term(key["term"])
        descending = (key["direction"] or "asc").lower() == "desc"
        nulls = (key["nulls"] or ("last" if descending else "first")).lower()
        return SortField(
            schema.find_field(name).field_id,
            transform,
            SortDirection.DESC if descending else SortDirection.ASC,
            NullOrder.NULLS_FIRST if nulls == "first" else NullOrder.NULLS_LAST,
        )

    def _term(self, text: str) -> tuple[str, Transform]:
        """Return the column and the transform of a key; the parameter is before or behind the column."""
        call = _TRANSFORM.fullmatch(text)
        if call is None:
            return self._name(text), IdentityTransform()
        *parameters, column = (part.strip() for part in call["arguments"].split(","))
        if len(parameters) == 1 and column.isdecimal() and not parameters[0].isdecimal():
            parameters, column = [column], parameters[0]
        kind = call["name"].lower().rstrip("s")
        return self._name(column), parse_transform(f"{kind}[{', '.join(parameters)}]" if parameters else kind)

    def _stand_in(self, quoted: re.Match[str]) -> str:
        backquoted = quoted[1] is not None
        self._names.append(quoted[1].replace("``", "`") if backquoted else quoted[2].replace('""', '"'))
        return f"{_FIRST}{len(self._names) - 1}{_LAST}"

    def _name(self, text: str) -> str:
        return _STAND_IN.sub(lambda number: self._names[int(number[1])], text.strip())
