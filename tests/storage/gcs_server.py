"""A server that answers as the reference of Google Cloud Storage's XML protocol says: there is no emulator of it to install."""

from __future__ import annotations

import contextlib
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

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
            query = parse_qs(url.query)
            self.reply(200, listing(self.objects, query.get("prefix", [""])[0], query.get("delimiter", [None])[0]))
        elif name not in self.objects:
            self.reply(404)
        elif self.command == "DELETE":
            del self.objects[name]
            self.reply(204)
        else:
            self.part(self.objects[name], self.headers.get("Range"))

    do_GET = do_PUT = do_DELETE = do_HEAD = answer  # noqa: N815  the names that the server looks for

    def part(self, data: bytes, wanted: str | None) -> None:
        if wanted is None:
            self.reply(200, data)
            return
        first, last = wanted.removeprefix("bytes=").split("-")
        start = int(first) if first else max(0, len(data) - int(last))
        stop = min(len(data), int(last) + 1) if first and last else len(data)
        self.reply(206, data[start:stop], f"bytes {start}-{stop - 1}/{len(data)}")

    def reply(self, status: int, data: bytes = b"", described: str | None = None) -> None:
        self.send_response(status)
        for key, value in {
            "Content-Length": str(len(data)),
            "ETag": '"1"',
            "x-goog-generation": "1",
            "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT",
            "Content-Range": described,
        }.items():
            if value is not None:
                self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def listing(objects: dict[str, bytes], prefix: str, delimiter: str | None) -> bytes:
    keys = sorted(name.removeprefix("/bucket/") for name in objects)
    below = [key for key in keys if key.startswith(prefix)]
    grouped = [key for key in below if delimiter is not None and delimiter in key[len(prefix) :]]
    groups = sorted({prefix + key[len(prefix) :].split(str(delimiter))[0] + str(delimiter) for key in grouped})
    entries = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{len(objects[f'/bucket/{key}'])}</Size>"
        "<LastModified>2015-10-21T07:28:00.000Z</LastModified><ETag>1</ETag></Contents>"
        for key in below
        if key not in grouped
    )
    prefixes = "".join(f"<CommonPrefixes><Prefix>{escape(group)}</Prefix></CommonPrefixes>" for group in groups)
    return f"<ListBucketResult>{entries}{prefixes}</ListBucketResult>".encode()


@contextlib.contextmanager
def gcs_server():
    """Address of a server, its objects, and the methods and headers of the requests."""
    state = {"objects": {}, "seen": []}
    with serving(type("GcsHandlerOfOne", (GcsHandler,), state)) as address:
        yield address, state["objects"], state["seen"]
