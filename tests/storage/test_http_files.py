"""Files of a web server, with and without ranges."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.exceptions import FeatureUnsupportedError, MissingFileError, ValidationError

from tests.storage.servers import serving
from tests.unit.scan_tables import ID, arrow_field, read, schema, task, write


@pytest.fixture(params=["ranges", "whole"])
def site(request, tmp_path):
    """A web server of a directory; gives its address and the requests made."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            seen.append((self.command, self.path, self.headers.get("Range")))
            path = tmp_path / unquote(self.path).lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            data = path.read_bytes()
            wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            if wanted is None or request.param == "whole":
                self.reply(200, data)
                return
            first, last = wanted.groups()
            start = int(first) if first else max(0, len(data) - int(last))
            end = min(len(data), int(last) + 1) if first and last else len(data)
            self.reply(206, data[start:end], f"bytes {start}-{end - 1}/{len(data)}")

        do_HEAD = do_GET  # noqa: N815

        def reply(self, status, data, content_range=None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
            self.send_header("ETag", '"1"')
            if content_range is not None:
                self.send_header("Content-Range", content_range)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as address:
        yield address, seen


def test_file_is_read(site, tmp_path):
    address, _ = site
    (tmp_path / "a b%.txt").write_bytes(b"abc")
    io = _core.FileIo({})
    location = f"{address}/a%20b%25.txt"
    assert io.read(location) == b"abc"
    assert io.size(location) == 3
    assert io.exists(location)
    assert not io.exists(f"{address}/other")
    with pytest.raises(MissingFileError, match="other"):
        io.read(f"{address}/other")


def test_nothing_is_written_deleted_or_listed(site):
    address, _ = site
    io = _core.FileIo({})
    for call in (
        lambda: io.write(f"{address}/a", b"", overwrite=True),
        lambda: io.write(f"{address}/a", b"", overwrite=False),
        lambda: io.delete(f"{address}/a"),
        lambda: io.list(f"{address}/"),
    ):
        with pytest.raises(FeatureUnsupportedError, match=address):
            call()
    assert [location for location, _ in io.delete_many([f"{address}/a"])] == [f"{address}/a"]


def test_query_or_a_password_is_refused_and_not_shown():
    for location in ("https://host/a?sig=hush", "https://user:hush@host/a"):
        with pytest.raises(ValidationError) as caught:
            _core.FileIo({}).read(location)
        assert "hush" not in str(caught.value)


def test_data_file_is_scanned_over_http(site, tmp_path):
    address, seen = site
    catalog = load_catalog("c", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    data = pa.table(
        {"id": pa.array(range(200_000), pa.int64()), "text": [f"{i * 7919 % 99991}" for i in range(200_000)]}
    )
    properties = {"write.parquet.row-group-size-bytes": "300000"}
    table = catalog.create_table("db.t", data.schema, properties=properties)
    table.append(data)
    plan = table.scan(row_filter="id >= 150000").plan()
    local = plan.files["file_path"].to_pylist()
    remote = [path.replace(str(tmp_path), address, 1) for path in local]
    index = plan.files.schema.get_field_index("file_path")
    files = plan.files.set_column(index, "file_path", pa.array(remote, pa.string()))
    projection = table.schema().model_dump_json()
    stream = _core.read(_core.FileIo({}), plan.context, files, plan.deletes, projection=projection)
    found = pa.RecordBatchReader.from_stream(stream).read_all()
    assert sorted(found["id"].to_pylist()) == list(range(150_000, 200_000))
    assert any(header is not None for _, _, header in seen)


@pytest.mark.parametrize("site", ["ranges"], indirect=True)
def test_pages_that_are_ruled_out_are_not_fetched(site, tmp_path):
    address, seen = site
    columns = {arrow_field(1, "id", pa.int64()): pa.array(range(1_000_000), pa.int64())}
    options = {"compression": "none", "use_dictionary": False, "write_page_index": True, "max_rows_per_page": 5_000}
    path = write(tmp_path / "rows.parquet", columns, **options)
    residual = json.dumps({"type": "in", "term": "id", "values": [3, 600_000]})
    filtered = task(path, residual=residual) | {"file_path": f"{address}/rows.parquet"}
    assert read([filtered], schema(ID))["id"].to_pylist() == [3, 600_000]
    wanted = [re.fullmatch(r"bytes=(\d+)-(\d+)", header) for _, _, header in seen if header is not None]
    fetched = [int(last) + 1 - int(first) for first, last in (match.groups() for match in wanted if match is not None)]
    assert len(fetched) == 2
    assert sum(fetched) < 200_000
