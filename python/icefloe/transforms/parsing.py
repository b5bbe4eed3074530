"""Transforms from their texts, and as fields of models whose JSON is their text."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, InstanceOf, PlainSerializer

from icefloe.exceptions import ValidationError
from icefloe.transforms.time import DayTransform, HourTransform, MonthTransform, YearTransform
from icefloe.transforms.transform import MAX_PARAMETER, Transform
from icefloe.transforms.value import (
    BucketTransform,
    IdentityTransform,
    TruncateTransform,
    UnknownTransform,
    VoidTransform,
)

_PARAMETRISED = re.compile(r"(bucket|truncate)\[\s*(\d{1,10})\s*\]", re.IGNORECASE)
_MISSPELLED = re.compile(r"(bucket|truncate)\[.*\]", re.IGNORECASE)

_PLAIN: dict[str, Transform] = {
    str(transform): transform
    for transform in (
        IdentityTransform(),
        YearTransform(),
        MonthTransform(),
        DayTransform(),
        HourTransform(),
        VoidTransform(),
    )
}


def parse_transform(v: Any) -> Transform:
    """Return the transform of a text such as ``bucket[16]``; an :class:`UnknownTransform` for any other name.

    Raises:
        ValidationError: The value is not text, or the parameter of bucket or truncate is not from 1 to 2**31 - 1.

    >>> parse_transform("bucket[16]")
    BucketTransform(num_buckets=16)
    """
    if isinstance(v, Transform):
        return v
    if not isinstance(v, str):
        raise ValidationError(f"transform: expected text such as 'bucket[16]', got {v!r}")
    if (plain := _PLAIN.get(v.lower())) is not None:
        return plain
    if match := _PARAMETRISED.fullmatch(v):
        kind = BucketTransform if match[1].lower() == "bucket" else TruncateTransform
        return kind(int(match[2]))
    if _MISSPELLED.fullmatch(v):
        raise ValidationError(
            f"transform {v!r}: bad parameter; expected a whole number from 1 to {MAX_PARAMETER} in the brackets"
        )
    return UnknownTransform(v)


TransformField = Annotated[InstanceOf[Transform], BeforeValidator(parse_transform), PlainSerializer(str)]
