"""Messages of errors in transforms and partition specs."""

from __future__ import annotations

import pytest
from icefloe.expressions import (
    EqualTo,
)
from icefloe.partitioning import PartitionField, PartitionSpec, validate_partition_name
from icefloe.transforms import BucketTransform, TruncateTransform, bucket, parse_transform
from icefloe.types import (
    DoubleType,
    LongType,
)

from tests.unit.messages import SCHEMA, Case, check_message

CASES: dict[str, Case] = {
    "transform that is a number": (
        lambda: parse_transform(5),
        ["transform: ", "expected text such as 'bucket[16]'", "got 5"],
    ),
    "transform of too many buckets": (
        lambda: parse_transform("bucket[9999999999]"),
        ["num_buckets must be from 1 to 2147483647", "got 9999999999"],
    ),
    "transform with text in brackets": (
        lambda: parse_transform("bucket[many]"),
        ["transform 'bucket[many]': ", "expected a whole number from 1 to 2147483647"],
    ),
    "width that is text": (
        lambda: TruncateTransform("4"),  # type: ignore[arg-type]
        ["width must be a whole number from 1 to 2147483647", "got '4'"],
    ),
    "transform of doubles": (
        lambda: BucketTransform(4).transform(DoubleType()),
        ["transform bucket[4] does not apply to values of type double", "choose another transform"],
    ),
    "transform of a value of another type": (
        lambda: BucketTransform(4).transform(LongType())("a"),
        ["transform bucket[4]: ", "'a' is not a value of type long", "got str"],
    ),
    "buckets of a list": (
        lambda: bucket([1, 2], 4),
        ["array: ", "expected an Arrow array or stream", "got list", "pyarrow.array()"],
    ),
    "unknown transform of a value": (
        lambda: parse_transform("zorder").transform(LongType()),
        ["transform zorder: ", "values of type long cannot be transformed", "expected identity, bucket[N]"],
    ),
    "projection of an unbound predicate": (
        lambda: BucketTransform(4).project("b", EqualTo("id", 1)),  # type: ignore[arg-type]
        ["pred: ", "expected a predicate that is bound to a column", "bind it to a schema first"],
    ),
    "partition field of an unknown column": (
        lambda: PartitionSpec(PartitionField(9, 1000, "day", "d")).check_compatible(SCHEMA),
        ["partition field d: ", "no column has the id 9", "expected the id of a column in [1, 2, 3"],
    ),
    "partition field of a struct": (
        lambda: PartitionSpec(PartitionField(6, 1000, "identity", "p")).check_compatible(SCHEMA),
        ["partition field p: ", "column point cannot be partitioned", "expected a primitive type", "got struct<"],
    ),
    "partition field of a wrong type": (
        lambda: PartitionSpec(PartitionField(2, 1000, "day", "d")).check_compatible(SCHEMA),
        ["partition field d: ", "day does not apply to column name of type string", "choose another transform"],
    ),
    "partition field with a column's name": (
        lambda: validate_partition_name("id", BucketTransform(4), 1, SCHEMA, set()),
        ["partition field name 'id' is a column's name", "expected its identity transform", "got bucket[4]"],
    ),
    "partition field with a name twice": (
        lambda: validate_partition_name("d", BucketTransform(4), 1, SCHEMA, {"d"}),
        ["partition field name 'd' is used twice", "rename one of the fields"],
    ),
    "partition fields with the same name in Avro": (
        lambda: PartitionSpec(
            PartitionField(1, 1000, "identity", "a.b"), PartitionField(2, 1001, "identity", "a_x2Eb")
        ).check_names(SCHEMA),
        ["partition field names 'a.b' and 'a_x2Eb' are both a_x2Eb in manifests", "rename one of the fields"],
    ),
    "partition field of several columns": (
        lambda: PartitionField.model_validate(
            {"source-ids": [1, 2], "field-id": 1000, "transform": "bucket[4]", "name": "b"}
        ),
        ["partition field JSON: ", "transforms of several columns are not supported", "got [1, 2]"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_names_subject_expectation_and_what_was_got(case: str) -> None:
    check_message(*CASES[case])
