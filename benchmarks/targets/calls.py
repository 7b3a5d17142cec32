"""Times of whole calls from Python: a run, many cases, a chain of many loops, gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import models
import runtime
from benchmarks import ensemble_systems, ensembles
from benchmarks.measure import Say, seconds, succeeded
from benchmarks.targets.target import DURATION, REPEATS, Target
from models import foot_ground
from runtime import Run, System

SETTINGS: dict[str, Any] = dict(rtol=1e-8, atol=1e-8, progress=False)
# What varies between cases, and the limit of the time of one of them [us].
RATES: dict[str, tuple[dict[str, Any], float]] = {
    "ensemble at 1e-8": ({}, 1e6 / 300_000),
    "ensemble with limits": (dict(limits="dissipative"), 1e6 / 110_000),
    "ensemble with limits, lengths and masses by name": (dict(limits="dissipative", by_name=True), 1e6 / 90_000),
}
LOOPS, MOTION, SHORT = 40, 10.0, 0.3  # four-bar linkages, [s], [s] with --quick
ROD = (1e-3, 1.0 / 12.0, 1.0 / 12.0)  # moments of inertia of a bar of 1 m and 1 kg along x [kg m^2]
# Systems whose runs are differentiated, and how long they move [s], also with --quick.
LANDING: dict[str, Any] = dict(ground=True, leg="free", incline_deg=20, transition_velocity=0.02, orthosis="stiff")
DIFFERENTIATED: dict[str, tuple[Callable[[], System], float, float]] = {
    "foot": (models.foot.build, DURATION, 1.0),
    "foot with limits": (partial(models.foot.build, limits="dissipative"), 1.0, 0.3),
    "landing in an orthosis": (partial(models.foot.build, limits="dissipative", **LANDING), 0.16, 0.16),
    "foot on the ground": (foot_ground.build, 0.2, 0.05),
    "four-bar on a plane": (ensemble_systems.four_bar_on_plane, 1.0, 1.0),
    "driven leg on a plane": (ensemble_systems.driven_leg_on_plane, 1.0, 0.3),
}
RUNS = {1: 3.0, 10: 6.0}  # limit of the time of a gradient in runs, by the number of its parameters


def one_run(quick: bool, say: Say) -> Iterator[Target]:
    """A free foot."""
    system = models.foot.build()
    took = 1e3 * seconds({"": partial(_run, system, DURATION)}, 40 if quick else 20 * REPEATS)[""]
    yield Target(
        "modified foot, 5 s at 1e-8 from Python", float(took.min()), 0.15, "ms",
        "runtime.simulate with the end as its only output, least of several", float(np.median(took)),
    )  # fmt: skip


def many_cases(quick: bool, say: Say) -> Iterator[Target]:
    """Ensembles at one tolerance, on one core."""
    cases = ensembles.QUICK if quick else ensembles.FULL
    for what, (options, limit) in RATES.items():
        say(what)
        rate = ensembles.throughput(cases.side_by_side, cases.repeats, tolerance=ensembles.TOLERANCE, **options)[1]
        yield Target(
            f"{what}, time of a case on one core", 1e6 / rate, limit, "us",
            f"{cases.side_by_side} cases of {ensembles.DURATION:g} s at {ensembles.TOLERANCE:g}, the most of several; "
            f"{rate:.3g} cases a second",
        )  # fmt: skip


def chain_of_loops(count: int) -> System:
    """IFToMM's benchmark A02: upright cranks of 1 m at distances of 1 m, coupled by bars, whose tips move with 1 m/s."""
    b, z = runtime.Builder(f"{count} four-bars", axes="global", gravity=(0.0, -9.81, 0.0)), (0.0, 0.0, 1.0)
    upright: dict[str, Any] = dict(p=(np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)), v=(0.5, 0.0, 0.0), omega=(0.0, 0.0, -1.0))
    for k in range(count + 1):
        b.body(f"crank_{k}", mass=1.0, inertia=ROD, r=(k, 0.5, 0.0), **upright)
        b.joint(f"bearing_{k}", "revolute", runtime.GROUND, f"crank_{k}", point=(k, 0.0, 0.0), axis=z)
    for k in range(count):
        b.body(f"bar_{k}", mass=1.0, inertia=ROD, r=(k + 0.5, 1.0, 0.0), v=(1.0, 0.0, 0.0))
        for end in (k, k + 1):
            b.joint(f"pin_{k}_{end}", "revolute", f"crank_{end}", f"bar_{k}", point=(end, 1.0, 0.0), axis=z)
    return b.build()


def loops_in_a_row(quick: bool, say: Say) -> Iterator[Target]:
    """Forty four-bar linkages."""
    duration = SHORT if quick else MOTION
    say(f"{LOOPS} four-bar linkages for {duration:g} s")
    _run(chain_of_loops(2), duration)  # compiles
    system = chain_of_loops(LOOPS)
    took = float(seconds({"": partial(_run, system, duration)}, 1)[""][0])
    limit = 5.0 * duration / MOTION
    yield Target(f"{LOOPS} four-bars, {duration:g} s", took, limit, "s", "1e-8, runtime.simulate, default method, once")


def gradients(quick: bool, say: Say) -> Iterator[Target]:
    """Derivatives of runs by some of the parameters, in runs."""
    for what, (build, whole, short) in DIFFERENTIATED.items():
        say(f"gradients: {what}")
        system, duration = build(), short if quick else whole
        once = float(seconds({"": partial(_run, system, duration)}, 7)[""].min())
        for count, limit in RUNS.items():
            given = _given(system, count)
            gradient = partial(runtime.sensitivities, system, given, duration, rtol=1e-8, atol=1e-8)
            took = float(seconds({"": gradient}, 2)[""].min())
            yield Target(
                f"{what}, gradient of {count}", took / once, limit, "runs",
                f"{duration:g} s at 1e-8, by {', '.join(given)}: {took:.3g} s, least of two; a run {1e3 * once:.3g} ms",
            )  # fmt: skip


def _given(system: System, count: int) -> dict[str, Any]:
    """Parameters with so many components: numbers, then vectors."""
    found: dict[str, Any] = {}
    values = sorted(runtime.parameters(system).items(), key=lambda one: np.size(one[1]))
    for name, value in values:
        if sum(map(np.size, found.values())) + np.size(value) <= count:
            found[name] = value
    return found


def _run(system: System, duration: float) -> Run:
    return succeeded(runtime.simulate(system, duration, t_eval=[duration], **SETTINGS), system.name)
