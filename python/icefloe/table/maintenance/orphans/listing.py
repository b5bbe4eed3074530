"""Files in storage below a table's directories: listed, or from an inventory report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.locations import is_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata

LISTING_SCHEMA = pa.schema([("location", pa.string()), ("size", pa.int64()), ("last_modified_ms", pa.int64())])
"""Files in storage: location, size in bytes (null if unknown), time of the last modification in milliseconds since 1970-01-01 UTC."""

_ROWS = 1 << 16


def listed_files(io: FileIO, roots: Iterable[str]) -> pa.Table:
    """Return all files below directories, in the columns of `LISTING_SCHEMA`."""
    batches = [io.core.list(f"{root}/") for root in roots]
    return pa.Table.from_batches([batch.cast(LISTING_SCHEMA) for batch in batches], LISTING_SCHEMA)


def inventory_files(inventory: Any, roots: tuple[str, ...]) -> pa.Table:
    """Return the files of an inventory report that are below directories, in the columns of `LISTING_SCHEMA`.

    A report of a bucket that keeps versions has a row for each version of a file; the newest one is returned, which a deletion removes.

    Args:
        inventory: Arrow data with `file_path` (text), `last_modified` (a timestamp, in UTC if it has no time zone) and optionally
            `size` in bytes.
        roots: The directories.

    Raises:
        ValidationError: A column is missing or of another type, or a path or time is null.
    """
    try:
        table = inventory if isinstance(inventory, pa.Table) else pa.table(inventory)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ValidationError(f"inventory: expected Arrow data with file_path and last_modified: {error}") from error
    missing = {"file_path", "last_modified"} - set(table.column_names)
    if missing:
        raise ValidationError(f"inventory: column {min(missing)!r} is missing; expected file_path and last_modified")
    try:
        size = (
            table.column("size").cast(pa.int64()) if "size" in table.column_names else pa.nulls(len(table), pa.int64())
        )
        paths = table.column("file_path").cast(pa.string())
        # Reports have microseconds or nanoseconds, which are cut off.
        modified = table.column("last_modified").cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    except pa.ArrowException as error:
        raise ValidationError(
            f"inventory: expected file_path as text, last_modified as a timestamp and size as a number: {error}"
        ) from error
    if paths.null_count + modified.null_count > 0:
        raise ValidationError("inventory: expected a file_path and a last_modified in every row, got null")
    files = pa.table([paths, size, modified], schema=LISTING_SCHEMA)
    newest = _core.newest_versions(files)
    if newest.true_count < len(newest):
        files = files.filter(newest)
    return pa.Table.from_batches([_below(part, roots) for part in parts_of(files)], LISTING_SCHEMA)


def _below(part: pa.RecordBatch, roots: tuple[str, ...]) -> pa.RecordBatch:
    """Return the files below directories; the part itself, without a copy, if all are."""
    found = is_below(part.column("location"), roots)
    return part if pc.all(found).as_py() else part.filter(found)


def parts_of(files: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield parts of at most 65,536 rows, so that memory beside the listing stays small."""
    yield from files.to_batches(max_chunksize=_ROWS)


def is_hidden(locations: pa.Array, roots: tuple[str, ...], metadata: TableMetadata) -> pa.BooleanArray:
    """Return whether a directory or file name below a root begins with `_` or `.`, and is not the value of a partition field."""
    names = {field.name for spec in metadata.partition_specs for field in spec.fields if field.name[:1] in ("_", ".")}
    if not names and _are_plainly_below(locations, roots):
        # Two searches for fixed text take a third of the time of regular expressions.
        return pc.or_(pc.match_substring(locations, "/_"), pc.match_substring(locations, "/."))
    relative = locations
    for root in roots:
        relative = pc.replace_substring_regex(relative, f"^{re.escape(root)}/", "")
    if names:
        alternatives = "|".join(re.escape(name) for name in sorted(names))
        relative = pc.replace_substring_regex(relative, f"(^|/)(?:{alternatives})=", r"\1=")
    return pc.match_substring_regex(relative, r"(?:^|/)[_.]")


def _are_plainly_below(locations: pa.Array, roots: tuple[str, ...]) -> bool:
    """Return whether all locations begin with one of the roots, and no name in these begins with `_` or `.`."""
    if any("/_" in root or "/." in root for root in roots):
        return False
    found = pa.array([False] * len(locations), pa.bool_())
    for root in roots:
        found = pc.or_(found, pc.starts_with(locations, f"{root}/"))
    return bool(pc.all(found).as_py())
