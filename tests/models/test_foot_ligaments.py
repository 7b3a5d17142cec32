"""Ligaments of the ankle and the plantar fascia: values, places, forces through the massless link, results, views and files."""

import numpy as np
import pytest

import runtime
from benchmarks.ensemble_systems import builder_of
from models import foot
from models.foot_anatomy import PUBLISHED_SIZE
from models.foot_ligaments import STRUCTURES, TOE_STRAIN, Fascia
from models.rotations import about
from runtime.system.mesh_files import read_mesh
from tests.support.limits import both_ankles
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

# What no source states, chosen for these tests.
CHOSEN = {"stiffness": 80e3, "reference_strain": 0.02}
ALL = {name: {value: CHOSEN[value] for value in each.missing} for name, each in STRUCTURES.items()}
TENSE = {name: values | {"reference_strain": 0.04} for name, values in ALL.items()}
BETWEEN_POINTS = [name for name, each in STRUCTURES.items() if not isinstance(each, Fascia)]
TALAR = [name for name in BETWEEN_POINTS if STRUCTURES[name].bone == "talus"]
TIGHT = dict(rtol=1e-11, atol=1e-12)
CRURAL, CALCANEAL = foot.talocrural_frame()[1], foot.talocalcaneal_frame()[0]  # dorsiflexion, inversion


def at(angles_deg=(0.0, 0.0), ligaments=ALL, **options):
    """Forces of ligaments at angles of the ankle."""
    system = foot.build(ligaments=ligaments, ankle_deg=angles_deg, **{"toes": "sprung"} | options)
    return runtime.simulate(system, 1e-9).forces


def turned(name, dorsiflexion, inversion, link=foot.LINK_LENGTH):
    """Both ends of a ligament from the talocrural joint (3,) [m]."""
    each, down = STRUCTURES[name], np.array([0.0, 0.0, link])
    of_talus = about(CRURAL, np.deg2rad(dorsiflexion))
    of_foot = about(CALCANEAL, np.deg2rad(inversion))
    proximal, distal = np.array(each.proximal), np.array(each.distal)
    return [proximal, of_talus @ (distal if each.bone == "talus" else of_foot @ (distal + down) - down)]


# Values


def test_values_that_no_source_states_are_asked_for():
    needy = [name for name, each in STRUCTURES.items() if each.missing]
    words = ["no source of models.foot_ligaments", *needy, "stiffness in N/m"]
    assert_refused(words, foot.build, ligaments=tuple(STRUCTURES))
    given = {"calcaneofibular": {"stiffness": 1e5}}
    assert_refused("calcaneofibular: reference_strain; give", foot.build, ligaments=given)
    known = [force.name for force in foot.build(ligaments=True, toes="free").forces]
    assert known == [name for name in STRUCTURES if name not in needy]
    assert all(not foot.build(ligaments=none).forces for none in (None, False, {}, ()))


def test_the_fascia_needs_toes_that_move():
    """It is among all known structures where it acts, and a warning where it is named and does not."""
    assert "plantar_fascia" not in [force.name for force in foot.build(ligaments=True).forces]
    assert [force.name for force in foot.build(ligaments="plantar_fascia", toes="free").forces] == ["plantar_fascia"]
    with pytest.warns(runtime.AssemblyWarning, match="'plantar_fascia': toes are locked.*give toes='free' or 'sprung'"):
        assert foot.build(ligaments="plantar_fascia").forces


@pytest.mark.parametrize(
    "ligaments, sentence",
    [
        ("deltoid", "unknown 'deltoid'; use anterior_talofibular"),
        ({"plantar_fascia": {"distal": (0, 0, 0)}}, "ligament 'plantar_fascia' has no 'distal'; it takes slack_length"),
        ({"anterior_talofibular": {"bone": "leg"}}, "has no 'bone'"),
        ({"anterior_talofibular": {"reference_strain": -1.0}}, "reference_strain = -1 must be above -1"),
        ({"anterior_talofibular": {"stiffness": np.nan}}, "ligament 'anterior_talofibular': stiffness"),
        ({"anterior_talofibular": {"distal": (0, 0)}}, "ligament 'anterior_talofibular': distal"),
        ({"anterior_talofibular": {"stiffness": -5e3}}, "ligament 'anterior_talofibular': stiffness = -5000 must not be below"),
        ({"anterior_talofibular": {"toe_strain": 0.0}}, "ligament 'anterior_talofibular': toe_strain = 0 must be above 0"),
        ({"anterior_talofibular": {"taut_deg": 500}}, "taut_deg = 500 must lie between -90 and 90 degrees"),
        (
            {"anterior_talofibular": {"taut_deg": 10, "reference_strain": 0.02}},
            "'anterior_talofibular': taut_deg and reference_strain both state its slack length; give one",
        ),
        (
            {"anterior_talofibular": {"proximal": (0.0088, -0.0165, -0.0019)}},
            "'anterior_talofibular': proximal and distal coincide",
        ),
        ({"plantar_fascia": {"slack_length": 0.0}}, "ligament 'plantar_fascia': slack_length = 0 must be above 0 m"),
        ({"plantar_fascia": {"radius": -0.01}}, "ligament 'plantar_fascia': radius = -0.01 must not be below 0 m"),
        (3, "ligaments = 3: give True or False, text, a mapping from names to values or a sequence of texts, or leave it out"),
    ],
)  # fmt: skip
def test_refused_ligaments(ligaments, sentence):
    assert_refused([sentence], foot.build, ligaments=ligaments, toes="free")


@pytest.mark.parametrize("value", [40e3, None, True, [1], "stiffness", ("stiffness", 40e3)])
def test_a_value_in_place_of_a_mapping_of_values_is_refused(value):
    words = ("ligament 'anterior_talofibular' = ", "give a mapping of its values, such as {'stiffness': 80e3}, or {}")
    assert_refused(words, foot.build, ligaments={"anterior_talofibular": value})


@pytest.mark.parametrize(
    ("name", "values", "question"),
    [
        ("anterior_talofibular", {"stiffness": 14.2}, "stiffness = 14.2 N/m.*14.2 N/mm are 1.42e\\+04 N/m"),
        ("anterior_talofibular", {"reference_strain": 5}, "reference_strain = 5, but the strain of a ligament in the neutral"),
        ("anterior_talofibular", {"toe_strain": 3}, "toe_strain = 3, but"),
        ("anterior_talofibular", {"proximal": (0.9, -25.0, 4.4)}, "proximal = 25 m.*25 mm are 0.025 m"),
        ("anterior_talofibular", {"distal": (8.8, -16.5, -1.9)}, "distal = 16.5 m.*16.5 mm are 0.0165 m"),
        ("anterior_talofibular", {"taut_deg": 75}, "taut_deg = 75 degrees, but an angle of the ankle is at most 60 degrees"),
        ("plantar_fascia", {"slack_length": 146}, "slack_length = 146 m.*146 mm are 0.146 m"),
        ("plantar_fascia", {"radius": 6.7}, "radius = 6.7 m.*6.7 mm are 0.0067 m"),
    ],
)  # fmt: skip
def test_values_in_another_unit_are_asked_about(name, values, question):
    with pytest.warns(runtime.UnitWarning, match=f"ligament '{name}': {question}"):
        foot.build(ligaments={name: values}, toes="free")
    foot.build(ligaments={name: values}, toes="free", check_units=False)


# Mean and standard deviation [mm] in the neutral position: de Asla et al. (2009), J Orthop Surg Res 4, 7, four ankles in vivo,
# the first two; Lim et al. (2025), Cureus 17(3), e81442, seven limbs.  None was used to place an attachment.
MEASURED_MM = {
    "anterior_talofibular": (16.3, 3.0), "calcaneofibular": (28.0, 2.9), "tibionavicular": (38.57, 3.58),
    "tibiocalcaneal": (34.29, 6.47), "posterior_tibiotalar": (18.71, 1.83), "anterior_tibiotalar": (20.29, 2.31),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURED_MM)
def test_lengths_are_near_measured_ones(name):
    mean, deviation = MEASURED_MM[name]
    assert abs(1e3 * at()[name].length[0] - mean) < 1.5 * deviation


def test_both_lateral_ligaments_lengthen_as_in_vivo():
    """De Asla et al. (2009): the anterior talofibular one in plantarflexion, the calcaneofibular one in dorsiflexion."""
    down, neutral, up = (at((angle, 0.0)) for angle in (-20.0, 0.0, 15.0))
    anterior, calcaneal = "anterior_talofibular", "calcaneofibular"
    assert down[anterior].length[0] > neutral[anterior].length[0] > up[anterior].length[0]
    assert down[calcaneal].length[0] < neutral[calcaneal].length[0] < up[calcaneal].length[0]


@pytest.mark.parametrize("name", [name for name in BETWEEN_POINTS if STRUCTURES[name].taut_deg is not None])
def test_a_ligament_becomes_taut_where_it_was_measured_to(name):
    taut = STRUCTURES[name].taut_deg
    assert at((taut, 0.0))[name].strain[0] == pytest.approx(0.0, abs=1e-9)
    tensions = [at((taut + step, 0.0))[name].tension[0] for step in (-3.0, 3.0)]
    assert min(tensions) == 0.0 and max(tensions) > 0.0


def test_the_reference_strain_is_that_of_the_neutral_pose():
    for name, force in at(ligaments=TENSE).items():
        assert force.strain[0] == pytest.approx(0.04, abs=1e-9), name


def test_ends_lie_on_their_bones():
    """On the surfaces of OpenSim's bones, whose origins are those of gait2392; x anterior, z lateral, y up there."""
    origins = {"tibia": (0, 0.43, 0), "fibula": (0, 0.43, 0), "talus": (0, 0, 0), "foot": (-0.04877, -0.04195, 0.00792)}
    corners = np.array([(i, j, 10 - i - j) for i in range(11) for j in range(11 - i)]) / 10.0
    surfaces = {}
    for bone, origin in origins.items():
        vertices, faces = read_mesh(shared_file("opensim", "Geometry", f"r_{bone}.vtp"), bone)
        points = np.einsum("wk,tkc->twc", corners, (np.asarray(vertices) + origin)[np.asarray(faces)]).reshape(-1, 3)
        surfaces[bone] = points[:, [0, 2, 1]] * (1, -1, 1)
    for name in BETWEEN_POINTS:
        each = STRUCTURES[name]
        ends = {"fibula" if "fibular" in name else "tibia": each.proximal}
        ends |= {} if name == "tibiospring" else {"talus" if each.bone == "talus" else "foot": each.distal}
        for bone, end in ends.items():
            assert np.linalg.norm(surfaces[bone] - end, axis=1).min() < 2e-3, (name, bone)


# Size and side


@both_ankles
def test_ligaments_are_where_the_anatomy_says(ankle):
    angles, link = (-12.0, 9.0), foot.LINK_LENGTH if ankle == "modified" else 0.0
    forces = at(angles, ankle=ankle)
    for name in BETWEEN_POINTS:
        proximal, distal = turned(name, *angles, link)
        assert forces[name].length[0] == pytest.approx(np.linalg.norm(distal - proximal), rel=1e-9)


def test_ligaments_grow_with_the_foot():
    known, grown = at((-8.0, 5.0)), at((-8.0, 5.0), foot_length=0.297, height=1.6)
    for name in STRUCTURES:
        assert grown[name].length[0] == pytest.approx(1.1 * known[name].length[0], rel=1e-9)
        assert grown[name].strain[0] == pytest.approx(known[name].strain[0], abs=1e-9)
        assert grown[name].tension[0] == pytest.approx(
            1.1 * known[name].tension[0], rel=1e-6
        )  # N/m do not depend on size


def test_ligaments_of_a_left_foot_mirror_those_of_a_right_one():
    t = np.linspace(0.0, 0.1, 11)
    right, left = (
        runtime.simulate(foot.build(ligaments=TENSE, side=side, toes="sprung"), t[-1], t_eval=t, **TIGHT)
        for side in ("right", "left")
    )
    for name in STRUCTURES:
        np.testing.assert_allclose(left.forces[name].tension, right.forces[name].tension, rtol=1e-8, atol=1e-7)
    np.testing.assert_allclose(left.r["toes"], right.r["toes"] * (1, -1, 1), atol=1e-11)
    assert right.r["toes"][:, 1].max() - right.r["toes"][:, 1].min() > 1e-3


# Forces through the massless link


@both_ankles
@pytest.mark.parametrize("name", TALAR)
def test_statics_of_a_ligament_from_the_leg_to_the_talus(ankle, name):
    """The foot gets the couple T (Q x u) . a about the talocrural axis, and none about its own."""
    angles = (-10.0, 8.0)
    force = at(angles, TENSE, ankle=ankle)[name]
    each, strain = STRUCTURES[name], force.strain[0]
    proximal, distal = np.array(each.proximal), about(CRURAL, np.deg2rad(angles[0])) @ each.distal
    u = (proximal - distal) / np.linalg.norm(proximal - distal)
    slack = np.linalg.norm(np.subtract(each.distal, each.proximal)) / 1.04
    assert strain == pytest.approx(np.linalg.norm(proximal - distal) / slack - 1.0, abs=1e-9)
    toe = strain**2 / (4.0 * TOE_STRAIN) if strain < 2.0 * TOE_STRAIN else strain - TOE_STRAIN
    tension = each.stiffness * slack * toe if strain > 0.0 else 0.0
    assert force.tension[0] == pytest.approx(tension, rel=1e-6, abs=1e-9)
    about_talus = force.moment_j[0] @ CRURAL
    assert about_talus == pytest.approx(tension * np.cross(distal, u) @ CRURAL, rel=1e-6, abs=1e-9)
    own_axis = about(CRURAL, np.deg2rad(angles[0])) @ CALCANEAL
    assert abs(force.moment_j[0] @ own_axis) < 1e-9
    assert not force.force_j.any() and force.moment_i[0] == pytest.approx(-force.moment_j[0], abs=1e-12)


TALOCRURAL, IN_CANAL = foot._points(PUBLISHED_SIZE)[3], np.array([(0.007, -0.001, -0.009), (0.007, 0.002, -0.020)])
CANAL = dict(stiffness=500.0, toe_strain=0.03, slack_length=0.0105)  # of a ligament from the talus to the foot
ORIGINS = {name: np.array(data["r"]) for name, data in foot.BODIES.items()}


def below(ankle):
    """From the talocalcaneal to the talocrural joint (3,) [m]."""
    return np.array([0.0, 0.0, 0.0 if ankle == "classical" else foot.LINK_LENGTH])


def with_link(ankle):
    """The foot with all ligaments, and one more between the link and the foot, whose point of the hinge is on the foot."""
    b = builder_of(foot.build(ankle, ligaments={name: TENSE[name] for name in BETWEEN_POINTS}))
    frame = np.column_stack([CALCANEAL, CRURAL, np.cross(CALCANEAL, CRURAL)])
    first, second, normal = np.linalg.solve(frame, IN_CANAL[0] + below(ankle))
    on_foot = TALOCRURAL - ORIGINS["main_foot"]
    b.force(
        "canal", "link_ligament", "main_foot", "leg", s_i=on_foot + IN_CANAL[1], s_hinge_i=on_foot - below(ankle),
        a_i=CALCANEAL, a_j=CRURAL, along_first=first, along_second=second, along_normal=normal, **CANAL,
    )  # fmt: skip
    return b.build()


def with_talus(system, ankle, mass):
    """The same with a talus as a body between two hinges, and ligaments between points of bodies."""
    centre = TALOCRURAL - (0.0, 0.0, 0.02)
    b = runtime.Builder("talus")
    for name, data in foot.BODIES.items():
        b.body(name, **data)
    b.body("talus", r=centre, mass=mass, inertia=(1e-4 * mass,) * 3)
    b.joint("held", "fixed", "ground", "leg")
    b.joint("stiff", "fixed", "main_foot", "toes")
    b.joint("crural", "revolute", "leg", "talus", axes="global", point=TALOCRURAL, axis=CRURAL)
    b.joint(
        "calcaneal", "revolute", "talus", "main_foot", axes="global", point=TALOCRURAL - below(ankle), axis=CALCANEAL
    )
    origins = ORIGINS | {"talus": centre}
    placed = {n: ("leg", STRUCTURES[n].bone, (STRUCTURES[n].proximal, STRUCTURES[n].distal)) for n in BETWEEN_POINTS}
    for name, (i, j, ends) in (placed | {"canal": ("talus", "main_foot", IN_CANAL)}).items():
        law = {key: system.force(name).values[key] for key in CANAL}
        s_i, s_j = (TALOCRURAL + end - origins[body] for end, body in zip(ends, (i, j), strict=True))
        b.force(name, "ligament", i, j, s_i=s_i, s_j=s_j, **law)
    return b.build()


@both_ankles
def test_a_talus_without_mass_moves_as_the_link(ankle):
    """A body between two hinges, whose mass goes to zero: the difference is in proportion to the mass."""
    t = np.linspace(0.0, 0.12, 7)
    system = with_link(ankle)
    linked = runtime.simulate(system, t[-1], t_eval=t, **TIGHT)
    assert linked.success
    apart = {}
    for mass in (1e-2, 1e-3, 1e-4):
        run = runtime.simulate(with_talus(system, ankle, mass), t[-1], t_eval=t, **TIGHT)
        apart[mass] = np.abs(run.r["main_foot"] - linked.r["main_foot"]).max()
    assert np.ptp(linked.r["main_foot"], axis=0).max() > 1e-3
    assert apart[1e-2] / apart[1e-3] == pytest.approx(10.0, rel=0.1)
    assert apart[1e-3] / apart[1e-4] == pytest.approx(10.0, rel=0.1)
    for name, force in linked.forces.items():
        np.testing.assert_allclose(run.forces[name].tension, force.tension, rtol=1e-2, atol=1e-2)
        assert name in BETWEEN_POINTS or np.ptp(force.tension) > 1.0


@both_ankles
def test_energy_is_kept(ankle):
    run = runtime.simulate(foot.build(ankle, ligaments=TENSE, limits="elastic", toes="free"), 0.5, **TIGHT)
    assert run.success and np.abs(run.energy - run.energy[0]).max() < 1e-8
    assert max(force.energy.max() for force in run.forces.values()) > 0.1


# Plantar fascia


def test_the_fascia_winds_around_the_toe_joint():
    """Its length changes by the moment arm times the angle of the toes; the toes swing as by the moment arm times its tension."""
    t = np.linspace(0.0, 0.2, 21)
    values = {"plantar_fascia": {"reference_strain": 0.01}}
    gone, there = (
        runtime.simulate(foot.build(toes="free", ligaments=own, leg="fixed"), t[-1], t_eval=t, **TIGHT)
        for own in (False, values)
    )
    relative = np.einsum("nba,nbc->nac", there.rotations("main_foot"), there.rotations("toes"))
    angle = np.arctan2(relative[:, 2, 0], relative[:, 0, 0])  # the tip of the toes up
    each, fascia = STRUCTURES["plantar_fascia"], there.forces["plantar_fascia"]
    assert np.ptp(angle) > 0.05
    np.testing.assert_allclose(fascia.length, each.slack_length * 1.01 + each.radius * angle, atol=1e-9)
    medial = there.rotations("main_foot")[:, :, 1]
    np.testing.assert_allclose(np.sum(fascia.moment_j * medial, axis=1), each.radius * fascia.tension, atol=1e-9)
    assert fascia.tension[0] > 10.0 and np.abs(there.r["toes"] - gone.r["toes"]).max() > 1e-3


# Views and files


def test_ligaments_are_drawn_between_their_ends(tmp_path):
    angles = (-12.0, 9.0)
    t = np.linspace(0.0, 1e-6, 2)
    run = runtime.simulate(foot.build(ligaments=ALL, ankle_deg=angles, toes="sprung"), t[-1], t_eval=t)
    joint = foot._points(PUBLISHED_SIZE)[3]
    run.to_netcdf(tmp_path / "run.nc")
    for motion in (run, runtime.results.read_netcdf(tmp_path / "run.nc")):
        drawn = {line.name: line.points[0, 0] for line in motion.scene().lines if line.group == "springs and slides"}
        assert set(drawn) == set(BETWEEN_POINTS)
        for name, points in drawn.items():
            np.testing.assert_allclose(points, joint + np.array(turned(name, *angles)), atol=1e-9)


def test_a_file_keeps_ligaments(tmp_path):
    system = foot.build(ligaments=TENSE, toes="sprung")
    system.to_file(tmp_path / "foot.json")
    again = runtime.System.from_file(tmp_path / "foot.json")
    one, other = (runtime.simulate(each, 0.05) for each in (system, again))
    for name in STRUCTURES:
        np.testing.assert_array_equal(one.forces[name].tension, other.forces[name].tension)
