"""Bad input gets one clear sentence that names the object, the rule and the remedy, and changes nothing."""

import numpy as np
import pytest

import models
import runtime
from runtime import AssemblyError, Builder, Cone, ModelError

UNIT = (0.01, 0.01, 0.01)


def builder(**body):
    b = Builder("test")
    b.body("leg", mass=1.0, inertia=UNIT)
    b.body("foot", **({"mass": 1.0, "inertia": UNIT, "r": (0.5, 0.0, 0.0)} | body))
    return b


def counts(b):
    return len(b._bodies), len(b._joints), len(b._limits), len(b._contacts)


ANKLE = dict(s_i=(0.1, 0, 0), a_i=(1, 0, 0), s_j=(-0.1, 0, 0), a_j=(0, 1, 0))

BODY_ERRORS = {
    "zero mass": (dict(mass=0.0), "body 'toes': mass = 0 kg, must be above 0 kg"),
    "negative mass": (dict(mass=-2.0), "body 'toes': mass = -2 kg, must be above 0 kg"),
    "mass not finite": (dict(mass=np.inf), "body 'toes': mass = inf is not finite"),
    "mass NaN": (dict(mass=np.nan), "body 'toes': mass = nan is not finite"),
    "mass no number": (dict(mass="heavy"), "body 'toes': mass = 'heavy': give one number"),
    "triangle": (dict(inertia=(1.0, 1.0, 2.1)), "violate the triangle inequality, 2.1 > 2"),
    "negative inertia": (dict(inertia=(-1.0, 1.0, 1.0)), "all must be above 0"),
    "zero inertia": (dict(inertia=(0.0, 1.0, 1.0)), "all must be above 0"),
    "asymmetric": (dict(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "inertia is not symmetric"),
    "inertia shape": (dict(inertia=(1.0, 1.0)), "body 'toes': inertia has the shape (2,); give 3 numbers"),
    "r not finite": (dict(r=(0, 0, np.nan)), "body 'toes': r = [0.0, 0.0, nan] is not finite"),
    "p not unit": (dict(p=(1.0, 0.1, 0.0, 0.0)), "body 'toes': p has the length 1.00498756, limit 1 within 1e-06"),
    "p zero": (dict(p=(0, 0, 0, 0)), "body 'toes': p is the zero vector"),
    "omega shape": (dict(omega=3.0), "body 'toes': omega has the shape (); give 3 numbers"),
    "duplicate": (dict(name="leg"), "body 'leg' exists already"),
    "ground": (dict(name="ground"), "'ground': this name stands for the fixed global frame"),
    "empty name": (dict(name=""), "body name '': use letters, digits and '_'"),
    "dotted name": (dict(name="a.b"), "body name 'a.b': use letters"),
}


@pytest.mark.parametrize("case", BODY_ERRORS)
def test_bodies(case):
    values, message = BODY_ERRORS[case]
    b = builder()
    before = counts(b)
    with pytest.raises(ModelError) as error:
        b.body(**({"name": "toes", "mass": 1.0, "inertia": UNIT} | values))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert counts(b) == before


def test_flat_body_meets_the_triangle_inequality():
    builder().body("toes", mass=0.2, inertia=(0.0001003, 0.0001003, 0.0002006))


JOINT_ERRORS = {
    "unknown body": (dict(body_j="shin"), "joint 'ankle' (universal): unknown body 'shin'; the bodies are leg, foot, ground"),
    "itself": (dict(body_j="foot"), "joint 'ankle' (universal): joins body 'foot' to itself"),
    "missing": (dict(a_j=None), "joint 'ankle' (universal): missing a_j; needs s_i, a_i, s_j, a_j"),
    "unused": (dict(l=0.1), "joint 'ankle' (universal): unused l; needs s_i, a_i, s_j, a_j"),
    "unknown kind": (dict(kind="hook"), "joint 'ankle': unknown kind 'hook'; use spherical, revolute"),
    "no kind": (dict(kind=np), "is no kind of joint"),
    "non-unit axis": (dict(a_i=(1, 1, 0)), "a_i has the length 1.41421356, limit 1 within 1e-09; give (0.707106781187"),
    "zero axis": (dict(a_i=(0, 0, 0)), "a_i is the zero vector"),
    "axis not finite": (dict(a_i=(np.inf, 0, 0)), "a_i = [inf, 0.0, 0.0] is not finite"),
    "point shape": (dict(s_i=(0, 0)), "s_i has the shape (2,); give 3 numbers"),
    "duplicate": (dict(name="taken"), "joint 'taken' exists already"),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINT_ERRORS)
def test_joints(case):
    values, message = JOINT_ERRORS[case]
    b = builder()
    b.joint("taken", "spherical", "ground", "leg", s_i=(0, 0, 0), s_j=(0, 0, 0))
    before = counts(b)
    arguments = {"name": "ankle", "kind": "universal", "body_i": "foot", "body_j": "leg", **ANKLE} | values
    arguments = {key: value for key, value in arguments.items() if value is not None}
    with pytest.raises(ModelError) as error:
        b.joint(**arguments)
    assert message in str(error.value)
    assert counts(b) == before


def test_negative_length():
    with pytest.raises(ModelError, match=r"l = -0.1 m is a length, must not be below 0 m"):
        builder().joint("link", "constant_distance", "leg", "foot", s_i=(0, 0, 0), s_j=(0, 0, 0), l=-0.1)


def test_disconnected_body():
    b = builder()
    b.joint("knee", "spherical", "ground", "leg", s_i=(0, 0, 0), s_j=(0, 0, 0))
    with pytest.raises(
        ModelError, match="no chain of joints leads from 'foot' to the ground; add a joint, or say free=True"
    ):
        b.build()


def test_no_body():
    with pytest.raises(ModelError, match="has no body"):
        Builder("nothing").build()


def fixed_leg():
    b = builder()
    b.joint("ground", "fixed", "ground", "leg")
    return b


HERE = dict(s_i=(-0.5, 0, 0), s_j=(0, 0, 0))  # the two points coincide
SINGULAR = {
    "parallel universal axes": ("universal", HERE | dict(a_i=(1, 0, 0), a_j=(1, 0, 0)), "row axes_angle vanishes"),
    "parallel directions": ("constant_angle", dict(a_i=(1, 0, 0), a_j=(-1, 0, 0)), "row angle vanishes"),
    "coplanar link and axes": (
        "modified_universal",
        dict(s_i=(-0.5, 0, -0.1), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0.6, 0.8), l=0.1),
        "dependent in this configuration (rank 3 of 4); it is singular when the link is coplanar",
    ),
    "no link": ("modified_universal", HERE | dict(a_i=(1, 0, 0), a_j=(0, 1, 0), l=0.0), "row link_length vanishes"),
    "no distance": ("constant_distance", HERE | dict(l=0.0), "row distance vanishes"),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_singular_joints(case):
    kind, values, message = SINGULAR[case]
    b = fixed_leg()
    b.joint("ankle", kind, "foot", "leg", **values)
    with pytest.raises(ModelError) as error:
        b.build()
    assert f"joint 'ankle' ({kind})" in str(error.value)
    assert message in str(error.value)


def test_redundant_rows_are_named_and_removed_on_request():
    b = fixed_leg()
    b.joint("hinge", "revolute", "leg", "foot", s_i=(0.25, 0, 0), a_i=(0, 1, 0), s_j=(-0.25, 0, 0), a_j=(0, 1, 0))
    b.joint("again", "revolute", "leg", "foot", s_i=(0.25, 0.1, 0), a_i=(0, 1, 0), s_j=(-0.25, 0.1, 0), a_j=(0, 1, 0))
    with pytest.raises(ModelError, match=r"over-constrained: .*repeat other rows; .*redundant=\"remove\""):
        b.build()
    system = b.build(redundant="remove")
    assert len(system.redundant) == 5 and system.degrees_of_freedom == 1
    with pytest.raises(ModelError, match="redundant = 'drop'; use 'refuse', 'remove' or 'fit'"):
        b.build(redundant="drop")


def test_contradicting_joints_cannot_be_assembled():
    b = fixed_leg()
    b.joint("near", "spherical", "leg", "foot", s_i=(0.25, 0, 0), s_j=(-0.25, 0, 0))
    b.joint("far", "spherical", "leg", "foot", s_i=(0.9, 0, 0), s_j=(0.25, 0, 0))
    with pytest.raises(
        AssemblyError, match=r"could not assemble: \|Phi\| = .* m after \d+ iterations, worst row (near|far)\.point_"
    ):
        b.build()


def test_inconsistent_velocities():
    b = builder(v=(0.0, 0.0, 1.0))
    b.joint("ground", "fixed", "ground", "leg")
    b.joint("ankle", "spherical", "leg", "foot", s_i=(0.25, 0, 0), s_j=(-0.25, 0, 0))
    with pytest.raises(
        AssemblyError,
        match=r"inconsistent initial velocities: .* in row ankle.point_z, limit .*project_velocities=True",
    ):
        b.build()
    system = b.build(project_velocities=True)
    assert runtime.simulate(system, 0.01).velocity_violation.max() < 1e-9


# Limits of motion

CONE = Cone.from_degrees([0, 90, 180, 270, 360], [20, 30, 40, 50, 20])
LIMIT = dict(reference="leg", xi=(1, 0, 0), eta=(0, 1, 0), cone=CONE, max_moment=226.0, compliance=0.2)
BALL, HINGE = (
    dict(s_i=(0.25, 0, 0), s_j=(-0.25, 0, 0)),
    dict(s_i=(0.25, 0, 0), a_i=(0, 1, 0), s_j=(-0.25, 0, 0), a_j=(0, 1, 0)),
)
CROSS = HINGE | dict(a_j=(1, 0, 0))
LINK = CROSS | dict(s_j=(-0.25, 0, 0.1), l=0.1)
JOINTS = {
    "ball": ("spherical", BALL),
    "hinge": ("revolute", HINGE),
    "slide": ("translational", HINGE),
    "cross": ("universal", CROSS),
    "link": ("modified_universal", LINK),
}
DOWN = dict(direction=(0, 0, -1))

# joint, arguments, sentence
LIMIT_ERRORS = {
    "unknown joint": ("knee", {}, "limit 'stop': unknown joint 'knee'; the joints are ball"),
    "name": ("ball", dict(name="a.b"), "limit name 'a.b': use letters, digits and '_'"),
    "taken name": ("ball", DOWN | dict(name="taken"), "limit 'taken' exists already; names must differ"),
    "reference": ("ball", DOWN | dict(reference="toes"), "reference = 'toes'; use one of its bodies, leg or foot"),
    "cone": ("ball", DOWN | dict(cone=[20] * 5), "cone = [20, 20, 20, 20, 20]; give runtime.Cone(longitudes, latitudes)"),
    "law": ("ball", DOWN | dict(law="linear"), "law = 'linear'; use 'conservative' or 'printed'"),
    "no moment": ("ball", DOWN | dict(max_moment=0.0), "max_moment = 0 N m, must be above 0 N m"),
    "negative moment": ("ball", DOWN | dict(max_moment=-1.0), "max_moment = -1 N m, must be above 0 N m"),
    "moment NaN": ("ball", DOWN | dict(max_moment=np.nan), "max_moment = nan is not finite"),
    "moments": ("ball", DOWN | dict(max_moment=(1, 2)), "max_moment has the shape (2,); give one number"),
    "word": ("ball", DOWN | dict(max_moment="strong"), "max_moment = 'strong'"),
    "no compliance": ("ball", DOWN | dict(compliance=0.0), "compliance = 0 rad, must be above 0 rad"),
    "negative damping": ("ball", DOWN | dict(damping=-0.1), "damping = -0.1 N m s, must not be below 0 N m s"),
    "infinite damping": ("ball", DOWN | dict(damping=np.inf), "damping = inf is not finite"),
    "xi": ("ball", DOWN | dict(xi=(2, 0, 0)), "xi has the length 2, limit 1 within 1e-09"),
    "zero eta": ("ball", DOWN | dict(eta=(0, 0, 0)), "eta is the zero vector"),
    "eta shape": ("ball", DOWN | dict(eta=(0, 1)), "eta has the shape (2,); give 3 numbers"),
    "no right angle": ("ball", DOWN | dict(eta=(0.6, 0.8, 0)), "xi and eta must stand at right angles, their product is 0.6"),
    "no direction": ("ball", {}, "missing direction; give the unit vector of the moving body that stays in the cone"),
    "direction": ("ball", dict(direction=(0, 0, -2)), "direction has the length 2, limit 1 within 1e-09"),
    "direction NaN": ("ball", dict(direction=(0, 0, np.nan)), "direction = [0.0, 0.0, nan] is not finite"),
    "hinge along zeta": (
        "hinge", dict(eta=(0, 0, 1)), "the hinge's axis stands 90 degrees off the plane of xi and eta, limit 0; choose",
    ),
    "cross along zeta": ("cross", dict(eta=(0, 0, 1)), "the hinge's axis stands 90 degrees off the plane of xi and eta"),
    "along the hinge": ("hinge", dict(direction=(0, 1, 0)), "direction lies along the hinge's axis and does not turn"),
    "no turn": ("slide", DOWN, "this joint leaves no turn free that a cone could limit; use a joint with rotation"),
    "direction of a link": ("link", DOWN, "unused direction; the massless link is the direction that this limit restrains"),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMIT_ERRORS)
def test_limits(case):
    joint, values, message = LIMIT_ERRORS[case]
    b = builder()
    kind, axes = JOINTS.get(joint, JOINTS["ball"])
    b.joint(joint if joint in JOINTS else "ball", kind, "leg", "foot", **axes)
    b.joint("other", "spherical", "leg", "foot", **BALL)
    b.limit("taken", "other", **LIMIT, **DOWN)
    before = counts(b)
    with pytest.raises(ModelError) as error:
        b.limit(**(dict(name="stop", joint=joint) | LIMIT | values))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    if not message.startswith("limit"):
        assert str(error.value).startswith(f"limit 'stop' of joint '{joint}' ({kind}): ")
    assert counts(b) == before


def test_a_direction_must_turn_in_the_motions_that_the_joint_leaves_free():
    b = builder()
    b.joint("angle", "constant_angle", "leg", "foot", a_i=(0, 0, 1), a_j=(0, 1, 0))
    b.limit("stop", "angle", **LIMIT, direction=(0, 0, 1))
    b.joint("only", "revolute", "leg", "foot", **HINGE)
    with pytest.raises(ModelError, match="direction lies along the hinge's axis"):
        b.limit("along", "only", **LIMIT, direction=(0, 1, 0))


# Contacts

SPHERE = dict(centre=(0, 0, 0), radius=0.1, law="flores", stiffness=1e5, exponent=1.5, restitution=0.5)
RUBS = dict(friction="coulomb", mu_c=0.5, mu_d=0.0)
BELT = dict(belt=(1, 0, 0))
FASTER = runtime.Signal.function(np.sin, 0.0, 0.5)
CONTACT_ERRORS = {
    "name": (dict(name="a.b"), "contact name 'a.b': use letters, digits and '_'"),
    "taken name": (dict(name="taken"), "contact 'taken' exists already; names must differ"),
    "law": (
        dict(law="hooke"),
        "law = 'hooke'; use 'kelvin_voigt', 'hertz', 'hunt_crossley', 'lankarani_nikravesh', 'flores'",
    ),
    "no law": (dict(law=None), "law = None; use 'kelvin_voigt'"),
    "law left out": (dict(law=""), "law = ''; use 'kelvin_voigt'"),
    "laws": (dict(law=["hertz"]), "law = ['hertz']; use 'kelvin_voigt'"),
    "friction": (dict(friction="dry"), "friction = 'dry'; use 'coulomb', 'smooth'"),
    "body": (dict(body="hand"), "unknown body 'hand'; the bodies are leg, foot"),
    "ground": (dict(body="ground"), "unknown body 'ground'; the bodies are leg, foot"),
    "plane": (dict(plane="floor"), "unknown plane 'floor'; the bodies are leg, foot, ground"),
    "itself": (dict(plane="foot"), "sphere and plane belong to the same body 'foot'; give two"),
    "unused": (dict(law="hertz"), "unused exponent, restitution; law hertz needs stiffness"),
    "missing": (dict(law="kelvin_voigt"), "missing damping; law kelvin_voigt needs stiffness, exponent, damping"),
    "missing friction": (
        dict(friction="smooth"),
        "missing mu_c, mu_d; law flores with friction smooth needs stiffness, exponent",
    ),
    "unused friction": (dict(mu_c=0.5), "unused mu_c; law flores needs stiffness, exponent, restitution"),
    "impact": (dict(impact=1.0), "unused impact; law flores needs stiffness, exponent, restitution"),
    "no radius": (dict(radius=0), "radius = 0 m, must be above 0 m"),
    "radius NaN": (dict(radius=np.nan), "radius = nan is not finite"),
    "no stiffness": (dict(stiffness=0.0), "stiffness = 0 N/m^n, must be above 0 N/m^n"),
    "word": (dict(stiffness="hard"), "stiffness = 'hard': give one number"),
    "stiff": (dict(stiffness=1e300), "stiffness = 1e+300 N/m^n, must not be above 1e+18 N/m^n; a steel ball has 1e10"),
    "exponent": (dict(exponent=0.99), "exponent = 0.99, must not be below 1"),
    "high exponent": (
        dict(exponent=1000),
        "exponent = 1000, must not be above 10; 1 is a linear spring, 1.5 is Hertz's",
    ),
    "no restitution": (dict(restitution=0.0), "restitution = 0, must be above 0"),
    "restitution": (dict(restitution=1.01), "restitution = 1.01, must not be above 1"),
    "least impact": (dict(least_impact=0.0), "least_impact = 0 m/s, must be above 0 m/s"),
    "negative friction": (RUBS | dict(mu_c=-0.1), "mu_c = -0.1, must not be below 0"),
    "negative drag": (RUBS | dict(mu_d=-1.0), "mu_d = -1 N s/m, must not be below 0 N s/m"),
    "no creep": (RUBS | dict(creep=0.0), "creep = 0 m/s, must be above 0 m/s"),
    "centre NaN": (dict(centre=(0, np.nan, 0)), "centre = [0.0, nan, 0.0] is not finite"),
    "point shape": (dict(point=(0, 0)), "point has the shape (2,); give 3 numbers"),
    "normal": (dict(normal=(0, 0, 2)), "normal has the length 2, limit 1 within 1e-09; give (0, 0, 1)"),
    "belt": (dict(belt=(2, 0, 0)), "belt has the length 2, limit 1 within 1e-09; give (1, 0, 0)"),
    "belt off the plane": (
        dict(belt=(0.6, 0, 0.8)),
        "belt stands off the plane, its product with the normal is 0.8, limit 0",
    ),
    "speed without belt": (dict(belt_speed=1.0), "belt_speed = 1.0 without belt; give the direction in which it runs"),
    "signal without belt": (dict(belt_speed=FASTER), "without belt; give the direction in which it runs"),
    "speed NaN": (BELT | dict(belt_speed=np.nan), "belt_speed = nan: give a runtime.Signal or a finite number"),
    "no speed": (BELT | dict(belt_speed=None), "belt_speed = None: give a runtime.Signal or a finite number"),
    "speed a word": (BELT | dict(belt_speed="fast"), "belt_speed = 'fast': give a runtime.Signal or a finite number"),
}


@pytest.mark.parametrize("case", CONTACT_ERRORS)
def test_contacts(case):
    values, message = CONTACT_ERRORS[case]
    b = builder(free=True)
    b.contact("taken", "foot", **SPHERE)
    before = counts(b)
    with pytest.raises(ModelError) as error:
        b.contact(**(dict(name="heel", body="foot") | SPHERE | values))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert message.startswith("contact") or str(error.value).startswith("contact 'heel': ")
    assert counts(b) == before


def test_a_contact_without_a_law_is_refused():
    with pytest.raises(ModelError, match="contact 'heel': law = ''; use 'kelvin_voigt', 'hertz'"):
        builder(free=True).contact("heel", "foot", centre=(0, 0, 0), radius=0.1)


def test_contacts_that_are_nearly_wrong_are_taken():
    b = builder(free=True)
    for k, change in enumerate(
        (
            {},
            RUBS,
            BELT | dict(belt_speed=1.0),
            dict(restitution=1.0),
            dict(exponent=1.0),
            dict(stiffness=1e18, exponent=10.0),
        )
    ):
        b.contact(f"heel_{k}", "foot", **SPHERE | change)
    assert len(b._contacts) == 6


def test_runs_of_contacts():
    b = Builder("steps")
    b.body("foot", mass=1.0, inertia=UNIT, free=True)
    b.contact("heel", "foot", **SPHERE, **BELT, belt_speed=FASTER)
    system = b.build()
    with pytest.raises(ModelError, match=r"the signal 'heel.belt_speed' of system 'steps' is defined from 0 to 0.5 s"):
        runtime.simulate(system, 1.0)
    with pytest.raises(
        ModelError, match="contact 'heel' damps by the speed of touch-down, which method 'BDF' does not find"
    ):
        runtime.simulate(system, 0.1, method="BDF")
    with pytest.raises(ModelError, match="unknown contact 'toe'; the contacts are heel"):
        system.contact("toe")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0.0, 1e9, 0.3), "radius = 0.0 m, must be a finite number above 0 m"),
        ((0.1, 0.0, 0.3), "modulus of the sphere = 0.0 Pa, must be above 0 Pa"),
        ((0.1, np.inf, 0.3), "modulus"),
        ((0.1, 1e9, 0.6), "Poisson's ratio of the sphere = 0.6, must be above -1 and at most 0.5"),
        ((0.1, 1e9, 0.3, -1.0), "modulus of the plane = -1.0 Pa, must be above 0 Pa"),
        (("a", 1e9, 0.3), "radius = 'a'; give one number"),
        ((0.1, None, 0.3), "youngs_modulus = None; give one number"),
        ((0.1, 1e9, [0.3]), "poissons_ratio = [0.3]; give one number"),
        ((0.1, 1e9, 0.3, 1e9, np.nan), "Poisson's ratio of the plane = nan, must be above -1 and at most 0.5"),
    ],
)
def test_stiffness_of_materials(arguments, says):
    with pytest.raises(ModelError) as error:
        runtime.hertz_stiffness(*arguments)
    assert str(error.value).startswith("hertz_stiffness: ") and says in str(error.value)


def test_limits_of_the_models():
    for build, arguments, message in (
        (models.foot.build, dict(limits="stiff"), "limits = 'stiff'; use None, 'elastic', 'dissipative'"),
        (models.foot.build, dict(limits="elastic", preset="mine"), "preset = 'mine'; use 'anatomical', 'published'"),
        (models.foot.build, dict(limits="elastic", law="linear"), "law = 'linear'; use 'conservative' or 'printed'"),
        (models.foot.build, dict(law="printed"), "give limits='elastic' or 'dissipative' too"),
        (models.foot.build, dict(law="printed"), "give limits='elastic' or 'dissipative' too"),
        (models.pendulum.build, dict(limits="stiff"), "limits = 'stiff'; use 'elastic' or 'dissipative'"),
        (
            models.pendulum.build,
            dict(damping=1.0),
            "damping = 1.0 says how limits are; give limits='elastic' or 'dissipative'",
        ),
        (
            models.pendulum.build,
            dict(limits="elastic", damping=1.0),
            "limits='elastic' have none; use limits='dissipative'",
        ),
        (models.pendulum.build, dict(limits="elastic", compliance=-1.0), "compliance = -1 rad, must be above 0 rad"),
    ):
        with pytest.raises(ModelError) as error:
            build(**arguments)
        assert message in str(error.value)
        assert "\n" not in str(error.value)


@pytest.fixture(scope="module")
def foot():
    return models.foot.build()


def test_inconsistent_state(foot):
    fast = foot.state.replace(omega={"main_foot": (0, 0, 3)})
    with pytest.raises(
        AssemblyError, match=r"inconsistent initial velocities.*in row metatarsophalangeal.*system.assemble\(state\)"
    ):
        runtime.simulate(foot, 1.0, initial=fast)
    moved = foot.state.replace(r={"toes": (1, 0, 0)})
    with pytest.raises(
        AssemblyError, match=r"initial configuration violates metatarsophalangeal.point_x.*system.assemble"
    ):
        runtime.simulate(foot, 1.0, initial=moved)
    with pytest.raises(ModelError, match="the state is of the bodies"):
        runtime.simulate(foot, 1.0, initial=models.free_body.build().state)
    for part, message in (({"q": {}}, "unknown part 'q'"), ({"r": {"hand": (0, 0, 0)}}, "unknown body 'hand'")):
        with pytest.raises(ModelError, match=message):
            foot.state.replace(**part)


SIMULATE_ERRORS = {
    "unknown method": (dict(method="ode15s"), "unknown method 'ode15s'; use dop853, radau, RK23"),
    "negative time": (dict(t_end=-1.0), "t_end = -1 s must be after t_start = 0 s"),
    "no time": (dict(t_end=0.0), "must be after"),
    "time not finite": (dict(t_end=np.nan), "t_end = nan is not finite"),
    "negative tolerance": (dict(rtol=-1e-6), "rtol = -1e-06 must be a finite number"),
    "tolerances too small": (dict(rtol=0.0, atol=0.0), "both below the rounding"),
    "negative damping": (dict(alpha=-1.0), "alpha = -1.0 must be a finite number"),
    "outputs fall": (dict(t_eval=[0.0, 0.5, 0.4]), "t_eval must increase"),
    "outputs outside": (dict(t_eval=[0.0, 2.0]), "t_eval runs from 0 to 2 s, outside the interval 0 .. 1 s"),
    "outputs not finite": (dict(t_eval=[0.0, np.nan]), "t_eval holds a number that is not finite"),
    "outputs no list": (dict(t_eval=0.5), "t_eval has the shape ()"),
    "no outputs": (dict(t_eval=[]), "give a list of times"),
    "no scale": (dict(atol=0.0), "atol = 0 leaves states that are zero without a scale"),
    "tolerance a word": (dict(rtol="a"), "rtol = 'a' must be a finite number"),
    "tolerance a list": (dict(atol=[1e-6]), "atol = [1e-06] must be a finite number"),
    "step a word": (dict(max_step="a"), "max_step = 'a' s must be above 0 s"),
    "outputs words": (dict(t_eval=["a"]), "t_eval = ['a'] is no list of times"),
    "no state": (dict(initial=5), "initial = 5 is no State"),
    "no event": (dict(events=[abs]), "events must be a sequence of runtime.Event"),
    "step": (dict(max_step=0.0), "max_step = 0.0 s must be above 0 s"),
    "no steps": (dict(max_steps=0), "max_steps = 0; give a number of steps, 1 or more"),
    "half a step": (dict(max_steps=1.5), "max_steps = 1.5; give a number of steps"),
    "event names": (dict(events=[runtime.Event("e", lambda t, s: t)] * 2), "the names e, e must differ"),
}


@pytest.mark.parametrize("case", SIMULATE_ERRORS)
def test_simulate(case, foot):
    values, message = SIMULATE_ERRORS[case]
    with pytest.raises(ModelError) as error:
        runtime.simulate(foot, **({"t_end": 1.0} | values))
    assert message in str(error.value)


def test_events(foot):
    for arguments, message in (
        (("e", 5), "function = 5 cannot be called"),
        (("e", abs, 5), "direction = 5; use -1, 0 or 1"),
    ):
        with pytest.raises(ModelError, match=message):
            runtime.Event(*arguments)
    bad = runtime.Event("bad", lambda t, state: np.nan if t > 0.3 else 1.0)
    run = runtime.simulate(foot, 1.0, events=[bad])
    assert not run.success and run.message.startswith("event 'bad' is nan at t = 0.3") and len(run.t) > 2


def test_overflow_is_no_singular_configuration():
    run = runtime.simulate(models.free_body.build(omega=(1e200, 1e200, 0)), 1.0)
    assert not run.success and "not finite" in run.message or "finite at t = 0" in run.message


def test_first_step_longer_than_the_run(foot):
    for method in ("dop853", "RK45"):
        assert runtime.simulate(foot, 0.1, method=method, first_step=10.0, rtol=1e-6, atol=1e-6).success


def test_a_singular_pose_that_is_passed_is_told():
    flat = dict(crank=0.2, coupler=0.5, rocker=0.2, ground=0.5, crank_angle=1.0)
    run = runtime.simulate(models.four_bar.build("revolute", crank_speed=30.0, **flat), 1.0)
    assert "close to a singular configuration" in run.message or not run.success
    assert "singular" not in runtime.simulate(models.foot.build(), 1.0).message


def test_foot():
    for arguments, message in (
        (dict(ankle="ball"), "use 'classical' or 'modified'"),
        (dict(link_length=-0.01), "link_length = -0.01 m must be a finite length"),
        (dict(link_length=np.nan), "link_length = nan m must be a finite length"),
        (dict(ankle="classical", link_length=0.04), "has no meaning for the classical ankle"),
        (dict(gravity=(0, 0)), "gravity has the shape"),
    ):
        with pytest.raises(ModelError, match=message):
            models.foot.build(**arguments)


def test_results(foot):
    run = runtime.simulate(foot, 0.1)
    with pytest.raises(ModelError, match="joint 'ankle' does not act on body 'toes'; it joins 'main_foot' and 'leg'"):
        run.reaction("ankle", on="toes")
    with pytest.raises(ModelError, match="unknown joint 'knee'; the joints are"):
        run.reaction("knee", on="leg")
    with pytest.raises(ModelError, match="unknown body 'hand'"):
        run.reaction("ankle", on="leg", axes="hand")
    with pytest.raises(ModelError, match="use 'joint', 'centre' or three local components"):
        run.reaction("ankle", on="leg", at="middle")


def test_a_system_and_its_state_cannot_be_changed(foot):
    with pytest.raises(AttributeError):
        foot.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        foot.state.y[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        foot.state.r["leg"][0] = 1.0
    with pytest.raises(TypeError):
        foot.joint("ankle").values["l"] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        foot.joint("ankle").values["a_i"][0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        foot.body("leg").inertia[0, 0] = 1.0
    for table in foot.tables:
        if isinstance(table, np.ndarray):
            assert not table.flags.writeable
