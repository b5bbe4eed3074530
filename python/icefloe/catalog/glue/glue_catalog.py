"""A catalog in AWS Glue."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from icefloe.catalog.configuration import LOCATION, METADATA_LOCATION, TABLE_TYPE
from icefloe.catalog.glue.client import CONFLICT, EXISTS, MISSING, Glue, glue_client
from icefloe.catalog.glue.tables import accepted, table_input
from icefloe.catalog.identifiers import dotted, to_identifier
from icefloe.catalog.metastore import COMMENT, STORED_TYPE, MetastoreCatalog, is_iceberg
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.exceptions import (
    CommitFailedException,
    IcebergError,
    LeftoverFilesWarning,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.table.properties import properties_as_text
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog.pointer_catalog import StoredVersion
    from icefloe.typedef import Identifier, Properties

RENAMED = "ICEBERG_RENAMED"
"""The table type of an entry whose table has another name: an entry that a rename could not delete any more."""
_NAME = re.compile(r"[a-z0-9_]+")


class GlueCatalog(MetastoreCatalog):
    """A catalog in AWS Glue, with entries as the Java reference stores them.

    A commit states the version of the entry that it replaces, so that Glue refuses it after a concurrent commit.

    Args:
        name: The catalog's name.
        client: A client of boto3 for Glue; None makes one from the properties.
        **properties: `warehouse`, `glue.id`, `glue.endpoint`, `glue.skip-archive` (default `true`),
            `glue.skip-name-validation`, `glue.max-retries`, `glue.retry-mode`, and `glue.*` or `client.*` for `region`,
            `profile-name`, `access-key-id`, `secret-access-key`, `session-token`; storage properties.

    Raises:
        ValidationError: A property is not valid.
    """

    def __init__(self, name: str, client: Any = None, **properties: str) -> None:
        super().__init__(name, **properties)
        self.glue = client if client is not None else glue_client(name, properties)
        self._glue = Glue(self.glue, properties.get("glue.id"))
        self._skips_archive = properties.get("glue.skip-archive", "true").lower() == "true"
        self._skips_names = properties.get("glue.skip-name-validation", "false").lower() == "true"

    # ---- names

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102 - described by the interface
        levels = to_identifier(namespace)
        self._check_namespace(levels)
        entries = self._glue.pages("get_tables", "TableList", DatabaseName=levels[0])
        return sorted((*levels, str(entry["Name"])) for entry in entries if is_iceberg(entry.get("Parameters", {})))

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        database = self._new_namespace(namespace)
        exists = NamespaceAlreadyExistsError(f"Namespace {database} already exists in catalog {self.name!r}")
        self._run(
            f"namespace {database}: creation",
            lambda: self._glue.change(
                "create_database",
                {EXISTS: exists},
                DatabaseInput=_database_input(database, properties_as_text(properties)),
            ),
            is_visible=lambda: self._database_properties(database) is not None,
        )

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = to_identifier(namespace)
        self._check_namespace(levels)
        # Glue itself drops a database together with its tables.
        if self._glue.pages("get_tables", "TableList", DatabaseName=levels[0]):
            raise NamespaceNotEmptyError(
                f"Namespace {dotted(levels)} is not empty: it contains tables or views; drop them first"
            )
        self._run(
            f"namespace {dotted(levels)}: removal",
            lambda: self._glue.change("delete_database", {MISSING: self._missing_namespace(levels)}, Name=levels[0]),
            is_visible=lambda: self._database_properties(levels[0]) is None,
        )

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        levels = to_identifier(namespace)
        if levels:
            self._check_namespace(levels)
            return []
        return sorted((str(database["Name"]),) for database in self._glue.pages("get_databases", "DatabaseList"))

    def _database_properties(self, database: str) -> Properties | None:
        found = self._glue.read("get_database", "Database", Name=database)
        if found is None:
            return None
        entry = found["Database"]
        fields = {LOCATION: entry.get("LocationUri"), COMMENT: entry.get("Description")}
        return {**entry.get("Parameters", {}), **{key: value for key, value in fields.items() if value is not None}}

    def _set_database_properties(self, database: str, before: Properties, after: Properties) -> None:
        self._glue.change(
            "update_database",
            {MISSING: self._missing_namespace((database,))},
            Name=database,
            DatabaseInput=_database_input(database, after),
        )

    def _check_name(self, name: str, subject: str) -> None:
        longest = 255 if subject.startswith("table") else 252
        if not self._skips_names and (_NAME.fullmatch(name) is None or len(name) > longest):
            raise ValidationError(
                f"{subject}: not a name for AWS Glue; expected 1 to {longest} lowercase letters, digits and underscores, or the catalog "
                "property glue.skip-name-validation=true"
            )

    # ---- tables

    def _entry(self, database: str, name: str) -> dict[str, Any] | None:
        found = self._glue.read("get_table", "Table", DatabaseName=database, Name=name)
        return None if found is None else dict(found["Table"])

    def _existing_entry(self, namespace: Identifier, name: str, location: str | None = None) -> dict[str, Any]:
        """Return the entry of an Iceberg table, which must be at `location`."""
        entry = self._entry(namespace[0], name) if len(namespace) == 1 else None
        if entry is None:
            raise self._missing(namespace, name)
        if self._location_in(entry.get("Parameters", {}), namespace, name) != location and location is not None:
            raise self._conflict(namespace, name)
        return entry

    def _location_in(self, parameters: Properties, namespace: Identifier, name: str) -> str:
        if parameters.get(TABLE_TYPE) == RENAMED:
            raise self._missing(namespace, name)
        return super()._location_in(parameters, namespace, name)

    def _parameters(self, database: str, name: str) -> Properties | None:
        entry = self._entry(database, name)
        return None if entry is None else dict(entry.get("Parameters", {}))

    def _insert(self, namespace: Identifier, name: str, new: StoredVersion) -> None:
        self._create(namespace, table_input(name, None, None, new))

    def _swap(self, namespace: Identifier, name: str, old: StoredVersion, new: StoredVersion) -> None:
        entry = self._existing_entry(namespace, name, old.location)
        self._update(namespace, entry, table_input(name, entry, old, new))

    def _remove(self, namespace: Identifier, name: str, location: str | None = None) -> None:
        if location is None:
            parameters = self._parameters(namespace[0], name) if len(namespace) == 1 else None
            if parameters is None:
                raise self._missing(namespace, name)
            # An entry that a rename or purge took out of use, and could not delete, is removed as well.
            if parameters.get(TABLE_TYPE) != RENAMED:
                self._location_in(parameters, namespace, name)
            self._delete(namespace, name)
            return
        # Glue deletes without a condition: the entry is taken out of use first, on the condition of its version.
        entry = self._existing_entry(namespace, name, location)
        self._retire(namespace, entry)
        try:
            self._delete(namespace, name)
        except IcebergError as error:
            self._restore(namespace, entry, error)
            raise

    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        """Create the new entry, take the old one out of use on the condition of its version, and delete it."""
        entry = self._existing_entry(*old)
        self._create_renamed(new, entry)
        self._retire_renamed(old, new, entry)
        self._delete_renamed(old, new)

    def _create_renamed(self, new: tuple[Identifier, str], entry: dict[str, Any]) -> None:
        """Create the new entry. After a lost reply, an entry of the new name with the table's metadata is the created one."""
        location = entry["Parameters"][METADATA_LOCATION]
        try:
            self._create(new[0], {**accepted(entry), "Name": new[1]})
        except OutcomeUnknownError:
            if not _holds(lambda: self._pointer(*new) == location):
                raise

    def _retire_renamed(self, old: tuple[Identifier, str], new: tuple[Identifier, str], entry: dict[str, Any]) -> None:
        """Take the old entry out of use; if that is refused, delete the new entry."""
        try:
            self._retire(old[0], entry)
        except OutcomeUnknownError as error:
            if not _holds(lambda: self._is_retired(old)):
                raise _both_names(old, new, error) from error
        except IcebergError as error:
            # The old entry is in use, and a second name for its files would be a danger to them.
            try:
                self._delete(*new)
            except (IcebergError, OutcomeUnknownError) as failed:
                raise _both_names(old, new, failed) from error
            raise

    def _delete_renamed(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        """Delete the old entry, which is out of use; a failure is a warning."""
        try:
            self._delete(*old)
        except (IcebergError, OutcomeUnknownError) as error:
            warnings.warn(
                f"table {dotted((*old[0], old[1]))} was renamed to {dotted((*new[0], new[1]))}, and its old entry, which is no Iceberg "
                f"table any more, could not be deleted: {error}",
                LeftoverFilesWarning,
                stacklevel=3,
            )

    # ---- calls

    def _create(self, namespace: Identifier, entry: dict[str, Any]) -> None:
        exists = TableAlreadyExistsError(
            f"Table {dotted((*namespace, entry['Name']))} already exists in catalog {self.name!r}"
        )
        refused = {EXISTS: exists, MISSING: self._missing_namespace(namespace)}
        self._glue.change("create_table", refused, DatabaseName=namespace[0], TableInput=entry)

    def _update(self, namespace: Identifier, before: dict[str, Any], entry: dict[str, Any]) -> None:
        """Replace an entry, on the condition that its version is that of `before`."""
        name = before["Name"]
        refused = {
            CONFLICT: self._conflict(namespace, name),
            MISSING: self._missing(namespace, name),
        }
        version = {"VersionId": before["VersionId"]} if before.get("VersionId") is not None else {}
        self._glue.change(
            "update_table",
            refused,
            DatabaseName=namespace[0],
            TableInput=entry,
            SkipArchive=self._skips_archive,
            **version,
        )

    def _retire(self, namespace: Identifier, entry: dict[str, Any]) -> None:
        """Take an entry out of use: commits that have read it fail, and other clients do not see it as a table."""
        retired = {**accepted(entry), "Parameters": {**entry["Parameters"], TABLE_TYPE: RENAMED}}
        try:
            self._update(namespace, entry, retired)
        except CommitFailedException:
            # The change that was first may have renamed or removed the table: it is missing then, and a retry cannot succeed.
            self._existing_entry(namespace, entry["Name"])
            raise

    def _restore(self, namespace: Identifier, before: dict[str, Any], refusal: IcebergError) -> None:
        """Put a retired entry, whose deletion was refused, into use again; `before` is the entry in use."""
        try:
            entry = self._entry(namespace[0], before["Name"])
            retired = {**before["Parameters"], TABLE_TYPE: RENAMED}
            if entry is not None and entry.get("Parameters") == retired:
                self._update(namespace, entry, {**accepted(entry), "Parameters": before["Parameters"]})
        except (IcebergError, OutcomeUnknownError) as error:
            raise OutcomeUnknownError(
                f"the deletion of the entry was refused: {refusal}; and the entry is out of use, since it could not be restored: {error}. "
                f"Set its parameter {TABLE_TYPE} to {STORED_TYPE} in Glue to use the table again, or call drop_table() to remove the entry"
            ) from refusal

    def _is_retired(self, table: tuple[Identifier, str]) -> bool:
        parameters = self._parameters(table[0][0], table[1])
        return parameters is not None and parameters.get(TABLE_TYPE) == RENAMED

    def _delete(self, namespace: Identifier, name: str) -> None:
        missing = {MISSING: self._missing(namespace, name)}
        self._glue.change("delete_table", missing, DatabaseName=namespace[0], Name=name)

    def _conflict(self, namespace: Identifier, name: str) -> CommitFailedException:
        return CommitFailedException(f"table {dotted((*namespace, name))}: another commit was first; refresh and retry")


def _holds(check: Callable[[], bool]) -> bool:
    """Return whether a check holds; an outcome that cannot be read stays unknown."""
    try:
        return check()
    except IcebergError:
        return False


def _both_names(old: tuple[Identifier, str], new: tuple[Identifier, str], error: Exception) -> OutcomeUnknownError:
    old_name, new_name = dotted((*old[0], old[1])), dotted((*new[0], new[1]))
    return OutcomeUnknownError(
        f"the table may have both names: if {old_name} is still a table, drop {new_name} without a purge and rename again: {error}"
    )


def _database_input(name: str, properties: Properties) -> dict[str, Any]:
    parameters = {key: value for key, value in properties.items() if key not in (LOCATION, COMMENT)}
    fields = {"LocationUri": properties.get(LOCATION), "Description": properties.get(COMMENT)}
    given = {key: value for key, value in fields.items() if value is not None}
    return {"Name": name, "Parameters": parameters, **given}
