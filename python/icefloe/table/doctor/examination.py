"""The examination of a table: every check in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from icefloe.arguments import checked_flag
from icefloe.exceptions import ValidationError
from icefloe.table.doctor.diagnosis import Diagnosis
from icefloe.table.doctor.file_checks import check_files
from icefloe.table.doctor.footer_checks import check_footers
from icefloe.table.doctor.format_checks import check_format
from icefloe.table.doctor.history_checks import check_history
from icefloe.table.doctor.manifest_checks import check_manifests
from icefloe.table.doctor.property_checks import check_properties
from icefloe.table.doctor.storage_checks import FileCheck, check_storage

if TYPE_CHECKING:
    from icefloe.table.doctor.facts import TableFacts
    from icefloe.table.doctor.finding import Finding


def examine(facts: TableFacts, files: FileCheck | None = None, statistics: bool = False) -> Diagnosis:
    """Return the diagnosis of one version of a table.

    Args:
        facts: The table.
        files: Whether to look up the files of the current snapshot in storage, and how; None reads metadata alone.
        statistics: Whether to compare manifest entries with the footers of the data files.

    Raises:
        ValidationError: `files` is neither `list` nor `heads`.
        MissingFileError: A manifest of the current snapshot does not exist.
    """
    if files is not None and (not isinstance(files, str) or files not in get_args(FileCheck)):
        raise ValidationError(f"doctor: files: expected 'list', 'heads' or None, got {files!r}")
    checked_flag("doctor: statistics", statistics)
    # Of equally severe findings, the findings with the highest cost for each read come first.
    findings: list[Finding] = [*check_files(facts), *check_manifests(facts), *check_history(facts)]
    findings += [*check_format(facts), *check_properties(facts)]
    checks = ["properties", "format", "history", "manifests", "files"]
    if files is not None:
        findings += check_storage(facts, files)
        checks.append(f"storage by {files}")
    if statistics:
        findings += check_footers(facts)
        checks.append("footers")
    findings.sort(key=lambda one: -one.severity)
    snapshot_id = facts.metadata.current_snapshot_id
    return Diagnosis(facts.name, snapshot_id, tuple(findings), tuple(checks))
