"""The requests that Google Cloud Storage is sent, and what its answers are taken for.

There is no emulator of its XML protocol to install; this server answers as the protocol's reference says.
"""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from icefloe import _core
from icefloe.exceptions import FileAlreadyExistsError, MissingFileError

from tests.storage.servers import serving


class GcsHandler(BaseHTTPRequestHandler):
    objects: dict[str, bytes]
    seen: list[tuple[str, dict[str, str]]]
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        name = unquote(url.path)
        self.seen.append((self.command, {key.lower(): value for key, value in self.headers.items()}))
        if self.command == "PUT":
            if self.headers.get("x-goog-if-generation-match") == "0" and name in self.objects:
                self.reply(412)
            else:
                self.objects[name] = body
                self.reply(200)
        elif "list-type" in url.query:
            self.reply(200, listing(self.objects, parse_qs(url.query)["prefix"][0]))
        elif name not in self.objects:
            self.reply(404)
        elif self.command == "DELETE":
            del self.objects[name]
            self.reply(204)
        else:
            self.reply(200, self.objects[name])

    do_GET = do_PUT = do_DELETE = do_HEAD = answer  # noqa: N815  the names that the server looks for

    def reply(self, status: int, data: bytes = b"") -> None:
        self.send_response(status)
        for key, value in {
            "Content-Length": str(len(data)),
            "ETag": '"1"',
            "x-goog-generation": "1",
            "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT",
        }.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def gcs():
    """Address of a server, its objects, and the headers of the requests."""
    state = {"objects": {}, "seen": []}
    with serving(type("GcsHandlerOfOne", (GcsHandler,), state)) as address:
        yield address, state["objects"], state["seen"]


def listing(objects: dict[str, bytes], prefix: str) -> bytes:
    keys = sorted(name.removeprefix("/bucket/") for name in objects)
    entries = "".join(
        f"<Contents><Key>{key}</Key><Size>{len(objects[f'/bucket/{key}'])}</Size>"
        "<LastModified>2015-10-21T07:28:00.000Z</LastModified><ETag>1</ETag></Contents>"
        for key in keys
        if key.startswith(prefix)
    )
    return f"<ListBucketResult>{entries}</ListBucketResult>".encode()


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


def test_a_creation_asks_that_there_be_nothing(gcs):
    address, objects, seen = gcs
    io = _core.FileIo({"gcs.service.host": address, "gcs.no-auth": "true"})
    io.write("gs://bucket/a", b"first", overwrite=False)
    with pytest.raises(FileAlreadyExistsError, match="gs://bucket/a"):
        io.write("gs://bucket/a", b"second", overwrite=False)
    assert objects == {"/bucket/a": b"first"}
    assert all(headers["x-goog-if-generation-match"] == "0" for method, headers in seen if method == "PUT")
    assert {headers.get("authorization", "Bearer").strip() for _, headers in seen} == {"Bearer"}
