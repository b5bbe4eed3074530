"""Random programs of INSERT, UPDATE, DELETE and MERGE leave the same rows by `icefloe.spark.sql` and by the SQL of the Java reference."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.interop


def test_random_statements_leave_the_rows_of_java(java, java_program_seed):
    for step in java.record("programs", str(java_program_seed)):
        assert step["icefloe"] == step["java"], f"{step}, repeat with --first-java-program={java_program_seed}"
