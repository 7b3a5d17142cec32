"""A problem as a system of Talus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.measure import BenchmarkError
from benchmarks.mechanisms.forces import ELEMENTS, Data, Place, Places
from benchmarks.mechanisms.problem import Problem
from runtime import GROUND, Builder, Run, Signal, System
from runtime.support.arrays import Floats
from runtime.system.reference import rotation_matrix

PARALLEL = 1e-9  # angle [rad] below which axes count as parallel
TURNING = ("revolute", "cylindrical", "universal", "spherical")
SLOW = 1e-5  # of the rate of a driver: a larger difference is no error of the integration
# Names of the joints' definitions in Talus, and where the file has the vectors that are not named as in ``Builder.joint``.
JOINTS: dict[str, tuple[str, dict[str, str]]] = {
    "revolute": ("revolute", {"point": "point", "axis": "axis"}),
    "cylindrical": ("cylindrical", {"point": "point", "axis": "axis"}),
    "prismatic": ("translational", {"point": "point", "axis": "axis"}),
    "spherical": ("spherical", {"point": "point"}),
    "universal": ("universal", {"point": "point", "a_i": "axis_i", "a_j": "axis_j"}),
    "distance": ("constant_distance", {"s_i": "point_i", "s_j": "point_j", "l": "length"}),
    "inline": ("point_on_line", {"s_i": "point_i", "s_j": "point_j", "axis": "axis"}),
}


def build(problem: Problem) -> System:
    """The system of a problem.

    Raises
    ------
    BenchmarkError
        For a type of joint or force that is not known.
    ModelError
    """
    data = problem.data
    b = Builder(problem.name, gravity=data["gravity"], axes="global")
    for name, body in data["bodies"].items():
        with _named(name):
            b.body(
                name, mass=body["mass"], inertia=body["inertia"], r=body["r0"], p=body["p0"], v=body["v0"], omega=body["w0"],
                free=True,
            )  # fmt: skip
    for joint in data["joints"]:
        with _named(joint["name"]):
            kind, wanted = _known(joint, JOINTS)
            # One point may stand for that of each body.
            ends = {"point_i", "point_j"} - set(joint)
            values = {key: joint["point" if entry in ends else entry] for key, entry in wanted.items()}
            b.joint(joint["name"], kind, joint["i"], joint["j"], **values)
    for force in data["forces"]:
        with _named(force["name"]):
            _known(force, ELEMENTS).add(b, force, data)
    for driver in data.get("drivers", ()):
        with _named(driver["name"]):
            _add_driver(b, driver, data)
    return b.build()


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Name the part of a problem in which an entry is missing."""
    try:
        yield
    except KeyError as error:
        raise BenchmarkError(f"'{name}': lacks {error}; see conventions.md") from None


def _known(item: Data, kinds: Any) -> Any:
    if item["type"] not in kinds:
        raise BenchmarkError(f"'{item['name']}': unknown type {item['type']!r}; known are {', '.join(kinds)}")
    return kinds[item["type"]]


def _add_driver(b: Builder, driver: Data, data: Data) -> None:
    """A driver n . (omega_j - omega_i) = rate: the angle about n of a direction of body j is the rate times the time.

    Both agree where this direction, at right angles to n at the start, stays so: see ``driven_rates``.
    """
    rate, t_end, axis = driver["rate"], float(data["t_end"]), np.array(driver["axis"], float)
    across = _direction_across(driver, axis / np.linalg.norm(axis), data["joints"])
    theta = Signal.samples([0.0, t_end], [0.0, rate * t_end], [rate, rate], [0.0, 0.0])
    b.driver(
        driver["name"], "guided_angle", driver["i"], driver["j"], axis=axis, a_i=across, b_j=across, theta_t=theta
    )  # fmt: skip


def _direction_across(driver: Data, n: Floats, joints: Sequence[Data]) -> Floats:
    """A direction at right angles to the driver's axis n, that a joint of its two bodies keeps so."""
    across = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    for joint in joints:
        if {joint["i"], joint["j"]} != {driver["i"], driver["j"]} or joint["type"] not in TURNING:
            continue
        if joint["type"] == "universal":
            own, other = ("axis_i", "axis_j") if joint["i"] == driver["i"] else ("axis_j", "axis_i")
            axis, across = np.array(joint[own], float), np.array(joint[other], float)
        else:
            axis = np.array(joint.get("axis", np.zeros(3)), float)  # a ball has none
        if not np.linalg.norm(np.cross(n, axis)) < PARALLEL * abs(n @ axis):
            raise BenchmarkError(
                f"driver '{driver['name']}': its axis {n.round(6).tolist()} is no axis of the {joint['type']} joint "
                f"'{joint['name']}' that is fixed in body '{driver['i']}'; only rotations about such an axis are driven"
            )
    return across


def driven_rates(problem: Problem, run: Run) -> None:
    """Check that n . (omega_j - omega_i) of each driver is its rate.

    Raises
    ------
    BenchmarkError
        Where body j tilts against the driver's axis n, so that the rate is that of no angle.
    """
    where = places(problem)
    for driver in problem.data.get("drivers", ()):
        still = np.zeros((len(run.t), 3))
        w_i, w_j = (run.omega[name] if name != GROUND else still for name in (driver["i"], driver["j"]))
        n = run.rotations(driver["i"]) @ where[driver["i"]].direction(driver["axis"])
        rate = np.einsum("na,na->n", n, w_j - w_i)
        off = np.abs(rate - driver["rate"]).max(initial=0.0)
        if off > SLOW * max(1.0, abs(driver["rate"])):
            raise BenchmarkError(
                f"driver '{driver['name']}': n . (w_j - w_i) departs from {driver['rate']:g} rad/s by {off:.2g} rad/s, because "
                f"body '{driver['j']}' tilts against its axis; drive the rotation of a revolute or cylindrical joint"
            )


def places(problem: Problem) -> Places:
    """The initial places of the bodies and of the ground."""
    found = {GROUND: Place(np.zeros(3), np.eye(3))}
    for name, body in problem.data["bodies"].items():
        p = np.array(body["p0"], float)
        found[name] = Place(np.array(body["r0"], float), rotation_matrix(p / np.linalg.norm(p)))
    return found
