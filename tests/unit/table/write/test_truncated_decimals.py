"""Decimals of a column that the table is partitioned by `truncate` of: the truncated value must fit the precision."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import TruncateTransform
from icefloe.types import DecimalType, NestedField


@pytest.fixture
def table(catalog):
    schema = Schema(NestedField(1, "d", DecimalType(18, 4), required=False))
    spec = PartitionSpec(PartitionField(1, 1000, TruncateTransform(5), "d_trunc"))
    return catalog.create_table("db.decimals", schema, partition_spec=spec)


def rows(*digits):
    return pa.table({"d": pa.array([Decimal(one) for one in digits], pa.decimal128(18, 4))})


def test_decimals_whose_truncation_fits_are_written(table):
    digits = ("99999999999999.9999", "-99999999999999.9995", "0.0001", "-0.0001")
    table.append(rows(*digits))
    partitions = [row["partition"]["d_trunc"] for row in table.inspect.files().to_pylist()]
    assert sorted(map(str, partitions)) == ["-0.0005", "-99999999999999.9995", "0.0000", "99999999999999.9995"]
    for one in digits:
        assert table.scan(f"d = {one}").count() == 1


def test_decimal_whose_truncation_has_more_digits_is_refused(table):
    # The Java library refuses it too: "Cannot write value as decimal(18,4), too large: -100000000000000.0000".
    with pytest.raises(ValidationError, match=r"partition value d_trunc: .*decimal\(18, 4\).*-100000000000000\.0000"):
        table.append(rows("1.0000", "-99999999999999.9999"))
    assert table.refresh().scan().count() == 0
    found = table.io.core.list(table.location()).column("location").to_pylist()
    assert [path for path in found if "/data/" in path] == []
