"""Builders of schemas, and the write functions with everything that tests do not vary filled in."""

import datetime as dt
import decimal
import json
import struct
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe import _core

IO = _core.FileIo({})
UNPARTITIONED = {"spec-id": 0, "fields": []}


def field(field_id, name, type_, *, required=False):
    return {"id": field_id, "name": name, "required": required, "type": type_}


def schema_of(*fields):
    return {"type": "struct", "schema-id": 0, "fields": list(fields)}


def spec_of(*fields, spec_id=1):
    parts = [
        {"name": name, "transform": transform, "source-id": source, "field-id": 1000 + number}
        for number, (name, transform, source) in enumerate(fields)
    ]
    return {"spec-id": spec_id, "fields": parts}


def order_of(*fields):
    keys = [
        {"transform": transform, "source-id": source, "direction": direction, "null-order": nulls}
        for source, transform, direction, nulls in fields
    ]
    return {"order-id": 7, "fields": keys}


def write(location, data, schema, *, spec=UNPARTITIONED, order=None, presorted=False, **properties):
    properties = {name.replace("__", "."): value for name, value in properties.items()}
    batch = _core.write_data_files(
        IO,
        data,
        schema=json.dumps(schema),
        spec=json.dumps(spec),
        sort_order=None if order is None else json.dumps(order),
        table_location=str(location),
        properties={name.replace("_", "-"): value for name, value in properties.items()},
        operation_id="op",
        partition_id=3,
        task_id=11,
        presorted=presorted,
    )
    return batch.to_pylist()


def write_deletes(location, pairs, targets, *, specs=(UNPARTITIONED,), schema=None, path_type=None, **properties):
    data = pa.table(
        {
            "file_path": path_array([path for path, _ in pairs], path_type or pa.string()),
            "pos": pa.array([pos for _, pos in pairs], pa.int64()),
        }
    )
    paths, spec_ids, partitions = zip(*targets, strict=True)
    batch = _core.write_position_deletes(
        IO,
        data,
        targets=pa.table({"file_path": paths, "spec_id": pa.array(spec_ids, pa.int32()), "partition": partitions}),
        schema=json.dumps(schema or SOURCE),
        specs=json.dumps(list(specs)),
        table_location=str(location),
        properties={name.replace("__", ".").replace("_", "-"): value for name, value in properties.items()},
        operation_id="op",
        partition_id=0,
        task_id=1,
    )
    return batch.to_pylist()


def path_array(paths, path_type):
    """An array of paths; old versions of pyarrow make no dictionaries of large strings from Python values."""
    if not pa.types.is_dictionary(path_type):
        return pa.array(paths, path_type)
    found = sorted({path for path in paths if path is not None})
    keys = [None if path is None else found.index(path) for path in paths]
    return pa.DictionaryArray.from_arrays(pa.array(keys, path_type.index_type), pa.array(found, path_type.value_type))


def read(files):
    return pa.concat_tables(pq.ParquetFile(file["file_path"]).read() for file in files)


def leaves(location):
    return [path for path in Path(location).rglob("*") if path.is_file()]


def field_ids(parquet_file):
    """Ids by dotted path, of columns and of every node above them, from the Arrow schema."""

    def walk(fields, prefix):
        for one in fields:
            path = (*prefix, one.name)
            metadata = one.metadata or {}
            if b"PARQUET:field_id" in metadata:
                yield ".".join(path), int(metadata[b"PARQUET:field_id"])
            if pa.types.is_map(one.type):
                yield from walk([one.type.key_field, one.type.item_field], path)
            elif pa.types.is_list(one.type):
                yield from walk([one.type.value_field], path)
            elif pa.types.is_struct(one.type):
                yield from walk(list(one.type), path)

    return dict(walk(parquet_file.schema_arrow, ()))


EVERY_TYPE = schema_of(
    field(1, "flag", "boolean"),
    field(2, "small", "int", required=True),
    field(3, "big", "long"),
    field(4, "single", "float"),
    field(5, "double", "double"),
    field(6, "dec9", "decimal(9, 2)"),
    field(7, "dec18", "decimal(18, 3)"),
    field(8, "dec38", "decimal(38, 10)"),
    field(9, "day", "date"),
    field(10, "clock", "time"),
    field(11, "local", "timestamp"),
    field(12, "instant", "timestamptz"),
    field(13, "text", "string"),
    field(14, "uid", "uuid"),
    field(15, "four", "fixed[4]"),
    field(16, "bytes", "binary"),
    field(17, "list", {"type": "list", "element-id": 18, "element-required": True, "element": "string"}),
    field(
        19,
        "map",
        {"type": "map", "key-id": 20, "key": "string", "value-id": 21, "value-required": False, "value": "long"},
    ),
    field(
        22,
        "point",
        {"type": "struct", "fields": [field(23, "x", "double", required=True), field(24, "tag", "string")]},
    ),
)


def every_type_table(rows=50):
    def some(make):
        return [None if row % 7 == 3 else make(row) for row in range(rows)]

    utc = dt.timezone.utc
    return pa.table(
        {
            "flag": pa.array(some(lambda row: row % 2 == 0)),
            "small": pa.array(range(rows), pa.int32()),
            "big": pa.array(some(lambda row: row * 10**12), pa.int64()),
            "single": pa.array(some(lambda row: row / 4), pa.float32()),
            "double": pa.array(some(lambda row: -row / 8), pa.float64()),
            "dec9": pa.array(some(lambda row: decimal.Decimal(row - 20).scaleb(-2)), pa.decimal128(9, 2)),
            "dec18": pa.array(some(lambda row: decimal.Decimal(row * 10**9).scaleb(-3)), pa.decimal128(18, 3)),
            "dec38": pa.array(some(lambda row: decimal.Decimal(-row * 10**20).scaleb(-10)), pa.decimal128(38, 10)),
            "day": pa.array(some(lambda row: dt.date(1960, 1, 1) + dt.timedelta(days=row * 300)), pa.date32()),
            "clock": pa.array(some(lambda row: dt.time(row % 24, 5, 6, row)), pa.time64("us")),
            "local": pa.array(some(lambda row: dt.datetime(1969, 12, 31, 23) + dt.timedelta(hours=row))),
            "instant": pa.array(
                some(lambda row: dt.datetime(2020, 1, 1, row % 24, tzinfo=utc)), pa.timestamp("us", "UTC")
            ),
            "text": pa.array(some(lambda row: f"text number {row:020}")),
            "uid": pa.array(some(lambda row: uuid.UUID(int=row << 120 | 5).bytes), pa.binary(16)),
            "four": pa.array(some(lambda row: struct.pack(">I", row << 24)), pa.binary(4)),
            "bytes": pa.array(some(lambda row: bytes([row]) * 20), pa.binary()),
            "list": pa.array(some(lambda row: [str(item) for item in range(row % 4)])),
            "map": pa.array(
                some(lambda row: [(f"k{row}", None if row % 2 else row)]), pa.map_(pa.string(), pa.int64())
            ),
            "point": pa.array(
                some(lambda row: {"x": row / 2, "tag": None if row % 3 else "t"}),
                pa.struct([pa.field("x", pa.float64()), pa.field("tag", pa.string())]),
            ),
        }
    )


SOURCE = schema_of(
    field(1, "id", "long", required=True),
    field(2, "name", "string"),
    field(3, "at", "timestamptz"),
    field(4, "amount", "decimal(9, 2)"),
    field(5, "ratio", "double"),
    field(6, "inner", {"type": "struct", "fields": [field(7, "code", "int")]}),
)


def source_table(rows=1000):
    start = dt.datetime(2019, 12, 31, 22, tzinfo=dt.timezone.utc)
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "name": [None if row % 11 == 0 else f"{'abc'[row % 3]}{row % 5} /é" for row in range(rows)],
            "at": pa.array([start + dt.timedelta(minutes=row * 37) for row in range(rows)], pa.timestamp("us", "UTC")),
            "amount": pa.array([decimal.Decimal(row % 9).scaleb(-2) for row in range(rows)], pa.decimal128(9, 2)),
            "ratio": [(-1) ** row * 0.5 for row in range(rows)],
            "inner": pa.array(
                [None if row % 4 == 0 else {"code": row % 3} for row in range(rows)], pa.struct([("code", pa.int32())])
            ),
        }
    )
