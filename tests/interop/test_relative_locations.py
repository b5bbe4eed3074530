"""Tables with relative locations: DuckDB's are read here, and one of old Hadoop's kind is read as DuckDB reads it."""

import subprocess
import sys

import pytest
from icefloe.table import StaticTable

from tests.unit.table.relative_table import relative_table

pytestmark = pytest.mark.interop
CONNECT = """
import sys
import duckdb
import duckdb_extensions
connection = duckdb.connect()
for name in ("avro", "iceberg"):
    duckdb_extensions.import_extension(name, con=connection)
    connection.load_extension(name)
"""
WRITE = """
connection.execute(
    "COPY (SELECT i::BIGINT AS id, (i % 3)::INTEGER AS p FROM range(100) r(i)) TO 'lake/t' "
    f"(FORMAT iceberg{sys.argv[1]})"
)
"""
READ = """
rows = connection.execute(f"SELECT id FROM iceberg_scan('{sys.argv[1]}') ORDER BY id").fetchall()
print([row[0] for row in rows])
"""


def duckdb_in(directory, code, argument):
    command = [sys.executable, "-c", CONNECT + code, argument]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("options", ["", ", PARTITION_BY (p)"], ids=["whole", "partitioned"])
def test_table_that_duckdb_wrote_with_a_relative_path_is_read(tmp_path, monkeypatch, options):
    duckdb_in(tmp_path, WRITE, options)
    monkeypatch.chdir(tmp_path)
    table = StaticTable.from_metadata("lake/t")
    monkeypatch.chdir("/")
    assert sorted(table.scan("p = 1").to_arrow().column("id").to_pylist()) == list(range(1, 100, 3))
    assert table.scan().count() == 100
    assert table.location() == f"{tmp_path}/lake/t"


def test_old_hadoop_table_is_read_as_duckdb_reads_it(tmp_path, monkeypatch):
    location = relative_table(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = sorted(StaticTable.from_metadata(location).scan().to_arrow().column("id").to_pylist())
    assert str(found) == duckdb_in(tmp_path, READ, location).strip()
