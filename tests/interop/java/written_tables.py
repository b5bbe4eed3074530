"""Tables whose first files icefloe writes, in every format; Java reads them, adds rows and deletes rows."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.schema import Schema
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from tests.interop.java.case import MERGE_ON_READ, Case

WRITTEN_FORMATS = ("parquet", "avro", "orc")
INNER = StructType(NestedField(21, "x", IntegerType()), NestedField(22, "the y", StringType()))
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "flag", BooleanType()),
    NestedField(3, "i", IntegerType()),
    NestedField(4, "f", FloatType()),
    NestedField(5, "d", DoubleType()),
    NestedField(6, "small", DecimalType(9, 2)),
    NestedField(7, "large", DecimalType(30, 3)),
    NestedField(8, "day", DateType()),
    NestedField(9, "at", TimestampType()),
    NestedField(10, "instant", TimestamptzType()),
    NestedField(11, "9 te-xt", StringType()),
    NestedField(12, "u", UUIDType()),
    NestedField(13, "fix", FixedType(3)),
    NestedField(14, "bytes", BinaryType()),
    NestedField(15, "st", INNER),
    NestedField(16, "list", ListType(23, IntegerType(), element_required=False)),
    NestedField(17, "map", MapType(24, StringType(), 25, DoubleType(), value_required=False)),
    NestedField(18, "ints", MapType(26, IntegerType(), 27, StringType(), value_required=False)),
    NestedField(19, "structs", ListType(28, StructType(NestedField(29, "z", LongType())), element_required=False)),
    NestedField(20, "other", UUIDType()),
)
FILTERS = ("id >= 5", "small = 3.25", "day < '1970-01-01'", "st.x = 4", "flag is null", "i in (3, 40)")


def row(n: int) -> dict[str, Any]:
    """Return a row in which every column is null for one of ten ids."""
    values: dict[str, Any] = {
        "flag": n % 2 == 0,
        "i": n * (-1) ** n,
        "f": n / 4,
        "d": -n / 3,
        "small": Decimal(n) + Decimal("0.25"),
        "large": Decimal(-n) * Decimal("1000000000000000.001"),
        "day": dt.date(1969, 12, 25) + dt.timedelta(days=n),
        "at": dt.datetime(1969, 12, 31, 23, 59, 55, 123456) + dt.timedelta(seconds=n),
        "instant": dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(microseconds=n),
        "9 te-xt": "é" * n,
        "u": uuid.UUID(int=n << 64),
        "fix": bytes([n, 255 - n, 0]),
        "bytes": bytes(range(n)),
        "st": {"x": n, "the y": None if n % 3 == 0 else f"y{n}"},
        "list": [n, None][: n % 3],
        "map": [("a", float(n)), ("b", None)][: n % 3],
        "ints": [(-1, "minus"), (n, None)][: n % 3],
        "structs": [{"z": n}, None, {"z": None}][: n % 4],
        "other": uuid.UUID(int=n),
    }
    missing = list(values)[n % len(values)]
    return {"id": n, **values, missing: None}


def rows(first: int, last: int, file_format: str) -> pa.Table:
    """Return the rows of ids from `first` to before `last`; ORC refuses timestamps before 1970 with a fraction of a second."""
    found = [row(n) for n in range(first, last)]
    for each in found:
        if file_format == "orc" and each["at"] is not None:
            each["at"] = each["at"].replace(microsecond=0 if each["id"] < 5 else 123456)
    return pa.Table.from_pylist(found, schema=SCHEMA.as_arrow())


def written(file_format: str, **properties: str) -> Any:
    """Return a step that creates and fills a table, and deletes two of its rows by position."""

    def step(writer: Any, table: str) -> None:
        catalog = HadoopCatalog("java", warehouse=str(writer.folder / "warehouse"))
        catalog.create_namespace_if_not_exists("db")
        name = table.removeprefix("java.")
        found = catalog.create_table(
            name, SCHEMA, properties={**MERGE_ON_READ, "write.format.default": file_format, **properties}
        )
        found.append(rows(0, 20, file_format))
        found.append(rows(20, 25, file_format))
        found.delete("id in (7, 21)")

    return step


KEYS = (
    ("i",),
    ("flag", "day"),
    ("small",),
    ("large",),
    ("at",),
    ("instant",),
    ("9 te-xt",),
    ("fix",),
    ("bytes",),
    ("st.x",),
    ("id", "st.the y"),
)


def keyed(file_format: str) -> Any:
    """Return a step that creates and fills a table, and deletes one row by the key of each of `KEYS`, its null values included."""

    def step(writer: Any, table: str) -> None:
        written(file_format)(writer, table)
        catalog = HadoopCatalog("java", warehouse=str(writer.folder / "warehouse"))
        found = catalog.load_table(table.removeprefix("java."))
        for number, names in enumerate(KEYS):
            ids = [SCHEMA.find_field(name).field_id for name in names]
            row = rows(number, number + 1, file_format)
            delta = found.new_row_delta()
            for file in write_equality_deletes(found.io, found.metadata, row, ids):
                delta.add_deletes(file)
            delta.commit()
        found.append(rows(3, 6, file_format))

    return step


def cases() -> list[Case]:
    found = []
    for file_format in WRITTEN_FORMATS:
        found.append(Case(f"keys_written_in_{file_format}", (keyed(file_format),), FILTERS, history=True))
        steps = (
            written(file_format),
            "DELETE FROM {t} WHERE id = 9",
            "INSERT INTO {t} SELECT * FROM {t} WHERE id < 3",
        )
        found.append(Case(f"written_in_{file_format}", steps, FILTERS, history=True))
    zstd = written("avro", **{"write.avro.compression-codec": "zstd", "write.delete.format.default": "parquet"})
    found.append(Case("written_in_avro_with_zstd", (zstd,), FILTERS))
    return found
