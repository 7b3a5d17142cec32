"""Cost of one evaluation against the number of bodies.

Chains of N links on ball joints and on hinges, evaluated inside compiled code, against NumPy's dense solution of

    [M  D^T] [v' ]   [g    ]
    [D   0 ] [lam] = [gamma]

for the same state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import models
from benchmarks.measure import (
    ANKLES,
    Answer,
    Floats,
    Say,
    evaluated,
    evaluation_time,
    evaluation_times,
    exponent,
    foot,
    seconds,
)
from runtime import System
from runtime.dynamics.layout import GROUND_INDEX
from runtime.figures import lines, panels
from runtime.report import Report, Table

JOINTS = ("spherical", "revolute")


@dataclass(frozen=True)
class Cases:
    """Numbers of links, those from which the exponents are fitted, and how often each is measured."""

    links: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200)
    fit_from: int = 20
    repeats: int = 15
    dense_repeats: int = 5


FULL = Cases()
QUICK = Cases(links=(1, 2, 5, 10, 20, 40), fit_from=5, repeats=5, dense_repeats=2)


@dataclass(frozen=True)
class Measured:
    """One chain."""

    joint: str
    links: int
    rows: int  # of D
    evaluation: float  # [s]
    dense: float  # [s]
    building: float  # [s]
    difference: float  # of the accelerations, relative to the largest


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure all chains and both feet; tables, and a figure of the growth."""
    cases = QUICK if quick else FULL
    chains = [measure(joint, links, cases, say) for joint in JOINTS for links in cases.links]
    report = Report("Cost of one evaluation against the number of bodies")
    report.tables += [_chains_table(chains), _growth_table(chains, cases.fit_from), _feet_table(cases.repeats)]
    return Answer(report, {"rhs": _figure(chains)})


def growth(cases: Cases, say: Say) -> dict[str, float]:
    """Exponent of the cost of one evaluation in the number of links, by joint."""
    chosen = [links for links in cases.links if links >= cases.fit_from]
    exponents = {}
    for joint in JOINTS:
        say(f"chains of up to {chosen[-1]} links, {joint} joints")
        costs = [evaluation_time(models.chain.build(links, joint=joint), cases.repeats) for links in chosen]  # type: ignore[arg-type]
        exponents[joint] = exponent(chosen, costs)
    return exponents


def measure(joint: str, links: int, cases: Cases, say: Say) -> Measured:
    """One chain: the compiled evaluation, the dense solution, and building the system."""
    say(f"{links} links, {joint} joints")
    models.chain.build(1, joint=joint)  # type: ignore[arg-type]  # loads the compiled code of building
    build = {"building": lambda: models.chain.build(links, joint=joint)}  # type: ignore[arg-type]
    building = seconds(build, 3)["building"].min()
    system = models.chain.build(links, joint=joint)  # type: ignore[arg-type]
    matrix, right, sparse = _dense(system)
    solution = np.linalg.solve(matrix, right)[: len(sparse)]
    dense = seconds({"dense": lambda: np.linalg.solve(matrix, right)}, cases.dense_repeats)["dense"].min()
    difference = np.abs(solution - sparse).max() / np.abs(sparse).max()
    evaluation = evaluation_time(system, cases.repeats)
    return Measured(joint, links, system.rank, evaluation, float(dense), float(building), float(difference))


def _dense(system: System) -> tuple[Floats, Floats, Floats]:
    """Dense matrix and right-hand side at the initial state, and the accelerations that compiled code computes."""
    t, (w, _) = system.data, evaluated(system)
    n, m = 6 * len(system.bodies), int(t.rows.sum())
    matrix, right = np.zeros((n + m, n + m)), np.zeros(n + m)
    for b in range(1, len(t.mass)):
        at = slice(6 * (b - 1), 6 * b)
        mass = np.zeros((6, 6))
        mass[:3, :3] = t.mass[b] * np.eye(3)
        mass[3:, 3:] = np.linalg.inv(w.inertia_inverse[b])
        matrix[at, at] = mass
        right[at] = mass @ w.free[b]
    row = n
    for k in range(len(t.address)):
        rows = slice(row, row + t.rows[k])
        for side, body in enumerate((t.body_i[k], t.body_j[k])):
            if body != GROUND_INDEX:
                D = w.D[k, : t.rows[k], 6 * side : 6 * side + 6]
                matrix[rows, 6 * (body - 1) : 6 * body] = D
                matrix[6 * (body - 1) : 6 * body, rows] = D.T
        right[rows] = w.target[k, : t.rows[k]]
        row = rows.stop
    return matrix, right, w.v_dot[1:].ravel()


def _chains_table(chains: list[Measured]) -> Table:
    columns = [
        "joint",
        "links",
        "rows",
        "evaluation [us]",
        "per link [us]",
        "dense solve [us]",
        "building [ms]",
        "difference",
    ]
    rows = [
        [
            c.joint, c.links, c.rows, 1e6 * c.evaluation, 1e6 * c.evaluation / c.links, 1e6 * c.dense, 1e3 * c.building,
            c.difference,
        ]
        for c in chains
    ]  # fmt: skip
    note = (
        "Evaluation: everything from a state to its derivative, inside compiled code. Dense solve: numpy.linalg.solve alone, "
        "without filling the matrix, on one thread. Building: checks, assembly and rank included, compiled code warm. "
        "Difference: largest difference of the accelerations of the two, relative to the largest acceleration. Times are "
        "the least of several."
    )
    return Table("chains", columns, rows, note, brief=[column for column in columns if column != "building [ms]"])


def _growth_table(chains: list[Measured], fit_from: int) -> Table:
    rows: list[list[Any]] = []
    findings = []
    for joint in JOINTS:
        chosen = [c for c in chains if c.joint == joint and c.links >= fit_from]
        sizes = [c.links for c in chosen]
        compiled, dense = exponent(sizes, [c.evaluation for c in chosen]), exponent(sizes, [c.dense for c in chosen])
        rows.append([joint, compiled, dense])
        last = chosen[-1]
        findings.append(
            f"At {last.links} links on {joint} joints one evaluation takes {1e6 * last.evaluation:.1f} us, "
            f"{last.dense / last.evaluation:.0f} times less than the dense solve alone."
        )
    note = f"Fitted in log-log from {fit_from} links on. " + " ".join(findings)
    return Table("growth", ["joint", "exponent", "exponent of the dense solve"], rows, note)


def _feet_table(repeats: int) -> Table:
    times = evaluation_times({ankle: foot(ankle) for ankle in ANKLES}, repeats)
    rows = [[ankle, 1e6 * time] for ankle, time in times.items()]
    note = f"The modified foot takes {rows[1][1] / rows[0][1]:.3f} times as long as the classical one."
    return Table("feet", ["ankle", "evaluation [us]"], rows, note)


def _figure(chains: list[Measured]) -> Any:
    fig, axes = panels.figure(1, 1, width=6.4, height=4.8)
    ax = axes[0, 0]
    for number, joint in enumerate(JOINTS):
        chosen = [c for c in chains if c.joint == joint]
        sizes = [c.links for c in chosen]
        style = dict(color=lines.COLOURS[number], markersize=6)
        ax.loglog(sizes, [1e6 * c.evaluation for c in chosen], "o-", label=f"{joint}, compiled", **style)
        ax.loglog(
            sizes, [1e6 * c.dense for c in chosen], "s--", markerfacecolor="white",
            label=f"{joint}, dense solve alone", **style,
        )  # fmt: skip
    last = max((c for c in chains if c.joint == JOINTS[0]), key=lambda c: c.links)
    guide = np.array([last.links / 4, last.links])
    for power, cost in ((1, last.evaluation), (3, last.dense)):
        ax.loglog(guide, 0.6 * 1e6 * cost * (guide / guide[-1]) ** power, ":", color="0.4", linewidth=1.2)
        ax.annotate(
            f"slope {power}", (guide[0], 0.6e6 * cost * (guide[0] / guide[-1]) ** power), xytext=(8, -7),
            textcoords="offset points", color="0.3", fontsize=9,
        )  # fmt: skip
    sizes = sorted({c.links for c in chains})
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set(xlabel="number of bodies", ylabel="time [µs]", title="One evaluation of the equations of motion of a chain")
    ax.legend(frameon=False)
    return fig
