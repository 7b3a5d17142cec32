"""Bodies without inertia in some rotation: motions, multipliers and derivatives are exact, free rotations are refused."""

import pickle

import numpy as np
import pytest
from scipy.special import ellipk

import codegen
import runtime
from benchmarks.mechanisms import problem
from runtime.dynamics import projection
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.model_data import stabilised
from runtime.system.mass_data import ADDED
from tests.support.motions import unit
from tests.support.random_mechanisms import Dense, stacked
from tests.support.refusals import assert_refused, refused_with

GRAVITY = (0.0, 0.0, -9.81)


def double(axial):
    """Two rods on universal joints, the second at an angle, with a moment about their axes (z) as a fraction of the others."""
    b = runtime.Builder("rods", gravity=GRAVITY, axes="global")
    tilt = unit(np.array([1.0, 0.3, 0.0]))
    b.body("upper", mass=2.0, inertia=(0.2, 0.2, 0.2 * axial), r=(0, 0, -0.5), omega=(3.0, -2.0, 0.0), guess=True)
    b.body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1 * axial), r=(0, 0, -1.4), omega=(-1.0, 4.0, 0.0), guess=True)
    b.joint("top", "universal", "ground", "upper", point=(0, 0, 0), a_i=(1, 0, 0), a_j=(0, 1, 0))
    b.joint("middle", "universal", "upper", "lower", point=(0, 0, -1), a_i=tilt, a_j=np.cross((0, 0, 1), tilt))
    return b.build(project_velocities=True)


def bricard(axial):
    """Bricard's mechanism of rods with a moment about their axes as a fraction of the others."""
    data = problem.shipped("bricard_brick").data
    b = runtime.Builder("bricard", gravity=data["gravity"], axes="global")
    for name, body in data["bodies"].items():
        moments = np.diag(body["inertia"]).copy()
        thin = moments.argmin()
        moments[:] = 1.0 / 12.0
        moments[thin] *= axial
        b.body(name, mass=1.0, inertia=moments, r=body["r0"])
    for joint in data["joints"]:
        b.joint(joint["name"], "revolute", joint["i"], joint["j"], point=joint["point"], axis=joint["axis"])
    return b.build()


@pytest.mark.parametrize("make", [double, bricard])
def test_accelerations_and_multipliers_satisfy_the_equations_with_the_true_inertia(make):
    """By the whole matrix of the equations of motion, with the singular mass matrix."""
    system = make(0.0)
    state = runtime.State(system.body_names, runtime.simulate(system, 0.7, t_eval=[0.7]).final.y)
    run, dense = (
        runtime.simulate(system, 1e-9, t_eval=[0.0], initial=state),
        Dense(system, state, system.reference_configuration),
    )
    m = len(dense.Phi)
    matrix = np.block([[dense.M, dense.D.T], [dense.D, np.zeros((m, m))]])
    target = dense.gamma - 10.0 * dense.D @ dense.u - 25.0 * dense.Phi
    v_dot, lam = np.split(np.linalg.lstsq(matrix, np.r_[dense.g, target], rcond=1e-12)[0], [dense.n])
    assert np.abs(stacked(run.v_dot, run.omega_dot, system.body_names) - v_dot).max() < 1e-9 * np.abs(v_dot).max()
    if not system.redundant:
        own = np.concatenate([run.lam[joint.name][0] for joint in system.joints])
        assert np.abs(own - lam).max() < 1e-9 * np.abs(lam).max()


def test_a_point_mass_on_a_hinge():
    """A simple pendulum by a body without any inertia, released at the height of its pivot."""
    b = runtime.Builder("pendulum", axes="global")
    b.body("bob", mass=3.0, inertia=(0, 0, 0), r=(0.7, 0, 0))
    b.joint("pivot", "revolute", "ground", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    period = 4 * np.sqrt(0.7 / 9.81) * ellipk(np.sin(np.pi / 4) ** 2)
    run = runtime.simulate(b.build(), period, t_eval=[period])
    assert np.abs(run.r["bob"][-1] - (0.7, 0, 0)).max() < 1e-9


def test_the_linearisation_is_exact():
    """Central differences of the accelerations, also in directions that violate the rows."""
    system = double(0.0)
    y = runtime.simulate(system, 0.7, t_eval=[0.7]).final.y
    found = runtime.linearisation(system, runtime.State(system.body_names, y))
    data, h = stabilised(system.data, 5.0, 5.0), 1e-5
    work, n = workspace_for(data), len(system.bodies)

    def accelerations(displacement, velocity):
        moved, y_dot = np.empty_like(y), np.empty_like(y)
        projection.move(y, np.vstack([np.zeros(6), displacement.reshape(n, 6)]), 1.0, moved)
        moved.reshape(n, 13)[:, 7:] += velocity.reshape(n, 6)
        assert derivative_once(0.0, moved, data, work, y_dot) == 0
        return y_dot.reshape(n, 13)[:, 7:].ravel()

    for part, order in ((found.displacement, 1), (found.velocity, -1)):
        for k in range(6 * n):
            step = (h * np.eye(6 * n)[k], np.zeros(6 * n))[::order]
            slope = (accelerations(*step) - accelerations(*(-s for s in step))) / (2 * h)
            assert np.abs(part[:, k] - slope).max() < 1e-7 * max(1.0, np.abs(part).max())


def test_radau_takes_thin_bodies():
    t, system = np.linspace(0.0, 1.0, 3), double(0.0)
    one, other = (runtime.simulate(system, 1.0, t_eval=t, method=m, rtol=1e-9, atol=1e-9) for m in ("dop853", "radau"))
    assert np.abs(one.r["lower"] - other.r["lower"]).max() < 1e-7


def test_parameters_may_make_a_body_thin_and_thick():
    thin, thick = double(0.0), double(1e-3)
    t = np.linspace(0.0, 1.0, 3)
    inertia = {f"inertia.{name}": body.inertia for name, body in zip(thin.body_names, thin.bodies, strict=True)}
    made = runtime.with_parameters(thick, inertia)
    one, other = (runtime.simulate(system, 1.0, t_eval=t) for system in (thin, made))
    assert np.array_equal(one.states, other.states)
    back = runtime.with_parameters(made, {f"inertia.{b.name}": b.inertia for b in thick.bodies})
    assert not len(back.data.thin_body)
    one, other = (runtime.simulate(system, 1.0, t_eval=t) for system in (thick, back))
    assert np.array_equal(one.states, other.states)


def test_a_pickled_system_stays_thin():
    system = pickle.loads(pickle.dumps(double(0.0)))
    assert list(system.data.thin_body) == [1, 2]


def test_whole_model_kernels_stand_aside():
    system = double(0.0)
    refused_with(
        codegen.DefinitionError, "'rods' has a body with a moment of inertia of 0", codegen.compile_model, system
    )
    assert runtime.simulate(system, 0.01).stats.kernel == "joint coordinates, by recursion"
    assert double(1e-3).model.key != system.model.key


def rod_between(kind, other=1.0):
    b = runtime.Builder("loose", axes="global")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -0.5))
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.0), r=(0, 0, -1.5))
    b.body("end", mass=other, inertia=(0.1 * other,) * 3, r=(0, 0, -2.5))
    b.joint("pivot", "revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    extra = {"a_i": (1, 0, 0), "a_j": (0, 1, 0)} if kind == "universal" else {}
    b.joint("first", kind, "arm", "rod", point=(0, 0, -1), **extra)
    b.joint("second", "spherical", "rod", "end", point=(0, 0, -2))
    return b


def test_a_free_rotation_without_inertia_is_refused():
    text = assert_refused("to an inertia of 0 kg m^2", rod_between("spherical").build)
    assert text.startswith("body 'rod': its moment of inertia about (0, 0, 1) in axes of the body is 0 kg m^2")
    assert "'universal' in place of 'spherical'" in text
    assert rod_between("universal").build().degrees_of_freedom == 6


def test_a_rotation_that_meets_too_little_inertia_is_refused():
    """The rod turns with a light disc: enough inertia down to 1e-6 of the rod's."""

    def build(moment):
        b = runtime.Builder("disc", axes="global")
        b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.0), r=(0, 0, 0))
        b.body("disc", mass=1e-3, inertia=(moment, moment, moment), r=(0, 0, 1))
        b.joint("bearing", "cylindrical", "ground", "rod", point=(0, 0, 0), axis=(0, 0, 1))
        b.joint("weld", "fixed", "rod", "disc")
        return b.build()

    for moment, added in ((1e-2, ADDED[0]), (3e-5, ADDED[2]), (3e-7, ADDED[4])):
        system = build(moment)
        assert system.data.inertia_inverse[1, 2, 2] == pytest.approx(1.0 / (added * 0.1))
        run = runtime.simulate(system, 0.1, t_eval=[0.0])
        assert np.abs(run.omega_dot["rod"]).max() < 1e-12
    assert_refused("to an inertia of 1e-08 kg m^2, where 1e-07 kg m^2 or more", build, 1e-8)


def test_a_free_point_mass_is_refused():
    b = runtime.Builder("ball")
    b.body("ball", mass=1.0, inertia=(0, 0, 0), free=True)
    assert_refused("body 'ball': its moment of inertia about", b.build)


@pytest.mark.parametrize("coordinates", ["absolute", "joint", "auto"])
def test_a_point_mass_that_meets_the_axis_of_its_gimbal_is_named(coordinates):
    """About this axis it has no inertia: rates grow without bound, and no row becomes dependent."""
    b = runtime.Builder("pole", gravity=GRAVITY, axes="global")
    b.body("bob", mass=1.0, inertia=(0, 0, 0), r=(0.5 * np.sin(0.5), 0.0, -0.5 * np.cos(0.5)))
    b.joint("gimbal", "universal", "ground", "bob", point=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 1, 0))
    system = b.build()
    start = runtime.system.displaced(system, {}, {"gimbal.theta_i": 1e-9})
    run = runtime.simulate(system, 3.0, initial=start, rtol=1e-9, atol=1e-9, coordinates=coordinates)
    assert run.status == runtime.Status.SINGULAR_CONFIGURATION
    assert "body 'bob' has no inertia in a rotation that is free there; give it a moment of inertia" in run.message
