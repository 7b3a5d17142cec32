"""Questions about values of a system that no mechanism has, or that do not go with its other values: probably of another unit.

Each bound is one of nature or of materials, or compares a value with the other parts of the system by a factor that only a unit
explains; values that idealise (point masses, rods without mass, rotors without size) are not asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE, R
from runtime.support.arrays import Floats
from runtime.support.units import Usual, ask
from runtime.system.parts import GROUND, Body, Contact
from runtime.system.quantity import COORDINATES, quantities
from runtime.system.system import System

MOST_GRAVITY = 300.0  # [m/s^2] on the sun
TWO_TURNS = 13.0  # [rad]
TURN = 2.0 * np.pi  # [rad]
FASTEST = 1e6  # [m/s] twice as fast as what leaves the sun
FASTEST_RIM = 5e3  # [m/s] twice the speed at which rings of the strongest fibres burst
STIFFEST = 1e13  # [N/m], [N/m^1.5] a cube of diamond with edges of 10 m
HEAVIEST_MOVED = 1e10  # [kg] of a body that a joint connects: ten ships
LARGER = 500.0  # times the other bodies of a system
WIDER = 100.0  # radius of a contact, in lengths of the system
SLOWER = 2.5e4  # moment of inertia, in mass of the system times the largest distance of two points of a body squared
NO_UNIT = 1e5  # no unit explains such a ratio of two lengths: one of them is due to rounding, or an eccentricity
DEEPER = 10.0  # penetration under the weight of the system, in radii of a contact


def ask_about_values(system: System, angles: Mapping[str, float], rates: Mapping[str, float]) -> None:
    """Warn of values that the bodies, joints, forces and contacts of a system cannot have, in its reference configuration.

    ``angles``, ``rates``: coordinates of joints at the start, such as "ankle.theta_i".  Each question is a warning that names
    the value, the bound with its reason, and the unit in which it would be within.
    """
    ask(f"system '{system.name}': gravity", system.gravity, Usual(0.0, MOST_GRAVITY, "m/s^2", "gravity"))
    points = _points(system)
    # Largest distance of a point from the centre of mass of its body [m], by body; 0 where there is none.
    sizes = {body: max([float(np.linalg.norm(point)) for point in of], default=0.0) for body, of in points.items()}
    # And between two points of one body; that of one point from the centre of mass may be an eccentricity.
    spans = [float(np.linalg.norm(np.array(of) - a, axis=1).max()) for of in points.values() for a in of]
    extent, span = max(sizes.values(), default=0.0), max(spans, default=0.0)
    _ask_about_sizes(sizes)
    joined = {body for joint in system.joints for body in (joint.body_i, joint.body_j)}
    weight = sum(body.mass for body in system.bodies)
    speeds = {"v": system.state.v, "omega": system.state.omega}
    for body in system.bodies:
        what = f"body '{body.name}'"
        if body.name in joined:
            ask(f"{what}: mass", body.mass, Usual(0.0, HEAVIEST_MOVED, "kg", "the mass of a body on a joint"))
        inertia = float(np.abs(body.inertia).max())
        if inertia < weight * (NO_UNIT * span) ** 2:
            of = f"in a system of {weight:.3g} kg with {span:.3g} m between two points of a body a moment of inertia"
            ask(f"{what}: inertia", inertia, Usual(0.0, SLOWER * weight * span**2, "kg m^2", of))
        for part, values in speeds.items():
            ask_about_speed(body, part, values[body.name])
    for part, given in (("angle", angles), ("rate", rates)):
        ask_about_state(system, {f"{part}.{name}": value for name, value in given.items()})
    for quantity, value in quantities(system).values() if system.forces or system.motors else ():
        if quantity.unit in ("N/m", "N/m^1.5") and quantity.owner_sort in ("force", "motor"):
            bound = Usual(0.0, STIFFEST, quantity.unit, "the stiffness of a solid body")
            ask(f"{quantity.owner_sort} '{quantity.owner}': {quantity.part}", value, bound)
        if quantity.owner_sort == "force" and quantity.part in ("free_angle", "middle"):
            ask(
                f"force '{quantity.owner}': {quantity.part}",
                value,
                Usual(0.0, TWO_TURNS, "rad", "the angle of a spring"),
            )
    for contact in system.contacts:
        _ask_about_contact(system, contact, extent, weight)


def ask_about_state(system: System, values: Mapping[str, Any]) -> None:
    """Warn of speeds among named quantities, such as "v.leg" and "rate.ankle.theta_i", and about angles "angle.ankle.theta_i"."""
    limited = {limit.joint for limit in system.limits}
    for name, value in values.items():
        part, _, owner = name.partition(".")
        if part in ("v", "omega") and owner in system.body_names:
            ask_about_speed(system.body(owner), part, value)
        joint, _, column = owner.rpartition(".")
        if part not in COORDINATES or column not in getattr(system.joint_motions.get(joint), "units", ()):
            continue
        what, turns = f"{part} '{owner}'", system.joint_motions[joint].units[column] == "rad"
        if part == "rate":
            ends = system.joint_motions[joint].joint
            body = ends.body_i if ends.body_j == GROUND else ends.body_j
            ask_about_speed(system.body(body), "omega" if turns else "v", value, what)
        elif turns and joint in limited:
            ask(
                what, value, Usual(0.0, TURN, "rad", f"with a limit of motion an angle of joint '{joint}' at the start")
            )
        elif turns:
            ask(what, value, Usual(0.0, TWO_TURNS, "rad", "an angle at the start"))


def ask_about_speed(body: Body, part: str, value: Any, what: str = "") -> None:
    """Warn of a velocity ("v") or angular velocity ("omega") with which no body moves, or at which it would burst.

    ``what``: the value, for the question; default: this part of the state of the body.
    """
    if part == "v":
        ask(what or f"body '{body.name}': v", value, Usual(0.0, FASTEST, "m/s", "the speed of a body"))
        return
    gyration = float(np.sqrt(np.abs(body.inertia).max() / body.mass))
    if gyration > 0.0:
        of = f"at a radius of gyration of {gyration:.3g} m no material holds together beyond that; the angular velocity of a body"
        ask(what or f"body '{body.name}': omega", value, Usual(0.0, FASTEST_RIM / gyration, "rad/s", of))


def _points(system: System) -> dict[str, list[Floats]]:
    """By body the points of joints, contacts and forces that are fixed in it (3,)."""
    found: dict[str, list[Floats]] = {name: [] for name in (*system.body_names, GROUND)}
    of_joints = [((joint.body_i, joint.body_j), joint.values) for joint in system.joints]
    for ends, values in [*of_joints, *((force.ends, force.values) for force in system.forces)]:
        for key, point in values.items():
            if key.startswith("s_"):
                found[ends["ijkl".index(key[-1])]].append(point)
    for contact in system.contacts:
        found[contact.body].append(contact.values["s_i"])
    return {body: points for body, points in found.items() if body != GROUND}


def _ask_about_sizes(sizes: Mapping[str, float]) -> None:
    """Warn of a body whose points are much farther apart than those of all others, of which there are two at least."""
    first, second, third, *_ = [*sorted(sizes, key=lambda body: -sizes[body]), "", "", ""]
    if third and sizes[third] * NO_UNIT > sizes[first]:
        of = f"with the points of the other bodies up to {sizes[second]:.3g} m from the centre of mass, that of a point of it"
        ask(f"body '{first}': distance", sizes[first], Usual(0.0, LARGER * sizes[second], "m", of))


def _ask_about_contact(system: System, contact: Contact, extent: float, mass: float) -> None:
    """Warn of a radius, and about a stiffness that no solid has, or that does not carry the system."""
    what, radius, law = f"contact '{contact.name}'", float(contact.values["radius"]), contact.parameters
    normal, point = contact.values["n_j"], contact.values["s_j"]
    if contact.plane == GROUND:
        start = system.body_names.index(contact.body) * STATE + R
        extent = max(extent, abs(float((system.state.y[start : start + 3] - point) @ normal)))
    if extent * NO_UNIT > radius:
        of = f"in a system of {extent:.3g} m the radius of a contact"
        ask(f"{what}: radius", radius, Usual(0.0, WIDER * extent, "m", of))
    stiffness, exponent = law["stiffness"], law.get("exponent", 1.5)
    unit = {1.0: "N/m", 1.5: "N/m^1.5"}.get(exponent, f"N/m^{exponent:g}")
    if exponent <= 1.5:
        ask(f"{what}: stiffness", stiffness, Usual(0.0, STIFFEST, unit, "the stiffness of a solid body"))
    upright = (
        contact.plane == GROUND and float(normal @ -system.gravity) > 0.5 * float(np.linalg.norm(system.gravity)) > 0.0
    )
    if upright and contact.body in system.body_names and radius > 0.0:
        pressed = (DEEPER * radius) ** exponent
        weight = mass * float(np.linalg.norm(system.gravity))
        least = weight / pressed if pressed > 0.0 else np.inf  # of a radius that is not 0, but whose power is
        of = f"below that the weight of {weight:.3g} N presses it in by {DEEPER:g} radii; the stiffness of this contact"
        ask(f"{what}: stiffness", stiffness, Usual(least, np.inf, unit, of))
