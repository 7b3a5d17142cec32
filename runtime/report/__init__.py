"""Tables, figures and the terminal.  Imports ``results`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.report import cone_plots, figure_files, plots
    from runtime.report.report import Report
    from runtime.report.report_files import write_report
    from runtime.report.tables import Table
else:
    __getattr__, __dir__ = late_names(__name__, {"report": "Report", "report_files": "write_report", "tables": "Table"})

__all__ = ["Report", "Table", "cone_plots", "figure_files", "plots", "write_report"]
