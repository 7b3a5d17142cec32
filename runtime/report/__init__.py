"""Tables, figures and the terminal.  Imports `results` and below."""

from runtime.report.tables import Report, Table, cone_plots, plots

__all__ = ["Report", "Table", "cone_plots", "plots"]
