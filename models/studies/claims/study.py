"""The study of the claims: every checkable claim in the results of three papers, against runs made for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from models.papers import cited
from models.studies import measures
from models.studies.claims import rodrigues_da_silva_2024a, rodrigues_da_silva_2024b, rodrigues_da_silva_2024c
from models.studies.claims.foot_runs import foot_runs
from models.studies.claims.pendulum_runs import pendulum_runs
from models.studies.claims.verdicts import VERDICTS, Claims
from runtime.report import Report, Table, write_report

SECONDS = 5.0  # the papers' simulated time


def claims(folder: Path, say: Callable[[str], None], *, tolerance: measures.Tolerance = 1e-10) -> Report:
    """Check the claims of three papers by simulation.  Papers: Rodrigues da Silva et al. (2024a, 2024b, 2024c).

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
    say("foot: free, elastic and dissipative, both joints, both presets; link lengths; cost")
    foot = foot_runs(SECONDS, tolerance)
    say("pendulum: three cases, three studies; cost")
    pendulum = pendulum_runs(SECONDS, tolerance)
    report.failures += foot.failures() + pendulum.failures()
    checked = {
        "2024a": rodrigues_da_silva_2024a.checked(foot),
        "2024b": rodrigues_da_silva_2024b.checked(pendulum),
        "2024c": rodrigues_da_silva_2024c.checked(foot),
    }
    for year, found in checked.items():
        columns = ["place", "claim", "printed", "computed", "reproduced"]
        rows = [[c.place, c.statement, c.printed, c.computed, c.verdict] for c in found.found]
        report.tables.append(Table(f"claims of Rodrigues da Silva {year}", columns, rows, found.source))
    report.tables += [_summary(checked), _not_reproduced(checked)]
    report.cite = cited("2024a", "2024b", "2024c")
    report.answer, report.first = _answer(checked), ("claims", "not reproduced")
    write_report(report, folder)
    return report


def _answer(checked: Mapping[str, Claims]) -> str:
    count = {verdict: sum(found.count(verdict) for found in checked.values()) for verdict in VERDICTS}
    yes, partly, no = (count[verdict] for verdict in VERDICTS)
    return (
        f"Of {yes + partly + no} claims in {len(checked)} papers {yes} are reproduced, {partly} "
        f'partly and {no} not.  The table "not reproduced" gives the reason of each.'
    )


def _cited(year: str) -> str:
    return f"Rodrigues da Silva et al. ({year})"


def _not_reproduced(checked: Mapping[str, Claims]) -> Table:
    rows = [
        [_cited(year), c.place, c.statement, c.verdict, c.reason]
        for year, found in checked.items()
        for c in found.found
        if c.verdict != "yes"
    ]
    return Table("not reproduced", ["paper", "place", "claim", "reproduced", "reason"], rows)


def _summary(checked: Mapping[str, Claims]) -> Table:
    rows = [[_cited(year), len(found.found), *(found.count(v) for v in VERDICTS)] for year, found in checked.items()]
    rows.append(["all", *(sum(int(row[k]) for row in rows) for k in range(1, 5))])
    note = (
        f"Every verdict is computed from runs of {SECONDS:g} s made by this command; only the statements and printed values are "
        "taken from the papers.  The foot has the published preset, the values behind the papers' results."
    )
    return Table("claims", ["paper", "claims", "reproduced", "partly", "not"], rows, note)
