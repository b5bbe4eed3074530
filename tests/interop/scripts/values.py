"""Values by themselves: visitors, literals, projections, name mappings, metadata updates, catalogs of names, errors."""

import json
import uuid

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.expressions import And, EqualTo, GreaterThan, In, IsNull, LessThan, Not, Or
from pyiceberg.expressions.literals import literal
from pyiceberg.expressions.visitors import (
    BooleanExpressionVisitor,
    bind,
    expression_evaluator,
    inclusive_projection,
    rewrite_not,
    visit,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema, SchemaVisitor
from pyiceberg.schema import visit as visit_schema
from pyiceberg.table.metadata import TableMetadataUtil, new_table_metadata
from pyiceberg.table.name_mapping import apply_name_mapping, create_mapping_from_schema, parse_mapping_from_json
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import (
    AddSchemaUpdate,
    AssertCreate,
    AssertCurrentSchemaId,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetCurrentSchemaUpdate,
    SetPropertiesUpdate,
    update_table_metadata,
)
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.typedef import Record
from pyiceberg.types import (
    DateType,
    DecimalType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
)

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "at", TimestampType()),
    NestedField(3, "point", StructType(NestedField(4, "x", LongType()))),
    NestedField(5, "tags", ListType(6, StringType(), False)),
)


class Depth(SchemaVisitor[int]):
    def schema(self, schema, struct_result):
        return struct_result

    def struct(self, struct, field_results):
        return 1 + max(field_results, default=0)

    def field(self, field, field_result):
        return field_result

    def list(self, list_type, element_result):
        return 1 + element_result

    def map(self, map_type, key_result, value_result):
        return 1 + max(key_result, value_result)

    def primitive(self, primitive):
        return 0


class Text(BooleanExpressionVisitor[str]):
    def visit_true(self):
        return "true"

    def visit_false(self):
        return "false"

    def visit_not(self, child_result):
        return f"not({child_result})"

    def visit_and(self, left_result, right_result):
        return f"({left_result} and {right_result})"

    def visit_or(self, left_result, right_result):
        return f"({left_result} or {right_result})"

    def visit_unbound_predicate(self, predicate):
        return f"{type(predicate).__name__}:{predicate.term.name}"

    def visit_bound_predicate(self, predicate):
        return f"{type(predicate).__name__}:{predicate.term.ref().field.name}"


def visitors(warehouse):
    del warehouse
    expression = Or(And(EqualTo("id", 1), Not(LessThan("id", 5))), IsNull("point.x"))
    return (
        visit_schema(SCHEMA, Depth()),
        visit(expression, Text()),
        visit(bind(SCHEMA, expression, True), Text()),
        visit(rewrite_not(Not(expression)), Text()),
    )


def evaluation(warehouse):
    del warehouse
    expression = Or(And(GreaterThan("id", 3), LessThan("id", 9)), In("point.x", [1, 2]))
    holds = expression_evaluator(SCHEMA, expression, True)
    given = [Record(n, None, Record(x), None) for n in (1, 3, 4, 8, 9) for x in (0, 2)]
    spec = PartitionSpec(
        PartitionField(1, 1000, BucketTransform(8), "b"), PartitionField(2, 1001, DayTransform(), "day")
    )
    project = inclusive_projection(SCHEMA, spec)
    partition = Schema(*spec.partition_type(SCHEMA).fields)
    of_bucket = expression_evaluator(partition, project(EqualTo("id", 5)), True)
    of_day = expression_evaluator(partition, project(GreaterThan("at", "2020-01-01T10:00:00")), True)
    return (
        [holds(one) for one in given],
        [of_bucket(Record(bucket, None)) for bucket in range(8)],
        [of_day(Record(None, day)) for day in range(18260, 18265)],
        [str(literal(5).to(kind)) for kind in (LongType(), DateType(), DecimalType(9, 2))],
    )


def name_mapping(warehouse):
    del warehouse
    mapping = create_mapping_from_schema(SCHEMA)
    again = parse_mapping_from_json(mapping.model_dump_json())
    unnumbered = Schema(NestedField(0, "id", LongType(), required=True), NestedField(-1, "at", TimestampType()))
    return again == mapping, str(again), str(apply_name_mapping(unnumbered, mapping)), SCHEMA.name_mapping == mapping


def metadata(warehouse):
    table = new_table_metadata(
        SCHEMA,
        UNPARTITIONED_PARTITION_SPEC,
        UNSORTED_SORT_ORDER,
        warehouse,
        {"a": "1"},
        uuid.UUID("9c12d441-03fe-4693-9a96-a0705ddf69c1"),
    )
    wider = Schema(*table.schema().fields, NestedField(7, "extra", StringType()), schema_id=1)
    updates = (
        AddSchemaUpdate(schema_=wider),
        SetCurrentSchemaUpdate(schema_id=-1),
        SetPropertiesUpdate(updates={"b": 2}),
    )
    after = update_table_metadata(table, updates)

    def check(requirement, base):
        try:
            return requirement.validate(base)
        except CommitFailedException:
            return "failed"

    cases = (
        (AssertCreate(), None),
        (AssertCreate(), table),
        (AssertTableUUID(uuid=table.table_uuid), table),
        (AssertTableUUID(uuid=uuid.UUID(int=5)), table),
        (AssertRefSnapshotId(ref="main", snapshot_id=None), table),
        (AssertRefSnapshotId(ref="main", snapshot_id=7), table),
        (AssertCurrentSchemaId(current_schema_id=0), table),
        (AssertCurrentSchemaId(current_schema_id=0), after),
    )
    text = after.model_dump_json()
    again = TableMetadataUtil.parse_raw(text)
    return (
        again == after,
        [check(requirement, base) for requirement, base in cases],
        str(after.schema()),
        after.current_schema_id,
        after.last_column_id,
        {key: after.properties[key] for key in "ab"},
        sorted(set(json.loads(text)) & {"schemas", "refs", "snapshots", "partition-specs", "table-uuid"}),
    )


def names_and_errors(warehouse):
    catalog = SqlCatalog("c", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace("a", {"owner": "me"})
    catalog.create_namespace(("a", "b"))
    catalog.create_table("a.t", SCHEMA)
    catalog.rename_table("a.t", "a.u")
    seen = [
        catalog.list_namespaces(),
        catalog.list_namespaces("a"),
        catalog.list_tables("a"),
        catalog.table_exists("a.t"),
        catalog.table_exists("a.u"),
        catalog.namespace_exists("a"),
        catalog.namespace_exists("z"),
        catalog.load_namespace_properties("a")["owner"],
        catalog.load_table("a.u").name(),
    ]

    def raised(error, call):
        try:
            call()
        except error:
            return error.__name__
        return "nothing"

    calls = (
        (NamespaceAlreadyExistsError, lambda: catalog.create_namespace("a")),
        (NamespaceNotEmptyError, lambda: catalog.drop_namespace("a")),
        (NoSuchNamespaceError, lambda: catalog.drop_namespace("z")),
        (NoSuchNamespaceError, lambda: catalog.create_namespace(" ")),
        (NoSuchNamespaceError, lambda: catalog.create_namespace("")),
        (NoSuchNamespaceError, lambda: catalog.create_table("z.t", SCHEMA)),
        (NoSuchTableError, lambda: catalog.load_table("a.t")),
        (NoSuchTableError, lambda: catalog.drop_table("a.t")),
        (TableAlreadyExistsError, lambda: catalog.create_table("a.u", SCHEMA)),
        (ValueError, lambda: catalog.load_table("a.u").scan("nope = 1").to_arrow()),
        (ValueError, lambda: catalog.load_table("a.u").scan(selected_fields=("nope",)).to_arrow()),
    )
    errors = [raised(error, call) for error, call in calls]
    catalog.drop_table("a.u")
    catalog.drop_namespace("a.b")
    catalog.drop_namespace("a")
    return seen, errors, catalog.list_namespaces()


SCRIPTS = [visitors, evaluation, name_mapping, metadata, names_and_errors]
