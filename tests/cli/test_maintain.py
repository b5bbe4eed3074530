"""The verbs that maintain tables."""

from datetime import datetime

import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq


@pytest.fixture
def small(table):
    """The table `db.t` with eight data files of a few rows each."""
    for start in range(10, 16):
        table.append(pa.table({"id": [start], "kind": ["a"]}))
    return table


def test_compact_plans_then_runs_and_finds_nothing_again(icefloe, small):
    plan = icefloe("compact", "db.t", "--dry-run", "-o", "json").json("change")
    assert (plan["result"], plan["nothing_to_do"]) == (None, False)
    assert len(list(small.refresh().scan().plan_files())) == 8
    rows = sorted(small.scan().to_arrow().column("id").to_pylist())
    done = icefloe("compact", "db.t", "--yes", "-o", "json").json("change")
    assert done["result"]["rewritten_data_files_count"] == 8
    assert len(list(small.refresh().scan().plan_files())) == 1
    assert sorted(small.scan().to_arrow().column("id").to_pylist()) == rows
    again = icefloe("compact", "db.t", "--yes", "-o", "json").json("change")
    assert (again["nothing_to_do"], again["result"]) == (True, None)


def test_compact_takes_a_filter_and_options(icefloe, small):
    arguments = ("--where", "id >= 10", "--min-input-files", "2", "--target-file-size-bytes", "100000")
    done = icefloe("compact", "db.t", *arguments, "--yes", "-o", "json").json("change")
    assert done["result"]["rewritten_data_files_count"] == 6


@pytest.mark.parametrize("strategy", ["zorder", "hilbert"])
def test_compact_arranges_rows_along_a_curve(icefloe, small, strategy):
    rows = sorted(small.scan().to_arrow().column("id").to_pylist())
    done = icefloe("compact", "db.t", "--strategy", strategy, "--by", "id,kind", "-y", "-o", "json").json("change")
    assert done["plan"]["summary"].startswith(f"rewrite_data_files ({strategy}(id, kind)): ")
    assert done["result"]["rewritten_data_files_count"] == 8
    assert sorted(small.refresh().scan().to_arrow().column("id").to_pylist()) == rows


def test_compact_sorts_rows(icefloe, small):
    done = icefloe("compact", "db.t", "--strategy", "sort", "--by", "kind DESC, id", "-y", "-o", "json").json("change")
    assert done["result"]["rewritten_data_files_count"] == 8
    ids = small.refresh().scan().to_arrow().column("id").to_pylist()
    assert ids == [5, 2, 4, 1, 3, 10, 11, 12, 13, 14, 15, 6]


def test_rewrite_deletes_and_dangling_deletes(icefloe, small):
    with small.update_properties() as update:
        update.set_properties({"write.delete.mode": "merge-on-read"})
    for number in (1, 2, 4, 10):
        small.delete(f"id = {number}")
    done = icefloe("rewrite-deletes", "db.t", "--rewrite-all", "-y", "-o", "json").json("change")
    assert done["plan"]["summary"].startswith("rewrite_position_deletes: ")
    dangling = icefloe("rewrite-deletes", "db.t", "--dangling", "-y", "-o", "json").json("change")
    assert dangling["nothing_to_do"] is True
    assert icefloe("rewrite-deletes", "db.t", "--dangling", "--equality", "-y").code == 2
    assert icefloe("rewrite-deletes", "db.t", "--dangling", "--where", "id = 1", "-y").code == 2
    assert icefloe("rewrite-deletes", "db.t", "--rewrite-all", "--where", "id < 0", "-y").code == 0


def test_rewrite_manifests_leaves_one(icefloe, small):
    done = icefloe("rewrite-manifests", "db.t", "-y", "-o", "json").json("change")
    assert done["result"]["added_manifests_count"] == 1
    assert small.refresh().inspect.manifests().num_rows == 1


def test_commands_of_the_doctor_run_and_mend(icefloe, small):
    (finding,) = icefloe("doctor", "db.t", "-o", "json").json("doctor")["findings"]
    words = finding["command"].split()
    assert words[0] == "icefloe"
    assert icefloe(*words[1:], "--yes").code == 0
    assert icefloe("doctor", "db.t").code == 0


@pytest.mark.parametrize("verb", ["compact", "rewrite-deletes", "rewrite-manifests"])
def test_maintenance_without_terminal_and_yes_is_refused_before_any_work(icefloe, monkeypatch, verb):
    monkeypatch.setenv("ICEFLOE_CATALOG__LAKE__URI", "sqlite:////no/such/directory/catalog.db")
    assert icefloe(verb, "db.t").code == 2


def test_strategy_and_columns_are_checked(icefloe, table):
    assert icefloe("compact", "db.t", "--by", "id", "-y").code == 2
    assert icefloe("compact", "db.t", "--strategy", "zorder", "-y").code == 2


def test_expire_removes_snapshots_and_their_files(icefloe, small):
    done = icefloe("expire", "db.t", "--older-than", "0s", "--retain-last", "2", "-y", "-o", "json").json("change")
    assert done["result"] is not None
    assert len(small.refresh().snapshots()) == 2
    again = icefloe("expire", "db.t", "--older-than", "0s", "--retain-last", "2", "-y", "-o", "json").json("change")
    assert again["nothing_to_do"] is True


def test_orphans_deletes_files_that_nothing_refers_to(icefloe, small, tmp_path):
    stray = tmp_path / "warehouse" / "db" / "t" / "data" / "stray.parquet"
    stray.write_bytes(b"PAR1")
    assert icefloe("orphans", "db.t", "--older-than", "0s", "-y").code != 0
    assert stray.exists()
    assert icefloe("orphans", "db.t", "--older-than", "0s", "--force", "-y").code == 0
    assert not stray.exists()
    assert small.refresh().scan().count() == 12


def test_orphans_beside_a_table_that_is_not_in_use_are_deleted_on_request(icefloe, small, lake):
    inner = lake.create_table("db.inner", pa.schema([("id", pa.int64())]), location=f"{small.location()}/inner")
    arguments = ("orphans", "db.t", "--older-than", "0s", "--force", "-y")
    refused = icefloe(*arguments)
    assert (refused.code, "shares its directories" in refused.err) == (1, True)
    inner.io.delete(inner.metadata_location)
    refused = icefloe(*arguments)
    assert "pass check_neighbours(False), or --ignore-neighbours to the command" in refused.err
    assert icefloe(*arguments, "--ignore-neighbours").code == 0
    assert small.refresh().scan().count() == 12


def test_analyze_stores_statistics(icefloe, small):
    assert icefloe("analyze", "db.t", "-y").code == 0
    assert len(small.refresh().metadata.statistics) == 1


def test_maintain_plans_runs_and_finds_nothing_again(icefloe, small):
    with small.update_properties() as update:
        update.set_properties({"history.expire.max-snapshot-age-ms": "1"})
    plan = icefloe("maintain", "db.t", "--plan", "-o", "json").json("change")
    assert [one["step"] for one in plan["plan"]["steps"] if one["plan"] is not None] == ["compact", "expire"]
    assert plan["plan"]["steps"][-1]["planned_again_after"] == ["compact", "expire"]
    assert icefloe("maintain", "db.t").code == 2
    done = icefloe("maintain", "db.t", "--run", "-o", "json").json("change")
    assert [(one["step"], one["failure"]) for one in done["result"]["steps"]] == [("compact", None), ("expire", None)]
    assert len(list(small.refresh().scan().plan_files())) == 1
    assert small.scan().count() == 12
    assert len(small.snapshots()) == 1
    again = icefloe("maintain", "db.t", "--run", "-o", "json").json("change")
    assert (again["nothing_to_do"], again["result"]) == (True, None)


def test_maintain_takes_the_options_of_the_other_verbs(icefloe, small):
    planned = icefloe("maintain", "db.t", "--plan", "-o", "json")
    same = icefloe("maintain", "db.t", "--dry-run", "-o", "json")
    assert (same.code, planned.code) == (0, 0)
    assert same.json("change")["plan"]["steps"] == planned.json("change")["plan"]["steps"]
    assert icefloe("maintain", "db.t", "--yes").code == 0
    assert icefloe("maintain", "db.t", "--run", "-o", "json").json("change")["nothing_to_do"]


def test_young_cutoffs_are_warned_of(icefloe, small):
    assert (
        "warning: db.t: snapshots younger than 6 hours expire"
        in icefloe("expire", "db.t", "--older-than", "0s", "-y").err
    )


def test_maintain_leaves_a_table_alone_that_says_so(icefloe, small):
    with small.update_properties() as update:
        update.set_properties({"maintenance.enabled": "false"})
    assert icefloe("maintain", "db.t", "--run", "-o", "json").json("change")["nothing_to_do"] is True
    with small.update_properties() as update:
        update.set_properties({"maintenance.enabled": "true", "maintenance.steps": "rewrite-manifests"})
    assert icefloe("maintain", "db.t", "--run", "-o", "json").json("change")["nothing_to_do"] is True


def test_maintain_reports_steps_that_cannot_run(icefloe, small):
    with small.update_properties() as update:
        update.set_properties({"gc.enabled": "false"})
    plan = icefloe("maintain", "db.t", "--plan", "-o", "json").json("change")["plan"]
    assert [one["step"] for one in plan["steps"] if one["refusal"] is not None] == ["expire", "orphans"]
    done = icefloe("maintain", "db.t", "--run", "-o", "json")
    steps = {one["step"]: one["failure"] for one in done.json("change")["result"]["steps"]}
    assert (done.code, steps["compact"]) == (6, None)
    assert "gc.enabled is false" in steps["expire"]
    again = icefloe("maintain", "db.t", "--run")
    assert (again.code, "nothing to do; cannot run: expire, orphans" in again.text) == (6, True)
    assert icefloe("maintain", "db.t", "--plan").code == 0
    with small.update_properties() as update:
        update.set_properties({"maintenance.steps": "compact, rewrite-manifests"})
    assert icefloe("maintain", "db.t", "--run").code == 0


def test_compact_takes_the_thresholds_of_the_table(icefloe, table):
    assert icefloe("compact", "db.t", "-y", "-o", "json").json("change")["nothing_to_do"] is True
    with table.update_properties() as update:
        update.set_properties({"maintenance.compact.min-small-files": "2"})
    given = icefloe("compact", "db.t", "--min-input-files", "3", "-y", "-o", "json").json("change")
    assert given["nothing_to_do"] is True
    done = icefloe("compact", "db.t", "--target-file-size-bytes", "100000", "-y", "-o", "json").json("change")
    assert done["result"]["rewritten_data_files_count"] == 2


@pytest.mark.parametrize("verb", ["expire", "orphans"])
def test_age_that_is_no_duration_is_wrong_usage(icefloe, table, verb):
    done = icefloe(verb, "db.t", "--older-than", "7 days", "-y")
    assert done.code == 2
    assert "--older-than: expected a time such as 2026-11-01T00:00Z or an age such as 7d, got '7 days'" in done.err


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_orphans_takes_an_inventory(icefloe, small, tmp_path, ending):
    directory = tmp_path / "warehouse" / "db" / "t" / "data"
    stray, other = directory / "stray.parquet", directory / "other.parquet"
    for path in (stray, other):
        path.write_bytes(b"PAR1")
    old = pa.array([datetime(2001, 1, 1, microsecond=1)], pa.timestamp("us"))
    report = pa.table({"file_path": [str(stray)], "last_modified": old, "size": [4]})
    path = tmp_path / f"inventory.{ending}"
    (pq.write_table if ending == "parquet" else csv.write_csv)(report, path)
    options = ("--inventory", path, "--equal-schemes", "s3a,s3n=s3", "--prefix-mismatch-mode", "ignore")
    done = icefloe("orphans", "db.t", *options, "-y", "-o", "json").json("change")
    assert done["result"]["deleted_files"] == 1
    assert (stray.exists(), other.exists()) == (False, True)
    path.write_bytes(b"no report")
    assert icefloe("orphans", "db.t", "--inventory", path, "-y").code == 2
    assert icefloe("orphans", "db.t", "--allow-outside", "-y").code == 2


def test_analyze_counts_columns_of_a_version(icefloe, small):
    first = small.snapshots()[0].snapshot_id
    done = icefloe("analyze", "db.t", "--columns", "kind", "--at", first, "-y", "-o", "json").json("change")
    assert done["result"]["distinct_counts"] == {"kind": 2}
    assert small.refresh().metadata.statistics[0].snapshot_id == first
    assert icefloe("analyze", "db.t", "--partitions", "--columns", "kind", "-y").code == 2


def test_rewrite_manifests_of_a_branch_by_a_field(icefloe, small):
    small.manage_snapshots().create_branch(small.current_snapshot().snapshot_id, "dev").commit()
    done = icefloe("rewrite-manifests", "db.t", "--branch", "dev", "--spec-id", "0", "-y", "-o", "json").json("change")
    assert done["result"]["added_manifests_count"] == 1
    assert small.refresh().inspect.manifests().num_rows > 1
    assert icefloe("rewrite-manifests", "db.t", "--by", "none", "-y").code == 1
