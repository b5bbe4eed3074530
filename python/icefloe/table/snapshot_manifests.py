"""The manifests of a snapshot, whether a manifest list or, in old tables of version 1, the snapshot itself names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.snapshots import Snapshot


def manifests_of(io: FileIO, snapshot: Snapshot) -> pa.Table:
    """Return the manifests of a snapshot as rows of a manifest list.

    Of manifests that the snapshot names itself, the snapshot that added them and the partition summaries are null.

    Raises:
        MissingFileError: The list, or a manifest that the snapshot names, is not there.
        CorruptFileError: A file is not what the format says.
    """
    if snapshot.manifest_list is not None:
        return pa.Table.from_batches([_core.read_manifest_list(io.core, snapshot.manifest_list)])
    return pa.Table.from_batches([_core.describe_manifests(io.core, list(snapshot.manifest_paths or ()))])
