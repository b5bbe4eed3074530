"""The examination of a table: every check in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from icefloe.arguments import checked_flag
from icefloe.exceptions import CorruptFileError, StorageError, ValidationError
from icefloe.table.doctor.diagnosis import Diagnosis
from icefloe.table.doctor.file_checks import check_files
from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.doctor.footer_checks import check_footers
from icefloe.table.doctor.format_checks import check_format
from icefloe.table.doctor.history_checks import check_history
from icefloe.table.doctor.manifest_checks import check_manifests
from icefloe.table.doctor.property_checks import check_properties
from icefloe.table.doctor.storage_checks import FileCheck, check_storage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from icefloe.table.doctor.facts import TableFacts


def examine(facts: TableFacts, files: FileCheck | None = None, statistics: bool = False) -> Diagnosis:
    """Return the diagnosis of one version of a table.

    Args:
        facts: The table.
        files: Whether to look up the files of the current snapshot in storage, and how; None reads metadata alone.
        statistics: Whether to compare manifest entries with the footers of the data files.

    Raises:
        ValidationError: `files` is neither `list` nor `heads`.
    """
    if files is not None and (not isinstance(files, str) or files not in get_args(FileCheck)):
        raise ValidationError(f"doctor: files: expected 'list', 'heads' or None, got {files!r}")
    checked_flag("doctor: statistics", statistics)
    # Of equally severe findings, the findings with the highest cost for each read come first.
    checks = {
        "files": check_files(facts),
        "manifests": check_manifests(facts),
        "history": check_history(facts),
        "format": check_format(facts),
        "properties": check_properties(facts),
    }
    names = [*reversed(checks)]
    if files is not None:
        name = f"storage by {files}"
        checks[name] = check_storage(facts, files)
        names.append(name)
    if statistics:
        checks["footers"] = check_footers(facts)
        names.append("footers")
    findings, stopped = _findings(checks)
    findings.sort(key=lambda one: -one.severity)
    snapshot_id = facts.metadata.current_snapshot_id
    return Diagnosis(facts.name, snapshot_id, tuple(findings), tuple(one for one in names if one not in stopped))


def _findings(checks: Mapping[str, Iterator[Finding]]) -> tuple[list[Finding], set[str]]:
    """Return the findings of checks, and the names of the checks that a file of metadata stopped."""
    findings: list[Finding] = []
    stopped: dict[str, list[str]] = {}
    for name, check in checks.items():
        reason = _collect(check, findings)
        if reason is not None:
            stopped.setdefault(reason, []).append(name)
    findings += [
        Finding(
            "unreadable-metadata",
            Severity.ERROR,
            f"A manifest or manifest list cannot be read, so scans fail: {reason}. Checks that it stopped: {', '.join(names)}.",
            {"reason": reason, "stopped_checks": names},
        )
        for reason, names in stopped.items()
    ]
    return findings, {name for names in stopped.values() for name in names}


def _collect(check: Iterator[Finding], findings: list[Finding]) -> str | None:
    """Append the findings of a check; return the reason if a file of metadata stops it."""
    try:
        findings += check
    except (StorageError, CorruptFileError) as error:
        return str(error)
    return None
