"""Deliberate bugs in the commit code, which the simulator or the faults at every call must find."""

from __future__ import annotations

from tests.simulator.found_maintenance import FOUND
from tests.simulator.maintaining import POLICY
from tests.simulator.mutation import Mutant
from tests.simulator.operations import (
    Append,
    ClientTransaction,
    Condition,
    Delete,
    DeleteKeys,
    Fault,
    History,
    Layout,
    Maintain,
    Merge,
    RewriteFiles,
    Row,
    SetProperty,
)

TRANSACTION = "icefloe.table.commit.transaction:Transaction"
PRODUCER = "icefloe.table.commit.snapshot_producer:SnapshotProducer"
VALIDATED = "icefloe.table.commit.validated_change:ValidatedChange"
CONFLICTS = "icefloe.table.commit.conflicts"
POINTER = "icefloe.catalog.pointer_catalog:PointerCatalog"


HISTORIC = (
    "a lost reply is a failure",
    "our own version is a conflict",
    "a hadoop version of ours is another writer's",
    "appends drop delete manifests",
    "validation from the newest snapshot",
    "no validation of the second operation",
    "a retry stamps its manifests with the sequence number of the first attempt",
    "deletes skip files of earlier specs",
    "files of an unknown commit are deleted",
    "the metadata of an unknown commit is deleted",
)
"""Bugs that released implementations of the format had."""
MUTANTS = {
    "no validation": Mutant(f"{TRANSACTION}._stage", "change.validate(", "(lambda versions: None)(", first_seed=35),
    "no validation of the second operation": Mutant(
        f"{TRANSACTION}._stage", "change.validate(", "change is self._changes[0] and change.validate(", first_seed=109
    ),
    "validation from the newest snapshot": Mutant(
        f"{VALIDATED}._start_in", "head_of(versions.loaded", "head_of(versions.newest", first_seed=35
    ),
    "validation against the last commit alone": Mutant(
        "icefloe.table.commit.concurrent_changes:_walk", "return walked", "return walked[:1]", first_seed=95
    ),
    "added data is no conflict": Mutant(
        f"{CONFLICTS}:check_no_conflicting_data", "changes.added_data.num_rows == 0", "True", first_seed=35
    ),
    "data added to replaced partitions is no conflict": Mutant(
        f"{CONFLICTS}:check_no_data_in_partitions",
        "added = changes.added_data",
        "added = changes.added_data.slice(0, 0)",
        first_seed=137,
    ),
    "added deletes are no conflict": Mutant(
        f"{CONFLICTS}:check_no_new_deletes_for", "added.num_rows == 0", "True", first_seed=57
    ),
    "removed data is no conflict": Mutant(
        f"{CONFLICTS}:check_removed_data",
        "changes.removed_data.num_rows == 0",
        "True",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(5, "a", 0),),),
            transactions=(
                ClientTransaction((Merge((Row(5, "a", 1), Row(6, "a", 2)), "keep", insert=True),), explicit=False),
                ClientTransaction((Delete(Condition(low=5, high=6)),), explicit=False),
            ),
            shared_only=True,
        ),
    ),
    "a rewrite of added rows is no conflict": Mutant(
        "icefloe.table.commit.concurrent_changes:_rewrites",
        "if rewritten.num_rows == 0:",
        "if True:",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(0, "a", 0),),),
            transactions=(
                ClientTransaction((Merge((Row(5, "a", 1),), "keep", insert=True),), explicit=False),
                ClientTransaction((Merge((Row(5, "a", 2),), "keep", insert=True),), explicit=False),
                ClientTransaction((RewriteFiles(),), explicit=False),
            ),
            shared_only=True,
        ),
    ),
    "the rows that a deletion of nothing read are forgotten": Mutant(
        "icefloe.table.row_level.target:Target.commit_read_set",
        "change.commit()",
        "pass",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(0, "a", 0),),),
            transactions=(
                ClientTransaction((Delete(Condition(low=5, high=5)), Append((Row(6, "a", 1),))), explicit=True),
                ClientTransaction((Delete(Condition(low=6, high=6)), Append((Row(5, "a", 2),))), explicit=True),
            ),
            shared_only=True,
        ),
    ),
    "appends drop delete manifests": Mutant(
        f"{PRODUCER}._manifests",
        "pa.concat_tables([own_deletes, deletes])",
        "own_deletes if self._added_deletes else deletes.slice(0, 0)",
        first_seed=16,
    ),
    "a retry keeps the manifests of the first attempt": Mutant(
        f"{PRODUCER}._manifests",
        "previous = self._writer.list_of(head)",
        'previous = self.__dict__.setdefault("_first", self._writer.list_of(head))',
    ),
    "a retry stamps its manifests with the sequence number of the first attempt": Mutant(
        "icefloe.table.commit.manifest_writer:ManifestWriter.write_list",
        "sequence_number=sequence_number",
        'sequence_number=self.__dict__.setdefault("_first", sequence_number)',
    ),
    "a retry stages the first operation alone": Mutant(
        f"{TRANSACTION}._stage_again", "in self._changes:", "in self._changes[:1]:"
    ),
    "files of an unknown commit are deleted": Mutant(
        f"{TRANSACTION}.commit_transaction", "is_definite or not self._is_sent", "isinstance(error, Exception)"
    ),
    "files of a successful commit are deleted": Mutant(f"{TRANSACTION}._reset", "files.keep()", "files.abandon()"),
    "manifests of a successful commit are deleted": Mutant(
        f"{PRODUCER}.committed",
        "[path for path in self._writer.written if path not in self._current]",
        "self._writer.written",
    ),
    "data files of a failed commit are kept": Mutant(f"{TRANSACTION}._abandon", "files.abandon()", "files.keep()"),
    "manifests of a failed commit are kept": Mutant(f"{PRODUCER}.abandoned", "self._writer.written", "[]"),
    "a lost reply is a failure": Mutant(
        "icefloe.catalog.outcome:run_change", "_find(error, is_visible, policy, environment)", "False"
    ),
    "a change that is not visible is a failure": Mutant("icefloe.catalog.outcome:_find", "return None", "return False"),
    "our own version is a conflict": Mutant(
        f"{POINTER}._took_effect",
        "return visible_despite_conflict(",
        "return False and visible_despite_conflict(",
        first_seed=24,
    ),
    "a version that is overtaken is not committed": Mutant(
        f"{POINTER}._is_committed",
        "return any(",
        "return all(",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(5, "a", 0),),),
            transactions=tuple(ClientTransaction((Append((Row(1, "a", 1),)),), explicit=False) for _ in range(2)),
            shared_only=True,
            faults=(Fault(0, "catalog.swap", 0, "repeated"),),
        ),
    ),
    "a replacement keeps the rows of the table": Mutant(
        "icefloe.table.replacement:Replacement.updates",
        "RemoveSnapshotRefUpdate(ref_name=MAIN_BRANCH),",
        "",
        first_seed=37,
    ),
    "a replacement keeps the partition spec": Mutant(
        "icefloe.table.replacement:_spec_updates",
        "return (SetDefaultSpecUpdate(spec_id=same.spec_id),)",
        "return ()",
        first_seed=115,
    ),
    "requirements are ignored": Mutant(
        "icefloe.catalog.apply_commit:updated_metadata",
        "requirement.validate(current)\n    _check_sequence_numbers(current, updates)",
        "pass",
        first_seed=203,
    ),
    "a commit starts from the metadata of its handle": Mutant(
        f"{POINTER}.commit_table", "loaded if location == loaded_location else self._read(location)", "loaded"
    ),
    "the metadata of an unknown commit is deleted": Mutant(
        f"{POINTER}.commit_table",
        "except CommitStateUnknownException:\n        raise",
        "except CommitStateUnknownException:\n        self._discard(new_location)\n        raise",
    ),
    "deletes skip files of earlier specs": Mutant(
        "icefloe.table.row_level.target:Target.plan",
        "return scan.plan_whole_files()",
        'plan = scan.plan_whole_files(); files = plan.files; plan.__dict__["files"] = files.filter('
        '[spec == self.metadata.default_spec_id for spec in files.column("spec_id").to_pylist()]); return plan',
    ),
    "a slow clock sets back the time of the last change": Mutant(
        "icefloe.table.update.draft:Draft.build",
        "floor, self.base.last_updated_ms",
        "floor",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(0, "a", 0),),),
            transactions=(
                ClientTransaction((Append((Row(1, "a", 1),)),), explicit=False),
                ClientTransaction((SetProperty("k0", "1"),), explicit=True),
            ),
            shared_only=True,
            clocks=(0, 3_600_000),
        ),
    ),
    "the swap is not guarded": Mutant("icefloe.catalog.memory:InMemoryCatalog._swap", "!= old", "is None and old"),
    "a hadoop version of ours is another writer's": Mutant(
        "icefloe.catalog.hadoop.versions:contains",
        "io.core.read_unless(location, data) is None",
        "False",
        ("hadoop", "append"),
    ),
    "an unreadable directory of a hadoop table is a failure": Mutant(
        "icefloe.catalog.hadoop.versions:checking",
        "raise CommitStateUnknownException",
        "raise StorageError",
        ("hadoop", "append"),
    ),
    "a registration of an earlier version looks committed": Mutant(
        f"{POINTER}._register_over",
        "return self._pointer(*table) == new.location",
        "return self._is_committed(table, new.location)",
        ("memory", "register over a table"),
    ),
    "a repeated registration conflicts with itself": Mutant(
        f"{POINTER}._register_over",
        "if not visible_despite_conflict(is_current, subject, error)",
        "if True",
        ("sql", "register over a table"),
    ),
    "a namespace stays that could not be synced": Mutant(
        "icefloe.catalog.hadoop.directories:create_directory", "path.rmdir()", "pass", ("hadoop", "create namespace")
    ),
    "a hadoop drop that lost its reply is a failure": Mutant(
        "icefloe.catalog.hadoop.directories:hide", "not hidden.is_dir()", "True", ("hadoop", "drop")
    ),
    "an expired snapshot is published": Mutant(
        "icefloe.table.update.requirements:AssertSnapshotExists._check",
        "not in metadata.snapshots.positions()",
        "in ()",
        FOUND["a staged snapshot expires while it is published"],
    ),
    "files of a removed spec are added": Mutant(
        f"{PRODUCER}._spec_requirements",
        "for spec_id in spec_ids",
        "for spec_id in ()",
        FOUND["a partition spec is replaced and expires while files of it are written"],
    ),
    "files of a removed spec are added to another spec with its id": Mutant(
        "icefloe.table.update.requirements:AssertPartitionSpecExists._check",
        "!= self.spec",
        "is None",
        FOUND["the id of an expired partition spec is given to another while files of it are written"],
    ),
    "a new spec gets another id than its files have": Mutant(
        "icefloe.table.update.requirements:AssertPartitionSpecs._check",
        "metadata.specs() !=",
        "None is",
        FOUND["a partition spec expires whose id is before that of a new spec with files"],
    ),
    "deletes that a rollback needs are removed": Mutant(
        "icefloe.table.commit.rewrite_files:RewriteFiles._check_unused",
        "if all(",
        "if False and all(",
        FOUND["deletes are unused until a rollback"],
    ),
    "folded rows take the sequence number after the one that was read": Mutant(
        "icefloe.table.maintenance.fold.fold_changes:FilesFold._fold",
        ".data_sequence_number(head.sequence_number or 0)",
        ".data_sequence_number((head.sequence_number or 0) + 1)",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(0, "a", 0),), (Row(1, "a", 1),)),
            transactions=(
                ClientTransaction((DeleteKeys((1,), "a"),), explicit=False),
                ClientTransaction((Maintain("fold"),), explicit=False),
            ),
            properties=POLICY,
            shared_only=True,
        ),
    ),
    "deletes are folded across rows that were added between them": Mutant(
        "icefloe.table.maintenance.fold.chosen_files:_with_runs",
        'passed = pc.cumulative_sum(both.column("is_data"))',
        "passed = pa.repeat(1, both.num_rows)",
        History(
            seed=0,
            layout=Layout.FLAT,
            initial=((Row(0, "a", 0),),),
            transactions=(
                ClientTransaction((DeleteKeys((0,), "a"),), explicit=False),
                ClientTransaction(
                    (Append(tuple(Row(number, "a", 1 + number) for number in range(4))),), explicit=False
                ),
                ClientTransaction((DeleteKeys((3,), "a"),), explicit=False),
                ClientTransaction((Maintain("fold"),), explicit=False),
            ),
            schedule=(*(0,) * 20, *(1,) * 20, *(2,) * 20, *(3,) * 20),
            properties=POLICY,
            shared_only=True,
        ),
    ),
    "changes by key do not reach files of a new spec": Mutant(
        "icefloe.table.row_level.batch_delta:BatchDelta._check_specs",
        "if missing is not None:",
        "if False:",
        FOUND["changes by key are applied while the table gets another partition spec"],
    ),
    "deletes by key do not follow rows to another spec": Mutant(
        f"{CONFLICTS}:apply_to_new_files",
        "or spec_ids <= {spec_id}",
        "or True",
        FOUND["changes by key are applied while files move to another partition spec"],
    ),
    "deletes are dropped while a data file of their partition needs them": Mutant(
        "icefloe.table.commit.partition_deletes:_without_data",
        "deletes.filter(pc.invert(applies))",
        "deletes",
        History(
            seed=0,
            layout=Layout.BY_PART,
            initial=((Row(0, "a", 0),), (Row(1, "a", 1),)),
            transactions=(ClientTransaction((DeleteKeys((0,), "a"), Delete(Condition(1, 1))), explicit=True),),
        ),
    ),
    "updates that do not fit the current version are no conflict": Mutant(
        "icefloe.catalog.apply_commit:updated_metadata",
        "current_location == loaded_location",
        "True",
        FOUND["a snapshot expires twice"],
    ),
}

POWER_CUT_MUTANTS = {
    "files are not synced": Mutant(f"{TRANSACTION}.sync_files", "self._unsynced.sync()", "pass", ("sql", "append")),
    "files are synced after the swap": Mutant(
        f"{TRANSACTION}._swap",
        "self.sync_files()\n    self._is_sent = True\n    return self._table.catalog.commit_table(self._table, requirements, self._updates)",
        "self._is_sent = True\n    response = self._table.catalog.commit_table(self._table, requirements, self._updates)\n"
        "    self.sync_files()\n    return response",
        ("hadoop", "append"),
    ),
    "a metadata file is not synced": Mutant(f"{POINTER}._write", "unsynced.sync()", "pass", ("sql", "properties")),
}
"""Mutants that lose data in a power cut alone. Each is found by the power cuts of an operation of a catalog."""
