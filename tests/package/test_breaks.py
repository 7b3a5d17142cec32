"""The list of deliberate breaks keeps up with the code: ``python -m tests.breaks`` runs it."""

from pathlib import Path

from tests.breaks.__main__ import SHORT, breaks
from tests.support.paths import ROOT


def test_every_break_finds_its_text_and_its_tests():
    wrong = [one for one in breaks() if (ROOT / one.file).read_text(encoding="utf-8").count(one.old) != 1]
    wrong += [one for one in breaks() if one.new == one.old or not one.tests]
    wrong += [one for one in breaks() for test in one.tests if not Path(ROOT, test.partition("::")[0]).is_file()]
    assert not wrong and len({one.rule for one in breaks()}) > 80 and all("::" in name for name in SHORT.values())
