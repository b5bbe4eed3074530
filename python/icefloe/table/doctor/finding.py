"""A finding of a diagnosis, and its severity."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class Severity(IntEnum):
    """The severity of a finding; more severe values compare as greater."""

    INFO = 1
    """Worth knowing; nothing is slow or wrong yet."""
    WARNING = 2
    """Reads or commits cost more than they need to, or soon will."""
    ERROR = 3
    """Reads fail, or return wrong rows."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Finding:
    """A problem of a table in one sentence, with the evidence and the command that fixes it.

    Attributes:
        code: Stable name of the kind of finding, such as `small-files`.
        severity: How severe it is.
        sentence: The finding.
        evidence: The figures behind the sentence, by name: counts, sizes in bytes, lists of locations.
        command: A shell command that mends it, None if there is none.
    """

    code: str
    severity: Severity
    sentence: str
    evidence: dict[str, Any] = field(default_factory=dict)
    command: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "sentence": self.sentence,
            "evidence": dict(self.evidence),
            "command": self.command,
        }
