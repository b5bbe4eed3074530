"""The Rust core: storage, planning, reading, writing, manifests, transforms.

Arrow data goes in as any object with ``__arrow_c_array__`` or ``__arrow_c_stream__`` and comes out as pyarrow objects or as
objects with ``__arrow_c_stream__``. Every function releases the GIL. Threads start at the first call that needs them, once per
process, so that a forked child works too; there are ``OMP_NUM_THREADS`` of them, else as many as the cores this process may use.

Failures are raised as the classes of ``icefloe.exceptions``.
"""

from icefloe._core_api.changelog import (
    ChangePairs,
    NetChanges,
    plan_changes,
)
from icefloe._core_api.io import (
    FileIo,
    UnsyncedFiles,
)
from icefloe._core_api.join import (
    SourceKeys,
)
from icefloe._core_api.manifest import (
    FilteredManifests,
    describe_manifests,
    filter_manifests,
    merge_manifests,
    read_manifest,
    read_manifest_list,
    write_manifest_list,
    write_manifests,
)
from icefloe._core_api.metadata_tables import (
    FileTableIterator,
    FileTableStream,
    file_table,
    manifest_table,
    partition_table,
    read_manifest_lists,
)
from icefloe._core_api.predicate import (
    covered_partitions,
    filter_rows,
    project_filter,
    prune_files,
    prune_manifests,
    residual_filter,
    validate_filter,
)
from icefloe._core_api.reachability import (
    FilesOfSnapshots,
    ReachableFiles,
    files_of_snapshots,
    newest_versions,
    normalized_locations,
    reachable_files,
)
from icefloe._core_api.scan import (
    ScanIterator,
    ScanPlan,
    ScanStream,
    clear_manifest_cache,
    explain_read,
    own_deletes,
    pack_tasks,
    plan,
    read,
    served_plan,
)
from icefloe._core_api.sort import RowOrder, SortedStream, curve_keys, sort_rows
from icefloe._core_api.statistics import (
    distinct_values,
    encode_puffin,
    merge_sketches,
    puffin_footer,
)
from icefloe._core_api.transform import (
    bucket,
    days,
    hours,
    months,
    partition_path,
    single_value_from_bytes,
    single_value_to_bytes,
    single_values,
    transform,
    truncate,
    years,
)
from icefloe._core_api.write import (
    CopiedRows,
    describe_data_files,
    file_schema,
    write_data_files,
    write_equality_deletes,
    write_position_deletes,
)

__all__ = [
    "ChangePairs",
    "CopiedRows",
    "FileIo",
    "FileTableIterator",
    "FileTableStream",
    "FilesOfSnapshots",
    "FilteredManifests",
    "NetChanges",
    "ReachableFiles",
    "RowOrder",
    "ScanIterator",
    "ScanPlan",
    "ScanStream",
    "SortedStream",
    "SourceKeys",
    "UnsyncedFiles",
    "__version__",
    "bucket",
    "build_profile",
    "clear_manifest_cache",
    "covered_partitions",
    "curve_keys",
    "days",
    "describe_data_files",
    "describe_manifests",
    "distinct_values",
    "encode_puffin",
    "explain_read",
    "file_schema",
    "file_table",
    "files_of_snapshots",
    "filter_manifests",
    "filter_rows",
    "hours",
    "manifest_table",
    "merge_manifests",
    "merge_sketches",
    "months",
    "newest_versions",
    "normalized_locations",
    "own_deletes",
    "pack_tasks",
    "partition_path",
    "partition_table",
    "plan",
    "plan_changes",
    "project_filter",
    "prune_files",
    "prune_manifests",
    "puffin_footer",
    "reachable_files",
    "read",
    "read_manifest",
    "read_manifest_list",
    "read_manifest_lists",
    "residual_filter",
    "served_plan",
    "single_value_from_bytes",
    "single_value_to_bytes",
    "single_values",
    "sort_rows",
    "transform",
    "truncate",
    "validate_filter",
    "write_data_files",
    "write_equality_deletes",
    "write_manifest_list",
    "write_manifests",
    "write_position_deletes",
    "years",
]

__version__: str

def build_profile() -> str:
    """Return how this module was built: ``release``, ``fast`` or ``debug``."""
