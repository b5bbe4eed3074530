"""Random programs over columns of all kinds leave the rows that DuckDB leaves."""

from __future__ import annotations

import itertools

import pytest
from icefloe.catalog import load_catalog

from tests.property.typed_model import TypedModel
from tests.property.typed_outcome import disagreement
from tests.property.typed_program import TypedProgram
from tests.property.typed_table import PythonTable


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


def test_typed_program_leaves_the_rows_of_duckdb(catalog, row_program_seed):
    # Subqueries are SQL of Spark alone: the next seed without them takes their place.
    programs = map(TypedProgram, itertools.count(row_program_seed))
    program = next(program for program in programs if not program.sql_only)
    engines = {"duckdb": TypedModel(program), "icefloe": PythonTable(catalog, "db.t", program)}
    found = disagreement(program, engines)
    assert found is None, (found, program.statements[found[1] - 1])
