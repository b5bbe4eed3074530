"""Reader and writer of Thrift's compact protocol, for changes of single numbers in Parquet footers and page headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TRUE, FALSE, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 7, 8, 9, 12
INTEGERS = (4, 5, 6)


@dataclass
class Struct:
    """A struct: field ids mapped to pairs of Thrift type and value."""

    fields: dict[int, tuple[int, Any]]

    def __getitem__(self, field_id: int) -> Any:
        return self.fields[field_id][1]

    def __setitem__(self, field_id: int, value: Any) -> None:
        self.fields[field_id] = (self.fields[field_id][0], value)


@dataclass
class Elements:
    """A list and the Thrift type of its elements."""

    kind: int
    values: list[Any]

    def __getitem__(self, index: int) -> Any:
        return self.values[index]


def parse(data: bytes) -> tuple[Struct, int]:
    """Return the struct at the start of `data`, and its length in bytes."""
    return read_struct(data, 0)


def read_struct(data: bytes, at: int) -> tuple[Struct, int]:
    fields, last = {}, 0
    while data[at] != 0:
        delta, kind = data[at] >> 4, data[at] & 15
        at += 1
        if delta:
            last += delta
        else:
            last, at = read_integer(data, at)
        if kind in (TRUE, FALSE):
            value: Any = kind == TRUE
        else:
            value, at = read(data, at, kind)
        fields[last] = (kind, value)
    return Struct(fields), at + 1


def read(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in INTEGERS:
        return read_integer(data, at)
    if kind == DOUBLE:
        return data[at : at + 8], at + 8
    if kind == BINARY:
        size, at = read_varint(data, at)
        return data[at : at + size], at + size
    if kind == STRUCT:
        return read_struct(data, at)
    if kind == LIST:
        size, element = data[at] >> 4, data[at] & 15
        at += 1
        if size == 15:
            size, at = read_varint(data, at)
        values = []
        for _ in range(size):
            if element in (TRUE, FALSE):
                value, at = data[at], at + 1
            else:
                value, at = read(data, at, element)
            values.append(value)
        return Elements(element, values), at
    return data[at], at + 1


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def read_integer(data: bytes, at: int) -> tuple[int, int]:
    value, at = read_varint(data, at)
    return value >> 1 ^ -(value & 1), at


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def zigzag(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def encode(value: Any, kind: int = STRUCT) -> bytes:
    """Return the encoding of a value of a Thrift type, by default a struct."""
    if kind in INTEGERS:
        return zigzag(value)
    if kind == DOUBLE:
        return value
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        size = len(value.values)
        head = bytes([size << 4 | value.kind]) if size < 15 else bytes([15 << 4 | value.kind]) + varint(size)
        return head + b"".join(encode(element, value.kind) for element in value.values)
    if kind == STRUCT:
        out, last = b"", 0
        for field_id, (written_kind, field) in value.fields.items():
            is_boolean = written_kind in (TRUE, FALSE)
            field_kind = (TRUE if field else FALSE) if is_boolean else written_kind
            delta = field_id - last
            out += bytes([delta << 4 | field_kind]) if 0 < delta < 16 else bytes([field_kind]) + zigzag(field_id)
            out += b"" if is_boolean else encode(field, field_kind)
            last = field_id
        return out + b"\0"
    return bytes([value])
