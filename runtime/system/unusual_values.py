"""Questions about values of a system that no mechanism has, or that do not go with its other values: probably of another unit.

Each bound is one of nature or of materials, or compares a value with the other parts of the system by a factor that only a unit
explains; values that idealise (point masses, rods without mass, rotors without size) are not asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.errors import warn
from runtime.support.units import GRAVITY, Usual, ask
from runtime.system.definitions import is_own
from runtime.system.muscle_paths import is_muscle, path_motion, points_within
from runtime.system.parts import GROUND, Body, Contact, Force
from runtime.system.quantity import COORDINATES, quantities
from runtime.system.reference import states_by_name
from runtime.system.system import System

MOST_GRAVITY = 300.0  # [m/s^2] on the sun
TWO_TURNS = 13.0  # [rad]
TURN = 2.0 * np.pi  # [rad]
FASTEST = 1e6  # [m/s] twice as fast as what leaves the sun
FASTEST_RIM = 5e3  # [m/s] twice the speed at which rings of the strongest fibres burst
STIFFEST = 1e13  # [N/m], [N/m^1.5] a cube of diamond with edges of 10 m
HEAVIEST_MOVED = 1e10  # [kg] of a body that a joint connects: ten ships
LARGER = 500.0  # times the other bodies of a system
WIDER = 100.0  # radius of a contact, in lengths of the system; lengths of a muscle, in that of its path
SLOWER = 2.5e4  # moment of inertia, in mass of the system times the largest distance of two points of a body squared
NO_UNIT = 1e5  # no unit explains such a ratio of two lengths: one of them is due to rounding, or an eccentricity
SLOWEST_REFLEX = 5.0  # [s] a hundred times that of a stretch reflex, and less than any in milliseconds
FRAME = ("xi", "eta", "zeta")  # axes of a body, along which tables move the points of paths
STRONGER = 2e3  # maximum isometric force of a muscle, in weights of the system
SLOWEST_MUSCLE = 1.0  # [s] ten times the slowest deactivation
LENGTHS = "optimal_fiber_length", "tendon_slack_length"
DEEPER = 10.0  # penetration under the weight of the system, in radii of a contact
Question = tuple[str, Any, Usual]  # the subject, its value, and the values that it can have


def ask_about_values(system: System, angles: Mapping[str, float], rates: Mapping[str, float]) -> None:
    """Warn of values that the bodies, joints, forces and contacts of a system cannot have, in its reference configuration.

    ``angles``, ``rates``: coordinates of joints at the start, such as "ankle.theta_i".  Each question is a warning that names
    the value, the bound with its reason, and the unit in which it would be within.
    """
    points = _points(system)
    # Largest distance of a point from the centre of mass of its body [m], by body; 0 where there is none.
    sizes = {body: max([float(np.linalg.norm(point)) for point in of], default=0.0) for body, of in points.items()}
    # And between two points of one body; that of one point from the centre of mass may be an eccentricity.
    spans = [float(np.linalg.norm(np.array(of) - a, axis=1).max()) for of in points.values() for a in of]
    weight = sum(body.mass for body in system.bodies)
    ask(f"system '{system.name}': gravity", system.gravity, Usual(0.0, MOST_GRAVITY, "m/s^2", "gravity"))
    for one in (*_of_bodies(system, sizes, max(spans, default=0.0), weight), *_of_parameters(system)):
        ask(*one)
    speeds = {"v": system.state.v, "omega": system.state.omega}
    starts: dict[str, Any] = {f"{part}.{body}": value for part, of in speeds.items() for body, value in of.items()}
    starts |= {
        f"{part}.{name}": v for part, of in zip(COORDINATES, (angles, rates), strict=True) for name, v in of.items()
    }
    ask_about_state(system, starts)
    for muscle in (force for force in system.forces if is_muscle(force)):
        for one in _of_muscle(system, muscle, weight):
            ask(*one)
    for contact in system.contacts:
        for one in _of_contact(system, contact, max(sizes.values(), default=0.0), weight):
            ask(*one)


def _of_bodies(system: System, sizes: Mapping[str, float], span: float, weight: float) -> Iterator[Question]:
    """On distances of points, masses of bodies on joints, and inertias."""
    first, second, third, *_ = [*sorted(sizes, key=lambda body: -sizes[body]), "", "", ""]
    if third and sizes[third] * NO_UNIT > sizes[first]:
        of = f"with the points of the other bodies up to {sizes[second]:.3g} m from the centre of mass, that of a point of it"
        yield f"body '{first}': distance", sizes[first], Usual(0.0, LARGER * sizes[second], "m", of)
    joined = {body for joint in system.joints for body in (joint.body_i, joint.body_j)}
    of = f"in a system of {weight:.3g} kg with {span:.3g} m between two points of a body a moment of inertia"
    for body in system.bodies:
        if body.name in joined:
            yield (
                f"body '{body.name}': mass",
                body.mass,
                Usual(0.0, HEAVIEST_MOVED, "kg", "the mass of a body on a joint"),
            )
        if (inertia := float(np.abs(body.inertia).max())) < weight * (NO_UNIT * span) ** 2:
            yield f"body '{body.name}': inertia", inertia, Usual(0.0, SLOWER * weight * span**2, "kg m^2", of)


def _of_parameters(system: System) -> Iterator[Question]:
    """On stiffnesses of forces and motors, and angles of springs."""
    for quantity, value in quantities(system).values() if system.forces or system.motors else ():
        what = f"{quantity.owner_sort} '{quantity.owner}': {quantity.part}"
        if quantity.unit in ("N/m", "N/m^1.5") and quantity.owner_sort in ("force", "motor"):
            yield what, value, Usual(0.0, STIFFEST, quantity.unit, "the stiffness of a solid body")
        if quantity.owner_sort == "force" and quantity.unit == "rad":
            yield what, value, Usual(0.0, TWO_TURNS, "rad", "the angle of a spring")


def _of_muscle(system: System, muscle: Force, mass: float) -> Iterator[Question]:
    """On a muscle's force by the weight of the system, its lengths by that of its path at the start, and its time constants."""
    y = system.state.y
    length = float(path_motion(muscle, states_by_name(y[None], system.body_names))[0, 0])
    for point, distance, radius in points_within(muscle, states_by_name(y, system.body_names)):
        warn(
            f"muscle '{muscle.name}': point {point} of its path lies within a wrap, {distance:.4g} m from the axis, radius "
            f"{radius:.4g} m; the path is straight while it does"
        )
    of_law = [float(muscle.values[part]) for part in LENGTHS if part in muscle.values]
    if len(of_law) == len(LENGTHS):
        by = f"with a fibre and a tendon of {sum(of_law):.3g} m the path of a muscle"
        yield f"muscle '{muscle.name}': length of its path", length, Usual(0.0, WIDER * sum(of_law), "m", by)
    for part in (part for part in muscle.module.TABLES if part.partition("_")[0] in FRAME):
        angles, places = np.array(muscle.values[part])[:, :2].T
        yield f"muscle '{muscle.name}': an angle of {part}", angles, Usual(0.0, TWO_TURNS, "rad", "an angle of a joint")
        moves = Usual(0.0, sum(of_law) or length, "m", "the way of a point of a muscle")
        yield f"muscle '{muscle.name}': a place of {part}", places, moves
    if "delay" in muscle.values:
        slowest = Usual(0.0, SLOWEST_REFLEX, "s", "the delay of a reflex")
        yield f"muscle '{muscle.name}': delay", muscle.values["delay"], slowest
    for part, unit in muscle.module.PARAMETERS:
        if (part, unit) == ("max_isometric_force", "N"):
            by = f"in a system of {mass:.3g} kg the maximum isometric force of a muscle"
            of = Usual(mass * GRAVITY / LARGER, mass * GRAVITY * STRONGER, unit, by)
            yield f"muscle '{muscle.name}': {part}", muscle.values[part], of
        if part.endswith("_time_constant"):
            slowest = Usual(0.0, SLOWEST_MUSCLE, "s", "a time constant of a muscle")
            yield f"muscle '{muscle.name}': {part}", muscle.values[part], slowest
    for part, unit in muscle.module.PARAMETERS:
        if unit == "m" and part.removesuffix("_0") not in muscle.settled:
            of = Usual(0.0, WIDER * length, unit, f"with a path of {length:.3g} m a length of the muscle")
            yield f"muscle '{muscle.name}': {part}", muscle.values[part], of


def ask_about_state(system: System, values: Mapping[str, Any]) -> None:
    """Warn of speeds among named quantities, such as "v.leg" and "rate.ankle.theta_i", and about angles "angle.ankle.theta_i"."""
    limited = {limit.joint for limit in system.limits}
    for name, value in values.items():
        part, _, owner = name.partition(".")
        if part in ("v", "omega") and owner in system.body_names:
            ask(f"body '{owner}': {part}", value, _of_speed(system.body(owner), part == "omega"))
        joint, _, column = owner.rpartition(".")
        if part not in COORDINATES or column not in getattr(system.joint_motions.get(joint), "units", ()):
            continue
        turns, ends = system.joint_motions[joint].units[column] == "rad", system.joint(joint)
        if part == "rate":
            body = system.body(ends.body_i if ends.body_j == GROUND else ends.body_j)
            ask(f"{part} '{owner}'", value, _of_speed(body, turns))
        elif turns:
            of_limited = Usual(0.0, TURN, "rad", f"with a joint limit, an angle of joint '{joint}' at the start")
            of_others = Usual(0.0, TWO_TURNS, "rad", "an angle at the start")
            ask(f"{part} '{owner}'", value, of_limited if joint in limited else of_others)


def _of_speed(body: Body, turns: bool) -> Usual:
    """The velocities with which a body can move, or the angular velocities at which it does not burst."""
    if not turns:
        return Usual(0.0, FASTEST, "m/s", "the speed of a body")
    gyration = float(np.sqrt(np.abs(body.inertia).max() / body.mass))
    of = f"at a radius of gyration of {gyration:.3g} m no material holds together beyond that; the angular velocity of a body"
    return Usual(0.0, FASTEST_RIM / gyration if gyration > 0.0 else np.inf, "rad/s", of)


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


def _of_contact(system: System, contact: Contact, extent: float, mass: float) -> Iterator[Question]:
    """On a radius, and a stiffness that no solid has, or that does not carry the system."""
    what, radius, law = f"contact '{contact.name}'", float(contact.values["radius"]), contact.parameters
    normal, on_ground, gravity = contact.values["n_j"], contact.plane == GROUND, float(np.linalg.norm(system.gravity))
    if on_ground:
        extent = max(extent, abs(float((system.state.r[contact.body] - contact.values["s_j"]) @ normal)))
    if extent * NO_UNIT > radius:
        yield (
            f"{what}: radius",
            radius,
            Usual(0.0, WIDER * extent, "m", f"in a system of {extent:.3g} m the radius of a contact"),
        )
    if is_own(contact.law_module):  # the meaning and the unit of its parameters are the user's
        return
    stiffness, exponent = law["stiffness"], law.get("exponent", 1.5)
    unit = {1.0: "N/m", 1.5: "N/m^1.5"}.get(exponent, f"N/m^{exponent:g}")
    if exponent <= 1.5:
        yield f"{what}: stiffness", stiffness, Usual(0.0, STIFFEST, unit, "the stiffness of a solid body")
    if on_ground and float(normal @ -system.gravity) > 0.5 * gravity > 0.0 and radius > 0.0:
        pressed, weight = (DEEPER * radius) ** exponent, mass * gravity
        least = weight / pressed if pressed > 0.0 else np.inf  # of a radius that is not 0, but whose power is
        of = f"below that the weight of {weight:.3g} N presses it in by {DEEPER:g} radii; the stiffness of this contact"
        yield f"{what}: stiffness", stiffness, Usual(least, np.inf, unit, of)
