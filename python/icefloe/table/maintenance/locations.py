"""The directories that belong to a table, and whether files are below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.metadata.files import metadata_directory
from icefloe.table.properties.definitions import DATA_PATH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.table.metadata import TableMetadata


def table_roots(metadata: TableMetadata) -> tuple[str, ...]:
    """Return the table's location and the directories of its data and metadata files, without directories below another one.

    >>> table_roots(table.metadata) == (table.location(),)
    True
    """
    candidates = [metadata.location, DATA_PATH.of(metadata.properties), metadata_directory(metadata)]
    roots: list[str] = []
    for candidate in candidates:
        if candidate is not None and not is_below([candidate], roots)[0].as_py():
            roots.append(candidate.rstrip("/"))
    return tuple(roots)


def is_below(locations: Iterable[str] | pa.Array, roots: Iterable[str]) -> pa.BooleanArray:
    """Return whether each location is one of the roots or below one, in normalised spelling; never one with `..` segments."""
    texts = locations if isinstance(locations, pa.Array) else pa.array(list(locations), pa.string())
    paths = pc.binary_join_element_wise(_core.normalized_locations(texts), "", "/")
    found = pa.array([False] * len(texts), pa.bool_())
    for root in _core.normalized_locations(pa.array(list(roots), pa.string())).to_pylist():
        found = pc.or_(found, pc.starts_with(paths, f"{root}/"))
    return pc.and_not(found, pc.match_substring(paths, "/../"))
