"""The columns of a reference, computed from a run: one function for each kind of column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.mechanisms.forces import ELEMENTS, Data, Places, point_motion
from benchmarks.mechanisms.model import places
from benchmarks.mechanisms.problem import Problem
from runtime import Run
from runtime.support.arrays import Floats

PROBLEM_SPECIFIC = "extra"  # columns that the file states in words only


def columns(problem: Problem, run: Run, wanted: Sequence[Data] | None = None) -> dict[str, Floats]:
    """Columns of a problem (n,) at the times of a run, by name: the wanted ones, or all but those of the kind "extra"."""
    where = places(problem)
    chosen = problem.columns if wanted is None else wanted
    return {
        c["name"]: np.asarray(KINDS[c["kind"]](problem, run, c, where)) for c in chosen if c["kind"] != PROBLEM_SPECIFIC
    }


def _local(c: Data) -> Floats:
    return np.array(c.get("local", (0.0, 0.0, 0.0)), float)


def _position(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    return point_motion(run, c["body"], _local(c))[0][:, c["comp"]]


def _velocity(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    return point_motion(run, c["body"], _local(c))[1][:, c["comp"]]


def _acceleration(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    body, arm = c["body"], run.rotations(c["body"]) @ _local(c)
    omega = run.omega[body]
    a = run.v_dot[body] + np.cross(run.omega_dot[body], arm) + np.cross(omega, np.cross(omega, arm))
    return a[:, c["comp"]]


def _body_omega(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    return np.einsum("na,na->n", run.rotations(c["body"])[:, :, c["comp"]], run.omega[c["body"]])


def _angle(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    """Angle about a fixed axis, unwrapped; zero where the body's vector has the direction of these global components."""
    axis = np.array(c["axis"], float) / np.linalg.norm(c["axis"])
    zero = np.array(c["ref"], float)
    x = zero - (zero @ axis) * axis
    now = run.rotations(c["body"]) @ zero
    angle = np.arctan2(now @ np.cross(axis, x), now @ x)
    # Between two times the rate tells the number of whole turns.
    rate = run.omega[c["body"]] @ axis
    turned = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(run.t))])
    return np.unwrap(angle - turned) + turned


def _on_body_j(problem: Problem, run: Run, c: Data) -> Any:
    (joint,) = (joint for joint in problem.data["joints"] if joint["name"] == c["joint"])
    return run.reaction(joint["name"], on=joint["j"])


def _reaction_force(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    return _on_body_j(problem, run, c).force[:, c["comp"]]


def _reaction_torque(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    return _on_body_j(problem, run, c).moment[:, c["comp"]]


def _reaction_norm(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    return np.linalg.norm(_on_body_j(problem, run, c).force, axis=1)


def _driver_torque(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    """Torque of a driver on body j about its axis, which is fixed in body i."""
    name = c.get("driver", c.get("joint"))
    (driver,) = (driver for driver in problem.data["drivers"] if driver["name"] == name)
    n = run.rotations(driver["i"]) @ where[driver["i"]].direction(driver["axis"])
    return np.einsum("na,na->n", n, run.reaction(driver["name"], on=driver["j"]).moment)


def _spring_force(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    (force,) = (force for force in problem.data["forces"] if force["name"] == c["force"])
    return ELEMENTS[force["type"]].tension(run, force, where)


def _energy(problem: Problem, run: Run, c: Data, where: Places) -> Floats:
    """Kinetic energy, potential energy of gravity, and energy of springs."""
    elements = [(ELEMENTS[force["type"]], force) for force in problem.data["forces"]]
    elastic = sum(e.energy(run, force, where) for e, force in elements if hasattr(e, "energy"))
    return run.kinetic_energy + run.potential_energy + elastic


KINDS: Mapping[str, Callable[[Problem, Run, Data, Places], Floats]] = {
    "pos": _position,
    "vel": _velocity,
    "acc": _acceleration,
    "quat": lambda problem, run, c, where: run.p[c["body"]][:, c["comp"]],
    "omega": lambda problem, run, c, where: run.omega[c["body"]][:, c["comp"]],
    "alpha": lambda problem, run, c, where: run.omega_dot[c["body"]][:, c["comp"]],
    "omega_body": _body_omega,
    "angle": _angle,
    "reac_force": _reaction_force,
    "reac_torque": _reaction_torque,
    "reac_force_norm": _reaction_norm,
    "driver": _driver_torque,
    "spring_force": _spring_force,
    "kinetic": lambda problem, run, c, where: run.kinetic_energy,
    "energy": _energy,
}
