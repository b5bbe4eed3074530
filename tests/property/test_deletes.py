"""Tables with random deletes against a row-by-row oracle: sequence numbers, specs, schemas that change, nulls."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe.catalog import load_catalog
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.types import IntegerType, LongType, NestedField, StringType

COLUMNS = ("id", "kind", "amount")
SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "kind", StringType()), NestedField(3, "amount", IntegerType())
)
UNPARTITIONED = 0

ids = st.none() | st.integers(0, 4)
kinds = st.none() | st.sampled_from(["a", "b", "a text of more than twelve bytes"])
amounts = st.none() | st.integers(-1, 1)
rows = st.tuples(ids, kinds, amounts)
formats = st.sampled_from(["parquet", "avro", "orc"])
fields = st.sets(st.integers(0, 2), min_size=1).map(sorted).map(tuple)
changes = st.one_of(
    st.tuples(st.just("append"), st.lists(rows, min_size=1, max_size=8)),
    st.tuples(st.just("append"), st.lists(rows, min_size=1, max_size=8)),
    st.tuples(st.just("keys"), fields, st.lists(rows, min_size=1, max_size=3), st.integers(0, 5), formats),
    st.tuples(st.just("keys"), fields, st.lists(rows, min_size=1, max_size=3), st.integers(0, 5), formats),
    st.tuples(st.just("positions"), st.lists(st.integers(0, 30), min_size=1, max_size=5)),
    st.tuples(st.just("respec")),
    st.tuples(st.just("promote")),
    st.tuples(st.just("rename")),
)


@dataclass
class Row:
    """A row of the oracle and the file it is in."""

    values: tuple
    sequence: int
    spec_id: int
    partition: tuple
    alive: bool = True


@dataclass
class Oracle:
    """A model of the table's rows; every method mirrors one commit."""

    rows: list[Row] = field(default_factory=list)
    sequence: int = 0

    def append(self, values, spec_id, partitioned):
        self.sequence += 1
        for row in values:
            self.rows.append(Row(row, self.sequence, spec_id, (row[1],) if partitioned else ()))

    def delete_keys(self, places, keys, spec_id):
        """Delete by keys, each in the whole table or in the partition of its own `kind`."""
        self.sequence += 1
        for row in self.rows:
            for key in keys:
                in_scope = spec_id == UNPARTITIONED or (row.spec_id, row.partition) == (spec_id, (key[1],))
                same = all(row.values[place] == key[place] for place in places)
                if in_scope and same and row.sequence < self.sequence:
                    row.alive = False

    def content(self):
        return sorted((row.values for row in self.rows if row.alive), key=repr)


class Run:
    """A table and its oracle, changed together."""

    def __init__(self, catalog, name, granularity):
        properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": granularity}
        self.table = catalog.create_table(
            ("db", name), SCHEMA, partition_spec=UNPARTITIONED_PARTITION_SPEC, properties=properties
        )
        self.oracle = Oracle()
        self.numbers = itertools.count()

    @property
    def names(self):
        return [self.table.schema().find_field(field_id).name for field_id in (1, 2, 3)]

    def is_partitioned(self):
        return bool(self.table.spec().fields)

    def arrow(self, values, places):
        schema = self.table.schema()
        types = {"long": pa.int64(), "int": pa.int32(), "string": pa.string()}
        return pa.table(
            {
                self.names[place]: pa.array(
                    [row[place] for row in values], types[str(schema.find_field(place + 1).field_type)]
                )
                for place in places
            }
        )

    def append(self, values):
        spec_id, partitioned = self.table.spec().spec_id, self.is_partitioned()
        self.table.append(self.arrow(values, (0, 1, 2)))
        self.oracle.append(values, spec_id, partitioned)

    def keys(self, places, keys, scope, file_format="parquet"):
        """Delete by keys, under one of the specs of the files that are there or in all files."""
        specs = sorted({UNPARTITIONED} | {row.spec_id for row in self.oracle.rows})
        spec_id = specs[scope % len(specs)]
        columns = places if spec_id == UNPARTITIONED else sorted({*places, 1})
        files = write_equality_deletes(
            self.table.io,
            self.table.metadata,
            self.arrow(keys, columns),
            [place + 1 for place in places],
            spec_id=spec_id,
            properties={"write.delete.format.default": file_format},
        )
        delta = self.table.new_row_delta()
        for file in files:
            delta.add_deletes(file)
        delta.commit()
        self.oracle.delete_keys(places, keys, spec_id)

    def positions(self, numbers):
        """Delete some of the rows that are there, as a filter on a value finds them."""
        alive = [row for row in self.oracle.rows if row.alive]
        wanted = {alive[number % len(alive)].values[0] for number in numbers if alive} - {None}
        if not wanted or self.table.current_snapshot() is None:
            return
        before = self.table.current_snapshot().snapshot_id
        self.table.delete(f"{self.names[0]} in ({', '.join(map(str, sorted(wanted)))})")
        self.oracle.sequence += self.table.current_snapshot().snapshot_id != before
        for row in alive:
            row.alive = row.values[0] not in wanted

    def respec(self):
        with self.table.update_spec() as update:
            if self.is_partitioned():
                update.remove_field(self.table.spec().fields[0].name)
            else:
                update.add_identity(self.names[1])

    def promote(self):
        with self.table.update_schema() as update:
            update.update_column(self.names[2], field_type=LongType())

    def rename(self):
        with self.table.update_schema() as update:
            update.rename_column(self.names[0], f"id_{next(self.numbers)}")


def content(table, *filters, **options):
    return sorted((tuple(row.values()) for row in table.scan(*filters, **options).to_arrow().to_pylist()), key=repr)


@settings(max_examples=60)
@given(st.lists(changes, min_size=2, max_size=10), st.sampled_from(["file", "partition"]), rows)
def test_table_holds_what_a_row_by_row_oracle_holds(steps, granularity, probe):
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        run = Run(catalog, "t", granularity)
        for name, *arguments in steps:
            if name == "keys" and run.table.current_snapshot() is None:
                continue
            getattr(run, name)(*arguments)
        expected = run.oracle.content()
        assert content(run.table) == expected
        assert run.table.scan().count() == len(expected)
        # Columns by which rows are deleted need not be selected.
        for place, name in enumerate(run.names):
            only = sorted(((row[place],) for row in expected), key=repr)
            assert content(run.table, selected_fields=(name,)) == only
        # A filter selects the matching rows that are left.
        if probe[2] is not None:
            matching = [row for row in expected if row[2] is not None and row[2] >= probe[2]]
            assert content(run.table, f"{run.names[2]} >= {probe[2]}") == matching


def test_keys_of_a_dropped_column_still_delete():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        run = Run(catalog, "t", "file")
        run.append([(1, "a", 5), (2, "b", 6), (3, "c", None)])
        run.keys((2,), [(None, None, 6), (None, None, None)], 0)
        with run.table.update_schema() as update:
            update.delete_column("amount")
        assert content(run.table) == [(1, "a")]


@pytest.mark.parametrize(("key", "step"), [((0,), 1), ((0,), 3), ((1,), 3), ((0, 1), 2), ((0, 1), 40)])
def test_scattered_keys_positions_and_filters_leave_the_rows_of_a_list(step, key):
    """Several pages and row groups, with keys of one row in `step` deleted, before and after rows are deleted by position."""
    count = 1_500
    values = [
        (number, f"{number % 300}é" * (number % 13), None if number % 7 == 0 else number % 100)
        for number in range(count)
    ]
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        run = Run(catalog, "t", "file")
        layout = {"write.parquet.page-row-limit": "200", "write.parquet.row-group-size-bytes": "8000"}
        with run.table.transaction() as transaction:
            transaction.set_properties({**layout, "write.delete.mode": "merge-on-read"})
        run.append(values)
        for later, start in enumerate((count // 10, count // 3)):
            run.keys(key, [row for row in values[start : count // 2] if row[0] % step == later], 0)
            deleted = {
                tuple(row[place] for place in key) for row in values[start : count // 2] if row[0] % step == later
            }
            values = [row for row in values if tuple(row[place] for place in key) not in deleted]
            run.table.delete(f"id % 90 = {later} and id > 250")
            values = [row for row in values if not (row[0] % 90 == later and row[0] > 250)]
        for filter_text, test in {
            "id >= 0": lambda row: True,
            "amount < 30": lambda row: row[2] is not None and row[2] < 30,
            "id between 170 and 190 or id > 1450": lambda row: 170 <= row[0] <= 190 or row[0] > 1_450,
        }.items():
            expected = [row for row in values if test(row)]
            assert content(run.table, filter_text) == sorted(expected, key=repr)
            only = [(row[2],) for row in expected]
            assert content(run.table, filter_text, selected_fields=("amount",)) == sorted(only, key=repr)
        assert run.table.scan(limit=100).to_arrow().num_rows == min(100, len(values))
