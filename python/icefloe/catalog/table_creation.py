"""The part of a catalog's interface that creates and replaces tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from icefloe.exceptions import CommitFailedException, FeatureUnsupportedError, NoSuchTableError, TableAlreadyExistsError
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from icefloe.table import CreateTableTransaction, ReplaceTableTransaction, Table

ATTEMPTS = 10
"""Attempts of `create_or_replace_table`, each after another client created or dropped the table."""
TABLE_DEFAULT = "table-default."
"""Prefix of catalog properties that are properties of new tables, unless the table has a value of its own."""
TABLE_OVERRIDE = "table-override."
"""Prefix of catalog properties that are properties of new tables, whatever values are given for them."""


class TableCreation(ABC):
    """Methods that create and replace tables."""

    properties: Properties

    @abstractmethod
    def absolute(self, location: str) -> str:
        """Return an absolute location."""

    def table_properties(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the properties of a new table: the catalog's defaults, the given properties, and the catalog's overrides.

        Args:
            given: Table properties that were passed with the definition of the table.

        Raises:
            ValidationError: A value is None, or a property that icefloe reads as a whole number or as a name mapping has another text.
        """
        from icefloe.table.properties import properties_as_text
        from icefloe.table.properties.checking import check_new_properties

        def below(prefix: str) -> dict[str, object]:
            return {key.removeprefix(prefix): value for key, value in self.properties.items() if key.startswith(prefix)}

        properties = {**below(TABLE_DEFAULT), **properties_as_text(given), **below(TABLE_OVERRIDE)}
        check_new_properties(properties_as_text(properties))
        return properties

    @abstractmethod
    def create_table(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Create an empty table. Column ids are assigned from 1.

        Args:
            identifier: Namespace and name, such as `"db.events"`.
            schema: Columns, as an Iceberg or an Arrow schema.
            location: The table's location; None chooses a directory below the warehouse.
            partition_spec: The partition spec, with source ids of `schema`.
            sort_order: The sort order of rows within files, with source ids of `schema`.
            properties: Table properties. `format-version` (1 or 2, default `2`) is applied and not stored.

        Raises:
            TableAlreadyExistsError: A table of this name exists.
            NoSuchNamespaceError: The namespace does not exist.
            ValidationError: The spec, the sort order or a property is invalid.
        """

    @abstractmethod
    def load_table(self, identifier: str | Identifier) -> Table:
        """Return the newest version of a table.

        Raises:
            NoSuchTableError: The table does not exist.
        """

    def create_table_if_not_exists(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Create a table, or load an existing table of this name, whose schema may differ."""
        try:
            return self.create_table(identifier, schema, location, partition_spec, sort_order, properties)
        except TableAlreadyExistsError:
            return self.load_table(identifier)

    def create_table_transaction(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> CreateTableTransaction:
        """Return a transaction that creates a table together with its first changes, in one commit.

        Args:
            identifier: See `create_table` for this and the following arguments.
            schema: Columns.
            location: The table's location.
            partition_spec: The partition spec.
            sort_order: The sort order.
            properties: Table properties.

        Raises:
            TableAlreadyExistsError: A table of this name exists.
            NoSuchNamespaceError: The namespace does not exist.
            FeatureUnsupportedError: The catalog cannot create a table with rows in one commit.
        """
        raise FeatureUnsupportedError(
            f"create_table_transaction is not supported by {type(self).__name__}; create the table, then use table.transaction()"
        )

    def replace_table_transaction(  # noqa: PLR0913 - the signature of create_table_transaction
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> ReplaceTableTransaction:
        """Return a transaction that replaces the definition and the rows of a table, in one commit.

        The table keeps its UUID, snapshots, tags, and properties that are not set here. A column keeps the id of the current column of the
        same full name, so that old snapshots remain readable by time travel.

        Args:
            identifier: The table's name.
            schema: Columns.
            location: The location of new files; None keeps the table's location.
            partition_spec: The partition spec, with source ids of `schema`.
            sort_order: The sort order, with source ids of `schema`.
            properties: Table properties to set. `format-version` may raise the format version.

        Raises:
            NoSuchTableError: The table does not exist.
            ValidationError: The spec, the sort order or a property does not fit the schema.
        """
        from icefloe.io.pyarrow import pyarrow_to_schema
        from icefloe.table import ReplaceTableTransaction
        from icefloe.table.replacement import Replacement

        table = self.load_table(identifier)
        columns = schema if isinstance(schema, Schema) else pyarrow_to_schema(schema)
        own = None if location is None else self.absolute(location)
        stored = self.table_properties(properties)
        return ReplaceTableTransaction(table, Replacement(columns, partition_spec, sort_order, own, stored))

    def create_or_replace_table_transaction(  # noqa: PLR0913 - the signature of create_table_transaction
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> CreateTableTransaction | ReplaceTableTransaction:
        """Return a transaction that replaces a table, or creates it if it does not exist.

        Whether the table exists is decided here: the commit raises TableAlreadyExistsError or NoSuchTableError if another client creates or
        drops the table before.

        Args:
            identifier: See `replace_table_transaction` and `create_table_transaction` for this and the following arguments.
            schema: Columns.
            location: The table's location.
            partition_spec: The partition spec.
            sort_order: The sort order.
            properties: Table properties.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
        """
        definition = (identifier, schema, location, partition_spec, sort_order, properties)
        for _ in range(ATTEMPTS):
            try:
                return self.replace_table_transaction(*definition)
            except NoSuchTableError:
                pass
            try:
                return self.create_table_transaction(*definition)
            except TableAlreadyExistsError:
                pass
        raise CommitFailedException(
            f"table {identifier}: other clients create and drop it again and again; repeat the change"
        )

    def replace_table(  # noqa: PLR0913 - the signature of create_table
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Replace a table by an empty one; see `replace_table_transaction`.

        Raises:
            NoSuchTableError: The table does not exist.
        """
        transaction = self.replace_table_transaction(
            identifier, schema, location, partition_spec, sort_order, properties
        )
        transaction.commit_transaction()
        return self.load_table(identifier)

    def create_or_replace_table(  # noqa: PLR0913 - the signature of create_table
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Create an empty table, or replace a table of this name by an empty one; see `replace_table_transaction`.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
        """
        definition = (identifier, schema, location, partition_spec, sort_order, properties)
        for _ in range(ATTEMPTS):
            try:
                return self.replace_table(*definition)
            except NoSuchTableError:
                pass
            try:
                return self.create_table(*definition)
            except TableAlreadyExistsError:
                pass
        raise CommitFailedException(
            f"table {identifier}: other clients create and drop it again and again; repeat the change"
        )
