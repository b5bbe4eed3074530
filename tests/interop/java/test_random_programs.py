"""Random programs of INSERT, UPDATE, DELETE and MERGE leave the same rows in icefloe and by the SQL of the Java reference."""

from __future__ import annotations

import pytest

from tests.property.typed_outcome import JAVA_ALONE

pytestmark = pytest.mark.interop


def test_random_statements_leave_the_rows_of_java(java, java_program_seed):
    for step in java.record("programs", str(java_program_seed))["steps"]:
        assert step["icefloe"] == step["java"], f"{step}, repeat with --first-java-program={java_program_seed}"


def test_typed_program_leaves_the_rows_of_java_and_duckdb(java, java_program_seed):
    found = java.record("programs", str(java_program_seed))["typed"]
    wrong = found is not None and not found["problem"].startswith(JAVA_ALONE)
    assert not wrong, f"{found}, repeat with --first-java-program={java_program_seed}"
