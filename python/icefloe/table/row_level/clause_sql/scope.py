"""The columns that a clause may read, and the resolution of names in its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ResolveError
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

SIDES = ("source", "target")


@dataclass(frozen=True)
class Scope:
    """The columns of joined rows.

    Attributes:
        schema: Fields `source.<column>` and `target.<column>`.
        uuids: Dotted names of UUID columns and struct fields, whose Arrow type may be fixed_size_binary[16].
        default_side: The side of names without a side; None where names need one.
    """

    schema: pa.Schema
    uuids: frozenset[str] = frozenset()
    default_side: str | None = None

    def resolve(self, parts: Sequence[str]) -> Value:
        """Return the column of a dotted name, such as `source.a.b`. Case is ignored unless two names differ in case alone.

        Raises:
            ResolveError: No column has this name.
        """
        return self._column(*self.located(parts))

    def located(self, parts: Sequence[str]) -> tuple[str, Sequence[str]]:
        """Return the full name of the column of a dotted name, and the names of fields within the column.

        Raises:
            ResolveError: No column has this name.
        """
        name = ".".join(parts)
        joined = self._full_name(name) if len(parts) == 1 else None
        if joined is not None:
            return joined, ()
        unqualified = name if len(parts) == 1 else None
        if self.default_side is not None and (unqualified is not None or not self._has_side(parts[0])):
            parts = [self.default_side, *parts]
        side = parts[0].lower()
        if side not in SIDES or len(parts) == 1:
            raise ResolveError(self._unknown(name, unqualified))
        names = [field[len(side) + 1 :] for field in self.schema.names if field.startswith(f"{side}.")]
        found = named(parts[1], names)
        if found is not None:
            return f"{side}.{found}", parts[2:]
        dotted = named(".".join(parts[1:]), names)
        if dotted is not None:
            return f"{side}.{dotted}", ()
        raise ResolveError(self._unknown(name, None if self.default_side is None else unqualified))

    def _has_side(self, part: str) -> bool:
        return any(name.startswith(f"{part.lower()}.") for name in self.schema.names)

    def _full_name(self, name: str) -> str | None:
        return name if name in self.schema.names else None

    def _column(self, name: str, path: Sequence[str]) -> Value:
        kind, indices, full_name = self.schema.field(name).type, [], name
        for part in path:
            if not pa.types.is_struct(kind):
                raise ResolveError(
                    f"{name}.{'.'.join(path)}: expected a struct around {part!r}, got {kind}, which has no named fields"
                )
            fields = [kind.field(index).name for index in range(kind.num_fields)]
            found = named(part, fields)
            if found is None:
                raise ResolveError(
                    f"{name}.{'.'.join(path)}: there is no field {part!r}; expected one of {', '.join(fields)}"
                )
            indices.append(fields.index(found))
            kind, full_name = kind.field(indices[-1]).type, f"{full_name}.{found}"
        own = kinds.UUID if full_name in self.uuids else kinds.canonical(kind)

        def evaluate(rows: pa.RecordBatch) -> pa.Array:
            column = rows.column(name)
            return kinds.plain(pc.struct_field(column, indices) if indices else column, own)

        return Value(own, evaluate, columns=frozenset([name]))

    def _unknown(self, name: str, unqualified: str | None) -> str:
        known = f"expected one of {', '.join(sorted(self.schema.names))}"
        if unqualified is None:
            return f"there is no column {name!r} here; {known}"
        sides = [side for side in SIDES if named(f"{side}.{unqualified}", self.schema.names) is not None]
        if sides:
            return f"{name!r}: expected a side in front of the column; write {' or '.join(f'{side}.{unqualified}' for side in sides)}"
        quoted = "'" + name.replace("'", "''") + "'"
        return f'there is no column {name!r} here; if this is a literal, quote it: "{quoted}"; {known}'


def named(name: str, names: Sequence[str]) -> str | None:
    """Return the equal name, or the only name that is equal ignoring case; None if there is none."""
    if name in names:
        return name
    similar = [candidate for candidate in names if candidate.lower() == name.lower()]
    return similar[0] if len(similar) == 1 else None
