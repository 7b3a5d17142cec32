"""A process that asks OpenSim for accelerations: a line of JSON with coordinates and rates in, a line with accelerations out.

Its own process, since `ezc3d` and `opensim` cannot live in one.  Muscles and actuators are off.  With the argument ``limits``
limits of coordinates act, with ``contacts`` contacts, with ``couplers`` couplers of coordinates are enforced; else what follows
a coordinate by another function than a line keeps its value in the default pose, as in a reading without couplers.  Other
constraints are not enforced but for points.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

BALLS = ("BallJoint", "FreeJoint", "EllipsoidJoint")
COUPLER, LIMIT = "CoordinateCouplerConstraint", "CoordinateLimitForce"
CONTACTS = ("HuntCrossleyForce", "SmoothSphereHalfSpaceForce")


def loaded(file: str, couplers: bool, limits: bool, contacts: bool) -> tuple[Any, Any, Any]:
    """Module, model and state, with what a reading leaves out switched off."""
    import opensim

    opensim.Logger.setLevelString("Off")
    model = opensim.Model(file)
    model.initSystem()
    if not couplers:
        _hold_splines(opensim, model)
    kept = {"PointConstraint", COUPLER if couplers else ""}
    for k in range(model.getConstraintSet().getSize()):
        constraint = model.updConstraintSet().get(k)
        if constraint.getConcreteClassName() not in kept:
            constraint.set_isEnforced(False)
    for k in range(model.getForceSet().getSize()):
        force = model.updForceSet().get(k)
        acting = {"SpringGeneralizedForce", "BushingForce", LIMIT if limits else "", *(CONTACTS if contacts else ())}
        if force.getConcreteClassName() not in acting:
            force.set_appliesForce(False)
    return opensim, model, model.initSystem()


def _hold_splines(opensim: Any, model: Any) -> None:
    defaults = {c.getName(): c.getDefaultValue() for c in coordinates_of(model)}
    held: dict[str, tuple[Any, float]] = {}
    kept: set[str] = set()
    for k in range(model.getJointSet().getSize()):
        joint = opensim.CustomJoint.safeDownCast(model.updJointSet().get(k))
        if joint is None:
            continue
        transform, moving = joint.upd_SpatialTransform(), set()
        for place in (0, 1, 2, 3, 4, 5):  # turns, then slides
            axis = transform.updTransformAxis(place)
            of_axis = axis.getCoordinateNamesInArray()
            names = [of_axis.get(n) for n in range(of_axis.getSize())]
            if not names:
                continue
            function = axis.get_function()
            line = opensim.LinearFunction.safeDownCast(function)
            slope = None if line is None else line.getSlope()
            if len(names) == 1 and slope in (1.0, -1.0) and names[0] not in moving:
                moving.add(names[0])
                kept.add(names[0])
                continue
            value = function.calcValue(opensim.Vector(1, defaults[names[0]]))
            axis.set_function(opensim.Constant(value))
            axis.setCoordinateNames(opensim.ArrayStr())
            held.setdefault(names[0], (axis, value))
    for coordinate in coordinates_of(model):
        name = coordinate.getName()
        if name in held and name not in kept:  # it would move nothing
            axis, value = held[name]
            axis.set_function(opensim.LinearFunction(1.0, value - defaults[name]))
            axis.setCoordinateNames(opensim.ArrayStr(name, 1))
            coordinate.set_locked(True)
    model.finalizeFromProperties()


def coordinates_of(model: Any) -> list[Any]:
    found = model.updCoordinateSet()
    return [found.get(k) for k in range(found.getSize())]


def balls_of(opensim: Any, model: Any) -> list[list[str]]:
    """The angles of joints whose rates are components of the angular velocity in axes of the parent's frame."""
    joints = [model.getJointSet().get(k) for k in range(model.getJointSet().getSize())]
    turning = [one for one in joints if one.getConcreteClassName() in BALLS]
    return [[one.get_coordinates(n).getName() for n in range(3)] for one in turning]


def turning(one: list[float], two: list[float], three: list[float]) -> tuple[Any, Any]:
    """W (3, 3) and w (3,) of body-fixed angles x, y, z with their rates: omega = W q', omega' = W q'' + w."""
    (a, da), (b, db), dc = one, two, three[1]
    sa, ca, sb, cb = np.sin(a), np.cos(a), np.sin(b), np.cos(b)
    W = np.array([[1.0, 0.0, sb], [0.0, ca, -sa * cb], [0.0, sa, ca * cb]])
    change = np.array([
        [0.0, 0.0, cb * db], [0.0, -sa * da, -ca * cb * da + sa * sb * db], [0.0, ca * da, -sa * cb * da - ca * sb * db],
    ])  # fmt: skip
    return W, change @ [da, db, dc]


def follow(opensim: Any, model: Any, coordinates: dict[str, Any], state: Any) -> None:
    """Put coordinates with couplers where these hold them."""
    for coupler, leaders in couplers_of(opensim, model, coordinates):
        function, at = coupler.getFunction(), opensim.Vector(len(leaders), 0.0)
        scale = opensim.PropertyHelper.getValueDouble(coupler.getPropertyByName("scale_factor"))
        for n, leader in enumerate(leaders):
            at.set(n, leader.getValue(state))
        rate = sum(slope_of(opensim, function, at, n) * leader.getSpeedValue(state) for n, leader in enumerate(leaders))
        follower = coordinates[coupler.getDependentCoordinateName()]
        follower.setValue(state, scale * function.calcValue(at), False)
        follower.setSpeedValue(state, scale * rate)


def couplers_of(opensim: Any, model: Any, coordinates: dict[str, Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Couplers with the coordinates that lead."""
    for k in range(model.getConstraintSet().getSize()):
        coupler = opensim.CoordinateCouplerConstraint.safeDownCast(model.getConstraintSet().get(k))
        if coupler is not None:
            names = coupler.getIndependentCoordinateNames()
            yield coupler, [coordinates[names.get(n)] for n in range(names.getSize())]


def slope_of(opensim: Any, function: Any, at: Any, *places: int) -> float:
    """A derivative of a function over the arguments at these places."""
    order = opensim.StdVectorInt()
    for place in places:
        order.append(place)
    return float(function.calcDerivative(order, at))


def put(
    opensim: Any, model: Any, coordinates: dict[str, Any], balls: list[list[str]], state: Any,
    given: dict[str, list[float]], couplers: bool,
) -> None:  # fmt: skip
    """Put coordinates and rates, which are derivatives of the coordinates, and what follows them."""
    rates = {name: u for name, (_, u) in given.items()}
    for ball in balls:
        W, _ = turning(*(given[name] for name in ball))
        rates |= dict(zip(ball, (W @ [rates[name] for name in ball]).tolist(), strict=True))
    for name, (q, _) in given.items():
        if not coordinates[name].getLocked(state):
            coordinates[name].setValue(state, q, False)
            coordinates[name].setSpeedValue(state, rates[name])
    if couplers:
        follow(opensim, model, coordinates, state)


def main() -> None:
    """Answer until the input ends; the word ``time`` asks for the time of one evaluation."""
    couplers, limits, contacts = (what in sys.argv[2:] for what in ("couplers", "limits", "contacts"))
    opensim, model, state = loaded(sys.argv[1], couplers, limits, contacts)
    coordinates = {c.getName(): c for c in coordinates_of(model)}
    balls = balls_of(opensim, model)
    print(json.dumps(list(coordinates)), flush=True)
    for line in sys.stdin:
        given = json.loads(line)
        if given == "time":
            times, one = [], next(iter(coordinates.values()))
            for _ in range(5):
                begin = time.perf_counter()
                for n in range(200):
                    one.setValue(state, 1e-6 * n, False)  # all is computed anew
                    model.realizeAcceleration(state)
                times.append((time.perf_counter() - begin) / 200)
            print(json.dumps(min(times)), flush=True)
            continue
        put(opensim, model, coordinates, balls, state, given, couplers)
        model.realizeAcceleration(state)
        found = {name: coordinates[name].getAccelerationValue(state) for name in given}
        for ball in balls:
            W, bias = turning(*(given[name] for name in ball))
            changes = np.linalg.solve(W, np.array([found[name] for name in ball]) - bias)
            found |= dict(zip(ball, changes.tolist(), strict=True))
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
