"""The question: how long other programs take for the same motion at equal error, and for one evaluation of a chain.

The foot with either ankle over 5 s, free under gravity, the same with elastic joint limits by programs that take equations
(others have no such limits), and chains of bodies on ball joints.  Programs that are not installed are listed in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import models
from benchmarks.measure import ANKLES, Answer, Say, foot
from benchmarks.peers import report
from benchmarks.peers.comparison import at_equal_error, chain_costs, open_searches, setting_rows
from benchmarks.peers.interface import PeerError
from benchmarks.peers.records import FULL, INSTALL, QUICK, WITH_LIMITS, Cases
from runtime import System
from runtime.report import Report, Table


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure all programs; tables at equal error, of all settings and of chains, and two figures."""
    cases = QUICK if quick else FULL
    with ExitStack() as stack:
        searches, missing, bound = open_searches(foot("modified"), cases, say, stack)
        equals = at_equal_error(searches, cases, say)
        rows = [row for search in searches for row in setting_rows(search, cases, say)]
        evaluations = {search.peer.label: _or_none(search.peer.evaluation, cases.repeats) for search in searches}
        chains, ended = chain_costs([search.peer for search in searches], cases, say)
    others = [_of_other_foot(*case, say) for case in _other_feet(cases)]
    answer = Answer(Report("The foot and chains in other programs"))
    tables = answer.report.tables
    tables += [
        report.equal_table(equals, cases, bound, "equal error"),
        *others,
        report.program_table(searches, evaluations),
        report.setting_table(rows),
        report.chain_table(chains, ended, [search.peer for search in searches], cases),
    ]  # fmt: skip
    if missing:
        note = f"{INSTALL} installs all of them."
        tables.append(Table("not installed", ["program", "reason"], [list(item) for item in missing.items()], note))
    answer.figures = {
        "peers": report.work_figure(rows, equals, cases),
        "chain": report.chain_figure(chains, [search.peer for search in searches]),
    }
    return answer


def _other_feet(cases: Cases) -> Iterator[tuple[str, System, Cases]]:
    yield "classical foot", foot("classical"), cases
    for ankle in ANKLES:
        only = tuple(program for program in cases.programs if program in WITH_LIMITS)
        limited = replace(cases, programs=only, tolerance=None)
        yield f"{ankle} foot with elastic limits", models.foot.build(ankle=ankle, limits="elastic"), limited


def _of_other_foot(name: str, system: System, cases: Cases, say: Say) -> Table:
    """The table of a foot at equal error."""
    say(name)
    with ExitStack() as stack:
        searches, _, bound = open_searches(system, cases, say, stack)
        return report.equal_table(at_equal_error(searches, cases, say), cases, bound, f"equal error, {name}")


def _or_none(measure: Callable[[int], float], repeats: int) -> float | None:
    try:
        return measure(repeats)
    except PeerError:
        return None
