"""Structs of the Hive Metastore's Thrift interface, with the fields of Hive 2.3 to 4.

Fields that a struct does not declare are skipped when they are read. The numbers are those of Hive's interface definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from thrift.Thrift import TType

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = tuple[int, Any]
"""A Thrift type: its code and its element types."""

TEXT: Kind = (TType.STRING, "UTF8")
BOOL: Kind = (TType.BOOL, None)
BYTE: Kind = (TType.BYTE, None)
SHORT: Kind = (TType.I16, None)
INT: Kind = (TType.I32, None)
LONG: Kind = (TType.I64, None)
TEXTS: Kind = (TType.LIST, (TType.STRING, "UTF8", False))
TEXT_MAP: Kind = (TType.MAP, (TType.STRING, "UTF8", TType.STRING, "UTF8", False))


def of(struct: type[Struct]) -> Kind:
    """Return the type of a field that contains a struct."""
    return (TType.STRUCT, [struct, None])


def list_of(struct: type[Struct]) -> Kind:
    """Return the type of a field that contains a list of structs."""
    return (TType.LIST, (TType.STRUCT, [struct, None], False))


def specification(fields: Mapping[int, tuple[str, Kind]]) -> tuple[Any, ...]:
    """Return fields in the form that the protocol classes of Thrift take, indexed by field number."""
    last = max(fields, default=0)
    return tuple(
        (number, fields[number][1][0], fields[number][0], fields[number][1][1], None) if number in fields else None
        for number in range(last + 1)
    )


class Struct:
    """A Thrift struct; fields that are not given are None and are not written.

    Args:
        **values: Values by field name.
    """

    fields: ClassVar[Mapping[int, tuple[str, Kind]]] = {}
    thrift_spec: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.thrift_spec = specification(cls.fields)

    def __init__(self, **values: Any) -> None:
        for name, _ in self.fields.values():
            setattr(self, name, values.pop(name, None))
        if values:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(values)}")

    def read(self, protocol: Any) -> None:
        """Read the fields from a protocol."""
        protocol.readStruct(self, self.thrift_spec)

    def write(self, protocol: Any) -> None:
        """Write the fields to a protocol."""
        protocol.writeStruct(self, self.thrift_spec)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...


class Refusal(Struct):
    """Any exception of the interface: all that are used here have a message as their first field."""

    fields: ClassVar = {1: ("message", TEXT)}


class Column(Struct):
    """`FieldSchema`: a column."""

    fields: ClassVar = {1: ("name", TEXT), 2: ("type", TEXT), 3: ("comment", TEXT)}


class SortColumn(Struct):
    """`Order`: a column that rows are sorted by."""

    fields: ClassVar = {1: ("col", TEXT), 2: ("order", INT)}


class Serialisation(Struct):
    """`SerDeInfo`: the class that reads and writes rows."""

    fields: ClassVar = {
        1: ("name", TEXT),
        2: ("serializationLib", TEXT),
        3: ("parameters", TEXT_MAP),
        4: ("description", TEXT),
        5: ("serializerClass", TEXT),
        6: ("deserializerClass", TEXT),
        7: ("serdeType", INT),
    }


class StorageDescriptor(Struct):
    """`StorageDescriptor`: location and columns, without skewed values, which Iceberg tables do not have."""

    fields: ClassVar = {
        1: ("cols", list_of(Column)),
        2: ("location", TEXT),
        3: ("inputFormat", TEXT),
        4: ("outputFormat", TEXT),
        5: ("compressed", BOOL),
        6: ("numBuckets", INT),
        7: ("serdeInfo", of(Serialisation)),
        8: ("bucketCols", TEXTS),
        9: ("sortCols", list_of(SortColumn)),
        10: ("parameters", TEXT_MAP),
        12: ("storedAsSubDirectories", BOOL),
    }


class HiveTable(Struct):
    """`Table`: an entry of a database, without privileges and materialized views."""

    fields: ClassVar = {
        1: ("tableName", TEXT),
        2: ("dbName", TEXT),
        3: ("owner", TEXT),
        4: ("createTime", INT),
        5: ("lastAccessTime", INT),
        6: ("retention", INT),
        7: ("sd", of(StorageDescriptor)),
        8: ("partitionKeys", list_of(Column)),
        9: ("parameters", TEXT_MAP),
        10: ("viewOriginalText", TEXT),
        11: ("viewExpandedText", TEXT),
        12: ("tableType", TEXT),
        14: ("temporary", BOOL),
        15: ("rewriteEnabled", BOOL),
        17: ("catName", TEXT),
        18: ("ownerType", INT),
        19: ("writeId", LONG),
        20: ("isStatsCompliant", BOOL),
        22: ("accessType", BYTE),
        23: ("requiredReadCapabilities", TEXTS),
        24: ("requiredWriteCapabilities", TEXTS),
        25: ("id", LONG),
    }


class Database(Struct):
    """`Database`: a namespace, without privileges."""

    fields: ClassVar = {
        1: ("name", TEXT),
        2: ("description", TEXT),
        3: ("locationUri", TEXT),
        4: ("parameters", TEXT_MAP),
        6: ("ownerName", TEXT),
        7: ("ownerType", INT),
        8: ("catalogName", TEXT),
        9: ("createTime", INT),
        10: ("managedLocationUri", TEXT),
        11: ("type", INT),
        12: ("dataConnector_name", TEXT),
        13: ("remote_dbname", TEXT),
    }


class GetTableRequest(Struct):
    """`GetTableRequest`: the name of a table."""

    fields: ClassVar = {1: ("dbName", TEXT), 2: ("tblName", TEXT), 4: ("catName", TEXT)}


class GetTableResult(Struct):
    """`GetTableResult`: a table."""

    fields: ClassVar = {1: ("table", of(HiveTable))}


class EnvironmentContext(Struct):
    """`EnvironmentContext`: options of a change."""

    fields: ClassVar = {1: ("properties", TEXT_MAP)}


class LockComponent(Struct):
    """`LockComponent`: an object to lock."""

    fields: ClassVar = {
        1: ("type", INT),
        2: ("level", INT),
        3: ("dbname", TEXT),
        4: ("tablename", TEXT),
        6: ("operationType", INT),
    }


class LockRequest(Struct):
    """`LockRequest`: the locks that one client requests together."""

    fields: ClassVar = {
        1: ("component", list_of(LockComponent)),
        2: ("txnid", LONG),
        3: ("user", TEXT),
        4: ("hostname", TEXT),
        5: ("agentInfo", TEXT),
    }


class LockResponse(Struct):
    """`LockResponse`: a lock's id and state."""

    fields: ClassVar = {1: ("lockid", LONG), 2: ("state", INT), 3: ("errorMessage", TEXT)}


class CheckLockRequest(Struct):
    """`CheckLockRequest`: the id of a lock."""

    fields: ClassVar = {1: ("lockid", LONG), 2: ("txnid", LONG), 3: ("elapsed_ms", LONG)}


class UnlockRequest(Struct):
    """`UnlockRequest`: the id of a lock."""

    fields: ClassVar = {1: ("lockid", LONG)}


class HeartbeatRequest(Struct):
    """`HeartbeatRequest`: the id of a lock."""

    fields: ClassVar = {1: ("lockid", LONG), 2: ("txnid", LONG)}


class ShowLocksRequest(Struct):
    """`ShowLocksRequest`: the table whose locks are listed."""

    fields: ClassVar = {1: ("dbname", TEXT), 2: ("tablename", TEXT)}


class ShownLock(Struct):
    """`ShowLocksResponseElement`: a lock of any client."""

    fields: ClassVar = {1: ("lockid", LONG), 5: ("state", INT), 13: ("agentInfo", TEXT)}


class ShowLocksResponse(Struct):
    """`ShowLocksResponse`: the locks of a table."""

    fields: ClassVar = {1: ("locks", list_of(ShownLock))}
