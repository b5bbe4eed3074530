"""The maintenance policy: its plan, its rules and a second run."""

import pickle
from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.table.maintenance.every_file import SCHEMA, ids_of, make_old, put, rows, table_of_every_kind

SMALL = {
    "maintenance.compact.min-small-files": "2",
    "maintenance.compact.max-deletes-per-file": "1",
    "maintenance.deletes.min-files": "2",
    "maintenance.manifests.min-count": "2",
    "history.expire.max-snapshot-age-ms": "1",
}


@pytest.fixture
def table(catalog):
    """A table with files of every kind and with orphan files, for which every step has something to do."""
    made = table_of_every_kind(catalog, properties=SMALL)
    put(made, "data/orphan.parquet")
    return made


def steps_of(value):
    return [one.step for one in value.steps]


def test_second_run_finds_nothing_to_do(table):
    before = ids_of(table.scan())
    plan = table.maintenance.policy().plan()
    assert steps_of(plan) == [
        "compact",
        "dangling-deletes",
        "rewrite-deletes",
        "compact",
        "rewrite-manifests",
        "expire",
        "orphans",
    ]
    result = table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert result.failures == ()
    assert ids_of(table.scan()) == before
    again = table.maintenance.policy().plan()
    assert again.is_empty, str(again)
    assert table.maintenance.policy().execute().steps == ()


def test_first_step_is_executed_exactly(table):
    plan = table.maintenance.policy().plan()
    planned = plan.steps[0].plan
    table.append(rows(70))
    result = table.maintenance.policy().execute(plan)
    assert result.steps[0].result.rewritten_data_files_count == planned.file_count
    assert 70 in ids_of(table.scan())


def test_steps_after_the_first_say_that_they_are_planned_again(table):
    plan = table.maintenance.policy().plan()
    follows = {number: one.follows[:1] for number, one in enumerate(plan.steps)}
    assert follows == {0: (), 3: ("rewrite-deletes",), **dict.fromkeys((1, 2, 4, 5, 6), ("compact",))}
    texts = plan.rows().column("reason").to_pylist()
    assert "planned again" not in texts[0]
    assert all("planned again after" in text for text in texts[1:])


def test_step_whose_turn_comes_first_is_not_planned_again(catalog):
    table = table_of_every_kind(catalog, properties={**SMALL, "maintenance.steps": "orphans"})
    orphan = put(table, "data/orphan.parquet")
    plan = table.maintenance.policy().plan()
    late = put(table, "data/late.parquet")
    result = table.maintenance.policy().execute(plan)
    assert result.steps[0].result.orphan_file_locations.to_pylist() == [orphan]
    assert table.io.core.exists(late)


def test_delete_files_that_apply_to_nothing_are_removed_without_a_compaction(catalog):
    table = catalog.create_table("db.t", SCHEMA, properties={"write.delete.mode": "merge-on-read"})
    keys = write_equality_deletes(table.io, table.metadata, pa.table({"id": [2]}), [1])
    table.new_row_delta().add_deletes(keys[0]).commit()
    table.append(rows(20))
    assert table.inspect.delete_files().num_rows == 1
    assert [one.step for one in table.maintenance.policy().plan().steps if one.has_changes] == ["dangling-deletes"]
    assert table.maintenance.policy().execute().failures == ()
    assert table.inspect.delete_files().num_rows == 0
    assert table.maintenance.policy().plan().is_empty


def test_data_files_are_compacted_whose_deleted_rows_show_in_rewritten_delete_files(catalog):
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    table = catalog.create_table("db.shared", SCHEMA, properties=properties)
    for start in (0, 10):
        table.append(rows(*range(start, start + 10)))
    table.delete("id in (0, 1, 2, 3, 4, 10)")
    with table.transaction() as transaction:
        transaction.set_properties({"write.delete.granularity": "file"})
    before = ids_of(table.scan())
    assert table.maintenance.policy().plan().steps[0].step == "rewrite-deletes"
    result = table.maintenance.policy().execute()
    assert (result.failures, steps_of(result)[:2]) == ((), ["rewrite-deletes", "compact"])
    assert result.steps[1].result.rewritten_data_files_count == 2
    assert ids_of(table.scan()) == before
    assert table.maintenance.policy().plan().is_empty


def test_every_share_of_the_target_can_be_small(catalog):
    table = catalog.create_table("db.t", SCHEMA, properties={"maintenance.compact.small-file-percent": "100"})
    for number in range(6):
        table.append(rows(number))
    assert table.maintenance.policy().plan().refusals == ()
    assert steps_of(table.maintenance.policy().execute()) == ["compact"]
    assert table.maintenance.policy().plan().is_empty


def test_steps_that_cannot_run_are_reported_and_the_others_run(catalog):
    table = catalog.create_table("db.t", SCHEMA, properties={"gc.enabled": "false"})
    assert (table.maintenance.policy().plan().is_empty, len(table.maintenance.policy().plan().refusals)) == (True, 2)
    for number in range(6):
        table.append(rows(number))
    plan = table.maintenance.policy().plan()
    assert plan.summary() == "policy: compact; cannot run: expire, orphans"
    result = table.maintenance.policy().execute(plan)
    assert [(one.step, one.result is None) for one in result.steps] == [
        ("compact", False),
        ("expire", True),
        ("orphans", True),
    ]
    assert len(result.failures) == 2
    assert "gc.enabled is false" in result.failures[0]
    assert result.summary().startswith("policy: ran 1 step\n")


def test_plan_of_other_rules_or_another_table_is_refused(table, catalog):
    plan = table.maintenance.policy().plan()
    with table.update_properties() as update:
        update.set_properties({"maintenance.manifests.min-count": "3"})
    with pytest.raises(ValidationException, match="maintenance properties have changed; make a new plan"):
        table.maintenance.policy().execute(plan)
    other = table_of_every_kind(catalog, "db.other")
    with pytest.raises(ValidationError, match="make a plan from this table"):
        other.maintenance.policy().execute(plan)


def test_young_cutoffs_are_warned_of(table):
    (young,) = table.maintenance.expire_snapshots().older_than("0s").plan().warnings
    assert "snapshots younger than 6 hours expire" in young
    assert table.maintenance.expire_snapshots().older_than("0s").delete_files(False).plan().warnings == ()
    make_old(table)
    (young,) = table.maintenance.remove_orphan_files().older_than("1d").plan().warnings
    assert "files younger than 3 days are deleted" in young
    assert table.maintenance.remove_orphan_files().plan().warnings == ()
    old = datetime.now(timezone.utc) - timedelta(days=30)
    assert table.maintenance.expire_snapshots().older_than(old).plan().warnings == ()
    assert any("younger than 6 hours" in text for text in table.maintenance.policy().plan().warnings)
