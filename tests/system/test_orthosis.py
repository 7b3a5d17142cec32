"""Orthoses of a builder: laws by direction, table and equation; hinge and straps against closed forms; names, files, refusals."""

import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.transform import Rotation
from sympy import atan2

import codegen
import models
import runtime
from runtime.system.orthosis import MOTIONS
from tests.support.refusals import assert_refused

ANKLE = np.array([0.0, 0.0, 0.1])  # [m] global, on the axis of the ankle
LEG, FOOT = np.array([0.0, 0.0, 0.4]), np.array([0.05, 0.0, 0.04])  # centres of mass
CUFF = np.array([0.0, 0.0, -0.05])  # from that of the leg
DORSIFLEXION = np.array([0.0, -1.0, 0.0])
SIX = (2e4, 1.5e4, 1e4, 40.0, 30.0, 20.0)  # of straps [N/m], [N m/rad]
HINGE = {"point": ANKLE, "axis": DORSIFLEXION}
STRAPS = {"cuff": {"stiffness": SIX}}
MECHANISM = dict(stiffness=(0.0, 0.0, 0.0), mass=(0.2, 0.15), hinge=HINGE, straps=STRAPS, cuff=CUFF, axes="global")


def ankle(joint="revolute", **of_joint):
    """A builder with a leg that is held and a foot below it, without gravity."""
    b = runtime.Builder("worn", gravity=(0, 0, 0))
    b.body("leg", mass=3.0, inertia=(0.05, 0.05, 0.01), r=LEG)
    b.body("foot", mass=1.0, inertia=(0.002, 0.004, 0.004), r=FOOT)
    b.joint("held", "fixed", "ground", "leg")
    of_joint = of_joint or ({"axis": DORSIFLEXION} if joint == "revolute" else {})
    b.joint(
        "ankle", joint, "leg", "foot", axes="global", **({"point": ANKLE} if "s_i" not in of_joint else {}) | of_joint
    )
    return b


def held(b, angle):
    """With the dorsiflexion of a hinge at the ankle prescribed."""
    b.driver(
        "bent",
        "guided_angle",
        "leg",
        "foot",
        axes="global",
        a_i=(1, 0, 0),
        h_i=DORSIFLEXION,
        b_j=(1, 0, 0),
        theta_t=angle,
    )
    return b


def at_rest(b):
    """Forces of the equilibrium, by name."""
    system = b.build()
    return runtime.simulate(system, 1e-9, initial=runtime.equilibrium(system)).forces


def couple(b, body, moment):
    b.load("couple", body, moment=tuple(moment))
    return b


# Laws of the springs


@pytest.mark.parametrize("moment", [4.0, -4.0])
@pytest.mark.parametrize(("motion", "axis"), [(0, (0, -1, 0)), (1, (1, 0, 0)), (2, (0, 0, 1))])
def test_each_direction_of_a_pair_has_its_stiffness(motion, axis, moment):
    """Positive are dorsiflexion, inversion and internal rotation of a right foot."""
    b = couple(ankle("revolute", axis=axis), "foot", moment * np.array(axis))
    stiffness, neutral = [0.0, 0.0, 0.0], np.zeros(3)
    stiffness[motion], neutral[motion] = (40.0, 10.0), 0.03
    b.orthosis("afo", "leg", "foot", stiffness=stiffness, neutral=neutral)
    spring = at_rest(b)[f"afo_{MOTIONS[motion]}"]
    assert spring.angle[0] == pytest.approx(0.03 + (moment / 40.0 if moment > 0.0 else moment / 10.0), abs=1e-12)
    assert spring.moment[0] == pytest.approx(-moment, abs=1e-9)
    assert spring.energy[0] == pytest.approx(moment**2 / 2.0 / (40.0 if moment > 0.0 else 10.0), abs=1e-9)


CURVE = np.column_stack([np.deg2rad([-20.0, -10.0, 0.0, 5.0, 15.0, 25.0]), [-9.0, -4.0, 0.0, 3.0, 20.0, 45.0]])


@pytest.mark.parametrize("moment", [12.0, -6.0, 60.0])
def test_a_curve_is_the_natural_spline_through_its_points_from_the_neutral_angle_on(moment):
    b = couple(ankle(), "foot", moment * DORSIFLEXION)
    b.orthosis("afo", "leg", "foot", stiffness=(CURVE, 0.0, 0.0), neutral=(-0.04, 0.0, 0.0))
    curve = CubicSpline(*CURVE.T, bc_type="natural")

    def resisting(angle):
        inside = np.clip(angle, CURVE[0, 0], CURVE[-1, 0])
        return curve(inside) + curve(inside, 1) * (angle - inside)  # goes on by its tangents

    spring = at_rest(b)["afo_dorsiflexion"]
    expected = brentq(lambda angle: resisting(angle) - moment, -1.0, 1.0, xtol=1e-14)
    assert spring.angle[0] == pytest.approx(expected - 0.04, abs=1e-11)
    assert spring.moment[0] == pytest.approx(-moment, abs=1e-9)


def cubic(a_i, b_i, c_j, k3, damping, coordinate, rate, along):
    """A spring that stiffens with the third power of the angle.

    k3 : [N m/rad^3], 0 <= k3
    damping : [N m s/rad], 0 <= damping
    angle : [rad]
    moment : [N m]
    """
    angle = coordinate(atan2(c_j.dot(a_i.cross(b_i)), c_j.dot(b_i)))
    return {
        "potential": k3 / 4 * angle**4, "dissipation": damping / 2 * rate(angle) ** 2, "angle": angle, "moment": along(angle)
    }  # fmt: skip


def test_a_law_of_the_users_own_takes_the_place_of_a_stiffness():
    law = codegen.compile_force(cubic)
    b = couple(ankle(), "foot", 2.0 * DORSIFLEXION)
    b.orthosis("afo", "leg", "foot", stiffness=({"law": law, "k3": 250.0}, 0.0, 0.0), damping=(0.3, 0.0, 0.0))
    assert at_rest(b)["afo_dorsiflexion"].angle[0] == pytest.approx(0.2, abs=1e-9)
    known = runtime.parameters(b.build())
    assert known["k3.afo_dorsiflexion"] == 250.0 and known["damping.afo_dorsiflexion"] == 0.3
    assert_refused(
        "force 'afo_inversion' (cubic): unused free_angle", ankle().orthosis, "afo", "leg", "foot",
        stiffness=(0.0, {"law": law, "k3": 1.0}, 0.0), neutral=(0.0, 0.1, 0.0),
    )  # fmt: skip


# A hinge and straps


@pytest.mark.parametrize("angle", [0.35, -0.35])
@pytest.mark.parametrize("aside", [(0.012, 0.0, 0.0), (-0.012, 0.0, 0.0), (0.0, 0.0, 0.015), (0.008, 0.02, -0.01)])
def test_the_straps_of_a_displaced_hinge_carry_what_the_closed_form_says(angle, aside):
    """Springs against displacements: the cuff's centre takes the point of its circle about the hinge nearest to its place."""
    k = 1.7e4
    b = held(ankle(), angle)
    moved = MECHANISM | dict(
        hinge={"point": ANKLE + aside, "axis": (0, 2, 0)}, straps={"cuff": {"stiffness": (k, k, k, 0, 0, 0)}}
    )
    b.orthosis("afo", "leg", "foot", **moved)
    straps = at_rest(b)["afo_cuff_strap"]
    turned = ANKLE + Rotation.from_rotvec(angle * DORSIFLEXION).apply(aside)
    radii = [np.hypot(*(LEG + CUFF - point)[[0, 2]]) for point in (ANKLE + aside, turned)]
    assert abs(radii[1] - radii[0]) > 1e-4
    assert np.linalg.norm(straps.force[0]) == pytest.approx(k * abs(radii[1] - radii[0]), rel=1e-9)
    assert straps.energy[0] == pytest.approx(0.5 * k * (radii[1] - radii[0]) ** 2, rel=1e-9)


def test_a_hinge_turned_in_the_transverse_plane_tilts_the_cuff_by_the_projected_angle():
    """Stiff against turns, free along: the cuff keeps its attitude but for the turn that the hinge does not allow."""
    angle, turn = 0.3, np.deg2rad(12.0)
    b = held(ankle(), angle)
    axis = Rotation.from_rotvec((0, 0, turn)).apply(DORSIFLEXION)
    soft = dict(straps={"cuff": {"stiffness": (0, 0, 0, 50.0, 50.0, 50.0)}}, hinge={"point": ANKLE, "axis": axis})
    b.orthosis("afo", "leg", "foot", **MECHANISM | soft)
    angles = at_rest(b)["afo_cuff_strap"].angles[0]
    R = Rotation.from_rotvec(angle * DORSIFLEXION)

    def turns(back):
        cuff = (R * Rotation.from_rotvec(-back * axis)).as_matrix()
        x, y, z = np.arctan2(-cuff[1, 2], cuff[2, 2]), np.arcsin(cuff[0, 2]), np.arctan2(-cuff[0, 1], cuff[0, 0])
        return np.array([x, y, z])

    best = minimize_scalar(
        lambda back: (turns(back) ** 2).sum(), bounds=(0.0, 0.6), method="bounded", options={"xatol": 1e-12}
    ).x
    assert angles == pytest.approx(turns(best), abs=1e-7)
    assert abs(angles[0]) == pytest.approx(angle * np.sin(turn) * np.cos(turn), rel=0.02)


TWO = np.array([DORSIFLEXION, [0.7, 0.3, 0.6]])
BELOW = ANKLE - (0.0, 0.0, 0.04)


@pytest.mark.parametrize("apart", [True, False], ids=["link", "one point"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_two_axes_that_coincide_with_those_of_the_ankle_load_no_strap(side, apart):
    axes = TWO / np.linalg.norm(TWO, axis=1)[:, None] * ((1, 1, 1) if side == "right" else ((1, 1, 1), (-1, 1, -1)))
    points = np.array([ANKLE, BELOW if apart else ANKLE])
    ends = dict(s_i=points[0], s_j=points[1], a_i=axes[0], a_j=axes[1])
    b = ankle("modified_universal" if apart else "universal", **ends, **({"l": 0.04} if apart else {}))
    hinge = {"point": points if apart else ANKLE, "axis": axes * [[2.0], [-3.0]]}
    b.orthosis("afo", "leg", "foot", **MECHANISM | dict(hinge=hinge, side=side, stiffness=((9.0, 4.0), 5.0, 0.0)))
    for joint in ("ankle", "afo_hinge"):
        b.initial_coordinates(joint, theta_i=0.25, theta_j=-0.15)
    forces = runtime.simulate(b.build(), 1e-9).forces
    assert np.abs(forces["afo_cuff_strap"].force[0]).max() < 1e-9
    assert forces["afo_dorsiflexion"].angle[0] == pytest.approx(0.25, abs=1e-12)
    assert forces["afo_inversion"].angle[0] == pytest.approx(-0.15, abs=1e-12)
    assert forces["afo_dorsiflexion"].moment[0] == pytest.approx(-9.0 * 0.25, abs=1e-11)
    assert forces["afo_inversion"].moment[0] == pytest.approx(5.0 * 0.15, abs=1e-11)


def test_bands_only_pull():
    """A cuff between two bands, turned by a couple about its hinge: one band is slack."""
    k, moment = 5e3, 6.0
    ends = [LEG + CUFF + (x, 0.0, 0.0) for x in (0.08, -0.08)]
    bands = [dict(s_i=end - LEG, s_j=(0, 0, 0), stiffness=k, slack_length=0.08) for end in ends]
    b = held(ankle(), 0.0)
    b.orthosis("afo", "leg", "foot", **MECHANISM | dict(straps={"cuff": {"bands": bands}}))
    forces = at_rest(couple(b, "afo_cuff", moment * DORSIFLEXION))
    radius = (LEG + CUFF - ANKLE)[2]

    def placed(angle):
        return ANKLE + Rotation.from_rotvec(angle * DORSIFLEXION).apply((0.0, 0.0, radius))

    def energy(angle):
        stretch = [max(np.linalg.norm(placed(angle) - end) - 0.08, 0.0) for end in ends]
        return 0.5 * k * np.square(stretch).sum() - moment * angle

    h = 1e-5
    angle = brentq(lambda a: (energy(a + h) - energy(a - h)) / (2 * h), 1e-3, 0.3, xtol=1e-13)
    tensions = [k * max(np.linalg.norm(placed(angle) - end) - 0.08, 0.0) for end in ends]
    found = [forces[f"afo_cuff_strap_{n}"].tension[0] for n in (1, 2)]
    assert found == pytest.approx(tensions, rel=1e-6) and min(tensions) == 0.0 < max(tensions)


def test_straps_of_the_plate_and_of_the_cuff_share_a_load():
    b = held(ankle(), 0.0)
    both = {"cuff": {"stiffness": SIX, "damping": (1.0,) * 6}, "plate": {"stiffness": (3e4,) * 3 + (90.0,) * 3}}
    b.orthosis("afo", "leg", "foot", **MECHANISM | dict(straps=both, plate=(-0.05, 0.0, 0.0)))  # below the cuff
    b.load("push", "afo_cuff", force=(0.0, 0.0, 80.0))
    forces = at_rest(b)
    for part, k in (("cuff", SIX[2]), ("plate", 3e4)):
        assert forces[f"afo_{part}_strap"].force[0, 2] == pytest.approx(-80.0 * k / (SIX[2] + 3e4), rel=1e-6)
    known = runtime.parameters(b.build())
    assert known["kz.afo_plate_strap"] == 3e4 and known["ctx.afo_cuff_strap"] == 1.0


def test_parts_of_an_orthosis_have_their_masses_and_move_with_the_segments():
    b = runtime.Builder("turning", gravity=(0, 0, 0))
    spin = np.array([0.5, -0.3, 0.8])
    for name, r in (("leg", LEG), ("foot", FOOT)):
        b.body(name, mass=2.0, inertia=(0.02, 0.03, 0.04), r=r, v=np.cross(spin, r), omega=spin, free=True)
    b.joint("ankle", "revolute", "leg", "foot", axes="global", point=ANKLE, axis=DORSIFLEXION)
    b.orthosis("afo", "leg", "foot", **MECHANISM | dict(plate=(0.01, 0.0, -0.03), length=0.25))
    system = b.build()
    assert system.body("afo").mass == 0.2 and system.body("afo_cuff").mass == 0.15
    radius = 0.27 * 0.25
    assert np.diag(system.body("afo_cuff").inertia) == pytest.approx(0.15 * radius**2 * np.array([0.5, 0.5, 1.0]))
    run = runtime.simulate(system, 0.2, t_eval=[0.0, 0.2], rtol=1e-10, atol=1e-10)
    assert run.r["afo"][0] == pytest.approx(FOOT + (0.01, 0.0, -0.03)) and run.r["afo_cuff"][0] == pytest.approx(
        LEG + CUFF
    )
    for body in ("afo", "afo_cuff"):
        assert run.omega[body][0] == pytest.approx(spin, abs=1e-12)
        assert run.v[body][0] == pytest.approx(np.cross(spin, run.r[body][0]), abs=1e-12)


# Names, cases, sensitivities


def moving(**changed):
    b = ankle("universal", s_i=ANKLE, s_j=ANKLE, a_i=TWO[0], a_j=(1, 0, 0))
    damped = {"cuff": {"stiffness": SIX, "damping": (30.0,) * 3 + (0.1,) * 3}}
    one = dict(
        hinge={"point": ANKLE + (0.01, 0.0, 0.0), "axis": TWO[0]}, straps=damped, stiffness=((30.0, 12.0), 0.0, 0.0)
    )
    b.orthosis("afo", "leg", "foot", **MECHANISM | one | changed)
    b.load("push", "foot", force=(0.0, 3.0, 20.0))
    return b.build()


NAMES = ("stiffness.afo_dorsiflexion", "reverse_stiffness.afo_dorsiflexion", "kx.afo_cuff_strap", "mass.afo_cuff")


def test_cases_by_name_are_vectorised_and_agree_with_single_runs():
    system = moving()
    known = runtime.parameters(system)
    cases = {name: known[name] * np.linspace(0.8, 1.2, 4) for name in NAMES}
    many = runtime.simulate_many(system, cases, 0.15, rtol=1e-9, atol=1e-9)
    assert many.success and many.vectorised.all()
    for n in (0, 3):
        own = runtime.with_parameters(system, {name: values[n] for name, values in cases.items()})
        run = runtime.simulate(own, 0.15, t_eval=many.t, rtol=1e-10, atol=1e-10)
        assert np.abs(many.r["afo_cuff"][n] - run.r["afo_cuff"]).max() < 1e-7
    assert np.abs(many.r["afo_cuff"][0] - many.r["afo_cuff"][3]).max() > 1e-4


def test_sensitivities_agree_with_differences():
    system, t = moving(), [0.05, 0.12]
    known = runtime.parameters(system)
    values = {name: known[name] for name in NAMES}
    found = runtime.sensitivities(system, values, t[-1], t_eval=t, rtol=1e-10, atol=1e-10)
    for n, (name, value) in enumerate(values.items()):
        h = 1e-4 * value
        ends = [
            runtime.simulate(
                runtime.with_parameters(system, {name: value + s * h}), t[-1], t_eval=t, rtol=1e-12, atol=1e-12
            )
            for s in (1.0, -1.0)
        ]
        slope = (ends[0].r["foot"] - ends[1].r["foot"]) / (2 * h)
        assert np.abs(found.r["foot"][:, :, n] - slope).max() < 1e-5 * np.abs(slope).max() + 1e-12, name


# Files and views


def test_a_file_holds_the_whole_orthosis(tmp_path):
    system = moving(stiffness=(CURVE, 0.0, 0.0))
    again = runtime.Builder.from_file(system.to_file(tmp_path / "worn.json")).build()
    runs = [runtime.simulate(one, 0.1, t_eval=[0.1]) for one in (system, again)]
    assert np.array_equal(runs[0].r["afo_cuff"], runs[1].r["afo_cuff"])
    assert [(s.body, s.kind, s.label) for s in again.shapes] == [(s.body, s.kind, s.label) for s in system.shapes]


@pytest.mark.parametrize(
    ("suffix", "names"),
    [
        (".xml", "afo_cuff_strap, afo_dorsiflexion"),
        (".urdf", "afo_cuff_strap, afo_dorsiflexion"),
        (".osim", "afo_dorsiflexion"),
    ],
)
def test_what_a_format_cannot_state_is_refused_by_name(suffix, names, tmp_path):
    file = tmp_path / f"worn{suffix}"
    assert_refused((f"forces ({names}: ", "ignore='forces'"), models.write, moving(), file, ignore="loads,gravity")


def test_cuff_plate_and_axes_are_drawn_on_the_bodies_that_carry_them():
    b = ankle("universal", s_i=ANKLE, s_j=ANKLE, a_i=TWO[0], a_j=(1, 0, 0))
    b.orthosis("afo", "leg", "foot", **MECHANISM | dict(hinge={"point": ANKLE, "axis": [TWO[0], (1, 0, 0)]}))
    drawn = [(shape.body, shape.kind) for shape in b.shapes if shape.label == "afo"]
    assert {body for body, _ in drawn} == {"afo", "afo_cuff"} and drawn.count(("afo", "box")) == 1
    *_, first, second = b.shapes
    for shape, body, centre, axis in ((first, "afo_cuff", LEG + CUFF, TWO[0]), (second, "afo", FOOT, (1, 0, 0))):
        half = 0.5 * shape.sizes[1] * shape.rotation[:, 2]
        assert shape.body == body and centre + shape.at + half == pytest.approx(ANKLE, abs=1e-12)
        assert np.abs(np.cross(half, axis)).max() < 1e-12


# Refusals and warnings


BAND = dict(s_i=(0.05, 0.0, -0.05), s_j=(0.05, 0.0, 0.0), stiffness=1e4, slack_length=0.05)
SPRING = {"law": "hinge_spring", "stiffness": 3.0, "damping": 0.1, "free_angle": 0.0}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (dict(straps={}), ("its cuff is not fastened", "in parallel, which lock unless they coincide", "give straps=")),
        (dict(straps={"plate": {"stiffness": SIX}}), "its cuff is not fastened"),
        (dict(straps=STRAPS | {"shoe": {}}), "straps: unknown part 'shoe'"),
        (dict(straps={"cuff": {}}), "straps of the cuff: missing stiffness"),
        (dict(straps={"cuff": {"stiffness": SIX[:3]}}), "straps of the cuff: stiffness has the shape (3,); give 6 numbers"),
        (dict(straps={"cuff": {"stiffness": (-1.0, *SIX[1:])}}), "of the cuff: stiffness: number 0 = -1 is negative"),
        (dict(straps={"cuff": {"stiffness": SIX, "damping": (0, 0, -1, 0, 0, 0)}}), "cuff: damping: number 2 = -1 is negative"),
        (dict(straps={"cuff": {"bands": 3}}), "bands = 3; give a list of mappings"),
        (dict(straps={"cuff": SIX}), "straps of the cuff = "),
        (dict(straps={"cuff": {"bands": [{"stiffness": 1.0}]}}), "force 'afo_cuff_strap_1' (cable): missing s_i, s_j, slack"),
        (dict(hinge=None), "straps fasten the parts that a hinge joins"),
        (dict(hinge={"point": ANKLE}), "hinge: missing axis; needs point and axis"),
        (dict(hinge=HINGE | {"axis": (0, 0, 0)}), "hinge: axis is the zero vector"),
        (dict(hinge=HINGE | {"axis": (0, 1)}), "hinge: axis has the shape (2,); give 3 numbers, or (2, 3)"),
        (dict(hinge=HINGE | {"point": [ANKLE, BELOW]}), "hinge: two points, but one axis"),
        (dict(hinge=HINGE | {"axis": [(0, 1, 0), (0, -2, 0)]}), "hinge: its two axes are parallel"),
        (dict(mass=0.3), "mass of plate and cuff [kg] has the shape (); give 2 numbers"),
        (dict(mass=(0.3, 0.0)), "mass of the cuff = 0 is not positive"),
        (dict(stiffness=(5.0, 1.0, 0.0)), "its hinge has no inversion; give 0 for stiffness, damping and neutral of inversion"),
        (dict(damping=(0.0, 0.0, 0.1)), "its hinge has no rotation"),
        (dict(stiffness=(1.0, 2.0)), "stiffness has 2 entries; give 3, about dorsiflexion, inversion, rotation"),
        (dict(stiffness=((1.0, -2.0), 0.0, 0.0)), "stiffness of dorsiflexion = -2 is negative"),
        (dict(stiffness=({"k": 1.0}, 0.0, 0.0)), "stiffness of dorsiflexion: missing law; give {'law': "),
        (dict(stiffness=({"law": np, "k": 1.0}, 0.0, 0.0)), "force 'afo_dorsiflexion': module numpy is no kind of force"),
        (dict(stiffness=({"law": "hinge"}, 0.0, 0.0)), "force 'afo_dorsiflexion': unknown kind 'hinge'"),
        (dict(stiffness=(SPRING | {"a_i": (0, 0, 1)}, 0.0, 0.0)), "stiffness of dorsiflexion: a_i is given by the orthosis"),
        (dict(stiffness=(SPRING, 0.0, 0.0), damping=(0.2, 0.0, 0.0)), "stiffness of dorsiflexion: damping is given by the"),
        (dict(stiffness=(CURVE[::-1], 0.0, 0.0)), "'afo': stiffness of dorsiflexion["),
        (dict(stiffness=((1.0, 2.0, 3.0), 0.0, 0.0)), "stiffness of dorsiflexion has the shape (3,)"),
        (dict(stiffness=(0.0, CURVE, 0.0)), "its hinge has no inversion; give 0"),
        (dict(stiffness=(0.0, (1.0, 2.0), 0.0)), "its hinge has no inversion; give 0"),
        (dict(stiffness=("soft", 0.0, 0.0)), "stiffness of dorsiflexion = 'soft'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence_and_nothing_is_added(changed, words):
    b = ankle()
    shapes = len(b.shapes)
    assert_refused(words, b.orthosis, "afo", "leg", "foot", **MECHANISM | changed)
    assert len(b.shapes) == shapes and list(b._of["bodies"]) == ["leg", "foot"] and not b._of["forces"]
    b.orthosis("afo", "leg", "foot", **MECHANISM)


def worn(**values):
    b = ankle()
    return b, lambda: b.orthosis("afo", "leg", "foot", **MECHANISM | values)


@pytest.mark.parametrize(
    ("values", "question"),
    [
        (dict(stiffness=(0.6, 0.0, 0.0)), "stiffness of dorsiflexion = 0.6 N m/rad.*0.6 N m/deg are 34.38"),
        (dict(stiffness=((0.6, 0.4), 0.0, 0.0)), "stiffness of dorsiflexion = 0.6 N m/rad"),
        (dict(stiffness=(CURVE * (180 / np.pi, 1), 0.0, 0.0)), "stiffness of dorsiflexion: angle = .* degrees are"),
        (dict(stiffness=(CURVE * (1, 1e3), 0.0, 0.0)), r"stiffness of dorsiflexion: moment = 45000 N m.*45000 N mm are 45 N m"),
        (dict(stiffness=(CURVE * (1, -1), 0.0, 0.0)), "stiffness of dorsiflexion: its moment falls from"),
        (dict(stiffness=(CURVE + (0, 3.0), 0.0, 0.0)), "stiffness of dorsiflexion: its moment at the angle 0 is 3 N m"),
        (dict(neutral=(5.0, 0.0, 0.0)), "neutral = 5 rad.*5 degrees are 0.08727 rad"),
        (dict(mass=(200, 150)), "mass = 200 kg.*200 g are 0.2 kg"),
        (dict(plate=(10.0, 0.0, -30.0)), "plate = 30 m.*30 mm are 0.03 m"),
        (dict(length=250.0), "length = 250 m.*250 mm are 0.25 m"),
        (dict(hinge=HINGE | {"point": (0, 0, 100.0)}), "hinge: distance from the centre of mass of the leg = 99.6 m.*99.6 mm"),
        (dict(straps={"cuff": {"stiffness": (20, 15, 10, 40, 30, 20)}}), "straps of the cuff: stiffness = 20 N/m.*20 N/mm are"),
        (dict(straps={"cuff": {"bands": [BAND | {"s_i": (50, 0, 0)}]}}), "straps of the cuff: band 1: s_i = 50 m.*50 mm are"),
        (dict(straps={"cuff": {"bands": [BAND, BAND | {"slack_length": 80}]}}), "straps of the cuff: band 2: slack_length = 80"),
    ],
)  # fmt: skip
def test_values_in_another_unit_are_asked_about(values, question):
    neutral = {"stiffness": (60.0, 0.0, 0.0)} if "neutral" in values else {}
    with pytest.warns(runtime.UnitWarning, match=f"orthosis 'afo': {question}"):
        worn(**neutral | values)[1]()
    b, add = worn(**neutral | values, check_units=False)
    add()
    assert "afo_cuff" in b._of["bodies"]


def test_curves_that_begin_beside_their_zero_are_not_asked_about():
    """The curve goes on by its tangent to the angle 0, where it is 0 to 5 % of its largest moment."""
    for curve in ([(0.05, 1.0), (0.2, 4.1), (0.3, 6.1)], [(-0.3, -9.0), (-0.1, -2.9), (0.12, 3.5), (0.3, 9.1)]):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            worn(stiffness=(curve, 0.0, 0.0))[1]()
        assert not given, given[0].message


def test_straps_without_stiffness_are_warned_of():
    with pytest.warns(runtime.AssemblyWarning, match="straps of the cuff: stiffness is 0 in all six directions"):
        worn(straps={"cuff": {"stiffness": np.zeros(6)}})[1]()


def test_a_shipped_force_may_be_a_law_by_its_name():
    b = couple(ankle(), "foot", 2.0 * DORSIFLEXION)
    b.orthosis("afo", "leg", "foot", stiffness=(SPRING | {"stiffness": 10.0}, 0.0, 0.0))
    assert at_rest(b)["afo_dorsiflexion"].angle[0] == pytest.approx(0.2, abs=1e-9)
