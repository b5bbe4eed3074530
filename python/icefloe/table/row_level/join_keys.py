"""The key columns that a merge joins on: names, pairs of names, or an SQL text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.table.row_level.clause_sql.parsing import conjuncts, parse, piece
from icefloe.table.row_level.clause_sql.scope import SIDES, named


@dataclass(frozen=True)
class JoinKey:
    """One key column of a join.

    Attributes:
        target: Name of the table's column.
        source: Name of the source's column.
        null_safe: Null equals null (`<=>`); null equals nothing otherwise.
        exact: Names must match in case.
    """

    target: str
    source: str
    null_safe: bool = False
    exact: bool = True


def join_keys(on: Sequence[str] | Mapping[str, str] | str) -> tuple[JoinKey, ...]:
    """Return the key columns of a merge.

    Args:
        on: Names that both sides have, a mapping of the table's name to the source's, or SQL text: equalities of a column of each
            side, with `=` or `<=>`, joined by `and`.

    Raises:
        ValidationError: There is no key, or the text is not a conjunction of equalities.
    """
    if isinstance(on, str):
        return tuple(_key(part, on) for part in conjuncts(parse(on)))
    keys = dict(on) if isinstance(on, Mapping) else {name: name for name in on}
    if not keys:
        raise ValidationError(f"merge: no key columns; expected on=['id', ...] or on={{'id': 'source_id'}}, got {on!r}")
    return tuple(JoinKey(target, source) for target, source in keys.items())


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


def _key(node: Any, text: str) -> JoinKey:
    if type(node).__name__ in {"EQ", "NullSafeEQ"}:
        sides = dict(filter(None, (_side(node.this), _side(node.expression))))
        if len(sides) == len(SIDES):
            return JoinKey(sides["target"], sides["source"], type(node).__name__ == "NullSafeEQ", exact=False)
    raise ValidationError(
        f"merge, on {text!r}: {piece(node)}: expected target.<column> = source.<column> or <=>, joined by `and`; put "
        "other terms into the conditions of clauses"
    )


def _side(node: Any) -> tuple[str, str] | None:
    """Return the side and the name of a column; None for anything else."""
    while type(node).__name__ == "Paren":
        node = node.this
    parts = [part.name for part in getattr(node, "parts", ())] if type(node).__name__ == "Column" else []
    if len(parts) != len(SIDES) or parts[0].lower() not in SIDES:
        return None
    return parts[0].lower(), parts[1]
