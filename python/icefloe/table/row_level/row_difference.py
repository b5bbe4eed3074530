"""Equality of two versions of a row in an upsert.

Null equals null and NaN equals NaN. -0.0 differs from 0.0, as in equality deletes and change scans, so that the table stores the
upserted value. Structs and lists compare value by value, maps entry by entry in order.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

_BITS = {pa.float16(): pa.int16(), pa.float32(): pa.int32(), pa.float64(): pa.int64()}


def rows_differ(left: Sequence[pa.Array], right: Sequence[pa.Array]) -> pa.Array:
    """Return whether rows differ in at least one column, as a boolean array without nulls."""
    same = [equal_values(first, second) for first, second in zip(left, right, strict=True)]
    return pc.invert(functools.reduce(pc.and_, same))


def equal_values(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether values of two arrays of one type are equal or both null, as a boolean array without nulls."""
    left, right = _storage(left), _storage(right)
    kind = left.type
    if pa.types.is_struct(kind):
        return _equal_structs(left, right)
    if pa.types.is_map(kind):
        return _where_both_valid(left, right, lambda a, b: _equal_lists(_entries(a), _entries(b)))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _where_both_valid(left, right, _equal_lists)
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    if kind == pa.null():
        return both_null
    if kind in _BITS:
        equal = pc.equal(left.view(_BITS[kind]), right.view(_BITS[kind]))
        equal = pc.or_(equal, pc.and_(pc.is_nan(left), pc.is_nan(right)))
    else:
        equal = pc.equal(left, right)
    return pc.or_(pc.fill_null(equal, False), both_null)


def _storage(values: pa.Array) -> pa.Array:
    return values.storage if isinstance(values, pa.ExtensionArray) else values


def _equal_structs(left: pa.Array, right: pa.Array) -> pa.Array:
    same = pc.equal(pc.is_null(left), pc.is_null(right))
    for first, second in zip(left.flatten(), right.flatten(), strict=True):
        same = pc.and_(same, equal_values(first, second))
    return same


def _where_both_valid(left: pa.Array, right: pa.Array, equal: object) -> pa.Array:
    """Return whether two values are both null, or both valid and equal."""
    assert callable(equal)
    both = pc.and_(pc.is_valid(left), pc.is_valid(right))
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    if not pc.any(both).as_py():
        return both_null
    return pc.replace_with_mask(both_null, both, equal(left.filter(both), right.filter(both)))


def _equal_lists(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether lists without nulls are equal."""
    aligned = pc.equal(pc.list_value_length(left), pc.list_value_length(right))
    left, right = left.filter(aligned), right.filter(aligned)
    differs = pc.invert(equal_values(pc.list_flatten(left), pc.list_flatten(right)))
    parents = pc.unique(pc.list_parent_indices(left).filter(differs))
    numbers = pa.array(range(len(left)), parents.type)
    return pc.replace_with_mask(aligned, aligned, pc.invert(pc.is_in(numbers, value_set=parents)))


def _entries(maps: pa.Array) -> pa.Array:
    """Return maps without nulls as lists of entries."""
    maps = pa.concat_arrays([maps])
    pairs = pa.StructArray.from_arrays([maps.keys, maps.items], ["key", "value"])
    return pa.ListArray.from_arrays(maps.offsets, pairs)
