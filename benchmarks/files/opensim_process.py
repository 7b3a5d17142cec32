"""A process that asks OpenSim for accelerations: a line of JSON with coordinates and rates in, a line with accelerations out.

Its own process, since `ezc3d` and `opensim` cannot live in one.  Muscles and actuators are off, constraints are not enforced, and
what follows a coordinate by another function than a line keeps its value in the default pose, as in a reading without couplers.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def loaded(file: str) -> tuple[Any, Any, Any]:
    """Module, model and state, with what a reading leaves out switched off."""
    import opensim

    opensim.Logger.setLevelString("Off")
    model = opensim.Model(file)
    model.initSystem()
    _hold_splines(opensim, model)
    for k in range(model.getConstraintSet().getSize()):
        constraint = model.updConstraintSet().get(k)
        if constraint.getConcreteClassName() != "PointConstraint":
            constraint.set_isEnforced(False)
    for k in range(model.getForceSet().getSize()):
        force = model.updForceSet().get(k)
        if force.getConcreteClassName() != "SpringGeneralizedForce":
            force.set_appliesForce(False)
    return opensim, model, model.initSystem()


def _hold_splines(opensim: Any, model: Any) -> None:
    defaults = {c.getName(): c.getDefaultValue() for c in _coordinates(model)}
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
    for coordinate in _coordinates(model):
        name = coordinate.getName()
        if name in held and name not in kept:  # it would move nothing
            axis, value = held[name]
            axis.set_function(opensim.LinearFunction(1.0, value - defaults[name]))
            axis.setCoordinateNames(opensim.ArrayStr(name, 1))
            coordinate.set_locked(True)
    model.finalizeFromProperties()


def _coordinates(model: Any) -> list[Any]:
    found = model.updCoordinateSet()
    return [found.get(k) for k in range(found.getSize())]


def main() -> None:
    """Answer until the input ends; the word ``time`` asks for the time of one evaluation."""
    _, model, state = loaded(sys.argv[1])
    coordinates = {c.getName(): c for c in _coordinates(model)}
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
        for name, (q, u) in given.items():
            if not coordinates[name].getLocked(state):
                coordinates[name].setValue(state, q, False)
                coordinates[name].setSpeedValue(state, u)
        model.realizeAcceleration(state)
        print(json.dumps({name: coordinates[name].getAccelerationValue(state) for name in given}), flush=True)


if __name__ == "__main__":
    main()
