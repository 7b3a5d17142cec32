"""The figures that the product was given to reach.

Every figure with its limit, what was measured, and how; a figure without a measurement says why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import runtime
from benchmarks import ensembles, gait, limits, peers, rhs
from benchmarks.allocations import outside_calls
from benchmarks.measure import (
    ANKLES,
    ROOT,
    Answer,
    BenchmarkError,
    Say,
    compiled_run,
    evaluation_time,
    exact,
    foot,
    position_error,
    reference_error,
    seconds,
    succeeded,
)
from benchmarks.peer import HAND, LAGRANGIAN, TREE
from models import chain, foot_ground
from runtime import Report, System, Table, dop853, equations, march, plots, stepping

DURATION, OUTPUTS, TOLERANCE = 5.0, 501, 1e-10  # [s], times, of the timed runs
REPEATS = 25
ERROR = 1e-9  # [m] at which programs are compared
# Limit of the ratio of our time to theirs, what their users write, and the programs.  Left to ``peers`` are PyDy, and Exudyn
# with constraints and the papers' method, whose runs take many seconds.
RIVALS = {
    "modified foot, time to tools fed with trees": (1.0, TREE, ("pinocchio", "exudyn", "mujoco", "drake", "opensim")),
    "modified foot, time to tools fed with equations by hand": (1.5, HAND, ("heyoka", "symforce", "casadi")),
    "modified foot, time to tools fed with the Lagrangian": (1.5, LAGRANGIAN, ("heyoka_lagrangian", "casadi_lagrangian")),
}  # fmt: skip
LINEAR = 1.1  # an exponent up to here is called linear: caches fill as the chain grows
COMPILE = """
import time, models
system = models.foot.build()
begin = time.perf_counter()
system.work(whole=True)
print(time.perf_counter() - begin)
"""
START = "import runtime, models; runtime.simulate(models.foot.build(), 5.0).energy"


@dataclass(frozen=True)
class Target:
    """One figure.  ``measured`` is None where it was not measured, and ``how`` says why."""

    what: str
    measured: float | None
    limit: float
    unit: str
    how: str
    median: float | None = None  # where ``measured`` is the least of several

    @property
    def reached(self) -> str:
        """In one word."""
        return "not measured" if self.measured is None else "yes" if self.measured <= self.limit else "no"


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure every target."""
    targets: list[Target] = []
    for part in PARTS:
        for target in part(quick, say):
            targets.append(target)
            measured = "-" if target.measured is None else f"{target.measured:.3g}"
            unit = "" if target.unit == "1" else f" {target.unit}"
            say(f"{target.what}: {measured} of {target.limit:g}{unit}, reached: {target.reached}")
    missed = [t.what for t in targets if t.reached == "no"]
    skipped = [t.what for t in targets if t.measured is None]
    reached = sum(t.reached == "yes" for t in targets)
    note = f"{reached} of {len(targets)} reached. Where there is a median, 'measured' is the least of several."
    note += f" Missed: {'; '.join(missed)}." if missed else ""
    note += f" Not measured: {'; '.join(skipped)}." if skipped else ""
    tables = [
        Table(
            "targets", ["what", "limit", "measured", "median", "unit", "reached"],
            [[t.what, t.limit, t.measured, t.median, t.unit, t.reached] for t in targets], note,
        ),
        Table("how", ["what", "how it was measured"], [[t.what, t.how] for t in targets]),
    ]  # fmt: skip
    return Answer(Report("Targets", tables), {"targets": _figure(targets)})


def _accuracy(quick: bool, say: Say) -> Iterator[Target]:
    """Both feet at default settings."""
    times = np.linspace(0.0, DURATION, OUTPUTS)
    for ankle in ANKLES:
        system = foot(ankle)
        run = succeeded(runtime.simulate(system, DURATION, t_eval=times, progress=False), system.name)
        reference = exact(system, times)
        bound = reference_error(system, reference)
        yield Target(
            f"{ankle} foot, position", position_error(run, reference) + bound, 1e-9, "m",
            f"default settings, {DURATION:g} s, {OUTPUTS} times, main foot, against dop853 at 1e-14; {bound:.1e} m, by which "
            "SciPy's DOP853 at 3e-14 differs from that, is added",
        )  # fmt: skip
        drift = float(np.abs(run.energy - run.energy[0]).max())
        yield Target(f"{ankle} foot, energy", drift, 1e-8, "J", "same run: largest |E - E(0)|")
        yield Target(
            f"{ankle} foot, |Phi|", float(run.violation.max()), 1e-10, "SI", "same run: largest row, in its own unit"
        )


def _speed(quick: bool, say: Say) -> Iterator[Target]:
    """Times of whole runs and of one evaluation, warm."""
    times = np.linspace(0.0, DURATION, OUTPUTS)
    options: dict[str, Any] = dict(rtol=TOLERANCE, atol=TOLERANCE, progress=False)
    for ankle in ANKLES:
        system = foot(ankle)
        bare, _ = compiled_run(system, DURATION, TOLERANCE, whole=True)
        compiled, _ = compiled_run(system, DURATION, TOLERANCE, times, whole=True)
        measured = seconds(
            {
                "bare": bare,
                "ended": lambda s=system: runtime.simulate(s, DURATION, t_eval=[DURATION], **options),  # type: ignore[misc]
                "compiled": compiled,
                "simulate": lambda s=system: runtime.simulate(s, DURATION, t_eval=times, **options),  # type: ignore[misc]
            },
            5 if quick else REPEATS,
        )
        least = {name: 1e3 * float(values.min()) for name, values in measured.items()}
        median = {name: 1e3 * float(np.median(values)) for name, values in measured.items()}
        yield Target(
            f"{ankle} foot, 5 s compiled", least["bare"], 15.0, "ms",
            f"tolerance {TOLERANCE:g}, march.advance alone, warm, no outputs", median["bare"],
        )  # fmt: skip
        yield Target(
            f"{ankle} foot, 5 s from Python", least["ended"], 15.0, "ms",
            "the same through runtime.simulate, the end as its only output", median["ended"],
        )  # fmt: skip
        extra = 1e3 * float(np.median(measured["simulate"] - measured["compiled"]))
        yield Target(
            f"{ankle} foot, simulate less compiled", least["simulate"] - least["compiled"], 2.0, "ms",
            f"{OUTPUTS} outputs: least time of runtime.simulate ({least['simulate']:.2f} ms) less that of the compiled run "
            f"with the same outputs ({least['compiled']:.2f} ms); median of the differences", extra,
        )  # fmt: skip
        yield Target(
            f"{ankle} foot, one evaluation", 1e6 * evaluation_time(system, 5 if quick else REPEATS), 4.0, "us",
            "equations.derivative_repeated by the joints' kernels, least of several",
        )  # fmt: skip
        yield Target(
            f"{ankle} foot, one evaluation, whole model", 1e6 * evaluation_time(system, 5 if quick else REPEATS, whole=True),
            0.4, "us", "the same by the whole-model kernel",
        )  # fmt: skip


def _whole(quick: bool, say: Say) -> Iterator[Target]:
    """Whole-model kernels: time to an error, and of compiling."""
    system, times = foot("modified"), np.linspace(0.0, DURATION, OUTPUTS)
    reference, tolerance, error = exact(system, times), 1e-8, np.inf
    while True:
        run = succeeded(
            runtime.simulate(system, DURATION, t_eval=times, rtol=tolerance, atol=tolerance, progress=False),
            system.name,
        )
        error = position_error(run, reference)
        if error <= 1e-9:
            break
        tolerance *= 0.8
    bare, evaluations = compiled_run(system, DURATION, tolerance, whole=True)
    took = 1e3 * seconds({"": bare}, 5 if quick else REPEATS)[""]
    yield Target(
        "modified foot, 5 s to 1e-9 m", float(took.min()), 1.0, "ms",
        f"tolerance {tolerance:.2g}, whose error at {OUTPUTS} times is {error:.1e} m; {evaluations()} evaluations, without "
        "outputs", float(np.median(took)),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TALUS_CACHE_DIR": folder}
        told = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", COMPILE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
            )
            told.append(float(done.stdout))
    how = "System.work(whole=True): module, constants and machine code, in a new process"
    yield Target("whole-model kernel, first compile", told[0], 15.0, "s", f"{how}, empty cache")
    yield Target("whole-model kernel, from the cache", told[1], 0.5, "s", f"{how}, once compiled")


def _ensembles(quick: bool, say: Say) -> Iterator[Target]:
    """Cases side by side, and a sweep."""
    cases = ensembles.QUICK if quick else ensembles.FULL
    say("ensembles")
    rates, off = ensembles.throughput(cases.side_by_side, cases.repeats), ensembles.error()
    how = f"{cases.side_by_side} cases of {ensembles.DURATION:g} s at {ensembles.TOLERANCE:g}, most of several"
    yield Target("ensemble, error", off, ensembles.ERROR, "m", f"{how}: main foot at the end")
    yield Target("ensemble, time of a case on one core", 1e6 / rates[1], 100.0, "us", how)
    yield Target("ensemble, one core's rate to two cores'", rates[1] / rates[2], 1.0 / 1.9, "1", how)
    if quick:
        yield Target("sweep of 1e6 cases, memory", None, 1024.0, "MiB", "left out by --quick")
        return
    memory, finished, _ = ensembles.sweep(cases.sweep)
    if finished != cases.sweep:
        raise BenchmarkError(f"{cases.sweep - finished} cases of the sweep did not reach their end")
    yield Target("sweep of 1e6 cases, memory", memory, 1024.0, "MiB", "greatest memory of the process, into a folder")


def _limits(quick: bool, say: Say) -> Iterator[Target]:
    """Motion with limits: time, energy, rest, and work around closed loops."""
    for ankle in ANKLES:
        for c in limits.cost(ankle, quick, say):
            if c.case == "free":
                continue
            what = f"{ankle} foot, {c.case}"
            how = f"{limits.DURATION:g} s at {limits.TOLERANCE:g}"
            allowed = 25.0 if c.damped else 60.0
            yield Target(f"{what}, 5 s", 1e3 * c.least, allowed, "ms", f"{how} through runtime.simulate, warm")
            if c.damped:
                yield Target(
                    f"{what}, rest", c.ratio, 1.0, "1", f"{how}: evaluations after the first second to those in it"
                )
            else:
                yield Target(f"{what}, energy", c.drift, 1e-7, "J", f"{how}: largest |E - E(0)| at the steps")
    for name, cone in limits.CONES.items():
        system = limits.ball(cone, "conservative")
        times = np.linspace(0.0, limits.DURATION, 2001)
        options: dict[str, Any] = dict(rtol=limits.TOLERANCE, atol=limits.TOLERANCE, progress=False)
        run = succeeded(runtime.simulate(system, limits.DURATION, t_eval=times, **options), system.name)
        how = f"{limits.DURATION:g} s at {limits.TOLERANCE:g}, {len(times)} outputs: largest |E - E(0)|"
        yield Target(f"pendulum, {name}, energy", float(np.abs(run.energy - run.energy[0]).max()), 1e-7, "J", how)
        count = 1 if quick else 20
        share = float(limits.loop_shares(system.limits[0], count).max())
        yield Target(
            f"{name}, closed loops", share, 1e-9, "1", f"{count} loops: work around as a share of the work along"
        )


def _peers(quick: bool, say: Say) -> Iterator[Target]:
    """Against other programs at equal error, in one run: the ratio to the quickest of each kind."""
    programs = tuple(program for _, _, kind in RIVALS.values() for program in kind)
    cases = peers.Cases(programs, DURATION, OUTPUTS, (ERROR,), tolerance=None, repeats=3 if quick else REPEATS)
    (own, *others), missing = peers.at_errors(cases, say)
    for what, (limit, written, kind) in RIVALS.items():
        found = [equal for equal in others if equal.peer.written == written]
        absent = "; ".join(dict.fromkeys(missing[program] for program in kind if program in missing))
        told = [f"{equal.peer.name} {equal.peer.version}, {equal.peer.method}: {_took(equal)}" for equal in found]
        if found:
            told.insert(0, f"{DURATION:g} s to {ERROR:g} m, all warm, in turns, without outputs; ours {_took(own)}")
        if absent:
            told.append(f"{absent}; install with: {peers.INSTALL}")
        ratios = [equal.ratio for equal in found if equal.ratio is not None]
        yield Target(what, max(ratios, default=None), limit, "1", "; ".join(told))


def _took(equal: peers.Equal) -> str:
    return "does not reach it" if equal.time is None else f"{1e3 * equal.time:.3g} ms"


def _growth(quick: bool, say: Say) -> Iterator[Target]:
    """Exponent of the cost of one evaluation in the number of links."""
    cases = rhs.QUICK if quick else rhs.FULL
    for joint, found in rhs.growth(cases, say).items():
        yield Target(
            f"chain, {joint} joints, growth", found, LINEAR, "1",
            f"exponent of the time of one evaluation, {cases.fit_from} to {max(cases.links)} links",
        )  # fmt: skip
    if quick:
        yield Target("chain of 1000 bodies, one evaluation", None, 1.0, "us/body", "left out by --quick")
        return
    time = evaluation_time(chain.build(1000), 9)
    yield Target(
        "chain of 1000 bodies, one evaluation", 1e3 * time, 1.0, "us/body", "spherical joints, by the joints' kernels"
    )


def _gait(quick: bool, say: Say) -> Iterator[Target]:
    """The synthetic walk."""
    one = gait.analysed(gait.synthetic_gait.trial())
    for name, error in gait.gait_study.recovered(one).items():
        yield Target(
            f"synthetic walk, {name}", error, gait.LIMIT_ERROR, "1", "from its markers, relative to the greatest"
        )
    back, feedback = gait.gait_study.replayed()
    yield Target(
        "synthetic walk, forward simulation", back, gait.LIMIT_ERROR, "rad",
        f"ankle and toes driven by the computed moments through stance; feedback {feedback:.1e} N m at most",
    )  # fmt: skip
    times = gait.timed(3 if quick else 15)["reading and analysis"]
    yield Target(
        f"trial of {gait.FRAMES} frames", float(times.min()), gait.LIMIT_SECONDS, "s",
        "TRC and MOT read, filtered, analysed, warm, least of several", float(np.median(times)),
    )  # fmt: skip


def _contact(quick: bool, say: Say) -> Iterator[Target]:
    """A foot that falls, and a ball that bounces."""
    say("contact: a fall with friction, a hundred bounces")
    system = foot_ground.build()
    settings: dict[str, Any] = dict(method="radau", rtol=1e-8, atol=1e-8, progress=False)
    runs = [succeeded(runtime.simulate(system, 1.0, **settings), system.name) for _ in range(3 if quick else 15)][1:]
    times = [1e3 * run.stats.wall_time for run in runs]
    yield Target(
        "fall with friction, 1 s", min(times), 50.0, "ms",
        f"models.foot_ground at 1e-8, compiled Radau, warm, least of several; {runs[0].stats.steps} steps",
        float(np.median(times)),
    )  # fmt: skip
    b = runtime.Builder("ball", gravity=(0.0, 0.0, -9.81))
    b.body("ball", mass=1.3, inertia=(1e-3,) * 3, r=(0.0, 0.0, 0.1), free=True)
    b.contact("sole", "ball", centre=(0.0, 0.0, 0.0), radius=0.05, law="hertz", stiffness=4e5)
    run = succeeded(runtime.simulate(b.build(), 22.0, progress=False), "ball")
    bounces = len(run.contacts["sole"].lift_off)
    drift = float(np.abs(run.energy - run.energy[0]).max() / run.energy[0])
    yield Target("bounces of Hertz, energy", drift, 1e-8, "1", f"default settings, {bounces} bounces, relative")


def _allocations(quick: bool, say: Say) -> Iterator[Target]:
    """Whether compiled code reaches the heap."""
    system = foot("modified")
    _signatures(system)
    entries: dict[str, list[Any]] = {"evaluation": [equations.derivative_once, equations.evaluation_alone()]}
    if not quick:
        entries["step"] = [march.advance, march.interpolate_once]
    for what, functions in entries.items():
        say(f"compiling the {what} anew to read its code")
        outside = set().union(*(outside_calls(f, signature) for f in functions for signature in f.signatures))
        yield Target(
            f"heap allocations, {what}", float(len(outside)), 0.0, "calls",
            f"LLVM IR of {', '.join(f.__name__ for f in functions)}: calls of functions outside, other than LLVM's own and "
            f"arithmetic, are {', '.join(sorted(outside)) or 'none'}; numba's memory runtime is switched off",
        )  # fmt: skip
    if quick:
        yield Target("heap allocations, step", None, 0.0, "calls", "left out by --quick")


def _signatures(system: System) -> None:
    """Call every entry point once, so that it knows its types."""
    y = system.state.y.copy()
    equations.derivative_once(0.0, y, system.tables, system.work(), np.empty_like(y))
    s, t, w = (
        stepping.stepper(y, 0.0, dop853.memory(len(y)), system.tables),
        system.tables,
        system.work(),
    )
    run, _ = compiled_run(system, 0.1, 1e-6)
    run()
    runtime.simulate(system, 0.01, method="radau")
    none, none2 = np.zeros(0), np.zeros((0, 0))
    march.advance(s, t, w, 0.1, 1e-6, 1e-6, np.inf, 1, none, none2, none, none2)
    march.interpolate_once(s, t, w, float(s.time[stepping.T]), y)


def _starts(quick: bool, say: Say) -> Iterator[Target]:
    """A new process up to the end of its first simulation."""
    command = f'python -c "{START}"'
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if quick:
            yield Target("first start", None, 60.0, "s", "left out by --quick")
        else:
            environment["TALUS_CACHE_DIR"] = folder
            say("first start: everything compiles")
            first = seconds({"first": lambda: _child([sys.executable, "-c", START], ROOT, environment)}, 1)["first"]
            yield Target(
                "first start", float(first[0]), 60.0, "s", f"{command}, empty cache folder TALUS_CACHE_DIR, once"
            )
        later = seconds({"later": lambda: _child([sys.executable, "-c", START], ROOT, environment)}, 2 if quick else 7)[
            "later"
        ]
        yield Target(
            "second start", float(later.min()), 2.5, "s", f"{command}, cache warm, process start included",
            float(np.median(later)),
        )  # fmt: skip


def _regeneration(quick: bool, say: Say) -> Iterator[Target]:
    """All definitions, in a copy of the sources without ``generated``."""
    if quick:
        yield Target("python -m codegen", None, 15.0, "s", "left out by --quick")
        return
    say("regenerating all kernels in a copy")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "codegen", copy / "codegen", ignore=shutil.ignore_patterns("__pycache__"))
        took = seconds({"codegen": lambda: _child([sys.executable, "-m", "codegen"], copy, dict(os.environ))}, 1)[
            "codegen"
        ]
        made = {file.name: file.read_bytes() for file in (copy / "generated").glob("*.py")}
    committed = {file.name: file.read_bytes() for file in (ROOT / "generated").glob("*.py")}
    same = "the same as" if made == committed else "NOT the same as"
    yield Target(
        "python -m codegen", float(took[0]), 15.0, "s",
        f"in a copy without generated/, once; its {len(made)} files are {same} those in use",
    )  # fmt: skip


def _child(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a process to its end.

    Raises
    ------
    BenchmarkError
    """
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(command[1:])} failed: {done.stderr.strip().splitlines()[-1:]}")


def _figure(targets: list[Target]) -> Any:
    """How much of each limit is used, on a logarithmic scale; figures whose limit is zero are left to the table."""
    drawn = [t for t in targets if t.measured is not None and t.limit > 0.0][::-1]
    used = np.array([max(float(t.measured or 0.0), 0.0) / t.limit for t in drawn])
    low = 10.0 ** np.floor(np.log10(min(used[used > 0.0].min(), 0.1)))
    fig, axes = plots.figure(1, 1, width=8.0, height=0.32 * len(drawn) + 1.0)
    ax = axes[0, 0]
    colours = [plots.COLOURS[0] if t.reached == "yes" else plots.COLOURS[1] for t in drawn]
    ax.barh(range(len(drawn)), np.maximum(used, low) - low / 10, left=low / 10, color=colours, height=0.7)
    for place, target in enumerate(drawn):  # beside the bars, where they cover neither these nor the limit
        ax.annotate(
            f"{target.measured:.3g} of {target.limit:.3g} {target.unit if target.unit != '1' else ''}", (1.02, place),
            xycoords=("axes fraction", "data"), va="center", fontsize=8, annotation_clip=False,
            weight="bold" if target.reached == "no" else "normal",
        )  # fmt: skip
    ax.axvline(1.0, color="black", linewidth=1.0)
    ax.set_xscale("log")
    ax.set_xlim(low / 2, max(2.0, 1.5 * used.max()))
    ax.set_yticks(range(len(drawn)), [t.what for t in drawn], fontsize=8)
    ax.set_axisbelow(True)
    ax.grid(False, axis="y")
    ax.margins(y=0.02)
    ax.set(xlabel="measured value as a share of its limit (line: the limit)", title="Targets")
    return fig


PARTS = (
    _accuracy, _speed, _whole, _ensembles, _limits, _gait, _contact, _peers, _growth, _allocations, _starts, _regeneration,
)  # fmt: skip
