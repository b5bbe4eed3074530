"""Parquet files of random types, encodings, codecs and page sizes."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.unit.scan_tables import arrow_field, field, schema

EPOCH = dt.datetime(1970, 1, 1)
DAY = dt.date(1970, 1, 1)
# By Iceberg type: Arrow type, random value, and the encodings that pyarrow writes besides dictionaries and PLAIN.
KINDS: dict[str, tuple[pa.DataType, Any, list[str]]] = {
    "boolean": (pa.bool_(), lambda r: r.random() < 0.5, ["RLE"]),
    "int": (pa.int32(), lambda r: r.choice([r.randrange(9), r.randrange(-(2**31), 2**31)]), ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]),
    "long": (pa.int64(), lambda r: r.choice([r.randrange(9), r.randrange(-(2**63), 2**63)]), ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]),
    "float": (pa.float32(), lambda r: r.choice([-0.0, 0.25, math.inf, r.randrange(-99, 99) / 4]), ["BYTE_STREAM_SPLIT"]),
    "double": (pa.float64(), lambda r: r.choice([-0.0, -math.inf, r.random()]), ["BYTE_STREAM_SPLIT"]),
    "decimal(9, 2)": (pa.decimal128(9, 2), lambda r: Decimal(r.randrange(-(10**9) + 1, 10**9)).scaleb(-2), []),
    "decimal(15, 2)": (pa.decimal128(15, 2), lambda r: Decimal(r.randrange(-300, 10**15)).scaleb(-2), []),
    "decimal(38, 4)": (pa.decimal128(38, 4), lambda r: Decimal(r.randrange(-(10**30), 10**30)).scaleb(-4), ["BYTE_STREAM_SPLIT"]),
    "date": (pa.date32(), lambda r: DAY + dt.timedelta(days=r.randrange(-999, 9999)), ["DELTA_BINARY_PACKED"]),
    "time": (pa.time64("us"), lambda r: dt.time(r.randrange(24), 1, 2, r.randrange(10**6)), ["DELTA_BINARY_PACKED"]),
    "timestamp": (pa.timestamp("us"), lambda r: EPOCH + dt.timedelta(microseconds=r.randrange(-(10**15), 10**15)), ["DELTA_BINARY_PACKED"]),
    "string": (pa.string(), lambda r: r.choice(["", "a", "é", "sixteen letters!", f"{r.randrange(9**9)}" * r.randrange(1, 9)]), ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]),
    "binary": (pa.binary(), lambda r: r.randbytes(r.choice([0, 1, 4, 13, 40])), ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]),
    "fixed[5]": (pa.binary(5), lambda r: r.randbytes(5), ["BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"]),
    "uuid": (pa.binary(16), lambda r: r.randbytes(16), []),
}  # fmt: skip
CODECS = ["none", "snappy", "zstd", "gzip", "lz4", "brotli"]


class Layout:
    """A file of random columns and how it is written."""

    def __init__(self, seed: int, rows: list[int]) -> None:
        self.rng = rng = Random(seed)
        self.rows = rng.choice(rows)
        names = ["id", *(f"c{n}" for n in range(rng.choice([1, 4, 20])))]
        self.kinds = {name: "long" if name == "id" else rng.choice(sorted(KINDS)) for name in names}
        self.columns: dict[pa.Field, list[Any]] = {}
        encodings: dict[str, str] = {}
        dictionaries: list[str] = []
        for number, (name, kind) in enumerate(self.kinds.items(), start=1):
            arrow, value, others = KINDS[kind]
            required = rng.random() < 0.3
            self.columns[arrow_field(number, name, arrow, nullable=not required)] = self.values(value, required)
            if kind != "boolean" and rng.random() < 0.5:
                dictionaries.append(name)
            elif others and rng.random() < 0.7:
                encodings[name] = rng.choice(others)
            else:
                encodings[name] = "PLAIN"
        self.options = {
            "use_dictionary": dictionaries or False,
            "column_encoding": encodings or None,
            "compression": rng.choice(CODECS),
            "data_page_version": rng.choice(["1.0", "2.0"]),
            "data_page_size": rng.choice([100, 3_000, 1 << 20]),
            "write_batch_size": rng.choice([10, 1_000]),
            "dictionary_pagesize_limit": rng.choice([60, 5_000, 1 << 20]),
            "row_group_size": rng.choice([100, 3_000, 1 << 20]),
            "write_page_index": rng.random() < 0.5,
            "store_decimal_as_integer": rng.random() < 0.5,
        }

    def values(self, value: Any, required: bool) -> list[Any]:
        rng = self.rng
        pool = [value(rng) for _ in range(rng.choice([1, 5, 300, 9_000]))]
        nulls = 0.0 if required else rng.choice([0.0, 0.01, 0.5, 1.0])
        found: list[Any] = []
        while len(found) < self.rows:
            run = rng.choice([1, 1, 1, 40])
            found += [None if rng.random() < nulls else rng.choice(pool)] * run
        return found[: self.rows]

    @property
    def schema(self) -> dict[str, Any]:
        fields = [field(number, name, kind) for number, (name, kind) in enumerate(self.kinds.items(), start=1)]
        return schema(*fields)

    def write(self, path: Path) -> str:
        """Write the file and return its location."""
        arrays = [pa.array(values, column.type) for column, values in self.columns.items()]
        pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(list(self.columns))), path, **self.options)
        return str(path)

    def deleted(self) -> list[int]:
        """Positions: none, scattered, or in runs."""
        match self.rng.choice(["none", "scattered", "runs"]):
            case "none":
                return []
            case "scattered":
                return [row for row in range(self.rows) if self.rng.random() < 0.1]
            case _:
                return [row for row in range(self.rows) if row // 150 % 3 == 0]
