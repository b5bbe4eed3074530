"""Commits of REST catalogs: the server checks the requirements and applies the updates, of one table or of several at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pydantic_core import to_json

from icefloe.catalog.identifiers import dotted, split_table_identifier
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.loaded_table import LoadedTable, loaded_table
from icefloe.catalog.rest.lost_change import run_provable_change
from icefloe.catalog.rest.replies import Call, RepeatedConflictError
from icefloe.exceptions import (
    CommitFailedException,
    IcebergError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from icefloe.table.update import (
    AddSnapshotUpdate,
    AssertCreate,
    AssertDefaultSpecId,
    AssertPartitionSpecExists,
    AssignUUIDUpdate,
    RemoveSnapshotsUpdate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from icefloe.catalog.rest.requests import Requests
    from icefloe.table.environment import Environment
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Identifier, Properties

Result = TypeVar("Result")


def one_snapshot_each(updates: tuple[TableUpdate, ...]) -> tuple[TableUpdate, ...]:
    """Return updates that remove snapshots one by one: servers refuse a list of several ids."""
    sent: list[TableUpdate] = []
    for update in updates:
        if isinstance(update, RemoveSnapshotsUpdate):
            sent += [RemoveSnapshotsUpdate(snapshot_ids=[snapshot_id]) for snapshot_id in update.snapshot_ids]
        else:
            sent.append(update)
    return tuple(sent)


def in_protocol(requirement: TableRequirement, base: TableMetadata) -> TableRequirement:
    """Return the requirement of the protocol that implies a requirement on a version of a table, or the requirement itself.

    The default partition spec of a table cannot be removed.
    """
    if isinstance(requirement, AssertPartitionSpecExists) and requirement.spec == base.spec():
        return AssertDefaultSpecId(default_spec_id=base.default_spec_id)
    return requirement


@dataclass(frozen=True)
class TableCommit:
    """The changes of one table in a commit of several tables.

    Attributes:
        identifier: The table's name.
        requirements: What must hold on the newest version.
        updates: The changes.
    """

    identifier: Identifier
    requirements: tuple[TableRequirement, ...]
    updates: tuple[TableUpdate, ...]

    def json_text(self) -> str:
        """Return the JSON object of the protocol."""
        namespace, name = split_table_identifier(self.identifier)
        identifier = to_json({"namespace": list(namespace), "name": name}).decode()
        requirements = ", ".join(requirement.model_dump_json() for requirement in self.requirements)
        updates = ", ".join(update.model_dump_json() for update in self.updates)
        return f'{{"identifier": {identifier}, "requirements": [{requirements}], "updates": [{updates}]}}'

    def is_visible_in(self, metadata: TableMetadata) -> bool:
        """Return whether the metadata proves that this commit took effect: a snapshot or a UUID of the commit is there."""
        snapshots = [update.snapshot.snapshot_id for update in self.updates if isinstance(update, AddSnapshotUpdate)]
        if snapshots:
            return any(metadata.snapshot_by_id(snapshot_id) is not None for snapshot_id in snapshots)
        return any(
            update.uuid == metadata.table_uuid for update in self.updates if isinstance(update, AssignUUIDUpdate)
        )

    @property
    def creates(self) -> bool:
        """Whether the commit creates the table."""
        return any(isinstance(requirement, AssertCreate) for requirement in self.requirements)

    @property
    def is_provable(self) -> bool:
        """Whether the effect of the commit can be recognised in the table."""
        return any(isinstance(update, AddSnapshotUpdate | AssignUUIDUpdate) for update in self.updates)


class RestCommits:
    """Requests that commit.

    Args:
        requests: Sends the requests.
        load: Returns the newest version of a table with all its snapshots.
        environment: Clock and sleep.
    """

    def __init__(self, requests: Requests, load: Callable[[Identifier], LoadedTable], environment: Environment) -> None:
        self._requests = requests
        self._load = load
        self._environment = environment

    def commit(self, commit: TableCommit, properties: Properties) -> LoadedTable:
        """Commit the changes of one table and return its new version.

        Args:
            commit: The changes.
            properties: Table properties; `commit.status-check.*` limits the search for an unknown outcome.

        Raises:
            CommitFailedException: A requirement does not hold. Nothing has changed.
            CommitStateUnknownException: The server did not report the outcome.
            ServiceUnavailableError: The server or a proxy replied with status 503, and the change is not visible.
        """
        conflict = TableAlreadyExistsError if commit.creates else CommitFailedException
        call = _call(f"table {dotted(commit.identifier)}: commit", conflict)
        namespace, name = split_table_identifier(commit.identifier)

        def change() -> LoadedTable:
            reply = self._requests.send(call, endpoints.COMMIT_TABLE, namespace, name, content=commit.json_text())
            return loaded_table(self._requests, call, endpoints.COMMIT_TABLE, (*namespace, name), reply)

        def proof() -> LoadedTable | None:
            table = self._load(commit.identifier)
            return table if commit.is_visible_in(table.metadata) else None

        if not commit.is_provable:
            return change()
        return _run(change, proof, conflict, properties, self._environment)

    def commit_all(self, commits: Sequence[TableCommit]) -> None:
        """Commit the changes of several tables together or not at all.

        Raises:
            CommitFailedException: A requirement does not hold. Nothing has changed.
            CommitStateUnknownException: The server did not report the outcome.
        """
        names = ", ".join(dotted(commit.identifier) for commit in commits)
        call = _call(f"tables {names}: commit", CommitFailedException)
        content = f'{{"table-changes": [{", ".join(commit.json_text() for commit in commits)}]}}'
        provable = [commit for commit in commits if commit.is_provable]

        def change() -> bool:
            self._requests.send(call, endpoints.COMMIT_TRANSACTION, content=content)
            return True

        def proof() -> bool | None:
            # All tables change together: the effect on one of them proves the others.
            first = provable[0]
            return True if first.is_visible_in(self._load(first.identifier).metadata) else None

        if provable:
            _run(change, proof, CommitFailedException, {}, self._environment)
        else:
            change()


def _call(subject: str, conflict: type[IcebergError]) -> Call:
    return Call(subject, changes=True, missing=NoSuchTableError, errors={409: conflict})


def _run(
    change: Callable[[], Result],
    proof: Callable[[], Result | None],
    conflict: type[IcebergError],
    properties: Properties,
    environment: Environment,
) -> Result:
    """Run a change as `run_provable_change` does; decide by the proof whether a repeated change conflicts with its own effect.

    Raises:
        IcebergError: `conflict`, if the change was repeated, conflicts, and has no effect that can be read back.
        CommitStateUnknownException: The outcome is unknown, also since reading back failed.
    """

    def decided() -> Result:
        try:
            return change()
        except RepeatedConflictError as error:
            try:
                found = proof()
            except Exception:  # noqa: BLE001 - the outcome is unknown then
                raise error from None
            if found is None:
                raise conflict(error.conflict) from None
            return found

    return run_provable_change(decided, proof, properties, environment)
