"""A process in which OpenSim integrates a model: lines of JSON with accuracy and times in, lines with positions out.

Its own process, since ``ezc3d`` and ``opensim`` cannot live in one.  Muscles and controllers are taken out.  With the argument
``separate`` each sphere gets a ``HuntCrossleyForce`` of its own.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any

CONTACT = "HuntCrossleyForce"
NUMBERS = ("Stiffness", "Dissipation", "StaticFriction", "DynamicFriction", "ViscousFriction", "TransitionVelocity")


def loaded(opensim: Any, file: str, separate: bool) -> Any:
    """The model without muscles and controllers."""
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(file)
    model.updControllerSet().setSize(0)
    forces = model.updForceSet()
    for k in reversed(range(forces.getSize())):
        if "Muscle" in forces.get(k).getConcreteClassName():
            forces.remove(k)
    if separate:
        separate_spheres(opensim, model)
    return model


def separate_spheres(opensim: Any, model: Any) -> None:
    """Give each sphere a force of its own, with the material of the one that it was in."""
    forces, shapes = model.updForceSet(), model.getContactGeometrySet()
    for k in reversed(range(forces.getSize())):
        if forces.get(k).getConcreteClassName() != CONTACT:
            continue
        whole = opensim.HuntCrossleyForce.safeDownCast(forces.get(k))
        name, values = whole.getName(), [getattr(whole, f"get{what}")() for what in NUMBERS]
        names = re.findall("<geometry>(.*)</geometry>", whole.dump())[0].split()  # Python has no other access
        planes = [one for one in names if shapes.get(one).getConcreteClassName() == "ContactHalfSpace"]
        forces.remove(k)
        for sphere in (one for one in names if one not in planes):
            own = opensim.HuntCrossleyForce()
            own.setName(f"{name}_{sphere}")
            for shape in (*planes, sphere):
                own.addGeometry(shape)
            for what, value in zip(NUMBERS, values, strict=True):
                getattr(own, f"set{what}")(value)
            model.addForce(own)


def integrated(opensim: Any, model: Any, accuracy: float, times: list[float]) -> dict[str, Any]:
    """Seconds of one run, and origins of all bodies at the times [m]."""
    start, bodies = model.initSystem(), model.getBodySet()
    names = [bodies.get(k).getName() for k in range(bodies.getSize())]
    begin = time.process_time()
    manager = opensim.Manager(model)
    manager.setWriteToStorage(False)
    manager.setIntegratorAccuracy(accuracy)
    manager.initialize(start)
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for t in times:
        state = manager.integrate(t)
        model.realizePosition(state)
        for k, name in enumerate(names):
            found[name].append([bodies.get(k).getPositionInGround(state)[c] for c in range(3)])
    return {"seconds": time.process_time() - begin, "positions": found}


def main() -> None:
    """Answer until the input ends."""
    import opensim

    model = loaded(opensim, sys.argv[1], "separate" in sys.argv[2:])
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(integrated(opensim, model, asked["accuracy"], asked["times"])), flush=True)


if __name__ == "__main__":
    main()
