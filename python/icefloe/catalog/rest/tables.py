"""Tables of a REST catalog: creation, loading, removal, names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.loaded_table import LoadedTable, loaded_table
from icefloe.catalog.rest.lost_change import run_provable_change
from icefloe.catalog.rest.path_names import check_table_name
from icefloe.catalog.rest.replies import Call, Reply
from icefloe.catalog.rest.table_cache import TableCache
from icefloe.catalog.rest.table_storage import lends
from icefloe.exceptions import (
    IcebergError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from icefloe.catalog.rest.requests import Requests
    from icefloe.table.environment import Environment
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Identifier, Properties

_DELEGATION = "X-Iceberg-Access-Delegation"
DELEGATION_HEADER = {_DELEGATION: "vended-credentials"}
"""The header of requests that asks the server to lend credentials for storage."""
_NOT_MODIFIED = 304


class RestTables:
    """Requests for tables.

    Args:
        requests: Sends the requests.
        environment: Clock and sleep.
    """

    def __init__(self, requests: Requests, environment: Environment) -> None:
        self._requests = requests
        self._environment = environment
        self._cache = TableCache()
        given = {name.lower() for name in requests.connection.properties}
        is_given = f"header.{_DELEGATION.lower()}" in given
        self._delegation = {} if is_given else DELEGATION_HEADER

    def create(
        self,
        identifier: str | Identifier,
        metadata: TableMetadata,
        properties: Properties,
        location: str | None,
        *,
        stage: bool,
    ) -> LoadedTable:
        """Create a table, or with `stage` only prepare its metadata.

        Args:
            identifier: The table's name.
            metadata: Schema, partition spec and sort order with assigned ids.
            properties: Table properties.
            location: The table's location, None for one that the server chooses.
            stage: Whether the table is created by a later commit.
        """
        namespace, name = split_table_identifier(identifier)
        call = Call(
            f"table {dotted(identifier)}: creation",
            changes=not stage,
            missing=NoSuchNamespaceError,
            errors={409: TableAlreadyExistsError},
        )
        check_table_name(self._requests, namespace, name)
        parts = {
            "name": json.dumps(name),
            "schema": metadata.schema().model_dump_json(),
            "partition-spec": metadata.spec().model_dump_json(),
            "write-order": metadata.sort_order().model_dump_json(),
            "stage-create": json.dumps(stage),
            "properties": json.dumps(dict(properties)),
        }
        if location is not None:
            parts["location"] = json.dumps(location)
        content = "{" + ", ".join(f'"{key}": {text}' for key, text in parts.items()) + "}"
        reply = self._requests.send(call, endpoints.CREATE_TABLE, namespace, content=content, headers=self._delegation)
        return self._loaded(call, endpoints.CREATE_TABLE, (*namespace, name), reply)

    def load(self, identifier: str | Identifier, snapshots: str) -> LoadedTable:
        """Return the newest version of a table.

        Args:
            identifier: The table's name.
            snapshots: `all`, or `refs` for the snapshots of branches and tags.
        """
        namespace, name = split_table_identifier(identifier)
        levels = (*namespace, name)
        call = Call(f"table {dotted(identifier)}", missing=NoSuchTableError)
        held = self._cache.version(levels, snapshots)
        headers = {**self._delegation, **({"If-None-Match": held[0]} if held is not None else {})}
        query = {"snapshots": snapshots} if snapshots != "all" else {}
        reply = self._requests.send(call, endpoints.LOAD_TABLE, namespace, name, query=query, headers=headers)
        if reply.status == _NOT_MODIFIED:
            if held is None:
                raise self._requests.unreadable(call, endpoints.LOAD_TABLE, namespace, name, expected="a table")
            return held[1]
        table = self._loaded(call, endpoints.LOAD_TABLE, levels, reply)
        # Lent credentials expire although the table has not changed.
        if reply.etag is not None and not lends(table.config, table.credentials):
            self._cache.hold(levels, snapshots, reply.etag, table)
        return table

    def exists(self, identifier: str | Identifier) -> bool:
        """Return whether a table exists."""
        levels = to_identifier(identifier)
        if len(levels) < 2:
            return False
        offered = self._requests.offers(endpoints.TABLE_EXISTS)
        endpoint = endpoints.TABLE_EXISTS if offered else endpoints.LOAD_TABLE
        call = Call(f"table {dotted(levels)}", missing=NoSuchTableError)
        try:
            body = self._requests.send(call, endpoint, levels[:-1], levels[-1]).body
            if not offered and "metadata" not in body:
                raise self._requests.unreadable(
                    call, endpoint, *split_table_identifier(levels), expected="`metadata` of a table"
                )
        except (NoSuchTableError, NoSuchNamespaceError):
            return False
        return True

    def drop(self, identifier: str | Identifier, *, purge: bool) -> None:
        """Remove a table from the catalog; with `purge`, the server deletes its files as well."""
        namespace, name = split_table_identifier(identifier)
        call = Call(f"table {dotted(identifier)}: removal", changes=True, missing=NoSuchTableError)
        query = {"purgeRequested": "true" if purge else "false"}
        self._cache.drop((*namespace, name))
        run_provable_change(
            lambda: self._requests.send(call, endpoints.DROP_TABLE, namespace, name, query=query),
            # An absent name does not prove that the files of this table were deleted: the table may have another name now.
            lambda: None if purge or self.exists(identifier) else Reply(204, {}),
            EMPTY_DICT,
            self._environment,
        )

    def rename(self, old: str | Identifier, new: str | Identifier) -> None:
        """Rename a table."""
        source, target = split_table_identifier(old), split_table_identifier(new)
        call = Call(
            f"table {dotted(old)}: rename to {dotted(new)}",
            changes=True,
            missing=NoSuchTableError,
            errors={409: TableAlreadyExistsError},
        )
        content = json.dumps({"source": _identifier_json(source), "destination": _identifier_json(target)})
        for namespace, _ in (source, target):
            self._requests.connection.endpoints.check_levels(namespace)
        check_table_name(self._requests, *target)
        uuid = self._uuid(old)
        for namespace, name in (source, target):
            self._cache.drop((*namespace, name))
        run_provable_change(
            lambda: self._requests.send(call, endpoints.RENAME_TABLE, content=content),
            # Another client may have dropped the table and created another one of the new name.
            lambda: (
                Reply(204, {}) if uuid is not None and self._uuid(new) == uuid and self._uuid(old) != uuid else None
            ),
            EMPTY_DICT,
            self._environment,
        )

    def register(self, identifier: str | Identifier, metadata_location: str, *, overwrite: bool) -> LoadedTable:
        """Add a table by the location of its metadata file."""
        namespace, name = split_table_identifier(identifier)
        call = Call(
            f"table {dotted(identifier)}: registration of {metadata_location}",
            changes=True,
            missing=NoSuchNamespaceError,
            errors={409: TableAlreadyExistsError},
        )
        check_table_name(self._requests, namespace, name)
        self._cache.drop((*namespace, name))
        content = json.dumps({"name": name, "metadata-location": metadata_location, "overwrite": overwrite})
        # A table that has this metadata file is the result, whichever client registered it, unless the name must be new.
        return run_provable_change(
            lambda: self._loaded(
                call,
                endpoints.REGISTER_TABLE,
                (*namespace, name),
                self._requests.send(
                    call, endpoints.REGISTER_TABLE, namespace, content=content, headers=self._delegation
                ),
            ),
            lambda: self._registered(identifier, metadata_location) if overwrite else None,
            EMPTY_DICT,
            self._environment,
        )

    def listed(self, namespace: str | Identifier) -> list[Identifier]:
        """Return the identifiers of the tables of a namespace, sorted."""
        levels = to_identifier(namespace)
        call = Call(f"namespace {dotted(levels)}: list of tables", missing=NoSuchNamespaceError)
        return listed_identifiers(self._requests, call, endpoints.LIST_TABLES, levels)

    def _uuid(self, identifier: str | Identifier) -> UUID | None:
        """Return a table's UUID; None if the table cannot be loaded."""
        try:
            return self.load(identifier, "refs").metadata.table_uuid
        except IcebergError:
            return None

    def _registered(self, identifier: str | Identifier, metadata_location: str) -> LoadedTable | None:
        found = self.load(identifier, "all")
        return found if found.metadata_location == metadata_location else None

    def _loaded(self, call: Call, endpoint: str, levels: Identifier, reply: Reply) -> LoadedTable:
        return loaded_table(self._requests, call, endpoint, levels, reply)


def listed_identifiers(requests: Requests, call: Call, endpoint: str, namespace: Identifier) -> list[Identifier]:
    """Return the identifiers in a list of tables or views, sorted."""
    if not namespace:
        raise NoSuchNamespaceError(f"{call.subject}: expected the name of a namespace, got an empty one")
    found: set[Identifier] = set()
    for item in requests.listed(call, endpoint, "identifiers", namespace):
        levels = item.get("namespace") if isinstance(item, dict) else None
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(levels, list) or not isinstance(name, str):
            raise requests.unreadable(call, endpoint, namespace, expected="identifiers with `namespace` and `name`")
        found.add((*map(str, levels), name))
    return sorted(found)


def _identifier_json(identifier: tuple[Identifier, str]) -> Mapping[str, object]:
    return {"namespace": list(identifier[0]), "name": identifier[1]}
