"""The requests that Google Cloud Storage is sent, and what its answers are taken for."""

from __future__ import annotations

import pytest
from icefloe import _core
from icefloe.exceptions import FileAlreadyExistsError, MissingFileError

from tests.storage.gcs_server import gcs_server


@pytest.fixture
def gcs():
    """Address of a server, its objects, and the headers of the requests."""
    with gcs_server() as server:
        yield server


def test_objects_are_written_read_listed_and_deleted(gcs):
    address, objects, seen = gcs
    io = _core.FileIo({"gcs.service.host": address, "gcs.oauth2.token": "a-token"})
    for name in ("plain", "a b", "100%", "a#12", "a+b=c"):
        io.write(f"gs://bucket/dir/{name}", name.encode(), overwrite=True)
        assert objects[f"/bucket/dir/{name}"] == name.encode()
        assert io.read(f"gcs://bucket/dir/{name}") == name.encode()
    assert io.list("gs://bucket/dir")["location"].to_pylist()[0] == "gs://bucket/dir/100%"
    assert io.delete_many([f"gs://bucket/dir/{name}" for name in ("plain", "a b", "gone")]) == []
    assert set(objects) == {"/bucket/dir/100%", "/bucket/dir/a#12", "/bucket/dir/a+b=c"}
    with pytest.raises(MissingFileError):
        io.read("gs://bucket/dir/plain")
    assert {headers.get("authorization") for _, headers in seen} == {"Bearer a-token"}


def test_creation_asks_that_there_be_nothing(gcs):
    address, objects, seen = gcs
    io = _core.FileIo({"gcs.service.host": address, "gcs.no-auth": "true"})
    io.write("gs://bucket/a", b"first", overwrite=False)
    with pytest.raises(FileAlreadyExistsError, match="gs://bucket/a"):
        io.write("gs://bucket/a", b"second", overwrite=False)
    assert objects == {"/bucket/a": b"first"}
    assert all(headers["x-goog-if-generation-match"] == "0" for method, headers in seen if method == "PUT")
    assert "authorization" not in {name for _, headers in seen for name in headers}
