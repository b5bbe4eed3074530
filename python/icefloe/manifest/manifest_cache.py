"""The entries of manifests that planning keeps in the memory of a process."""

from __future__ import annotations

from icefloe import _core


def clear_manifest_cache() -> None:
    """Release what planning keeps of manifests in this process; the next plan reads its manifests again.

    The cache holds at most 64 MiB unless ``io.manifest.cache.max-total-bytes`` says otherwise, and never returns the entries of
    a manifest that changed, so no result depends on this call. Plans that are running in other threads are not disturbed. Other
    processes, Spark executors among them, keep their own caches.

    >>> clear_manifest_cache()
    """
    _core.clear_manifest_cache()
