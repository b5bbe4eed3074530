"""The REST catalog: a server stores the tables' metadata locations, applies updates and may lend credentials for storage."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_flag
from icefloe.catalog.apply_commit import check_commit, new_metadata
from icefloe.catalog.catalog import Catalog
from icefloe.catalog.configuration import flattened
from icefloe.catalog.identifiers import dotted, to_identifier
from icefloe.catalog.rest.commits import RestCommits, TableCommit, in_protocol, one_snapshot_each
from icefloe.catalog.rest.endpoints import LOAD_CREDENTIALS
from icefloe.catalog.rest.metrics_reports import MetricsReports
from icefloe.catalog.rest.misspelled import warn_of_misspelled
from icefloe.catalog.rest.namespaces import RestNamespaces
from icefloe.catalog.rest.property_names import SNAPSHOT_LOADING_MODE
from icefloe.catalog.rest.requests import Requests
from icefloe.catalog.rest.rest_table import RestTable
from icefloe.catalog.rest.server_config import Connection, connect, connection_of
from icefloe.catalog.rest.server_plans import ServerPlans
from icefloe.catalog.rest.table_scans import TableScans, check_planning_mode, plans_on_server
from icefloe.catalog.rest.table_storage import table_file_io
from icefloe.catalog.rest.tables import RestTables
from icefloe.catalog.rest.views import RestViews, View
from icefloe.exceptions import CommitStateUnknownException, IcebergError, ValidationError
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from icefloe.table import CreateTableTransaction, StagedTable
from icefloe.table.commit.committing_table import CommitTableResponse
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.metadata.absolute_locations import with_absolute_locations
from icefloe.table.properties import properties_as_text
from icefloe.table.properties.definitions import GC_ENABLED, METADATA_COMPRESSION
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.table.update import AddSnapshotUpdate, AssertCreate
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from icefloe.catalog.catalog import PropertiesUpdateSummary
    from icefloe.catalog.rest.loaded_table import LoadedTable
    from icefloe.catalog.rest.table_storage import StorageCredential
    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table import Table
    from icefloe.table.update import TableRequirement, TableUpdate

_LOADING_MODES = ("all", "refs")


class RestCatalog(Catalog):
    """A catalog behind the Iceberg REST protocol.

    A pickled catalog carries its properties, with their secrets, so that it works in another process; tokens and connections are
    obtained there anew.

    Args:
        name: The catalog's name.
        **properties: `uri`, authentication, storage and others; see the page on catalogs. A name that is nearly that of a known
            property is reported by a warning; other unknown names are left to other engines.

    Raises:
        ValidationError: A property is missing or invalid.
        IcebergError: The server did not send its configuration.
    """

    environment: Environment = SYSTEM

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **{key: str(value) for key, value in flattened(properties).items()})
        # A server may know warehouses by name: the property is sent as it was given.
        if (warehouse := properties.get("warehouse")) is not None:
            self.properties["warehouse"] = str(warehouse)
        self._given = dict(self.properties)
        warn_of_misspelled(name, self._given)
        self._use(connect(name, self._given, self.environment))

    def _use(self, connection: Connection) -> None:
        self.properties = dict(connection.properties)
        self._connection = connection
        self._snapshots = self.properties.get(SNAPSHOT_LOADING_MODE, "all").lower()
        if self._snapshots not in _LOADING_MODES:
            raise ValidationError(
                f"catalog {self.name!r}: property {SNAPSHOT_LOADING_MODE}: expected all or refs, got {self._snapshots!r}"
            )
        check_planning_mode(self.name, self.properties)
        requests = Requests(connection)
        self._namespaces = RestNamespaces(requests)
        self._tables = RestTables(requests, self.environment)
        self._views = RestViews(requests, self.environment)
        self._commits = RestCommits(requests, lambda levels: self._tables.load(levels, "all"), self.environment)
        self._reports = MetricsReports(requests)
        self._plans = ServerPlans(requests, self.environment)

    @property
    def uri(self) -> str:
        """The catalog's address."""
        return self.properties["uri"]

    # ---- tables

    def create_table(  # noqa: PLR0913, D102 - the signature shared with PyIceberg; described by the interface
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        loaded = self._created(identifier, schema, location, partition_spec, sort_order, properties, stage=False)
        return self._table(identifier, loaded, "all")

    def create_table_transaction(  # noqa: PLR0913, D102 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> CreateTableTransaction:
        loaded = self._created(identifier, schema, location, partition_spec, sort_order, properties, stage=True)
        levels = to_identifier(identifier)
        io = self._file_io(levels, loaded)
        return CreateTableTransaction(StagedTable(levels, loaded.metadata, "", io, self, loaded.config))

    def load_table(self, identifier: str | Identifier) -> Table:  # noqa: D102
        return self._table(identifier, self._tables.load(identifier, self._snapshots), self._snapshots)

    def load_all_snapshots(self, identifier: Identifier) -> Table:
        """Return the newest version of a table with all its snapshots, whatever `snapshot-loading-mode` is."""
        return self._table(identifier, self._tables.load(identifier, "all"), "all")

    def table_exists(self, identifier: str | Identifier) -> bool:  # noqa: D102
        return self._tables.exists(identifier)

    def drop_table(self, identifier: str | Identifier, purge_requested: bool = False) -> None:
        """Remove a table from the catalog; see `Catalog.drop_table`.

        Args:
            identifier: The table's name.
            purge_requested: Whether the server deletes the table's files as well, as by `purge_table`.
        """
        if purge_requested:
            self.purge_table(identifier)
        else:
            self._tables.drop(identifier, purge=False)

    def purge_table(self, identifier: str | Identifier) -> None:
        """Remove a table from the catalog and have the server delete its files; the server decides whether and when it does.

        Raises:
            NoSuchTableError: The table does not exist.
            ValidationError: The table's property `gc.enabled` is false.
        """
        # A server may remove such a table and delete a part of its files.
        if not GC_ENABLED.of(self._tables.load(identifier, self._snapshots).metadata.properties):
            raise ValidationError(
                f"table {dotted(identifier)}: cannot purge it, since table property gc.enabled is false; use drop_table()"
            )
        self._tables.drop(identifier, purge=True)

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:  # noqa: D102
        self._tables.rename(from_identifier, to_identifier)
        try:
            return self.load_table(to_identifier)
        except IcebergError as error:
            raise CommitStateUnknownException(
                f"the server renamed table {dotted(from_identifier)} to {dotted(to_identifier)}, and loading it failed; load it again "
                f"with load_table(): {error}"
            ) from error

    def register_table(  # noqa: D102
        self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False
    ) -> Table:
        checked_flag("overwrite", overwrite)
        location = self.absolute(metadata_location)
        return self._table(identifier, self._tables.register(identifier, location, overwrite=overwrite), "all")

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102
        return self._tables.listed(namespace)

    def commit_table(  # noqa: D102
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        check_commit(table, requirements, updates)
        # A staged table has no metadata file yet.
        if table.metadata_location != "":
            requirements = self._checked_here(table, requirements)
        sent = tuple(requirement for requirement in requirements if requirement.is_sent)
        commit = TableCommit(table.name(), sent, one_snapshot_each(updates))
        started = time.monotonic_ns()
        loaded = self._commits.commit(commit, table.properties)
        for update in updates:
            if isinstance(update, AddSnapshotUpdate):
                self._reports.commit(table.name(), update.snapshot, time.monotonic_ns() - started)
        return CommitTableResponse(with_absolute_locations(loaded.metadata, table.io), loaded.metadata_location)

    def commit_transaction(self, commits: Sequence[TableCommit]) -> None:
        """Commit the changes of several tables together or not at all.

        Args:
            commits: The changes of each table; handles of the tables are refreshed by their owner.

        Raises:
            FeatureUnsupportedError: The server does not offer commits of several tables.
            CommitFailedException: A requirement of one of the tables does not hold. Nothing has changed.
            CommitStateUnknownException: The server did not report the outcome.
        """
        if commits:
            self._commits.commit_all(commits)

    def check_location(self, table: Table) -> None:
        """Load the snapshots that a handle lacks, before a change starts from it."""
        if isinstance(table, RestTable):
            table.load_all_snapshots()

    # ---- views

    def list_views(self, namespace: str | Identifier) -> list[Identifier]:
        """Return the identifiers of the views of a namespace, sorted; none if the server has no views.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
        """
        return self._views.listed(namespace)

    def load_view(self, identifier: str | Identifier) -> View:
        """Return a view, whose SQL is text.

        Raises:
            NoSuchViewError: The view does not exist.
        """
        return self._views.load(identifier)

    def view_exists(self, identifier: str | Identifier) -> bool:
        """Return whether a view exists."""
        return self._views.exists(identifier)

    def drop_view(self, identifier: str | Identifier) -> None:
        """Remove a view.

        Raises:
            NoSuchViewError: The view does not exist.
        """
        self._views.drop(identifier)

    # ---- namespaces

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        self._namespaces.create(namespace, properties)

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        self._namespaces.drop(namespace)

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        return self._namespaces.listed(namespace)

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        return self._namespaces.properties(namespace)

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        return self._namespaces.update(namespace, removals, updates)

    def namespace_exists(self, namespace: str | Identifier) -> bool:  # noqa: D102
        return self._namespaces.exists(namespace)

    def close(self) -> None:  # noqa: D102
        self._connection.client.close()

    # ---- internals

    def _checked_here(self, table: Table, requirements: tuple[TableRequirement, ...]) -> tuple[TableRequirement, ...]:
        """Return requirements with those of the protocol that imply them; check others on the newest version of the table."""
        found = tuple(in_protocol(requirement, table.metadata) for requirement in requirements)
        unsent = tuple(requirement for requirement in found if not requirement.is_sent)
        # The handle may be older than a concurrent commit.
        newest = self._tables.load(table.name(), "all").metadata if unsent else table.metadata
        for requirement in found:
            if isinstance(requirement, AssertCreate) or not requirement.is_sent:
                requirement.validate(newest)
        return found

    def _created(  # noqa: PLR0913 - the arguments of create_table
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None,
        partition_spec: PartitionSpec,
        sort_order: SortOrder,
        properties: Properties,
        *,
        stage: bool,
    ) -> LoadedTable:
        absolute = self.absolute(location).rstrip("/") if location is not None else None
        # Everything that can be wrong is found here, before the request; the server assigns the ids once more, and a location.
        placeholder = absolute if absolute is not None else "assigned-by-the-server"
        stored = self.table_properties(properties)
        metadata = new_metadata(schema, partition_spec, sort_order, placeholder, stored, self.environment)
        texts = properties_as_text(stored)
        METADATA_COMPRESSION.of(texts)
        return self._tables.create(identifier, metadata, texts, absolute, stage=stage)

    def _table(self, identifier: str | Identifier, loaded: LoadedTable, snapshots: str) -> Table:
        levels = to_identifier(identifier)
        io = self._file_io(levels, loaded)
        served = plans_on_server(levels, self.properties, loaded.config, self._connection.endpoints)

        def storage(credentials: tuple[StorageCredential, ...]) -> FileIO:
            return io if not credentials else self._file_io(levels, replace(loaded, credentials=credentials))

        return RestTable(
            levels,
            with_absolute_locations(loaded.metadata, io),
            loaded.metadata_location,
            io,
            self,
            loaded.config,
            has_all_snapshots=snapshots == "all",
            loader=self,
            scans=TableScans(levels, served, self._plans, self._reports, storage),
        )

    def _file_io(self, levels: Identifier, loaded: LoadedTable) -> FileIO:
        endpoints, authentication = self._connection.endpoints, self._connection.client.authentication
        offered = endpoints.offers(LOAD_CREDENTIALS)
        return table_file_io(
            ".".join(levels),
            self.properties,
            loaded.config,
            loaded.credentials,
            loaded.storage_location(),
            endpoint=endpoints.path(LOAD_CREDENTIALS, levels[:-1], levels[-1]) if offered else None,
            headers=self._headers() if authentication is not None else None,
            working_directory=self._working_directory,
        )

    def _headers(self) -> dict[str, str] | None:
        """Return the headers that authenticate requests of the storage client, None if each request has its own."""
        authentication = self._connection.client.authentication
        own = authentication.fixed_headers() if authentication is not None else {}
        if own is None:
            return None
        return {
            **{
                key.removeprefix("header."): value
                for key, value in self.properties.items()
                if key.startswith("header.")
            },
            **own,
        }

    def __getstate__(self) -> dict[str, Any]:
        endpoints = self._connection.endpoints
        return {
            "name": self.name,
            "given": self._given,
            "properties": self.properties,
            "listed": sorted(endpoints.offered),
            "working_directory": self._working_directory,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._given = state["given"]
        self._working_directory = state["working_directory"]
        self._use(connection_of(self.name, self._given, state["properties"], state["listed"], None, self.environment))
