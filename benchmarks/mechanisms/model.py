"""A problem as a system of Talus."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import BenchmarkError
from benchmarks.mechanisms.forces import ELEMENTS, Data, Place, Places
from benchmarks.mechanisms.problem import Problem
from runtime import Builder, Signal, System
from runtime.system.reference import rotation_matrix

GROUND = "ground"
# Names of the joints' definitions in Talus, and the vectors that each takes from the file: point or axis, by argument.
JOINTS: dict[str, tuple[str, dict[str, str]]] = {
    "revolute": ("revolute", {"s_i": "point", "s_j": "point", "a_i": "axis", "a_j": "axis"}),
    "cylindrical": ("cylindrical", {"s_i": "point", "s_j": "point", "a_i": "axis", "a_j": "axis"}),
    "prismatic": ("translational", {"s_i": "point", "s_j": "point", "a_i": "axis", "a_j": "axis"}),
    "spherical": ("spherical", {"s_i": "point", "s_j": "point"}),
    "universal": ("universal", {"s_i": "point", "s_j": "point", "a_i": "axis_i", "a_j": "axis_j"}),
    "distance": ("constant_distance", {"s_i": "point_i", "s_j": "point_j"}),
    "inline": ("point_on_line", {"s_i": "point_i", "s_j": "point_j", "a_i": "axis"}),
}


def places(problem: Problem) -> Places:
    """The initial places of the bodies and of the ground."""
    found = {GROUND: Place(np.zeros(3), np.eye(3))}
    for name, body in problem.data["bodies"].items():
        p = np.array(body["p0"], float)
        found[name] = Place(np.array(body["r0"], float), rotation_matrix(p / np.linalg.norm(p)))
    return found


def build(problem: Problem) -> System:
    """The system of a problem.

    Raises
    ------
    BenchmarkError
        For a type of joint or force that is not known.
    ModelError, AssemblyError
    """
    data, where = problem.data, places(problem)
    b = Builder(problem.name, gravity=data["gravity"])
    for name, body in data["bodies"].items():
        b.body(
            name, mass=body["mass"], inertia=body["inertia"], r=body["r0"], p=body["p0"], v=body["v0"], omega=body["w0"],
            free=True,
        )  # fmt: skip
    for joint in data["joints"]:
        _add_joint(b, joint, where)
    for force in data["forces"]:
        _known(force, ELEMENTS).add(b, force, where)
    for driver in data.get("drivers", ()):
        _add_driver(b, driver, where, float(data["t_end"]))
    return b.build(redundant="remove" if data.get("redundant_constraints") else "refuse")


def _known(item: Data, kinds: Any) -> Any:
    if item["type"] not in kinds:
        raise BenchmarkError(f"'{item['name']}': unknown type {item['type']!r}; known are {', '.join(kinds)}")
    return kinds[item["type"]]


def _add_joint(b: Builder, joint: Data, where: Places) -> None:
    kind, wanted = _known(joint, JOINTS)
    values: dict[str, Any] = {}
    for key, entry in wanted.items():
        place = where[joint[key[-1]]]
        given = joint[entry] if entry in joint else joint[entry[:-2]]  # a point of both bodies stands for that of each
        values[key] = place.point(given) if key.startswith("s") else place.direction(given)
    if kind == "constant_distance":
        values["l"] = joint["length"]
    b.joint(joint["name"], kind, joint["i"], joint["j"], **values)


def _add_driver(b: Builder, driver: Data, where: Places, t_end: float) -> None:
    """A driver n . (omega_j - omega_i) = rate on a hinge: its angle is the rate times the time."""
    i, j, axis = driver["i"], driver["j"], np.array(driver["axis"], float)
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    theta = Signal.samples([0.0, t_end], [0.0, driver["rate"] * t_end], [driver["rate"]] * 2, [0.0, 0.0])
    b.driver(
        driver["name"], "guided_angle", i, j, h_i=where[i].direction(axis), a_i=where[i].direction(across),
        b_j=where[j].direction(across), theta_t=theta,
    )  # fmt: skip
