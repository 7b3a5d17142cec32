"""A humanoid of MJCF that falls freely, contacts and stops off: Talus and MuJoCo's Runge-Kutta method at equal error."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import models
import runtime
from benchmarks.files.owners import MuJoCo
from benchmarks.files.states import Floats, random_sample, state_of
from models.files import Reading
from runtime.report import Table

WANTED = 1e-8  # [m] at the end
STEPS = (250, 500, 1000, 2000, 4000, 8000)  # of MuJoCo in 1 s
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
EXACT = 1e-13
SPEED = 0.5  # of the random rates
REPEATS = 5


def table_of(file: Path) -> Table:
    """The first setting of either program with an error below ``WANTED``, and its time."""
    reading = models.read(file, ignore="contacts,limits")
    assert isinstance(reading, Reading)
    system = reading.build()
    sample = random_sample(reading, np.random.default_rng(3))
    sample.u.update({name: SPEED * u for name, u in sample.u.items()})
    start = runtime.State(system.body_names, state_of(reading, system, sample))
    owner = MuJoCo(reading)
    owner.accelerations(sample)
    m = owner.model
    # Of bodies with mass merged into them, or taken from them, the centres differ.
    names = [n for n in system.body_names if n in {m.body(k).name for k in range(m.nbody)}]
    names = [n for n in names if abs(m.body_mass[m.body(n).id] - system.body(n).mass) < 1e-12 * system.body(n).mass]

    def own(tolerance: float) -> Floats:
        run = runtime.simulate(
            system, 1.0, initial=start, t_eval=[1.0], rtol=tolerance, atol=tolerance, coordinates="joint"
        )
        return np.array([run.r[n][-1] for n in names])

    exact = own(EXACT)
    rows = [
        ["Talus", *first_within(WANTED, [(f"tolerance {x:g}", lambda x=x: own(x)) for x in TOLERANCES], exact)],  # type: ignore[misc]
        ["MuJoCo, RK4", *first_within(WANTED, [(f"{n} steps", _by_mujoco(owner, names, n)) for n in STEPS], exact)],
    ]
    counts = f"{len(system.bodies)} bodies, {system.degrees_of_freedom} degrees of freedom"
    note = (
        f"{file.parent.name}/{file.name}, {counts}, 1 s from a random state without contacts and stops: the first setting with "
        f"an error of the centres of mass below {WANTED:g} m of a run with tolerance {EXACT:g}; the least of {REPEATS} times."
    )
    return Table(f"humanoid {file.parent.name}", ["program", "setting", "error [m]", "time [ms]"], rows, note)


def first_within(
    wanted: float, settings: list[tuple[str, Callable[[], Floats]]], exact: Floats
) -> tuple[str, float, float]:
    """The first setting that is exact enough, its error, and its time [ms] of one processor."""
    error, least, (label, run) = np.inf, np.inf, settings[0]
    for setting in settings:
        label, run = setting
        error = float(np.abs(run() - exact).max())
        if error < wanted:
            break
    for _ in range(REPEATS):
        begin = time.process_time()
        run()
        least = min(least, time.process_time() - begin)
    return label, error, 1e3 * least


def _by_mujoco(owner: MuJoCo, names: list[str], steps: int) -> Callable[[], Floats]:
    mujoco, m, d = owner.mujoco, owner.model, owner.data
    start = d.qpos.copy(), d.qvel.copy()
    bodies = [m.body(name).id for name in names]

    def run() -> Any:
        m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1.0 / steps
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = start
        mujoco.mj_step(m, d, nstep=steps)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        return d.xipos[bodies].copy()

    return run
