"""A fall with muscles at constant excitations as OpenSim integrates it: a program for a Python with opensim 4.6.

    python tests/support/opensim_forward.py ../shared/opensim/gait10dof18musc.osim > tests/support/opensim_forward.json

made the reference digits of ``tests/models/files/test_muscles_of_files.py``, which need no opensim.  Muscles begin with the
excitation as their activation, in the equilibrium that OpenSim finds.
"""

import json
import sys

import opensim

EXCITATIONS = {"soleus_r": 0.3, "tib_ant_r": 0.2, "hamstrings_l": 0.4, "glut_max_r": 0.1}
END, ACCURACY = 0.2, 1e-10


def main(file):
    """Excitations, tensions at the start and the end, and coordinates at the end."""
    opensim.Logger.setLevelString("off")
    model = opensim.Model(file)
    controller = opensim.PrescribedController()
    for muscle in (model.updMuscles().get(k) for k in range(model.getMuscles().getSize())):
        if muscle.getName() in EXCITATIONS:
            controller.addActuator(muscle)
        else:
            muscle.set_appliesForce(False)
    for name, value in EXCITATIONS.items():
        controller.prescribeControlForActuator(name, opensim.Constant(value))
    model.addController(controller)
    state = model.initSystem()
    muscles = {name: model.getMuscles().get(name) for name in EXCITATIONS}
    for name, value in EXCITATIONS.items():
        muscles[name].setActivation(state, value)
    model.equilibrateMuscles(state)
    found = {"excitations": EXCITATIONS, "start": tensions(model, muscles, state)}
    manager = opensim.Manager(model)
    manager.setIntegratorAccuracy(ACCURACY)
    manager.initialize(state)
    state = manager.integrate(END)
    coordinates = (model.getCoordinateSet().get(k) for k in range(model.getCoordinateSet().getSize()))
    found |= {"t": END, "end": tensions(model, muscles, state)}
    found["coordinates"] = {one.getName(): float(f"{one.getValue(state):.12g}") for one in coordinates}
    print(json.dumps(found, indent=1))


def tensions(model, muscles, state):
    """By muscle [N]."""
    model.realizeDynamics(state)
    return {name: float(f"{muscle.getTendonForce(state):.12g}") for name, muscle in muscles.items()}


if __name__ == "__main__":
    main(sys.argv[1])
