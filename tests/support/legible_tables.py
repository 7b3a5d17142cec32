"""Whether a table can be read on a terminal of 80 columns."""

from runtime.report.tables import text


def assert_legible(table, shown):
    """No number and no word of a heading is broken, in the columns that a narrow terminal shows."""
    assert max(len(line) for line in shown.splitlines()) <= 80
    narrow = "The terminal is too narrow" in shown
    columns = table.brief if narrow else table.columns
    assert not narrow or table.brief
    words = shown.split()
    for record in table.records():
        assert all(text(record[c]) in words for c in columns if isinstance(record[c], int | float))
    assert all(word in words for column in columns for word in column.split())
