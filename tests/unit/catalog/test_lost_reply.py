"""A store that does not report the outcome of a change and has no record of it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.outcome import OutcomeUnknownError, run_change
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.table.environment import SYSTEM

SCHEMA = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2]})
WITHOUT_SLEEP = replace(SYSTEM, sleep=lambda _: None)


class LossyCatalog(InMemoryCatalog):
    """A catalog whose store loses its next reply to a swap or removal, which may have taken effect."""

    environment = WITHOUT_SLEEP
    takes_effect: bool | None = None
    then: Callable[[], None] | None = None

    def _swap(self, namespace, name, old, new):
        self._lose(lambda: InMemoryCatalog._swap(self, namespace, name, old, new))

    def _remove(self, namespace, name, location=None):
        self._lose(lambda: InMemoryCatalog._remove(self, namespace, name, location))

    def _rename(self, old, new):
        self._lose(lambda: InMemoryCatalog._rename(self, old, new))

    def _lose(self, change):
        takes_effect, self.takes_effect = self.takes_effect, None
        if takes_effect is not False:
            change()
        if takes_effect is None:
            return
        if self.then is not None:
            self.then()
        raise OutcomeUnknownError("connection reset")


class RacingCatalog(InMemoryCatalog):
    """A catalog with a concurrent append to a table just before it is removed."""

    def _remove(self, namespace, name, location=None):
        self.load_table((*namespace, name)).append(ROWS)
        super()._remove(namespace, name, location)


@pytest.fixture
def catalog(tmp_path):
    made = LossyCatalog("cat", str(tmp_path / "w"))
    made.create_namespace("db")
    made.create_table("db.t", SCHEMA)
    return made


def files(table):
    return {str(path) for path in Path(table.location()).rglob("*") if path.is_file()}


def test_commit_that_took_effect_is_found(catalog):
    table = catalog.load_table("db.t")
    catalog.takes_effect = True
    table.append(ROWS)
    assert len(table.snapshots()) == 1
    assert catalog.load_table("db.t").scan().count() == 2


def test_commit_that_took_effect_is_found_below_a_later_commit(catalog):
    table = catalog.load_table("db.t")
    catalog.takes_effect = True
    catalog.then = lambda: catalog.load_table("db.t").append(ROWS)
    table.append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 4


def test_invisible_commit_is_unknown_and_deletes_nothing(catalog):
    table = catalog.load_table("db.t")
    before = files(table)
    catalog.takes_effect = False
    with pytest.raises(CommitStateUnknownException, match=r"db\.t.*nothing was cleaned up"):
        table.append(ROWS)
    left = [Path(path).name for path in sorted(files(table) - before)]
    assert [name.split(".", 1)[1] for name in left].count("parquet") == 1
    assert any(name.startswith("snap-") for name in left)
    assert any(name.endswith("-m0.avro") for name in left)
    assert any(name.endswith(".metadata.json") for name in left)


def test_invisible_commit_inside_a_transaction_deletes_nothing(catalog):
    table = catalog.load_table("db.t")
    before = files(table)
    catalog.takes_effect = False

    def commit_inside():
        with table.transaction() as transaction:
            transaction.append(ROWS)
            transaction.commit_transaction()

    with pytest.raises(CommitStateUnknownException):
        commit_inside()
    assert any(path.endswith(".parquet") for path in files(table) - before)


def test_removal_has_taken_effect_if_the_name_is_absent(catalog):
    catalog.takes_effect = True
    catalog.drop_table("db.t")
    assert not catalog.table_exists("db.t")


def test_rename_that_took_effect_is_found_below_a_later_commit(catalog):
    catalog.takes_effect = True
    catalog.then = lambda: catalog.load_table("db.u").append(ROWS)
    uuid = catalog.load_table("db.t").metadata.table_uuid
    assert catalog.rename_table("db.t", "db.u").metadata.table_uuid == uuid
    assert catalog.list_tables("db") == [("db", "u")]


def test_rename_is_not_mistaken_for_another_table_of_the_new_name(catalog):
    def replace_by_others():
        catalog.drop_table("db.t")
        catalog.create_table("db.u", SCHEMA)

    catalog.takes_effect = False
    catalog.then = replace_by_others
    with pytest.raises(CommitStateUnknownException, match=r"db\.t: rename to db\.u: unknown whether"):
        catalog.rename_table("db.t", "db.u")


def test_purge_deletes_nothing_unless_the_removal_is_certain(catalog):
    table = catalog.load_table("db.t")
    before = files(table)
    catalog.takes_effect = True
    with pytest.raises(CommitStateUnknownException):
        catalog.purge_table("db.t")
    assert files(table) == before


def test_purge_fails_after_a_concurrent_commit(tmp_path):
    catalog = RacingCatalog("cat", str(tmp_path / "w"))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    with pytest.raises(CommitFailedException, match="another commit was first"):
        catalog.purge_table("db.t")
    assert table.refresh().scan().count() == 2


def test_invalid_status_check_property_is_refused_before_the_change():
    made = []
    with pytest.raises(ValidationError, match="num-retries"):
        run_change(
            "x",
            lambda: made.append(1),
            is_visible=lambda: True,
            rejected=StorageError,
            properties={"commit.status-check.num-retries": "many"},
            environment=WITHOUT_SLEEP,
        )
    assert made == []


@pytest.mark.parametrize("trouble", [ConnectionResetError("reset"), StorageError("down"), KeyError("rows")])
def test_outcome_stays_unknown_after_any_error_of_its_query(trouble):
    def raise_trouble():
        raise trouble

    def change():
        raise OutcomeUnknownError("no reply", recorded_outcome=raise_trouble) from BrokenPipeError("pipe")

    with pytest.raises(CommitStateUnknownException, match="no reply") as caught:
        run_change(
            "x", change, is_visible=raise_trouble, rejected=StorageError, properties={}, environment=WITHOUT_SLEEP
        )
    assert isinstance(caught.value.__cause__, BrokenPipeError)


CONFLICT = TableAlreadyExistsError("the name is taken")


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ([True], None),
        ([False], TableAlreadyExistsError),
        ([StorageError("down"), True], None),
        ([StorageError("down"), False], TableAlreadyExistsError),
        ([StorageError("down")] * 4, CommitStateUnknownException),
    ],
)
def test_refusal_decides_unless_the_change_is_visible(replies, expected):
    left = iter(replies)

    def is_visible():
        reply = next(left)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def change():
        raise OutcomeUnknownError("refused", "result", conflict=CONFLICT)

    with nullcontext() if expected is None else pytest.raises(expected):
        found = run_change(
            "x", change, is_visible=is_visible, rejected=StorageError, properties={}, environment=WITHOUT_SLEEP
        )
        assert found == "result"
    assert list(left) == []


def test_record_of_the_store_decides_over_visibility():
    answers = iter([None, None, False])

    def change():
        raise OutcomeUnknownError("no reply", recorded_outcome=lambda: next(answers))

    with pytest.raises(StorageError, match="did not take effect"):
        run_change(
            "x", change, is_visible=lambda: False, rejected=StorageError, properties={}, environment=WITHOUT_SLEEP
        )
