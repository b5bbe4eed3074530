"""The Glue catalog on moto's server: stored entries, conditional changes, races, lost requests and lost replies."""

import itertools
import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.glue.glue_catalog import RENAMED
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    LeftoverFilesWarning,
    NoSuchIcebergTableError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)

from tests.catalogs.glue.tables import NUMBERS, PLAIN, ROWS, SCHEMA, entry_of, files
from tests.storage.servers import proxy


def test_entry_describes_the_table(catalog, namespace):
    table = catalog.create_table((namespace, "t"), SCHEMA, properties={"comment": "text", "write.data.path": "/data"})
    first = table.metadata_location
    with table.update_schema() as update:
        update.rename_column("id", "key")
    entry = entry_of(catalog, table.name())
    assert (entry["TableType"], entry["Description"]) == ("EXTERNAL_TABLE", "text")
    assert entry["Parameters"] == {
        "table_type": "ICEBERG",
        "metadata_location": table.metadata_location,
        "previous_metadata_location": first,
    }
    storage = entry["StorageDescriptor"]
    assert (storage["Location"], storage["AdditionalLocations"]) == (table.location(), ["/data"])
    assert [(column["Name"], column["Type"], column.get("Comment")) for column in storage["Columns"]] == [
        ("key", "bigint", "the key"),
        ("at", "timestamp", None),
        ("place", "struct<city:string>", None),
        ("id", "bigint", "the key"),
    ]
    assert [column["Parameters"] for column in storage["Columns"]][::3] == [
        {"iceberg.field.id": "1", "iceberg.field.optional": "false", "iceberg.field.current": "true"},
        {"iceberg.field.id": "1", "iceberg.field.optional": "false", "iceberg.field.current": "false"},
    ]


def test_parameters_and_comments_of_others_are_kept(catalog, table):
    entry = entry_of(catalog, table.name())
    entry["StorageDescriptor"]["Columns"][0]["Comment"] = "by hand"
    changed = {key: entry[key] for key in ("Name", "TableType", "StorageDescriptor")}
    parameters = {**entry["Parameters"], "engine": "other"}
    catalog.glue.update_table(
        DatabaseName=table.name()[0], TableInput={**changed, "Owner": "me", "Parameters": parameters}
    )
    table.append(ROWS)
    after = entry_of(catalog, table.name())
    assert (after["Parameters"]["engine"], after["Owner"]) == ("other", "me")
    assert after["StorageDescriptor"]["Columns"][0]["Comment"] == "by hand"


def test_commit_states_the_version_that_it_replaces(catalog, client, table, server):
    version = entry_of(catalog, table.name())["VersionId"]
    table.append(ROWS)
    client(**{"glue.skip-archive": "false"}).load_table(table.name()).append(ROWS)
    first, second = server.sent("UpdateTable")
    assert (first["VersionId"], first["SkipArchive"]) == (version, True)
    assert (second["VersionId"], second["SkipArchive"]) == (str(int(version) + 1), False)


def test_account_is_part_of_every_request(client, table, server):
    client(**{"glue.id": "123456789012"}).load_table(table.name()).append(ROWS)
    assert server.requests
    assert {body["CatalogId"] for _, body in server.requests} == {"123456789012"}


def test_views_and_tables_of_hive_are_left_alone(catalog, namespace):
    for name, kind in (("v", "VIRTUAL_VIEW"), ("h", "EXTERNAL_TABLE")):
        catalog.glue.create_table(DatabaseName=namespace, TableInput={"Name": name, "TableType": kind})
        for change in (catalog.load_table, catalog.drop_table, catalog.purge_table):
            with pytest.raises(NoSuchIcebergTableError, match="not an Iceberg table"):
                change((namespace, name))
        with pytest.raises(TableAlreadyExistsError):
            catalog.create_table((namespace, name), SCHEMA)
    assert catalog.list_tables(namespace) == []


def test_database_location_is_above_its_tables(catalog, tmp_path):
    name = f"glue_{next(NUMBERS)}"
    catalog.create_namespace(name, {"location": f"{tmp_path}/own/", "comment": "text", "a": "b"})
    assert catalog.load_namespace_properties(name) == {"location": f"{tmp_path}/own/", "comment": "text", "a": "b"}
    assert catalog.create_table((name, "t"), SCHEMA).location() == f"{tmp_path}/own/t"


def test_concurrent_appends_are_all_kept(client, table):
    def append(_):
        mine = client().load_table(table.name())
        for _ in range(4):
            mine.append(ROWS)

    with table.update_properties() as update:
        update.set_properties({"commit.retry.num-retries": "100"})
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(4)))
    assert len(table.refresh().snapshots()) == 16
    assert table.scan().count() == 48


@pytest.mark.parametrize("fault", ["reply", -500, -504])
@pytest.mark.parametrize("retries", ["0", "3"])
def test_commit_that_took_effect_is_found(client, table, server, fault, retries):
    mine = client(**{"glue.max-retries": retries}).load_table(table.name())
    server.faults = [fault]
    mine.append(ROWS)
    assert len(table.refresh().snapshots()) == 1
    assert table.scan().count() == 3


@pytest.mark.parametrize("fault", ["request", 500])
def test_commit_that_is_not_visible_is_unknown_and_deletes_nothing(client, table, server, fault):
    mine = client(**{"glue.max-retries": "0"}).load_table(table.name())
    before = files(table)
    server.faults = [fault]
    with pytest.raises(CommitStateUnknownException, match="nothing was cleaned up"):
        mine.append(ROWS)
    assert sum(path.endswith(".metadata.json") for path in files(table) - before) == 1
    assert table.refresh().current_snapshot() is None


def test_conflict_after_a_lost_attempt_is_not_taken_for_a_conflict(client, table, server):
    # The client's retry conflicts with the version that its first attempt created.
    mine = client(**{"glue.max-retries": "3"}).load_table(table.name())
    server.faults = ["reply"]
    mine.append(ROWS)
    assert len(server.sent("UpdateTable")) == 2
    assert len(table.refresh().snapshots()) == 1


def test_repeated_create_finds_its_own_table(client, namespace, server):
    catalog = client(**{"glue.max-retries": "3"})
    server.faults = ["reply"]
    table = catalog.create_table((namespace, "t"), PLAIN)
    table.append(ROWS)
    assert catalog.load_table((namespace, "t")).scan().count() == 3


def test_conflict_of_one_attempt_is_a_failed_commit_without_files(catalog, table, server):
    def overtake(operation, body):
        if operation == "UpdateTable":
            server.before = None
            catalog.load_table(table.name()).append(ROWS)

    before = files(table)
    server.before = overtake
    with pytest.raises(CommitFailedException, match="another commit was first"):
        catalog.commit_table(table, (), (_properties(a="1"),))
    left = {path for path in files(table) - before if path.endswith(".metadata.json")}
    assert left == {catalog.load_table(table.name()).metadata_location}


def test_refused_commit_changes_nothing(catalog, table, server):
    before = files(table)
    server.faults = [400]
    with pytest.raises(StorageError, match="AWS Glue, update_table: "):
        catalog.commit_table(table, (), (_properties(a="1"),))
    assert files(table) == before


def test_rename_after_a_concurrent_commit_is_undone(catalog, table, namespace, server):
    def overtake(operation, body):
        if operation == "UpdateTable":
            server.before = None
            catalog.load_table(table.name()).append(ROWS)

    server.before = overtake
    with pytest.raises(CommitFailedException, match="another commit was first"):
        catalog.rename_table(table.name(), (namespace, "u"))
    assert catalog.list_tables(namespace) == [table.name()]
    assert table.refresh().scan().count() == 3


@pytest.mark.parametrize("is_left", [False, True], ids=["old entry deleted", "old entry left"])
@pytest.mark.parametrize("change", ["rename", "purge"])
def test_change_of_a_table_that_another_client_renamed_meanwhile_finds_no_table(
    catalog, client, table, namespace, server, change, is_left
):
    other = client(**{"glue.max-retries": "0"})

    def overtake(operation, body):
        if operation == "UpdateTable":
            server.before = None
            server.faults = [None, None, 500] if is_left else []
            other.rename_table(table.name(), (namespace, "first"))

    changes = {
        "rename": lambda: catalog.rename_table(table.name(), (namespace, "second")),
        "purge": lambda: catalog.purge_table(table.name()),
    }
    server.before = overtake
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftoverFilesWarning)
        with pytest.raises(NoSuchTableError, match=r"\.t\b"):
            changes[change]()
    assert catalog.list_tables(namespace) == [(namespace, "first")]
    assert catalog.load_table((namespace, "first")).scan().count() == 0


@pytest.mark.parametrize("lost", range(3))
def test_rename_survives_any_lost_reply(catalog, table, namespace, server, lost):
    table.append(ROWS)
    server.faults = [None] * lost + ["reply"]
    if lost == 2:
        with pytest.warns(LeftoverFilesWarning, match="could not be deleted"):
            catalog.rename_table(table.name(), (namespace, "u"))
    else:
        catalog.rename_table(table.name(), (namespace, "u"))
    assert catalog.list_tables(namespace) == [(namespace, "u")]
    assert catalog.load_table((namespace, "u")).scan().count() == 3


@pytest.mark.parametrize("faults", [[None, "request"], [None, 404, "request"]], ids=["change lost", "undoing lost"])
def test_rename_that_leaves_both_names_is_unknown(catalog, table, namespace, server, faults):
    table.append(ROWS)
    server.faults = faults
    with pytest.raises(
        CommitStateUnknownException, match=r"may have both names: if .*\.t is still a table, drop .*\.u"
    ):
        catalog.rename_table(table.name(), (namespace, "u"))
    assert catalog.list_tables(namespace) == [(namespace, "t"), (namespace, "u")]
    catalog.drop_table((namespace, "u"))
    assert catalog.rename_table(table.name(), (namespace, "u")).scan().count() == 3


def test_rename_whose_outcome_cannot_be_read_is_unknown(catalog, table, namespace, server):
    def fail(operation, body):
        if operation == "UpdateTable" or len(server.sent("UpdateTable")) > 0:
            raise ConnectionError("the server is down")

    server.before = fail
    with pytest.raises(CommitStateUnknownException, match="may have both names"):
        catalog.rename_table(table.name(), (namespace, "u"))
    server.before = None
    assert catalog.list_tables(namespace) == [(namespace, "t"), (namespace, "u")]


def test_commit_to_a_renamed_table_is_refused(catalog, table, namespace, server):
    server.faults = [None, None, 500]
    with pytest.warns(LeftoverFilesWarning):
        catalog.rename_table(table.name(), (namespace, "u"))
    assert entry_of(catalog, table.name())["Parameters"]["table_type"] == RENAMED
    with pytest.raises(NoSuchTableError, match="does not exist"):
        table.append(ROWS)
    with pytest.raises(NoSuchTableError, match="does not exist"):
        catalog.load_table(table.name())


def test_unreachable_server_is_a_definite_error(tmp_path, server):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    properties = {**server.properties(), "glue.endpoint": f"http://127.0.0.1:{port}", "glue.max-retries": "0"}
    with pytest.raises(StorageError, match="AWS Glue"):
        load_catalog("glue", **properties).create_namespace("x")


@pytest.mark.parametrize(
    "read",
    [
        lambda catalog, namespace: catalog.load_table((namespace, "t")),
        lambda catalog, namespace: catalog.list_tables(namespace),
        lambda catalog, namespace: catalog.list_namespaces(),
        lambda catalog, namespace: catalog.load_namespace_properties(namespace),
    ],
    ids=["table", "tables", "namespaces", "namespace"],
)
def test_reply_that_ends_early_is_an_error(client, server, table, namespace, read):
    with proxy(server.endpoint) as line:
        catalog = client(**{"glue.endpoint": line.endpoint, "glue.max-retries": "0"})
        line.fault = lambda request: "half"
        with pytest.raises(StorageError, match=r"AWS Glue.*incomplete"):
            read(catalog, namespace)


def test_list_of_tables_that_ends_early_does_not_make_a_namespace_empty(catalog, client, server, table, namespace):
    with proxy(server.endpoint) as line:
        through_line = client(**{"glue.endpoint": line.endpoint, "glue.max-retries": "0"})
        requests = itertools.count(1)
        # The first request loads the namespace, the second lists its tables.
        line.fault = lambda request: "half" if next(requests) == 2 else None
        with pytest.raises(StorageError, match="get_tables"):
            through_line.drop_namespace(namespace)
    assert catalog.list_tables(namespace) == [(namespace, "t")]


@pytest.mark.parametrize("name", ["Upper", "a-b", "a b", "ä", "x" * 253])
def test_name_that_glue_folds_or_refuses_is_refused(catalog, server, name):
    server.requests.clear()
    with pytest.raises(ValidationError, match="lowercase"):
        catalog.create_namespace(name)
    assert server.requests == []


def test_invalid_retries_are_refused(server):
    with pytest.raises(ValidationError, match=r"glue\.max-retries"):
        load_catalog("glue", **{**server.properties(), "glue.max-retries": "many"})


def test_credentials_are_in_no_error(client):
    catalog = client(
        **{"glue.secret-access-key": "hunter2", "glue.endpoint": "http://127.0.0.1:1", "glue.max-retries": "0"}
    )
    with pytest.raises(StorageError) as caught:
        catalog.list_namespaces()
    assert "hunter2" not in json.dumps([str(caught.value), repr(catalog)])


def _properties(**values):
    from icefloe.table.update import SetPropertiesUpdate

    return SetPropertiesUpdate(updates=values)
