"""Values as bytes, as JSON, as text and as Python objects. Spec: Appendix D."""

from __future__ import annotations

from icefloe.conversions.single_value import (
    EXACT,
    from_bytes,
    from_json,
    from_json_value,
    to_bytes,
    to_json,
    to_json_value,
    to_ordinal,
    unscaled_value,
)
from icefloe.conversions.text import partition_to_py

__all__ = [
    "EXACT",
    "from_bytes",
    "from_json",
    "from_json_value",
    "partition_to_py",
    "to_bytes",
    "to_json",
    "to_json_value",
    "to_ordinal",
    "unscaled_value",
]
