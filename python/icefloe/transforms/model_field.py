"""A transform as a field of a model: read from its text, written as its text."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, InstanceOf, PlainSerializer

from icefloe.transforms.parsing import parse_transform
from icefloe.transforms.transform import Transform

TransformField = Annotated[InstanceOf[Transform], BeforeValidator(parse_transform), PlainSerializer(str)]
