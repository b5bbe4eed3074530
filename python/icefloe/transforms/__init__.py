"""Partition transforms: functions from column values to partition values. Spec: Partition Transforms.

The classes are the transforms of partition specs and sort orders; :func:`bucket`, :func:`truncate`, :func:`years`, :func:`months`,
:func:`days` and :func:`hours` compute the transforms of whole Arrow arrays. They use the kernels of the Rust core.

>>> from icefloe.types import LongType
>>> parse_transform("bucket[16]").transform(LongType())(34)
3
"""

from __future__ import annotations

from icefloe.transforms.array_functions import bucket, days, hours, months, truncate, years
from icefloe.transforms.parsing import parse_transform
from icefloe.transforms.time import (
    DayTransform,
    HourTransform,
    MonthTransform,
    TimeResolution,
    TimeTransform,
    YearTransform,
)
from icefloe.transforms.transform import Transform
from icefloe.transforms.value import (
    BucketTransform,
    IdentityTransform,
    TruncateTransform,
    UnknownTransform,
    VoidTransform,
)

# The names of the transforms in the specification.
IDENTITY = "identity"
VOID = "void"
BUCKET = "bucket"
TRUNCATE = "truncate"
YEAR = "year"
MONTH = "month"
DAY = "day"
HOUR = "hour"

__all__ = [
    "BUCKET",
    "DAY",
    "HOUR",
    "IDENTITY",
    "MONTH",
    "TRUNCATE",
    "VOID",
    "YEAR",
    "BucketTransform",
    "DayTransform",
    "HourTransform",
    "IdentityTransform",
    "MonthTransform",
    "TimeResolution",
    "TimeTransform",
    "Transform",
    "TruncateTransform",
    "UnknownTransform",
    "VoidTransform",
    "YearTransform",
    "bucket",
    "days",
    "hours",
    "months",
    "parse_transform",
    "truncate",
    "years",
]
