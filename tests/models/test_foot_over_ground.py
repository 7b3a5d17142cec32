"""The two-axis foot over a ground, with an orthosis or without: balances, mirror image, the sagittal model, statics, refusals."""

import numpy as np
import pytest
from scipy.optimize import brentq

import runtime
from benchmarks.ensemble_systems import builder_of
from models import foot, foot_ground, foot_orthosis, foot_sole
from runtime import Signal
from runtime.system.orthosis import MOTIONS
from tests.support.limits import both_ankles
from tests.support.refusals import assert_refused

ORTHOSIS = dict(stiffness=(100.0, 30.0, 12.0), damping=(0.4, 0.2, 0.1), neutral=(0.05, -0.03, 0.02), mass=0.35)
LANDING = dict(
    ground=True, leg="free", incline_deg=20.0, posture_deg=(4.0, 2.0, 3.0), ankle_deg=(-10.0, 3.0), clearance=0.01,
    velocity=(0.2, 0.0, -0.5), limits="dissipative",
    dorsiflexion_deg=3.0, inversion_deg=4.0, orthosis=ORTHOSIS, transition_velocity=0.05,
)  # fmt: skip
STIFF = dict(method="radau", rtol=1e-11, atol=1e-12)
MIRROR = dict(r=(1, -1, 1), p=(1, -1, 1, -1), v=(1, -1, 1), omega=(-1, 1, -1))


def heights(system):
    """Distance of each sphere from the plane in the initial state [m]."""
    run = runtime.simulate(system, 1e-9)
    return np.array([-contact.penetration[0] for contact in run.contacts.values()])


# The start


@both_ankles
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_lowest_sphere_is_at_the_clearance_in_any_posture(ankle, side):
    system = foot.build(ankle, **LANDING | dict(side=side, descent_deg=-60.0, clearance=0.013))
    assert heights(system).min() == pytest.approx(0.013, abs=1e-12)
    run = runtime.simulate(system, 1e-9)
    angles = [run.limits[name].angle[0] for name in ("talocrural", "talocalcaneal")]
    assert np.rad2deg(angles) == pytest.approx([-10.0, 3.0], abs=1e-9)
    assert all(run.v[name][0] == pytest.approx([0.2, 0.0, -0.5], abs=1e-7) for name in system.body_names)


def test_the_ground_descends_laterally_unless_another_direction_is_given():
    for side, lateral in (("right", -1.0), ("left", 1.0)):
        normal = np.array(foot.build(ground=True, incline_deg=30.0, side=side).contacts[0].values["n_j"])
        assert normal == pytest.approx([0.0, lateral * 0.5, np.sqrt(0.75)], abs=1e-15)
    anterior = foot.build(ground=True, incline_deg=30.0, descent_deg=0.0).contacts[0].values["n_j"]
    assert anterior == pytest.approx([0.5, 0.0, np.sqrt(0.75)], abs=1e-15)


@pytest.mark.parametrize("shape", foot_sole.SHAPE_NAMES)
def test_the_sole_is_that_of_the_sagittal_model_in_proportion_to_the_foot(shape):
    own, known = foot.build(ground=True, sole=shape), foot_ground.build(shape)
    large = foot.build(ground=True, sole=shape, foot_length=0.297)
    for one, other, grown in zip(own.contacts, known.contacts, large.contacts, strict=True):
        assert (one.name, one.body) == (other.name, other.body)
        assert one.parameters == other.parameters
        # As Moreira et al. (2011) print them, in SI units.
        printed = dict(stiffness=40.0 * 1000.0**1.5, exponent=1.5, damping=300.0, mu_c=1.0, mu_d=3.0)
        assert {name: one.parameters[name] for name in printed} == pytest.approx(printed)
        for name in ("s_i", "radius"):
            assert np.array_equal(one.values[name], other.values[name])
        assert grown.values["radius"] == pytest.approx(1.1 * one.values["radius"], rel=1e-14)


# The leg


def test_a_guided_leg_moves_by_its_coordinates_on_both_sides():
    t = np.linspace(0.0, 0.2, 41)
    up, roll = Signal.function(lambda t: -0.02 * t, 0.0, 0.3), Signal.function(lambda t: 0.1 + t, 0.0, 0.3)
    guided = {"up": up, "roll": roll, "medial": 0.01}
    runs = [
        runtime.simulate(
            foot.build(leg=guided, side=side, posture_deg=(10.0, 0.0, 0.0), ground=True, clearance=0.1), 0.2, t_eval=t
        )
        for side in ("right", "left")
    ]
    level = foot.build(posture_deg=(10.0, 0.0, 0.0), ground=True, clearance=0.1, leg="free").state
    for run, medial in zip(runs, (1.0, -1.0), strict=True):
        assert run.success
        assert run.r["leg"][:, 2] - level.r["leg"][2] == pytest.approx(-0.02 * t, abs=1e-9)
        assert run.r["leg"][:, 1] == pytest.approx(np.full(41, 0.01 * medial), abs=1e-9)
        # Rolled by 0.1 + t the medial side of the leg is up; pitched by 10 degrees about the axis that rolled along.
        medially = run.rotations("leg") @ (0.0, medial, 0.0)
        assert medially[:, 2] == pytest.approx(np.sin(0.1 + t), abs=1e-8)
        assert run.omega["leg"][:, 0] == pytest.approx(np.full(41, medial), abs=1e-7)
    assert np.abs(runs[0].r["toes"] * MIRROR["r"] - runs[1].r["toes"]).max() < 1e-8


@pytest.mark.parametrize("toes, freedoms", [("locked", 2), ("free", 3), ("sprung", 3)])
def test_toes(toes, freedoms):
    system = foot.build(toes=toes)
    assert system.degrees_of_freedom == freedoms and ("toe_spring" in system.motor_names) == (toes == "sprung")


# Landings


@both_ankles
def test_a_landing_balances_momentum_and_energy(ankle):
    system = foot.build(ankle, **LANDING, toes="sprung")
    end = 0.15
    steps = runtime.simulate(system, end, **STIFF).t
    nodes, weights = np.polynomial.legendre.leggauss(8)
    h = np.diff(steps)[:, None]
    times = (steps[:-1, None] + 0.5 * h * (1.0 + nodes)).ravel()
    run = runtime.simulate(system, end, t_eval=np.append(times, end), **STIFF)
    assert run.success and len(run.contact_events) > 3
    assert max(motion.excess.max() for motion in run.limits.values()) > 1e-3
    balance = run.energy_balance
    assert np.abs(balance.error).max() < 1e-9
    assert -sum(work[-1] for work in balance.work.values()) > 1.0  # [J] that the landing dissipates
    forces = sum(contact.force for contact in run.contacts.values())[:-1]
    impulse = (0.5 * h * weights).ravel() @ forces
    masses = {body.name: body.mass for body in system.bodies}
    gained = sum(mass * (run.v[name][-1] - system.state.v[name]) for name, mass in masses.items())
    weight = np.array(system.gravity) * sum(masses.values())
    assert np.abs(impulse).max() > 1.0
    assert np.abs(gained - weight * end - impulse).max() < 1e-9


@both_ankles
def test_a_left_foot_lands_as_the_mirror_image_of_a_right_one(ankle):
    times = np.linspace(0.0, 0.15, 41)
    a, b = (
        runtime.simulate(foot.build(ankle, **LANDING, side=side, toes="sprung"), 0.15, t_eval=times, **STIFF)
        for side in ("right", "left")
    )
    assert len(a.contact_events) > 3
    apart = {
        part: max(np.abs(getattr(a, part)[n] * factor - getattr(b, part)[n]).max() for n in a.r)
        for part, factor in MIRROR.items()
    }
    assert apart["r"] < 1e-12 and max(apart.values()) < 1e-10
    for name in a.system.force_names:
        assert np.abs(a.forces[name].moment - b.forces[name].moment).max() < 1e-9


def sagittal(ankle, **more):
    """The foot with the axes of the sagittal model, whose inversion is held, and its springs."""
    b = builder_of(
        foot.build(
            ankle, talocrural_inclination_deg=0.0, talocrural_deviation_deg=0.0, subtalar_deviation_deg=19.8, toes="sprung",
            ground=True, leg="free", posture_deg=(5.0, 0.0, 0.0), clearance=0.01,
            orthosis=dict(stiffness=(foot.SPRING, 0.0, 0.0), damping=(foot.DAMPER, 0.0, 0.0)), **more,
        )
    )  # fmt: skip
    axis = foot.talocalcaneal_axis()
    across = np.cross(axis, (0.0, 1.0, 0.0))
    # A direction of the foot across both axes keeps its angle to the talocrural axis: the foot cannot turn about its own.
    b.joint("held", "constant_angle", "main_foot", "leg", a_i=across / np.linalg.norm(across), a_j=(0, 1, 0))
    return b.build(check_units=False)


@both_ankles
def test_with_its_subtalar_axis_held_it_moves_as_the_sagittal_model(ankle):
    times = np.linspace(0.0, 0.2, 81)
    own = runtime.simulate(sagittal(ankle), 0.2, t_eval=times, **STIFF)
    known = runtime.simulate(foot_ground.build(height=0.01, pitch_deg=5.0), 0.2, t_eval=times, **STIFF)
    assert own.success and known.success and len(known.contact_events) >= 3
    assert np.array_equal(own.contact_events[:, 1], known.contact_events[:, 1])
    assert max(np.abs(own.r[n] - known.r[n]).max() for n in known.r) < 1e-9
    assert np.ptp(known.angles["ankle"].angle) > 0.1


# Statics


@both_ankles
@pytest.mark.parametrize("limits", [None, "elastic"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_inversion_under_a_lateral_load_is_that_of_the_closed_form(ankle, limits, side):
    """Moment of a couple about the subtalar axis = -dV/dangle of the three springs, plus the moment of the limit."""
    held = dict(stiffness=(100.0, 30.0, 12.0), neutral=(0.0, -0.03, 0.0))
    couple = 25.0 if limits else 8.0  # [N m]
    b = builder_of(foot.build(ankle, side=side, limits=limits, orthosis=held, gravity=(0.0, 0.0, 0.0)))
    axis, medial = foot.talocalcaneal_axis(side=side), np.array([0.0, 1.0 if side == "right" else -1.0, 0.0])
    across = np.cross(axis, foot.talocrural_axis(side=side))
    b.joint(
        "talocrural_held", "constant_angle", "leg", "main_foot", a_i=across / np.linalg.norm(across), a_j=axis
    )  # fmt: skip
    b.load("couple", "main_foot", moment=tuple(couple * axis))
    system = b.build()
    state = runtime.equilibrium(system)
    run = runtime.simulate(system, 1e-9, initial=state)
    rotation = run.rotations("main_foot")[0]
    x = np.array([1.0, 0.0, 0.0])

    def turned(v, angle):
        return v * np.cos(angle) + np.cross(axis, v) * np.sin(angle) + axis * (axis @ v) * (1.0 - np.cos(angle))

    def energy(angle):
        f, m = turned(x, angle), turned(medial, angle)
        angles = np.array([np.arctan2(f[2], f[0]), np.arctan2(m[2], m @ medial), np.arctan2(f @ medial, f[0])])
        return 0.5 * np.array(held["stiffness"]) @ (angles - held["neutral"]) ** 2

    def moment(angle, h=1e-4):
        elastic = (energy(angle - 2 * h) - 8 * energy(angle - h) + 8 * energy(angle + h) - energy(angle + 2 * h)) / (
            12 * h
        )
        excess = max(angle - np.deg2rad(foot.INVERSION_DEG), 0.0) if limits else 0.0
        return couple - elastic - restricting(excess)

    def restricting(excess):
        # Rodrigues da Silva et al. (2024b): the moment grows smoothly from 0 to its maximum over the compliance.
        s = min(excess / foot.COMPLIANCE, 1.0)
        return foot.MAX_MOMENT * s**2 * (3.0 - 2.0 * s)

    expected = brentq(moment, -1.0, 1.0, xtol=1e-14)
    turned_across = rotation @ across
    found = np.arctan2(axis @ np.cross(across, turned_across), across @ turned_across)
    assert found == pytest.approx(expected, abs=1e-9)
    assert (found > np.deg2rad(foot.INVERSION_DEG)) == (limits is not None)
    for name, stiffness, neutral in zip(MOTIONS, held["stiffness"], held["neutral"], strict=True):
        spring = run.forces[f"orthosis_{name}"]
        assert spring.moment[0] == pytest.approx(-stiffness * (spring.angle[0] - neutral), abs=1e-9)


def held_leg(joint, *, p=None, **of_joint):
    """A builder with a leg that is held and a foot below it on an ankle."""
    b = runtime.Builder("held")
    for name, height in (("leg", 0.4), ("foot", 0.0)):
        b.body(name, mass=1.0, inertia=(0.01, 0.02, 0.03), r=(0, 0, height), p=np.eye(3) if p is None else p)
    b.joint("held", "fixed", "ground", "leg")
    b.joint("ankle", joint, "leg", "foot", axes="global", point=(0, 0, 0.1), **of_joint)
    return b


@pytest.mark.parametrize("side, medial", [("right", 1.0), ("left", -1.0)])
def test_angles_of_an_orthosis_have_the_sign_of_their_names(side, medial):
    turns = {"dorsiflexion": (0, -1, 0), "inversion": (medial, 0, 0), "rotation": (0, 0, medial)}
    for name, axis in turns.items():
        b = held_leg("revolute", axis=axis)
        b.orthosis("afo", "leg", "foot", stiffness=(5.0, 4.0, 3.0), side=side)
        b.initial_coordinates("ankle", angle=0.2)
        forces = runtime.simulate(b.build(), 1e-9).forces
        assert forces[f"afo_{name}"].angle[0] == pytest.approx(0.2, abs=1e-12)


# An orthosis by names


def test_each_stiffness_damping_and_mass_of_an_orthosis_is_varied_by_its_name():
    system = foot.build(orthosis=ORTHOSIS)
    known = runtime.parameters(system)
    values = {
        "stiffness.orthosis_dorsiflexion": 55.0, "stiffness.orthosis_inversion": 3.0, "stiffness.orthosis_rotation": 1.0,
        "damping.orthosis_dorsiflexion": 0.9, "damping.orthosis_inversion": 0.8, "damping.orthosis_rotation": 0.7,
        "free_angle.orthosis_inversion": 0.1, "mass.orthosis": 0.5,
    }  # fmt: skip
    assert set(values) <= set(known)
    many = runtime.simulate_many(system, {name: [known[name], value] for name, value in values.items()}, 0.2)
    other = runtime.simulate(runtime.with_parameters(system, values), 0.2, t_eval=[0.2])
    assert many.success and np.abs(many.r["toes"][1, 0] - other.r["toes"][0]).max() < 1e-7
    assert np.abs(many.r["toes"][0] - many.r["toes"][1]).max() > 1e-3


def test_presets_are_the_ends_and_the_middle_of_the_measured_ranges():
    stiffness = {
        name: [foot.build(orthosis=name).force(f"orthosis_{motion}").values["stiffness"] for motion in MOTIONS]
        for name in foot_orthosis.PRESETS
    }
    degrees = {name: np.deg2rad(values) for name, values in stiffness.items()}  # [N m/deg]
    assert degrees["flexible"] == pytest.approx([0.58, 0.0, 0.0])
    assert degrees["stiff"] == pytest.approx([3.66, 0.71, 0.30])
    assert degrees["medium"] == pytest.approx([2.12, 0.355, 0.15])


def test_an_orthosis_has_its_mass_at_its_place_and_is_drawn():
    system = foot.build(
        orthosis=dict(stiffness=(1.0, 1.0, 1.0), mass=0.4, plate=(0.02, 0.01, -0.05)), check_units=False
    )
    state = system.state
    assert system.body("orthosis").mass == 0.4 and system.degrees_of_freedom == 2
    assert state.r["orthosis"] - state.r["main_foot"] == pytest.approx([0.02, 0.01, -0.05], abs=1e-15)
    drawn = [(shape.body, shape.kind) for shape in system.shapes if shape.label == "orthosis"]
    assert ("orthosis", "box") in drawn and ("leg", "capsule") in drawn
    without = foot.build(orthosis="stiff")
    assert "orthosis" not in without.body_names and ("main_foot", "box") in [(s.body, s.kind) for s in without.shapes]


def test_directions_of_an_orthosis_may_be_those_of_any_axes():
    """A foot whose bodies are turned against the anatomical directions: given globally, or in axes of the leg."""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    moments = []
    for axes, anterior, A in (("body", (1, 0, 0), np.eye(3)), ("global", (1, 0, 0), turn), ("body", (0, -3, 0), turn)):
        b = held_leg("spherical", p=A)
        b.orthosis("afo", "leg", "foot", stiffness=(5.0, 3.0, 2.0), anterior=anterior, axes=axes)
        system = b.build()
        state = runtime.assemble(system, system.state.replace(omega={"foot": (1.0, -2.0, 3.0)}))
        run = runtime.simulate(system, 0.1, initial=state, t_eval=[0.1])
        moments.append([run.forces[f"afo_{motion}"].moment[0] for motion in MOTIONS])
    assert np.abs(moments[0]).min() > 0.05
    # Bodies of other inertia in global axes move otherwise; directions given in either way are the same.
    assert moments[1] == pytest.approx(moments[2], abs=1e-9)


# Refused and unlikely values


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(ground=True, sole="round"), "sole = 'round'; use 'normal', 'cavus' or 'flat'"),
        (dict(ground=True, sole=None), "sole = None"),
        (dict(sole="flat"), "sole = 'flat' applies to a foot on the ground only; give ground=True too"),
        (dict(incline_deg=10.0), "incline_deg = 10.0 applies to a foot on the ground only; give ground=True too"),
        (dict(clearance=0.1), "clearance = 0.1 applies to a foot on the ground only"),
        (dict(ground=True, clearance=np.nan), "clearance = nan m must be a finite number"),
        (dict(ground=True, incline_deg=200.0, check_units=False), "incline_deg = 200 degrees must lie between -90 and 90"),
        (dict(ground=True, descent_deg=np.inf), "descent_deg = inf must be a finite number"),
        (dict(ground=True, friction="ice"), "friction = 'ice'; use 'coulomb' or 'smooth'"),
        (dict(ground=True, mu_c=-1.0), "contact 'sphere_1': mu_c = -1, must not be below 0"),
        (dict(ground=True, sole_stiffness=-5.0), "contact 'sphere_1': stiffness = -5 N/m^n, must be above 0"),
        (dict(leg="free"), "leg = 'free' falls for ever; give ground=True too, or leg='fixed'"),
        (dict(leg="loose"), "leg = 'loose'"),
        (dict(leg={}), "leg = {} guides nothing; give some of anterior, medial, up, roll, pitch, yaw"),
        (dict(leg={"z": 0.1}), "leg has no coordinate 'z'; a guided leg takes anterior, medial, up, roll, pitch, yaw"),
        (dict(leg={"up": "high"}), "leg: up = 'high'"),
        (dict(velocity=(1.0, 0.0, 0.0)), "velocity = [1.0, 0.0, 0.0] m/s applies to a free leg only"),
        (dict(posture_deg=(1.0, 2.0)), "posture_deg has the shape (2,); give 3 numbers"),
        (dict(ankle_deg=(1.0, np.nan)), "ankle_deg = [1.0, nan] is not finite"),
        (dict(toes="stiff"), "toes = 'stiff'; use 'locked', 'free' or 'sprung'"),
        (dict(orthosis="stif"), "orthosis = 'stif' is no preset; use 'flexible', 'medium', 'stiff'"),
        (dict(orthosis={"mass": 0.3}), "orthosis has no stiffness; give 'stiffness': three numbers [N m/rad]"),
        (dict(orthosis={"stiffness": (1, 1, 1), "weight": 1}), "orthosis has no 'weight'; it takes stiffness, damping"),
        (
            dict(orthosis={"stiffness": (10.0, -2.0, 1.0)}),
            "orthosis 'orthosis': stiffness of inversion = -2 is negative; give 0 or more",
        ),
        (dict(orthosis={"stiffness": (10.0, 2.0)}), "orthosis 'orthosis': stiffness has 2 entries; give 3"),
        (dict(orthosis={"stiffness": (9, 9, 9), "mass": -1.0}), "orthosis 'orthosis': mass = -1 is negative"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(options, message):
    assert_refused(message, foot.build, **options)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(ground=True, incline_deg=60.0), "incline_deg = 60 degrees, but the incline of a ground is"),
        (dict(ground=True, leg="free", clearance=5.0), "clearance = 5 m, but the height of a foot above the ground is"),
        (dict(ground=True, mu_c=30.0), "mu_c = 30, but a coefficient of friction is at most 2; is"),
        (dict(orthosis={"stiffness": (0.58, 0.0, 0.0)}), "0.58 N m/deg are 33.23 N m/rad"),
        (dict(orthosis={"stiffness": (50.0, 0.0, 0.0), "mass": 400.0}), "400 g are 0.4 kg"),
    ],
)
def test_unlikely_values_are_used_with_a_warning(options, message):
    with pytest.warns(runtime.UnitWarning) as given:
        foot.build(**options)
    assert message in str(given[0].message)
    foot.build(**options, check_units=False)


def test_an_orthosis_that_is_refused_leaves_the_builder_as_it_was():
    b = runtime.Builder("ankle")
    b.body("leg", mass=1.0, inertia=(1, 1, 1))
    b.body("foot", mass=1.0, inertia=(1, 1, 1))
    for options, message in (
        (dict(leg="shank"), "orthosis 'afo': unknown body 'shank'"),
        (dict(leg="foot"), "orthosis 'afo': acts between body 'foot' and itself"),
        (
            dict(up=(2.0, 0.0, 0.0)),
            "orthosis 'afo': anterior and up must be directions of any length that are not parallel",
        ),
        (dict(length=0.0), "orthosis 'afo': length = 0 is not positive"),
        (dict(plate=(1.0,)), "orthosis 'afo': plate has the shape (1,); give 3 numbers"),
    ):
        assert_refused(
            message, b.orthosis, "afo", **dict(leg="leg", foot="foot", stiffness=(1, 1, 1), mass=1.0) | options
        )
        assert not b._of["forces"] and not b._of["shapes"] and list(b._of["bodies"]) == ["leg", "foot"]
    b.orthosis("afo", "leg", "foot", stiffness=(1, 1, 1))
    assert_refused("force 'afo_dorsiflexion'", b.orthosis, "afo", "leg", "foot", stiffness=(1, 1, 1))


# Many landings
