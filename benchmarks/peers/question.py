"""The question: how long other programs take for the same motion at equal error, and for one evaluation of a chain.

The foot with the modified ankle over 5 s, free under gravity, and chains of bodies on ball joints.  Programs that are not
installed are listed in a table of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from benchmarks.measure import Answer, Say
from benchmarks.peers import report
from benchmarks.peers.comparison import at_equal_error, chain_costs, open_searches, setting_rows
from benchmarks.peers.interface import PeerError
from benchmarks.peers.records import FULL, INSTALL, QUICK
from runtime.report import Report, Table


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure all programs; tables at equal error, of all settings and of chains, and two figures."""
    cases = QUICK if quick else FULL
    with ExitStack() as stack:
        searches, missing, bound = open_searches(cases, say, stack)
        equals = at_equal_error(searches, cases, say)
        rows = [row for search in searches for row in setting_rows(search, cases, say)]
        evaluations = {search.peer.label: _or_none(search.peer.evaluation, cases.repeats) for search in searches}
        chains, ended = chain_costs([search.peer for search in searches], cases, say)
    answer = Answer(Report("The modified foot and chains in other programs"))
    tables = answer.report.tables
    tables += [
        report.equal_table(equals, cases, bound),
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


def _or_none(measure: Callable[[int], float], repeats: int) -> float | None:
    try:
        return measure(repeats)
    except PeerError:
        return None
