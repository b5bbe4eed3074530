"""Filters. A ``filter`` is expression JSON, a ``schema`` and a ``spec`` are the specification's JSON.

A filter is true, false or unknown for a row: a comparison with null is unknown. A row matches if the filter is true.
"""

import pyarrow as pa
from icefloe._core_api.arrow import BatchLike

def validate_filter(context: str, filter: str) -> str:
    """Bind a filter to the context's schema and return it as JSON without ``not``, names resolved; ResolveError for an unknown column."""

def project_filter(schema: str, spec: str, filter: str, *, strict: bool, case_sensitive: bool = True) -> str:
    """Return the inclusive or strict projection of a filter on partition fields, as JSON."""

def residual_filter(schema: str, spec: str, filter: str, partition: str, *, case_sensitive: bool = True) -> str:
    """Return the residual of a filter for a partition, whose tuple is a JSON array."""

def covered_partitions(
    schema: str, spec: str, filter: str, partitions: list[str], *, case_sensitive: bool = True
) -> pa.BooleanArray:
    """Return in which partitions, JSON arrays, every row matches a filter, as their tuples prove."""

def filter_rows(schema: str, filter: str, rows: BatchLike, *, case_sensitive: bool = True) -> pa.BooleanArray:
    """Return which rows of a batch match, False where the filter is unknown; columns are resolved by name, a missing one is null."""

def prune_files(
    schema: str, filter: str, files: BatchLike, *, case_sensitive: bool = True
) -> tuple[pa.BooleanArray, pa.BooleanArray]:
    """Return which files of data file columns might have a matching row, and in which all rows must match, by statistics."""

def prune_manifests(
    schema: str, spec: str, filter: str, manifests: BatchLike, *, case_sensitive: bool = True
) -> pa.BooleanArray:
    """Return which manifests of manifest file columns might have a file with a matching row, by partition summaries."""
