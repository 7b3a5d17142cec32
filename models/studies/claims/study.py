"""The study of the claims: every checkable claim of the five papers, against runs made for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from models.papers import cited
from models.studies import measures
from models.studies.claims import (
    moreira_2011,
    rodrigues_da_silva_2024a,
    rodrigues_da_silva_2024b,
    rodrigues_da_silva_2024c,
    rodrigues_da_silva_nd,
)
from models.studies.claims.costs import counting
from models.studies.claims.foot_runs import foot_runs
from models.studies.claims.ground_runs import ground_runs
from models.studies.claims.pendulum_runs import pendulum_runs
from models.studies.claims.verdicts import VERDICTS, Claims
from models.studies.claims.walk_runs import walk_runs
from runtime.report import Report, Table, write_report

SECONDS = 5.0  # the papers' simulated time


def claims(folder: Path, say: Callable[[str], None], *, tolerance: measures.Tolerance = 1e-10) -> Report:
    """Check the claims of five papers by simulation.  Rodrigues da Silva et al. (2024a-c, n.d.), Moreira et al. (2011).

    Parameters
    ----------
    folder : Path
        Where the tables are written.
    say : callable(str)
        Receives a line for each stage of the work.
    tolerance : float
        Relative and absolute tolerance of the integration.
    """
    report = Report("Claims of the papers and results of the runs")
    counting()
    say(
        "walk: inverse dynamics with known answer, talus as a body; foot on the ground: drops, soles through a gait cycle"
    )
    walk, ground = walk_runs(tolerance), ground_runs(tolerance)
    say("foot: free, elastic and dissipative, both joints, both presets; link lengths; cost")
    foot = foot_runs(SECONDS, tolerance)
    say("pendulum: three cases, three studies; cost")
    pendulum = pendulum_runs(SECONDS, tolerance)
    report.failures += foot.failures() + pendulum.failures() + walk.failures() + ground.failures()
    papers: tuple[tuple[str, Any, Any], ...] = (
        ("2024a", rodrigues_da_silva_2024a, foot), ("2024b", rodrigues_da_silva_2024b, pendulum),
        ("2024c", rodrigues_da_silva_2024c, foot), ("n.d.", rodrigues_da_silva_nd, walk), ("2011", moreira_2011, ground),
    )  # fmt: skip
    checked = {name: paper.checked(runs) for name, paper, runs in papers if not runs.failures()}
    for found in checked.values():
        columns = ["place", "claim", "printed", "computed", "reproduced"]
        rows = [[c.place, c.statement, c.printed, c.computed, c.verdict] for c in found.found]
        report.tables.append(Table(f"claims of {found.paper}", columns, rows, found.source))
    report.tables += [_summary(checked), _not_reproduced(checked)]
    report.cite = cited(*checked)
    report.answer, report.first = _answer(checked), ("claims", "not reproduced")
    write_report(report, folder)
    return report


def _answer(checked: Mapping[str, Claims]) -> str:
    count = {verdict: sum(found.count(verdict) for found in checked.values()) for verdict in VERDICTS}
    yes, partly, no, unknown = (count[verdict] for verdict in VERDICTS)
    return (
        f"Of {yes + partly + no + unknown} claims in {len(checked)} papers {yes} are reproduced, {partly} partly and {no} not; "
        f'{unknown} cannot be checked without data that are not printed.  The table "not reproduced" gives the reason of each.'
    )


def _not_reproduced(checked: Mapping[str, Claims]) -> Table:
    rows = [
        [found.paper, c.place, c.statement, c.verdict, c.reason]
        for found in checked.values()
        for c in found.found
        if c.verdict != "yes"
    ]
    return Table("not reproduced", ["paper", "place", "claim", "reproduced", "reason"], rows)


def _summary(checked: Mapping[str, Claims]) -> Table:
    rows = [[found.paper, len(found.found), *(found.count(v) for v in VERDICTS)] for found in checked.values()]
    rows.append(["all", *(sum(int(row[k]) for row in rows) for k in range(1, 2 + len(VERDICTS)))])
    note = (
        f"Every verdict is computed from runs made by this command, of {SECONDS:g} s unless stated; only the statements and "
        "printed values are taken from the papers.  The foot has the published preset, the values behind the papers' results.  "
        "Verdicts on cost count evaluations with several methods at tolerances from 1e-12 to 1e-8."
    )
    return Table("claims", ["paper", "claims", "reproduced", "partly", "not", "cannot be checked"], rows, note)
