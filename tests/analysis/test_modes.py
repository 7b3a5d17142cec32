"""Modes in independent coordinates: closed forms, reduced coordinates of loops, and differences of motions."""

import numpy as np
import pytest
import xarray
from scipy.optimize import brentq

from models import four_bar
from runtime import Builder, ModelError, Signal, State, equilibrium, linearisation, simulate
from runtime.analysis.modes import COMPONENTS
from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import STATE
from tests.support.refusals import assert_refused
from tests.support.systems import BUILDS, spun

g = 9.81


def pendulum(angle=0.0, omega=0.0, rotor=0.0, **motor):
    """A rod on a hinge about y, at an angle from hanging; with a rotor, a spring and a damper in the hinge."""
    b = Builder("rod on a hinge")
    turn = np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
    down = np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    v = np.cross((0.0, omega, 0.0), 0.4 * down)
    b.body("rod", mass=2.0, inertia=(0.1, 0.12, 0.03), r=0.4 * down, p=turn, v=v, omega=(0.0, omega, 0.0))
    b.joint("hinge", "revolute", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.4), a_i=(0, 1, 0), a_j=(0, 1, 0))
    if motor:
        ends = dict(a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0), theta_t=0.0)
        b.motor("spring", "guided_angle", "ground", "rod", **ends, **motor)
    if rotor:
        b.armature("hinge.angle", rotor)
    return b.build()


INERTIA = 0.12 + 2.0 * 0.4**2


def test_pendulum_with_spring_and_damper():
    found = linearisation(pendulum(stiffness=3.0, damping=0.5)).modes()
    natural = np.sqrt((3.0 + 2.0 * g * 0.4) / INERTIA)
    ratio = 0.5 / (2.0 * INERTIA * natural)
    assert found.at_rest and found.A.shape == (2, 2) and len(found.frequency) == 1
    assert found.natural_frequency == pytest.approx([natural / (2 * np.pi)], rel=1e-13)
    assert found.damping_ratio == pytest.approx([ratio], rel=1e-13)
    assert found.frequency == pytest.approx([natural * np.sqrt(1 - ratio**2) / (2 * np.pi)], rel=1e-13)
    value = natural * complex(-ratio, np.sqrt(1 - ratio**2))
    assert found.eigenvalues == pytest.approx([value, value.conjugate()], rel=1e-13)
    assert found.eigenvalue == pytest.approx([value], rel=1e-13)
    assert found.rotation["rod"] == pytest.approx(np.array([[0.0, 1.0, 0.0]]), abs=1e-13)
    assert found.displacement["rod"] == pytest.approx(np.array([[-0.4, 0.0, 0.0]]), abs=1e-13)


def test_strong_damping_and_an_upright_pendulum_have_real_eigenvalues():
    slow, fast = linearisation(pendulum(stiffness=3.0, damping=50.0)).modes().eigenvalue
    assert (slow * fast).real == pytest.approx((3.0 + 2.0 * g * 0.4) / INERTIA, rel=1e-12)
    assert (slow + fast).real == pytest.approx(-50.0 / INERTIA, rel=1e-12)
    upright = linearisation(pendulum(np.pi)).modes()
    rate = np.sqrt(2.0 * g * 0.4 / INERTIA)
    assert upright.at_rest and sorted(upright.eigenvalue.real) == pytest.approx([-rate, rate], rel=1e-12)
    assert sorted(upright.damping_ratio) == pytest.approx([-1.0, 1.0]) and upright.frequency.tolist() == [0.0, 0.0]


def hanging(links, joint, length=0.3, mass=0.7, axial=0.002):
    b = Builder(f"{links} links")
    before, across = "ground", mass * length**2 / 12.0
    for n in range(links):
        name = f"link_{n}"
        b.body(name, mass=mass, inertia=(across, across, axial), r=(0.0, 0.0, -(n + 0.5) * length))
        ends = dict(s_i=(0, 0, 0 if n == 0 else -length / 2), s_j=(0, 0, length / 2))
        b.joint(
            f"joint_{n}",
            joint,
            before,
            name,
            **ends,
            **(dict(a_i=(0, 1, 0), a_j=(0, 1, 0)) if joint == "revolute" else {}),
        )
        before = name
    return b.build()


def frequencies_of_chain(links, length=0.3, mass=0.7):
    """Of links at small absolute angles: kinetic and potential energy of uniform rods [Hz]."""
    n = np.arange(links)
    later = links - np.maximum.outer(n, n)  # links at and beyond the farther of two
    M = mass * length**2 * (later - 0.5 - np.eye(links) * (0.5 - 1 / 3))
    M[np.diag_indices(links)] = mass * length**2 * (links - n - 1 + 1 / 3)
    K = mass * g * length * (links - n - 0.5)
    return np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, np.diag(K))).real)) / (2 * np.pi)


@pytest.mark.parametrize("links", [1, 2, 7])
def test_chain_on_hinges(links):
    found = linearisation(hanging(links, "revolute")).modes()
    assert len(found.coordinates) == links and found.at_rest
    assert found.frequency == pytest.approx(frequencies_of_chain(links), rel=1e-10)
    assert np.abs(found.eigenvalue.real).max() < 1e-9


def test_chain_on_ball_joints_swings_in_two_planes_and_turns_freely():
    found = linearisation(hanging(3, "spherical")).modes()
    assert found.A.shape == (18, 18) and found.neutral.sum() == 6
    assert found.frequency[found.neutral].tolist() == [0.0] * 6 and np.isnan(found.damping_ratio[found.neutral]).all()
    assert found.frequency[~found.neutral] == pytest.approx(np.repeat(frequencies_of_chain(3), 2), rel=1e-10)


def test_a_free_body_has_twelve_neutral_eigenvalues():
    b = Builder("free", gravity=(0, 0, 0))
    b.body("body", mass=1.0, inertia=(1, 2, 3), r=(0, 0, 0), free=True)
    found = linearisation(b.build()).modes()
    assert found.at_rest and found.neutral.all() and len(found.eigenvalues) == 12
    assert found.coordinates == tuple(f"body.{component}" for component in COMPONENTS)


def test_ball_on_a_contact():
    """Heave on Hertz's law; without friction all other motions are neutral."""
    K, m = 1e5, 0.8
    depth = (m * g / K) ** (2 / 3)
    b = Builder("ball")
    b.body("ball", mass=m, inertia=(1e-3, 1e-3, 1e-3), r=(0, 0, 0.05 - depth), free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="hertz", stiffness=K)
    found = linearisation(b.build()).modes()
    (heave,) = np.flatnonzero(~found.neutral)
    assert found.frequency[heave] == pytest.approx(np.sqrt(1.5 * K * np.sqrt(depth) / m) / (2 * np.pi), rel=1e-9)
    assert found.displacement["ball"][heave] == pytest.approx(np.array([0, 0, 1]), abs=1e-12)


def potential(angle):
    system = four_bar.build(crank_angle=angle)
    return sum(body.mass * g * system.state.r[body.name][2] for body in system.bodies)


def slope(function, x, h):
    a, b, c = ((function(x + s) - function(x - s)) / (2 * s) for s in (h, h / 2, h / 4))
    return (a - 20 * b + 64 * c) / 45


@pytest.mark.parametrize(("joints", "rotor"), [("independent", 0.0), ("revolute", 0.0), ("revolute", 0.02)])
def test_four_bar_in_the_angle_of_its_crank(joints, rotor, tmp_path):
    """Frequency from potential and kinetic energy over the angle of the crank; with 17 rows and with 20, 3 of them redundant.

    A rotor behind the crank's hinge adds to the inertia.
    """
    angle = brentq(lambda x: slope(potential, x, 1e-2), -2.5, -1.2, xtol=1e-14)
    moving = four_bar.build(crank_angle=angle, crank_speed=1.0)
    inertia = rotor + sum(
        body.mass * np.sum(moving.state.v[body.name] ** 2) + body.inertia[1, 1] * moving.state.omega[body.name][1] ** 2
        for body in moving.bodies
    )
    stiffness = slope(lambda x: slope(potential, x, 1e-2), angle, 1e-2)
    b = Builder.from_file(four_bar.build(joints, crank_angle=angle).to_file(tmp_path / "four_bar.json"))
    if rotor:
        b.armature("A.angle", rotor)
    found = linearisation(b.build()).modes()
    assert found.at_rest and len(found.coordinates) == 1
    assert found.frequency == pytest.approx([np.sqrt(stiffness / inertia) / (2 * np.pi)], rel=1e-8)
    shape = {name: found.rotation[name][0, 1].real / found.rotation["crank"][0, 1].real for name in moving.body_names}
    assert shape == pytest.approx({name: moving.state.omega[name][1] / -1.0 for name in moving.body_names}, rel=1e-9)


def geared(*law, first="hanging", rotor=0.0):
    """Two rods on hinges whose angles a coupling ties, with a rotor behind the first hinge; the second rod may be level."""
    b = Builder("geared rods", axes="global")
    for name, at, down in (("one", 0.0, (0, 0, -0.4)), ("two", 1.0, (0.3, 0, 0) if first == "level" else (0, 0, -0.3))):
        b.body(name, mass=2.0, inertia=(0.1, 0.12, 0.03), r=np.array((at, 0.0, 0.0)) + down)
        b.joint(f"hinge_{name}", "revolute", "ground", name, point=(at, 0, 0), axis=(0, 1, 0))
    b.coupling("gear", "hinge_two.angle", "hinge_one.angle", list(law))
    if rotor:
        b.armature("hinge_one.angle", rotor)
    return b.build()


@pytest.mark.parametrize("rotor", [0.0, 0.7])
def test_geared_pendulums(rotor):
    """q_2 = r q_1: inertia I_1 + I_2 r^2 with the rotor's, stiffness k_1 + k_2 r^2."""
    r, I_1, I_2 = -1.5, 0.12 + 2.0 * 0.4**2, 0.12 + 2.0 * 0.3**2
    found = linearisation(geared(0.0, r, rotor=rotor)).modes()
    stiffness, inertia = 2.0 * g * (0.4 + 0.3 * r**2), I_1 + I_2 * r**2 + rotor
    assert found.at_rest and found.natural_frequency == pytest.approx(
        [np.sqrt(stiffness / inertia) / (2 * np.pi)], rel=1e-10
    )
    assert found.rotation["two"][0, 1] / found.rotation["one"][0, 1] == pytest.approx(r, rel=1e-10)


def test_the_curvature_of_a_law_is_a_stiffness():
    """q_2 = s q_1^2 of a level rod, whose weight pushes it back: stiffness k_1 + 2 s V_2', inertia I_1."""
    s, slope_2 = 0.8, -2.0 * g * 0.3
    found = linearisation(geared(0.0, 0.0, s, first="level")).modes()
    stiffness, inertia = 2.0 * g * 0.4 + 2.0 * s * slope_2, 0.12 + 2.0 * 0.4**2
    value = -stiffness / inertia
    assert found.at_rest and found.A[1, 0] == pytest.approx(value, rel=1e-9) and abs(value) > 0.1


def test_a_moving_pendulum_with_a_rotor():
    """u' = -k sin q / (I + rotor) - c u / (I + rotor) far from rest."""
    angle, rotor, c = 0.7, 0.5, 0.4
    found = linearisation(pendulum(angle, 3.0, rotor, damping=c)).modes(["rod.turn_y"])
    inertia = INERTIA + rotor
    expected = [[0.0, 1.0], [-2.0 * g * 0.4 * np.cos(angle) / inertia, -c / inertia]]
    assert not found.at_rest and found.A == pytest.approx(np.array(expected), rel=1e-9, abs=1e-10)


def test_states_off_their_couplings_are_refused():
    system = geared(0.0, -1.5)
    other = system.state.replace(omega={"one": (0.0, 1.0, 0.0)}, v={"one": (-0.4, 0.0, 0.0)})
    assert_refused(
        ("the state violates coupling 'gear' by 1.5e+00 per second", "runtime.system.displaced"),
        linearisation(system, other).modes,
    )


@pytest.mark.parametrize("joints", ["independent", "revolute"])
def test_moving_four_bar_is_linearised_in_the_angle_of_its_crank(joints):
    """The motion of one degree of freedom is u'' = f(u, u'): its derivatives from other builds, far from rest."""

    def acceleration(angle, speed):
        system = four_bar.build(crank_angle=angle, crank_speed=speed)
        return -simulate(system, 1e-9).omega_dot["crank"][0, 1]

    angle, speed = 0.7, 3.0
    found = linearisation(four_bar.build(joints, crank_angle=angle, crank_speed=speed)).modes(["crank.turn_y"])
    assert not found.at_rest
    expected = [
        [0.0, 1.0],
        [slope(lambda x: acceleration(x, speed), angle, 1e-2), slope(lambda x: acceleration(angle, x), speed, 1e-2)],
    ]
    assert found.A == pytest.approx(np.array(expected), rel=1e-8, abs=1e-9)
    assert min(abs(expected[1][0]), abs(expected[1][1])) > 1.0


def test_rod_on_a_driven_arm():
    """A rod on a hinge that turns with an arm about z: the driver's velocity changes with the rod's displacement."""
    speed, angle = 2.5, 0.6
    b = Builder("governor")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0), omega=(0, 0, speed))
    down = 0.4 * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    turn = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    b.body(
        "rod",
        mass=2.0,
        inertia=(0.12, 0.12, 0.03),
        r=down,
        p=turn,
        v=np.cross((0, 0, speed), down),
        omega=(0, 0, speed),
    )
    b.joint("bearing", "revolute", "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    b.joint("hinge", "revolute", "arm", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.4), a_i=(0, 1, 0), a_j=(0, 1, 0))
    drive = Signal.function(lambda t: speed * t, -1.0, 1.0)
    b.driver("drive", "guided_angle", "ground", "arm", a_i=(1, 0, 0), h_i=(0, 0, 1), b_j=(1, 0, 0), theta_t=drive)
    found = linearisation(b.build()).modes(["rod.turn_y"])
    # theta'' = f(theta); along the hinge's axis, which is y now, changes of omega are those of theta'.
    steep = speed**2 * np.cos(2 * angle) * (INERTIA - 0.03) / INERTIA - 2.0 * g * 0.4 * np.cos(angle) / INERTIA
    assert found.A == pytest.approx(np.array([[0.0, 1.0], [steep, 0.0]]), rel=1e-10, abs=1e-9)


def moved(state, displacement, change):
    """A state after small displacements (6 n,) and changes of velocity."""
    n = len(state.names)
    u, y = np.zeros((n + 1, 6)), np.empty(n * STATE)
    u[1:] = displacement.reshape(n, 6)
    projection.move(np.array(state.y), u, 1.0, y)
    y.reshape(n, STATE)[:, 7:] += change.reshape(n, 6)
    return State(state.names, y)


@pytest.mark.parametrize("name", BUILDS)
def test_displacements_and_changes_of_velocity_keep_the_constraints(name):
    system = BUILDS[name]()
    state, work = spun(system), workspace_for(system.data)
    space = linearisation(system, state).modes().tangent
    n, f = space.displacement.shape
    assert f == system.degrees_of_freedom
    assert space.displacement[list(space.places)] == pytest.approx(np.eye(f), abs=1e-12)
    assert space.velocity[list(space.places)] == pytest.approx(np.zeros((f, f)), abs=1e-9)
    for k in range(f):
        for part in ((space.displacement[:, k], space.velocity[:, k]), (np.zeros(n), space.displacement[:, k])):
            worst = []
            for h in (1e-3, 1e-4):
                y = np.array(moved(state, h * part[0], h * part[1]).y)
                worst.append([projection.worst_row(system.time, y, system.data, work, rate) for rate in (False, True)])
            assert (np.array(worst[1]) <= 0.012 * np.array(worst[0]) + 1e-11).all()


def test_eigenvalues_do_not_depend_on_the_coordinates():
    found = linearisation(hanging(3, "revolute"))
    chosen = found.modes(["link_0.x", "link_1.turn_y", "link_2.x"])
    assert chosen.coordinates == ("link_0.x", "link_1.turn_y", "link_2.x")
    assert chosen.frequency == pytest.approx(found.modes().frequency, rel=1e-10)
    for mode in range(3):
        one, other = (
            np.array([modes.rotation[name][mode, 1] for name in found.bodies]) for modes in (chosen, found.modes())
        )
        share = np.vdot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other))
        assert abs(share) == pytest.approx(1.0, rel=1e-12)


def test_table_text_and_dataset(tmp_path):
    found = linearisation(hanging(2, "revolute")).modes()
    table = found.table()
    assert [row["frequency [Hz]"] for row in table.records()] == pytest.approx(found.frequency.tolist())
    assert "About an equilibrium" in str(found) and f"{found.frequency[0]:.4g}" in str(found)
    assert "not in equilibrium" in str(linearisation(pendulum(0.5)).modes())
    found.to_xarray().to_netcdf(tmp_path / "modes.nc", engine="scipy")
    with xarray.open_dataset(tmp_path / "modes.nc") as data:
        assert data.frequency.values == pytest.approx(found.frequency)
        assert data.rotation_real.sel(body="link_1", axis="y").values == pytest.approx(
            found.rotation["link_1"][:, 1].real
        )
        assert data.A.values == pytest.approx(found.A) and list(data.body.values) == ["link_0", "link_1"]


def test_bad_input_is_refused_with_a_remedy():
    found = linearisation(hanging(2, "revolute"))
    for coordinates, sentence in (
        (["link_0.pitch", "link_1.x"], "coordinate 'link_0.pitch' is unknown; use a body and one of x, y, z, turn_x"),
        (["link_0.x"], "coordinates = link_0.x: give 2 different ones, one for each degree of freedom"),
        ("link_0.x", "modes: coordinates = 'link_0.x': give a sequence of texts"),
        (["link_0.x", "link_0.x"], "give 2 different ones"),
        (
            ["link_0.x", "link_0.turn_y"],
            "coordinates link_0.x, link_0.turn_y do not determine the motion of all bodies",
        ),
    ):
        assert_refused(sentence, found.modes, coordinates)
    system = pendulum()
    apart = system.state.replace(r={"rod": (0.0, 0.0, -0.41)})
    with pytest.raises(
        ModelError, match=r"modes: the state violates hinge\.\w+ by 1\.0e-02, above 1e-06; pass a state of"
    ):
        linearisation(system, apart).modes()
    with pytest.raises(ModelError, match=r"modes: the state violates hinge\.\w+ by \S+ per second"):
        linearisation(system, system.state.replace(v={"rod": (0.1, 0.0, 0.0)})).modes()


def test_a_system_whose_drivers_fix_all_bodies_has_no_modes():
    b = Builder("driven")
    b.body("rod", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0, 0, -0.4))
    b.joint("hinge", "revolute", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.4), a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.driver("drive", "guided_angle", "ground", "rod", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0), theta_t=0.0)
    assert_refused("modes: system 'driven' has no degrees of freedom", linearisation(b.build()).modes)


@pytest.mark.parametrize("crank_angle", [2.2, -2.8])
def test_an_equilibrium_far_from_the_start(crank_angle):
    system = four_bar.build("revolute", crank_angle=crank_angle)
    found = equilibrium(system)
    assert np.abs(found.r["crank"] - system.state.r["crank"]).max() > 0.05
    assert linearisation(system, found).modes().at_rest
    run = simulate(system, 1.0, initial=found, t_eval=[0.0, 1e-3])
    assert run.kinetic_energy.max() < 1e-20
