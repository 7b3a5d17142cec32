"""Contacts of OpenSim models: against accelerations and landings that OpenSim 4.6 gave, and what is refused.

The numbers were recorded with opensim 4.6 from its package index: accelerations by ``benchmarks/files/opensim_process.py``,
landings by ``benchmarks/landing/opensim_process.py`` at an accuracy of 1e-12, muscles and controllers off.
"""

import numpy as np
import pytest

import models
from benchmarks.files.owners import largest_error
from benchmarks.files.states import accelerations_of, random_sample, state_of, talus_accelerations
from runtime import State, simulate
from tests.support import opensim_models
from tests.support.file_states import worst
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

SPHERE = """<ContactSphere name="{}"><socket_frame>/bodyset/{}</socket_frame><location>{}</location><radius>{}</radius>
 </ContactSphere>"""
PLANE = """<ContactHalfSpace name="{}"><socket_frame>{}</socket_frame><location>{}</location><orientation>{}</orientation>
 </ContactHalfSpace>"""
SHAPES = (
    SPHERE.format("heel", "foot", "-0.05 -0.03 0.01", 0.04)
    + SPHERE.format("toe", "foot", "0.1 -0.02 -0.02", 0.03)
    + SPHERE.format("knee", "shank", "0.02 0.05 0", 0.05)
    + PLANE.format("floor", "/ground", "0 0.6 0", "0.1 0.2 -1.5")
    + '<ContactMesh name="bone"><socket_frame>/bodyset/foot</socket_frame></ContactMesh>'
)
MATERIAL = """<HuntCrossleyForce::ContactParameters><geometry>{}</geometry><stiffness>{}</stiffness>
 <dissipation>{}</dissipation><static_friction>{}</static_friction><dynamic_friction>{}</dynamic_friction>
 <viscous_friction>{}</viscous_friction></HuntCrossleyForce::ContactParameters>"""
FLOOR, SKIN = MATERIAL.format("floor", 2e5, 0.1, 0.9, 0.5, 0.3), MATERIAL.format("heel toe", 5e4, 0.4, 0.7, 0.6, 0.1)
HUNT_CROSSLEY = """<HuntCrossleyForce name="sole"><HuntCrossleyForce::ContactParametersSet name="contact_parameters">
 <objects>{}</objects></HuntCrossleyForce::ContactParametersSet><transition_velocity>0.3</transition_velocity>
 </HuntCrossleyForce>"""
SMOOTH = """<SmoothSphereHalfSpaceForce name="pad"><socket_sphere>/contactgeometryset/{}</socket_sphere>
 <socket_half_space>/contactgeometryset/{}</socket_half_space><stiffness>1e5</stiffness><dissipation>{}</dissipation>
 <static_friction>0.8</static_friction><dynamic_friction>0.6</dynamic_friction><viscous_friction>0.2</viscous_friction>
 <transition_velocity>0.2</transition_velocity></SmoothSphereHalfSpaceForce>"""
BUSHING = """<BushingForce name="brace"><socket_frame1>/bodyset/shank</socket_frame1>
 <socket_frame2>/bodyset/foot</socket_frame2><translational_stiffness>900 700 500</translational_stiffness>
 <translational_damping>3 2 1</translational_damping><rotational_stiffness>2 3 4</rotational_stiffness>
 <rotational_damping>0.1 0.2 0.3</rotational_damping></BushingForce>"""
FORCES = {
    "hunt_crossley": HUNT_CROSSLEY.format(FLOOR + SKIN),
    "smooth": SMOOTH.format("knee", "floor", 0.5),
    "bushing": BUSHING,
}
# Accelerations of the coordinates in the state of ``default_rng(2)``.
RECORDED = {
    "hunt_crossley": {
        "pelvis_turn": 2494.5369599790824,
        "pelvis_x": -231.7950308038366,
        "pelvis_y": -104.30844295521824,
        "flexion": -200.61678581958358,
        "adduction": -2160.441464269927,
        "rotation": 1088.9053772572368,
        "forward": -3708.448718490364,
        "up": 2936.9676328737883,
        "knee_angle": -5530.561916110364,
        "ankle": 7826.960846115169,
        "subtalar": -5588.4349516270595,
    },
    "smooth": {
        "pelvis_turn": 0.961359674926598,
        "pelvis_x": -0.0433487300043538,
        "pelvis_y": -9.9591758458592,
        "flexion": -2.2331423106917416,
        "adduction": 0.6456709813807118,
        "rotation": -0.2200879579149353,
        "forward": -1.3165075362411507,
        "up": -1.0416351843134972,
        "knee_angle": 2.3267942296228554,
        "ankle": -0.5924512484866575,
        "subtalar": 0.8462129258140347,
    },
    "bushing": {
        "pelvis_turn": 1.0117510370163956,
        "pelvis_x": -0.04803207825530542,
        "pelvis_y": -9.961082500737131,
        "flexion": -8.27388597432973,
        "adduction": 2.4237746218185245,
        "rotation": -2.2626117110735393,
        "forward": -0.26339883936392283,
        "up": -0.241104073141992,
        "knee_angle": 17.076307900785345,
        "ankle": -34.159080187254496,
        "subtalar": -30.73453583616832,
    },
}
TIMES = (0.2, 0.34, 0.36, 0.4)  # [s]
# Origins of bodies [m]: of the model with an orthosis; of the one without, with a HuntCrossleyForce for each sphere.
LANDINGS = {
    "ToyLandingModel": {
        "pelvis": [
            (0.04989673979190459, 1.474357816090259, -5.026284105056246e-05),
            (0.047144439577485764, 1.107978304252238, 0.0011803212066125283),
            (0.039070162330359, 1.053247999561867, 0.003954796881536658),
            (0.030707203815834545, 0.9259197027683961, 0.00388376595369935),
        ],
        "torso": [
            (-0.03172505523812999, 1.5749591152247102, -8.473798717516931e-05),
            (-0.03472442106019309, 1.2082637558809788, -0.0036215377571443266),
            (-0.04326502536284798, 1.151585715081408, -0.014303093848836082),
            (-0.05283021138771546, 1.0203157668973266, -0.026009767428564545),
        ],
        "calcn_r": [
            (-0.11927573930563157, 0.5823576679676745, 0.12451510975101898),
            (-0.12332796003198618, 0.2191592743364251, 0.12890067722868848),
            (-0.11807772013534734, 0.2630512766298556, 0.1354937957448231),
            (-0.059643082848214304, 0.38626010260862575, 0.13362812956781958),
        ],
    },
    "ToyLandingModel_AFO": {
        "pelvis": [
            (0.049804163344598015, 1.4749231176130195, -0.00014344124500205351),
            (0.04728057829354964, 1.1082712910648513, 0.0005347126602037527),
            (0.03908212413221477, 1.053985354731238, 0.0037034047187589256),
            (0.029732450682149206, 0.9279137950548351, 0.00589841924459455),
        ],
        "torso": [
            (-0.03188256705811279, 1.5754711647761974, -0.00047251234097044157),
            (-0.03469607852936791, 1.2085066442454824, -0.0033948813254103963),
            (-0.043409718412195424, 1.152258074258281, -0.014193760151337049),
            (-0.053757573880017395, 1.0218925342904763, -0.025408965990971803),
        ],
        "calcn_r": [
            (-0.11362442930612746, 0.5810792042578009, 0.12429623239518833),
            (-0.12748820409184314, 0.21508307434381946, 0.13157913295957965),
            (-0.12079453479103412, 0.25234509663414995, 0.13785870417624974),
            (-0.05587721570335409, 0.3515404567674855, 0.1304788887347552),
        ],
    },
}
AS_IT_IS = (
    (-0.12332796003198371, 0.21915927433641938, 0.12890067722868886),
    (-0.05719153844327253, 0.3858659367608398, 0.13289004504318086),
)  # calcn_r without an orthosis at 0.34 and 0.4 s, by the file as it is


def limb(forces, shapes=SHAPES):
    return opensim_models.leg(
        forces=forces, more=f"<ContactGeometrySet><objects>{shapes}</objects></ContactGeometrySet>"
    )


@pytest.mark.parametrize("kind", FORCES)
def test_accelerations_are_those_that_opensim_gave(read, kind):
    reading = read(limb(FORCES[kind]), ignore="couplers")
    system, sample = reading.build(), random_sample(reading, np.random.default_rng(2))
    found = talus_accelerations(system, state_of(reading, system, sample))
    assert largest_error(accelerations_of(reading, system, sample, RECORDED[kind]), found) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORCES)
def test_accelerations_are_those_of_the_program(read, in_program, kind):
    reading = read(limb(FORCES[kind]), ignore="couplers")
    assert worst(reading, in_program(reading), 40) < 1e-8


# Landings, from a start above a platform that is inclined by 20 degrees


def landing(name):
    """A run, and the origin of a body in it, (times, 3)."""
    run = simulate(
        models.read(shared_file("opensim", "landing", f"{name}.osim")).build(),
        TIMES[-1],
        t_eval=TIMES,
        rtol=1e-10,
        atol=1e-10,
    )
    assert run.success
    frames = {frame.name: frame for frame in run.system.frames}

    def origin(body):
        frame = frames[f"{body}_origin"]
        return run.r[frame.body] + run.rotations(frame.body) @ frame.s

    return run, origin


@pytest.mark.slow
@pytest.mark.parametrize("name", LANDINGS)
def test_landings_are_those_of_opensim(name):
    """To 1e-6 m is what is promised; they agree to 2e-12 m."""
    _, origin = landing(name)
    for body, wanted in LANDINGS[name].items():
        assert np.abs(origin(body) - wanted).max() < 1e-9


@pytest.mark.slow
def test_a_contact_that_would_pull_leaves_the_others_their_force():
    """OpenSim drops all contacts of a force that follow one that would pull: from then on the motions differ."""
    run, origin = landing("ToyLandingModel")
    before, after = AS_IT_IS
    assert np.abs(origin("calcn_r")[1] - before).max() < 1e-9
    assert 1e-3 < np.linalg.norm(origin("calcn_r")[3] - after) < 5e-3
    pulled = next(row[0] for row in run.contact_events if row[1] == 0 and row[2] == 0)
    assert 0.34 < pulled < 0.341
    assert {one.name for one in run.system.contacts} == set(run.contacts)


# What is read, left out and refused


def test_spheres_against_half_spaces_are_contacts_of_talus(read):
    reading = read(limb(FORCES["hunt_crossley"]), ignore="couplers")
    heel, toe = reading.build().contacts
    assert (heel.name, heel.body, heel.plane, heel.law, heel.friction) == (
        "sole_heel", "foot", "ground", "hunt_crossley", "stribeck",
    )  # fmt: skip
    soft, hard = 5e4 ** (2 / 3), 2e5 ** (2 / 3)
    assert heel.values["sphere_share"] == pytest.approx(hard / (soft + hard), rel=1e-14)
    modulus = soft * hard / (soft + hard)
    assert toe.parameters["stiffness"] == pytest.approx(4 / 3 * modulus * np.sqrt(0.03 * modulus), rel=1e-14)
    assert toe.parameters["mu_c"] == pytest.approx(2 * 0.5 * 0.6 / 1.1, rel=1e-14)
    assert not any("contacts" in one.sort for one in reading.left_out)  # both spheres are on one body
    without = read(limb(FORCES["hunt_crossley"]), ignore="couplers,contacts")
    assert not without.build().contacts
    assert {one.sort: one.names for one in without.ignored}["contacts"] == ("sole_heel", "sole_toe")


def test_contacts_between_spheres_of_two_bodies_are_listed(read):
    skin = SKIN.replace("heel toe", "heel knee")
    reading = read(limb(HUNT_CROSSLEY.format(FLOOR + skin)), ignore="couplers")
    listed = {one.sort: one.names for one in reading.left_out}
    assert listed["contacts between spheres"] == ("sole between heel and knee",)
    wide = SHAPES.replace("<radius>0.05<", "<radius>0.5<")
    assert_refused(
        "other contacts (sole between heel and knee",
        read,
        limb(HUNT_CROSSLEY.format(FLOOR + skin), wide),
        ignore="couplers",
    )


def test_contacts_that_are_not_read_leave_the_others(read):
    forces = HUNT_CROSSLEY.format(FLOOR + SKIN.replace("heel toe", "heel bone"))
    for ignore, contacts in (("other contacts", ["sole_heel"]), ("contacts", [])):
        reading = read(limb(forces), ignore=f"couplers,{ignore}")
        assert [one.name for one in reading.build().contacts] == contacts
        ignored = {one.sort: one.names for one in reading.ignored}
        assert ignored["other contacts"] == ("sole with the mesh bone",) and ("contacts" in ignored) == (not contacts)


def test_a_smooth_contact_without_dissipation_has_no_factor_of_speed(read):
    shapes = SHAPES.replace("<radius>0.05<", "<radius>2<")
    reading = read(limb(SMOOTH.format("knee", "floor", 0), shapes), ignore="couplers")
    system = reading.build()
    y = state_of(reading, system, random_sample(reading, np.random.default_rng(2)))
    start = State(system.body_names, y)
    pad = simulate(system, 0.01, t_eval=(0.0, 0.005, 0.01), initial=start).forces["pad"]
    modulus, depth = 1e5 ** (2 / 3) / 2, pad.depth
    hertz = 4 / 3 * modulus * np.sqrt(2.0 * modulus) * (depth**2 + 1e-5) ** 0.75
    assert depth.max() > 0.1 and np.abs(np.diff(depth)).min() > 1e-4
    assert pad.push == pytest.approx(hertz * (1.0 + np.tanh(300.0 * depth)) / 2.0, rel=1e-12)


def test_a_contact_named_as_a_bushing_gets_a_number(read):
    forces = BUSHING + SMOOTH.format("knee", "floor", 0.5).replace('"pad"', '"brace"')
    assert {"brace", "brace_2"} <= set(read(limb(forces), ignore="couplers").build().force_names)


REFUSED = {
    "other contacts (sole with the mesh bone": HUNT_CROSSLEY.format(FLOOR + SKIN.replace("heel toe", "heel bone")),
    "names the contact geometry 'sole'": HUNT_CROSSLEY.format(FLOOR + SKIN.replace("heel toe", "sole")),
    "stiffness = 0, must be above 0": HUNT_CROSSLEY.format(FLOOR.replace("200000.0", "0")),
    "static_friction = -0.9, must not be below 0": HUNT_CROSSLEY.format(FLOOR.replace(">0.9<", ">-0.9<")),
    "is between a ContactSphere and a ContactMesh": SMOOTH.format("knee", "bone", 0.5),
    "dissipation = -1, must not be below 0": SMOOTH.format("knee", "floor", -1),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(read, sentence):
    assert_refused(sentence, read, limb(REFUSED[sentence]), ignore="couplers")


def test_a_plane_that_moves_towards_a_sphere_on_the_ground_is_refused(read):
    shapes = SPHERE.format("heel", "", "0 0 0", 0.04).replace("/bodyset/", "/ground")
    shapes += PLANE.format("floor", "/bodyset/foot", "0 0 0", "0 0 -1.5")
    reading = read(limb(HUNT_CROSSLEY.format(FLOOR + SKIN.replace("heel toe", "heel")), shapes), ignore="couplers")
    assert_refused("its sphere is fixed to the ground, and its plane moves", reading.build)
