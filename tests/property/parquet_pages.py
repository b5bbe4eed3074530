"""Parquet files written page by page: each page has an encoding, a version and a framing of its own."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from tests.faults.thrift import Elements, Struct, encode, varint, zigzag
from tests.unit.scan_tables import field as table_field
from tests.unit.scan_tables import schema

TRUE, FALSE, INT32, INT64, BINARY, LIST, STRUCT = 1, 2, 5, 6, 8, 9, 12
BOOLEAN, INT, LONG, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = 0, 1, 2, 4, 5, 6, 7
PLAIN, PLAIN_DICTIONARY, RLE, DELTA, DELTA_LENGTHS, DELTA_BYTES, RLE_DICTIONARY, SPLIT = 0, 2, 3, 5, 6, 7, 8, 9
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
DICTIONARIES = (PLAIN_DICTIONARY, RLE_DICTIONARY)
CODECS = {0: None, 1: "snappy", 2: "gzip", 4: "brotli", 5: "hadoop", 6: "zstd", 7: "lz4_raw"}
WIDTHS = {INT: 4, LONG: 8, FLOAT: 4, DOUBLE: 8}
FORMATS = {INT: "<i", LONG: "<q", FLOAT: "<f", DOUBLE: "<d"}


@dataclass
class Kind:
    """A physical type with its annotation, the table's type, and random stored values with their meaning."""

    physical: int
    table: str
    stored: Callable[[Random], Any]
    value: Callable[[Any], Any] = lambda stored: stored
    width: int = 0
    annotation: dict[int, tuple[int, int]] = field(default_factory=dict)


def decimal(
    physical: int, width: int, precision: int, stored: Callable[[int], Any], back: Callable[[Any], int]
) -> Kind:
    most = 10**precision - 1
    return Kind(
        physical,
        f"decimal({precision}, 1)",
        lambda rng: stored(rng.choice([0, -1, most, -most, rng.randrange(-most, most)])),
        lambda value: Decimal(f"{back(value)}e-1"),
        width,
        {6: (INT32, 5), 7: (INT32, 1), 8: (INT32, precision)},
    )


def fixed_decimal(width: int) -> Kind:
    precision = min(38, int((8 * width - 1) * 0.30103))
    return decimal(FIXED, width, precision, lambda it: it.to_bytes(width, "big", signed=True), signed)


def signed(stored: bytes) -> int:
    return int.from_bytes(stored, "big", signed=True)


KINDS = [
    Kind(BOOLEAN, "boolean", lambda rng: rng.random() < 0.5),
    Kind(INT, "int", lambda rng: rng.choice([7, rng.randrange(-(2**31), 2**31)])),
    Kind(INT, "long", lambda rng: rng.randrange(-(2**31), 2**31)),
    Kind(LONG, "long", lambda rng: rng.choice([7, rng.randrange(-(2**63), 2**63)])),
    Kind(FLOAT, "float", lambda rng: rng.randrange(-99, 99) / 4),
    Kind(DOUBLE, "double", lambda rng: rng.random()),
    Kind(
        BYTE_ARRAY, "string", lambda rng: rng.choice(["", "a", "é", "x" * 60, str(rng.random())]).encode(), bytes.decode
    ),
    Kind(BYTE_ARRAY, "binary", lambda rng: rng.randbytes(rng.choice([0, 1, 33]))),
    Kind(FIXED, "fixed[5]", lambda rng: rng.randbytes(5), width=5),
    decimal(INT, 0, 9, int, int),
    decimal(LONG, 0, 18, int, int),
    *map(fixed_decimal, [1, 5, 9, 16]),
]
# Types that the decoder of the Parquet crate reads. It takes a page without values for the end of a column, and reads the
# frames of LZ4 of Hadoop only while they grow.
CRATE_KINDS = [
    decimal(BYTE_ARRAY, 0, 30, lambda it: it.to_bytes(13 + abs(it) % 5, "big", signed=True), signed),
    *map(fixed_decimal, [17, 24]),
]


def encodings(physical: int) -> list[int]:
    more = {
        BOOLEAN: [RLE],
        INT: [DELTA, SPLIT],
        LONG: [DELTA, SPLIT],
        FLOAT: [SPLIT],
        DOUBLE: [SPLIT],
        BYTE_ARRAY: [DELTA_LENGTHS, DELTA_BYTES],
        FIXED: [SPLIT, DELTA_BYTES],
    }
    return [PLAIN, *more[physical], *(DICTIONARIES if physical != BOOLEAN else ())]


def sized(data: bytes, byteorder: str = "little") -> bytes:
    return len(data).to_bytes(4, byteorder) + data


def packed(values: list[int], width: int, count: int) -> bytes:
    """Pack values of `width` bits, padded to `count` values."""
    bits = sum(value << index * width for index, value in enumerate(values))
    return bits.to_bytes(count * width // 8, "little")


def hybrid(rng: Random, values: list[int], width: int) -> bytes:
    """Encode values as runs of equal values and runs of packed values, cut at random."""
    out, at = b"", 0
    while at < len(values):
        equal = len(list(next(itertools.groupby(values[at:]))[1]))
        left = len(values) - at
        if equal >= rng.choice([1, 8, 20]):
            count = rng.choice([equal, rng.randint(1, equal)])
            out += varint(count << 1) + values[at].to_bytes((width + 7) // 8, "little")
        else:
            groups = min(rng.randint(1, 4), -(-left // 8))
            count = min(left, groups * 8)
            out += varint(groups << 1 | 1) + packed(values[at : at + count], width, groups * 8)
        at += count
    return out


def delta(rng: Random, values: list[int], bits: int) -> bytes:
    mask = (1 << bits) - 1

    def wrapped(value: int) -> int:
        return (value + (1 << bits - 1) & mask) - (1 << bits - 1)

    block, miniblocks = rng.choice([(128, 4), (128, 1), (256, 8), (1024, 4)])
    size = block // miniblocks
    out = varint(block) + varint(miniblocks) + varint(len(values)) + zigzag(values[0] if values else 0)
    steps = [wrapped(after - before) for before, after in itertools.pairwise(values)]
    for start in range(0, len(steps), block):
        least = min(steps[start : start + block])
        parts = [steps[at : at + size] for at in range(start, min(start + block, len(steps)), size)]
        over = [[step - least & mask for step in part] for part in parts]
        widths = [min(bits, max(part).bit_length() + rng.choice([0, 0, 2])) for part in over]
        # The widths of absent miniblocks may be any.
        out += zigzag(least) + bytes(widths + [rng.choice([0, 33])] * (miniblocks - len(parts)))
        out += b"".join(packed(part, width, size) for part, width in zip(over, widths, strict=True))
    return out


def plain(physical: int, values: list[Any]) -> bytes:
    if physical == BOOLEAN:
        return packed(list(map(int, values)), 1, -(-len(values) // 8) * 8)
    if physical in FORMATS:
        return b"".join(struct.pack(FORMATS[physical], value) for value in values)
    return b"".join(map(sized, values)) if physical == BYTE_ARRAY else b"".join(values)


def encoded(rng: Random, encoding: int, kind: Kind, values: list[Any], entries: list[Any]) -> bytes:
    if encoding in DICTIONARIES:
        keys = [entries.index(value) for value in values]
        width = max(keys, default=0).bit_length() + rng.choice([0, 0, 3])
        return bytes([width]) + hybrid(rng, keys, width)
    if encoding == RLE:
        return sized(hybrid(rng, list(map(int, values)), 1))
    if encoding == DELTA:
        return delta(rng, values, 32 if kind.physical == INT else 64)
    if encoding == DELTA_LENGTHS:
        return delta(rng, list(map(len, values)), 32) + b"".join(values)
    if encoding == DELTA_BYTES:
        pairs = itertools.pairwise([b"", *values])
        shared = [rng.randint(0, common(before, value)) for before, value in pairs]
        rest = [value[length:] for value, length in zip(values, shared, strict=True)]
        return delta(rng, shared, 32) + delta(rng, list(map(len, rest)), 32) + b"".join(rest)
    stored = plain(kind.physical, values)
    width = kind.width or WIDTHS.get(kind.physical, 1)
    return b"".join(stored[byte::width] for byte in range(width)) if encoding == SPLIT else stored


def common(left: bytes, right: bytes) -> int:
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))))


def compressed(rng: Random, codec: int, data: bytes, is_plain: bool) -> bytes:
    """Compress a page. GZIP, Zstandard and LZ4 of Hadoop may have several members or frames."""
    name = CODECS[codec]
    cut = rng.choice([0, len(data), len(data) // 3])
    if name == "hadoop":
        parts = [part for part in ([data] if is_plain else [data[:cut], data[cut:]]) if part]
        return b"".join(
            len(part).to_bytes(4, "big") + sized(pa.compress(part, "lz4_raw", asbytes=True), "big") for part in parts
        )
    if name in ("gzip", "zstd"):
        return b"".join(pa.compress(part, name, asbytes=True) for part in (data[:cut], data[cut:]))
    return data if name is None else pa.compress(data, name, asbytes=True)


def record(fields: dict[int, tuple[int, Any]]) -> Struct:
    return Struct(dict(sorted(fields.items())))


class Column:
    """A column of a file under construction, and its values as the table has them."""

    def __init__(self, rng: Random, number: int, has_crate_kinds: bool) -> None:
        self.rng, self.name = rng, f"c{number}"
        self.kind = rng.choice(CRATE_KINDS + KINDS if has_crate_kinds else KINDS)
        self.is_plain = has_crate_kinds
        self.field = table_field(number, self.name, self.kind.table)
        self.is_required = rng.random() < 0.2
        self.values: list[Any] = []

    def element(self) -> Struct:
        kind = self.kind
        width = {2: (INT32, kind.width)} if kind.physical == FIXED else {}
        named = {4: (BINARY, self.name.encode()), 9: (INT32, self.field["id"])}
        repetition = (INT32, REQUIRED if self.is_required else OPTIONAL)
        return record({1: (INT32, kind.physical), **width, 3: repetition, **named, **kind.annotation})

    def chunk(self, rows: int, offset: int) -> tuple[bytes, Struct]:
        """Return the pages of random rows, and their metadata."""
        rng, kind = self.rng, self.kind
        pool = [kind.stored(rng) for _ in range(rng.choice([1, 5, 60]))]
        nulls = 0.0 if self.is_required else rng.choice([0.0, 0.1, 0.6, 1.0])
        stored = [None if rng.random() < nulls else rng.choice([*pool, kind.stored(rng)]) for _ in range(rows)]
        self.values += [None if value is None else kind.value(value) for value in stored]

        codec = rng.choice(list(CODECS))
        used = rng.sample(encodings(kind.physical), rng.randint(1, 3 if kind.physical != BOOLEAN else 2))
        pages, at = [], 0
        while at < rows:
            count = rng.choice([1, 8, 50, 300] if self.is_plain else [0, 1, 8, 50, 300])
            pages.append((rng.choice(used), stored[at : at + count]))
            at += count
        of_dictionary = [value for encoding, page in pages if encoding in DICTIONARIES for value in page]
        entries = list(dict.fromkeys(value for value in of_dictionary if value is not None))
        has_dictionary = any(encoding in DICTIONARIES for encoding, _ in pages)
        body, size = b"", 0
        if has_dictionary:
            header = {
                7: (STRUCT, record({1: (INT32, len(entries)), 2: (INT32, rng.choice([PLAIN, PLAIN_DICTIONARY]))}))
            }
            page = self.page(DICTIONARY_PAGE, header, b"", plain(kind.physical, entries), codec)
            body, size = page[0], page[1]
        first = offset + len(body)
        for encoding, values in pages:
            page = self.data_page(encoding, values, entries, codec)
            body, size = body + page[0], size + page[1]
        metadata = {
            1: (INT32, kind.physical),
            2: (LIST, Elements(INT32, sorted({RLE, *(encoding for encoding, _ in pages)}))),
            3: (LIST, Elements(BINARY, [self.name.encode()])),
            4: (INT32, codec),
            5: (INT64, rows),
            6: (INT64, size),
            7: (INT64, len(body)),
            9: (INT64, first),
        }
        dictionary = offset if has_dictionary else rng.choice([None, 0])
        if dictionary is not None:
            metadata[11] = (INT64, dictionary)
        return body, record({2: (INT64, offset), 3: (STRUCT, record(metadata))})

    def data_page(self, encoding: int, values: list[Any], entries: list[Any], codec: int) -> tuple[bytes, int]:
        rng = self.rng
        present = [value for value in values if value is not None]
        levels = b"" if self.is_required else hybrid(rng, [int(value is not None) for value in values], 1)
        data = encoded(rng, encoding, self.kind, present, entries)
        long = {5: (STRUCT, record({1: (BINARY, b"z" * 500), 2: (BINARY, b"a")}))} if rng.random() < 0.1 else {}
        if rng.random() < 0.5:
            levels = b"" if self.is_required else sized(levels)
            header = {1: (INT32, len(values)), 2: (INT32, encoding), 3: (INT32, RLE), 4: (INT32, RLE), **long}
            return self.page(DATA_PAGE, {5: (STRUCT, record(header))}, b"", levels + data, codec)
        is_compressed = rng.random() < 0.8
        header = {
            1: (INT32, len(values)),
            2: (INT32, len(values) - len(present)),
            3: (INT32, len(values)),
            4: (INT32, encoding),
            5: (INT32, len(levels)),
            6: (INT32, 0),
        }
        if not is_compressed or rng.random() < 0.5:
            header[7] = (TRUE if is_compressed else FALSE, is_compressed)
        return self.page(DATA_PAGE_V2, {8: (STRUCT, record(header))}, levels, data, codec if is_compressed else 0)

    def page(self, kind: int, header: dict[int, Any], levels: bytes, data: bytes, codec: int) -> tuple[bytes, int]:
        """Return a page and its decompressed size."""
        stored = levels + compressed(self.rng, codec, data, self.is_plain)
        sizes = {1: (INT32, kind), 2: (INT32, len(levels) + len(data)), 3: (INT32, len(stored))}
        head = encode(record({**sizes, **header}))
        return head + stored, len(head) + len(levels) + len(data)


class PageFile:
    """A file of random columns, row groups and pages."""

    def __init__(self, seed: int, path: Path) -> None:
        self.rng = rng = Random(seed)
        has_crate_kinds = rng.random() < 0.2
        self.columns = [Column(rng, number, has_crate_kinds) for number in range(1, rng.choice([1, 2, 5]) + 1)]
        self.rows = 0
        out, groups = b"PAR1", []
        for _ in range(rng.choice([1, 2, 4])):
            rows, start, chunks = rng.choice([0, 1, 9, 100, 700]), len(out), []
            for column in self.columns:
                body, chunk = column.chunk(rows, len(out))
                out += body
                chunks.append(chunk)
            self.rows += rows
            sizes = {2: (INT64, len(out) - start), 3: (INT64, rows)}
            groups.append(record({1: (LIST, Elements(STRUCT, chunks)), **sizes}))
        root = record({4: (BINARY, b"schema"), 5: (INT32, len(self.columns))})
        elements = [root, *(column.element() for column in self.columns)]
        footer = encode(
            record(
                {
                    1: (INT32, rng.choice([1, 2])),
                    2: (LIST, Elements(STRUCT, elements)),
                    3: (INT64, self.rows),
                    4: (LIST, Elements(STRUCT, groups)),
                }
            )
        )
        path.write_bytes(out + footer + len(footer).to_bytes(4, "little") + b"PAR1")
        self.location = str(path)

    @property
    def schema(self) -> dict[str, Any]:
        return schema(*(column.field for column in self.columns))
