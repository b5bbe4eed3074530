"""Changes that merge manifests, and lose the race to other commits before they are repeated."""

from __future__ import annotations

import pyarrow as pa
import pytest

MERGING = {"commit.manifest.min-count-to-merge": "2", "commit.retry.min-wait-ms": "1"}
MODES = {f"write.{verb}.mode": "merge-on-read" for verb in ("delete", "update", "merge")}


@pytest.fixture
def table(new_table):
    return new_table(properties={**MERGING, **MODES})


@pytest.fixture
def lose(catalog, monkeypatch):
    """Return a function that lets other changes win the race before each of the next commits of a handle."""
    commit = catalog.commit_table

    def let_others_win(*changes):
        left = list(changes)

        def commit_after_others(*arguments):
            if left:
                change = left.pop(0)
                monkeypatch.setattr(catalog, "commit_table", commit)
                change(catalog.load_table("db.t"))
                monkeypatch.setattr(catalog, "commit_table", commit_after_others)
            return commit(*arguments)

        monkeypatch.setattr(catalog, "commit_table", commit_after_others)

    return let_others_win


def append(number):
    return lambda table: table.append(pa.table({"id": [number]}))


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def metadata_files(table):
    found = table.io.core.list(f"{table.location()}/metadata").column("location").to_pylist()
    return {path for path in found if path.endswith(".avro")}


def referenced(table):
    """Return the manifest lists of all snapshots, and their manifests."""
    lists = {snapshot.manifest_list for snapshot in table.snapshots()}
    return lists | {one.manifest_path for snapshot in table.snapshots() for one in snapshot.manifests(table.io)}


def test_append_merges_the_manifests_of_each_version_that_won(table, lose):
    lose(append(20), append(21), append(22))
    table.append(pa.table({"id": [7]}))
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 20, 21, 22]
    assert table.current_snapshot().summary["total-data-files"] == "6"
    assert len(table.current_snapshot().manifests(table.io)) == 1
    assert metadata_files(table) == referenced(table)


def test_delete_files_stay_apart_from_merged_data_manifests(table, lose):
    lose(append(20), lambda other: other.delete("id = 4"), append(21))
    table.delete("id = 1")
    assert ids(table) == [2, 3, 5, 6, 20, 21]
    contents = [one.content.name for one in table.current_snapshot().manifests(table.io)]
    assert sorted(contents) == ["DATA", "DELETES"]
    assert metadata_files(table) == referenced(table)


def test_entries_keep_their_sequence_numbers_through_merges_of_a_retry(table, lose):
    before = {row["data_file"]["file_path"]: row["sequence_number"] for row in table.inspect.entries().to_pylist()}
    lose(append(20), append(21))
    table.append(pa.table({"id": [7]}))
    after = {row["data_file"]["file_path"]: row["sequence_number"] for row in table.inspect.entries().to_pylist()}
    assert before.items() <= after.items()
    assert sorted(after.values()) == [1, 2, 3, 4, 5]
