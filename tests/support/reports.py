"""Access to the reports of studies."""


def quiet(line):
    """Discard what a study reports about its progress."""


def table(report, title):
    """The table with this title."""
    (found,) = [each for each in report.tables if each.title == title]
    return found


def records(report, title):
    """Rows of the table with this title, as dictionaries."""
    return table(report, title).records()
