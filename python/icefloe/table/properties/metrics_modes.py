"""The metrics modes of a table's columns, of which other writers may have set texts that are no modes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from icefloe.exceptions import MetadataWarning
from icefloe.table.properties.definitions import METRICS, METRICS_MODE
from icefloe.table.properties.names import TableProperties
from icefloe.table.properties.reading import checked

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT = TableProperties.DEFAULT_WRITE_METRICS_MODE
_COLUMN = f"{TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX}."


def metrics_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the `write.metadata.metrics.*` properties that the core reads; warn of each text that is no metrics mode.

    As in the Java reference, an invalid default mode stands for `truncate(16)`, and an invalid mode of a column for the default mode.

    Raises:
        ValidationError: The number of columns with metrics is no number.
    """
    given = {name: text for name, text in properties.items() if name == _DEFAULT or name.startswith(_COLUMN)}
    invalid = [name for name, text in given.items() if METRICS_MODE.parse(text) is None]
    found = dict(properties)
    if _DEFAULT in invalid:
        found[_DEFAULT] = TableProperties.DEFAULT_WRITE_METRICS_MODE_DEFAULT
    for name in invalid:
        if name != _DEFAULT and _DEFAULT in found:
            found[name] = found[_DEFAULT]
        elif name != _DEFAULT:
            del found[name]
        applied = found.get(name, "the mode of a column without this property")
        warnings.warn(
            f"table property {name}: expected {METRICS_MODE.expectation}, got {given[name]!r}; files are written with {applied}",
            MetadataWarning,
            stacklevel=4,
        )
    return checked(METRICS, found)
