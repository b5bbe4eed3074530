"""The clauses of a merge as values."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clauses import Action, Clauses, Match


def test_clauses_are_labelled_in_the_order_of_their_addition():
    clauses = Clauses().added(Match.MATCHED, Action.DELETE, "source.op = 'D'", None)
    clauses = clauses.added(Match.NOT_MATCHED, Action.INSERT, None, {"id": "source.id"})
    assert [clause.label for clause in clauses.in_order] == [
        "merge, clause 1 (when_matched_delete)",
        "merge, clause 2 (when_not_matched_insert)",
    ]
    assert clauses.of(Match.NOT_MATCHED) == [clauses.in_order[1]]


def test_clauses_are_unchanged_by_an_addition():
    clauses = Clauses()
    clauses.added(Match.MATCHED, Action.DELETE, None, None)
    assert clauses.in_order == ()


def test_clause_copies_its_values():
    values = {"id": "source.id"}
    clauses = Clauses().added(Match.MATCHED, Action.UPDATE, None, values)
    values["n"] = "1"
    assert clauses.in_order[0].values == {"id": "source.id"}


@pytest.mark.parametrize("match", [Match.MATCHED, Match.NOT_MATCHED_BY_SOURCE])
def test_clause_without_values_is_refused(match):
    with pytest.raises(ValidationError, match=r"clause 1 .*no column to set; expected column names .*got \{\}"):
        Clauses().added(match, Action.UPDATE, None, {})


def test_update_of_rows_without_a_source_row_requires_values():
    with pytest.raises(ValidationError, match=r"when_not_matched_by_source_update\): no source row .*got None"):
        Clauses().added(Match.NOT_MATCHED_BY_SOURCE, Action.UPDATE, None, None)


def test_clauses_require_at_least_one():
    with pytest.raises(ValidationError, match="merge: no clause; expected at least one"):
        Clauses().require_any()


@pytest.mark.parametrize(
    ("match", "action", "condition", "values", "reads"),
    [
        (Match.MATCHED, Action.DELETE, None, None, False),
        (Match.MATCHED, Action.UPDATE, None, None, False),
        (Match.MATCHED, Action.UPDATE, None, {"n": "1"}, True),
        (Match.MATCHED, Action.DELETE, "target.n = 1", None, True),
        (Match.NOT_MATCHED, Action.INSERT, "source.n = 1", {"n": "1"}, False),
    ],
)
def test_clause_reads_the_target_for_conditions_and_values(match, action, condition, values, reads):
    [clause] = Clauses().added(match, action, condition, values).in_order
    assert clause.reads_target() is reads


DEAD = "the clause can never apply"


@pytest.mark.parametrize("condition", ["false", " NULL", "null"])
def test_clause_that_applies_to_no_row_is_refused_as_it_is_added(condition):
    with pytest.raises(ValidationError, match=rf"clause 1 \(when_matched_delete\): {DEAD}; .*got '{condition}'"):
        Clauses().added(Match.MATCHED, Action.DELETE, condition, None)


@pytest.mark.parametrize("condition", [None, "true", "TRUE "])
def test_clause_after_one_of_all_rows_is_refused_as_it_is_added(condition):
    clauses = Clauses().added(Match.MATCHED, Action.DELETE, condition, None)
    with pytest.raises(ValidationError, match=rf"clause 2 .*{DEAD}; expected a condition in merge, clause 1 "):
        clauses.added(Match.MATCHED, Action.UPDATE, "source.n = 1", None)
    assert len(clauses.added(Match.NOT_MATCHED, Action.INSERT, condition, None).in_order) == 2
