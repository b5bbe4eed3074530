"""Options of a scan, which override table properties and defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.arguments import checked_mapping
from icefloe.exceptions import ValidationError
from icefloe.table.properties.definitions import SPLIT_LOOKBACK, SPLIT_OPEN_FILE_COST, SPLIT_SIZE
from icefloe.table.scan.plan import Packing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.properties.reading import TableProperty

SPLIT_SIZE_OPTION = "split-size"
LOOKBACK_OPTION = "lookback"
OPEN_FILE_COST_OPTION = "file-open-cost"
BATCH_SIZE_OPTION = "batch-size"
OPTIONS = (SPLIT_SIZE_OPTION, LOOKBACK_OPTION, OPEN_FILE_COST_OPTION, BATCH_SIZE_OPTION)
DEFAULT_BATCH_SIZE = 65536


@dataclass(frozen=True)
class ScanOptions:
    """The options of one scan, checked when they are read.

    Attributes:
        options: `split-size` (bytes of a task), `lookback` (groups filled at once), `file-open-cost` (bytes), `batch-size` (rows).
        properties: The table's properties, whose `read.split.*` apply where an option is missing.
    """

    options: Mapping[str, object]
    properties: Mapping[str, str]

    def check(self) -> None:
        """Raise for an option that does not exist or whose value is not a positive integer.

        Raises:
            ValidationError: An option is unknown or its value is not a whole number above zero.
        """
        given = checked_mapping("scan options", self.options, "names to values")
        unknown = sorted(set(given) - set(OPTIONS))
        if unknown:
            raise ValidationError(f"scan options: expected {', '.join(OPTIONS)}; got {', '.join(unknown)}")
        for option, value in self.options.items():
            _positive(option, value)

    def packing(self) -> Packing:
        """Return how tasks are packed into groups."""
        return Packing(
            target_size_bytes=self.split_size(),
            lookback=self._setting(LOOKBACK_OPTION, SPLIT_LOOKBACK),
            open_file_cost_bytes=self._setting(OPEN_FILE_COST_OPTION, SPLIT_OPEN_FILE_COST),
        )

    def split_size(self) -> int:
        """Return the target size of a task in bytes."""
        return self._setting(SPLIT_SIZE_OPTION, SPLIT_SIZE)

    def batch_size(self, default: int = DEFAULT_BATCH_SIZE) -> int:
        """Return the most rows of a batch, `default` without the option."""
        return _positive(BATCH_SIZE_OPTION, self.options.get(BATCH_SIZE_OPTION, default))

    def _setting(self, option: str, fallback: TableProperty[int]) -> int:
        value = self.options.get(option)
        return fallback.of(self.properties) if value is None else _positive(option, value)


def _positive(option: str, value: object) -> int:
    digits = str(value)
    if not (digits.isascii() and digits.isdigit() and int(digits) > 0):
        raise ValidationError(f"scan option {option}: expected a whole number above zero, got {digits!r}")
    return int(digits)
