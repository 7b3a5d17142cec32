"""Ensembles, limits, the synthetic walk, contact and chains: figures that other questions measure in more detail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import runtime
from benchmarks import ensembles, gait, limits, rhs
from benchmarks.measure import ANKLES, BenchmarkError, Say, evaluation_time, succeeded
from benchmarks.targets.target import Target
from models import chain, foot_ground
from models.studies.gait import recovery
from models.walking import synthetic

LINEAR = 1.1  # an exponent up to here counts as linear: the caches of the processor fill as the chain grows


def ensemble(quick: bool, say: Say) -> Iterator[Target]:
    """Ensemble on one core and on two, and a sweep."""
    cases = ensembles.QUICK if quick else ensembles.FULL
    say("ensembles")
    tolerance, off = ensembles.coarsest_tolerance(cases.side_by_side)
    rates = ensembles.throughput(cases.side_by_side, cases.repeats, tolerance=tolerance)
    how = f"{cases.side_by_side} cases of {ensembles.DURATION:g} s"
    free = f"{how} at {tolerance:.2g}"
    yield Target("ensemble, error", off, ensembles.ERROR, "m", f"{free}: main foot at the end, largest of all cases")
    yield Target("ensemble, time of a case on one core", 1e6 / rates[1], 2.5, "us", f"{free}, the most of several")
    many = ensembles.throughput(cases.two_cores, cases.repeats, tolerance=tolerance)
    how = f"{cases.two_cores} cases, the most of several; {cases.side_by_side} cases: {rates[1] / rates[2]:.3f}"
    yield Target("ensemble, one core's rate to two cores'", many[1] / many[2], 1.0 / 1.9, "1", how)
    for kind in ensembles.SWEEPS:
        what = f"sweep of 1e6 cases ({kind})"
        if quick:
            yield Target(f"{what}, memory", None, 1024.0, "MiB", "left out by --quick")
            continue
        memory, finished, _, took = ensembles.sweep(cases.sweep, kind)
        if finished != cases.sweep:
            raise BenchmarkError(f"{cases.sweep - finished} cases of the sweep did not reach their end")
        yield Target(f"{what}, memory", memory, 1024.0, "MiB", "greatest memory of the process, into a folder")
        yield Target(f"{what}, time", took, 60.0, "s", "the same sweep, all cores")


def with_limits(quick: bool, say: Say) -> Iterator[Target]:
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
                    f"{what}, rest",
                    c.ratio,
                    1.0,
                    "1",
                    f"{how}: {c.later} evaluations after the first second to those in it; the limit is met at {c.met:.2g} s, and "
                    "the motion there settles in a second",
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
            f"{name}, closed loops",
            share,
            1e-9,
            "1",
            f"{count} loops: work around the loop as a share of the work along it",
        )


def walk(quick: bool, say: Say) -> Iterator[Target]:
    """The synthetic walk."""
    one = gait.analysed(synthetic.trial())
    for name, error in recovery.recovered(one).items():
        yield Target(
            f"synthetic walk, {name}", error, gait.LIMIT_ERROR, "1", "from its markers, relative to the greatest"
        )
    back, feedback = recovery.replayed()
    yield Target(
        "synthetic walk, forward simulation", back, gait.LIMIT_ERROR, "rad",
        f"ankle and toes driven by the computed moments through stance; feedback {feedback:.1e} N m at most",
    )  # fmt: skip
    times = gait.timed(3 if quick else 15)["reading and analysis"]
    yield Target(
        f"trial of {gait.FRAMES} frames", float(times.min()), gait.LIMIT_SECONDS, "s",
        "TRC and MOT read, filtered, analysed, warm, least of several", float(np.median(times)),
    )  # fmt: skip


def contact(quick: bool, say: Say) -> Iterator[Target]:
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


def chains(quick: bool, say: Say) -> Iterator[Target]:
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
