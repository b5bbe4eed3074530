"""Statements return and leave the same rows by `icefloe.spark.sql` and by the SQL of the Java reference, or both refuse."""

from __future__ import annotations

import pytest

from tests.interop.java.statement_programs import PROGRAMS, Program

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("program", [pytest.param(one, id=one.name) for one in PROGRAMS])
def test_statements_return_and_leave_the_rows_of_java(java, program: Program):
    for step in java.record("statements", program.name):
        assert step["icefloe"] == step["java"], (step["statement"], step["refusals"])
