"""The rewrite that wrote a data file, as the name of the file records it: snapshots and their summaries expire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from icefloe.table.maintenance.groups.options import FileSizes

_NO_ORIGIN = -1
_PLAN_CHARACTERS = 12


def operation_name(unique: str, plan_id: str, sizes: FileSizes) -> str:
    """Return the operation id of a group's new files: a UUID, the plan and the sizes that the files were written for.

    Args:
        unique: A new UUID.
        plan_id: The UUID of the plan.
        sizes: The sizes of new files.
    """
    return f"{unique}-{plan_id[-_PLAN_CHARACTERS:]}-{sizes.target}-{sizes.largest}"


def origins(paths: pa.Array, sizes: FileSizes) -> pa.Array:
    """Return a number for the plan that wrote each file for these sizes, the same for all of its files; -1 for other files, int64.

    Args:
        paths: Locations of data files.
        sizes: The sizes of new files.
    """
    mark = f"-{sizes.target}-{sizes.largest}-"
    marked = pc.match_substring(paths, mark)
    if not pc.any(marked).as_py():
        return pa.repeat(pa.scalar(_NO_ORIGIN, pa.int64()), len(paths))
    plans = pc.extract_regex(paths, rf"-(?P<plan>[0-9a-f]{{{_PLAN_CHARACTERS}}}){mark}[^/]*$")
    numbers = pc.struct_field(plans, "plan").dictionary_encode().indices
    return pc.fill_null(numbers.cast(pa.int64()), _NO_ORIGIN)
