"""Cases of an ensemble per second, on one core and on two, and the memory of a sweep of a million cases.

The foot with the modified ankle over 1 s.  Cases that differ in the initial velocities run at the coarsest tolerance at which no
case has an error of more than 1e-9 m in the position of the main foot at the end; others run at 1e-8.  Systems with forces, and
those that run without vector instructions, are those of ``benchmarks.ensemble_systems``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import models
import runtime
from benchmarks.ensemble_systems import (
    SIDE_BY_SIDE,
    STUDIES,
    Study,
)
from benchmarks.ensembles_on_device import Kinds, on_device
from benchmarks.measure import BODY, ROOT, Answer, BenchmarkError, Say, foot, seconds
from runtime.report import Report, Table
from runtime.support.arrays import Floats
from runtime.system.quantity import parse

DURATION = 1.0  # [s]
TOLERANCE = 1e-8
ERROR = 1e-9  # [m]
COARSEST, FINER = 1e-7, 0.8  # first tolerance of a search for that of an error, and the ratio of one to the one before
STATES = 50  # different initial states


@dataclass(frozen=True)
class Cases:
    """Numbers of cases and repeats."""

    side_by_side: int = 10_000
    two_cores: int = 400_000  # about a second on one core; in 10 000 the beginning of the call counts
    limited: int = 2000
    built: int = 500
    named: int = 2000
    sweep: int = 1_000_000
    study: int = 16_384  # base samples
    repeats: int = 7
    compiled: int = 512
    forced: int = 10_000
    single: int = 16  # of these by single runs
    device: int = 1_000_000
    device_named: int = 200_000


FULL = Cases()
QUICK = Cases(
    side_by_side=2000, two_cores=20_000, limited=8, built=40, named=100, sweep=20_000, study=64, repeats=3, compiled=16,
    forced=32, single=2, device=20_000, device_named=20_000,
)  # fmt: skip

SWEEP = """
import re, sys, time, runtime
from pathlib import Path
from benchmarks.ensembles import DURATION, SETTINGS, SWEEPS
system, cases, options = SWEEPS[sys.argv[3]](int(sys.argv[1]))
begin = time.perf_counter()
many = runtime.simulate_many(system, cases, DURATION, out=sys.argv[2], progress=False, **SETTINGS, **options)
took = time.perf_counter() - begin
# The maximum that getrusage returns includes memory of the parent process.
memory = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(memory / 1024.0, int((many.status == runtime.Status.REACHED_END).sum()), took)
"""
OF_STUDIES = ["system", "share", "cases/s, one worker", "two", "by single runs", "one worker over these"]
SETTINGS: dict[str, Any] = dict(rtol=TOLERANCE, atol=TOLERANCE)


def initial_velocities(count: int) -> dict[str, Floats]:
    """Velocities that the foot's joints allow, by case; the first ``STATES`` are repeated, slightly slower each time."""
    system, rng = foot("modified"), np.random.default_rng(0)
    found = [
        runtime.assemble(system, system.state.replace(omega={BODY: 0.5 * rng.normal(size=3)}))
        for _ in range(min(STATES, count))
    ]
    number = np.arange(count)
    slower = 1.0 - (number // len(found))[:, None] / max(count, 2)  # velocities that are allowed stay so when scaled
    return {
        f"{part}.{body}": slower * np.array([getattr(state, part)[body] for state in found])[number % len(found)]
        for part in ("v", "omega")
        for body in (BODY, "toes")
    }


def throughput(
    count: int,
    repeats: int,
    *,
    limits: Literal["dissipative"] | None = None,
    by_name: bool = False,
    tolerance: float = TOLERANCE,
) -> dict[int, float]:
    """Cases per second by the number of workers, the most of several; they vary velocities, or lengths and masses by name."""
    system = models.foot.build(limits=limits)

    def cases_of(n: int) -> dict[str, Any]:
        return _by_name(system, np.linspace(0.9, 1.1, n)) if by_name else initial_velocities(n)

    def run(cases: dict[str, Any], workers: int) -> Any:
        return runtime.simulate_many(
            system, cases, DURATION, workers=workers, assemble=by_name, progress=False, rtol=tolerance, atol=tolerance
        )

    cases = cases_of(count)
    run(cases_of(16), 1)  # loads the compiled code
    work = {str(workers): lambda workers=workers: run(cases, workers) for workers in (1, 2)}  # type: ignore[misc]
    return {int(name): count / float(times.min()) for name, times in seconds(work, repeats).items()}


def coarsest_tolerance(count: int) -> tuple[float, float]:
    """The coarsest tolerance found at which none of so many cases is off by more than ``ERROR``, and the largest error [m].

    Raises
    ------
    BenchmarkError
    """
    cases, tolerance = initial_velocities(count), COARSEST
    exact, uncertain = _exact_ends(cases)
    while tolerance > 1e-13:
        error = float(np.linalg.norm(_ends(cases, tolerance) - exact, axis=1).max()) + uncertain
        if error <= ERROR:
            return tolerance, error
        tolerance *= FINER
    raise BenchmarkError(f"no tolerance of ensembles has an error of {ERROR:g} m")


def _ends(cases: dict[str, Floats], tolerance: float) -> Floats:
    """Places of the main foot at the end (cases, 3) [m]."""
    many = runtime.simulate_many(foot("modified"), cases, DURATION, progress=False, rtol=tolerance, atol=tolerance)
    ends: Floats = many.r[BODY][:, 0]
    return ends


def _exact_ends(cases: dict[str, Floats]) -> tuple[Floats, float]:
    """Places of the main foot at the end (cases, 3), and how far some are off single runs in absolute coordinates [m]."""
    system, exact, off = foot("modified"), _ends(cases, 1e-13), [0.0]
    for number in range(0, STATES, 5):
        state = system.state
        for name, values in cases.items():
            quantity = parse(name)
            state = state.replace(**{quantity.part: {quantity.owner: values[number]}})
        run = runtime.simulate(
            system, DURATION, t_eval=[DURATION], initial=state, rtol=1e-13, atol=1e-13, coordinates="absolute"
        )
        off.append(float(np.linalg.norm(run.r[BODY][0] - exact[number])))
    return exact, max(off)


SPANS = {  # arguments of the foot
    "link_length": (0.03, 0.05), "subtalar_inclination_deg": (25.0, 50.0), "mass": (50.0, 90.0), "height": (1.5, 1.9),
}  # fmt: skip


def _built(count: int) -> dict[str, Any]:
    """Random arguments of the foot."""
    random = np.random.default_rng(1)
    return {name: random.uniform(*span, count) for name, span in SPANS.items()}


def _by_name(system: runtime.System, share: Floats) -> dict[str, Any]:
    """Lengths of the link and two masses, around those of the foot."""
    values = runtime.parameters(system)
    return {
        "l.ankle": np.sqrt(share) * values["l.ankle"],
        "mass.toes": share * values["mass.toes"],
        "mass.main_foot": share[::-1] * values["mass.main_foot"],
    }


def varied_parameters(cases: Cases) -> dict[str, float]:
    """Cases per second where parameters differ, and with limits."""
    plain, limited = foot("modified"), models.foot.build(limits="dissipative")
    share = np.linspace(0.9, 1.1, cases.named)
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "masses by name": (plain, {"mass.toes": share * runtime.parameters(plain)["mass.toes"]}),
        "lengths of the link by name, assembled": (plain, {"l.ankle": np.sqrt(share) * runtime.parameters(plain)["l.ankle"]}),
        "lengths of the link and two masses by name, assembled": (plain, _by_name(plain, share)),
        "lengths of the link and two masses by name, assembled, with dissipative limits": (
            limited, _by_name(limited, share[: cases.limited]),
        ),
        "lengths, axes and sizes, built by a function": (models.foot.build, _built(cases.built)),
        "lengths, axes and sizes, built by a function, with dissipative limits": (
            models.foot.build, _built(cases.built) | {"limits": ["dissipative"] * cases.built},
        ),
        "coordinate of the ankle": (plain, {"angle.ankle.theta_i": 0.2 * (share - 1.0)}),
        "velocities, with limits": (limited, initial_velocities(cases.limited)),
        "masses by name, with limits": (
            limited, {"mass.toes": share[: cases.limited] * runtime.parameters(plain)["mass.toes"]},
        ),
        "damping by name, with limits": (
            limited, {"damping.talocrural": share[: cases.limited] * runtime.parameters(limited)["damping.talocrural"]},
        ),
    }  # fmt: skip
    work = {
        name: lambda system=system, rows=rows: runtime.simulate_many(  # type: ignore[misc]
            system, rows, DURATION, progress=False, assemble="l.ankle" in rows, **SETTINGS
        )
        for name, (system, rows) in kinds.items()
    }
    times = seconds(work, cases.repeats)
    return {name: len(next(iter(rows.values()))) / float(times[name].min()) for name, (_, rows) in kinds.items()}


def of_study(study: Study, count: int, single: int) -> list[Any]:
    """Cases per second on one worker and on two, by single runs, and by how much one worker is faster than these."""
    system, count = study.system(), max(count // study.part, single)
    own = np.asarray(runtime.parameters(system)[study.varied])
    values = np.multiply.outer(np.linspace(0.9, 1.1, count), own)

    def run(workers: int) -> Any:
        return runtime.simulate_many(
            system,
            {study.varied: values},
            study.duration,
            workers=workers,
            progress=False,
            **SETTINGS | dict(study.settings),
        )

    many = run(1)  # loads the compiled code
    times = seconds({"1": lambda: run(1), "2": lambda: run(2), "single": lambda: [many[k] for k in range(single)]}, 3)
    rate = {name: (single if name == "single" else count) / float(own.min()) for name, own in times.items()}
    share = float(many.vectorised.mean())
    return [study.name, share, rate["1"], rate["2"], rate["single"], rate["1"] / rate["single"]]


def _of_velocities(count: int) -> tuple[runtime.System, dict[str, Any], dict[str, Any]]:
    """Initial velocities of the free foot; states at the end are kept."""
    return models.foot.build(), initial_velocities(count), {}


def _of_limited_feet(count: int) -> tuple[runtime.System, dict[str, Any], dict[str, Any]]:
    """Lengths and masses of the foot with limits; two figures are kept."""
    system = models.foot.build(limits="dissipative")
    kept = {"excursion": "range(r.main_foot.y)", "excess": "max(limit_excess.talocrural)"}
    times = np.linspace(0.0, DURATION, 101)
    return system, _by_name(system, np.linspace(0.9, 1.1, count)), dict(outputs=kept, t_eval=times, assemble=True)


SWEEPS = {"velocities": _of_velocities, "lengths and masses, with limits, two outputs": _of_limited_feet}


def sweep(count: int, kind: str = "velocities") -> tuple[float, int, float, float]:
    """Greatest memory of the process [MiB], cases that reached their end, size of the folder [MiB], and duration [s]."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "sweep"
        command = [sys.executable, "-c", SWEEP, str(count), str(out), kind]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        memory, finished, took = done.stdout.split()
        size = sum(file.stat().st_size for file in out.rglob("*.npz")) / 2**20
    return float(memory), int(finished), size, float(took)


def study(base: int) -> list[Any]:
    """Number of cases of a study with Sobol indices of six parameters of the foot with limits; seconds of its parts."""
    system = models.foot.build(limits="elastic")
    values = runtime.parameters(system)
    names = ("mass.main_foot", "mass.toes", "compliance.talocrural", "compliance.talocalcaneal")
    ranges: dict[str, Any] = {name: (0.8 * values[name], 1.2 * values[name]) for name in names}
    ranges |= {f"rate.ankle.{name}": (-1.0, 1.0) for name in ("theta_i", "theta_j")}
    outputs = {"excursion": "range(r.main_foot.y)", "excess": "max(limit_excess.talocalcaneal)"}

    def made(n: int) -> Any:
        return runtime.study(system, ranges, DURATION, outputs=outputs, kind="sobol", n=n, progress=False, **SETTINGS)

    made(16).indices()  # loads the compiled code
    start = clock.perf_counter()
    found = made(base)
    run = clock.perf_counter()
    found.indices()
    ranked = clock.perf_counter()
    found.figure("excursion")
    return [len(found.many), len(found.failed), run - start, ranked - run, clock.perf_counter() - ranked]


def _on_device(cases: Cases) -> Kinds:
    """Cases for a graphics processor."""
    plain, limited, count = models.foot.build(), models.foot.build(limits="dissipative"), cases.device
    return {
        "velocities": (plain, initial_velocities(count), {}),
        "velocities, with limits": (limited, initial_velocities(count), {}),
        "lengths of the link and two masses by name, assembled, with limits": (
            limited, _by_name(limited, np.linspace(0.9, 1.1, cases.device_named)), dict(assemble=True),
        ),
    }  # fmt: skip


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure everything."""
    cases = QUICK if quick else FULL
    tolerance, off = coarsest_tolerance(cases.side_by_side)
    rows: list[list[Any]] = []
    for count in (cases.side_by_side, cases.two_cores):
        say(f"{count} cases side by side, one worker and two")
        rates, of = throughput(count, cases.repeats, tolerance=tolerance), f"{count} cases side by side"
        rows += [[f"{of}, {workers} worker{'s' if workers > 1 else ''}", rate] for workers, rate in rates.items()]
    say("cases that differ in parameters, and cases with limits")
    rows += [[name, rate] for name, rate in varied_parameters(cases).items()]
    compiled, forced = [], []
    for one in SIDE_BY_SIDE:
        say(one.name)
        forced.append(of_study(one, cases.forced, cases.single))
    for one in STUDIES:
        say(one.name)
        compiled.append(of_study(one, cases.compiled, cases.single))
    swept = []
    for kind in SWEEPS:
        say(f"a sweep of {cases.sweep} cases into a folder: {kind}")
        swept.append([kind, cases.sweep, *sweep(cases.sweep, kind)])
    say(f"a study of {8 * cases.study} cases")
    studied = study(cases.study)
    say("the graphics processor, if there is one")
    device = on_device(_on_device(cases), cases.device_named, DURATION, SETTINGS, min(3, cases.repeats))
    note = (
        f"Modified foot, {DURATION:g} s. Side by side at the tolerance {tolerance:.2g}, at which the main foot of no case is "
        f"more than {off:.1e} m from the exact motion at the end; the others at {TOLERANCE:g}. Best of several. Two "
        f"workers are {rates[2] / rates[1]:.2f} times as fast as one on {cases.two_cores} cases."
    )
    tables = [
        Table("cases per second", ["how", "cases/s"], rows, note),
        Table(
            "forces, loops and drivers side by side", OF_STUDIES, forced,
            f"{cases.forced} cases, of long runs fewer; share: of those that did.",
        ),
        Table(
            "cases one after another", OF_STUDIES, compiled,
            "Stiff contacts, absolute coordinates: single runs; share: of vectorised cases.",
        ),
        Table(
            "sweep", ["varied", "cases", "memory [MiB]", "finished", "folder [MiB]", "duration [s]"], swept,
            "The greatest memory of the whole process, numba and SciPy included; all cores.",
        ),
        Table(
            "study", ["cases", "failed", "cases [s]", "indices and bounds [s]", "figure [s]"], [studied],
            "Sobol indices of six parameters of the foot with elastic limits, two outputs over 101 times, all cores.",
        ),
    ]  # fmt: skip
    if device:
        tables.append(
            Table(
                "graphics processor",
                ["varied", "cases", "cases/s", "on all cores", "ratio", "first call [s]"],
                device,
                "engine='gpu' beside the threads of this machine; the first call compiles, or finds compiled code.",
            )  # fmt: skip
        )
    return Answer(Report("Ensembles", tables), {})
