"""The foot of another person: axes, side, size and ranges of motion, against geometry, similarity and the reduced equations."""

import itertools

import numpy as np
import pytest

import models
import runtime
from models import foot
from models.foot_anatomy import FOOT_LENGTH, HEIGHT, MASS, PUBLISHED
from runtime.system.trees import trees_of
from runtime.system.whole_model import module_of
from tests.support.limits import both_ankles
from tests.support.reduced_foot import LINK_LENGTH, MOVING, ReducedFoot
from tests.support.refusals import assert_refused

AXES = dict(
    subtalar_inclination_deg=48.0, subtalar_deviation_deg=11.0, talocrural_inclination_deg=-2.0,
    talocrural_deviation_deg=14.0,
)  # fmt: skip
COORDINATES = ("theta_i", "theta_j")
EXACT = dict(rtol=1e-12, atol=1e-12)


def unit(v):
    return np.array(v) / np.linalg.norm(v)


def tan(name):
    return np.tan(np.radians(AXES[name]))


# By the meaning of a projected angle: the ratio of two components.
SUBTALAR = unit([1.0, tan("subtalar_deviation_deg"), tan("subtalar_inclination_deg")])
TALOCRURAL = unit([tan("talocrural_deviation_deg"), 1.0, tan("talocrural_inclination_deg")])


# Defaults


def test_named_defaults_are_the_published_foot():
    system, named = foot.build(), foot.build(
        side="right", subtalar_inclination_deg=35.3, subtalar_deviation_deg=19.8, talocrural_inclination_deg=8.0,
        talocrural_deviation_deg=6.0, link_length=0.0417, mass=71.0, height=1.77, foot_length=0.27,
    )  # fmt: skip
    for joint, own in zip(system.joints, named.joints, strict=True):
        assert all(np.array_equal(joint.values[name], own.values[name]) for name in joint.values)
    assert np.array_equal(system.state.y, named.state.y)
    assert np.array_equal(runtime.simulate(system, 0.3).states, runtime.simulate(named, 0.3).states)


@both_ankles
@pytest.mark.parametrize("limits", [None, "elastic"])
def test_other_feet_need_no_other_kernel(ankle, limits):
    known = foot.build(ankle, limits=limits)
    other = foot.build(ankle, limits=limits, side="left", mass=50.0, height=1.5, foot_length=0.22, **AXES)
    assert other.model.key == known.model.key and module_of(known.model.key).__name__.startswith("generated.")
    assert trees_of(other).tree.key == trees_of(known).tree.key


# Axes


def test_angles_of_the_axes_are_projected_on_cardinal_planes():
    ankle = foot.build(**AXES).joint("ankle").values
    assert np.abs(ankle["a_i"] - SUBTALAR).max() < 1e-15
    assert np.abs(ankle["a_j"] - TALOCRURAL).max() < 1e-15


@pytest.mark.parametrize("length", [0.0, 0.036])
def test_motion_about_other_axes_against_the_reduced_equations(length):
    times = np.linspace(0.0, 2.0, 41)
    reference = ReducedFoot(length, axes=(TALOCRURAL, SUBTALAR))
    run = runtime.simulate(foot.build(link_length=length, **AXES), 2.0, t_eval=times, **EXACT)
    motions = reference.bodies(reference.solve(times))
    assert max(np.abs(run.r[name] - motions[name].r).max() for name in MOVING) < 1e-10
    assert np.ptp(run.r["main_foot"], axis=0).min() > 0.004


@pytest.mark.parametrize("side", ["right", "left"])
@both_ankles
def test_limits_follow_the_axes(ankle, side):
    system = foot.build(ankle, side=side, limits="elastic", **AXES)
    for turn, limit, still, sign in (
        ("theta_j", "talocrural", "talocalcaneal", 1.0),
        ("theta_i", "talocalcaneal", "talocrural", -1.0),
    ):
        for angle in (0.2, -0.3):
            state = runtime.system.displaced(system, {f"ankle.{turn}": angle})
            run = runtime.simulate(system, 1e-9, initial=state)
            other = run.limits[still]
            assert run.limits[limit].angle[0] == pytest.approx(sign * angle, abs=1e-12)
            assert other.angle[0] == pytest.approx(0.0, abs=1e-12)


def test_ranges_of_motion():
    motion = dict(dorsiflexion_deg=12.0, plantarflexion_deg=50.0, inversion_deg=18.0, eversion_deg=9.0)
    for preset in ("anatomical", "published"):
        system = foot.build(limits="elastic", preset=preset, **motion)
        found = [np.rad2deg(limit.cone.latitudes[:4]) for limit in system.limits]
        assert np.allclose(found, [(12, 1, 50, 1), (1, 18, 1, 9)], atol=1e-12)
    one = foot.build("classical", limits="elastic", preset="published", **motion).limits[0].cone
    assert np.allclose(np.rad2deg(one.latitudes[:4]), (12, 9, 50, 18), atol=1e-12)
    run = runtime.simulate(foot.build(limits="dissipative", plantarflexion_deg=15.0), 4.0)
    assert np.degrees(run.limits["talocrural"].angle[-1]) == pytest.approx(-15.0, abs=1.5)  # it rests on the limit


def test_compliance_of_the_limits():
    """The moment of a limit grows to its largest over the given angle, beyond the range of motion."""
    system = foot.build(limits="elastic", limit_compliance=0.1)
    assert [limit.compliance for limit in system.limits] == [0.1, 0.1]
    assert [limit.compliance for limit in foot.build(limits="elastic").limits] == [np.deg2rad(11.5)] * 2
    moments = []
    for share in (0.5, 1.0, 1.5):
        state = runtime.system.displaced(system, {"ankle.theta_j": np.deg2rad(20.0) + 0.1 * share})
        moments.append(runtime.simulate(system, 1e-9, initial=state).limits["talocrural"].restricting_moment[0])
    assert 0.0 < moments[0] < 0.9 * moments[1] and moments[1:] == pytest.approx([226.0, 226.0], rel=1e-9)
    with pytest.warns(runtime.UnitWarning, match="limit_compliance = 11.5 rad"):
        foot.build(limits="elastic", limit_compliance=11.5)


# Length of the talus


def test_length_and_point_by_name_are_the_built_talus():
    """The recipe of the page *Ask the foot*; the length alone is another foot."""
    length = np.array([0.022, 0.036, 0.0474])
    system = foot.build()
    known = runtime.parameters(system)
    point = known["s_i.ankle"] - np.outer(length - known["l.ankle"], [0, 0, 1])
    settings = dict(t_eval=np.linspace(0, 1, 11), rtol=1e-10, atol=1e-10)
    built = runtime.simulate_many(foot.build, {"link_length": length}, 1.0, **settings)
    both = runtime.simulate_many(system, {"l.ankle": length, "s_i.ankle": point}, 1.0, assemble=True, **settings)
    assert built.success and both.success
    assert np.abs(both.r["main_foot"] - built.r["main_foot"]).max() < 1e-8
    alone = runtime.simulate_many(system, {"l.ankle": length[1:]}, 1.0, assemble=True, **settings)
    assert np.abs(alone.r["main_foot"] - built.r["main_foot"][1:]).max() > 1e-3


@pytest.mark.parametrize("side", ["right", "left"])
def test_coordinates_of_the_ankle_are_positive_in_eversion_and_dorsiflexion(side):
    system = foot.build(side=side)
    for coordinate, moved, sign in (("theta_i", "inversion", -1.0), ("theta_j", "dorsiflexion", 1.0)):
        state = runtime.system.displaced(system, {f"ankle.{coordinate}": 0.1})
        run = runtime.simulate(system, 1e-4, t_eval=[0.0, 1e-4], initial=state)
        assert run.angles["ankle"][coordinate][0] == pytest.approx(0.1)
        assert sign * getattr(models.isb.ankle_angles(run), moved)[0] > np.radians(4.0)


# Side


def mirror_image(system, state):
    """The mirror image of a state: y of polar vectors and x and z of axial vectors change their signs."""
    mirror, axial, turn = np.array([1, -1, 1]), np.array([-1, 1, -1]), np.array([1, -1, 1, -1])
    factors = dict(r=mirror, p=turn, v=mirror, omega=axial)
    parts = {part: {n: getattr(state, part)[n] * factor for n in system.body_names} for part, factor in factors.items()}
    return system.state.replace(**parts)


@both_ankles
@pytest.mark.parametrize(
    "limits, preset",
    [(None, "anatomical"), *itertools.product(("elastic", "dissipative"), ("anatomical", "published"))],
)
def test_left_foot_moves_as_the_mirror_image_of_the_right_one(ankle, limits, preset):
    options = dict(ankle=ankle, limits=limits, preset=preset, foot_length=0.25, **AXES)
    right, left = (foot.build(side=side, **options) for side in ("right", "left"))
    thrown = right.state.replace(omega=dict.fromkeys(MOVING, (1.0, -3.0, 2.0)))
    start = runtime.assemble(right, thrown)
    times = np.linspace(0.0, 1.0, 101)
    a = runtime.simulate(right, 1.0, initial=start, t_eval=times, **EXACT)
    b = runtime.simulate(left, 1.0, initial=mirror_image(left, start), t_eval=times, **EXACT)
    factors = dict(r=(1, -1, 1), p=(1, -1, 1, -1), v=(1, -1, 1), omega=(-1, 1, -1))
    apart = {
        part: max(np.abs(getattr(a, part)[n] * factor - getattr(b, part)[n]).max() for n in a.r)
        for part, factor in factors.items()
    }
    apart |= {
        name: np.abs(getattr(a.angles["ankle"], name) - getattr(b.angles["ankle"], name)).max() for name in COORDINATES
    }
    apart |= {name: np.abs(a.limits[name].angle - b.limits[name].angle).max() for name in right.limit_names}
    assert apart.pop("r") < 1e-12
    # The single cone of the published classical joint: the nearest direction on the mirrored cone is found by iteration.
    assert max(apart.values()) < (1e-8 if right.limit_names == ("talocrural",) else 1e-10)
    if limits:
        assert max(motion.excess.max() for motion in a.limits.values()) > 0.001
    assert np.ptp(a.r["main_foot"][:, 1]) > 0.001  # to the side


@pytest.mark.parametrize("side, medial", [("right", 1.0), ("left", -1.0)])
def test_dorsiflexion_and_inversion_are_positive_on_both_sides(side, medial):
    system = foot.build(side=side, limits="elastic")
    tip, border = np.array([0.1, 0.0, 0.0]), np.array([0.0, 0.04 * medial, 0.0])
    for turn, limit, point in (("theta_j", "talocrural", tip), ("theta_i", "talocalcaneal", border)):
        for angle in (0.1, -0.1):
            state = runtime.system.displaced(system, {f"ankle.{turn}": angle})
            run = runtime.simulate(system, 1e-9, initial=state)
            risen = (run.rotations("main_foot")[0] @ point - point)[2]  # the toes, or the medial border
            assert np.sign(run.limits[limit].angle[0]) == np.sign(risen)


def test_left_foot_says_so():
    system = foot.build("classical", side="left")
    data = runtime.simulate(system, 0.01).to_xarray()
    assert data.attrs["model"] == "left foot, classical ankle"
    assert "lateral of a left foot" in data.attrs["convention"]
    right, left = ({(s.body, *np.round(s.at, 12)) for s in foot.build(side=side).shapes} for side in ("right", "left"))
    assert left == {(body, x, -y + 0.0, z) for body, x, y, z in right}


# Size


def test_size_is_a_similarity():
    """Lengths and gravity by k, in the same time: positions by k, equal angles, energies by k^2 and the ratio of masses."""
    k, m = 0.8, 0.6
    gravity = np.array([0.0, 0.0, -9.81])
    times = np.linspace(0.0, 1.0, 41)
    one = runtime.simulate(foot.build(gravity=gravity), 1.0, t_eval=times, **EXACT)
    small = foot.build(gravity=k * gravity, mass=m * MASS, height=k * HEIGHT, foot_length=k * FOOT_LENGTH)
    other = runtime.simulate(small, 1.0, t_eval=times, **EXACT)
    assert max(np.abs(k * one.r[n] - other.r[n]).max() for n in one.r) < 1e-11
    assert max(np.abs(one.p[n] - other.p[n]).max() for n in one.r) < 1e-10
    assert np.abs(m * k**2 * one.energy - other.energy).max() < 1e-10
    assert small.joint("ankle").values["l"] == pytest.approx(k * LINK_LENGTH, rel=1e-15)
    assert foot.build(height=k * HEIGHT).state.r["toes"] == pytest.approx(small.state.r["toes"], rel=1e-14)


def test_parts_of_the_size():
    base = foot.build(limits="dissipative")
    tall = foot.build(height=2.0, foot_length=FOOT_LENGTH, limits="dissipative")
    for body in ("toes", "main_foot"):
        assert np.array_equal(tall.state.r[body], base.state.r[body])
    k = 2.0 / HEIGHT
    assert tall.body("leg").inertia == pytest.approx(base.body("leg").inertia * k**2, rel=1e-14)
    assert tall.state.r["leg"][2] - 0.1075 == pytest.approx(0.2438 * k, rel=1e-14)
    heavy = foot.build(mass=142.0, limits="dissipative")
    for body in base.body_names:
        assert heavy.body(body).mass == 2 * base.body(body).mass
        assert np.array_equal(heavy.body(body).inertia, 2 * base.body(body).inertia)
    assert heavy.limits[0].damping == pytest.approx(0.008 * 142.0, rel=1e-14)
    long = foot.build(foot_length=0.3)
    assert long.body("toes").inertia == pytest.approx(base.body("toes").inertia * (0.3 / 0.27) ** 2, rel=1e-14)
    assert np.array_equal(long.body("leg").inertia, base.body("leg").inertia)


def test_size_of_the_foot_above_the_ground():
    known = models.foot_ground.build()
    other = models.foot_ground.build(mass=40.0, body_height=1.4, foot_length=0.2, height=0.03)
    assert other.model.key == known.model.key
    k = 0.2 / FOOT_LENGTH
    for one, own in zip(known.contacts, other.contacts, strict=True):
        assert own.values["radius"] == pytest.approx(k * one.values["radius"], rel=1e-14)
        assert own.values["s_i"] == pytest.approx(k * one.values["s_i"], abs=1e-15)
    contact = runtime.simulate(other, 1e-6).contacts
    assert max(float(motion.penetration[0]) for motion in contact.values()) == pytest.approx(-0.03, abs=1e-12)


# Refused values


@pytest.mark.parametrize("name", PUBLISHED)
def test_axes_outside_of_the_published_range_are_asked_about(name):
    least, most, source = PUBLISHED[name]
    for value in (least - 0.5, most + 0.5):
        parts = (
            f"{name} = {value:g} degrees",
            f"{least:g} to {most:g} degrees",
            source,
            "check_units=False accepts it",
        )
        assert_refused(parts, foot.build, **{name: value})
        assert foot.build(**{name: value}, check_units=False).degrees_of_freedom == 2
    assert all(foot.build(**{name: value}).degrees_of_freedom == 2 for value in (least, most))
    for value in (90.0, -100.0, np.inf, np.nan):
        assert_refused(name, foot.build, **{name: value}, check_units=False)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(subtalar_inclination_deg=0.7), "0.7 rad are 40.11 degrees"),
        (dict(side="medial"), "side = 'medial'; use 'right' or 'left'"),
        (dict(mass=-1.0), "mass = -1 kg must be a finite value above 0 kg"),
        (dict(height=177.0), "177 cm are 1.77 m"),
        (dict(foot_length=270.0), "270 mm are 0.27 m"),
        (dict(inversion_deg=20.0), "inversion_deg = 20 applies to limits only"),
        (dict(inversion_deg=-20.0, limits="elastic"), "inversion_deg = -20 degrees must lie between 0 and 180"),
        (dict(dorsiflexion_deg=0.35, limits="elastic"), "a range of motion of the ankle is 1 to 90 degrees"),
        (dict(limit_compliance=0.1), "limit_compliance = 0.1 rad applies to limits only; give limits='elastic'"),
        (dict(limit_compliance=-0.1, limits="elastic"), "compliance = -0.1"),
    ],
)
def test_other_values_are_refused(options, message):
    assert_refused(message, foot.build, **options)


# Many feet
