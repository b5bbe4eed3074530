"""The transaction of a table: its changes become visible together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.changes import TableChanges
from icefloe.table.commit.transaction import Transaction
from icefloe.table.properties import properties_as_text
from icefloe.table.properties.checking import check_metrics_columns, check_new_properties
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.update import (
    RemovePropertiesUpdate,
    SetLocationUpdate,
    SetPropertiesUpdate,
    format_upgrade,
)
from icefloe.table.write.update_snapshot import UpdateSnapshot
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from icefloe.typedef import Properties


class WriteTransaction(Transaction, TableChanges):
    """Changes of rows, files and metadata that become visible together or not at all.

    As a context manager it commits at the end of the block. If the block raises, nothing is committed and the files that the
    changes wrote are deleted.

    Args:
        table: The table's handle; a commit moves it to the new version.
        autocommit: Whether each change commits at once.

    Examples:
        >>> import pyarrow as pa
        >>> from icefloe.catalog import load_catalog
        >>> catalog = load_catalog("scratch", type="memory")
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.points", pa.schema([("x", pa.int64())]))
        >>> with table.transaction() as transaction:
        ...     _ = transaction.set_properties(owner="me")
        ...     transaction.append(pa.table({"x": [1]}))
        >>> table.properties["owner"], len(table.snapshots())
        ('me', 1)
    """

    def _open_transaction(self) -> Transaction:
        return self

    def set_properties(self, properties: Properties = EMPTY_DICT, **kwargs: Any) -> Self:
        """Set table properties, from a mapping or as keywords; keys with dots need the mapping.

        Numbers are stored as text, booleans as `true` and `false`.

        Raises:
            ValidationError: `properties` is no mapping, a value is None, a property that icefloe reads as a whole number, a metrics mode or a
                name mapping is set to another text, a metrics mode is set for a column that the table does not have, or the property is a
                fact of the table such as `format-version`.
        """
        if not isinstance(properties, Mapping):
            raise ValidationError(
                f"set_properties: expected a mapping of names to values, got {properties!r}; to unset a property, use "
                "remove_properties()"
            )
        texts = properties_as_text({**properties, **kwargs})
        check_new_properties(texts)
        check_metrics_columns(texts, self.table_metadata.schema())
        return self.apply_updates((SetPropertiesUpdate(updates=texts),))

    def remove_properties(self, *removals: str) -> Self:
        """Remove table properties; a property that is not set is ignored.

        Raises:
            ValidationError: A name is not text.
        """
        for name in removals:
            if not isinstance(name, str):
                raise ValidationError(
                    f"remove_properties: expected the name of a property, got {name!r}; pass each name alone"
                )
        return self.apply_updates((RemovePropertiesUpdate(removals=list(removals)),))

    def update_location(self, location: str) -> Self:
        """Set the location of new files; existing files stay where they are. A relative path is made absolute, as for a new table.

        Raises:
            ValidationError: The location is not text, or empty.
        """
        if not isinstance(location, str) or location == "":
            raise ValidationError(f"update_location: expected a location such as 's3://bucket/table', got {location!r}")
        return self.apply_updates((SetLocationUpdate(location=self.io.core.absolute(location).rstrip("/")),))

    def upgrade_table_version(self, format_version: int) -> Self:
        """Raise the table's format version; it cannot be lowered.

        Raises:
            ValidationError: The version is lower than the table's, or is no whole number.
        """
        if type(format_version) is not int:
            raise ValidationError(f"format version: expected 1 or 2, got {format_version!r}")
        if format_version < self.table_metadata.format_version:
            raise ValidationError(
                f"cannot lower the format version: expected at least {self.table_metadata.format_version}, got {format_version}"
            )
        return self.apply_updates(format_upgrade(self.table_metadata, format_version, self.environment))

    def update_snapshot(
        self, snapshot_properties: Properties | None = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> UpdateSnapshot:
        """Return a factory of snapshots that add and remove single data files."""
        return UpdateSnapshot(self, branch, snapshot_properties)
