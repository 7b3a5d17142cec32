"""A problem as a system of Talus."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import BenchmarkError
from benchmarks.mechanisms.forces import ELEMENTS, Data, Place, Places
from benchmarks.mechanisms.problem import Problem
from runtime import GROUND, Builder, Signal, System
from runtime.system.reference import rotation_matrix

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
        b.body(
            name, mass=body["mass"], inertia=body["inertia"], r=body["r0"], p=body["p0"], v=body["v0"], omega=body["w0"],
            free=True,
        )  # fmt: skip
    for joint in data["joints"]:
        kind, wanted = _known(joint, JOINTS)
        # One point may stand for that of each body.
        values = {key: joint[entry if entry in joint else "point"] for key, entry in wanted.items()}
        b.joint(joint["name"], kind, joint["i"], joint["j"], **values)
    for force in data["forces"]:
        _known(force, ELEMENTS).add(b, force, data)
    for driver in data.get("drivers", ()):
        _add_driver(b, driver, float(data["t_end"]))
    return b.build()


def _known(item: Data, kinds: Any) -> Any:
    if item["type"] not in kinds:
        raise BenchmarkError(f"'{item['name']}': unknown type {item['type']!r}; known are {', '.join(kinds)}")
    return kinds[item["type"]]


def _add_driver(b: Builder, driver: Data, t_end: float) -> None:
    """A driver n . (omega_j - omega_i) = rate on a hinge: its angle is the rate times the time."""
    rate, axis = driver["rate"], np.array(driver["axis"], float)
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    theta = Signal.samples([0.0, t_end], [0.0, rate * t_end], [rate, rate], [0.0, 0.0])
    b.driver(
        driver["name"], "guided_angle", driver["i"], driver["j"], axis=axis, a_i=across, b_j=across, theta_t=theta
    )  # fmt: skip


def places(problem: Problem) -> Places:
    """The initial places of the bodies and of the ground."""
    found = {GROUND: Place(np.zeros(3), np.eye(3))}
    for name, body in problem.data["bodies"].items():
        p = np.array(body["p0"], float)
        found[name] = Place(np.array(body["r0"], float), rotation_matrix(p / np.linalg.norm(p)))
    return found
