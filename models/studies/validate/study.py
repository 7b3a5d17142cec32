"""The study of the published results, each beside the same by Talus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from models.papers import cited
from models.studies.validate.checks import AGREES, MISPRINT, Result
from models.studies.validate.published import RESULTS
from runtime import ModelError
from runtime.report import Report, Table, write_report

CITED = [
    *cited("2024a", "2024b"),
    "F. Mazzia, C. Magherini: Test Set for Initial Value Problem Solvers, problem andrews, http://www.dm.uniba.it/~testset.",
    "D. A. Winter: Biomechanics and Motor Control of Human Movement, 4th ed., Wiley (2009), Example 5.1.",
    "K. H. Hunt, F. R. E. Crossley: Coefficient of restitution interpreted as damping in vibroimpact, Journal of Applied "
    "Mechanics 42, 440-445 (1975), doi 10.1115/1.3423596.",
]


def validate(folder: Path, say: Callable[[str], None]) -> Report:
    """Recompute five published results in a minute.  Prints Talus's numbers, the published ones, differences and verdicts.

    Parameters
    ----------
    folder : Path
        Where the tables are written.
    say : callable(str)
        Receives a line for each stage of the work.
    """
    report = Report("Published results, recomputed", cite=CITED, first=("published results", "sources"))
    results = []
    for number, (name, compute) in enumerate(RESULTS.items(), 1):
        say(f"{number} of {len(RESULTS)}: {name}")
        try:
            results.append(compute())
        except ModelError as error:  # such as of a run that does not reach its end
            report.failures.append(f"{name}: {error}")
    report.failures += [sentence for result in results for sentence in result.failures()]
    report.answer = verdict(results, report.failures)
    report.tables = [numbers(results), sources(results)]
    write_report(report, folder)
    return report


def verdict(results: Sequence[Result], failures: Sequence[str]) -> str:
    """One line: whether the published results are those of Talus."""
    found = [check.verdict for result in results for check in result.checks]
    if failures:
        return f"Published results are NOT reproduced: {len(failures)} fail, as the last lines say."
    return (
        f"All {len(results)} published results are reproduced: {found.count(AGREES)} numbers agree within their bounds, and a "
        "misprint is confirmed."
    )


def numbers(results: Sequence[Result]) -> Table:
    """The numbers of all results."""
    columns = ["quantity", "Talus", "published", "difference", "bound", "verdict"]
    rows = [
        [f"{result.name}: {c.quantity}", c.ours, c.published, c.difference, c.bound, c.verdict]
        for result in results
        for c in result.checks
    ]
    note = (
        f'"{MISPRINT}": the printed number is wrong, so it must differ by more than the bound.  The last number is not printed: '
        "second differences of the constraint prove which sign is right."
    )
    return Table("published results", columns, rows, note)


def sources(results: Sequence[Result]) -> Table:
    """The results and their publications."""
    return Table("sources", ["result", "source", "meaning"], [[r.name, r.source, r.meaning] for r in results])
