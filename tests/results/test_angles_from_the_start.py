"""Angles follow from the start of a run where its first output is later, and on the other side of half a turn."""

import pickle

import numpy as np
import pytest

import runtime
from runtime import GROUND, Builder, Cone

NAME, T_END, TIMES = "angle.bearing.angle", 0.1, [0.02, 0.05, 0.1]
FINE, AT = np.linspace(0.0, T_END, 101), [20, 50, 100]
EXACT = dict(rtol=1e-10, atol=1e-10)


def rotor(*, load=True, ball=False, twice=False, limit=False):
    """A body on a hinge that passes half a turn soon; perhaps a ball on it, a second hinge, or a limit that hardly acts."""
    b = Builder("rotor", axes="global")
    b.body("rotor", mass=1.0, inertia=(0.02, 0.02, 0.02), r=(0.0, 0.0, -0.5))
    for name in ["bearing", "second"][: 1 + twice]:
        b.joint(name, "revolute", GROUND, "rotor", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    b.initial_coordinates("bearing", angle=3.0, rates={"angle": 10.0})
    if load:
        b.load("push", "rotor", force=(1.0, 0.0, 0.0))
    if ball:
        b.body("ball", mass=0.1, inertia=(0.02, 0.02, 0.02), r=(0.0, 0.0, -1.5))
        b.joint("socket", "spherical", "rotor", "ball", point=(0.0, 0.0, -1.0))
        b.initial_coordinates("socket", orientation_x=3.0, rates={"orientation_x": 10.0})
    if limit:
        cone = Cone.from_degrees([0, 90, 180, 270, 360], [30, 40, 25, 35, 30])
        frame = dict(reference=GROUND, xi=(1, 0, 0), eta=(0, -1, 0))
        b.limit("stop", "bearing", **frame, cone=cone, max_moment=1e-9, compliance=0.2)
    return b.build()


def of_case(angles, case):
    return {name: {part: values[case] for part, values in own.values.items()} for name, own in angles.items()}


def vectors(angles):
    return np.stack([angles["socket"][f"orientation_{axis}"] for axis in "xyz"], axis=-1)


@pytest.mark.parametrize("coordinates", ["auto", "absolute", "joint"])
def test_turns_and_rotation_vectors_of_runs_and_ensembles(tmp_path, coordinates):
    system, how = rotor(ball=True), dict(coordinates=coordinates, **EXACT)
    fine = runtime.simulate(system, T_END, t_eval=FINE, **how).angles
    angle, vector = fine["bearing"].angle[AT], vectors(fine)[AT]
    assert angle[0] > np.pi and np.linalg.norm(vector, axis=1).min() > np.pi
    how["t_eval"] = TIMES
    run, cases = runtime.simulate(system, T_END, **how), {"mass.ball": [0.1, 0.1]}
    many = runtime.simulate_many(system, cases, T_END, **how)
    written = runtime.simulate_many(system, cases, T_END, out=tmp_path / "many", **how)
    ensembles = many, written, pickle.loads(pickle.dumps(many))
    runs = run, pickle.loads(pickle.dumps(run)), many[1]
    for found in [*(one.angles for one in runs), *(of_case(one.angles, 1) for one in ensembles)]:
        assert found["bearing"]["angle"] == pytest.approx(angle, abs=1e-7)
        assert vectors(found) == pytest.approx(vector, abs=1e-7)
    part = "angle.socket.orientation_x"
    for more in ([], ["reaction_force.bearing"]):
        kept = runtime.simulate_many(system, cases, T_END, outputs=[NAME, part, *more], **how)
        assert kept[NAME][1] == pytest.approx(angle, abs=1e-7)
        assert kept[part][1] == pytest.approx(vector[:, 0], abs=1e-7)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_single_runs_in_absolute_coordinates(method):
    system, how = rotor(load=False), dict(coordinates="absolute", method=method, t_eval=TIMES, **EXACT)
    fine = runtime.simulate(system, T_END, t_eval=FINE, **EXACT).angles["bearing"].angle[AT]
    cases = {"rate.bearing.angle": [1.0, 10.0]}
    many = runtime.simulate_many(system, cases, T_END, **how)
    assert not many.vectorised.any() and many.angles["bearing"].angle[1] == pytest.approx(fine, abs=1e-6)
    kept = [numbers.tolist() for chunk in many._states for numbers, _ in chunk.starts]
    assert kept == [[1]]  # the other case does not come to half a turn before its first output
    outputs = runtime.simulate_many(system, cases, T_END, outputs=[NAME], **how)
    assert outputs[NAME][1] == pytest.approx(fine, abs=1e-6)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_a_joint_that_closes_a_loop(coordinates):
    system, how = rotor(twice=True), dict(coordinates=coordinates, t_eval=TIMES, **EXACT)
    run = runtime.simulate(system, T_END, **how)
    many = runtime.simulate_many(system, {"mass.rotor": [1.0, 1.0]}, T_END, **how)
    for found in (run.angles, of_case(many.angles, 1)):
        assert found["bearing"]["angle"][0] > np.pi
        assert found["second"]["angle"] == pytest.approx(found["bearing"]["angle"], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_the_angle_of_a_limit(coordinates):
    system, how = rotor(limit=True), dict(coordinates=coordinates, **EXACT)
    fine = runtime.simulate(system, T_END, t_eval=FINE, **how).limits["stop"].angle
    assert np.abs(fine[0]) < np.pi < np.abs(fine[AT]).min()
    late = runtime.simulate(system, T_END, t_eval=TIMES, **how).limits["stop"].angle
    outputs = ["limit_angle.stop"]
    many = runtime.simulate_many(system, {"mass.rotor": [1.0, 1.0]}, T_END, t_eval=TIMES, outputs=outputs, **how)
    for found in (late, many[outputs[0]][1]):
        assert found == pytest.approx(fine[AT], abs=1e-7)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_sensitivities(coordinates):
    system = rotor()
    fine = runtime.simulate(system, T_END, t_eval=FINE, **EXACT).angles["bearing"].angle[AT]
    found = runtime.sensitivities(system, {"mass.rotor": 1.0}, T_END, t_eval=TIMES, coordinates=coordinates)
    assert found.motion["bearing"].angle == pytest.approx(fine, abs=1e-6)
