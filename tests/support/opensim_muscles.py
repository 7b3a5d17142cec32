"""Muscles of random constants as OpenSim computes them: a program for a Python with opensim 4.6, which no test needs.

    python tests/support/opensim_muscles.py 24 > tests/support/opensim_muscles.json

made the reference digits of ``tests/codegen/test_muscles.py``; 1000 in place of 24 were compared once, with the same bounds.
The path of each muscle is the coordinate of a slider.  Half of the muscles with an elastic tendon are in the equilibrium that
OpenSim finds, which for Millard2012EquilibriumMuscle is that of a fibre at rest, half of them away from it.  Where OpenSim finds
none, the sample is drawn again.
"""

import json
import math
import random
import sys

import opensim

# Beside OpenSim's defaults: constants of subject01.osim, of subject_walk_armless_18musc.osim, and of an undamped fibre.
CONSTANTS = {
    "thelen": dict(fmax_tendon_strain=0.033, kshape_active=0.5, kshape_passive=4.0, af=0.3, flen=1.8),
    "millard": dict(
        fiber_damping=0.01, min_norm_active_fiber_length=0.25, transition_norm_fiber_length=0.77,
        max_norm_active_fiber_length=1.9, shallow_ascending_slope=0.75,
    ),
    "undamped": dict(
        fiber_damping=0.0, minimum_value=0.1, concentric_slope_at_vmax=0.125, eccentric_slope_at_vmax=0.075
    ),
    "de_groote": dict(active_force_width_scale=1.5, tendon_strain_at_one_norm_force=0.07, fiber_damping=0.01),
}  # fmt: skip
KINDS = {
    "thelen": opensim.Thelen2003Muscle, "millard": opensim.Millard2012EquilibriumMuscle,
    "undamped": opensim.Millard2012EquilibriumMuscle, "de_groote": opensim.DeGrooteFregly2016Muscle,
}  # fmt: skip
PROPERTIES = {
    "fmax_tendon_strain": "FmaxTendonStrain", "kshape_active": "KshapeActive", "kshape_passive": "KshapePassive",
    "af": "Af", "flen": "Flen",
}  # fmt: skip
CURVES = {
    "ActiveForceLengthCurve": (
        "min_norm_active_fiber_length", "transition_norm_fiber_length", "max_norm_active_fiber_length",
        "shallow_ascending_slope", "minimum_value",
    ),
    "ForceVelocityCurve": ("concentric_slope_at_vmax", "eccentric_slope_at_vmax"),
}  # fmt: skip
GETTERS = {
    "tension": "getTendonForce", "fiber_length": "getFiberLength", "fiber_velocity": "getFiberVelocity",
    "pennation_angle": "getPennationAngle", "active_fiber_force": "getActiveFiberForce",
    "passive_fiber_force": "getPassiveFiberForce", "fiber_power": "getFiberActivePower",
    "energy": "getMusclePotentialEnergy",
}  # fmt: skip


class Draw(random.Random):
    """Random numbers of few digits."""

    def uniform(self, a, b):
        """A number between two."""
        return round(super().uniform(a, b), 5)


def model_of(law, constants, rigid):
    """A model whose coordinate is the length of the path of its only muscle."""
    model = opensim.Model()
    body = opensim.Body("body", 1.0, opensim.Vec3(0), opensim.Inertia(1, 1, 1))
    model.addBody(body)
    model.addJoint(opensim.SliderJoint("slider", model.getGround(), body))
    muscle = KINDS[law]()
    muscle.setName("muscle")
    muscle.addNewPathPoint("origin", model.getGround(), opensim.Vec3(0))
    muscle.addNewPathPoint("insertion", body, opensim.Vec3(0))
    for name, value in constants.items():
        curve = next((curve for curve, own in CURVES.items() if name in own), None)
        owner = getattr(muscle, f"upd_{curve}")() if curve else muscle
        opensim.PropertyHelper.setValueDouble(value, owner.updPropertyByName(PROPERTIES.get(name, name)))
    muscle.set_ignore_tendon_compliance(rigid and law != "thelen")  # which refuses it
    model.addForce(muscle)
    return model, model.initSystem()


def sample(law, own, rigid, draw):
    """Constants, inputs and results; None where OpenSim finds no equilibrium."""
    optimal, slack, fastest = draw.uniform(0.03, 0.15), draw.uniform(0.03, 0.4), draw.choice((10.0, 15.0))
    constants = dict(
        max_isometric_force=draw.uniform(200, 5000), optimal_fiber_length=optimal, tendon_slack_length=slack,
        pennation_angle_at_optimal=draw.choice((0.0, draw.uniform(0, 0.5))), max_contraction_velocity=fastest, **own,
    )  # fmt: skip
    inputs = dict(
        length=round(slack * draw.uniform(1.0, 1.03) + optimal * draw.uniform(0.5, 1.6), 6),
        length_dot=round(optimal * fastest * draw.uniform(-1.1, 1.1) * draw.choice((1.0, 0.2)), 5),
        excitation=draw.uniform(0.02, 1.0), activation=draw.uniform(0.01, 1.0),
    )  # fmt: skip
    model, state = model_of(law, constants, rigid)
    muscle = opensim.Muscle.safeDownCast(model.getMuscles().get(0))
    coordinate = model.getCoordinateSet().get(0)
    coordinate.setValue(state, inputs["length"])
    coordinate.setSpeedValue(state, inputs["length_dot"])
    muscle.setActivation(state, inputs["activation"])
    if rigid and law == "thelen":
        model.realizeVelocity(state)
        active = muscle.calcInextensibleTendonActiveFiberForce(state, inputs["activation"])
        return constants, inputs, {"active_tension": active}
    try:
        muscle.computeEquilibrium(state)
    except RuntimeError:
        return None
    states = ["activation"]
    if not rigid:
        states.append("normalized_tendon_force" if law == "de_groote" else "fiber_length")
        found = muscle.getStateVariableValue(state, states[1])
        away = draw.choice((0.0, draw.uniform(-1, 1)))
        found *= 1 + (0.3 * away if law == "de_groote" else 0.01 * slack / optimal * away)
        muscle.setStateVariableValue(state, states[1], found)
        inputs[states[1]] = muscle.getStateVariableValue(state, states[1])
    model.realizeVelocity(state)
    model.setControls(state, opensim.Vector(1, inputs["excitation"]))
    model.realizeAcceleration(state)
    results = {name: getattr(muscle, getter)(state) for name, getter in GETTERS.items()}
    results |= {f"rate of {name}": muscle.getStateVariableDerivativeValue(state, name) for name in states}
    results = {name: float(f"{value:.12g}") for name, value in results.items()}
    return (constants, inputs, results) if all(map(math.isfinite, results.values())) else None


def main(count):
    """Samples of every law, with an elastic and with a rigid tendon."""
    opensim.Logger.setLevelString("off")
    draw, found = Draw(1), {}
    for law, constants in CONSTANTS.items():
        for tendon in ("elastic", "rigid")[: 1 if law == "undamped" else 2]:
            rows = found[f"{law} {tendon}"] = []
            while len(rows) < count:
                own = constants if law == "undamped" else draw.choice(({}, constants))
                row = sample(law, own, tendon == "rigid", draw)
                rows += [row] if row else []
    print(json.dumps(found).replace("]], [", "]],\n[").replace("}], [", "}],\n["))


if __name__ == "__main__":
    main(int(sys.argv[1]))
