"""The names shared with PyIceberg: there, at the same path, callable the same way."""

from __future__ import annotations

import importlib
import inspect

import pytest

pytestmark = pytest.mark.interop

SHARED = {
    "catalog": ["Catalog", "load_catalog"],
    "catalog.memory": ["InMemoryCatalog"],
    "catalog.sql": ["SqlCatalog"],
    "conversions": ["from_bytes", "to_bytes"],
    "exceptions": [
        "CommitFailedException",
        "CommitStateUnknownException",
        "NamespaceAlreadyExistsError",
        "NamespaceNotEmptyError",
        "NoSuchNamespaceError",
        "NoSuchPropertyException",
        "NoSuchTableError",
        "ResolveError",
        "TableAlreadyExistsError",
        "ValidationError",
        "ValidationException",
    ],
    "expressions": [
        "AlwaysFalse",
        "AlwaysTrue",
        "And",
        "BooleanExpression",
        "BoundReference",
        "EqualTo",
        "GreaterThan",
        "GreaterThanOrEqual",
        "In",
        "IsNaN",
        "IsNull",
        "LessThan",
        "LessThanOrEqual",
        "Not",
        "NotEqualTo",
        "NotIn",
        "NotNaN",
        "NotNull",
        "NotStartsWith",
        "Or",
        "Reference",
        "StartsWith",
    ],
    "expressions.literals": ["DateLiteral", "DecimalLiteral", "LongLiteral", "StringLiteral", "literal"],
    "expressions.parser": ["parse"],
    "io": ["load_file_io"],
    "io.pyarrow": ["pyarrow_to_schema", "schema_to_pyarrow"],
    "manifest": ["DataFile", "DataFileContent", "FileFormat", "ManifestEntry", "ManifestFile"],
    "partitioning": ["PartitionField", "PartitionSpec", "UNPARTITIONED_PARTITION_SPEC"],
    "schema": ["Accessor", "Schema", "index_by_id", "index_by_name", "prune_columns"],
    "table": ["StaticTable", "Table", "TableProperties", "UpsertResult"],
    "table.metadata": ["TableMetadataUtil", "TableMetadataV1", "TableMetadataV2", "new_table_metadata"],
    "table.name_mapping": ["MappedField", "NameMapping", "create_mapping_from_schema", "parse_mapping_from_json"],
    "table.refs": ["SnapshotRef", "SnapshotRefType"],
    "table.snapshots": ["Operation", "Snapshot", "SnapshotLogEntry", "Summary", "ancestors_of"],
    "table.sorting": ["NullOrder", "SortDirection", "SortField", "SortOrder", "UNSORTED_SORT_ORDER"],
    "transforms": [
        "BucketTransform",
        "DayTransform",
        "HourTransform",
        "IdentityTransform",
        "MonthTransform",
        "TruncateTransform",
        "UnknownTransform",
        "VoidTransform",
        "YearTransform",
        "parse_transform",
    ],
    "typedef": ["EMPTY_DICT", "Identifier", "Record"],
    "types": [
        "BinaryType",
        "BooleanType",
        "DateType",
        "DecimalType",
        "DoubleType",
        "FixedType",
        "FloatType",
        "IntegerType",
        "ListType",
        "LongType",
        "MapType",
        "NestedField",
        "StringType",
        "StructType",
        "TimeType",
        "TimestampType",
        "TimestamptzType",
        "UUIDType",
    ],
}
TABLE_METHODS = [
    "append",
    "delete",
    "dynamic_partition_overwrite",
    "history",
    "location",
    "manage_snapshots",
    "overwrite",
    "refresh",
    "refs",
    "scan",
    "schema",
    "schemas",
    "snapshot_by_id",
    "snapshot_by_name",
    "snapshots",
    "sort_order",
    "spec",
    "specs",
    "transaction",
    "update_schema",
    "update_spec",
    "upsert",
]
CATALOG_METHODS = [
    "create_namespace",
    "create_namespace_if_not_exists",
    "create_table",
    "create_table_if_not_exists",
    "drop_namespace",
    "drop_table",
    "list_namespaces",
    "list_tables",
    "load_namespace_properties",
    "load_table",
    "namespace_exists",
    "register_table",
    "rename_table",
    "table_exists",
    "update_namespace_properties",
]


def pair(module: str, name: str) -> tuple[object, object]:
    theirs = getattr(importlib.import_module(f"pyiceberg.{module}"), name)
    ours = getattr(importlib.import_module(f"icefloe.{module}"), name)
    return ours, theirs


def parameters(function: object) -> list[str]:
    found = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"]


def takes_any_keyword(function: object) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())  # type: ignore[arg-type]


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in SHARED.items() for name in names])
def test_name_is_where_pyiceberg_has_it(module: str, name: str) -> None:
    ours, theirs = pair(module, name)
    assert isinstance(ours, type) == isinstance(theirs, type)


def same_way(ours: object, theirs: object) -> None:
    wanted = parameters(theirs)
    found = parameters(ours)
    missing = [] if takes_any_keyword(ours) else [name for name in wanted if name not in found]
    assert missing == []
    assert [name for name in found if name in wanted] == [name for name in wanted if name in found], "another order"


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_table_method_takes_the_same_arguments(method: str) -> None:
    ours, theirs = pair("table", "Table")
    same_way(getattr(ours, method), getattr(theirs, method))


@pytest.mark.parametrize("method", CATALOG_METHODS)
def test_catalog_method_takes_the_same_arguments(method: str) -> None:
    ours, theirs = pair("catalog", "Catalog")
    same_way(getattr(ours, method), getattr(theirs, method))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("catalog", "load_catalog"),
        ("expressions.parser", "parse"),
        ("io", "load_file_io"),
        ("schema", "prune_columns"),
        ("table.metadata", "new_table_metadata"),
        ("table.name_mapping", "parse_mapping_from_json"),
        ("transforms", "parse_transform"),
    ],
)
def test_function_takes_the_same_arguments(module: str, name: str) -> None:
    same_way(*pair(module, name))
