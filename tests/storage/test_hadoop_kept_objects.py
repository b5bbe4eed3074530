"""Hadoop catalogs on S3 with `s3.delete-enabled=false`: every object stays, and only what needs a deletion is an error."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hadoop import object_warehouse
from icefloe.exceptions import (
    CommitStateUnknownException,
    FeatureUnsupportedError,
    NoSuchTableError,
    ValidationError,
)

SCHEMA = pa.schema([("id", pa.int64())])
SHORT_HISTORY = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}


def rows(*ids):
    return pa.table({"id": list(ids)}, schema=SCHEMA)


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


@pytest.fixture
def warehouse(bucket):
    return f"s3://{bucket}/warehouse"


@pytest.fixture
def catalogs(s3, warehouse):
    """A catalog that deletes no object, and one that deletes, with the namespace `db`."""
    properties = {"type": "hadoop", "warehouse": warehouse, **s3.properties()}
    keeping = load_catalog("keeping", **properties, **{"s3.delete-enabled": "False"})
    keeping.create_namespace("db")
    return keeping, load_catalog("deleting", **properties)


@pytest.fixture
def keeping(catalogs):
    return catalogs[0]


@pytest.fixture
def deleting(catalogs):
    return catalogs[1]


@pytest.fixture
def objects(io, warehouse):
    """Return a function that lists the names of all objects of the warehouse."""
    return lambda: set(io.list(f"{warehouse}/")["location"].to_pylist())


def before_publishing(monkeypatch, interfere):
    """Run `interfere` between the start of the next commit and the creation of its version."""
    publish, calls = object_warehouse.publish, [interfere]

    def slow(io, metadata, location):
        if calls:
            calls.pop()()
        return publish(io, metadata, location)

    monkeypatch.setattr(object_warehouse, "publish", slow)


def test_changes_of_a_table_keep_every_object(keeping, objects):
    table = keeping.create_table("db.t", SCHEMA, properties=SHORT_HISTORY)
    seen = objects()
    changes = [
        lambda: table.append(rows(1, 2)),
        lambda: table.append(rows(3)),
        lambda: table.delete("id = 2"),
        lambda: table.overwrite(rows(4), "id = 3"),
        lambda: table.maintenance.rewrite_data_files().options(rewrite_all=True).execute(),
        lambda: table.maintenance.expire_snapshots().older_than("0s").retain_last(1).execute(),
    ]
    for change in changes:
        change()
        assert seen < objects()
        seen = objects()
    assert len(table.snapshots()) == 1
    assert ids(keeping.load_table("db.t")) == [1, 4]


def test_writers_that_race_lose_no_row(keeping):
    table, other = keeping.create_table("db.t", SCHEMA, properties=SHORT_HISTORY), keeping.load_table("db.t")
    for number in range(4):
        (table if number % 2 else other).append(rows(number))
    assert ids(keeping.load_table("db.t")) == [0, 1, 2, 3]


def test_dropped_table_is_gone_and_its_objects_stay(keeping, objects):
    table = keeping.create_table("db.t", SCHEMA)
    table.append(rows(1))
    seen = objects()
    keeping.drop_table("db.t")
    assert seen < objects()
    assert (keeping.table_exists("db.t"), keeping.list_tables("db")) == (False, [])
    for change in (lambda: table.append(rows(2)), lambda: keeping.drop_table("db.t")):
        with pytest.raises(NoSuchTableError):
            change()


def test_purged_table_is_gone_and_its_objects_stay(keeping, objects):
    keeping.create_table("db.t", SCHEMA).append(rows(1))
    seen = objects()
    keeping.purge_table("db.t")
    assert seen < objects()
    assert not keeping.table_exists("db.t")


def test_name_of_a_dropped_table_is_free_after_a_drop_that_deletes(keeping, deleting):
    keeping.create_table("db.t", SCHEMA)
    keeping.drop_table("db.t")
    with pytest.raises(
        ValidationError,
        match=r"^table db\.t: a table of this name was dropped and has left its files, since s3\.delete-enabled=false keeps every object; "
        r"choose another name, or call drop_table\(\) of a catalog without this property, which deletes the files$",
    ):
        keeping.create_table("db.t", SCHEMA)
    deleting.drop_table("db.t")
    keeping.create_table("db.t", SCHEMA).append(rows(1))
    assert ids(deleting.load_table("db.t")) == [1]


def test_drop_of_a_namespace_needs_a_deletion(keeping, deleting, warehouse):
    with pytest.raises(
        FeatureUnsupportedError,
        match=rf"^namespace db: cannot drop it, since the drop deletes {warehouse}/db/\.icefloe-namespace, and s3\.delete-enabled=false keeps "
        "every object; drop it with a catalog without this property$",
    ):
        keeping.drop_namespace("db")
    keeping.create_table("db.t", SCHEMA)
    keeping.drop_table("db.t")
    with pytest.raises(FeatureUnsupportedError, match="cannot drop it"):
        keeping.drop_namespace("db")
    deleting.drop_table("db.t")
    assert keeping.list_namespaces() == [("db",)]
    deleting.drop_namespace("db")
    assert keeping.list_namespaces() == []


def test_commit_whose_base_another_client_deleted_names_the_object_to_delete(keeping, deleting, monkeypatch):
    keeping.create_table("db.t", SCHEMA, properties=SHORT_HISTORY).append(rows(0))
    slow = keeping.load_table("db.t")

    def others_commit():
        for number in range(1, 6):
            deleting.load_table("db.t").append(rows(number))

    before_publishing(monkeypatch, others_commit)
    with pytest.raises(
        CommitStateUnknownException,
        match=r"db/t/metadata/v3\.metadata\.json: unknown whether the commit took effect: .*v7\.metadata\.json is newer, and its log does not "
        r"reach back; refresh the table and check for the change before you repeat it\. Delete the object as well, since readers may take it "
        r"for the newest version: s3\.delete-enabled=false keeps every object$",
    ):
        slow.append(rows(9))
    deleting.file_io(slow.location()).delete(f"{slow.location()}/metadata/v3.metadata.json")
    assert ids(deleting.load_table("db.t")) == [0, 1, 2, 3, 4, 5]


def test_commit_during_a_drop_by_another_client_names_the_object_to_delete(keeping, deleting, monkeypatch):
    table = keeping.create_table("db.t", SCHEMA)
    before_publishing(monkeypatch, lambda: deleting.drop_table("db.t"))
    with pytest.raises(
        CommitStateUnknownException, match=r"v2\.metadata\.json: this version lost .* keeps every object"
    ):
        table.append(rows(1))


def test_creation_during_a_drop_by_another_client_names_the_object_to_delete(keeping, io, warehouse, monkeypatch):
    mark = object_warehouse.DROP_MARK.format("0" * 36).encode()
    before_publishing(monkeypatch, lambda: io.publish(f"{warehouse}/db/t/metadata/v4.metadata.json", [mark]))
    with pytest.raises(
        CommitStateUnknownException, match=r"v1\.metadata\.json: this version lost .* keeps every object"
    ):
        keeping.create_table("db.t", SCHEMA)


def test_version_whose_deletion_is_refused_is_an_unknown_outcome(s3, line, deleting, warehouse, monkeypatch):
    properties = {"type": "hadoop", "warehouse": warehouse, **s3.properties(), "s3.endpoint": line.endpoint}
    deleting.create_table("db.t", SCHEMA)
    far = load_catalog("far", **properties).load_table("db.t")
    before_publishing(monkeypatch, lambda: deleting.drop_table("db.t"))
    line.fault = lambda request: 403 if request.method == "DELETE" or "?delete" in request.path else None
    with pytest.raises(
        CommitStateUnknownException, match=r"v2\.metadata\.json: this version lost .* cannot be deleted"
    ):
        far.append(rows(1))
