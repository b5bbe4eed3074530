"""Rewriting the paths of a table: copies of its metadata for another location, and the list of files to copy."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.arguments import checked_flag, checked_text
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.path_rewrite.manifest_paths import DELETED, POSITION_DELETES, StagedManifests
from icefloe.table.maintenance.path_rewrite.metadata_paths import with_paths
from icefloe.table.maintenance.path_rewrite.path_values import (
    COPIED_FILES,
    VERB,
    RewriteTablePathPlan,
    RewriteTablePathResult,
)
from icefloe.table.maintenance.path_rewrite.prefixes import Prefixes
from icefloe.table.maintenance.plan import check_plan_kind
from icefloe.table.maintenance.snapshot_files import statistics_of
from icefloe.table.maintenance.table_checks import check_plan_of, dotted_name
from icefloe.table.metadata.files import metadata_directory, read_metadata
from icefloe.table.read_context import schemas_json, specs_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.maintenance.plan import Plan
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

FILE_LIST = "file-list"
_LAST_VERSION = 2
_KINDS = ("data", "position_deletes", "equality_deletes")


class RewriteTablePath:
    """Stages copies of a table's metadata whose paths have another prefix, and lists the files to copy. The table does not change.

    Metadata files, manifest lists, manifests and position delete files name other files: their copies are written to the staging
    location. All other files are copied as they are. Once the files of the list are copied, the table opens at the new location:
    register its metadata file in a catalog.

    Examples:
        >>> rewrite = table.maintenance.rewrite_table_path(table.location(), "s3://backup/t")
        >>> rewrite.plan().file_count > 3
        True
    """

    def __init__(  # noqa: PLR0913 - the arguments of the reference
        self,
        table: CommittingTable,
        source_prefix: str,
        target_prefix: str,
        *,
        staging_location: str | None = None,
        start_version: str | None = None,
        end_version: str | None = None,
        create_file_list: bool = True,
    ) -> None:
        self._table = table
        self._prefixes = Prefixes.of(source_prefix, target_prefix)
        self._staging = (
            staging_location if staging_location is None else checked_text("staging_location", staging_location)
        )
        self._start = start_version if start_version is None else checked_text("start_version", start_version)
        self._end = end_version if end_version is None else checked_text("end_version", end_version)
        self._lists = checked_flag("create_file_list", create_file_list)

    def plan(self) -> RewriteTablePathPlan:
        """Return the files to stage and to copy. Nothing is written.

        Raises:
            ValidationError: A version does not exist, a file is not below the source prefix, or the staging location has files.
            FeatureUnsupportedError: The table has format version 3.
        """
        versions, start = self._versions()
        metadata = self._read(versions[-1])
        if metadata.format_version > _LAST_VERSION:
            raise FeatureUnsupportedError(f"{VERB}: expected format version 1 or 2, got {metadata.format_version}")
        known = frozenset[int]() if start is None else frozenset(self._read(start).snapshots.positions())
        snapshot_ids = frozenset(metadata.snapshots.positions()) - known
        staging = self._staging_location(metadata)
        rows = [row for one in _snapshots(metadata, snapshot_ids) for row in self._list_row(one)]
        rows += [(kind, path, size, False) for kind, path, size in statistics_of(metadata)]
        rows += [("metadata", location, None, True) for location in versions]
        manifests = _distinct(self._manifest_rows(metadata, snapshot_ids))
        table = pa.concat_tables(
            [
                self._content(metadata, manifests, known),
                _files("manifest", manifests.column("manifest_path"), manifests.column("manifest_length"), True),
                pa.Table.from_pylist(
                    [dict(zip(("kind", "source", "size", "is_rewritten"), row, strict=True)) for row in rows], _FOUND
                ),
            ]
        )
        table = table.append_column("target", self._prefixes.of_column(table.column("source")))
        return RewriteTablePathPlan(
            table_name=dotted_name(self._table),
            table_uuid=str(metadata.table_uuid),
            prefixes=self._prefixes,
            staging_location=staging,
            versions=tuple(versions),
            snapshot_ids=snapshot_ids,
            files=table.select(COPIED_FILES.names),
            create_file_list=self._lists,
        )

    def execute(self, plan: Plan | None = None) -> RewriteTablePathResult:
        """Write the copies of a plan, or of a new one, and the list of files if it is wanted.

        Raises:
            ValidationError: The plan is of another table, or a path in a file is not below the source prefix.
            MissingFileError: A file of the plan was deleted since.
        """
        if plan is None:
            plan = self.plan()
        check_plan_kind(plan, RewriteTablePathPlan, VERB)
        assert isinstance(plan, RewriteTablePathPlan)
        check_plan_of(self._table, plan.verb, plan.table_uuid)
        metadata, staging = self._read(plan.versions[-1]), plan.staging_location
        self._prefixes = plan.prefixes
        snapshots = _snapshots(metadata, plan.snapshot_ids)
        copies = StagedManifests(self._table.io, metadata, plan.prefixes, staging)
        copies.write(_distinct(self._manifest_rows(metadata, plan.snapshot_ids)))
        staged = {path: [(copy, plan.prefixes.of_location(path))] for path, copy in copies.delete_files.items()}
        staged |= copies.staged
        for snapshot in snapshots:
            if snapshot.manifest_list is None:
                continue
            copy = f"{staging}/list-{snapshot.snapshot_id}.avro"
            copies.write_list(
                copy,
                snapshot.manifest_rows(self._table.io),
                {
                    "snapshot_id": snapshot.snapshot_id,
                    "parent_snapshot_id": snapshot.parent_snapshot_id,
                    "sequence_number": snapshot.sequence_number,
                },
            )
            staged[snapshot.manifest_list] = [(copy, plan.prefixes.of_location(snapshot.manifest_list))]
        storage = self._table.io.core
        for location in plan.versions:
            copy = f"{staging}/{location.rsplit('/', 1)[-1]}"
            storage.write(copy, with_paths(storage.read(location), plan.prefixes), overwrite=False)
            staged[location] = [(copy, plan.prefixes.of_location(location))]
        return self._listed(plan, staged, len(copies.staged), len(copies.delete_files))

    # ---- parts

    def _listed(
        self, plan: RewriteTablePathPlan, staged: dict[str, list[tuple[str, str]]], manifests: int, deletes: int
    ) -> RewriteTablePathResult:
        """Write the list of files, if it is wanted, and return the result."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        count = 0
        pairs = zip(plan.files.column("source").to_pylist(), plan.files.column("target").to_pylist(), strict=True)
        for source, target in pairs:
            found = staged.get(source, [(source, target)])
            lines.writerows(found)
            count += len(found)
        location = f"{plan.staging_location}/{FILE_LIST}"
        if plan.create_file_list:
            self._table.io.core.write(location, text.getvalue().encode(), overwrite=False)
        return RewriteTablePathResult(
            latest_version=plan.versions[-1].rsplit("/", 1)[-1],
            file_list_location=location if plan.create_file_list else None,
            metadata_location=plan.prefixes.of_location(plan.versions[-1]),
            rewritten_manifest_file_paths_count=manifests,
            rewritten_delete_file_paths_count=deletes,
            file_count=count,
        )

    def _versions(self) -> tuple[list[str], str | None]:
        """Return the metadata files to copy, oldest first, and the one that an earlier copy ended with."""
        metadata, location = self._table.version
        logged = [*metadata.metadata_log.column("metadata-file"), location]
        names = [one.rsplit("/", 1)[-1] for one in logged]
        last = len(logged) - 1 if self._end is None else _position(names, self._end, "end_version")
        first = -1 if self._start is None else _position(names, self._start, "start_version")
        if first >= last:
            raise ValidationError(
                f"{VERB}: start_version: expected a version before {names[last]}, got {self._start}; there is nothing to copy"
            )
        earlier = [one for one in logged[first + 1 : last] if self._table.io.core.exists(one)]
        return [*earlier, logged[last]], None if self._start is None else logged[first]

    def _read(self, location: str) -> TableMetadata:
        metadata, current = self._table.version
        return metadata if location == current else read_metadata(self._table.io, location)

    def _staging_location(self, metadata: TableMetadata) -> str:
        if self._staging is None:
            environment = getattr(self._table.catalog, "environment", SYSTEM)
            return f"{metadata_directory(metadata)}/copy-table-staging-{environment.new_uuid()}"
        staging = self._staging.rstrip("/")
        if any(self._table.io.core.children(staging)):
            raise ValidationError(f"{VERB}: staging_location: expected an empty directory, got {staging} with files")
        return staging

    def _list_row(self, snapshot: Snapshot) -> list[tuple[str, str, int | None, bool]]:
        location = snapshot.manifest_list
        return [] if location is None else [("manifest_list", location, None, True)]

    def _manifest_rows(self, metadata: TableMetadata, snapshot_ids: frozenset[int]) -> pa.Table:
        tables = [one.manifest_rows(self._table.io).cast(MANIFEST_SCHEMA) for one in _snapshots(metadata, snapshot_ids)]
        return pa.concat_tables([MANIFEST_SCHEMA.empty_table(), *tables])

    def _content(self, metadata: TableMetadata, manifests: pa.Table, known: frozenset[int]) -> pa.Table:
        """Return the live data and delete files of manifests; without the files of snapshots of an earlier copy.

        Position delete files are always copied, since the sizes of their copies are in the manifests.
        """
        entries = _core.read_manifest(
            self._table.io.core, manifests, schema=schemas_json(metadata), specs=specs_json(metadata), keep="all"
        )
        entries = entries.filter(pc.not_equal(entries.column("status"), DELETED))
        positions = pc.equal(entries.column("content"), POSITION_DELETES)
        if known:
            # A snapshot that was added and expired since the earlier copy has left files that the copy lacks.
            copied = pc.is_in(entries.column("snapshot_id"), pa.array(sorted(known), pa.int64()))
            entries = entries.filter(pc.or_(pc.invert(copied), positions))
        entries = _distinct(entries, "file_path")
        found = []
        for number, kind in enumerate(_KINDS):
            own = entries.filter(pc.equal(entries.column("content"), number))
            found.append(
                _files(kind, own.column("file_path"), own.column("file_size_in_bytes"), number == POSITION_DELETES)
            )
        return pa.concat_tables(found)


_FOUND = COPIED_FILES.remove(COPIED_FILES.get_field_index("target"))


def _files(kind: str, locations: pa.ChunkedArray, sizes: pa.ChunkedArray, is_rewritten: bool) -> pa.Table:
    count = len(locations)
    return pa.table(
        [pa.array([kind] * count, pa.string()), locations, sizes, pa.array([is_rewritten] * count)], schema=_FOUND
    )


def _distinct(table: pa.Table, name: str = "manifest_path") -> pa.Table:
    """Return the first row of each value of a column, in the order of the rows."""
    numbered = pa.table({"key": table.column(name), "row": pa.array(range(table.num_rows), pa.int64())})
    first = numbered.group_by("key").aggregate([("row", "min")]).column("row_min")
    return table.take(first.combine_chunks().sort())


def _snapshots(metadata: TableMetadata, snapshot_ids: Iterable[int]) -> list[Snapshot]:
    wanted = set(snapshot_ids)
    return [snapshot for snapshot in metadata.snapshots if snapshot.snapshot_id in wanted]


def _position(names: list[str], name: str, argument: str) -> int:
    if name.rsplit("/", 1)[-1] not in names:
        raise ValidationError(
            f"{VERB}: {argument}: expected a metadata file of the table's log ({', '.join(names[-5:])}), got {name!r}"
        )
    return names.index(name.rsplit("/", 1)[-1])
