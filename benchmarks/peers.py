"""Time that other programs take for the same motion at equal error.

The foot with the modified ankle over 5 s, free under gravity; a peer is a line in ``peers``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

import numpy as np

import runtime
from benchmarks import mujoco_foot
from benchmarks.measure import (
    BODY,
    Answer,
    BenchmarkError,
    Floats,
    Say,
    compiled_run,
    exact,
    foot,
    reference_error,
    seconds,
    succeeded,
)
from runtime import Report, System, Table, plots

OWN = "talus"


@dataclass(frozen=True)
class Prepared:
    """A run with one setting, ready to be timed."""

    run: Callable[[], object]  # the whole motion, warm and without outputs
    motion: Callable[
        [], tuple[Floats, Floats]
    ]  # times (n,) [s] and positions of the main foot's centre of mass (n, 3) [m]
    evaluations: int


@dataclass(frozen=True)
class Peer:
    """A program and its settings, coarse to fine."""

    name: str
    version: str
    method: str
    knob: str  # what is set, with its unit
    ladder: Sequence[float]  # all settings that the search for an error may use
    shown: Sequence[float]  # those that the table shows
    prepare: Callable[[float], Prepared]


@dataclass(frozen=True)
class Cases:
    """Duration [s], number of output times, errors to be equal at [m], and how often a run is timed."""

    duration: float = 5.0
    outputs: int = 501
    errors: tuple[float, ...] = (1e-6, 1e-9)
    tolerance: float = 1e-10  # whose error is looked at as well
    repeats: int = 15
    every: int = 1  # of the settings shown


FULL = Cases()
QUICK = Cases(duration=1.0, outputs=101, errors=(1e-7,), repeats=3, every=2)


@dataclass
class Search:
    """Errors of a peer, measured once for each setting."""

    peer: Peer
    system: System
    known: dict[float, float] = field(default_factory=dict)

    def error(self, setting: float) -> float:
        """Largest distance from the exact motion [m]."""
        if setting not in self.known:
            times, found = self.peer.prepare(setting).motion()
            reference = exact(self.system, times).r[BODY]
            self.known[setting] = float(np.linalg.norm(found - reference, axis=1).max())
        return self.known[setting]

    def coarsest(self, error: float) -> float:
        """The coarsest setting whose error [m] is not above the given one.

        Raises
        ------
        BenchmarkError
        """
        low, high = 0, len(self.peer.ladder) - 1
        if self.error(self.peer.ladder[high]) > error:
            raise BenchmarkError(f"{self.peer.name} does not reach an error of {error:.1e} m")
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.error(self.peer.ladder[middle]) <= error else (middle + 1, high)
        return self.peer.ladder[high]


@dataclass(frozen=True)
class Equal:
    """One peer at the coarsest setting that keeps to an error."""

    wanted: float  # [m]
    duration: float  # [s] of the motion
    peer: Peer
    setting: float
    error: float  # [m]
    evaluations: int
    time: float  # [s] the least of several
    ratio: float  # our time to its time


def peers(system: System, end: float, outputs: int) -> list[Peer]:
    """All programs, ourselves first, for the motion up to ``end`` [s], looked at at about ``outputs`` times.

    Raises
    ------
    UnavailableError
        One of them is not installed.
    """

    def ours(tolerance: float) -> Prepared:
        run, evaluations = compiled_run(system, end, tolerance)

        def motion() -> tuple[Floats, Floats]:
            options: Any = dict(t_eval=np.linspace(0.0, end, outputs), rtol=tolerance, atol=tolerance, progress=False)
            found = succeeded(runtime.simulate(system, end, **options), f"{OWN} at {tolerance:g}")
            return found.t, found.r[BODY]

        return Prepared(run, motion, evaluations())

    def mujoco(step: float) -> Prepared:
        steps = round(end / step)
        run, motion = mujoco_foot.prepare(system, end, steps, outputs)
        return Prepared(run, motion, mujoco_foot.STAGES * steps)

    return [
        Peer(
            OWN, metadata.version("talus"), "DOP853", "tolerance", ladder=[10.0 ** (-k / 20) for k in range(80, 261)],
            shown=[10.0**-k for k in range(5, 14)], prepare=ours,
        ),
        Peer(
            "MuJoCo", mujoco_foot.version(), "RK4", "step [s]", ladder=[10.0 ** (-k / 80) for k in range(120, 321)],
            shown=[0.02 / 2**k for k in range(8)], prepare=mujoco,
        ),
    ]  # fmt: skip


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure all programs; tables of what they take at equal error and at each setting, and a figure."""
    cases = QUICK if quick else FULL
    searches, bound = _searches(cases)
    equals = at_equal_error(searches, cases, say)
    rows: list[list[Any]] = []
    for search in searches:
        peer = search.peer
        say(f"{peer.name} {peer.version}, {len(peer.shown[:: cases.every])} settings")
        for setting in peer.shown[:: cases.every]:
            prepared = peer.prepare(setting)
            time = seconds({peer.name: prepared.run}, cases.repeats)[peer.name].min()
            rows.append(
                [peer.name, peer.method, peer.knob, setting, prepared.evaluations, 1e3 * time, search.error(setting)]
            )
    closest = {s.peer.name: min(s.known.values()) for s in searches if s.peer.name != OWN}
    report = Report("The modified foot in other programs, at equal error")
    columns = ["program", "method", "knob", "setting", "evaluations", "time [ms]", "error [m]"]
    note = (
        f"{cases.duration:g} s of motion, warm, without outputs, least of several times. The error is the largest distance of "
        f"the main foot's centre of mass from a run at the tolerance 1e-14, over {cases.outputs} times or more (MuJoCo: at "
        f"its steps, where they are fewer); the reference itself is within {bound:.0e} m of SciPy's DOP853. Closest to it "
        "come, with equations of their own: "
        + ", ".join(f"{name} {error:.0e} m" for name, error in closest.items())
        + "."
    )
    report.tables += [_equal_table(equals, searches), Table("work and precision", columns, rows, note)]
    return Answer(report, {"peers": _figure(rows, equals, cases)})


def our_ratio(cases: Cases, say: Say) -> Equal:
    """The peer against whom we do worst, at the error that our tolerance 1e-10 gives."""
    searches, _ = _searches(cases)
    found = at_equal_error(searches, replace(cases, errors=()), say)
    return max((equal for equal in found if equal.peer.name != OWN), key=lambda equal: equal.ratio)


def _searches(cases: Cases) -> tuple[list[Search], float]:
    system = foot("modified")
    programs = peers(system, cases.duration, cases.outputs)
    reference = exact(system, np.linspace(0.0, cases.duration, cases.outputs))
    return [Search(peer, system) for peer in programs], reference_error(system, reference)


def at_equal_error(searches: Sequence[Search], cases: Cases, say: Say) -> list[Equal]:
    """All programs at each error, timed in turns; ours with the given tolerance first."""
    found = []
    for wanted in (searches[0].error(cases.tolerance), *cases.errors):
        say(f"all programs at an error of {wanted:.1e} m")
        settings = {search.peer.name: search.coarsest(wanted) for search in searches}
        prepared = {search.peer.name: search.peer.prepare(settings[search.peer.name]) for search in searches}
        times = seconds({name: ready.run for name, ready in prepared.items()}, cases.repeats)
        for search in searches:
            name = search.peer.name
            time = times[name].min()
            found.append(
                Equal(
                    wanted, cases.duration, search.peer, settings[name], search.error(settings[name]), prepared[name].evaluations,
                    float(time), float(times[OWN].min() / time),
                )
            )  # fmt: skip
    return found


def _equal_table(equals: Sequence[Equal], searches: Sequence[Search]) -> Table:
    columns = [
        "error allowed [m]",
        "program",
        "knob",
        "setting",
        "error [m]",
        "evaluations",
        "time [ms]",
        "ours to theirs",
    ]
    rows = [
        [e.wanted, e.peer.name, e.peer.knob, e.setting, e.error, e.evaluations, 1e3 * e.time, e.ratio] for e in equals
    ]
    versions = ", ".join(f"{s.peer.name} {s.peer.version} ({s.peer.method})" for s in searches)
    note = f"Each at its coarsest setting within the error, timed in turns. {versions}."
    for e in equals:
        if e.peer.name != OWN:
            note += f" At {e.wanted:.1e} m we take {e.ratio:.2f} times as long as {e.peer.name}."
    return Table("equal error", columns, rows, note)


def _figure(rows: Sequence[Sequence[Any]], equals: Sequence[Equal], cases: Cases) -> Any:
    fig, axes = plots.figure(1, 1, width=6.4, height=4.6)
    ax = axes[0, 0]
    for number, name in enumerate(dict.fromkeys(row[0] for row in rows)):
        chosen = [row for row in rows if row[0] == name]
        ax.loglog(
            [row[6] for row in chosen], [row[5] for row in chosen], marker="os^D"[number % 4], markersize=6,
            color=plots.COLOURS[number], label=f"{name}, {chosen[0][1]}",
        )  # fmt: skip
    wanted = equals[0].wanted
    ax.axvline(wanted, color="0.4", linestyle=":", linewidth=1.2)
    ax.annotate(
        f"error of {OWN} at {cases.tolerance:g}", (wanted, ax.get_ylim()[0]), xytext=(-4, 6), textcoords="offset points",
        rotation=90, ha="right", va="bottom", fontsize=8, color="0.3",
    )  # fmt: skip
    ax.invert_xaxis()
    ax.set(
        xlabel="largest error of the main foot's position [m]", ylabel="time of the run [ms]",
        title=f"Modified foot, {cases.duration:g} s of motion",
    )  # fmt: skip
    ax.legend(frameon=False)
    return fig
