"""The steps of a script, carried out by the Java reference's own API."""

from __future__ import annotations

from typing import Any

from tests.interop.java.same_steps import Script, Step, referenced, split

RECORDS, BYTES = 10, 1000


class OneCluster:
    """A Java function of data files that puts all into one cluster."""

    def apply(self, _: Any) -> str:
        return "all"

    class Java:
        implements = ("java.util.function.Function",)


class JavaSteps:
    """Carries out a script; returns the metadata file after each step. `key` is a Java array of the ids of equality deletes."""

    def __init__(self, iceberg: Any, table: Any, key: Any) -> None:
        self.iceberg = iceberg
        self.table = table
        self.key = key
        self.snapshots: list[int] = []
        self.built: dict[str, Any] = {}

    def run(self, script: Script) -> list[str]:
        found, count = [], 0
        for step in script.steps:
            getattr(self, step.kind)(step)
            self.table.refresh()
            metadata = self.table.operations().current()
            snapshots = metadata.snapshots()
            is_new, count = snapshots.size() > count, snapshots.size()
            self.snapshots.append(snapshots.get(count - 1).snapshotId() if is_new else 0)
            found.append(metadata.metadataFileLocation())
        return found

    def append(self, step: Step) -> None:
        self._commit(step, self.table.newAppend())

    def fast_append(self, step: Step) -> None:
        self._commit(step, self.table.newFastAppend())

    def overwrite(self, step: Step) -> None:
        change = self.table.newOverwrite()
        for name in step.remove:
            change.deleteFile(self.built[name])
        self._commit(step, change, change.addFile)

    def delete(self, step: Step) -> None:
        change = self.table.newDelete()
        for name in step.remove:
            change.deleteFile(self.built[name])
        self._commit(step, change)

    def delete_filter(self, step: Step) -> None:
        part = self.iceberg.expressions.Expressions.equal("part", step.text)
        self._commit(step, self.table.newDelete().deleteFromRowFilter(part))

    def replace_partitions(self, step: Step) -> None:
        change = self.table.newReplacePartitions()
        self._commit(step, change, change.addFile)

    def row_delta(self, step: Step) -> None:
        change = self.table.newRowDelta()
        builder = self.iceberg.FileMetadata.deleteFileBuilder
        for name in step.deletes:
            positions = builder(self.table.spec()).ofPositionDeletes()
            if referenced(name) is not None:
                positions = positions.withReferencedDataFile(self._path(referenced(name)))
            change.addDeletes(self._built(positions, name))
        for name in step.keys:
            change.addDeletes(self._built(builder(self.table.spec()).ofEqualityDeletes(self.key), name))
        for name in step.remove:
            change.removeRows(self.built[name])
        for name in step.unused:
            change.removeDeletes(self.built[name])
        self._commit(step, change, change.addRows)

    def rewrite(self, step: Step) -> None:
        change = self.table.newRewrite().validateFromSnapshot(self.table.currentSnapshot().snapshotId())
        for name in step.remove:
            change.deleteFile(self.built[name])
        self._commit(step, change, change.addFile)

    def rewrite_manifests(self, step: Step) -> None:
        self.table.rewriteManifests().clusterBy(OneCluster()).commit()

    def create_branch(self, step: Step) -> None:
        self.table.manageSnapshots().createBranch(step.text, self.snapshots[step.of]).commit()

    def create_tag(self, step: Step) -> None:
        self.table.manageSnapshots().createTag(step.text, self.snapshots[step.of]).commit()

    def cherry_pick(self, step: Step) -> None:
        self.table.manageSnapshots().cherrypick(self.snapshots[step.of]).commit()

    def rollback(self, step: Step) -> None:
        self.table.manageSnapshots().rollbackTo(self.snapshots[step.of]).commit()

    def set_current(self, step: Step) -> None:
        self.table.manageSnapshots().setCurrentSnapshot(self.snapshots[step.of]).commit()

    def fast_forward(self, step: Step) -> None:
        self.table.manageSnapshots().fastForwardBranch("main", step.text).commit()

    def remove_field(self, step: Step) -> None:
        self.table.updateSpec().removeField(step.text).commit()

    def add_field(self, step: Step) -> None:
        self.table.updateSpec().addField(step.text).commit()

    def upgrade(self, step: Step) -> None:
        self.table.updateProperties().set("format-version", "2").commit()

    def _commit(self, step: Step, change: Any, add: Any = None) -> None:
        self.add_built(change.appendFile if add is None else add, step.add)
        if step.branch is None:
            change.set("wap.id", step.text).stageOnly()
        elif step.branch != "main":
            change.toBranch(step.branch)
        change.commit()

    def add_built(self, add: Any, names: tuple[str, ...]) -> None:
        """Add data files of the table's spec to a change."""
        for name in names:
            add(self._built(self.iceberg.DataFiles.builder(self.table.spec()), name))

    def _built(self, builder: Any, name: str) -> Any:
        stem, value = split(name)
        builder.withPath(self._path(name)).withFormat("parquet").withRecordCount(RECORDS).withFileSizeInBytes(BYTES)
        fields = self.table.spec().fields().size()
        if fields > 0:
            partition = self.iceberg.PartitionData(self.table.spec().partitionType())
            if value is not None:
                partition.set(fields - 1, value)
            builder.withPartition(partition)
        self.built[stem] = builder.build()
        return self.built[stem]

    def _path(self, name: str) -> str:
        return f"{self.table.location()}/data/{split(name)[0]}.parquet"
