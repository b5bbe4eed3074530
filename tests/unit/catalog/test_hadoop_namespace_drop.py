"""Dropping a namespace of a hadoop catalog while a table is created in it, at every call of either."""

import itertools

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError, NamespaceNotEmptyError, NoSuchNamespaceError

from tests.faults.seam import observed

SCHEMA = pa.schema([("id", pa.int64())])


class Interleaving:
    """Run a change once, before or after the call with a number."""

    def __init__(self, number, after, change):
        self.number, self.after, self.change = number, after, change
        self.count, self.is_running = 0, False
        self.outcome = None

    @property
    def has_run(self):
        return self.count > self.number

    def call(self, _, effect):
        if self.is_running:
            return effect()
        self.count += 1
        if self.count - 1 != self.number:
            return effect()
        if self.after:
            try:
                return effect()
            finally:
                self._run()
        self._run()
        return effect()

    def _run(self):
        self.is_running = True
        self.outcome = outcome_of(self.change)
        self.is_running = False


def outcome_of(change):
    try:
        return change()
    except IcebergError as error:
        return error


@pytest.mark.parametrize("other_is_dropping", [True, False], ids=["drop during creation", "creation during drop"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_table_is_created_or_the_namespace_is_dropped(tmp_path, other_is_dropping, after):
    seen = set()
    for number in itertools.count():
        catalog = load_catalog("cat", type="hadoop", warehouse=str(tmp_path / str(number)))
        other = load_catalog("cat", type="hadoop", warehouse=str(tmp_path / str(number)))
        catalog.create_namespace("db.inner")
        leftover = tmp_path / str(number) / "db" / "inner" / ".icefloe-new-1" / "metadata"
        leftover.mkdir(parents=True)
        changes = [
            lambda by=catalog: by.create_table("db.inner.t", SCHEMA).metadata.table_uuid,
            lambda by=other: by.drop_namespace("db.inner"),
        ]
        own, others = changes if other_is_dropping else reversed(changes)
        observer = Interleaving(number, after, others)
        with observed(observer):
            outcome = outcome_of(own)
        if not observer.has_run:
            break
        created, dropped = (outcome, observer.outcome) if other_is_dropping else (observer.outcome, outcome)
        if isinstance(created, NoSuchNamespaceError):
            assert dropped is None
            assert catalog.list_namespaces("db") == []
        else:
            assert isinstance(dropped, NamespaceNotEmptyError)
            assert catalog.load_table("db.inner.t").metadata.table_uuid == created
        left = {path.name for path in (tmp_path / str(number) / "db").rglob(".icefloe-*")}
        assert left <= {".icefloe-new-1"}
        seen.add(type(created))
    assert len(seen) == 2
