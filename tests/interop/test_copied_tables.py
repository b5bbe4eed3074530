"""Tables that were copied to another location by the list of `rewrite_table_path`, read by DuckDB and PyIceberg."""

from __future__ import annotations

import duckdb
import duckdb_extensions
import pytest
from icefloe.catalog import load_catalog
from pyiceberg.table import StaticTable

from tests.unit.table.maintenance.every_file import SCHEMA, ids_of, rows
from tests.unit.table.maintenance.path_rewrite.copies import copied, hidden, merge_on_read, path_of, rewritten


def version_1(catalog):
    table = catalog.create_table("db.t", SCHEMA, properties={"format-version": "1"})
    table.append(rows(1, 2, 3))
    table.append(rows(4))
    table.delete("id = 2")
    return table


def deletes_by_partition(catalog):
    return merge_on_read(catalog, **{"write.delete.granularity": "partition"})


@pytest.mark.parametrize("made", [merge_on_read, deletes_by_partition, version_1])
def test_copy_opens_for_duckdb_and_pyiceberg(tmp_path, made):
    catalog = load_catalog("paths", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "source"))
    catalog.create_namespace("db")
    table = made(catalog)
    expected = ids_of(table.scan())
    result = rewritten(table, tmp_path / "copy").execute()
    copied(result)
    hidden(table)
    with duckdb.connect() as connection:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=connection)
            connection.load_extension(name)
        query = f"select id from iceberg_scan('{path_of(result.metadata_location)}') order by id"
        assert [row[0] for row in connection.execute(query).fetchall()] == expected
    theirs = StaticTable.from_metadata(result.metadata_location).scan().to_arrow()
    assert sorted(theirs.column("id").to_pylist()) == expected
