"""Equilibrium and modes of systems of all kinds, against closed forms and against differences of ``runtime.rhs``."""

import numpy as np
import pytest
from scipy.optimize import brentq

import codegen
from models import foot, four_bar
from runtime import Builder, Signal, equilibrium, linearisation, rhs, simulate
from tests.support import maxwell

g = 9.81


def geared(*law, level=False, rotor=0.0, relaxing=False, damping=0.0):
    """Two rods on hinges whose angles a coupling ties, the second one hanging or level; with forces between and on them."""
    b = Builder("geared rods", axes="global")
    for name, at, down in (("one", 0.0, (0, 0, -0.4)), ("two", 1.0, (0.3, 0, 0) if level else (0, 0, -0.3))):
        b.body(name, mass=2.0, inertia=(0.1, 0.12, 0.03), r=np.array((at, 0.0, 0.0)) + down)
        b.joint(f"hinge_{name}", "revolute", "ground", name, point=(at, 0, 0), axis=(0, 1, 0))
    b.coupling("gear", "hinge_two.angle", "hinge_one.angle", list(law))
    ends = dict(axes="body", s_j=(0, 0, 0))
    if rotor:
        b.armature("hinge_one.angle", rotor)
    if relaxing:
        values = dict(stiffness=80.0, viscosity=30.0, free_length=0.8, flow_0=0.05)
        b.force("f", codegen.compile_force(maxwell.maxwell), "one", "two", s_i=(0, 0, 0), **ends, **values)
    if damping:
        spring = dict(stiffness=40.0, damping=damping, free_length=0.3)
        b.force("d", "spring_damper", "ground", "one", s_i=(-0.5, 0, 0), **ends, **spring)
    return b.build()


def linkage(folder, joints="revolute", *, rotor=0.0, geared_to=0.0, motor=False):
    """A four-bar linkage, of hinges with redundant rows or not; its crank drives a pendulum over a gear."""
    b = Builder.from_file(four_bar.build(joints, crank_angle=-2.0).to_file(folder / "four_bar.json"))
    if rotor:
        b.armature("A.angle", rotor)
    if geared_to:
        b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(3, 0, -0.4))
        b.joint("hinge", "revolute", "ground", "rod", s_i=(3, 0, 0), s_j=(0, 0, 0.4), a_i=(0, 1, 0), a_j=(0, 1, 0))
        b.coupling("gear", "hinge.angle", "A.angle", [0.0, geared_to])
    if motor:
        axes = dict(a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0))
        b.motor("motor", "guided_angle", "ground", "crank", **axes, theta_t=0.3, stiffness=60.0, damping=3.0)
    return b.build()


def rod_on_ground(rotor):
    """A rod on a hinge, with a sphere that a Hertzian contact carries 1.6 mm deep."""
    b = Builder("rod on the ground", axes="global")
    b.body("rod", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0.4, 0, 0.05))
    b.joint("hinge", "revolute", "ground", "rod", point=(0, 0, 0.05), axis=(0, 1, 0))
    law = dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.5)
    b.contact("tip", "rod", centre=(0.4, 0, 0.0), radius=0.05, **law)
    b.armature("hinge.angle", rotor)
    return b.build()


def differences(system, state, h):
    """Eigenvalues of y' over y of the equations that the integrators have."""
    f = rhs(system)
    y = np.array(f.vector(state))

    def slope(k, h):
        way = h * (np.arange(len(y)) == k)
        return (f(system.time, y + way) - f(system.time, y - way)) / (2 * h)

    columns = [(slope(k, h) - 20 * slope(k, h / 2) + 64 * slope(k, h / 4)) / 45 for k in range(len(y))]
    return np.linalg.eigvals(np.column_stack(columns))


SYSTEMS = {
    "Maxwell": lambda folder: maxwell.slider(),
    "gear": lambda folder: geared(0.0, -1.5),
    "gear with a curved law": lambda folder: geared(0.0, 0.3, 0.5, level=True),
    "gear and rotor": lambda folder: geared(0.0, 0.7, level=True, rotor=0.4),
    "gear and Maxwell": lambda folder: geared(0.0, 0.7, level=True, relaxing=True),
    "gear, rotor, Maxwell and damper": lambda folder: geared(0.0, 0.7, level=True, rotor=0.4, relaxing=True, damping=2.0),
    "loop": linkage,
    "loop without redundant rows, motor": lambda folder: linkage(folder, "independent", motor=True),
    "loop with a rotor": lambda folder: linkage(folder, rotor=0.3),
    "loop with a gear": lambda folder: linkage(folder, geared_to=0.5),
    "contact and rotor": lambda folder: rod_on_ground(0.3),
    "classical ankle at its limits": lambda folder: foot.build("classical", limits="dissipative"),
    "massless link at its limits": lambda folder: foot.build("modified", limits="elastic"),
    "massless link, sprung toes": lambda folder: foot.build("modified", limits="dissipative", toes="sprung"),
    "foot on the ground": lambda folder: foot.build(
        ground=True, leg="free", limits="dissipative", clearance=0.0, orthosis="medium"
    ),
}  # fmt: skip
NEAR_KINKS = ("limits", "link", "ground", "contact")  # by whose names smaller differences are taken


@pytest.mark.parametrize("name", SYSTEMS)
def test_eigenvalues_are_those_of_the_equations_of_motion(name, tmp_path):
    """Each mode's is one of those of y' over y at the equilibrium, which has others for lengths and violated rows."""
    system = SYSTEMS[name](tmp_path)
    rest = equilibrium(system)
    modes = linearisation(system, rest).modes()
    h = 2e-5 if any(word in name for word in NEAR_KINKS) else 1e-3
    others = differences(system, rest, h)
    assert modes.at_rest and len(modes.eigenvalues) == 2 * system.degrees_of_freedom + len(modes.states)
    size = np.abs(modes.eigenvalues).max()
    oscillating = modes.eigenvalues[np.abs(modes.eigenvalues) > 1e-3 * size]  # double zeros split by roots of rounding
    assert max(np.abs(others - value).min() for value in oscillating) < 1e-7 * size
    run = simulate(system, 0.05, initial=rest, t_eval=[0.0, 0.05], rtol=1e-10, atol=1e-10)
    assert run.success and np.abs(run.states[1] - run.states[0]).max() < 1e-8


def test_a_spring_and_a_damper_in_series():
    """x'' = -k (x - flow) / m and flow' = k (x - flow) / c: an eigenvalue is 0, for the block may rest anywhere."""
    k, c, m = maxwell.VALUES["stiffness"], maxwell.VALUES["viscosity"], maxwell.MASS
    found = linearisation(maxwell.slider())
    modes = found.modes(["block.x"])
    assert modes.A == pytest.approx(np.array([[0, 1, 0], [-k / m, 0, k / m], [k / c, 0, -k / c]]), rel=1e-12, abs=1e-12)
    assert modes.states == found.states == ("f.flow",) and found.state[[0, 6], 0] == pytest.approx([k / m, -k / c])
    data = modes.to_xarray()
    assert list(data.state.values) == ["block.x", "block.x rate", "f.flow"] and data.state_unit.values[2] == "m"
    rest = equilibrium(maxwell.slider())
    assert rest.r["block"][0] - 1.0 - rest.z["f.flow"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("law", "level"), [((0.0, 0.7), True), ((0.0, 0.3, 0.5), True), ((0.2, -1.5), False)])
def test_geared_rods_rest_where_their_potential_is_level(law, level):
    q_2 = np.polynomial.Polynomial(law)

    def slope(q):  # of -2 g 0.4 cos q - 2 g 0.3 (cos or sin) q_2
        second = np.cos(q_2(q)) if level else -np.sin(q_2(q))
        return 2.0 * g * (0.4 * np.sin(q) - 0.3 * second * q_2.deriv()(q))

    rest = equilibrium(geared(*law, level=level))
    q = np.arctan2(-rest.r["one"][0], -rest.r["one"][2])
    assert q == pytest.approx(brentq(slope, q - 0.2, q + 0.2, xtol=1e-14), abs=1e-10)
    along = (
        np.array([np.cos(q_2(q)), 0.0, -np.sin(q_2(q))]) if level else -np.array([np.sin(q_2(q)), 0.0, np.cos(q_2(q))])
    )
    assert rest.r["two"] == pytest.approx(np.array([1.0, 0.0, 0.0]) + 0.3 * along, abs=1e-10)


@pytest.mark.parametrize("geared_too", [False, True])
@pytest.mark.parametrize("time", [0.0, 0.3])
def test_a_driver_is_held_at_its_value_while_it_moves(time, geared_too):
    """The driven rod keeps its angle, and the other one hangs from it, or is turned with it by a gear."""
    signal = Signal.function(lambda t: 0.3 + 0.5 * np.sin(3.0 * t), -1.0, 1.0)
    b = Builder("driven double pendulum", axes="global")
    for name, z in (("upper", 0.0), ("lower", -1.0)):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, z - 0.5))
        b.joint(f"{name}_hinge", "revolute", "ground" if z == 0.0 else "upper", name, point=(0, 0, z), axis=(0, 1, 0))
    b.driver("swing", "guided_angle", "ground", "upper", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0), theta_t=signal)
    if geared_too:
        b.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(2, 0, 0))
        b.joint("wheel_hinge", "revolute", "ground", "wheel", point=(2, 0, 0), axis=(0, 1, 0))
        b.coupling("gear", "wheel_hinge.angle", "upper_hinge.angle", [0.0, 2.0])
    system = b.build()
    found = equilibrium(system, time=time)
    upper, lower = (2.0 * np.arctan2(found.p[name][2], found.p[name][0]) for name in ("upper", "lower"))
    assert upper == pytest.approx(signal(time), abs=1e-10) and lower == pytest.approx(0.0, abs=1e-10)
    if geared_too:
        wheel = 2.0 * np.arctan2(found.p["wheel"][2], found.p["wheel"][0])
        assert wheel == pytest.approx(2.0 * signal(time), abs=1e-9)
