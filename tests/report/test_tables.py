"""Tables and reports as text and as files."""

from runtime.report import Table


def test_markdown_escapes_bars_and_line_breaks():
    lines = Table("norms", ["joint", "max |Phi|"], [["a|b", 1.0], ["c\nd", None]]).markdown().splitlines()
    assert lines[2] == r"| joint | max \|Phi\| |"
    assert lines[3] == "|---|---|"
    assert lines[4] == r"| a\|b | 1 |" and lines[5] == "| c d | - |"
