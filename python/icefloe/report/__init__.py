"""The report of a table: one HTML page."""

from icefloe.report.figures import figures_of
from icefloe.report.page import report_page

__all__ = ["figures_of", "report_page"]
