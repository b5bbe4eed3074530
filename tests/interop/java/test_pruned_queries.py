"""Conditions on transforms prune the data files that they prune in the Java reference."""

from __future__ import annotations

import pytest

from tests.interop.java.pruned_queries import SPECS

pytestmark = pytest.mark.interop


def test_conditions_on_transforms_plan_as_many_files_as_in_java(java):
    noted = java.record("pruned", "queries")
    assert len(noted) == sum(map(len, SPECS.values()))
    assert [one for one in noted if one["icefloe"] != one["java"]] == []
