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
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

import models
from benchmarks import peers_report
from benchmarks.measure import (
    BODY,
    ROOT,
    Answer,
    BenchmarkError,
    Floats,
    Say,
    compiled_run,
    exact,
    foot,
    reference_error,
)
from benchmarks.peer import JOINTS, Body, Chain, Foot, MissingError, PeerError, Process, least, timed
from benchmarks.peers_report import GENERAL, OWN
from runtime import Report, System, Table
from runtime.equations import OK, derivative_once, derivative_repeated
from runtime.kernels import compiled_folder

PROGRAMS = (
    "heyoka", "symforce", "casadi", "casadi_lagrangian", "heyoka_lagrangian", "pinocchio", "exudyn", "mujoco", "drake", "pydy",
    "opensim", "exudyn_joints", "papers",
)  # fmt: skip
INSTALL = 'pip install "talus[peers]"'
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
    tolerance: float | None = 1e-10  # whose error is looked at as well, if any
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
    failures: list[str] = field(default_factory=list)

    @property
    def closest(self) -> float | None:
        """The smallest error [m]."""
        found = [error for error in self.known.values() if math.isfinite(error)]
        return min(found, default=None)

    def error(self, setting: float) -> float:
        """Largest distance from the exact motion [m]; infinite where there is none."""
        if setting not in self.known:
            ready = self.peer.prepare(setting)
            try:
                begin = time.perf_counter()
                times, found = ready.motion()
                if time.perf_counter() - begin > self.patience and ready.seconds() > self.patience:
                    self.slow.add(setting)
            except PeerError as error:
                self.known[setting] = math.inf
                self.failures.append(f"{self.peer.knob} {setting:.3g}: {error}")
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
            best = "none at all" if self.closest is None else f"at best {self.closest:.1e} m"
            raise BenchmarkError(f"{self.peer.label} does not reach an error of {error:.1e} m; {best}")
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
    error: float | None  # [m]
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
        peers_report.equal_table(equals, cases, bound),
        peers_report.program_table(searches, evaluations),
        peers_report.setting_table(rows),
        peers_report.chain_table(chains, ended, [search.peer for search in searches], cases),
    ]  # fmt: skip
    if missing:
        note = f"{INSTALL} installs all of them."
        report.tables.append(Table("not here", ["program", "reason"], [list(item) for item in missing.items()], note))
    figures = {
        "peers": peers_report.work_figure(rows, equals, cases),
        "chain": peers_report.chain_figure(chains, [search.peer for search in searches]),
    }
    return Answer(report, figures)


def at_errors(cases: Cases, say: Say) -> tuple[list[Equal], dict[str, str]]:
    """All programs at each error, ourselves first; and those that cannot be had, with the reason."""
    with ExitStack() as stack:
        searches, missing, _ = _searches(cases, say, stack)
        return at_equal_error(searches, cases, say), missing


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
    """All programs at each error, timed in turns; first at the error of our own run with the given tolerance."""
    found = []
    own_error = [] if cases.tolerance is None else [searches[0].error(cases.tolerance)]
    for wanted in (*own_error, *cases.errors):
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
                found.append(Equal(wanted, cases.duration, peer, None, search.closest, None, None, None))
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
