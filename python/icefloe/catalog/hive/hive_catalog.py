"""A catalog in a Hive Metastore."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from icefloe.catalog.configuration import METADATA_LOCATION
from icefloe.catalog.hive import calls
from icefloe.catalog.hive.client import CallRefusedError, CallUnansweredError, Metastore
from icefloe.catalog.hive.databases import database_of, properties_of
from icefloe.catalog.hive.lock import HeldLock, LockSettings, table_lock
from icefloe.catalog.hive.property_values import flag, seconds
from icefloe.catalog.hive.refusals import MissingError, RefusedChangeError, is_refused_because
from icefloe.catalog.hive.structs import EnvironmentContext, GetTableRequest, HiveTable
from icefloe.catalog.hive.tables import new_entry, update_entry, with_advice
from icefloe.catalog.hive.users import current_user
from icefloe.catalog.identifiers import dotted, to_identifier
from icefloe.catalog.metastore import MetastoreCatalog
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.exceptions import (
    CommitFailedException,
    IcebergError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.table.properties import properties_as_text
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from icefloe.catalog.hive.calls import Call
    from icefloe.catalog.pointer_catalog import StoredVersion
    from icefloe.typedef import Identifier, Properties

LOCK_ENABLED_OF_TABLE = "engine.hive.lock-enabled"
LOCK_ENABLED = "iceberg.engine.hive.lock-enabled"
GONE = "doesn't exist"
INVALID_NAME = "is not a valid object name"
MODIFIED = "The table has been modified. The parameter value for key"
LONGEST_DATABASE, LONGEST_TABLE = 128, 256
# Lock tables of metastores before release 4 have columns of this width.
LONGEST_SURELY_LOCKED = 128
EMPTY_REFUSALS: Mapping[str, IcebergError] = {}
ICEBERG_TABLES = " or ".join(f'hive_filter_field_params__table_type like "{value}"' for value in ("ICEBERG", "iceberg"))


class HiveCatalog(MetastoreCatalog):
    """A catalog in a Hive Metastore, with entries as the Java reference stores them.

    A commit holds the table's exclusive lock in the metastore. With the table property `engine.hive.lock-enabled=false`, or the
    catalog property `iceberg.engine.hive.lock-enabled=false`, it takes no lock, and the metastore itself compares the metadata
    location: only Hive 4, and releases with the fix HIVE-26882, do so. All writers of a table must agree on one of both.

    The metastore stores names in lower case.

    Args:
        name: The catalog's name.
        **properties: `uri` (`thrift://host:port`, several separated by commas), `warehouse`, `ugi` (`user:group`),
            `hive.hive2-compatible`, `hive.kerberos-authentication`, `hive.kerberos-service-name`, `iceberg.hive.lock-*`,
            `hive.metastore.client.socket.timeout` (seconds), and storage properties.

    Raises:
        ValidationError: `uri` is missing, or a property is not valid.
        NotInstalledError: A package that Kerberos needs is not installed.
    """

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties)
        uri = properties.get("uri")
        if uri is None:
            raise ValidationError(
                f"catalog {name!r}: property 'uri' is missing; expected the address of a Hive Metastore, thrift://host:port"
            )
        has_kerberos = flag(properties, "hive.kerberos-authentication", default=False)
        self._metastore = Metastore(
            uri,
            timeout_seconds=seconds(properties, "hive.metastore.client.socket.timeout", 600),
            user=properties.get("ugi"),
            service=properties.get("hive.kerberos-service-name", "hive") if has_kerberos else None,
        )
        self._locks = LockSettings.of(properties)
        self._is_locking = flag(properties, LOCK_ENABLED, default=True)
        is_hive_2 = flag(properties, "hive.hive2-compatible", default=False)
        self._zoned = "timestamp" if is_hive_2 else "timestamp with local time zone"

    # ---- names

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102 - described by the interface
        levels = to_identifier(namespace)
        self._check_namespace(levels)
        names = self._read_call(calls.GET_TABLE_NAMES_BY_FILTER, levels[0], ICEBERG_TABLES, -1)
        return sorted({(*levels, str(name)) for name in names})

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        database = self._new_namespace(namespace)
        texts = properties_as_text(properties)
        entry = database_of(database, texts, self._database_location(database), current_user())
        self._run(
            f"namespace {database}: creation",
            lambda: self._change(
                calls.CREATE_DATABASE,
                entry,
                refused={
                    calls.ALREADY_EXISTS: NamespaceAlreadyExistsError(
                        f"Namespace {database} already exists in catalog {self.name!r}"
                    ),
                    calls.INVALID_OBJECT: ValidationError(f"namespace {database!r}: the metastore refuses the name"),
                },
            ),
            is_visible=lambda: self._database_properties(database) is not None,
        )

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = to_identifier(namespace)
        self._check_namespace(levels)
        self._run(
            f"namespace {dotted(levels)}: removal",
            lambda: self._drop_database(levels),
            is_visible=lambda: self._database_properties(levels[0]) is None,
        )

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        levels = to_identifier(namespace)
        if levels:
            self._check_namespace(levels)
            return []
        return sorted((str(name),) for name in self._read_call(calls.GET_ALL_DATABASES))

    def _database_properties(self, database: str) -> Properties | None:
        try:
            return properties_of(self._read_call(calls.GET_DATABASE, database))
        except MissingError:
            return None

    def _drop_database(self, levels: Identifier) -> None:
        not_empty = NamespaceNotEmptyError(
            f"Namespace {dotted(levels)} is not empty: it contains tables; drop them first"
        )
        refused = {calls.NO_SUCH_OBJECT: self._missing_namespace(levels), calls.INVALID_OPERATION: not_empty}
        try:
            self._change(calls.DROP_DATABASE, levels[0], False, False, refused=refused)
        except OutcomeUnknownError as error:
            # The metastore's database refuses to remove a database in which another client has just created a table.
            if is_refused_because(error, lambda: self.list_tables(levels) != []):
                raise not_empty from error
            raise

    def _set_database_properties(self, database: str, before: Properties, after: Properties) -> None:
        entry = database_of(database, after, self._database_location(database), current_user())
        missing = {calls.NO_SUCH_OBJECT: self._missing_namespace((database,))}
        self._change(calls.ALTER_DATABASE, database, entry, refused=missing)

    def _check_name(self, name: str, subject: str) -> None:
        is_table = subject.startswith("table")
        longest = LONGEST_TABLE if is_table else LONGEST_DATABASE
        # A metastore reads `a.b` as table `b` of database `a`, and cannot make a directory of a database whose name has a colon.
        separator = "." if is_table else ":"
        if len(name) > longest or name != name.strip() or any(sign < " " or sign == separator for sign in name):
            raise ValidationError(
                f"{subject}: a Hive Metastore cannot store the name; expected at most {longest} characters, none a control character "
                f"or {separator!r}, without spaces at the ends"
            )

    # ---- tables

    def _entry(self, database: str, name: str) -> HiveTable | None:
        try:
            try:
                return self._read_call(calls.GET_TABLE, GetTableRequest(dbName=database, tblName=name)).table  # type: ignore[no-any-return]
            except CallRefusedError:
                return self._read_call(calls.GET_TABLE_OF_HIVE_2, database, name)  # type: ignore[no-any-return]
        except MissingError:
            return None

    def _existing_entry(self, namespace: Identifier, name: str, location: str | None = None) -> HiveTable:
        """Return the entry of an Iceberg table, which must be at `location`."""
        entry = self._entry(namespace[0], name) if len(namespace) == 1 else None
        if entry is None:
            raise self._missing(namespace, name)
        if self._location_in(entry.parameters or {}, namespace, name) != location and location is not None:
            raise CommitFailedException(
                f"table {dotted((*namespace, name))}: another commit was first; refresh and retry"
            )
        return entry

    def _parameters(self, database: str, name: str) -> Properties | None:
        entry = self._entry(database, name)
        return None if entry is None else entry.parameters or {}

    def _insert(self, namespace: Identifier, name: str, new: StoredVersion) -> None:
        table = dotted((*namespace, name))
        now_seconds = self.environment.now_ms() // 1000
        entry = new_entry(namespace[0], name, new, owner=current_user(), now_seconds=now_seconds, zoned=self._zoned)
        self._check_lockable(namespace, name, new.metadata.properties if new.metadata is not None else EMPTY_DICT)
        try:
            self._change(calls.CREATE_TABLE, entry)
        except CallRefusedError as error:
            if error.kind == calls.ALREADY_EXISTS:
                self._check_not_ours(namespace, name, new, error)
                raise self._taken(namespace, name) from error
            if error.kind in (calls.INVALID_OBJECT, calls.NO_SUCH_OBJECT):
                self._check_namespace(namespace)
                raise ValidationError(f"table {table}: the metastore refuses the table: {error.message}") from error
            raise
        except OutcomeUnknownError as error:
            # The metastore's database refuses the second of two concurrent creations, and a creation in a database that is being
            # dropped. The table that exists may be this one: the caller reads it back.
            if is_refused_because(error, lambda: self._exists(namespace, name)):
                raise self._taken(namespace, name) from error
            if is_refused_because(error, lambda: self._database_properties(namespace[0]) is None):
                raise self._missing_namespace(namespace) from error
            raise

    def _swap(self, namespace: Identifier, name: str, old: StoredVersion, new: StoredVersion) -> None:
        with self._guard(namespace, name, old) as lock:
            entry = self._existing_entry(namespace, name, old.location)
            update_entry(entry, old, new, zoned=self._zoned)
            self._alter(namespace, name, entry, old.location, new, lock)

    def _remove(self, namespace: Identifier, name: str, location: str | None = None) -> None:
        with self._guard(namespace, name) as lock:
            self._existing_entry(namespace, name, location)
            _check_held(lock, dotted((*namespace, name)))
            missing = {calls.NO_SUCH_OBJECT: self._missing(namespace, name)}
            self._change(calls.DROP_TABLE, namespace[0], name, False, refused=missing)

    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        with self._guard(*old) as lock:
            entry = self._existing_entry(*old)
            self._check_lockable(*new, entry.parameters or {})
            location = entry.parameters[METADATA_LOCATION]
            entry.dbName, entry.tableName = new[0][0], new[1]
            try:
                self._alter(*old, entry, location, None, lock)
            # The metastore repeats calls of its own accord, and the repetition of a rename finds no table or a taken name.
            except (NoSuchTableError, RefusedChangeError) as error:
                conflict = self._refusal_of_rename(new, error)
                raise OutcomeUnknownError(str(error), conflict=conflict) from error.__cause__
            except OutcomeUnknownError as error:
                # The metastore's database refuses the second of two concurrent renames to one name. A table that still has its
                # old name beside another one of the new name was not renamed.
                if is_refused_because(error, lambda: self._exists(*new) and self._exists(*old, location)):
                    raise self._taken(*new) from error
                # Another client renamed or removed the table first: it has neither name.
                if GONE in str(error) and is_refused_because(
                    error, lambda: not self._exists(*old) and not self._exists(*new)
                ):
                    raise self._missing(*old) from error
                raise

    def _refusal_of_rename(self, new: tuple[Identifier, str], error: IcebergError) -> IcebergError:
        """Return the error of a rename that changed nothing, for a table that is missing or a change that the metastore refused."""
        if isinstance(error, NoSuchTableError):
            return error
        with suppress(StorageError):
            if self._database_properties(new[0][0]) is None:
                return self._missing_namespace(new[0])
            if self._entry(new[0][0], new[1]) is not None:
                return self._taken(*new)
        return ValidationError(str(error)) if INVALID_NAME in str(error) else error

    def _taken(self, namespace: Identifier, name: str) -> TableAlreadyExistsError:
        return TableAlreadyExistsError(f"Table {dotted((*namespace, name))} already exists in catalog {self.name!r}")

    def _alter(  # noqa: PLR0913 - each is one part of a conditional change
        self,
        namespace: Identifier,
        name: str,
        entry: HiveTable,
        expected: str,
        new: StoredVersion | None,
        lock: HeldLock,
    ) -> None:
        """Replace an entry whose metadata location is `expected`; metastores that cannot compare it ignore the condition."""
        table = dotted((*namespace, name))
        context = EnvironmentContext(
            properties={
                "DO_NOT_UPDATE_STATS": "true",
                "expected_parameter_key": METADATA_LOCATION,
                "expected_parameter_value": expected,
            }
        )
        _check_held(lock, table)
        try:
            self._change(calls.ALTER_TABLE, namespace[0], name, entry, context)
        except CallRefusedError as error:
            if error.kind == calls.INVALID_OPERATION:
                refusal = f"table {table}: the metastore refuses the change: {with_advice(error.message)}"
                try:
                    is_missing = self._entry(namespace[0], name) is None
                except StorageError as failure:
                    raise OutcomeUnknownError(f"{refusal}; and the table cannot be read: {failure}") from error
                raise (self._missing(namespace, name) if is_missing else RefusedChangeError(refusal)) from error
            if MODIFIED in error.message and new is not None:
                self._check_not_ours(namespace, name, new, error)
            if MODIFIED in error.message:
                raise CommitFailedException(f"table {table}: another commit was first; refresh and retry") from error
            raise OutcomeUnknownError(str(error)) from error
        if not lock.is_held:
            raise OutcomeUnknownError(f"the lock of {table} was lost while the change was made: {lock.failure}")

    def _check_not_ours(self, namespace: Identifier, name: str, new: StoredVersion, cause: Exception) -> None:
        """Raise OutcomeUnknownError unless a read proves that a table is another one: the metastore repeats calls of its own accord."""
        with suppress(IcebergError):
            if self._exists(namespace, name) and not self._is_committed((namespace, name), new.location):
                return
        raise OutcomeUnknownError(str(cause)) from cause

    def _exists(self, namespace: Identifier, name: str, location: str | None = None) -> bool:
        """Return whether a table of any format or a view exists, at `location` unless it is None."""
        parameters = self._parameters(namespace[0], name)
        return parameters is not None and location in (None, parameters.get(METADATA_LOCATION))

    def _check_lockable(self, namespace: Identifier, name: str, properties: Properties) -> None:
        """Raise ValidationError if the metastore cannot lock a new name, under which the table could not be changed."""
        if len(name) <= LONGEST_SURELY_LOCKED or not flag(properties, LOCK_ENABLED_OF_TABLE, default=self._is_locking):
            return
        try:
            with table_lock(self._metastore, namespace[0], name, self._locks, self.environment):
                pass
        except CommitFailedException as error:
            raise ValidationError(
                f"table {dotted((*namespace, name))}: the metastore cannot lock a name of {len(name)} characters; expected at most "
                f"{LONGEST_SURELY_LOCKED}, or the table property {LOCK_ENABLED_OF_TABLE}=false"
            ) from error

    @contextmanager
    def _guard(self, namespace: Identifier, name: str, old: StoredVersion | None = None) -> Iterator[HeldLock]:
        """Hold the lock of a table, unless its properties or those of the catalog disable locks."""
        properties = old.metadata.properties if old is not None and old.metadata is not None else None
        if properties is None:
            properties = self._existing_entry(namespace, name).parameters or {}
        if not flag(properties, LOCK_ENABLED_OF_TABLE, default=self._is_locking):
            yield HeldLock()
            return
        with table_lock(self._metastore, namespace[0], name, self._locks, self.environment) as lock:
            yield lock

    # ---- calls

    def _read_call(self, call: Call, *arguments: Any) -> Any:
        """Make a call that changes nothing.

        Raises:
            MissingError: The metastore has no such object.
            CallRefusedError: The metastore has no such function.
            StorageError: The call failed.
        """
        try:
            return self._metastore.repeatable_call(call, *arguments)
        except CallRefusedError as error:
            if error.kind in (calls.NO_SUCH_OBJECT, calls.UNKNOWN_DATABASE):
                raise MissingError from error
            if error.is_unknown_function and call is calls.GET_TABLE:
                raise
            raise StorageError(f"catalog {self.name!r}, {call.name}: {error}") from error
        except CallUnansweredError as error:
            raise StorageError(f"catalog {self.name!r}: {error}") from error

    def _change(self, call: Call, *arguments: Any, refused: Mapping[str, IcebergError] = EMPTY_REFUSALS) -> None:
        """Make a call that changes the metastore; `refused` maps the exceptions that change nothing to errors.

        Raises:
            CallRefusedError: The metastore replied with another exception that changes nothing, or may be a conflict.
            OutcomeUnknownError: It is unknown whether the change took effect.
        """
        try:
            with self._metastore.session() as session:
                session.call(call, *arguments)
        except CallUnansweredError as error:
            raise OutcomeUnknownError(str(error)) from error
        except CallRefusedError as error:
            if error.kind in refused:
                raise refused[error.kind] from error
            if error.is_unknown_function:
                raise StorageError(f"catalog {self.name!r}: the metastore has no function {call.name}") from error
            is_definite = error.kind in (calls.ALREADY_EXISTS, calls.INVALID_OBJECT, calls.NO_SUCH_OBJECT)
            if is_definite or error.kind == calls.INVALID_OPERATION or MODIFIED in error.message:
                raise
            # A failure of the metastore's own database is reported like a refusal, and may follow the change.
            raise OutcomeUnknownError(str(error)) from error


def _check_held(lock: HeldLock, table: str) -> None:
    if not lock.is_held:
        raise CommitFailedException(
            f"table {table}: the lock was lost, nothing has changed; retry, or lower iceberg.hive.lock-heartbeat-interval-ms: "
            f"{lock.failure}"
        )
