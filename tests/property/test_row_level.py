"""Random merges, updates and deletes leave the rows that the same texts leave in DuckDB."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import BucketTransform, IdentityTransform

from tests.property.dead_clauses import DEAD, has_dead_clause, reading_rows
from tests.property.row_level_program import SCHEMA, RandomProgram, hashable, merge_query, new_values

PAIR = "struct_pack(x := {}, y := {})"

SPECS = [
    PartitionSpec(),
    PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "k")),
    PartitionSpec(PartitionField(1, 1000, BucketTransform(3), "ids")),
]


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


def in_duckdb(text):
    return text.replace("<=>", "is not distinct from")


class Model:
    """The target and the source as DuckDB tables with row numbers."""

    def __init__(self, target, source):
        self.connection = duckdb.connect()
        for name, rows in (("target", target), ("source", source)):
            self.connection.register("given", rows)
            self.connection.execute(f"create table {name} as select row_number() over () as row, * from given")

    def rows(self, query):
        return [hashable(row) for row in self.connection.execute(query).fetchall()]

    def merged(self, on, clauses):
        """Return the rows after a merge; None where several source rows change one target row."""
        changes = self.rows(in_duckdb(merge_query(on, clauses, PAIR)))
        gone = [row for row, *_ in changes if row is not None]
        if len(set(gone)) < len(gone):
            return None
        kept = self.rows(f"select {', '.join(SCHEMA.names)} from target where not list_contains({gone}::bigint[], row)")
        return Counter(kept + [tuple(new) for row, *new in changes if row is None])


def rows_of(table):
    return Counter(hashable(row.values()) for row in table.scan().to_arrow().to_pylist())


def random_table(catalog, program):
    mode = program.random.choice(["copy-on-write", "merge-on-read"])
    properties = {f"write.{operation}.mode": mode for operation in ("merge", "update", "delete")}
    spec = program.random.choice(SPECS)
    table = catalog.create_table("db.random", SCHEMA, partition_spec=spec, properties=properties)
    for _ in range(program.random.randrange(4)):
        table.append(program.rows(program.random.randrange(1, 9)))
    if program.random.random() < 0.5:
        table.delete(f"n = {program.random.randrange(9)}")
    return table


def with_clauses(merge, clauses):
    for clause in clauses:
        if clause.action == "insert":
            merge.when_not_matched_insert(clause.values, clause.condition)
        elif clause.action == "update":
            verb = merge.when_matched_update if clause.match == "matched" else merge.when_not_matched_by_source_update
            verb(clause.values, clause.condition)
        else:
            verb = merge.when_matched_delete if clause.match == "matched" else merge.when_not_matched_by_source_delete
            verb(clause.condition)
    return merge


def test_random_merge_leaves_the_rows_of_duckdb(catalog, row_program_seed):
    program = RandomProgram(row_program_seed)
    table, source = random_table(catalog, program), program.source()
    on, clauses = program.on(), program.clauses()
    expected = Model(table.scan().to_arrow(), source).merged(on, clauses)
    limit = program.random.choice([1, 1 << 20])

    def merge_of(clauses):
        return with_clauses(table.merge(source.to_reader(max_chunksize=3), on, memory_limit=limit), clauses)

    before = rows_of(table)
    if has_dead_clause(clauses):
        with pytest.raises(ValidationError, match=DEAD):
            merge_of(clauses).execute()
        assert rows_of(table.refresh()) == before
        clauses = [reading_rows(clause) for clause in clauses]
    merge = merge_of(clauses)
    if expected is None or not clauses:
        with pytest.raises(ValidationError, match=r"several source rows|no clause"):
            merge.execute()
        assert rows_of(table.refresh()) == before
    else:
        merge.execute()
        assert rows_of(table) == expected


def test_random_update_and_delete_leave_the_rows_of_duckdb(catalog, row_program_seed):
    program = RandomProgram(row_program_seed)
    table = random_table(catalog, program)
    for _ in range(3):
        model = Model(table.scan().to_arrow(), SCHEMA.empty_table())
        condition = program.condition(["target"])
        names = f"coalesce({in_duckdb(condition)}, false)"
        kept = model.rows(f"select {', '.join(SCHEMA.names)} from target where not {names}")
        if program.random.random() < 0.4:
            table.delete(condition)
            assert rows_of(table) == Counter(kept)
            continue
        values = program.values(["target"])
        changed = model.rows(f"select {in_duckdb(new_values(values, PAIR))} from target where {names}")
        assert table.update(condition, values).rows_updated == len(changed)
        assert rows_of(table) == Counter(kept + changed)
