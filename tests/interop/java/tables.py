"""All tables that Java writes."""

from __future__ import annotations

from tests.interop.java import (
    changelog_tables,
    delete_tables,
    evolution_tables,
    file_tables,
    history_tables,
    partition_tables,
    refused_tables,
    type_tables,
    written_tables,
)

CASES = [
    *type_tables.cases(),
    *partition_tables.cases(),
    *evolution_tables.cases(),
    *delete_tables.cases(),
    *history_tables.cases(),
    *file_tables.cases(),
    *changelog_tables.cases(),
    *written_tables.cases(),
]
REFUSED = refused_tables.cases()
