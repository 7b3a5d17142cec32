"""Tables, figures and the terminal.  Imports ``results`` and below."""

from runtime.report import cone_plots, plots
from runtime.report.tables import Report, Table

__all__ = ["Report", "Table", "cone_plots", "plots"]
