"""Every checkable claim in the results of seeds 000, 001 and 003, against runs made for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models import ankle_study, claims_foot, claims_pendulum
from models.verdicts import VERDICTS, Claims
from runtime import Report, Table, simulate

SECONDS = 5.0  # the papers' simulated time


def claims(folder: Path, say: Callable[[str], None], *, tolerance: float = 1e-10) -> Report:
    """Check the papers' claims, every one in the results of seeds 000, 001 and 003, against runs made for it.

    Parameters
    ----------
    folder : Path
        Where the tables go.
    say : callable(str)
        Is told what is being done.
    tolerance : float
        Relative and absolute tolerance of the integration.
    """
    report = Report("What the papers claim, and what the runs say")
    say("compiling (the first time after installation or an edit of a joint this takes most of a minute)")
    simulate(ankle_study.build("modified", "elastic", "published"), 0.01)
    say("foot: free, elastic and dissipative, both joints, both presets; link lengths; cost")
    foot = claims_foot.evidence(SECONDS, tolerance)
    say("pendulum: three cases, three studies; cost")
    pendulum = claims_pendulum.evidence(SECONDS, tolerance)
    report.failures += foot.failures() + pendulum.failures()
    checked = {
        "seed 000": claims_foot.seed_000(foot),
        "seed 001": claims_foot.seed_001(foot),
        "seed 003": claims_pendulum.seed_003(pendulum),
    }
    for name, found in checked.items():
        columns = ["place", "claim", "paper", "ours", "reproduced"]
        rows = [[c.place, c.words, c.paper, c.ours, c.verdict] for c in found.found]
        report.tables.append(Table(f"claims of {name}", columns, rows, found.seed))
    report.tables += [_not_reproduced(checked), _summary(checked)]
    report.write(folder)
    return report


def _not_reproduced(checked: dict[str, Claims]) -> Table:
    rows = [
        [name.split()[-1], c.place, c.words, c.verdict, c.why]
        for name, found in checked.items()
        for c in found.found
        if c.verdict != "yes"
    ]
    return Table("not reproduced", ["seed", "place", "claim", "reproduced", "why not"], rows)


def _summary(checked: dict[str, Claims]) -> Table:
    rows = [[name, len(found.found), *(found.count(v) for v in VERDICTS)] for name, found in checked.items()]
    rows.append(["all", *(sum(int(row[k]) for row in rows) for k in range(1, 5))])
    note = (
        f"Every verdict is computed from runs of {SECONDS:g} s made by this command; only the papers' side is given.  The foot "
        "runs with the published preset, which is what the papers computed with."
    )
    return Table("claims", ["seed", "claims", "reproduced", "partly", "not"], rows, note)
