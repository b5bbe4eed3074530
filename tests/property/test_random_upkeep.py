"""Random tables with branches, tags, staged snapshots and statistics: every maintenance verb, in any order, also by plans of earlier versions."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta, timezone
from random import Random

from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError

from tests.exact_rows import exact
from tests.property.random_filter import random_filter
from tests.property.table_model import TableModel
from tests.property.test_random_tables import check_rows
from tests.unit.table.maintenance.every_file import files_of, make_old, put

STEPS = 4
NAMES = ("one", "two")
WRONG = {"missing-files", "wrong-file-sizes", "unreadable-files", "wrong-statistics", "wrong-delete-statistics"}
PLANTED = "data/planted.parquet"


def is_leftover(path):
    """Whether a file is of an earlier version of the metadata, or staged for a copy of the table."""
    return path.endswith((".metadata.json", ".metadata.json.gz")) or "/copy-table-staging-" in path


def later():
    return datetime.now(timezone.utc) + timedelta(hours=1)


class Upkeep:
    """A random table, and the rows of each of its snapshots as they were first read."""

    def __init__(self, catalog, rng):
        self.rng, self.model = rng, TableModel(catalog, rng)
        self.rows, self.number = {}, 0

    @property
    def table(self):
        return self.model.table

    @property
    def maintenance(self):
        return self.table.maintenance

    def snapshot(self):
        return self.rng.choice(self.table.snapshots()).snapshot_id

    def branch_name(self):
        return self.rng.choice([name for name in ("main", *NAMES) if name in self.table.refs()] or ["main"])

    # ---- changes that leave the rows of main alone

    def ref(self):
        name, manage = self.rng.choice(NAMES), self.table.manage_snapshots()
        if name in self.table.refs():
            manage.remove_branch(name).commit()
        else:
            setting = self.rng.choice([{}, {"min_snapshots_to_keep": 3}, {"max_snapshot_age_ms": 1}])
            manage.create_branch(self.snapshot(), name, **setting).commit()

    def tag(self):
        manage = self.table.manage_snapshots()
        if "tag" in self.table.refs():
            manage.remove_tag("tag").commit()
        else:
            manage.create_tag(self.snapshot(), "tag").commit()

    def write_to_branch(self):
        name = self.branch_name()
        if name != "main":
            self.model.choose_mode()
            self.table.append(self.model.arrow(self.model.new_rows()), branch=name)
            self.table.delete(random_filter(self.rng, self.model.struct).expression(), branch=name)

    def stage(self):
        self.number += 1
        new = self.model.arrow(self.model.new_rows())
        self.table.append(new, branch=None, snapshot_properties={"wap.id": str(self.number)})

    def statistics(self):
        self.maintenance.compute_statistics().snapshot(self.snapshot()).execute()
        if any(str(field.transform) != "void" for field in self.table.spec().fields):
            self.maintenance.compute_partition_statistics().execute()

    def copy(self):
        location = self.table.location()
        self.maintenance.rewrite_table_path(location, f"{location}-copy").execute()

    def doctor(self):
        found = self.table.doctor(files=self.rng.choice(["list", "heads"]), statistics=True)
        assert not WRONG & {one.code for one in found.findings}

    # ---- maintenance

    def builder(self):
        rng, verbs = self.rng, self.maintenance
        few = {"min_input_files": rng.choice([1, 2, 5])}
        makers = [
            lambda: (
                verbs.rewrite_data_files()
                .branch(self.branch_name())
                .options(delete_file_threshold=rng.choice([None, 1, 3]), **few)
            ),
            lambda: verbs.rewrite_position_deletes().branch(self.branch_name()).options(**few),
            lambda: verbs.convert_equality_deletes().branch(self.branch_name()),
            lambda: verbs.remove_dangling_deletes().branch(self.branch_name()),
            lambda: verbs.rewrite_manifests().branch(self.branch_name()),
            lambda: (
                verbs.expire_snapshots()
                .older_than(later())
                .retain_last(rng.randint(1, 3))
                .clean_expired_metadata(rng.random() < 0.5)
            ),
            verbs.remove_orphan_files,
            verbs.compute_statistics,
            verbs.policy,
        ]
        make_old(self.table)
        return rng.choice(makers)()

    def verb(self):
        builder = self.builder()
        planted = {put(self.table, PLANTED)}
        before = files_of(self.table)
        plan = pickle.loads(pickle.dumps(builder.plan()))
        result = self.maintenance.execute(plan)
        assert not getattr(result, "failures", ()), result
        assert builder.plan().is_empty, (str(plan), str(builder.plan()))
        if plan.verb == "remove_orphan_files":
            deleted = before - files_of(self.table)
            assert planted <= deleted
            assert {path for path in deleted - planted if not is_leftover(path)} == set()

    def verb_by_a_plan_of_an_earlier_version(self):
        plan = self.builder().plan()
        for _ in range(self.rng.randint(1, 2)):
            self.rng.choice([self.model.step, self.verb, self.write_to_branch])()
        try:
            self.maintenance.execute(plan)
        except IcebergError:
            self.table.refresh()

    def check(self):
        check_rows(self.model)
        for snapshot in self.table.snapshots():
            found = exact(self.table.scan(snapshot_id=snapshot.snapshot_id).to_arrow())
            assert self.rows.setdefault(snapshot.snapshot_id, found) == found


def test_upkeep_keeps_the_rows_of_every_snapshot_and_leaves_no_orphan(table_seed):
    rng = Random(f"upkeep {table_seed}")
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        upkeep = Upkeep(catalog, rng)
        others = ["ref", "tag", "write_to_branch", "stage", "statistics", "copy", "doctor"]
        log = []
        try:
            upkeep.model.append()
            for _ in range(STEPS):
                for name in ("model", rng.choice(others), "verb", "verb_by_a_plan_of_an_earlier_version"):
                    log.append(name)
                    upkeep.model.step() if name == "model" else getattr(upkeep, name)()
                upkeep.check()
            upkeep.maintenance.expire_snapshots().older_than(later()).execute()
            make_old(upkeep.table)
            found = upkeep.maintenance.remove_orphan_files().plan().orphans.column("location").to_pylist()
            assert [path for path in found if not path.endswith(PLANTED) and not is_leftover(path)] == []
            upkeep.check()
        except BaseException:
            print(upkeep.model.schema, *upkeep.model.log, *log, sep="\n")
            raise
