"""Falls with muscles at constant excitations as OpenSim integrates them: a program for a Python with opensim 4.6.

    python tests/support/opensim_forward.py ../shared/opensim > tests/support/opensim_forward.json

made the reference digits of ``tests/models/files/test_muscles_of_files.py``, which need no opensim.  Muscles begin with the
excitation as their activation, in the equilibrium that OpenSim finds; the other ones exert no force.
"""

import json
import sys
from pathlib import Path

import opensim

# Time [s] and excitations by file: muscles of Millard et al., and of Thelen; last, those with conditional and moving points.
FALLS = {
    "gait10dof18musc.osim": (0.2, {"soleus_r": 0.3, "tib_ant_r": 0.2, "hamstrings_l": 0.4, "glut_max_r": 0.1}),
    "subject01.osim": (0.1, {"soleus_r": 0.3, "tib_ant_r": 0.2, "bifemlh_l": 0.4, "tib_post_l": 0.1, "ercspn_r": 0.2}),
    "landing/ToyLandingModel.osim": (
        0.2,
        {
            "grac_r": 0.5,
            "iliacus_r": 0.1,
            "psoas_r": 0.15,
            "rect_fem_r": 0.05,
            "vas_int_r": 0.02,
            "med_gas_r": 0.6,
            "lat_gas_r": 0.4,
            "bifemsh_r": 0.9,
        },
    ),
}
ACCURACY = 1e-10


def fall(file, end, excitations):
    """Excitations, tensions at the start and the end, and coordinates at the end."""
    model = opensim.Model(str(file))
    for own in (model.updControllerSet().get(k) for k in range(model.getControllerSet().getSize())):
        own.setEnabled(False)
    controller = opensim.PrescribedController()
    for muscle in (model.updMuscles().get(k) for k in range(model.getMuscles().getSize())):
        if muscle.getName() in excitations:
            controller.addActuator(muscle)
        else:
            muscle.set_appliesForce(False)
    for name, value in excitations.items():
        controller.prescribeControlForActuator(name, opensim.Constant(value))
    model.addController(controller)
    state = model.initSystem()
    muscles = {name: model.getMuscles().get(name) for name in excitations}
    for name, value in excitations.items():
        muscles[name].setActivation(state, value)
    model.equilibrateMuscles(state)
    found = {"excitations": excitations, "start": tensions(model, muscles, state)}
    manager = opensim.Manager(model)
    manager.setIntegratorAccuracy(ACCURACY)
    manager.initialize(state)
    state = manager.integrate(end)
    coordinates = (model.getCoordinateSet().get(k) for k in range(model.getCoordinateSet().getSize()))
    found |= {"t": end, "end": tensions(model, muscles, state)}
    return found | {"coordinates": {one.getName(): float(f"{one.getValue(state):.12g}") for one in coordinates}}


def tensions(model, muscles, state):
    """By muscle [N]."""
    model.realizeDynamics(state)
    return {name: float(f"{muscle.getTendonForce(state):.12g}") for name, muscle in muscles.items()}


if __name__ == "__main__":
    opensim.Logger.setLevelString("off")
    print(json.dumps({name: fall(Path(sys.argv[1]) / name, *how) for name, how in FALLS.items()}, indent=1))
