"""Tables that DuckDB writes, read here with its own answer."""

from __future__ import annotations

import duckdb
import duckdb_extensions
import pytest
from icefloe.table import StaticTable

from tests.exact_rows import exact

pytestmark = pytest.mark.interop

COLUMNS = {
    "id": "i::BIGINT",
    "yes": "IF(i % 3 = 0, NULL, i % 2 = 0)",
    "small": "i::INTEGER",
    "f": "CASE i % 5 WHEN 0 THEN 'NaN'::FLOAT WHEN 1 THEN '-Infinity'::FLOAT WHEN 2 THEN -0.0::FLOAT ELSE i / 4 END",
    "d": "IF(i = 7, NULL, i / 3)::DOUBLE",
    "price": "(i * 1.25 - 100)::DECIMAL(9, 2)",
    "large": "(i * 1000000007)::DECIMAL(38, 5)",
    "day": "DATE '1969-12-20' + i::INTEGER",
    "moment": "TIMESTAMP '1969-12-31 23:59:59.999999' + INTERVAL (i) HOUR",
    "instant": "TIMESTAMPTZ '2024-02-29 12:00:00.000001+00' + INTERVAL (i) MINUTE",
    "clock": "TIME '22:31:08.000001'",
    "s": "IF(i % 4 = 0, NULL, 'text é😀 ' || i)",
    "b": "encode('b' || i)",
    "u": "('f79c3e09-677c-4bbd-a479-' || lpad(i::VARCHAR, 12, '0'))::UUID",
    "point": "IF(i % 6 = 0, NULL, {'x': i::INTEGER, 'y': IF(i % 5 = 0, NULL, {'z': 'z' || i})})",
    "list": "IF(i % 6 = 0, NULL, IF(i % 5 = 0, [], [i::INTEGER, NULL]))",
    "map": "MAP {'k': i::INTEGER, 'n': NULL}",
    "structs": "[{'a': i, 'b': ['x', NULL]}, NULL]",
}
FILTERS = (
    "id >= 90",
    "yes = true",
    "small in (1, 2, 500)",
    "d > 30.5",
    "d is null",
    "price < -90",
    "large = 5000000035",
    "day >= '1970-01-01' and day < '1970-02-01'",
    "moment < '1970-01-01T05:00:00'",
    "s like 'text é%' and id < 10",
    "s is null",
    "point.x = 5",
    "point.y.z is not null and id > 95",
)


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=made)
            made.load_extension(name)
        made.execute("SET TimeZone = 'UTC'")
        listed = ", ".join(f"{text} AS {name}" for name, text in COLUMNS.items())
        made.execute(f"CREATE TABLE t AS SELECT {listed} FROM range(100) r(i)")
        yield made


@pytest.fixture(params=["", "PARTITION_BY (yes, small)"], ids=["whole", "partitioned"])
def table(request, connection, tmp_path):
    options = "".join(f", {option}" for option in [request.param] if option)
    connection.execute(f"COPY t TO '{tmp_path}/t' (FORMAT iceberg{options})")
    return StaticTable.from_metadata(f"{tmp_path}/t")


def test_rows_are_those_of_duckdb(table, connection):
    expected = connection.execute("FROM t").to_arrow_table()
    found = table.scan().to_arrow()
    assert found.column_names == expected.column_names
    assert exact(found) == exact(expected)
    assert table.scan().count() == 100


def test_filters_find_the_rows_that_duckdb_finds(table, connection):
    for text in FILTERS:
        expected = connection.execute(f"FROM t WHERE {text.replace('is nan', '= nan')}").to_arrow_table()
        assert exact(table.scan(text).to_arrow()) == exact(expected), text
        assert table.scan(text).count() == expected.num_rows, text
