"""The condition under which rows of a merge's source and of the table match: equal key columns, and any further terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.expressions import BooleanExpression
from icefloe.table.row_level.clause_sql.parsing import conjuncts, parse
from icefloe.table.row_level.join_keys import JoinKey, key_of_equality

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TypeAlias

    On: TypeAlias = str | BooleanExpression | pc.Expression | Sequence[Any] | Mapping[str, str]

_EXPECTED = "expected on=['id', ...], on={'id': 'source_id'} or SQL text such as 'target.id = source.id'"


@dataclass(frozen=True)
class JoinCondition:
    """The condition of a merge's join; all of its parts must be true for a pair of rows.

    Attributes:
        text: SQL text over `source` and `target`; None for a condition in another form.
        keys: Key columns by name.
        expressions: icefloe and pyarrow expressions over `source.<column>` and `target.<column>`.
        any_function: The text may have SQL functions that a merge in Python lacks.
    """

    text: str | None = None
    keys: tuple[JoinKey, ...] = ()
    expressions: tuple[BooleanExpression | pc.Expression, ...] = ()
    any_function: bool = False

    @staticmethod
    def of(on: On, *, any_function: bool = False) -> JoinCondition:
        """Return the condition of an argument `on`.

        Args:
            on: SQL text, an expression, a mapping of the table's names to the source's, or names and expressions.
            any_function: Accept SQL functions that a merge in Python lacks.

        Raises:
            ValidationError: `on` has another form or is empty, or the text is not an SQL expression.

        >>> JoinCondition.of("target.id = source.key").terms()
        ((JoinKey(target='id', source='key', null_safe=False, exact=False, cast=False),), ())
        """
        if isinstance(on, str) and on.strip():
            parse(on, any_function=any_function)
            return JoinCondition(text=on, any_function=any_function)
        if isinstance(on, (BooleanExpression, pc.Expression)):
            return JoinCondition(expressions=(on,))
        if isinstance(on, Mapping):
            parts: list[Any] = [JoinKey(target, source) for target, source in on.items()]
        elif isinstance(on, Sequence) and not isinstance(on, str | bytes):
            parts = [JoinKey(one, one) if isinstance(one, str) else one for one in on]
        else:
            raise ValidationError(f"merge: no key columns; {_EXPECTED}, got {on!r}")
        if not parts:
            raise ValidationError(f"merge: no key columns; {_EXPECTED}, got {on!r}")
        keys = tuple(one for one in parts if isinstance(one, JoinKey))
        others = tuple(one for one in parts if not isinstance(one, JoinKey))
        names = [name for key in keys for name in (key.target, key.source)]
        for wrong in (
            *(one for one in names if not isinstance(one, str)),
            *(one for one in others if not isinstance(one, (BooleanExpression, pc.Expression))),
        ):
            raise ValidationError(f"merge, on: expected names of columns and expressions, got {wrong!r}")
        repeated = next((name for name, count in Counter(key.target for key in keys).items() if count > 1), None)
        if repeated is not None:
            raise ValidationError(f"merge, on: expected each key column once, got {repeated!r} several times")
        return JoinCondition(keys=keys, expressions=others)

    def terms(self, names: Collection[str] = ()) -> tuple[tuple[JoinKey, ...], tuple[Any, ...]]:
        """Return the key columns, and the syntax trees of the other terms of the text.

        A column of the table is in one key at most: its other equalities are terms.

        Args:
            names: Full names of columns, as for `parse`.
        """
        if self.text is None:
            return self.keys, ()
        keys: dict[str, JoinKey] = {}
        others = []
        for part in conjuncts(parse(self.text, names, any_function=self.any_function)):
            key = key_of_equality(part)
            if key is None or key.target.lower() in keys:
                others.append(part)
            else:
                keys[key.target.lower()] = key
        return tuple(keys.values()), tuple(others)
