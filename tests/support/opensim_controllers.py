"""Controls of muscles as OpenSim computes them: a program for a Python with opensim 4.6, which no test needs.

    PYTHONPATH=. python tests/support/opensim_controllers.py ../shared/opensim/landing > tests/support/opensim_controllers.json

made the reference digits of ``tests/models/files/test_osim_controllers.py``, which need no opensim.  Both prescribed controllers
of the model are enabled, beside its reflexes.
"""

import json
import math
import random
import sys
from pathlib import Path

import opensim

from benchmarks.landing import opensim_process

END, RATES = 0.1, {"ankle_angle_r": 4.0, "subtalar_angle_r": -6.0, "pelvis_ty": -1.0}
PULLING = ("soleus_r", "tib_ant_r", "tib_post_r", "per_long_r", "ext_hal_r")
COORDINATES = (
    "pelvis_tilt", "pelvis_list", "pelvis_rotation", "pelvis_ty", "hip_flexion_r", "hip_adduction_r", "hip_rotation_r",
    "knee_angle_r", "ankle_angle_r", "subtalar_angle_r", "lumbar_extension", "lumbar_bending", "lumbar_rotation",
)  # fmt: skip
ENABLED = ("R-inverter-controls", "R-everter-controls")
# Landings by name: controllers that are enabled beside the reflexes, and whether both legs are free.
LANDINGS = {
    "as in the file": ((), False),
    "with co-activation": (ENABLED, False),
    "with both legs free": (ENABLED, True),
}
LANDING_TIMES = [round(0.3 + 0.0025 * k, 4) for k in range(61)]  # [s]
LANDING_ACCURACY = 1e-8
ANKLE = ("ankle_angle_r", "subtalar_angle_r")


def landing(file, enabled, free):
    """Angles of the right ankle [deg] of a landing with all muscles, which begin in equilibrium.

    Each sphere has a ``HuntCrossleyForce`` of its own: in one of several OpenSim leaves out all that follow a sphere that would
    pull.
    """
    model = opensim.Model(str(file))
    coordinates = [model.updCoordinateSet().get(k) for k in range(model.getCoordinateSet().getSize())]
    for one in coordinates if free else []:
        one.set_locked(one.getName().startswith(("platform", "mtp")))
    for name in enabled:
        model.updControllerSet().get(name).setEnabled(True)
    opensim_process.separate_spheres(opensim, model)
    state = model.initSystem()
    model.equilibrateMuscles(state)
    manager = opensim.Manager(model)
    manager.setWriteToStorage(False)
    manager.setIntegratorAccuracy(LANDING_ACCURACY)
    manager.initialize(state)
    found = {name: [] for name in ANKLE}
    for t in LANDING_TIMES:
        state = manager.integrate(t)
        for one in (one for one in coordinates if one.getName() in ANKLE):
            found[one.getName()].append(round(math.degrees(one.getValue(state)), 5))
    return {"enabled": enabled, "free": free, "t": LANDING_TIMES, "angles": found}


def fall(file):
    """Coordinates, activations and tensions after a fall with some rates at the start, by reflexes and co-activated evertors."""
    model = opensim.Model(str(file))
    model.updControllerSet().get(ENABLED[1]).setEnabled(True)
    muscles = [model.updMuscles().get(k) for k in range(model.getMuscles().getSize())]
    for muscle in muscles:
        muscle.set_appliesForce(muscle.getName() in PULLING)
    state = model.initSystem()
    model.equilibrateMuscles(state)  # at rest
    for name, rate in RATES.items():
        model.getCoordinateSet().get(name).setSpeedValue(state, rate)
    manager = opensim.Manager(model)
    manager.setIntegratorAccuracy(1e-10)
    manager.initialize(state)
    state = manager.integrate(END)
    model.realizeDynamics(state)
    of = {one.getName(): one for one in muscles if one.getName() in PULLING}
    found = {
        "activation": {name: one.getActivation(state) for name, one in of.items()},
        "tension": {name: one.getTendonForce(state) for name, one in of.items()},
        "coordinate": {name: model.getCoordinateSet().get(name).getValue(state) for name in COORDINATES},
    }  # fmt: skip
    return {"t": END, "rates": RATES} | {
        what: {name: float(f"{value:.12g}") for name, value in values.items()} for what, values in found.items()
    }


def main(file):
    """Values and rates of coordinates, and controls by muscle, in random states."""
    model, draw = opensim.Model(str(file)), random.Random(1)
    for name in ENABLED:
        model.updControllerSet().get(name).setEnabled(True)
    state, found = model.initSystem(), []
    for _ in range(4):
        values = {}
        for name in COORDINATES:
            one = model.getCoordinateSet().get(name)
            values[name] = round(one.getDefaultValue() + draw.uniform(-0.1, 0.1), 4), round(draw.uniform(-3, 3), 3)
            one.setValue(state, values[name][0], False)
            one.setSpeedValue(state, values[name][1])
        model.realizeDynamics(state)
        controls, muscles = (
            model.getControls(state),
            (model.getMuscles().get(k) for k in range(model.getMuscles().getSize())),
        )
        of = {muscle.getName(): float(f"{muscle.getControl(state):.12g}") for muscle in muscles}
        assert controls.size() >= len(of)
        found.append({"coordinates": values, "controls": of})
    landings = {name: landing(file, *how) for name, how in LANDINGS.items()}
    print(
        json.dumps({"fall": fall(file), "landings": landings, "controls": found})
        .replace('{"ankle', '\n{"ankle')
        .replace('{"coordinates"', '\n{"coordinates"')
        .replace('"controls"', '\n"controls"')
    )


if __name__ == "__main__":
    opensim.Logger.setLevelString("off")
    main(Path(sys.argv[1]) / "ToyLandingModel.osim")
