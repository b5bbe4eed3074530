"""Snapshots that add data files which were not written for the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.commit.concurrent_changes import changes_since
from icefloe.table.commit.data_file_changes import MergeAppend
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.properties.definitions import NAME_MAPPING
from icefloe.table.update import AssertCurrentSchemaId, SetPropertiesUpdate

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.change import Versions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class AddedFiles(MergeAppend):
    """An append of existing files, which another commit may add as well: a file may be live once in a snapshot."""

    _unique = False
    _mapping: tuple[str, int] | None = None

    def map_names(self, mapping: str, schema_id: int) -> Self:
        """Set the table's name mapping in the same commit, for files without field ids.

        Args:
            mapping: JSON of the mapping.
            schema_id: The schema that the mapping describes, which must be current when the change commits.
        """
        self._mapping = (mapping, schema_id)
        return self

    def refuse_duplicates(self, live: pa.Array | pa.ChunkedArray) -> Self:
        """Refuse files that the table has, now and when the change commits.

        Args:
            live: Paths of the data files of the branch's head.

        Raises:
            ValidationError: The table has one of the files.
        """
        found = self._paths_in(live)
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            raise ValidationError(
                f"add_files: {found[0]}{more}: part of the table already; leave the file out, or pass check_duplicate_files=False"
            )
        self._unique = True
        return self

    def validate(self, versions: Versions) -> None:
        """Raise ValidationException if a concurrent commit added one of the files."""
        if not self._unique:
            return
        loaded = head_of(versions.loaded, self._branch)
        start_id = loaded.snapshot_id if loaded is not None else None
        head = head_of(versions.newest, self._branch)
        changes = changes_since(self._transaction.io, versions.newest, start_id, head)
        found = self._paths_in(changes.added_data.column("file_path")) if changes is not None else []
        if found:
            raise ValidationException(
                f"add_files: {found[0]}: a concurrent commit added the same file; reload the table and leave the file out"
            )

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return the updates of the append, and of the table's name mapping if the files need one."""
        if self._mapping is None:
            return super().stage(base, attempt)
        mapping, schema_id = self._mapping
        if NAME_MAPPING.of(base.properties) not in (None, mapping):
            raise ValidationException(
                f"add_files: a concurrent commit set {NAME_MAPPING.name}; reload the table and repeat the operation"
            )
        updates, requirements = super().stage(base, attempt)
        update = SetPropertiesUpdate(updates={NAME_MAPPING.name: mapping})
        return (*updates, update), (*requirements, AssertCurrentSchemaId(current_schema_id=schema_id))

    def _paths_in(self, paths: pa.Array | pa.ChunkedArray) -> list[str]:
        """Return the added files that are among paths, whatever the spelling of either."""
        own = pa.concat_arrays([batch.column("file_path") for batch in self._added])
        values = paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths
        known = _core.normalized_locations(values.cast(pa.string()))
        found: list[str] = own.filter(pc.is_in(_core.normalized_locations(own), known)).to_pylist()
        return found
