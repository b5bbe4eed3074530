"""Adding existing Parquet, ORC and Avro files to a table without rewriting them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.arguments import checked_flag
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.schema.name_mapping import create_mapping_from_schema
from icefloe.table.commit.added_files import AddedFiles
from icefloe.table.properties.definitions import NAME_MAPPING
from icefloe.table.read_context import context_json, sort_order_json

if TYPE_CHECKING:
    from icefloe.table.row_level.target import Target
    from icefloe.table.write.given_partitions import GivenPartition


def add_existing_files(
    target: Target,
    file_paths: Iterable[str],
    *,
    check_duplicates: bool,
    file_format: str | None = None,
    partitions: Sequence[GivenPartition] = (),
) -> None:
    """Add files in one snapshot. No file is deleted if the commit fails.

    Footers or headers are read, and columns whose values may not fit the table by the statistics. The files are of `file_format`, or each
    of the format of its magic bytes.

    A table without a name mapping gets the mapping of its schema if a file has no field ids. The files of `partitions` are added as well.
    """
    checked_flag("check_duplicate_files", check_duplicates)
    if not isinstance(file_paths, Iterable) or isinstance(file_paths, str | Mapping):
        raise ValidationError(f"add_files: expected the locations of files, got {file_paths!r}")
    paths = list(file_paths)
    for path in paths:
        if not isinstance(path, str):
            raise ValidationError(f"add_files: expected the locations of files, got {path!r}")
    given = [path for one in partitions for path in one.locations]
    if not paths and not given:
        return
    io = target.transaction.io.core
    _refuse_repeated(io, [*paths, *given])
    metadata = target.metadata
    has_mapping = NAME_MAPPING.of(metadata.properties) is not None
    mapping = create_mapping_from_schema(metadata.schema()).model_dump_json()
    described = (
        metadata if has_mapping else metadata.with_(properties={**metadata.properties, NAME_MAPPING.name: mapping})
    )
    parts = [one.describe(io, described, file_format) for one in partitions if one.locations]
    if paths:
        context = context_json(described, metadata.schema())
        parts.append(
            _core.describe_data_files(
                io,
                paths,
                context=context,
                spec_id=metadata.default_spec_id,
                sort_order=sort_order_json(metadata.sort_order()),
                format=file_format,
            )
        )
    files = pa.Table.from_batches([batch for batch, _ in parts]).combine_chunks().to_batches()[0]
    without_ids = sum(count for _, count in parts)
    change = AddedFiles(target.transaction, target.branch, target.snapshot_properties).append(files)
    if check_duplicates:
        change.refuse_duplicates(target.plan(target.filter(AlwaysTrue())).files.column("file_path"))
    if without_ids > 0 and not has_mapping:
        change.map_names(mapping, metadata.current_schema_id)
    change.commit()


def _refuse_repeated(io: _core.FileIo, paths: list[str]) -> None:
    """Raise ValidationError if two of the locations, in any spelling, are one file."""
    absolute = pa.array([io.absolute(path) for path in paths], pa.string())
    spelled: dict[str, str] = {}
    for path, normalized in zip(paths, _core.normalized_locations(absolute).to_pylist(), strict=True):
        other = spelled.get(normalized)
        if other is not None:
            also = "several times" if other == path else f"and {path}, the same file"
            raise ValidationError(f"add_files: expected each file once, got {other} {also}")
        spelled[normalized] = path
