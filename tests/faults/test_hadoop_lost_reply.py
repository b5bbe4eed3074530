"""File storage that takes a version file and loses the reply, or a client that repeats the request."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hadoop_versions import publish
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    FileAlreadyExistsError,
    StorageError,
)
from icefloe.table import Table
from icefloe.table.update import AssertTableUUID, SetPropertiesUpdate


class LossyStorage:
    """Real storage that stores version 2 of a table and then reports a failure."""

    def __init__(self, real, error, *, stores=True, answers=True):
        self.real, self.error, self.stores, self.answers = real, error, stores, answers

    def __getattr__(self, name):
        return getattr(self.real, name)

    def publish(self, location, data):
        if self.stores:
            self.real.publish(location, data)
        raise self.error(f"{location}: connection reset")

    def read(self, location):
        if location.endswith("v2.metadata.json") and not self.answers:
            raise StorageError(f"{location}: connection reset")
        return self.real.read(location)


class LossyIo:
    """File access over lossy storage."""

    def __init__(self, io, error, **options):
        self.core = LossyStorage(io.core, error, **options)


@pytest.fixture
def table(tmp_path):
    catalog = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    return catalog.create_table("db.t", pa.schema([("id", pa.int64())]))


def commit(table, error, **options):
    """Commit through a handle that is on lossy storage."""
    lossy = Table(
        table.name(), table.metadata, table.metadata_location, LossyIo(table.io, error, **options), table.catalog
    )
    requirement = AssertTableUUID(uuid=table.metadata.table_uuid)
    table.catalog.commit_table(lossy, (requirement,), (SetPropertiesUpdate(updates={"a": "1"}),))


def found(table):
    """Return the property that a commit set, as everybody sees it, and the version files."""
    files = sorted(path.name for path in (Path(table.location()) / "metadata").glob("*.metadata.json"))
    return table.catalog.load_table("db.t").properties.get("a"), files


@pytest.mark.parametrize("error", [FileAlreadyExistsError, StorageError])
def test_publish_whose_reply_was_lost_is_a_commit(table, error):
    commit(table, error)
    assert found(table) == ("1", ["v1.metadata.json", "v2.metadata.json"])


def test_publish_that_nobody_can_see_the_outcome_of_is_unknown_and_deletes_nothing(table):
    with pytest.raises(CommitStateUnknownException, match="nothing was cleaned"):
        commit(table, StorageError, answers=False)
    assert found(table) == ("1", ["v1.metadata.json", "v2.metadata.json"])


def test_publish_that_stored_nothing_is_a_failure(table):
    with pytest.raises(StorageError, match="connection reset"):
        commit(table, StorageError, stores=False)
    assert found(table) == (None, ["v1.metadata.json"])


def test_publish_that_meets_the_version_of_another_is_a_conflict(table):
    table.transaction().set_properties({"a": "2"}).commit_transaction()
    stale = table.catalog.load_table("db.t")
    with pytest.raises(CommitFailedException, match="another commit was first"):
        publish(stale.io, stale.metadata.model_copy(update={"properties": {}}), stale.metadata_location)
    assert found(table) == ("2", ["v1.metadata.json", "v2.metadata.json"])
