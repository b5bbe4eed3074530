"""Blobs of an Azure emulator: names, conditional creation, a table."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.exceptions import FileAlreadyExistsError, MissingFileError

from tests.storage.azure_server import ACCOUNT, KEY, azure_server, connection
from tests.storage.lender import PATH


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    with azure_server(tmp_path_factory.mktemp("azure")) as endpoint:
        yield connection(endpoint), "abfss://box"


@pytest.fixture
def store(azure, request):
    """Properties, and a directory of the test's own."""
    properties, root = azure
    return properties, f"{root}/{request.node.name}"


def test_object_is_written_read_listed_and_deleted(store):
    properties, root = store
    io = _core.FileIo(properties)
    names = ["plain", "a b", "100%", "a#12", "é", "a+b=c"]
    for name in names:
        io.write(f"{root}/dir/{name}", name.encode(), overwrite=False)
        assert io.read(f"{root}/dir/{name}") == name.encode()
        assert io.size(f"{root}/dir/{name}") == len(name.encode())
    assert sorted(io.list(f"{root}/dir")["location"].to_pylist()) == sorted(f"{root}/dir/{name}" for name in names)
    assert io.delete_many([f"{root}/dir/{name}" for name in names] + [f"{root}/dir/gone"]) == []
    assert io.list(f"{root}/dir").num_rows == 0
    with pytest.raises(MissingFileError, match="gone"):
        io.read(f"{root}/dir/gone")


def test_existing_object_is_not_replaced_without_overwrite(store):
    properties, root = store
    io = _core.FileIo(properties)
    io.write(f"{root}/a", b"first", overwrite=False)
    with pytest.raises(FileAlreadyExistsError):
        io.write(f"{root}/a", b"second", overwrite=False)
    io.write(f"{root}/a", b"third", overwrite=True)
    assert io.read(f"{root}/a") == b"third"


def test_table_is_written_scanned_and_deleted_from(store, tmp_path):
    properties, root = store
    catalog = load_catalog("far", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=root, **properties)
    catalog.create_namespace("db")
    data = pa.table(
        {"id": pa.array(range(100_000), pa.int64()), "text": [f"{i * 7919 % 99_991}" for i in range(100_000)]}
    )
    table = catalog.create_table("db.t", data.schema, properties={"write.parquet.row-group-size-bytes": "200000"})
    table.append(data)
    table.delete("id >= 50000")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(50_000))
    assert table.scan(row_filter="id < 10").to_arrow().num_rows == 10


def shared_access_signature() -> str:
    """Return a token for everything in the account for ten minutes."""
    expiry = (datetime.now(timezone.utc) + timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = {
        "sp": "rwdlacup",
        "ss": "b",
        "srt": "sco",
        "st": "",
        "se": expiry,
        "sip": "",
        "spr": "",
        "sv": "2021-08-06",
    }
    text = "\n".join([ACCOUNT, *parts.values(), "", ""])
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    return urlencode({**{name: value for name, value in parts.items() if value}, "sig": signature})


def test_expired_signatures_are_renewed(azure, lender):
    properties, _ = azure
    endpoint = properties["adls.connection-string"].split("BlobEndpoint=")[1].rstrip(";")
    host = f"{ACCOUNT}.dfs.core.windows.net"
    lender.credentials = [
        {"prefix": f"abfss://box@{host}/", "config": {f"adls.sas-token.{host}": shared_access_signature()}},
    ]
    io = _core.FileIo(
        {
            "adls.account-host": endpoint.removeprefix("http://"),
            "adls.blob-storage-scheme": "http",
            f"adls.sas-token.{host}": "sv=2021-08-06&sig=expired",
            f"adls.sas-token-expires-at-ms.{host}": "1000",
            "adls.refresh-credentials-endpoint": f"{lender.address}{PATH}",
        }
    )
    location = f"abfss://box@{host}/renewed"
    io.write(location, b"data", overwrite=False)
    assert io.read(location) == b"data"
    assert len(lender.requests) == 1
