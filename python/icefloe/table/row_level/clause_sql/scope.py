"""The columns that a clause sees, and what a name in its text stands for."""

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
        uuids: Dotted names of columns and fields of structs that hold UUIDs, whose Arrow type may be 16 bytes.
    """

    schema: pa.Schema
    uuids: frozenset[str] = frozenset()

    def resolve(self, parts: Sequence[str]) -> Value:
        """Return the column of a dotted name, such as `source.a.b`. Case counts only where two names differ by it alone.

        Raises:
            ResolveError: No column has this name.
        """
        name = ".".join(parts)
        joined = self._quoted_whole(name) if len(parts) == 1 else None
        if joined is not None:
            return self._column(joined, ())
        side = parts[0].lower()
        if side not in SIDES or len(parts) == 1:
            raise ResolveError(self._unknown(name, name if len(parts) == 1 else None))
        names = [field[len(side) + 1 :] for field in self.schema.names if field.startswith(f"{side}.")]
        found = _match(parts[1], names)
        if found is not None:
            return self._column(f"{side}.{found}", parts[2:])
        dotted = _match(".".join(parts[1:]), names)
        if dotted is not None:
            return self._column(f"{side}.{dotted}", ())
        raise ResolveError(self._unknown(name, None))

    def _quoted_whole(self, name: str) -> str | None:
        return name if name in self.schema.names else None

    def _column(self, name: str, path: Sequence[str]) -> Value:
        kind, indices, full_name = self.schema.field(name).type, [], name
        for part in path:
            if not pa.types.is_struct(kind):
                raise ResolveError(f"{name}.{'.'.join(path)}: {part!r} is inside a {kind}, which has no named fields")
            fields = [kind.field(index).name for index in range(kind.num_fields)]
            found = _match(part, fields)
            if found is None:
                raise ResolveError(
                    f"{name}.{'.'.join(path)}: there is no field {part!r}; there are {', '.join(fields)}"
                )
            indices.append(fields.index(found))
            kind, full_name = kind.field(indices[-1]).type, f"{full_name}.{found}"
        own = kinds.UUID if full_name in self.uuids else kinds.canonical(kind)

        def evaluate(rows: pa.RecordBatch) -> pa.Array:
            column = rows.column(name)
            return kinds.plain(pc.struct_field(column, indices) if indices else column, own)

        return Value(own, evaluate, columns=frozenset([name]))

    def _unknown(self, name: str, alone: str | None) -> str:
        there = f"the columns are {', '.join(sorted(self.schema.names))}"
        if alone is None:
            return f"there is no column {name!r} here; {there}"
        sides = [side for side in SIDES if _match(f"{side}.{alone}", self.schema.names) is not None]
        if sides:
            return f"{name!r} names no side; write {' or '.join(f'{side}.{alone}' for side in sides)}"
        quoted = "'" + name.replace("'", "''") + "'"
        return f'there is no column {name!r} here; if this is a literal, quote it: "{quoted}"; {there}'


def _match(name: str, names: Sequence[str]) -> str | None:
    """Return the name that is equal, or the only one that is equal where case does not count."""
    if name in names:
        return name
    similar = [candidate for candidate in names if candidate.lower() == name.lower()]
    return similar[0] if len(similar) == 1 else None
