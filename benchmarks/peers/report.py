"""Tables and figures of the comparison with other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.interface import JOINTS, LAGRANGIAN
from benchmarks.peers.records import GENERAL, IN_JOINTS, OWN, AtError, Cases, ChainCost, Peer
from benchmarks.peers.search import Search
from runtime.figures import panels
from runtime.report import Table

SETTING = ("program", "input", "knob", "setting")

# Colour and marker of each program, the same in all figures.  The second use of a program is dashed, with hollow markers.
STYLES = {
    OWN: ("#000000", "o"), IN_JOINTS: ("#B22222", "h"),
    "heyoka": ("#D55E00", "s"), "SymForce": ("#E69F00", "^"), "CasADi": ("#CC79A7", "D"),
    "Pinocchio": ("#009E73", "v"), "Exudyn": ("#56B4E9", "P"), "MuJoCo": ("#0072B2", "X"), "Drake": ("#8C2D2D", ">"),
    "PyDy": ("#8A8A1F", "<"), "OpenSim": ("#7A3FA0", "p"), "the papers' method": ("#808080", "*"),
}  # fmt: skip
SECOND = (("heyoka", LAGRANGIAN), ("CasADi", LAGRANGIAN), ("Exudyn", JOINTS), (GENERAL, JOINTS))


def equal_table(equals: Sequence[AtError], cases: Cases, bound: float, name: str) -> Table:
    """All programs at each error, the fastest first."""
    columns = ["error allowed [m]", *SETTING, "error [m]", "evaluations", "time [ms]", "time ratio"]
    rows = [
        [
            e.allowed, e.peer.name, e.peer.input, e.peer.knob, e.setting, e.error, e.evaluations, _times(1e3, e.time), e.ratio,
        ]
        for e in sorted(equals, key=lambda e: (-e.allowed, math.inf if e.time is None else e.time))
    ]  # fmt: skip
    first = equals[0].peer.name
    note = (
        f"{cases.duration:g} s of motion, warm, on one core, without outputs; the least of several runs, which alternate "
        "between the programs. Each program runs at its coarsest setting within the error; it has no time where no run of at "
        f"most {cases.timeout:g} s reached the error. The time ratio is the time of {first} divided by that of the program. The "
        "error is the largest distance of the main foot's centre of mass from a run at the tolerance 1e-14, over "
        f"{cases.outputs} times or at the program's own steps; the reference itself is within {bound:.0e} m of SciPy's DOP853. "
    )
    if first == OWN:
        note += (
            f"{OWN} runs its whole-model kernel, {GENERAL} the code that serves every model, {IN_JOINTS} the equations of the "
            "coordinates that these joints leave. For heyoka and for Exudyn with constraints the evaluations are steps."
        )
    else:
        note += f"{IN_JOINTS} ends steps where a limit begins or ceases to act; the DOP853 around the equations by hand does not."
    brief = ["error allowed [m]", "program", "input", "time [ms]", "time ratio"]
    return Table(name, columns, rows, note, brief)


def setting_table(rows: Sequence[Sequence[Any]]) -> Table:
    """All programs at each setting."""
    columns = [*SETTING, "evaluations", "time [ms]", "error [m]"]
    return Table("work and precision", columns, rows, brief=["program", "input", *columns[4:]])


def program_table(searches: Sequence[Search], evaluations: dict[str, float | None]) -> Table:
    """Version, method and input of each program, and the time of one evaluation."""
    columns = ["program", "version", "method", "input", "one evaluation [us]", "smallest error [m]"]
    rows = [
        [
            s.peer.name, s.peer.version, s.peer.method, s.peer.input, _times(1e6, evaluations[s.peer.label]),
            s.smallest,
        ]
        for s in searches
    ]  # fmt: skip
    note = (
        "The smallest error is that of all settings that were tried. Generated C and C++ and the C++ of Pinocchio are compiled "
        "for this machine and integrated by a C++ DOP853 with the usual step control, because these programs have no "
        "integrator of that order. heyoka evaluates states side by side in vector registers; PyDy and OpenSim are called from "
        "Python for each evaluation; for Exudyn with constraints the time is that of one step. The equations by hand are "
        "reduced to products of cosines and sines of both angles; the Lagrangian is written with matrices, and the program "
        "differentiates it."
    )
    note += "".join(f" {s.peer.label} failed: {'; '.join(s.failures)}." for s in searches if s.failures)
    return Table("programs", columns, rows, note)


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def chain_table(
    chains: dict[str, dict[int, tuple[ChainCost, float]]], ended: dict[str, str], peers: Sequence[Peer], cases: Cases
) -> Table:
    """Cost of a chain for each program, by label."""
    by_label = {peer.label: peer for peer in peers}
    columns = ["program", "input", "timed", *(f"{n} links [us]" for n in cases.links), "difference"]
    rows: list[list[Any]] = []
    for label, found in chains.items():
        peer = by_label[label]
        first = next(iter(found.values()))[0]
        costs = [1e6 * found[n][0].seconds / n if n in found else None for n in cases.links]
        worst = max(difference for _, difference in found.values())
        rows.append([peer.name, peer.input, first.what, *costs, worst])
    none: dict[str, list[str]] = {}
    for peer in peers:
        if peer.chain is None:
            none.setdefault(peer.reason or "", []).append(peer.name)
    note = (
        "Time per body of one evaluation, or one step, of a chain on ball joints. The difference is the largest difference of "
        f"the links' angular accelerations at t = 0 from those of {GENERAL}, relative to the largest of these; where a step is "
        "timed, the accelerations come from a step. "
        + " ".join(f"{name} stops here: {reason}." for name, reason in ended.items())
        + "".join(f" No chain of {', '.join(dict.fromkeys(names))}: {reason}." for reason, names in none.items())
    )
    brief = ["program", "input", "timed", *(f"{n} links [us]" for n in cases.links[::2])]
    return Table("chain", columns, rows, note, brief)


def style(name: str, given: str) -> dict[str, Any]:
    """Style of the curve of a program, by its name and its input."""
    colour, marker = STYLES[OWN if name == GENERAL else name]
    second = (name, given) in SECOND
    return dict(
        color=colour, linestyle="--" if second else "-", linewidth=1.8 if name == OWN else 1.2, marker=marker, markersize=6,
        markerfacecolor="white" if second else colour, zorder=3 if name == OWN else 2,
    )  # fmt: skip


def work_figure(rows: Sequence[Sequence[Any]], equals: Sequence[AtError], cases: Cases) -> Any:
    """Time over error of all settings."""
    fig, axes = panels.figure(1, 1, width=10.4, height=4.8)
    ax = axes[0, 0]
    for name, given in dict.fromkeys((row[0], row[1]) for row in rows):
        chosen = [row for row in rows if (row[0], row[1]) == (name, given)]
        errors, times = [row[6] for row in chosen], [row[5] for row in chosen]
        ax.loglog(errors, times, label=f"{name}: {given}", **style(name, given))
    label = f"error of {OWN} at the tolerance {cases.tolerance:g}"
    ax.axvline(equals[0].allowed, color="0.4", linestyle=":", linewidth=1.2, label=label, zorder=1)
    ax.invert_xaxis()
    ax.set(
        xlabel="largest error of the main foot's position [m]", ylabel="time of the run [ms]",
        title=f"Modified foot, {cases.duration:g} s of motion",
    )  # fmt: skip
    panels.legend(fig, ax)
    return fig


def chain_figure(chains: dict[str, dict[int, tuple[ChainCost, float]]], peers: Sequence[Peer]) -> Any:
    """Time per body over the number of bodies."""
    fig, axes = panels.figure(1, 1, width=10.4, height=4.8)
    ax, by_label = axes[0, 0], {peer.label: peer for peer in peers}
    for label, found in chains.items():
        what = next(iter(found.values()))[0].what
        costs = [1e6 * one.seconds / n for n, (one, _) in found.items()]
        drawn = style(by_label[label].name, by_label[label].input)
        ax.loglog(list(found), costs, label=label if what == "evaluation" else f"{label}, {what}", **drawn)
    sizes = sorted({n for found in chains.values() for n in found})
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set(xlabel="number of bodies", ylabel="time of one evaluation per body [µs]", title="Chain on ball joints")
    panels.legend(fig, ax)
    return fig
