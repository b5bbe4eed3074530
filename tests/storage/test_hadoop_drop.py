"""Drops of hadoop tables on S3 whose files cannot be listed."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import LeftoverFilesWarning


def test_drop_whose_files_cannot_be_listed_warns_and_the_next_drop_completes_it(s3, line, bucket):
    properties = {"type": "hadoop", "warehouse": f"s3://{bucket}/warehouse", **s3.properties()}
    direct = load_catalog("cat", **properties)
    direct.create_namespace("db")
    direct.create_table("db.t", pa.schema([("id", pa.int64())])).append(pa.table({"id": [1]}))
    far = load_catalog("cat", **{**properties, "s3.endpoint": line.endpoint})

    def fault(request):
        is_listing = request.method == "GET" and "list-type=2" in request.path
        return 403 if is_listing and line.seen("PUT", ".metadata.json") else None

    line.fault = fault
    with pytest.warns(LeftoverFilesWarning, match=r"db\.t is dropped"):
        far.drop_table("db.t")
    assert direct.list_tables("db") == []
    direct.drop_table("db.t")
    direct.create_table("db.t", pa.schema([("id", pa.int64())]))
    assert direct.load_table("db.t").scan().count() == 0
