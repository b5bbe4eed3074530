"""Comparisons of two arrays of one type. NaN equals NaN and is above all numbers, -0.0 equals 0.0, null gives null."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether values are equal."""
    if left.type == pa.null():
        return pa.nulls(len(left), pa.bool_())
    found = pc.equal(left, right)
    return pc.or_(found, pc.and_(pc.is_nan(left), pc.is_nan(right))) if pa.types.is_floating(left.type) else found


def not_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether values differ."""
    return pc.invert(equal(left, right))


def less(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether each value on the left is below its counterpart on the right."""
    if left.type == pa.null():
        return pa.nulls(len(left), pa.bool_())
    found = pc.less(left, right)
    if not pa.types.is_floating(left.type):
        return found
    return pc.or_(found, pc.and_(pc.invert(pc.is_nan(left)), pc.is_nan(right)))


def greater(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether each value on the left is above its counterpart on the right."""
    return less(right, left)


def less_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether each value on the left is below or equal to its counterpart on the right."""
    return pc.invert(less(right, left))


def greater_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether each value on the left is above or equal to its counterpart on the right."""
    return pc.invert(less(left, right))


def null_safe_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return whether values are equal or both null; never null."""
    both = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(pc.fill_null(equal(left, right), False), both)


def is_nan(values: pa.Array) -> pa.Array:
    """Return whether values are NaN; null is not."""
    return pc.fill_null(pc.is_nan(values), False)


def is_member(values: pa.Array, members: pa.Array) -> pa.Array:
    """Return whether values are members; null for null, and where a member is null and no member is equal."""
    if values.type == pa.null():
        return pa.nulls(len(values), pa.bool_())
    has_null = members.null_count > 0
    valid = members.drop_null()
    if pa.types.is_floating(values.type):
        # Adding 0.0 turns -0.0 into 0.0.
        values, valid = pc.add(values, 0.0).cast(values.type), pc.add(valid, 0.0).cast(values.type)
    found = pc.is_in(values, value_set=valid)
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(valid)).as_py():
        found = pc.or_(found, pc.fill_null(pc.is_nan(values), False))
    unknown = pc.or_(pc.is_null(values), pc.and_(pc.invert(found), pa.scalar(has_null)))
    return pc.if_else(unknown, pa.scalar(None, pa.bool_()), found)


def least(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return the lower of two values; the other one where one is null."""
    return pc.if_else(_takes_right(left, less(right, left)), right, left)


def greatest(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return the higher of two values; the other one where one is null."""
    return pc.if_else(_takes_right(left, less(left, right)), right, left)


def _takes_right(left: pa.Array, is_better: pa.Array) -> pa.Array:
    return pc.or_(pc.is_null(left), pc.fill_null(is_better, False))
