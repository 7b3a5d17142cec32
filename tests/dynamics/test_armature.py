"""Inertia of rotors along coordinates: against closed forms, in files, parameters, ensembles; refusals."""

import pickle

import numpy as np
import pytest

import runtime
from runtime import Builder, ModelError
from tests.support.refusals import assert_refused

G = 9.81
L, MASS, J = 1.0, (1.0, 2.0), (0.1, 0.3)  # of links with centres in their middles
ROTORS = (0.5, 0.2)


def arm(rotors=ROTORS, start=(0.4, -0.7), rates=(1.0, 2.0)):
    """Two links in the plane of x and z; angles about the y axis, from the horizontal."""
    b = Builder("arm", gravity=(0.0, 0.0, -G), axes="global")
    for k, name in enumerate(("upper", "lower")):
        b.body(name, mass=MASS[k], inertia=(0.2, J[k], 0.3), r=(L * (k + 0.5), 0.0, 0.0))
        b.joint(f"j{k}", "revolute", ("ground", "upper")[k], name, point=(L * k, 0.0, 0.0), axis=(0, 1, 0))
        b.initial_coordinates(f"j{k}", angle=start[k], rates={"angle": rates[k]})
    for k, inertia in enumerate(rotors):
        b.armature(f"j{k}.angle", inertia)
    return b


def closed_form(q, u, rotors=ROTORS):
    """Second derivatives of both angles, by Lagrange's equations of a double pendulum."""
    c, s = np.cos(q[1]), np.sin(q[1])
    (m1, m2), h = MASS, L / 2.0
    of_second = J[1] + m2 * h**2
    across = of_second + m2 * L * h * c
    M = np.array([[J[0] + m1 * h**2 + of_second + m2 * (L**2 + 2.0 * L * h * c), across], [across, of_second]])
    bent = m2 * L * h * s
    fast = np.array([bent * (2.0 * u[0] * u[1] + u[1] ** 2), -bent * u[0] ** 2])
    weights = G * np.array([(m1 * h + m2 * L) * np.cos(q[0]), 0.0]) + G * m2 * h * np.cos(q[0] + q[1])
    return np.linalg.solve(M + np.diag(rotors), fast + weights)


def test_two_links_with_rotors_against_the_closed_form():
    run = runtime.simulate(arm().build(), 1.0, rtol=1e-12, atol=1e-12)
    assert run.success and run.stats.kernel == "joint coordinates, by recursion"
    q = np.array([run.angles[f"j{k}"].values["angle"] for k in range(2)]).T
    u = np.array([run.angles[f"j{k}"].rates["angle"] for k in range(2)]).T
    wanted = np.array([closed_form(*one) for one in zip(q, u, strict=True)])
    assert np.abs(run.omega_dot["upper"][:, 1] - wanted[:, 0]).max() < 1e-11
    assert np.abs(run.omega_dot["lower"][:, 1] - wanted.sum(axis=1)).max() < 1e-11
    bodies = sum(
        0.5 * MASS[k] * (run.v[name] ** 2).sum(axis=1) + 0.5 * J[k] * run.omega[name][:, 1] ** 2
        for k, name in enumerate(("upper", "lower"))
    )
    assert np.abs(run.kinetic_energy - bodies - 0.5 * u**2 @ ROTORS).max() < 1e-12
    assert np.ptp(run.energy) < 1e-9 and abs(run.energy_balance.largest_error) < 1e-9
    for joint, on in (("j0", "upper"), ("j1", "lower")):  # the axis does not carry the moment of the rotor
        assert np.abs(run.reaction(joint, on=on).moment[:, 1]).max() < 1e-10
    load, weight = run.reaction("j1", on="lower").force, np.array([0.0, 0.0, -MASS[1] * G])
    assert np.abs(load + weight - MASS[1] * run.v_dot["lower"]).max() < 1e-10


def linkage(rotor):
    """A parallelogram linkage: two cranks of 1 m and the coupler between them."""
    b = Builder("linkage", gravity=(0.0, 0.0, -G), axes="global")
    for name, r in (("crank", (0, 0, 0.5)), ("rocker", (2, 0, 0.5)), ("coupler", (1, 0, 1.0))):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), r=r)
    for name, one, two, point in (
        ("a", "ground", "crank", (0, 0, 0)), ("b", "crank", "coupler", (0, 0, 1)), ("c", "ground", "rocker", (2, 0, 0)),
        ("d", "rocker", "coupler", (2, 0, 1)),
    ):  # fmt: skip
        b.joint(name, "revolute", one, two, point=point, axis=(0, 1, 0))
    b.initial_coordinates("a", rates={})
    if rotor:
        b.armature("a.angle", rotor)
    return b.build()


@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning")
def test_a_rotor_in_a_closed_loop():
    system = linkage(2.0)
    start = runtime.assemble(system, system.state)
    start = start.replace(v={"coupler": (1.0, 0, 0), "crank": (0.5, 0, 0), "rocker": (0.5, 0, 0)},
                          omega={"crank": (0, 1.0, 0), "rocker": (0, 1.0, 0)})  # fmt: skip
    run = runtime.simulate(system, 0.5, initial=start, rtol=1e-11, atol=1e-11)
    assert run.success
    angle = np.arctan2(run.r["crank"][:, 0], run.r["crank"][:, 2])
    inertia = 2.0 * (0.1 + 0.25) + 1.0 + 2.0  # cranks, coupler on a circle, rotor
    assert np.abs(run.omega_dot["crank"][:, 1] - G * (2.0 * 0.5 + 1.0) * np.sin(angle) / inertia).max() < 1e-9
    assert np.ptp(run.energy) < 1e-8


def test_parameters_files_pickles_and_ensembles(tmp_path):
    system = arm().build()
    assert runtime.parameters(system)["armature.j1.angle"] == ROTORS[1]
    other = runtime.with_parameters(system, {"armature.j1.angle": 0.9})
    fresh = arm(rotors=(0.5, 0.9)).build()
    t = np.linspace(0.0, 0.3, 4)
    wanted = runtime.simulate(fresh, 0.3, t_eval=t).states
    assert np.abs(runtime.simulate(other, 0.3, t_eval=t).states - wanted).max() < 1e-13
    many = runtime.simulate_many(system, {"armature.j1.angle": [0.2, 0.9]}, 0.3, t_eval=t)
    assert np.abs(many[1].states - wanted).max() < 1e-12 < 1e-3 < np.abs(many[0].states - wanted).max()
    for back in (runtime.System.from_file(fresh.to_file(tmp_path / "arm.json")), pickle.loads(pickle.dumps(fresh))):
        assert np.array_equal(runtime.simulate(back, 0.3, t_eval=t).states, wanted)
    builder = Builder.from_file(tmp_path / "arm.json")
    assert builder.build().armatures == fresh.armatures
    assert runtime.equilibrium(system).r["lower"][2] < -1.4  # where forces balance, inertia plays no part


def test_refusals():
    b = arm()
    for coordinate, inertia, text in (
        ("j0.angle", 1.0, "has one already"), ("hip.angle", 1.0, "unknown joint 'hip'"), (3, 1.0, "armature"),
        ("j1.angle", -1.0, "armature 'j1.angle'"),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=text):
            (b if coordinate == "j0.angle" else arm(rotors=())).armature(coordinate, inertia)
    wrong = arm(rotors=())
    wrong.armature("j0.distance", 1.0)
    assert_refused(("no turn or slide of joint 'j0'", "j0.angle"), wrong.build)
    system = b.build()
    for call in (
        lambda: runtime.simulate(system, 1.0, coordinates="absolute"),
        lambda: runtime.simulate(system, 1.0, method="radau"),
        lambda: runtime.simulate(system, 1.0, alpha=5.0),
        lambda: runtime.sensitivities(system, {"mass.upper": 1.0}, t_end=0.1),
    ):
        assert_refused("armature of coordinates ('j0.angle', 'j1.angle'), which only", call)
