"""The default memory limit of merges and upserts."""

from __future__ import annotations

MEMORY_LIMIT = 256 * 1024 * 1024
"""Most bytes of a stream of source rows, and of the hashes of keys, that a merge holds in memory."""
