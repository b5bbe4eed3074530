"""The verb `rewrite-path`."""

import csv
import shutil
from pathlib import Path

from icefloe.table.static import StaticTable


def test_copy_is_staged_and_listed(icefloe, table, tmp_path):
    expected = sorted(table.scan().to_arrow().column("id").to_pylist())
    target = tmp_path / "copy"
    plan = icefloe("rewrite-path", "db.t", str(target), "--dry-run", "-o", "json").json("change")
    assert plan["result"] is None
    assert {file["kind"] for file in plan["plan"]["files"]} >= {"data", "manifest", "manifest_list", "metadata"}
    done = icefloe("rewrite-path", "db.t", str(target), "--yes", "-o", "json").json("change")
    with Path(done["result"]["file_list_location"]).open(newline="") as lines:
        for source, copy in csv.reader(lines):
            Path(copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    copied = StaticTable.from_metadata(done["result"]["metadata_location"])
    assert copied.location() == str(target)
    assert sorted(copied.scan().to_arrow().column("id").to_pylist()) == expected


def test_prefix_that_files_do_not_have_is_refused(icefloe, table):
    refused = icefloe("rewrite-path", "db.t", "/copy", "--source-prefix", "/elsewhere", "--yes")
    assert refused.code == 1
    assert "expected a location below the source prefix /elsewhere" in refused.err
