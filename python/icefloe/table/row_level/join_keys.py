"""The key columns that a merge joins on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.table.row_level.clause_sql.scope import SIDES, named

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class JoinKey:
    """One key column of a join.

    Attributes:
        target: Name of the table's column.
        source: Name of the source's column.
        null_safe: Null equals null (`<=>`); null equals nothing otherwise.
        exact: Names must match in case.
        cast: Compare in the type of the table's column, to which the source's values are cast.
    """

    target: str
    source: str
    null_safe: bool = False
    exact: bool = True
    cast: bool = False


def resolved_keys(keys: Sequence[JoinKey], source: pa.Schema, target: pa.Schema) -> tuple[JoinKey, ...]:
    """Return keys in the spelling of both schemas.

    Raises:
        ResolveError: A side has no such column.
        ValidationError: The source has several columns of a name, or a key is a struct, list or map.
    """
    for name in source.names:
        if source.names.count(name) > 1:
            raise ValidationError(f"merge: the source has several columns {name!r}; expected one: rename the others")
    for key in keys:
        index = target.get_field_index(key.target)
        if index >= 0 and pa.types.is_nested(target.field(index).type):
            raise ValidationError(
                f"merge: the key column {key.target!r} has type {target.field(index).type}; expected a primitive type: join on "
                "other columns"
            )
    return tuple(
        replace(
            key,
            target=_named("table", key.target, target, exact=key.exact),
            source=_named("source", key.source, source, exact=key.exact),
        )
        for key in keys
    )


def _named(side: str, name: str, schema: pa.Schema, *, exact: bool) -> str:
    found = named(name, schema.names) if not exact or name in schema.names else None
    if found is None:
        raise ResolveError(f"merge: the {side} has no key column {name!r}; expected one of {', '.join(schema.names)}")
    return found


def key_of_equality(node: Any) -> JoinKey | None:
    """Return the key that an equality of a column of each side is; None for any other syntax tree."""
    if type(node).__name__ in {"EQ", "NullSafeEQ"}:
        sides = dict(filter(None, (_side(node.this), _side(node.expression))))
        if len(sides) == len(SIDES):
            return JoinKey(sides["target"], sides["source"], type(node).__name__ == "NullSafeEQ", exact=False)
    return None


def _side(node: Any) -> tuple[str, str] | None:
    """Return the side and the name of a column; None for anything else."""
    while type(node).__name__ == "Paren":
        node = node.this
    parts = [part.name for part in getattr(node, "parts", ())] if type(node).__name__ == "Column" else []
    if len(parts) != len(SIDES) or parts[0].lower() not in SIDES:
        return None
    return parts[0].lower(), parts[1]
