"""Findings of `Table.doctor` on paths of files at which something else lies."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from icefloe.exceptions import StorageError
from icefloe.table.doctor.facts import TableFacts
from icefloe.table.doctor.storage_checks import check_storage

from tests.unit.table.doctor.doctor_tables import found


def put_directory(path):
    path.unlink()
    path.mkdir()
    (path / "part").write_bytes(b"rows")


def put_loop(path):
    path.unlink()
    path.symlink_to(path.name)


def put_file_as_parent(path):
    shutil.rmtree(path.parent)
    path.parent.write_bytes(b"no directory")


def data_files(table):
    return [task.file.file_path for task in table.scan().plan_files()]


@pytest.mark.parametrize("damage", [put_directory, put_loop, put_file_as_parent])
def test_doctor_reports_paths_that_are_no_files(new_table, damage):
    table = new_table(appends=3)
    locations = data_files(table)
    damage(Path(locations[0]))
    damaged = set(locations) if damage is put_file_as_parent else {locations[0]}
    by_footers = found(table, statistics=True)["unreadable-files"]
    assert set(by_footers.evidence["reasons"]) == damaged
    assert set(found(table, files="list")["missing-files"].evidence["locations"]) == damaged
    by_heads = found(table, files="heads")
    reported = [
        by_heads[code].evidence["locations"] for code in ("missing-files", "inaccessible-files") if code in by_heads
    ]
    assert set().union(*reported) == damaged


def test_doctor_states_why_storage_refuses_a_file(new_table):
    table = new_table(appends=3)
    first, *_ = data_files(table)
    put_loop(Path(first))
    finding = found(table, files="heads")["inaccessible-files"]
    assert finding.evidence == {
        "inaccessible": 1,
        "files": 7,
        "locations": [first],
        "reasons": finding.evidence["reasons"],
    }
    assert "symbolic links" in finding.evidence["reasons"][0]
    assert first in finding.sentence


def test_doctor_reports_a_manifest_that_storage_refuses(new_table):
    table = new_table(appends=2)
    put_loop(Path(table.inspect.manifests().column("path")[0].as_py()))
    finding = found(table, files="heads")["unreadable-metadata"]
    assert "symbolic links" in finding.evidence["reason"]


def test_doctor_reports_directories_that_storage_refuses_to_list(new_table):
    table = new_table(appends=2)
    facts = TableFacts.of(table)
    assert (facts.manifests.num_rows, facts.files.num_rows) == (2, 2)

    class Refusing:
        def list(self, location):
            raise StorageError(f"{location}: permission denied")

    object.__setattr__(facts, "io", SimpleNamespace(core=Refusing()))
    (finding,) = check_storage(facts, "list")
    assert (finding.code, finding.evidence["directories"], finding.evidence["reasons"]) == (
        "unlisted-directories",
        1,
        [f"{table.location()}: permission denied"],
    )


def test_doctor_stops_looking_up_files_that_storage_refuses(new_table):
    table = new_table(appends=60)
    facts = TableFacts.of(table)
    files = 1 + facts.manifests.num_rows + facts.files.num_rows
    asked = []

    class Unreachable:
        def sizes(self, locations):
            asked.append(locations)
            raise StorageError(f"{locations[0]}: cannot be reached")

    object.__setattr__(facts, "io", SimpleNamespace(core=Unreachable()))
    (finding,) = check_storage(facts, "heads")
    assert (finding.code, finding.evidence["inaccessible"], finding.evidence["files"]) == (
        "inaccessible-files",
        files,
        files,
    )
    assert len(asked) < files
