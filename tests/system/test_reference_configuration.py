"""The reference configuration: where coordinates, springs and limits count from, whatever moves the bodies before the start."""

import numpy as np
import pytest

from runtime import Builder, Cone, Signal, System, simulate, simulate_many, with_parameters

CONE = Cone.from_degrees((0, 90, 180, 270, 360), (60, 1, 60, 1, 60))
TIMES = np.linspace(0.0, 0.5, 6)
ANGLE = 0.3 + 0.2 * np.sin(TIMES)


def driven(stiffness=10.0):
    """Two rods that hang in the reference pose; a driver turns the upper one from 0.3 rad on."""
    b = Builder("driven", axes="global")
    b.body("upper", mass=1.0, inertia=(0.02, 0.02, 0.01), r=(0, 0, -0.3))
    b.body("lower", mass=1.0, inertia=(0.02, 0.02, 0.01), r=(0, 0, -0.9))
    b.joint("hip", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("knee", "universal", "upper", "lower", point=(0, 0, -0.6), a_i=(1, 0, 0), a_j=(0, 1, 0))
    swing = Signal.function(lambda t: 0.3 + 0.2 * np.sin(t), 0.0, 0.5)
    b.driver("swing", "guided_angle", "ground", "upper", h_i=(0, 1, 0), a_i=(0, 0, -1), b_j=(0, 0, -1), theta_t=swing)
    b.force(
        "spring", "torsional_spring", "ground", "upper", a_i=(0, 1, 0), stiffness=stiffness, damping=0, free_angle=0
    )
    b.limit("stop", "hip", reference="ground", xi=(1, 0, 0), eta=(0, 1, 0), cone=CONE, max_moment=50, compliance=0.2)
    return b


def _file_of_system(system, tmp_path):
    system.to_file(tmp_path / "system.json")
    return Builder.from_file(tmp_path / "system.json").build()


@pytest.mark.parametrize(
    "change",
    [
        lambda system, folder: system,
        lambda system, folder: with_parameters(system, {"stiffness.spring": 11.0}),
        lambda system, folder: with_parameters(system, {"s_j.knee": (0.0, 0.0, 0.33)}),
        lambda system, folder: with_parameters(system, {"compliance.stop": 0.3}),
        _file_of_system,
    ],
    ids=["as built", "spring", "joint", "limit", "file"],
)
def test_a_driven_system_counts_from_the_given_pose(change, tmp_path):
    run = simulate(change(driven().build(), tmp_path), 0.5, t_eval=TIMES)
    for found in (run.angles["hip"].angle, run.limits["stop"].angle, run.forces["spring"].angle):
        assert found == pytest.approx(ANGLE, abs=1e-6)


def test_cases_of_a_driven_system_have_the_moment_of_its_spring():
    many = simulate_many(driven().build(), {"stiffness.spring": [10.0, 20.0]}, 0.5, outputs=["force_moment.spring"])
    assert many["force_moment.spring"][:, -1] == pytest.approx(-np.array([10.0, 20.0]) * ANGLE[-1], rel=1e-6)


def test_springs_of_bodies_of_first_guesses_are_free_where_assembly_places_these():
    b = Builder("guess", axes="global")
    b.body("base", mass=1.0, inertia=(0.02, 0.02, 0.01), r=(0, 0, -0.3))
    b.body(
        "rod", mass=1.0, inertia=(0.02, 0.02, 0.01), r=(0.1, 0, -0.8), p=(np.cos(0.1), 0, np.sin(0.1), 0), guess=True
    )
    b.joint("hip", "revolute", "ground", "base", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint(
        "knee", "revolute", "base", "rod", axes="body", s_i=(0, 0, -0.3), s_j=(0, 0, 0.3), a_i=(0, 1, 0), a_j=(0, 1, 0)
    )
    b.force("spring", "torsional_spring", "base", "rod", a_i=(0, 1, 0), stiffness=10, damping=0, free_angle=0)
    system = b.build()
    for one in (system, with_parameters(system, {"stiffness.spring": 11.0})):
        run = simulate(one, 0.5, t_eval=TIMES)
        assert np.abs(run.forces["spring"].angle - run.angles["knee"].angle).max() < 1e-9
        assert np.abs(run.angles["knee"].angle).max() > 0.03


def test_a_driven_loop_is_built_from_its_file(tmp_path):
    """Coordinates that drivers give, which a loop would refuse, are not stated in the file."""
    b = Builder("crank", axes="global")
    point = {"A": (0.0, 0.0, 0.0), "B": (0.1, 0.0, 0.3), "C": (0.6, 0.0, 0.5), "D": (0.7, 0.0, 0.0)}
    for name, (start, end) in {"crank": "AB", "coupler": "BC", "rocker": "DC"}.items():
        b.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), r=(np.array(point[start]) + point[end]) / 2)
    ends = {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": ("ground", "rocker")}
    for name, (i, j) in ends.items():
        b.joint(name, "revolute", i, j, point=point[name], axis=(0, 1, 0))
    turn = Signal.function(lambda t: 0.4 + t, 0.0, 0.5)
    b.driver("motor", "guided_angle", "ground", "crank", h_i=(0, 1, 0), a_i=(0, 0, 1), b_j=(0, 0, 1), theta_t=turn)
    system = b.build(redundant="keep")
    system.to_file(tmp_path / "crank.json")
    again = Builder.from_file(tmp_path / "crank.json").build(redundant="keep")
    assert np.abs(again.state.y - system.state.y).max() < 1e-9
    assert simulate(System.from_file(tmp_path / "crank.json"), 0.1).angles["A"].angle[0] == pytest.approx(0.4, abs=1e-6)
