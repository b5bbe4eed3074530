"""The diagnosis of a table: its problems, each with the command that fixes it."""

from icefloe.table.doctor.diagnosis import Diagnosis
from icefloe.table.doctor.examination import examine
from icefloe.table.doctor.facts import TableFacts
from icefloe.table.doctor.finding import Finding, Severity

__all__ = ["Diagnosis", "Finding", "Severity", "TableFacts", "examine"]
