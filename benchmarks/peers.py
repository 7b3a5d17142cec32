"""Time that other programs take for the same motion at equal error, and for one evaluation of a chain.

The foot with the modified ankle over 5 s, free under gravity, and chains of bodies on ball joints.  A program is a module,
``benchmarks.peer_<name>``, and a name in ``PROGRAMS``; one that is not installed is named as such.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

import models
from benchmarks.measure import (
    BODY,
    ROOT,
    Answer,
    BenchmarkError,
    Floats,
    Say,
    UnavailableError,
    compiled_run,
    exact,
    foot,
    reference_error,
)
from benchmarks.peer import JOINTS, Body, Chain, Foot, MissingError, PeerError, Process, least, timed
from runtime import Report, System, Table, plots
from runtime.equations import OK, derivative_once, derivative_repeated
from runtime.kernels import compiled_folder

OWN, GENERAL = "Talus", "Talus, general"
PROGRAMS = (
    "heyoka", "symforce", "casadi", "casadi_lagrangian", "heyoka_lagrangian", "pinocchio", "exudyn", "mujoco", "drake", "pydy",
    "opensim", "exudyn_joints", "papers",
)  # fmt: skip
INSTALL = 'pip install "talus[peers]"'
SETTING = ("program", "the user writes", "knob", "setting")
WHOLE_CHAIN = 10  # links up to which the benchmark has a whole-model kernel made


@dataclass(frozen=True)
class Ready:
    """A run with one setting, ready to be timed."""

    seconds: Callable[[], float]  # of the whole motion, warm and without outputs
    motion: Callable[
        [], tuple[Floats, Floats]
    ]  # times (n,) [s] and positions of the main foot's centre of mass (n, 3) [m]
    evaluations: Callable[[], int | None]  # of the last run


@dataclass(frozen=True)
class Links:
    """One evaluation, or step, of a chain: duration [s], angular accelerations about y at the start (N,) [rad/s^2]."""

    seconds: float
    turning: Floats
    building: float  # [s]
    what: str = "evaluation"


@dataclass(frozen=True)
class Peer:
    """A program and its settings, coarse to fine."""

    name: str
    version: str
    method: str
    written: str  # by the user
    knob: str  # what is set, with its unit
    ladder: Sequence[float]  # all settings that the search for an error may use
    shown: Sequence[float]  # those that the table shows
    prepare: Callable[[float], Ready]
    evaluation: Callable[[int], float]  # duration of one, least of so many [s]
    chain: Callable[[Chain, int], Links] | None = None
    most_links: float = math.inf
    why: str | None = None  # there is no chain, or no longer one

    @property
    def label(self) -> str:
        """Name and what the user writes, which tells two uses of one program apart."""
        return f"{self.name}: {self.written}"


@dataclass(frozen=True)
class Cases:
    """What is measured."""

    programs: tuple[str, ...] = PROGRAMS
    duration: float = 5.0  # [s]
    outputs: int = 501
    errors: tuple[float, ...] = (1e-6, 1e-9)  # [m] to be equal at
    tolerance: float = 1e-10  # whose error is looked at as well
    repeats: int = 15
    every: int = 1  # of the settings shown
    patience: float = 20.0  # [s] the longest run of a setting that is tried
    links: tuple[int, ...] = (1, 3, 10, 30, 100, 300, 1000)
    building: float = 180.0  # [s] the longest expected for a chain that is tried


FULL = Cases()
QUICK = Cases(
    programs=("heyoka", "casadi", "exudyn", "mujoco", "papers"), duration=1.0, outputs=101, errors=(1e-7,), repeats=3,
    every=2, patience=0.5, links=(1, 10, 100), building=5.0,
)  # fmt: skip


@dataclass
class Search:
    """Errors of a peer, measured once for each setting."""

    peer: Peer
    system: System
    patience: float = math.inf  # [s] a setting that takes longer is not refined
    known: dict[float, float] = field(default_factory=dict)
    slow: set[float] = field(default_factory=set)

    def error(self, setting: float) -> float:
        """Largest distance from the exact motion [m]; infinite where there is none."""
        if setting not in self.known:
            ready = self.peer.prepare(setting)
            try:
                begin = time.perf_counter()
                times, found = ready.motion()
                if time.perf_counter() - begin > self.patience and ready.seconds() > self.patience:
                    self.slow.add(setting)
            except PeerError:
                self.known[setting] = math.inf
            else:
                reference = exact(self.system, times).r[BODY]
                self.known[setting] = float(np.linalg.norm(found - reference, axis=1).max())
        return self.known[setting]

    def shown(self, every: int) -> list[float]:
        """The settings that the table shows, until one takes too long or the rounding of the program rules."""
        chosen: list[float] = []
        for setting in self.peer.shown[::every]:
            error = self.error(setting)
            chosen.append(setting)
            if setting in self.slow or len(chosen) > 1 and error > 0.5 * self.known[chosen[-2]]:
                break
        return chosen

    def coarsest(self, error: float) -> float:
        """The coarsest setting whose error [m] is not above the given one.

        Raises
        ------
        BenchmarkError
        """
        ladder = sorted({*self.peer.ladder, *self.peer.shown}, reverse=True)
        stops = [ladder.index(setting) for setting in self.peer.shown]
        low = 0
        for high in stops:
            if self.error(ladder[high]) <= error:
                break
            low = high + 1
            if ladder[high] in self.slow:
                break
        if self.error(ladder[high]) > error:
            raise BenchmarkError(
                f"{self.peer.label} does not reach an error of {error:.1e} m; at best {min(self.known.values()):.1e} m"
            )
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.error(ladder[middle]) <= error else (middle + 1, high)
        return ladder[high]


@dataclass(frozen=True)
class Equal:
    """One peer at the coarsest setting that keeps to an error; without a setting if it does not reach it."""

    wanted: float  # [m]
    duration: float  # [s] of the motion
    peer: Peer
    setting: float | None
    error: float  # [m]
    evaluations: int | None
    time: float | None  # [s] the least of several
    ratio: float | None  # our time to its time


def foot_of(system: System) -> Foot:
    """What other programs are told of the modified foot, in its neutral pose."""
    r, ankle = system.state.r, system.joint("ankle")

    def body(name: str) -> Body:
        data = system.body(name)
        return Body(float(data.mass), np.diag(data.inertia).tolist(), r[name].tolist())

    of = ankle.values
    return Foot(
        np.asarray(system.gravity, float).tolist(), body(BODY), body("toes"), (r[ankle.body_j] + of["s_j"]).tolist(),
        np.asarray(of["a_j"], float).tolist(), (r[BODY] + of["s_i"]).tolist(), np.asarray(of["a_i"], float).tolist(),
    )  # fmt: skip


def chain_of(links: int) -> Chain:
    """What other programs are told of a chain."""
    one = models.chain.build(1)
    body = one.body("link_1")
    return Chain(
        links, 2.0 * float(one.state.r["link_1"][0]), float(body.mass), np.diag(body.inertia).tolist(),
        np.asarray(one.gravity, float).tolist(),
    )  # fmt: skip


def ours(system: System, cases: Cases, *, whole: bool) -> Peer:
    """Ourselves, by the whole-model kernel or by the general evaluation."""
    end, width = cases.duration, len(system.state.y)

    def prepare(tolerance: float) -> Ready:
        run, evaluations = compiled_run(system, end, tolerance, whole=whole)

        def motion() -> tuple[Floats, Floats]:
            times = np.linspace(0.0, end, cases.outputs)
            states = np.empty((len(times), width))
            compiled_run(system, end, tolerance, times, states=states, whole=whole)
            first = 13 * list(system.body_names).index(BODY)
            return times, states[:, first : first + 3]

        return Ready(lambda: least(run), motion, evaluations)

    def chain(of: Chain, repeats: int) -> Links:
        if whole:
            _compile_chain(of.links)
        begin = time.perf_counter()
        built = models.chain.build(of.links)
        building = time.perf_counter() - begin
        y_dot = np.empty_like(built.state.y)
        if derivative_once(0.0, built.state.y.copy(), built.tables, built.work(whole=whole), y_dot) != OK:
            raise PeerError(f"{built.name}: the initial configuration is singular")
        return Links(_evaluation(built, whole, repeats), y_dot.reshape(-1, 13)[:, 11], building)

    return Peer(
        OWN if whole else GENERAL, metadata.version("talus"), "DOP853", JOINTS, "tolerance",
        ladder=[10.0 ** (-k / 20) for k in range(80, 261)], shown=[10.0**-k for k in range(5, 14)], prepare=prepare,
        evaluation=partial(_evaluation, system, whole), chain=chain, most_links=WHOLE_CHAIN if whole else math.inf,
        why="its whole-model kernel would take too long to compile" if whole else None,
    )  # fmt: skip


def _evaluation(system: System, whole: bool, repeats: int) -> float:
    """Duration of one evaluation inside compiled code [s]."""
    y = system.state.y.copy()
    arguments = (0.0, y, system.tables, system.work(whole=whole), np.empty_like(y))
    derivative_repeated(*arguments, 1)  # loads the compiled code

    def took(count: int) -> float:
        return timed(lambda: derivative_repeated(*arguments, count))

    count = 1
    while took(count) < 5e-3:
        count *= 4
    return min(took(count) for _ in range(repeats)) / count


def _compile_chain(links: int) -> None:
    """Have the whole-model kernel of a chain made, by a process, because benchmarks know nothing of ``codegen``.

    Raises
    ------
    PeerError
    """
    program = f"import codegen, models; codegen.compile_model(models.chain.build({links}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerError(f"no whole-model kernel: {done.stderr.strip().splitlines()[-1:]}")


def peers(
    system: System, cases: Cases, say: Say, open_: Callable[[Process], Process]
) -> tuple[list[Peer], dict[str, str]]:
    """All programs, ourselves first; and those that cannot be had, with the reason."""
    found, missing = [ours(system, cases, whole=True), ours(system, cases, whole=False)], {}
    told, build = foot_of(system), compiled_folder() / "peers"
    for name in cases.programs:
        try:
            process = open_(Process(name, told, cases.duration, cases.outputs, build))
            facts = process.open()
        except MissingError as error:
            missing[name] = str(error)
            say(f"{name}: {error}")
            continue
        most_links = facts.pop("most_links")
        found.append(
            Peer(
                **facts, prepare=partial(_prepared, process), evaluation=lambda n, p=process: p.ask("evaluation", repeats=n),
                chain=partial(_chained, process) if most_links else None, most_links=most_links,
            )
        )  # fmt: skip
    return found, missing


def _prepared(process: Process, setting: float) -> Ready:
    def motion() -> tuple[Floats, Floats]:
        times, positions = process.ask("motion", setting=setting)
        return np.array(times), np.array(positions)

    return Ready(
        lambda: float(process.ask("run", setting=setting)), motion, lambda: process.ask("evaluations", setting=setting)
    )


def _chained(process: Process, chain: Chain, repeats: int) -> Links:
    answer = process.ask("chain", chain=asdict(chain), repeats=repeats)
    return Links(**(answer | {"turning": np.array(answer["turning"])}))


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure all programs; tables of what they take at equal error, at each setting and for a chain, and two figures."""
    cases = QUICK if quick else FULL
    with ExitStack() as stack:
        searches, missing, bound = _searches(cases, say, stack)
        equals = at_equal_error(searches, cases, say)
        rows = [row for search in searches for row in _settings(search, cases, say)]
        evaluations = {search.peer.label: _or_none(search.peer.evaluation, cases.repeats) for search in searches}
        chains, ended = _chains([search.peer for search in searches], cases, say)
    report = Report("The modified foot and chains in other programs")
    report.tables += [
        _equal_table(equals, cases, bound),
        _program_table(searches, evaluations),
        Table("work and precision", [*SETTING, "evaluations", "time [ms]", "error [m]"], rows),
        _chain_table(chains, ended, [search.peer for search in searches], cases),
    ]  # fmt: skip
    if missing:
        note = f"{INSTALL} installs all of them."
        report.tables.append(Table("not here", ["program", "reason"], [list(item) for item in missing.items()], note))
    return Answer(report, {"peers": _figure(rows, equals, cases), "chain": _chain_figure(chains)})


def our_ratio(cases: Cases, say: Say, programs: Sequence[str] = ("mujoco",)) -> Equal:
    """The one of these programs against whom we do worst, at the error that our tolerance 1e-10 gives.

    Raises
    ------
    UnavailableError
        None of them is installed.
    """
    chosen = replace(cases, programs=tuple(programs), errors=())
    with ExitStack() as stack:
        searches, missing, _ = _searches(chosen, say, stack)
        found = [
            equal
            for equal in at_equal_error(searches, chosen, say)
            if equal.peer.name not in (OWN, GENERAL) and equal.ratio is not None
        ]
    if not found:
        raise UnavailableError("; ".join(f"{reason}; install it with: {INSTALL}" for reason in missing.values()))
    return max(found, key=lambda equal: equal.ratio or 0.0)


def _or_none(measure: Callable[[int], float], repeats: int) -> float | None:
    try:
        return measure(repeats)
    except PeerError:
        return None


def _searches(cases: Cases, say: Say, stack: ExitStack) -> tuple[list[Search], dict[str, str], float]:
    system = foot("modified")

    def open_(process: Process) -> Process:
        stack.callback(process.close)
        return process

    programs, missing = peers(system, cases, say, open_)
    reference = exact(system, np.linspace(0.0, cases.duration, cases.outputs))
    return [Search(peer, system, cases.patience) for peer in programs], missing, reference_error(system, reference)


def _settings(search: Search, cases: Cases, say: Say) -> list[list[Any]]:
    """Rows of the table of all settings."""
    peer, rows = search.peer, []
    chosen = search.shown(cases.every)
    say(f"{peer.label}, {peer.method}, {peer.version}: {len(chosen)} settings")
    for setting in chosen:
        if math.isfinite(search.error(setting)):
            ready = peer.prepare(setting)
            took = _in_turns({peer.label: ready}, cases.repeats)[peer.label]
            measured = [setting, ready.evaluations(), 1e3 * took, search.error(setting)]
            rows.append([peer.name, peer.written, peer.knob, *measured])
    return rows


def _in_turns(ready: dict[str, Ready], repeats: int, most: float = 3.0) -> dict[str, float]:
    """Least durations [s]; the runs take turns, so that a slow spell of the machine falls on all, slow ones fewer turns."""
    times: dict[str, list[float]] = {name: [] for name in ready}
    for _ in range(repeats):
        for name, run in ready.items():
            if sum(times[name]) < most:
                times[name].append(run.seconds())
    return {name: min(values) for name, values in times.items()}


def at_equal_error(searches: Sequence[Search], cases: Cases, say: Say) -> list[Equal]:
    """All programs at each error, timed in turns; ours with the given tolerance first."""
    found = []
    for wanted in (searches[0].error(cases.tolerance), *cases.errors):
        say(f"all programs at an error of {wanted:.1e} m")
        settings = {}
        for search in searches:
            try:
                settings[search.peer.label] = search.coarsest(wanted)
            except BenchmarkError as error:
                say(str(error))
        ready = {
            search.peer.label: search.peer.prepare(settings[search.peer.label])
            for search in searches
            if search.peer.label in settings
        }
        times = _in_turns(ready, cases.repeats)
        own = times.get(searches[0].peer.label)
        for search in searches:
            peer, label = search.peer, search.peer.label
            if label in times:
                error, evaluations = search.error(settings[label]), ready[label].evaluations()
                ratio = None if own is None else own / times[label]
                found.append(
                    Equal(wanted, cases.duration, peer, settings[label], error, evaluations, times[label], ratio)
                )
            else:
                best = min(search.known.values())
                found.append(Equal(wanted, cases.duration, peer, None, best, None, None, None))
    return found


def _chains(
    peers: Sequence[Peer], cases: Cases, say: Say
) -> tuple[dict[str, dict[int, tuple[Links, float]]], dict[str, str]]:
    """What each program takes for a chain, by its label and the number of links, with its difference; and where it ended."""
    exact_turning, found, ended = {}, {}, {}
    general = next(peer for peer in peers if peer.name == GENERAL)
    for peer in (general, *(peer for peer in peers if peer is not general)):
        if peer.chain is None:
            continue
        say(f"{peer.label}: chains")
        last = None
        for links in cases.links:
            expected = 0.0 if last is None else last[1] * (links / last[0]) ** 2
            if links > peer.most_links:
                ended[peer.label] = peer.why or ""
                break
            if expected > cases.building:
                ended[peer.label] = f"building {links} links was expected to take {expected:.0f} s"
                break
            try:
                one = peer.chain(chain_of(links), cases.repeats)
            except PeerError as error:
                ended[peer.label] = str(error)
                break
            reference = exact_turning.setdefault(links, one.turning)
            difference = float(np.abs(one.turning - reference).max() / np.abs(reference).max())
            found.setdefault(peer.label, {})[links] = (one, difference)
            last = (links, one.building)
    return {peer.label: found[peer.label] for peer in peers if peer.label in found}, ended


def _equal_table(equals: Sequence[Equal], cases: Cases, bound: float) -> Table:
    columns = ["error allowed [m]", *SETTING, "error [m]", "evaluations", "time [ms]", "ours to theirs"]
    rows = [
        [
            e.wanted, e.peer.name, e.peer.written, e.peer.knob, e.setting, e.error, e.evaluations, _times(1e3, e.time), e.ratio,
        ]
        for e in sorted(equals, key=lambda e: (-e.wanted, math.inf if e.time is None else e.time))
    ]  # fmt: skip
    note = (
        f"{cases.duration:g} s of motion, warm, on one core, without outputs, least of several times in turns; each at its "
        "coarsest setting within the error, and without a time where it reached none within "
        f"{cases.patience:g} s a run. The error is the largest distance of the main foot's centre of mass from a run at the "
        f"tolerance 1e-14, over {cases.outputs} times or at the program's own steps; the reference itself is within "
        f"{bound:.0e} m of SciPy's DOP853. {OWN} runs its whole-model kernel, {GENERAL}, the code for every model. heyoka and "
        "Exudyn with constraints count steps."
    )
    return Table("equal error", columns, rows, note)


def _program_table(searches: Sequence[Search], evaluations: dict[str, float | None]) -> Table:
    columns = ["program", "version", "method", "the user writes", "one evaluation [us]", "closest [m]"]
    rows = [
        [
            s.peer.name, s.peer.version, s.peer.method, s.peer.written, _times(1e6, evaluations[s.peer.label]),
            min(s.known.values()),
        ]
        for s in searches
    ]  # fmt: skip
    note = (
        "Closest: the smallest error of all settings that were tried. Generated C and C++ and the C++ of Pinocchio are "
        "compiled for this machine and run in a DOP853 of the usual kind, in C++, because they bring no integrator of that "
        "order. heyoka evaluates states side by side in vector registers; PyDy and OpenSim are called from Python for one "
        "evaluation; of Exudyn with constraints it is one step. The equations by hand are reduced to products of cosines and "
        "sines of both angles; the Lagrangian is written with matrices and derived by the program."
    )
    return Table("programs", columns, rows, note)


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _chain_table(
    chains: dict[str, dict[int, tuple[Links, float]]], ended: dict[str, str], peers: Sequence[Peer], cases: Cases
) -> Table:
    by_label = {peer.label: peer for peer in peers}
    columns = ["program", "the user writes", "timed", *(f"{n} links [us]" for n in cases.links), "difference"]
    rows: list[list[Any]] = []
    for label, found in chains.items():
        peer = by_label[label]
        first = next(iter(found.values()))[0]
        costs = [1e6 * found[n][0].seconds / n if n in found else None for n in cases.links]
        worst = max(difference for _, difference in found.values())
        rows.append([peer.name, peer.written, first.what, *costs, worst])
    none: dict[str, list[str]] = {}
    for peer in peers:
        if peer.chain is None:
            none.setdefault(peer.why or "", []).append(peer.label)
    note = (
        "Time of one evaluation, or step, for each body, of a chain on ball joints. The difference is the largest one of the "
        f"links' angular accelerations at the start from those of {GENERAL}, of the largest; from a step where that is timed. "
        + " ".join(f"{name}, ends: {reason}." for name, reason in ended.items())
        + "".join(f" No chain of {'; '.join(names)}: {reason}." for reason, names in none.items())
    )
    return Table("chain", columns, rows, note)


def _styles(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A look for each program: the first six differ by colour, the next by line and marker, too."""
    colours = len(plots.COLOURS)
    return {
        label: dict(
            color=plots.COLOURS[k % colours], linestyle=("-", "--", ":")[k // colours % 3],
            marker="os^"[k // colours % 3], markersize=5, linewidth=1.2,
        )
        for k, label in enumerate(labels)
    }  # fmt: skip


def _figure(rows: Sequence[Sequence[Any]], equals: Sequence[Equal], cases: Cases) -> Any:
    fig, axes = plots.figure(1, 1, width=8.4, height=4.8)
    ax = axes[0, 0]
    labels = list(dict.fromkeys(f"{row[0]}: {row[1]}" for row in rows))
    for label, style in _styles(labels).items():
        chosen = [row for row in rows if f"{row[0]}: {row[1]}" == label]
        ax.loglog([row[6] for row in chosen], [row[5] for row in chosen], label=label, **style)
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
    ax.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return fig


def _chain_figure(chains: dict[str, dict[int, tuple[Links, float]]]) -> Any:
    fig, axes = plots.figure(1, 1, width=8.4, height=4.8)
    ax = axes[0, 0]
    for (label, found), style in zip(chains.items(), _styles(list(chains)).values(), strict=True):
        what = next(iter(found.values()))[0].what
        costs = [1e6 * one.seconds / n for n, (one, _) in found.items()]
        ax.loglog(list(found), costs, label=label if what == "evaluation" else f"{label}, {what}", **style)
    sizes = sorted({n for found in chains.values() for n in found})
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set(xlabel="number of bodies", ylabel="time of one evaluation for each body [µs]", title="Chain on ball joints")
    ax.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return fig
