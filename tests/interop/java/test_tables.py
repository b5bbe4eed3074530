"""Tables of the Java reference, read here: its rows, its answers to filters, its snapshots."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import FeatureUnsupportedError

from tests.exact_rows import exact
from tests.interop.java.case import ANSWER_COLUMN, Case
from tests.interop.java.tables import CASES, REFUSED

pytestmark = pytest.mark.interop


def by_name(cases):
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])


def rows_of(answer: pa.Table) -> pa.Table:
    return answer.select([name for name in answer.column_names if not name.startswith(ANSWER_COLUMN)])


@by_name(CASES)
def test_scan_returns_the_rows_of_java(java, case: Case):
    found, expected = java.table(case.name).scan().to_arrow(), rows_of(java.answer(case.name))
    assert found.column_names == expected.column_names
    assert exact(found) == exact(expected)
    assert java.table(case.name).scan().count() == expected.num_rows


@by_name([case for case in CASES if case.filters])
def test_filters_find_the_rows_that_spark_finds(java, case: Case):
    table, answer = java.table(case.name), java.answer(case.name)
    for n, text in enumerate(case.filters_here()):
        expected = rows_of(answer.filter(answer.column(f"{ANSWER_COLUMN}{n}")))
        assert exact(table.scan(text).to_arrow()) == exact(expected), text
        assert table.scan(text).count() == expected.num_rows, text


@by_name(CASES)
def test_columns_are_read_alone_and_in_any_order(java, case: Case):
    table, expected = java.table(case.name), rows_of(java.answer(case.name))
    backwards = expected.column_names[::-1]
    alone = [[name] for name in backwards] if expected.num_rows < 5000 else []
    for names in (backwards, *alone):
        assert exact(table.scan(selected_fields=tuple(names)).to_arrow().select(names)) == exact(expected.select(names))


@by_name([case for case in CASES if case.filters])
def test_filters_on_columns_that_are_not_selected(java, case: Case):
    table, answer = java.table(case.name), java.answer(case.name)
    names = answer.column_names[:1]
    for n, text in enumerate(case.filters_here()):
        expected = answer.filter(pc.fill_null(answer.column(f"{ANSWER_COLUMN}{n}"), False)).select(names)
        assert exact(table.scan(text, selected_fields=tuple(names)).to_arrow()) == exact(expected), text


@by_name([case for case in CASES if case.history or case.reads])
def test_every_snapshot_and_ref_is_read_as_java_reads_it(java, case: Case):
    table = java.table(case.name)
    for read in java.reads(case.name):
        scan = table.scan(snapshot_id=int(read)) if read.isdigit() else table.scan().use_ref(read)
        expected = java.answer(case.name, read)
        found = scan.to_arrow()
        assert found.column_names == expected.column_names, read
        assert exact(found) == exact(expected), read


@by_name(REFUSED)
def test_tables_that_would_be_read_wrongly_are_refused(java, case: Case):
    with pytest.raises(FeatureUnsupportedError, match=r"deletion vector|variant"):
        java.table(case.name).scan().to_arrow()
