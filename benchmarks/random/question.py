"""The question: random mechanisms are right against a second method or end with a status; none is wrong with success.

A motion is right where its positions (of the mechanism's size) and rotation matrices agree to 1e-6, or a thousand times the
tolerance, at all times at which the second method agrees with itself to 1e-7 at two tolerances.  An error above that is
amplified by the motion where it follows the tolerance: a hundred times finer, it is right and ten times smaller at least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.measure import Answer, Say
from benchmarks.random import acting, change_points, planar, spatial, swinging, trees
from benchmarks.random.compare import Verdict, examine
from benchmarks.random.mechanism import Mechanism
from runtime import Status
from runtime.report import Report, Table
from runtime.support.machine import cores

CLASSES: Mapping[str, Callable[[np.random.Generator], Mechanism]] = {
    make.__name__: make
    for make in (
        trees.tree, spatial.door, planar.four_bar, planar.polygon, planar.slider_crank, planar.ladder, spatial.spatial_loop,
        spatial.modified_loop, spatial.spherical_four_bar, spatial.bennett, spatial.bricard, spatial.sarrus,
        spatial.driven_loop, spatial.sprung_loop, spatial.n_four_bar, change_points.change_point,
        planar.near_change_point, change_points.turning_near_pose, change_points.start_at_pose,
        change_points.pair, swinging.swinging, swinging.driven_parallelogram, acting.acting_tree, acting.acting_loop,
    )
}  # fmt: skip
BAD = ("wrong", "rates", "drift", "energy", "raised")
KINDS = ("right", "amplified", "ended", "refused", *BAD, "no reference")
# Columns for a narrow terminal.
BRIEF, WORST = ("class", "mechanisms", "right", "ended", "refused", "wrong"), ("class", "seed", "kind", "error")
LONGEST_TEXT = 400  # characters


@dataclass(frozen=True)
class Cases:
    """Mechanisms of each class but trees, trees, which are two thirds of all, and the first seed."""

    count: int = 160
    trees: int = 6600
    first: int = 0


FULL = Cases()
QUICK = Cases(count=1, trees=2)


def ask(*, quick: bool = False, say: Say = lambda line: None) -> Answer:
    """Answer the question."""
    cases = QUICK if quick else FULL
    report = Report("random mechanisms")
    rows, bad, endings = [], [], Counter[tuple[str, str]]()
    with nullcontext() if quick else ProcessPoolExecutor(cores()) as pool:
        for name in CLASSES:
            count = cases.trees if name == trees.tree.__name__ else cases.count
            seeds = range(cases.first, cases.first + count)
            verdicts = list((pool.map if pool else map)(partial(_examined, name), seeds))
            endings.update((name, Status(v.status).name) for v in verdicts if v.kind == "ended")
            bad += [_row(verdict) for verdict in verdicts if verdict.kind in BAD]
            rows.append(_counts(name, verdicts))
            say(f"{name}: {', '.join(f'{key} {value}' for key, value in rows[-1].items() if value and key != 'class')}")
    report.tables = [
        Table("classes", list(rows[0]), [list(row.values()) for row in rows], note=_note(rows), brief=BRIEF),
        Table("endings", ["class", "status", "mechanisms"], [[*key, n] for key, n in sorted(endings.items())]),
        Table("wrong", ["class", "seed", "kind", "error", "method", "tolerance", "message", "data"], bad, brief=WORST),
    ]
    report.failures = [f"{row[0]} {row[1]}: {row[2]}: {row[6]}" for row in bad]
    return Answer(report)


def _examined(name: str, seed: int) -> Verdict:
    verdict = examine(name, seed, CLASSES[name])
    verdict.facts = {key: verdict.facts.get(key) for key in ("method", "rtol", "t_end", "note")}
    return verdict


def _counts(name: str, verdicts: list[Verdict]) -> dict[str, object]:
    kinds = Counter(verdict.kind for verdict in verdicts)
    compared = sum(verdict.compared for verdict in verdicts)
    errors = [verdict.error for verdict in verdicts if verdict.kind == "right"]
    seconds = [verdict.seconds[0] for verdict in verdicts if verdict.seconds]
    return (
        {"class": name, "mechanisms": len(verdicts)}
        | {kind: kinds[kind] for kind in KINDS}
        | {
            "largest error of the right": float(max(filter(np.isfinite, errors), default=0.0)),
            "times compared": compared,
            "seconds": round(float(np.sum(seconds)), 1),
        }
    )


def _row(verdict: Verdict) -> list[object]:
    facts = verdict.facts
    return [
        verdict.name, verdict.seed, verdict.kind, verdict.error, facts["method"], facts["rtol"], verdict.text[:LONGEST_TEXT],
        facts["note"],
    ]  # fmt: skip


def _note(rows: list[dict[str, object]]) -> str:
    total = sum(int(str(row["mechanisms"])) for row in rows)
    bad = sum(int(str(row[kind])) for row in rows for kind in BAD)
    return (
        f"{total} mechanisms, {bad} of them wrong, with wrong rates, drift or energy; at most 21 times each, or more at "
        "singular poses. Errors are fractions of the size."
    )
