"""The generic leg as OpenSim computes it: a program for a Python with opensim 4.6, which no test needs.

    python tests/support/opensim_generic_leg.py gait2392_thelen2003muscle.osim FOLDER > tests/support/opensim_generic_leg.json

made the reference digits of ``tests/models/walking/test_generic_muscles.py``.  The model is that of opensim-models.  FOLDER has
``leg.osim``, ``q.mot`` and ``grf.mot`` (force f_v, point f_p, moment m_) of a walk; its activations are those of OpenSim's static
optimisation with reserves of 1 N m where muscles act, and of 1e5 elsewhere.
"""

import json
import random
import sys
from pathlib import Path

import opensim

POSES, DIGITS = 4, 12
RANGES = {
    "hip_flexion_r": (-0.4, 0.9), "knee_angle_r": (-1.9, 0.1), "ankle_angle_r": (-0.6, 0.5), "subtalar_angle_r": (-0.4, 0.4),
    "mtp_angle_r": (-0.3, 0.6),
}  # fmt: skip
BY_MUSCLES = (
    "hip_flexion_r", "hip_adduction_r", "hip_rotation_r", "knee_angle_r", "ankle_angle_r", "subtalar_angle_r",
)  # fmt: skip
FRAMES = 10  # of the walk, of which one is kept


def paths(file):
    """Lengths and moment arms of the right leg at random poses; the first is the default one."""
    draw, model = random.Random(0), opensim.Model(str(file))
    state = model.initSystem()
    coordinates, found = model.getCoordinateSet(), []
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    skipped = ("ercspn_r", "intobl_r", "extobl_r")
    right = [one for one in muscles if one.getName().endswith("_r") and one.getName() not in skipped]
    for n in range(POSES):
        q = {name: round(draw.uniform(*ends), 4) if n else 0.0 for name, ends in RANGES.items()}
        for name, value in q.items():
            coordinates.get(name).setLocked(state, False)
            coordinates.get(name).setValue(state, value)
        model.realizePosition(state)
        arms = {
            one.getName(): [round(one.computeMomentArm(state, coordinates.get(name)), DIGITS) for name in RANGES]
            for one in right
        }
        found.append({"q": q, "length": {m.getName(): round(m.getLength(state), DIGITS) for m in right}, "arms": arms})
    return found


def activations(folder):
    """Activations of some frames of a walk."""
    model = opensim.Model(str(folder / "leg.osim"))
    coordinates = model.getCoordinateSet()
    for k in range(coordinates.getSize()):
        name = coordinates.get(k).getName()
        reserve = opensim.CoordinateActuator(name)
        reserve.setName(f"{name}_reserve")
        reserve.setOptimalForce(1.0 if name in BY_MUSCLES else 1e5)
        reserve.setMinControl(-1e4)
        reserve.setMaxControl(1e4)
        model.addForce(reserve)
    model.finalizeConnections()
    model.printToXML(str(folder / "with_reserves.osim"))
    force, loads = opensim.ExternalForce(), opensim.ExternalLoads()
    force.setName("grf")
    force.set_applied_to_body("calcn_r")
    force.set_force_identifier("f_v")
    force.set_point_identifier("f_p")
    force.set_torque_identifier("m_")
    force.set_data_source_name("grf.mot")
    loads.setDataFileName(str(folder / "grf.mot"))
    loads.cloneAndAppend(force)
    loads.printToXML(str(folder / "grf.xml"))
    optimum, tool = opensim.StaticOptimization(), opensim.AnalyzeTool()
    optimum.setConvergenceCriterion(1e-6)
    optimum.setMaxIterations(500)
    times = opensim.TimeSeriesTable(str(folder / "q.mot")).getIndependentColumn()
    for one, start, end in ((optimum, "setStartTime", "setEndTime"), (tool, "setStartTime", "setFinalTime")):
        getattr(one, start)(times[2])  # two frames of the motion lie beyond either end of the cycle
        getattr(one, end)(times[-3])
    tool.setName("leg")
    tool.setModelFilename(str(folder / "with_reserves.osim"))
    tool.setCoordinatesFileName(str(folder / "q.mot"))
    tool.setExternalLoadsFileName(str(folder / "grf.xml"))
    tool.setLowpassCutoffFrequency(-1.0)
    tool.setResultsDir(str(folder / "results"))
    tool.getAnalysisSet().cloneAndAppend(optimum)
    tool.printToXML(str(folder / "setup.xml"))
    opensim.AnalyzeTool(str(folder / "setup.xml")).run()
    found = opensim.TimeSeriesTable(str(folder / "results" / "leg_StaticOptimization_activation.sto"))
    names = [name for name in found.getColumnLabels() if not name.endswith("_reserve")]
    columns = {name: found.getDependentColumn(name) for name in names}
    kept = range(FRAMES // 2, found.getNumRows(), FRAMES)
    t = found.getIndependentColumn()
    return {"t": [t[n] for n in kept], "a": {name: [round(of[n], 5) for n in kept] for name, of in columns.items()}}


if __name__ == "__main__":
    opensim.Logger.setLevelString("off")
    print(json.dumps({"paths": paths(Path(sys.argv[1])), "walk": activations(Path(sys.argv[2]).resolve())}))
