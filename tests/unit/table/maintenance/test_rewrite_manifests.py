"""Rewriting manifests by a plan."""

import pickle

import pytest
from icefloe.exceptions import ValidationError

from tests.unit.table.conftest import BY_KIND

MERGE_ON_READ = {"write.delete.mode": "merge-on-read", "commit.manifest-merge.enabled": "false"}


@pytest.fixture
def many_manifests(new_table, rows):
    def make(spec=None):
        table = new_table(spec, MERGE_ON_READ)
        for number in range(10, 14):
            table.append(rows((number, "ab"[number % 2], None), (number + 10, "c", None)))
        return table

    return make


def manifests(table, content=0):
    found = table.inspect.manifests()
    return [row for row in found.to_pylist() if row["content"] == content]


def test_manifests_become_one(many_manifests, content):
    table = many_manifests()
    before = content(table)
    plan = pickle.loads(pickle.dumps(table.maintenance.rewrite_manifests().plan()))
    assert plan.file_count == 6
    assert set(plan.rows().column("reason").to_pylist()) == {"more manifests than their bytes need"}
    result = table.maintenance.execute(plan)
    assert (result.rewritten_manifests_count, result.added_manifests_count) == (6, 1)
    assert len(manifests(table)) == 1
    assert content(table) == before
    assert table.maintenance.rewrite_manifests().plan().is_empty
    assert table.maintenance.rewrite_manifests().execute().snapshot_id is None
    assert table.maintenance.execute(plan).snapshot_id is None


@pytest.mark.parametrize("target", ["8388608", "9000"])
def test_second_run_finds_nothing_when_the_snapshot_of_the_first_has_expired(many_manifests, target):
    table = many_manifests(BY_KIND)
    with table.update_properties() as update:
        update.set_properties({"commit.manifest.target-size-bytes": target})
    table.maintenance.rewrite_manifests().execute()
    count = len(manifests(table))
    assert (count > 1) is (target == "9000")
    assert table.maintenance.rewrite_manifests().plan().is_empty
    table.append(table.scan().to_arrow().slice(0, 0))
    table.maintenance.expire_snapshots().older_than("0s").execute()
    assert (len(table.snapshots()), len(manifests(table))) == (1, count)
    assert table.maintenance.rewrite_manifests().plan().is_empty


def test_delete_manifests_are_rewritten_apart(many_manifests, content):
    table = many_manifests()
    table.delete("id = 1")
    table.delete("id = 4")
    before = content(table)
    assert len(manifests(table, 1)) == 2
    table.maintenance.rewrite_manifests().execute()
    assert (len(manifests(table, 0)), len(manifests(table, 1))) == (1, 1)
    assert content(table) == before


def test_manifests_are_clustered_by_a_partition_field(many_manifests, content):
    table = many_manifests(BY_KIND)
    with table.update_properties() as update:
        update.set_properties({"commit.manifest.target-size-bytes": "12000"})
    before = content(table)
    table.maintenance.rewrite_manifests().sort_by("kind").execute()
    assert len(manifests(table)) > 1
    assert content(table) == before
    assert table.maintenance.rewrite_manifests().sort_by("kind").plan().is_empty
    kinds = [row for manifest in manifests(table) for row in [manifest["partition_summaries"]]]
    assert len(kinds) == len(manifests(table))


def test_predicate_chooses_manifests(many_manifests, content):
    table = many_manifests()
    before = content(table)
    newest = table.current_snapshot().snapshot_id
    plan = table.maintenance.rewrite_manifests().rewrite_if(lambda row: row["added_snapshot_id"] != newest).plan()
    assert plan.file_count == 5
    table.maintenance.execute(plan)
    assert len(manifests(table)) == 2
    assert content(table) == before


def test_specs_are_rewritten_apart(many_manifests, content, rows):
    table = many_manifests()
    with table.update_spec() as update:
        update.add_field("kind", "identity")
    table.append(rows((50, "a", None)))
    table.append(rows((51, "a", None)))
    before = content(table)
    assert table.maintenance.rewrite_manifests().spec_id(1).plan().file_count == 2
    table.maintenance.rewrite_manifests().execute()
    assert sorted(row["partition_spec_id"] for row in manifests(table)) == [0, 1]
    assert content(table) == before


def test_concurrent_append_stays(many_manifests, content, rows):
    table = many_manifests()
    plan = table.maintenance.rewrite_manifests().plan()
    table.catalog.load_table("db.t").append(rows((99, "a", None)))
    table.maintenance.execute(plan)
    assert 99 in table.scan().to_arrow().column("id").to_pylist()
    assert len(manifests(table)) == 2


def test_empty_table_has_no_manifests(catalog, rows):
    table = catalog.create_table("db.empty", rows().schema)
    assert table.maintenance.rewrite_manifests().plan().is_empty


def test_unknown_field_spec_or_branch_is_refused(many_manifests):
    builder = many_manifests(BY_KIND).maintenance.rewrite_manifests()
    with pytest.raises(ValidationError, match=r"sort_by: expected partition fields \['kind'\], got none"):
        builder.sort_by("none")
    with pytest.raises(ValidationError, match="expected the id of a partition spec"):
        builder.spec_id(7)
    with pytest.raises(ValidationError, match="branch 'none' does not exist"):
        builder.branch("none").plan()
