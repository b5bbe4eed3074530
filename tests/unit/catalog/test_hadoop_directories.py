"""Directories of a hadoop catalog: tables, namespaces and leftovers of killed writers; errors of the operating system."""

import errno
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog.hadoop import directories
from icefloe.exceptions import (
    CommitStateUnknownException,
    MissingFileError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.io import FileIO

SCHEMA = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2]})


@pytest.fixture
def table(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    made = hadoop_catalog.create_table("db.t", SCHEMA)
    made.append(ROWS)
    return made


def leave_dropped(table):
    """Create the leftovers of a drop that was killed after its first step."""
    left = Path(table.location()).parent / ".icefloe-dropped-1"
    shutil.copytree(table.location(), left)
    return left


def test_half_deleted_directory_is_neither_table_nor_namespace(hadoop_catalog, table):
    left = leave_dropped(table)
    assert hadoop_catalog.list_tables("db") == [("db", "t")]
    assert hadoop_catalog.list_namespaces("db") == []
    with pytest.raises(ValidationError, match="cannot be a directory name"):
        hadoop_catalog.load_table(("db", left.name))
    with pytest.raises(ValidationError, match="cannot be a directory name"):
        hadoop_catalog.create_namespace(("db", left.name))


def test_next_drop_deletes_leftovers_of_an_earlier_drop(hadoop_catalog, table):
    left = leave_dropped(table)
    hadoop_catalog.create_table("db.other", SCHEMA)
    hadoop_catalog.drop_table("db.other")
    assert not left.exists()
    assert hadoop_catalog.load_table("db.t").scan().count() == 2


def test_namespace_with_only_leftovers_is_dropped(hadoop_catalog, table):
    leave_dropped(table)
    created = Path(table.location()).parent / ".icefloe-new-1" / "metadata"
    created.mkdir(parents=True)
    shutil.rmtree(table.location())
    assert hadoop_catalog.list_tables("db") == []
    hadoop_catalog.drop_namespace("db")
    assert hadoop_catalog.list_namespaces() == []


def test_drop_of_a_namespace_with_a_table_deletes_nothing(hadoop_catalog, table):
    left = leave_dropped(table)
    with pytest.raises(NamespaceNotEmptyError, match="contains t"):
        hadoop_catalog.drop_namespace("db")
    assert left.exists()


def test_temporary_files_are_not_versions_and_are_dropped_with_the_table(hadoop_catalog, table):
    left = Path(table.location()) / "metadata" / ".icefloe-0b1c"
    left.write_bytes(b"{")
    loaded = hadoop_catalog.load_table("db.t")
    assert loaded.metadata_location.endswith("v2.metadata.json")
    loaded.append(ROWS)
    hadoop_catalog.purge_table("db.t")
    assert not left.parent.parent.exists()


def test_directory_with_only_a_temporary_file_is_not_a_table(hadoop_catalog, table):
    directory = Path(table.location()).parent / "half" / "metadata"
    directory.mkdir(parents=True)
    (directory / ".icefloe-0b1c").write_bytes(b"{}")
    (directory / ".v1.metadata.json.crc").write_bytes(b"crc")
    assert hadoop_catalog.list_tables("db") == [("db", "t")]
    with pytest.raises(NoSuchTableError):
        hadoop_catalog.load_table("db.half")
    hadoop_catalog.create_table("db.half", SCHEMA).append(ROWS)
    assert hadoop_catalog.load_table("db.half").scan().count() == 2


def test_table_is_created_once_in_a_directory_with_files(hadoop_catalog, table):
    (Path(table.location()).parent / "other" / "data").mkdir(parents=True)
    hadoop_catalog.create_table("db.other", SCHEMA)
    with pytest.raises(TableAlreadyExistsError):
        hadoop_catalog.create_table("db.other", SCHEMA)
    assert not [path for path in Path(table.location()).parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["t", "data"])
def test_table_in_the_directory_of_a_namespace_with_tables_is_refused(hadoop_catalog, name):
    hadoop_catalog.create_namespace("db.level")
    hadoop_catalog.create_table(f"db.level.{name}", SCHEMA).append(ROWS)
    with pytest.raises(ValidationError, match=f"directory of a namespace, which contains {name}; choose another name"):
        hadoop_catalog.create_table("db.level", SCHEMA)
    assert hadoop_catalog.load_table(f"db.level.{name}").scan().count() == 2


def test_drop_of_a_table_that_holds_another_is_refused_and_changes_nothing(hadoop_catalog, table):
    inner = Path(table.location()) / "level" / "inner"
    shutil.copytree(table.location(), inner)
    (Path(table.location()) / "link").symlink_to(Path(table.location()).parent)
    with pytest.raises(ValidationError, match=f"contains another table, {inner}; drop that table first"):
        hadoop_catalog.drop_table("db.t")
    assert hadoop_catalog.load_table("db.t").scan().count() == 2
    shutil.rmtree(inner)
    hadoop_catalog.drop_table("db.t")
    assert not Path(table.location()).exists()


def test_drop_of_a_link_is_refused_and_changes_nothing(hadoop_catalog, table, tmp_path):
    moved = tmp_path / "moved"
    Path(table.location()).rename(moved)
    Path(table.location()).symlink_to(moved)
    with pytest.raises(ValidationError, match=f"link to {moved}"):
        hadoop_catalog.drop_table("db.t")
    assert hadoop_catalog.load_table("db.t").scan().count() == 2


def test_drop_deletes_links_and_not_their_targets(hadoop_catalog, table, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    (Path(table.location()) / "data" / "link").symlink_to(outside)
    hadoop_catalog.purge_table("db.t")
    assert (outside / "file").read_text() == "stays"
    assert list(Path(table.location()).parent.iterdir()) == []


def test_purge_deletes_data_files_below_the_data_path(hadoop_catalog, tmp_path):
    hadoop_catalog.create_namespace("db")
    elsewhere = tmp_path / "elsewhere"
    table = hadoop_catalog.create_table("db.t", SCHEMA, properties={"write.data.path": str(elsewhere)})
    table.append(ROWS)
    (elsewhere / "stranger").write_text("stays")
    hadoop_catalog.purge_table("db.t")
    assert [path.name for path in elsewhere.rglob("*")] == ["stranger"]


@pytest.mark.parametrize("how", ["moved", "copied"])
def test_moved_table_refuses_writes_before_files_are_written(hadoop_catalog, table, how):
    own, other = Path(table.location()), Path(table.location()).parent / "other"
    own.rename(other) if how == "moved" else shutil.copytree(own, other)
    found = hadoop_catalog.load_table("db.other")
    before = sorted(own.parent.rglob("*"))
    changes = [
        lambda: found.append(ROWS),
        lambda: found.delete("id = 1"),
        lambda: found.transaction().set_properties({"a": "1"}).commit_transaction(),
        lambda: found.update_schema().delete_column("id").commit(),
    ]
    for change in changes:
        with pytest.raises(ValidationError) as caught:
            change()
        assert str(own) in str(caught.value)
        assert str(other) in str(caught.value)
    assert sorted(own.parent.rglob("*")) == before
    if how == "copied":
        assert found.scan().count() == 2
        hadoop_catalog.drop_table("db.other")
        assert hadoop_catalog.load_table("db.t").scan().to_arrow().num_rows == 2
    else:
        with pytest.raises(MissingFileError, match=str(own)):
            found.scan().count()


def test_table_behind_a_link_accepts_writes(hadoop_catalog, table, tmp_path):
    from icefloe.catalog import load_catalog

    (tmp_path / "link").symlink_to(hadoop_catalog.properties["warehouse"])
    linked = load_catalog("linked", type="hadoop", warehouse=f"file://{tmp_path}/link")
    linked.load_table("db.t").append(ROWS)
    assert hadoop_catalog.load_table("db.t").scan().count() == 4


def test_too_long_names_are_icefloe_errors(hadoop_catalog, table):
    long = "x" * 300
    names = [
        lambda: hadoop_catalog.create_namespace(("db", long)),
        lambda: hadoop_catalog.create_table(("db", long), SCHEMA),
        lambda: hadoop_catalog.load_table(("db", long)),
        lambda: hadoop_catalog.drop_table(("db", long)),
        lambda: hadoop_catalog.list_tables(long),
    ]
    for call in names:
        with pytest.raises(ValidationError, match="expected at most 255 bytes of UTF-8, got 300"):
            call()
    calls = [
        lambda: FileIO().new_input(f"/tmp/{long}").open(),
        lambda: FileIO().new_input(f"/tmp/{long}").exists(),
        lambda: FileIO().new_output(f"/tmp/{long}").create(),
    ]
    for call in calls:
        with pytest.raises(StorageError, match="too long") as caught:
            call()
        assert caught.value.errno == errno.ENAMETOOLONG
        assert isinstance(caught.value.__cause__, OSError)
        assert caught.value.__cause__.errno == errno.ENAMETOOLONG


def test_file_instead_of_a_directory_contains_no_tables(tmp_path):
    from icefloe.catalog import load_catalog

    (tmp_path / "file").write_text("x")
    catalog = load_catalog("cat", type="hadoop", warehouse=f"{tmp_path}/file")
    assert catalog.list_namespaces() == []
    with pytest.raises(NoSuchNamespaceError):
        catalog.list_tables("db")
    with pytest.raises(StorageError) as caught:
        catalog.create_namespace("db")
    assert caught.value.errno == errno.ENOTDIR
    assert not FileIO().new_input(f"{tmp_path}/file/x").exists()
    with pytest.raises(FileNotFoundError):
        FileIO().new_input(f"{tmp_path}/file/x").open()
    with pytest.raises(StorageError) as caught:
        FileIO().new_output(f"{tmp_path}/file/x").create().close()
    assert caught.value.errno == errno.ENOTDIR


def test_circular_links_are_icefloe_errors(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(StorageError) as caught:
        FileIO().new_input(f"{tmp_path}/a/x").open()
    assert caught.value.errno == errno.ELOOP


def failing(monkeypatch, name, *, after):
    """Make a function on directories fail once, after its effect or before."""
    real = getattr(Path, name)

    def fail(self, *arguments, **options):
        monkeypatch.undo()
        if after:
            real(self, *arguments, **options)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, name, fail)


def test_namespace_that_exists_after_a_failed_creation_is_unknown(hadoop_catalog, monkeypatch):
    hadoop_catalog.create_namespace("db")
    failing(monkeypatch, "mkdir", after=True)
    with pytest.raises(CommitStateUnknownException, match="exists"):
        hadoop_catalog.create_namespace("other")
    failing(monkeypatch, "mkdir", after=False)
    with pytest.raises(StorageError, match="Input/output error"):
        hadoop_catalog.create_namespace("third")
    assert hadoop_catalog.list_namespaces() == [("db",), ("other",)]


def test_namespace_that_cannot_be_synced_is_not_created(hadoop_catalog, monkeypatch):
    hadoop_catalog.create_namespace("db")

    def fail(_directory):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(directories, "sync_directory", fail)
    with pytest.raises(StorageError, match="No space left"):
        hadoop_catalog.create_namespace("other")
    assert hadoop_catalog.list_namespaces() == [("db",)]
    with pytest.raises(CommitStateUnknownException, match="power cut"):
        hadoop_catalog.drop_namespace("db")
    assert hadoop_catalog.list_namespaces() == []


@pytest.mark.parametrize("after", [True, False])
def test_lost_reply_of_a_removal_is_found(hadoop_catalog, monkeypatch, after):
    hadoop_catalog.create_namespace("db")
    failing(monkeypatch, "rmdir", after=after)
    if after:
        hadoop_catalog.drop_namespace("db")
    else:
        with pytest.raises(StorageError, match="Input/output error"):
            hadoop_catalog.drop_namespace("db")
    assert hadoop_catalog.list_namespaces() == ([] if after else [("db",)])
