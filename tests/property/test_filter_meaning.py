"""One meaning of a filter: scans, counts, deletes and overwrites select the rows that DuckDB's WHERE selects."""

from __future__ import annotations

from random import Random

import duckdb
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.table import Table
from icefloe.types import StructType

from tests.property.filter_sql import SCHEMA, arrow, random_rows, sql
from tests.property.random_filter import random_filter

pytestmark = pytest.mark.interop
FILTERS, WRITES = 10, 2
FILES = 5
SPECS = [
    [],
    [("c2", "identity")],
    [("c2", "truncate[10]"), ("c10", "truncate[2]")],
    [("c3", "identity"), ("c7", "year")],
    [("c8", "month")],
    [("c9", "hour"), ("c6", "bucket[3]")],
]


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def ids(scan) -> list[int]:
    return sorted(scan.to_arrow().column("id").to_pylist())


def random_table(catalog, rng: Random) -> tuple[Table, list]:
    properties = {"write.parquet.row-group-size-bytes": "400", "write.parquet.page-row-limit": "3"}
    if rng.random() < 0.3:
        properties["write.metadata.metrics.default"] = rng.choice(["none", "counts", "truncate(1)"])
    table = catalog.create_table("db.t", SCHEMA, properties=properties)
    rows = []
    for number in range(FILES):
        if number % 2 == 0:
            with table.update_spec() as update:
                for field in table.spec().fields:
                    update.remove_field(field.name)
                for column, transform in rng.choice(SPECS):
                    update.add_field(column, transform, f"p{number}_{column}")
        new = random_rows(rng, len(rows), rng.randint(1, 12))
        table.append(arrow(new))
        rows += new
    return table, rows


def test_filter_selects_the_rows_that_it_is_true_of(table_seed, engine):
    rng = Random(f"filters {table_seed}")
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        table, rows = random_table(catalog, rng)
        paths = table.inspect.files().column("file_path").to_pylist()
        # DuckDB skips row groups whose bounds are the literal of `!=`, although they may have NaN as well: it reads all rows first.
        engine.execute(
            "CREATE OR REPLACE TEMP TABLE everything AS SELECT * FROM read_parquet($paths, hive_partitioning = false)",
            {"paths": paths},
        )
        for number in range(FILTERS):
            chosen = random_filter(rng, StructType(*SCHEMA.fields), depth=3)
            expected = [row[1] for row in rows if chosen.holds(row)]
            where = sql(chosen, "duckdb")
            found = engine.execute(f"SELECT id FROM everything WHERE {where} ORDER BY id")
            assert [row[0] for row in found.fetchall()] == expected, where
            scan = table.scan(chosen.expression())
            assert ids(scan) == expected, where
            assert scan.count() == len(expected), where
            if number < WRITES:
                check_writes(table, chosen, rows, f"{number}")


def check_writes(table: Table, chosen, rows, name: str) -> None:
    """Deleting keeps the rows for which the filter is not true."""
    kept = [row[1] for row in rows if not chosen.holds(row)]
    new = arrow([{1: -1}])
    for mode in ("copy-on-write", "merge-on-read"):
        with table.transaction() as change:
            change.set_properties({"write.delete.mode": mode})
        for write in ("delete", "overwrite"):
            branch = f"{name}-{mode}-{write}"
            table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, branch).commit()
            if write == "delete":
                table.delete(chosen.expression(), branch=branch)
            else:
                table.overwrite(new, chosen.expression(), branch=branch)
            expected = kept if write == "delete" else [-1, *kept]
            assert ids(table.scan().use_ref(branch)) == expected, (mode, write, chosen)


def test_delete_keeps_rows_whose_value_is_null(tmp_path):
    """In files of values and nulls, of nulls alone and of values alone, in both modes, by partition and by statistics."""
    for mode in ("copy-on-write", "merge-on-read"):
        for partitioned in (False, True):
            with load_catalog("scratch", type="memory") as catalog:
                catalog.create_namespace("db")
                table = catalog.create_table(
                    "db.t",
                    pa.schema([("id", pa.int64()), ("country", pa.string())]),
                    properties={"write.delete.mode": mode},
                )
                if partitioned:
                    with table.update_spec() as update:
                        update.add_identity("country")
                for countries in (["fr", None, "de"], [None, None], ["gb", "it"], ["fr", "fr"]):
                    first = table.scan().count()
                    table.append(pa.table({"id": range(first, first + len(countries)), "country": countries}))
                expected = [(0, "fr"), (1, None), (3, None), (4, None), (7, "fr"), (8, "fr")]
                whole = table.scan("country != 'fr'").plan().files.column("must_match").to_pylist()
                assert sum(whole) == (3 if partitioned else 1)
                table.delete("country != 'fr'")
                found = table.scan().to_arrow().to_pylist()
                assert sorted((row["id"], row["country"]) for row in found) == expected, (mode, partitioned)


@pytest.mark.parametrize("updates", [False, True])
def test_change_scans_select_the_changes_of_rows_that_the_filter_is_true_of(updates):
    rng = Random(f"changes {updates}")
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        table, rows = random_table(catalog, rng)
        with table.transaction() as change:
            change.set_properties({"write.delete.mode": "merge-on-read"})
        begun = table.current_snapshot().snapshot_id
        new = random_rows(rng, len(rows), 20)
        table.append(arrow(new))
        table.delete("id < 15")
        by_id = {row[1]: row for row in (*rows, *new)}
        arguments = {"identifier_columns": ("id",)} if updates else {}

        def reported(row_filter) -> list[tuple[str, int]]:
            scan = table.incremental_changelog_scan(
                from_snapshot_id_exclusive=begun, row_filter=row_filter, **arguments
            )
            found = scan.to_arrow().to_pylist()
            assert scan.count() == len(found)
            return sorted((row["_change_type"], row["id"]) for row in found)

        every = reported("true")
        assert len(every) == 35
        for _ in range(20):
            chosen = random_filter(rng, StructType(*SCHEMA.fields), depth=3)
            expected = [(kind, row_id) for kind, row_id in every if chosen.holds(by_id[row_id])]
            assert reported(chosen.expression()) == expected, chosen
            appended = table.incremental_append_scan(from_snapshot_id_exclusive=begun, row_filter=chosen.expression())
            assert ids(appended) == [row[1] for row in new if chosen.holds(row)], chosen
