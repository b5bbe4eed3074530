"""The commands of maintenance on S3, Azure and Google Cloud Storage, with deletions that are refused."""

import json

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.cli.command import run

from tests.storage.azure_server import azure_server, connection
from tests.storage.gcs_server import gcs_server
from tests.storage.servers import proxy

IDS = list(range(6))
PARTLY = 6


@pytest.fixture(params=["s3", "azure", "gcs"])
def store(request, tmp_path):
    """The properties of a storage, the root of a warehouse, and a proxy before the storage."""
    if request.param == "s3":
        server, bucket = request.getfixturevalue("s3"), request.getfixturevalue("bucket")
        with proxy(server.endpoint) as line:
            yield (
                {**server.properties(), "s3.endpoint": line.endpoint, "s3.retry.num-retries": "1"},
                f"s3://{bucket}",
                line,
            )
    elif request.param == "azure":
        with azure_server(tmp_path) as endpoint:
            address, _, account = endpoint.rpartition("/")
            with proxy(address) as line:
                yield connection(f"{line.endpoint}/{account}"), "abfss://box", line
    else:
        with gcs_server() as (address, _, _), proxy(address) as line:
            yield {"gcs.service.host": line.endpoint, "gcs.no-auth": "true"}, "gs://bucket", line


@pytest.fixture
def table(store, tmp_path, monkeypatch):
    """The table `db.t` of six data files of one row, in the default catalog of the command."""
    properties, root, _ = store
    settings = {
        **properties,
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"{root}/warehouse",
    }
    configured = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in settings.items())
    (tmp_path / ".icefloe.yaml").write_text(f"catalog:\n  lake:\n{configured}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ICEFLOE_DEFAULT_CATALOG", "lake")
    catalog = load_catalog("lake", **settings)
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    for number in IDS:
        made.append(pa.table({"id": [number]}))
    return made


@pytest.fixture
def icefloe(capfdbinary):
    def call(*arguments):
        capfdbinary.readouterr()
        code = run(["--output", "json", *arguments])
        found = capfdbinary.readouterr()
        return code, json.loads(found.out or b"null"), found.err.decode()

    return call


def is_deletion(request):
    """Return whether a request deletes objects; Azure and S3 take several deletions in one request."""
    return request.method == "DELETE" or (
        request.method == "POST" and ("delete" in request.path or "batch" in request.path)
    )


def files(table):
    return set(table.io.core.list(table.location()).column("location").to_pylist())


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def test_refused_deletions_are_reported_and_made_up_for(store, table, icefloe):
    *_, line = store
    assert icefloe("compact", "db.t", "--yes")[0] == 0
    before = files(table)
    line.fault = lambda request: 403 if is_deletion(request) else None
    code, done, _ = icefloe("expire", "db.t", "--older-than", "0s", "--yes")
    assert (code, len(table.refresh().snapshots())) == (PARTLY, 1)
    refused = {one["location"] for one in done["result"]["failures"]}
    assert before <= files(table)
    assert len(refused) > len(IDS)
    orphans = ("orphans", "db.t", "--older-than", "0s", "--force", "--yes")
    code, done, _ = icefloe(*orphans)
    assert (code, done["result"]["deleted_files"], before <= files(table)) == (PARTLY, 0, True)
    line.fault = None
    assert icefloe(*orphans)[0] == 0
    assert ids(table) == IDS
    code, done, _ = icefloe(*orphans)
    assert (code, done["plan"]["file_count"]) == (0, 0)
    table.append(pa.table({"id": [99]}))
    assert icefloe("expire", "db.t", "--older-than", "0s", "--yes")[0] == 0
    assert icefloe(*orphans)[0] == 0
    assert not refused & files(table)
    assert ids(table) == [*IDS, 99]
    assert icefloe("doctor", "db.t", "--files", "list")[0] == 0
