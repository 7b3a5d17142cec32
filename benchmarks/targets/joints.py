"""Figures of equations in the coordinates of joints: runs, evaluations, operations, a long run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import numpy as np

import models
import runtime
from benchmarks.joint_coordinates import joint_evaluation, joint_run
from benchmarks.measure import ANKLES, ROOT, BenchmarkError, Say, exact, foot, position_error, seconds, succeeded
from benchmarks.mechanisms import model, problem
from benchmarks.targets.target import DURATION, OUTPUTS, REPEATS, TOLERANCE, Target
from runtime import System
from runtime.integrate.tree_method import module_of_tree
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.system.trees import trees_of

ERROR = 1e-9  # [m]
FINER = 0.8  # ratio of a tolerance to the one before, in the search for that of an error
LINKS = (10, 100, 1000)
FEWER = 5  # ratio of the operations in absolute coordinates to those in joint coordinates
LONG, EVERY = 1e4, 0.5  # [s] a long run, and the time between its outputs
ROUNDING = 1e-14  # [m], [1]


def in_joint_coordinates(quick: bool, say: Say) -> Iterator[Target]:
    """Runs and evaluations of both feet, with limits too, and of chains."""
    say("joint coordinates: both feet, chains")
    repeats = 5 if quick else REPEATS
    times = np.linspace(0.0, DURATION, OUTPUTS)
    for ankle in ANKLES:
        system = foot(ankle)
        yield _to_the_error(f"{ankle} foot", system, times, repeats, 0.05)
        for limits in ("elastic", "dissipative"):
            limited = models.foot.build(ankle, limits=limits)  # type: ignore[arg-type]
            yield _to_the_error(f"{ankle} foot, {limits} limits", limited, times, repeats, 0.3)
        how = "equations.derivative_repeated by the kernel in joint coordinates, least of several"
        evaluation = 1e6 * joint_evaluation(system, repeats)[0]
        yield Target(f"{ankle} foot, one evaluation, joint coordinates", evaluation, 0.03, "us", how)
        yield Target(
            f"{ankle} foot, operations", operations(system), 150, "1", "of one evaluation in joint coordinates"
        )
    for links in LINKS[: 2 if quick else None]:
        evaluation = 1e6 * joint_evaluation(models.chain.build(links), repeats)[0] / links
        yield Target(
            f"chain of {links} bodies, one evaluation, joint coordinates", evaluation, 0.2, "us/body",
            "spherical joints, by the recursion, least of several",
        )  # fmt: skip


def _to_the_error(what: str, system: System, times: Floats, repeats: int, limit: float) -> Target:
    """A run without outputs at the tolerance of ``tolerance_of``; ``how`` also has the time at the usual tolerance."""
    tolerance, error = tolerance_of(system, times)
    run, evaluations = joint_run(system, DURATION, tolerance)
    took = seconds({"": run, "tight": joint_run(system, DURATION, TOLERANCE)[0]}, repeats)
    return Target(
        f"{what}, joint coordinates, 5 s to 1e-9 m", 1e3 * float(took[""].min()), limit, "ms",
        f"tolerance {tolerance:.2g}, whose error at {OUTPUTS} times is {error:.1e} m; {evaluations()} evaluations, without "
        f"outputs; {1e3 * took['tight'].min():.3g} ms at a tolerance of {TOLERANCE:g}", 1e3 * float(np.median(took[""])),
    )  # fmt: skip


def long_run(quick: bool, say: Say) -> Iterator[Target]:
    """The free foot for hours at default settings: rows and energy."""
    duration = 0.01 * LONG if quick else LONG
    say(f"a run of {duration:g} s")
    times = np.linspace(0.0, duration, round(duration / EVERY) + 1)
    for ankle in ANKLES:
        run = succeeded(runtime.simulate(foot(ankle), duration, t_eval=times, progress=False), ankle)
        how = f"default settings, {duration:g} s, {len(times)} outputs"
        yield Target(
            f"{ankle} foot, long run, |Phi|", float(run.violation.max()), ROUNDING, "SI", f"{how}: largest row"
        )
        drift = float(np.abs(run.energy - run.energy[0]).max() / np.ptp(run.kinetic_energy))
        yield Target(
            f"{ankle} foot, long run, energy",
            drift,
            1e-7,
            "1",
            f"{how}: largest |E - E(0)| over the range of kinetic energy",
        )


def slider_crank() -> System:
    """Crank, rod and piston in the x-z plane; a ball joint between rod and piston, so that no row repeats others."""
    b = runtime.Builder("slider-crank", axes="global", gravity=(0.0, 0.0, -9.81))
    b.body("crank", mass=0.5, inertia=(1e-4, 5e-4, 5e-4), r=(0.05, 0, 0))
    b.body("rod", mass=0.8, inertia=(1e-4, 6e-3, 6e-3), r=(0.25, 0, 0))
    b.body("piston", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), r=(0.4, 0, 0))
    b.joint("bearing", "revolute", runtime.GROUND, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("crank_pin", "revolute", "crank", "rod", point=(0.1, 0, 0), axis=(0, 1, 0))
    b.joint("piston_pin", "spherical", "rod", "piston", point=(0.4, 0, 0))
    b.joint("guide", "translational", runtime.GROUND, "piston", point=(0.4, 0, 0), axis=(1, 0, 0))
    return b.build()


LOOPS = {
    "four-bar linkage": lambda: models.four_bar.build("revolute"),
    "planar slider-crank": slider_crank,
    "spatial slider-crank": lambda: model.build(problem.shipped("slider_crank_iftomm")),
    "Bricard's linkage": lambda: model.build(problem.shipped("bricard_brick")),
}

EMITTED = """
import json, sys
from benchmarks.targets.joints import LOOPS
from codegen.compiler import closed_tree, whole
system = LOOPS[sys.argv[1]]()
closed = system._trees.closed
print(json.dumps([closed_tree.emit_closed_tree(closed), whole.emit_model(system.model), len(closed.kinds)]))
"""  # in another process, because benchmarks may not import codegen


def loops(quick: bool, say: Say) -> Iterator[Target]:
    """Operations of closed loops of hinges and slides, with those of the solution of their rows."""
    say("joint coordinates: closed loops")
    for what in LOOPS:
        done = subprocess.run(
            [sys.executable, "-c", EMITTED, what], cwd=ROOT, capture_output=True, text=True, check=True
        )
        text, absolute_text, coordinates = json.loads(done.stdout)
        kernel, absolute = stated(text, "evaluate"), stated(absolute_text, "derivative")
        rows = len(re.findall(r"\(\d+, \d+\)", text.partition("ROWS = ")[2].partition("#")[0]))
        solution = solution_of_rows(rows, coordinates)
        yield Target(
            f"{what}, operations", kernel + solution, absolute / FEWER, "1",
            f"of one evaluation in joint coordinates, {kernel} of the kernel and {solution} of the refined solution of {rows} "
            f"rows, against a fifth of the {absolute} in absolute coordinates",
        )  # fmt: skip


def solution_of_rows(rows: int, coordinates: int) -> int:
    """Operations of a factorisation of the rows, two solutions, the residual between, and the accelerations that these add."""
    pairs = rows * (rows - 1) // 2
    factors = rows + sum(k + k * (k + 1) for k in range(rows))
    solutions = 2 * (4 * pairs + 2 * rows) + rows
    return factors + solutions + 2 * rows**2 + 2 * rows * coordinates


def stated(text: str, function: str) -> int:
    """Operations of a function, which the text of its module states."""
    found = re.search(r"(\d+) operations\.", text.partition(f"def {function}(")[2])
    assert found is not None
    return int(found[1])


def tolerance_of(system: System, times: Floats) -> tuple[float, float]:
    """The coarsest tolerance found whose error is at most ``ERROR``, and the error [m]."""
    reference, tolerance = exact(system, times), 1e-6
    while tolerance > 1e-14:
        run = runtime.simulate(
            system, times[-1], t_eval=times, rtol=tolerance, atol=tolerance, coordinates="joint", progress=False
        )
        error = position_error(succeeded(run, system.name), reference)
        if error <= ERROR:
            return tolerance, error
        tolerance *= FINER
    raise BenchmarkError(f"{system.name}: no tolerance in joint coordinates has an error of {ERROR:g} m")


def operations(system: System) -> int:
    """Operations of one evaluation by the kernel of a system's tree, as codegen has counted them.

    Raises
    ------
    BenchmarkError
        For a system without such a kernel.
    """
    module = module_of_tree(system)
    if module is None:
        raise BenchmarkError(f"{system.name}: it has no kernel in joint coordinates")
    kernel = module.evaluate if trees_of(system).closed is not None else module.derivative
    found = re.search(r"(\d+) operations\.", python_code(kernel).__doc__ or "")
    assert found is not None
    return int(found[1])
