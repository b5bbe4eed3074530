"""Snapshots that move the entries of manifests to new manifests: no file is added or removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import check_callable, checked_integer, checked_names
from icefloe.exceptions import ValidationError
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.commit.manifest_writer import DATA, DELETES
from icefloe.table.commit.snapshot_producer import Manifests, SnapshotProducer
from icefloe.table.commit.summary import file_columns
from icefloe.table.properties.definitions import MANIFEST_TARGET_SIZE
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

EXISTING = 0


class RewriteManifests(SnapshotProducer):
    """Writes the live entries of data manifests into manifests of `commit.manifest.target-size-bytes`, clustered by partition.

    Delete manifests stay as they are unless `include_deletes` is called. Entries keep their snapshot ids and sequence numbers, so that no reader sees a difference but the
    plan's cost. A concurrent commit never conflicts: the manifests of the newest head are rewritten.

    Examples:
        >>> table.rewrite_manifests().commit()
        >>> table.current_snapshot().summary["entries-processed"]
        '1'
    """

    _spec_id: int | None = None
    _chosen: Callable[[dict[str, Any]], bool] | None = None
    _contents: tuple[int, ...] = (DATA,)
    _sort_fields: tuple[str, ...] = ()

    def spec_id(self, spec_id: int) -> Self:
        """Rewrite only manifests of one partition spec.

        Raises:
            ValidationError: The table has no such spec.
        """
        specs = self._transaction.table_metadata.specs()
        if checked_integer("spec_id", spec_id) not in specs:
            raise ValidationError(
                f"rewrite manifests: expected the id of a partition spec {sorted(specs)}, got {spec_id}"
            )
        self._spec_id = spec_id
        return self

    def rewrite_if(self, predicate: Callable[[dict[str, Any]], bool]) -> Self:
        """Rewrite only data manifests that a predicate accepts.

        Args:
            predicate: A function of the columns of a manifest, by the names of the manifest list: `manifest_path`,
                `manifest_length`, `partition_spec_id`, `added_files_count` and others.
        """
        check_callable("rewrite_if", predicate, "a function of the columns of a manifest")
        self._chosen = predicate
        return self

    def include_deletes(self) -> Self:
        """Rewrite manifests of delete files too, apart from those of data files."""
        self._contents = (DATA, DELETES)
        return self

    def sort_by(self, *names: str) -> Self:
        """Cluster entries by some partition fields instead of the whole partition tuple.

        Args:
            *names: Names of partition fields, most significant first. A spec without a field is clustered by the others.

        Raises:
            ValidationError: No spec of the table has a field of a name.
        """
        specs = self._transaction.table_metadata.specs().values()
        known = {field.name for spec in specs for field in spec.fields}
        unknown = [name for name in checked_names("sort_by", names) if name not in known]
        if unknown:
            raise ValidationError(
                f"rewrite manifests: sort_by: expected partition fields {sorted(known)}, got {', '.join(unknown)}"
            )
        self._sort_fields = names
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.REPLACE

    def _manifests(self, base: TableMetadata, head: Snapshot | None) -> Manifests:
        previous = self._writer.list_of(head)
        chosen = pa.array([self._is_chosen(row) for row in previous.to_pylist()], pa.bool_())
        replaced, kept = previous.filter(chosen), previous.filter(pc.invert(chosen))
        written = [MANIFEST_SCHEMA.empty_table()]
        processed = 0
        for content in self._contents:
            of_content = replaced.filter(pc.equal(replaced.column("content"), content))
            if of_content.num_rows == 0:
                continue
            entries = self._existing(base, of_content)
            processed += entries.num_rows
            size = pc.sum(of_content.column("manifest_length")).as_py()
            parts = self._parts(base, entries, size)
            written.extend(self._writer.rewrite(base, part, content) for part in parts)
        new = pa.concat_tables(written)
        self._properties["entries-processed"] = str(processed)
        return Manifests(
            rows=pa.concat_tables([new, kept]),
            removed=file_columns(),
            created=new.num_rows,
            kept=kept.num_rows,
            replaced=replaced.num_rows,
        )

    def _is_chosen(self, manifest: dict[str, Any]) -> bool:
        spec_id = manifest["partition_spec_id"]
        if manifest["content"] not in self._contents or self._spec_id not in (None, spec_id):
            return False
        if self._transaction.table_metadata.specs()[spec_id].has_unknown_transform:
            return False
        return self._chosen is None or bool(self._chosen(manifest))

    def _existing(self, base: TableMetadata, manifests: pa.Table) -> pa.Table:
        """Return the live entries of manifests as entries that an older snapshot added."""
        entries = self._writer.live_entries(base, manifests)
        status = entries.schema.get_field_index("status")
        existing = pa.repeat(pa.scalar(EXISTING, pa.int32()), entries.num_rows)
        return entries.set_column(status, entries.schema.field(status), existing)

    def _parts(self, base: TableMetadata, entries: pa.Table, size_bytes: int) -> Iterator[pa.Table]:
        """Cut entries, clustered by partition, into parts of about the target size of a manifest; a part has one spec."""
        if entries.num_rows == 0:
            return
        target_bytes = MANIFEST_TARGET_SIZE.of(base.properties)
        per_manifest = max(1, entries.num_rows * target_bytes // max(size_bytes, 1))
        for spec_id in sorted(pc.unique(entries.column("spec_id")).to_pylist()):
            of_spec = entries.filter(pc.equal(entries.column("spec_id"), spec_id))
            names = [field.name for field in base.specs()[spec_id].fields]
            positions = [names.index(name) for name in self._sort_fields if name in names] or list(range(len(names)))
            of_spec = of_spec.take(pc.sort_indices(_partition_ranks(of_spec.column("partition"), positions)))
            parts = -(-of_spec.num_rows // per_manifest)
            length = -(-of_spec.num_rows // parts)
            for start in range(0, of_spec.num_rows, length):
                yield of_spec.slice(start, length)


def _partition_ranks(partitions: pa.ChunkedArray, positions: list[int]) -> pa.Array:
    """Return the rank of each partition tuple among the tuples, by the values at some positions, nulls last."""
    encoded = partitions.combine_chunks().dictionary_encode()
    tuples = [json.loads(text) for text in encoded.dictionary.to_pylist()]
    keys = [tuple((row[place] is None, _comparable(row[place])) for place in positions) for row in tuples]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return pa.array([ranks[key] for key in keys], pa.int64()).take(encoded.indices)


def _comparable(value: Any) -> Any:
    """Return a single value in JSON as a value that compares with others of its type; `NaN` and infinities are texts there."""
    return (isinstance(value, str), 0 if value is None else value)
