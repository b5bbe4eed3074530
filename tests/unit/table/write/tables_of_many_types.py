"""Tables with rows of many types, and the layout of their files."""

from __future__ import annotations

import string
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe import _core
from icefloe.table.read_context import schema_json, spec_json
from icefloe.table.write.file_writer import FileWriter

NAN = float("nan")
METRICS = ["record_count", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"]


def texts(rng, length):
    words = ["".join(rng.choices(string.ascii_letters + "é漢😀", k=rng.randint(0, length))) for _ in range(50)]
    return lambda: rng.choice(words)


KINDS = {
    "long": (pa.int64(), lambda rng: lambda: rng.randint(-(10**12), 10**12)),
    "int": (pa.int32(), lambda rng: lambda: rng.randint(-100, 100)),
    "double": (pa.float64(), lambda rng: lambda: rng.choice([NAN, 0.0, -0.0, rng.uniform(-1, 1)])),
    "float": (pa.float32(), lambda rng: lambda: float(rng.randint(-5, 5))),
    "bool": (pa.bool_(), lambda rng: lambda: rng.random() < 0.5),
    "short": (pa.string(), lambda rng: texts(rng, 12)),
    "text": (pa.string(), lambda rng: lambda: f"row {rng.randint(0, 10**9)}"),
    "binary": (pa.binary(), lambda rng: lambda: rng.randbytes(rng.randint(0, 20))),
    "decimal": (pa.decimal128(30, 2), lambda rng: lambda: Decimal(rng.randint(-(10**20), 10**20)).scaleb(-2)),
    "small": (pa.decimal128(9, 2), lambda rng: lambda: Decimal(rng.randint(-(10**6), 10**6)).scaleb(-2)),
    "at": (pa.timestamp("us"), lambda rng: lambda: rng.randint(0, 10**15)),
    "day": (pa.date32(), lambda rng: lambda: rng.randint(0, 30_000)),
}


def column(rng, name, rows):
    kind, make = KINDS[name]
    value, missing, same = make(rng), rng.choice([0.0, 0.0, 0.1, 1.0]), rng.random() < 0.3
    # Distinct values are few, so that the test takes little time.
    pool = [None if rng.random() < missing else value() for _ in range(1 if same else 997)]
    numbers = pa.array([rng.randrange(len(pool)) for _ in range(1009)])
    repeated = pa.concat_arrays([numbers] * (rows // len(numbers) + 1)).slice(0, rows)
    return pa.array(pool, kind).take(repeated)


def rows_of(rng, names, start, count):
    columns = {"id": pa.array(range(start, start + count), pa.int64())}
    return pa.table({**columns, **{f"c{at}_{name}": column(rng, name, count) for at, name in enumerate(names)}})


def encode_all(monkeypatch):
    """Copy no pages from now on."""

    def copied_rows(self):
        properties = {"write.format.default": "avro"}
        table = {"schema": schema_json(self._metadata.schema()), "spec": spec_json(self._metadata.spec())}
        return _core.CopiedRows(self._io.core, **table, sort_order=None, properties=properties)

    monkeypatch.setattr(FileWriter, "copied_rows", copied_rows)


def files_of(table):
    paths = table.inspect.files().column("file_path").to_pylist()
    return [path.removeprefix("file://") for path in sorted(paths)]


def row_groups(table):
    """Return the rows of each row group of the table's only file."""
    (path,) = files_of(table)
    metadata = pq.read_metadata(path)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def comparable(values):
    """Return rows in which NaN equals NaN, and -0.0 differs from 0.0."""
    return [[repr(value) for value in row.values()] for row in values.sort_by("id").to_pylist()]


def table_of(catalog, name, rows, properties):
    table = catalog.create_table(f"db.{name}", rows.schema, properties=properties)
    table.append(rows)
    return table
