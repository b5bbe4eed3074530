"""Options of rewriting files: the names of the Java reference with underscores, checked before any work."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, Any, TypeGuard

from icefloe.exceptions import ValidationError
from icefloe.table.properties.definitions import TARGET_FILE_SIZE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from icefloe.table.properties.reading import TableProperty

JOB_ORDERS = ("none", "bytes-asc", "bytes-desc", "files-asc", "files-desc")
UNBOUNDED = 2**31 - 1
DEFAULT_MEMORY_BYTES = 64 * 1024 * 1024
PARTIAL_PROGRESS_GROUPS = 10
"""With more groups than this, partial progress is on unless it is switched off."""

OF_SORT = ("compression_factor", "shuffle_partitions_per_file")
"""Options of rewrites that sort or cluster rows."""
OF_CURVES = ("max_output_size", "var_length_contribution")
"""Options of rewrites that cluster rows along a curve."""
WITHOUT_EFFECT = {
    "shuffle_partitions_per_file": "one task sorts the rows of a file, and spills",
    "max_output_size": "keys of curves have a fixed width, since they are made of ranks of values",
    "var_length_contribution": "the rank of a text or binary value counts all its bytes",
}
"""Options of the Java reference that are accepted, with the reason why they have no effect."""
OF_DATA_FILES = (
    "delete_file_threshold",
    "delete_ratio_threshold",
    "use_starting_sequence_number",
    "max_files_to_rewrite",
    "output_spec_id",
    "remove_dangling_deletes",
    "memory_limit_bytes",
    *OF_SORT,
    *OF_CURVES,
)
"""Options that a rewrite of delete files does not have."""

_MIN_RATIO = 0.75
_MAX_RATIO = 1.8
_LARGEST = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class RewriteOptions:
    """Options of `rewrite_data_files` and `rewrite_position_deletes`.

    Attributes:
        target_file_size_bytes: Size of new files; None for the table's property.
        min_file_size_bytes: Smaller files are rewritten; None for 0.75 of the target.
        max_file_size_bytes: Larger files are rewritten; None for 1.8 of the target.
        min_input_files: The least files that are rewritten together, >= 1.
        max_file_group_size_bytes: The most bytes of a group.
        max_file_group_input_files: The most files of a group.
        delete_file_threshold: Rewrite a data file that this many delete files apply to; None for never.
        delete_ratio_threshold: Rewrite a data file of whose rows at least this share is deleted, in (0, 1].
        rewrite_all: Rewrite every file.
        max_concurrent_file_group_rewrites: The most groups that are rewritten at the same time, >= 1.
        partial_progress_enabled: Commit groups in several commits; None does so for more than 10 groups.
        partial_progress_max_commits: The most commits with partial progress, >= 1.
        partial_progress_max_failed_commits: More failed commits raise an error at the end; None for the most commits.
        use_starting_sequence_number: Give new files the sequence number of the rows that were read, so that equality deletes of
            concurrent commits apply to them.
        rewrite_job_order: Order of the groups: `none`, `bytes-asc`, `bytes-desc`, `files-asc` or `files-desc`.
        max_files_to_rewrite: The most files of a plan, whose last group is cut if need be; None for all.
        output_spec_id: Partition spec of the new files; None for the table's default spec.
        remove_dangling_deletes: Remove delete files that apply to no data file, in a commit at the end.
        memory_limit_bytes: Rows in memory while they are sorted and written; more rows are spilled to temporary files.
        compression_factor: Bytes of sorted rows for each byte that they had before, above 0; None for 1. Only for sorted or clustered
            rows.
        shuffle_partitions_per_file: Accepted for sorted or clustered rows, without effect: one task sorts the rows of a file and spills.
        max_output_size: Accepted for clustered rows, without effect: keys of curves have a fixed width, since they are made of ranks.
        var_length_contribution: Accepted for clustered rows, without effect: the rank of a text or binary value counts all its bytes.
    """

    target_file_size_bytes: int | None = None
    min_file_size_bytes: int | None = None
    max_file_size_bytes: int | None = None
    min_input_files: int = 5
    max_file_group_size_bytes: int = 100 * 1024**3
    max_file_group_input_files: int = _LARGEST
    delete_file_threshold: int | None = None
    delete_ratio_threshold: float = 0.3
    rewrite_all: bool = False
    max_concurrent_file_group_rewrites: int = 5
    partial_progress_enabled: bool | None = None
    partial_progress_max_commits: int = 10
    partial_progress_max_failed_commits: int | None = None
    use_starting_sequence_number: bool = True
    rewrite_job_order: str = "none"
    max_files_to_rewrite: int | None = None
    output_spec_id: int | None = None
    remove_dangling_deletes: bool = False
    memory_limit_bytes: int = DEFAULT_MEMORY_BYTES
    compression_factor: float | None = None
    shuffle_partitions_per_file: int | None = None
    max_output_size: int | None = None
    var_length_contribution: int | None = None

    @classmethod
    def of(cls, verb: str, given: Mapping[str, Any], without: Collection[str] = ()) -> RewriteOptions:
        """Return options by name.

        Args:
            verb: The verb, for errors.
            given: The options.
            without: Options that the verb does not have.

        Raises:
            ValidationError: An option does not exist, or its value has another type or is out of range.
        """
        known = [field.name for field in fields(cls) if field.name not in without]
        unknown = sorted(set(given) - set(known))
        if unknown:
            # Options of some strategies alone come last.
            known.sort(key=lambda name: (name in OF_SORT, name in OF_CURVES, name))
            raise ValidationError(f"{verb}: no option {', '.join(unknown)}; expected {', '.join(known)}")
        options = cls(**given)
        options._check(verb)
        return options

    def given(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the given options that have a value; the options have no default."""
        return tuple(name for name in names if getattr(self, name) is not None)

    def _check(self, verb: str) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            may_be_absent = value is None and field.default is None
            if not may_be_absent and field.name not in _OTHER_TYPES:
                _check_number(verb, field.name, value)
        ratio: object = self.delete_ratio_threshold
        if not (_is_number(ratio) and 0 < ratio <= 1):
            raise ValidationError(
                f"{verb}: delete_ratio_threshold: expected a number above 0 and at most 1, got {ratio!r}"
            )
        factor: object = self.compression_factor
        if factor is not None and not (_is_number(factor) and 0 < factor < inf):
            raise ValidationError(f"{verb}: compression_factor: expected a number above 0, got {factor!r}")
        if self.rewrite_job_order not in JOB_ORDERS:
            raise ValidationError(
                f"{verb}: rewrite_job_order: expected {', '.join(JOB_ORDERS)}, got {self.rewrite_job_order!r}"
            )

    def sizes(
        self, verb: str, properties: Mapping[str, str], target: TableProperty[int] = TARGET_FILE_SIZE
    ) -> FileSizes:
        """Return the sizes of input and output files.

        Raises:
            ValidationError: The target is not between the smallest and the largest size.
        """
        wanted = self.target_file_size_bytes
        size = target.of(properties) if wanted is None else wanted
        smallest = int(size * _MIN_RATIO) if self.min_file_size_bytes is None else self.min_file_size_bytes
        largest = int(size * _MAX_RATIO) if self.max_file_size_bytes is None else self.max_file_size_bytes
        if not smallest < size < largest:
            raise ValidationError(
                f"{verb}: expected min_file_size_bytes < target_file_size_bytes < max_file_size_bytes, got {smallest}, {size} and "
                f"{largest}"
            )
        return FileSizes(size, smallest, largest, 1.0 if self.compression_factor is None else self.compression_factor)


@dataclass(frozen=True)
class FileSizes:
    """Sizes of files in bytes.

    Attributes:
        target: Size of new files.
        smallest: Files below are too small.
        largest: Files above are too large.
        compression_factor: Bytes of new files for each byte of the files that are rewritten.
    """

    target: int
    smallest: int
    largest: int
    compression_factor: float = 1.0

    @property
    def largest_output(self) -> int:
        """The size at which a new file is closed at the latest: between the target and the largest size."""
        return self.target + (self.largest - self.target) // 2

    def outputs(self, total: int) -> int:
        """Return the number of files that rows of a total size are written to.

        The remainder after files of the target size is a file of its own if it is large enough, else it is spread over the other
        files, unless they would become too large.
        """
        total = self._expected(total)
        if total < self.target:
            return 1
        whole, remainder = divmod(total, self.target)
        if remainder > self.smallest:
            return whole + 1
        return whole if total // whole < min(self.target * 11 // 10, self.largest_output) else whole + 1

    def output_size(self, total: int) -> int:
        """Return the size at which a new file of a total size is closed.

        It is a little above the even share of the files: the bytes of rows before they are encoded are an estimate, and a rest of few rows
        would be a file of its own.
        """
        even = -(-self._expected(total) // self.outputs(total))
        return min(self.largest_output, max(self.target, even + max(5 * 1024, even // 20)))

    def _expected(self, total: int) -> int:
        return total if self.compression_factor == 1 else int(total * self.compression_factor)


_ZERO_IS_VALID = ("min_file_size_bytes", "output_spec_id", "partial_progress_max_failed_commits")
_OTHER_TYPES = ("rewrite_job_order", "delete_ratio_threshold", "compression_factor")
_FLAGS = ("rewrite_all", "partial_progress_enabled", "use_starting_sequence_number", "remove_dangling_deletes")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_number(verb: str, name: str, value: Any) -> None:
    if name in _FLAGS:
        if not isinstance(value, bool):
            raise ValidationError(f"{verb}: {name}: expected True or False, got {value!r}")
        return
    least = 0 if name in _ZERO_IS_VALID else 1
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not least <= value <= _LARGEST:
        bound = f"at most {_LARGEST}" if is_integer and value > _LARGEST else f"at least {least}"
        raise ValidationError(f"{verb}: {name}: expected a whole number of {bound}, got {value!r}")
