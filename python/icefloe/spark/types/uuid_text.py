"""UUIDs as text, which is their form in Spark, and back; both work on whole arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import SchemaMismatchError

_UUID_BYTES = 16
_TEXT_LENGTH = 36
_HYPHENS = (8, 13, 18, 23)
_DIGITS = np.array([index for index in range(_TEXT_LENGTH) if index not in _HYPHENS])
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
_NO_DIGIT = 255
_NIBBLES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_NIBBLES[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16, dtype=np.uint8)
_NIBBLES[np.frombuffer(b"ABCDEF", dtype=np.uint8)] = np.arange(10, 16, dtype=np.uint8)


def uuid_to_text(values: pa.Array) -> pa.Array:
    """Return fixed_size_binary[16] values as ``8-4-4-4-12`` hexadecimal text.

    Returns:
        string array of the same length, null where the input is null.
    """
    storage = values.storage if isinstance(values, pa.ExtensionArray) else values
    count = len(storage)
    packed = storage.fill_null(bytes(_UUID_BYTES)) if storage.null_count > 0 else storage
    raw = np.frombuffer(packed.buffers()[1], dtype=np.uint8)
    raw = raw[packed.offset * _UUID_BYTES : (packed.offset + count) * _UUID_BYTES].reshape(count, _UUID_BYTES)
    text = np.full((count, _TEXT_LENGTH), ord("-"), dtype=np.uint8)
    text[:, _DIGITS[0::2]] = _HEX[raw >> 4]
    text[:, _DIGITS[1::2]] = _HEX[raw & 15]
    offsets = np.arange(0, (count + 1) * _TEXT_LENGTH, _TEXT_LENGTH, dtype=np.int32)
    strings = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))
    return pc.if_else(storage.is_valid(), strings, pa.scalar(None, pa.string()))


def text_to_uuid(values: pa.Array, column: str) -> pa.Array:
    """Return ``8-4-4-4-12`` hexadecimal text as fixed_size_binary[16] values.

    Args:
        values: string array.
        column: Name of the column, for messages.

    Returns:
        fixed_size_binary[16] array of the same length, null where the input is null.

    Raises:
        SchemaMismatchError: A text is no UUID.
    """
    filled = values.cast(pa.string()).fill_null("00000000-0000-0000-0000-000000000000")
    wrong_length = pc.not_equal(pc.binary_length(filled), _TEXT_LENGTH)
    if len(filled) > 0 and pc.any(wrong_length).as_py():
        raise _not_a_uuid(column, filled.filter(wrong_length)[0].as_py())
    start = filled.offset
    offsets = np.frombuffer(filled.buffers()[1], dtype=np.int32)[start : start + len(filled) + 1]
    raw = (
        np.frombuffer(filled.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
        if len(filled) > 0
        else np.zeros(0, np.uint8)
    )
    text = raw.reshape(len(filled), _TEXT_LENGTH)
    nibbles = _NIBBLES[text[:, _DIGITS]]
    wrong = (nibbles == _NO_DIGIT).any(axis=1) | (text[:, _HYPHENS] != ord("-")).any(axis=1)
    if wrong.any():
        raise _not_a_uuid(column, filled[int(np.argmax(wrong))].as_py())
    packed = np.ascontiguousarray((nibbles[:, 0::2] << 4) | nibbles[:, 1::2])
    array = pa.FixedSizeBinaryArray.from_buffers(pa.binary(_UUID_BYTES), len(filled), [None, pa.py_buffer(packed)])
    return pc.if_else(values.is_valid(), array, pa.scalar(None, pa.binary(_UUID_BYTES)))


def _not_a_uuid(column: str, text: str) -> SchemaMismatchError:
    return SchemaMismatchError(
        f"column {column!r}: a value is no uuid; expected 36 characters such as f79c3e09-677c-4bbd-a479-3f349cb785e7, got {text!r}"
    )
