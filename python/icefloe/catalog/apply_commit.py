"""The part of a commit that all catalogs share: checking the requirements and applying the updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.arguments import checked_items
from icefloe.exceptions import CommitFailedException, ValidationError
from icefloe.io.pyarrow import pyarrow_to_schema
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadata, new_table_metadata
from icefloe.table.table_version import TableVersion
from icefloe.table.update import AddSnapshotUpdate, AssertCreate, TableRequirement, TableUpdate, update_table_metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from icefloe.partitioning import PartitionSpec
    from icefloe.table import Table
    from icefloe.table.environment import Environment
    from icefloe.table.sorting import SortOrder


def check_commit(table: object, requirements: object, updates: object) -> None:
    """Raise ValidationError if the arguments of a commit are not a table, requirements and updates."""
    if not isinstance(table, TableVersion):
        raise ValidationError(f"commit_table: expected a table, got {table!r}")
    checked_items("requirements", requirements, TableRequirement, "requirements of a commit")
    checked_items("updates", updates, TableUpdate, "updates of table metadata")


def is_creation(table: Table, requirements: tuple[TableRequirement, ...]) -> bool:
    """Return whether a commit creates its table, which has no metadata file yet. For a table that has one, the requirement is broken."""
    return table.metadata_location == "" and any(isinstance(one, AssertCreate) for one in requirements)


def new_metadata(  # noqa: PLR0913 - one for each part of a table
    schema: Schema | pa.Schema,
    partition_spec: PartitionSpec,
    sort_order: SortOrder,
    location: str,
    properties: Mapping[str, object],
    environment: Environment,
) -> TableMetadata:
    """Return the metadata of a new, empty table, with column ids assigned from 1.

    Raises:
        ValidationError: The partition spec or the sort order does not fit the schema.
    """
    iceberg_schema = schema if isinstance(schema, Schema) else pyarrow_to_schema(schema)
    return new_table_metadata(
        schema=iceberg_schema,
        partition_spec=partition_spec,
        sort_order=sort_order,
        location=location,
        properties=properties,
        environment=environment,
    )


def updated_metadata(  # noqa: PLR0913 - the two versions and the change
    current: TableMetadata,
    requirements: tuple[TableRequirement, ...],
    updates: tuple[TableUpdate, ...],
    current_location: str,
    loaded_location: str,
    environment: Environment,
) -> TableMetadata:
    """Check the requirements on `current`, the metadata at `current_location`, and return it with the updates applied.

    Raises:
        CommitFailedException: A requirement does not hold, another snapshot has the sequence number of a new one, the table has a format
            version without support for new snapshots, or the updates fit the version at `loaded_location`, for which they were made, and
            not the current one.
    """
    for requirement in requirements:
        requirement.validate(current)
    _check_sequence_numbers(current, updates)
    _check_format_version(current, updates)
    try:
        updated = update_table_metadata(
            current, updates, metadata_location=current_location, now_ms=environment.now_ms()
        )
    except ValidationError as error:
        if current_location == loaded_location:
            raise
        # The next attempt is made for the current version: a snapshot may have expired that this one refers to, or a commit whose clock is
        # ahead may have made this one too old.
        raise CommitFailedException(f"{error}; a concurrent commit changed the table") from error
    return updated if updated is current else updated.with_repaired({})


def check_same_uuid(table: str, current: TableMetadata, updated: TableMetadata) -> None:
    """Raise if a commit changes the table's UUID. A table of format version 1 may get its first one.

    Raises:
        ValidationError: The UUID changes.
    """
    if current.table_uuid is not None and current.table_uuid != updated.table_uuid:
        raise ValidationError(
            f"table {table}: a commit cannot change the table's UUID; expected {current.table_uuid}, got {updated.table_uuid}"
        )


def _check_format_version(current: TableMetadata, updates: tuple[TableUpdate, ...]) -> None:
    """Check that no snapshot of an older format is added to a table that a concurrent commit has upgraded to format version 3."""
    if current.format_version > 2 and any(isinstance(update, AddSnapshotUpdate) for update in updates):
        raise CommitFailedException(
            f"cannot add a snapshot: expected a table of format version 1 or 2, got format version {current.format_version}; refresh and retry"
        )


def _check_sequence_numbers(current: TableMetadata, updates: tuple[TableUpdate, ...]) -> None:
    """Check that sequence numbers are new, also those of snapshots without a parent, which `update_table_metadata` accepts as Java does.

    No requirement covers the numbers of commits to other branches.
    """
    if current.format_version < 2:
        return
    for update in updates:
        if isinstance(update, AddSnapshotUpdate):
            number = update.snapshot.sequence_number
            if number is not None and number <= current.last_sequence_number:
                raise CommitFailedException(
                    f"cannot add a snapshot with sequence number {number}: expected more than {current.last_sequence_number}, the "
                    "table's last sequence number; refresh and retry"
                )
