"""Names of the source types that transforms take."""

from __future__ import annotations

DATES = frozenset({"date"})
TIMESTAMPS = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
INTEGERS = frozenset({"int", "long"})
TEXTS = frozenset({"string", "binary"})
