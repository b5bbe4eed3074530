"""The database or the file store does not say what became of a commit."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.catalog.pointer_catalog import OutcomeUnknownError
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import CommitStateUnknownException
from icefloe.table.commit.environment import SYSTEM

SCHEMA = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2]})


class DeafCatalog(SqlCatalog):
    """Loses the database's answer to the next swap, which took effect or did not."""

    environment = replace(SYSTEM, sleep=lambda _: None)
    lose = None

    def _swap(self, namespace, name, old, new):
        if self.lose is None:
            super()._swap(namespace, name, old, new)
            return
        took_effect, self.lose = self.lose, None
        if took_effect:
            super()._swap(namespace, name, old, new)
        self.after_swap()
        raise OutcomeUnknownError("connection reset")

    def after_swap(self):
        """What others do before the outcome is checked."""


@pytest.fixture
def catalog(tmp_path):
    made = DeafCatalog("cat", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "w"))
    made.create_namespace("db")
    made.create_table("db.t", SCHEMA)
    return made


def files(table):
    return sorted(str(path) for path in Path(table.location()).rglob("*") if path.is_file())


def test_swap_that_took_effect_is_found_to_have(catalog):
    table = catalog.load_table("db.t")
    catalog.lose = True
    table.append(ROWS)
    assert len(table.snapshots()) == 1
    assert catalog.load_table("db.t").scan().count() == 2


def test_swap_that_took_effect_is_found_below_a_later_commit(catalog):
    table = catalog.load_table("db.t")

    def append_too():
        catalog.after_swap = lambda: None
        catalog.load_table("db.t").append(ROWS)

    catalog.lose = True
    catalog.after_swap = append_too
    table.append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 4


def test_unknown_outcome_is_told_and_deletes_nothing(catalog):
    table = catalog.load_table("db.t")
    before = files(table)
    catalog.lose = False
    with pytest.raises(CommitStateUnknownException, match=r"db\.t.*nothing was\s+cleaned up"):
        table.append(ROWS)
    left = [Path(path).name for path in sorted(set(files(table)) - set(before))]
    assert [name.split(".", 1)[1] for name in left].count("parquet") == 1
    assert any(name.startswith("snap-") for name in left)
    assert any(name.endswith("-m0.avro") for name in left)
    assert any(name.endswith(".metadata.json") for name in left)


def test_unknown_outcome_inside_a_transaction_deletes_nothing(catalog):
    table = catalog.load_table("db.t")
    before = files(table)
    catalog.lose = False

    def commit_inside():
        with table.transaction() as transaction:
            transaction.append(ROWS)
            transaction.commit_transaction()

    with pytest.raises(CommitStateUnknownException):
        commit_inside()
    assert any(path.endswith(".parquet") for path in set(files(table)) - set(before))


def test_hadoop_version_that_was_published_unseen_is_not_deleted(tmp_path, monkeypatch):
    catalog = HadoopCatalog("cat", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    publish = HadoopCatalog._publish

    def twice(self, metadata, location):
        # As a storage client does whose first reply was lost: it sends the same file again and meets it.
        publish(self, metadata, location)
        return publish(self, metadata, location)

    monkeypatch.setattr(HadoopCatalog, "_publish", twice)
    table.append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 2
