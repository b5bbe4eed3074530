"""Columns in the types of the table's columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.casting import can_cast, cast
from icefloe.table.row_level.nested_types import check_nested
from icefloe.types.arrow import without_views


def fitted(values: pa.ChunkedArray, field: pa.Field, label: str = "merge") -> pa.ChunkedArray:
    """Return a column in the type of a field.

    Raises:
        SchemaMismatchError: The types do not convert, or a value cannot be converted without loss.
    """
    if values.type == field.type:
        return values
    try:
        return _converted(decoded(values), field.type)
    except (ValidationError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SchemaMismatchError(
            f"{label}: a value does not fit column {field.name!r}; expected {field.type}, got {values.type} ({error}): "
            "cast the value"
        ) from error


def decoded(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without run-end encoding and without views of texts, which Arrow's kernels cannot take, cast or sort."""
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if pa.types.is_dictionary(values.type):
        plain = pa.dictionary(values.type.index_type, without_views(values.type.value_type), values.type.ordered)
        return (
            values
            if plain == values.type
            else pa.chunked_array([_dictionary(part, plain) for part in values.chunks], plain)
        )
    kind = without_views(values.type)
    return values if kind is values.type else values.cast(kind)


def without_dictionary(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column without dictionary encoding."""
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _dictionary(values: pa.DictionaryArray, kind: pa.DictionaryType) -> pa.DictionaryArray:
    dictionary = values.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(values.indices, dictionary, ordered=kind.ordered)


def _converted(values: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    """Return values in another type; as in SQL, but numbers and times of day are not cut off."""
    if pa.types.is_nested(values.type) or pa.types.is_nested(target):
        check_nested(values.type, target)
        return values.cast(target)
    source, kind = kinds.canonical(values.type), kinds.canonical(target)
    if source in (kind, pa.null()) or values.type == target:
        return values.cast(target)
    # A column of UUIDs is `fixed[16]` in storage: a text of 16 characters is none.
    if not can_cast(source, kind) or (pa.types.is_string(source) and target == kinds.UUID):
        raise ValidationError(f"{kinds.name_of(source)} does not convert to {kinds.name_of(kind)}")
    parts = [_lossless(kinds.plain(part, source), kind).cast(target) for part in values.chunks]
    return pa.chunked_array(parts, target)


def _lossless(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return values in another SQL type.

    Raises:
        ValidationError: The type has no such value.
        pyarrow.ArrowInvalid: A value is out of the type's range, or has digits that the type lacks.
    """
    source = values.type
    found = values.cast(kind) if _cuts_digits(source, kind) else cast(values, kind)
    if pa.types.is_floating(kind):
        kept = pc.or_(pc.is_finite(found), pc.invert(pc.is_finite(values))) if pa.types.is_floating(source) else None
    else:
        cuts = kind == pa.date32() or (kind == pa.bool_() and kinds.is_integer(source))
        kept = pc.equal(found.cast(source), values) if cuts and not pa.types.is_string(source) else None
    if kept is not None and pc.all(kept).as_py() is False:
        wrong = values.filter(pc.invert(kept))[0].as_py()
        raise ValidationError(f"{wrong} is no {kinds.name_of(kind)}")
    return found


def _cuts_digits(source: pa.DataType, kind: pa.DataType) -> bool:
    """Return whether SQL's cast of a number cuts or rounds digits, which Arrow's cast refuses."""
    if not (kinds.is_number(source) and kinds.is_number(kind)):
        return False
    if kinds.is_integer(source):
        return not pa.types.is_decimal(kind)
    return not (pa.types.is_decimal(source) and pa.types.is_floating(kind))
