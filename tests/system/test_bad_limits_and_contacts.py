"""Bad limits and contacts get one sentence that names the object, the rule and the remedy, and change nothing."""

import numpy as np
import pytest

import codegen
import models
import runtime
from runtime import Builder, Cone
from tests.support.refusals import assert_refused
from tests.support.small_builder import UNIT, builder

# Joint limits

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
    "cone": ("ball", DOWN | dict(cone=[20] * 5), "cone = [20, 20, 20, 20, 20]: give runtime.Cone(longitudes, latitudes)"),
    "law": ("ball", DOWN | dict(law="linear"), "law = 'linear'; use 'conservative' or 'as_published'"),
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
    "no right angle": ("ball", DOWN | dict(eta=(0.6, 0.8, 0)), "xi and eta must be perpendicular, their product is 0.6"),
    "no direction": ("ball", {}, "missing direction; give the unit vector of the moving body that stays in the cone"),
    "direction": ("ball", dict(direction=(0, 0, -2)), "direction has the length 2, limit 1 within 1e-09"),
    "direction NaN": ("ball", dict(direction=(0, 0, np.nan)), "direction = [0.0, 0.0, nan] is not finite"),
    "hinge along zeta": (
        "hinge", dict(eta=(0, 0, 1)), "hinge's axis and the plane of xi and eta is 90 degrees, limit 0; choose",
    ),
    "cross along zeta": ("cross", dict(eta=(0, 0, 1)), "hinge's axis and the plane of xi and eta is 90 degrees"),
    "along the hinge": ("hinge", dict(direction=(0, 1, 0)), "direction lies along the hinge's axis and does not turn"),
    "no turn": ("slide", DOWN, "this joint admits no rotation that a cone could limit; use a joint with rotation"),
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
    said = assert_refused(message, b.limit, **(dict(name="stop", joint=joint) | LIMIT | values))
    if not message.startswith("limit"):
        assert said.startswith((f"limit 'stop' of joint '{joint}' ({kind}): ", "limit 'stop': "))


def test_a_direction_must_turn_in_the_motions_that_the_joint_leaves_free():
    b = builder()
    b.joint("angle", "constant_angle", "leg", "foot", a_i=(0, 0, 1), a_j=(0, 1, 0))
    b.limit("stop", "angle", **LIMIT, direction=(0, 0, 1))
    b.joint("only", "revolute", "leg", "foot", **HINGE)
    assert_refused("direction lies along the hinge's axis", b.limit, "along", "only", **LIMIT, direction=(0, 1, 0))


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
    "no law": (dict(law=None), "contact 'heel': law = None: give text"),
    "law left out": (dict(law=""), "law = ''; use 'kelvin_voigt', 'hertz'"),
    "laws": (dict(law=["hertz"]), "contact 'heel': law = ['hertz']: give text"),
    "friction": (dict(friction="dry"), "friction = 'dry'; use 'coulomb', 'sticking', 'stribeck', 'smooth'"),
    "body": (dict(body="hand"), "unknown body 'hand'; the bodies are leg, foot"),
    "ground": (dict(body="ground"), "unknown body 'ground'; the bodies are leg, foot"),
    "plane": (dict(plane="floor"), "unknown plane 'floor'; did you mean 'foot'? the bodies are leg, foot, ground"),
    "itself": (dict(plane="foot"), "sphere and plane belong to the same body 'foot'; give two"),
    "unused": (dict(law="hertz"), "unused exponent, restitution; law hertz needs stiffness"),
    "missing": (
        dict(law="kelvin_voigt"),
        "missing damping, unused restitution; law kelvin_voigt needs stiffness, exponent, damping",
    ),
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
    "least impact": (dict(min_impact_speed=0.0), "min_impact_speed = 0 m/s, must be above 0 m/s"),
    "negative friction": (RUBS | dict(mu_c=-0.1), "mu_c = -0.1, must not be below 0"),
    "negative drag": (RUBS | dict(mu_d=-1.0), "mu_d = -1 N s/m, must not be below 0 N s/m"),
    "no transition velocity": (
        RUBS | dict(transition_velocity=0.0),
        "transition_velocity = 0 m/s, must be above 0 m/s",
    ),
    "centre NaN": (dict(centre=(0, np.nan, 0)), "centre = [0.0, nan, 0.0] is not finite"),
    "point shape": (dict(point=(0, 0)), "point has the shape (2,); give 3 numbers"),
    "normal": (dict(normal=(0, 0, 2)), "normal has the length 2, limit 1 within 1e-09; give (0, 0, 1)"),
    "belt": (dict(belt=(2, 0, 0)), "belt has the length 2, limit 1 within 1e-09; give (1, 0, 0)"),
    "belt off the plane": (
        dict(belt=(0.6, 0, 0.8)),
        "belt is not in the plane, its product with the normal is 0.8, limit 0",
    ),
    "speed without belt": (
        dict(belt_speed=1.0),
        "belt_speed = 1.0 without belt; give the direction in which the belt moves",
    ),
    "signal without belt": (dict(belt_speed=FASTER), "without belt; give the direction in which the belt moves"),
    "speed NaN": (BELT | dict(belt_speed=np.nan), "belt_speed = nan: give a runtime.Signal or a finite number"),
    "no speed": (BELT | dict(belt_speed=None), "belt_speed = None: give a runtime.Signal or one number"),
    "speed a word": (BELT | dict(belt_speed="fast"), "belt_speed = 'fast': give a runtime.Signal or one number"),
}


@pytest.mark.parametrize("case", CONTACT_ERRORS)
def test_contacts(case):
    values, message = CONTACT_ERRORS[case]
    b = builder(free=True)
    b.contact("taken", "foot", **SPHERE)
    said = assert_refused(message, b.contact, **(dict(name="heel", body="foot") | SPHERE | values))
    assert message.startswith("contact") or said.startswith("contact 'heel': ")


def test_contacts_just_within_their_bounds_are_accepted():
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
    assert len(b._of["contacts"]) == 6


def test_runs_of_contacts():
    b = Builder("steps")
    b.body("foot", mass=1.0, inertia=UNIT, free=True)
    b.contact("heel", "foot", **SPHERE, **BELT, belt_speed=FASTER)
    system = b.build()
    assert_refused(
        "the signal 'heel.belt_speed' of system 'steps' is defined from 0 to 0.5 s", runtime.simulate, system, 1.0
    )
    says = "contact 'heel' damps by the speed of touch-down, which method 'BDF' does not find"
    assert_refused(says, runtime.simulate, system, 0.1, method="BDF")
    assert_refused("unknown contact 'toe'; the contacts are heel", system.contact, "toe")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0.0, 1e9, 0.3), "radius = 0.0 m, must be a finite number above 0 m"),
        ((0.1, 0.0, 0.3), "modulus of the sphere = 0.0 Pa, must be above 0 Pa"),
        ((0.1, np.inf, 0.3), "modulus"),
        ((0.1, 1e9, 0.6), "Poisson's ratio of the sphere = 0.6, must be above -1 and at most 0.5"),
        ((0.1, 1e9, 0.3, -1.0), "modulus of the plane = -1.0 Pa, must be above 0 Pa"),
        (("a", 1e9, 0.3), "radius = 'a': give one number"),
        ((0.1, None, 0.3), "youngs_modulus = None: give one number"),
        ((0.1, 1e9, [0.3]), "poissons_ratio has the shape (1,); give one number"),
        ((0.1, 1e9, 0.3, 1e9, np.nan), "Poisson's ratio of the plane = nan, must be above -1 and at most 0.5"),
    ],
)
def test_stiffness_of_materials(arguments, says):
    assert assert_refused(says, runtime.system.hertz_stiffness, *arguments).startswith("hertz_stiffness: ")


def linear(excess, k):
    """A spring.

    k : [N m/rad], 0 < k
    """
    return k * excess**2 / 2


def relative(x):
    """A spring."""
    return x**2 / 2


SPRING, RELATIVE = codegen.compile_limit(linear), codegen.compile_limit(relative)
ELASTIC = dict(limits="elastic")
OWN = ELASTIC | dict(law=SPRING)
PASSIVE = ELASTIC | dict(law="exponential")
OF_MODELS = [
    (models.foot, dict(law=SPRING), "law = module generated_from_linear applies to limits only"),
    (
        models.foot,
        ELASTIC | dict(law=linear),
        ("or give what a function of codegen, such as", "compile_limit"),
    ),
    (
        models.foot,
        ELASTIC | dict(law=None),
        "law = None; use 'conservative', 'as_published' or 'exponential', or give what",
    ),
    *(
        (models.foot, OWN | dict(law_parameters={key: 1.0}), f"law_parameters: unknown '{key}'; the law takes k")
        for key in ("cone", "xi", "max_moment")
    ),
    (models.foot, OWN | dict(law_parameters=dict(k=1.0, damping=1.0)), "the keyword limits decides the damping"),
    (
        models.foot,
        OWN | dict(law_parameters=dict(compliance=1.0)),
        "the keyword limit_compliance decides the compliance",
    ),
    (models.foot, ELASTIC | dict(law=RELATIVE, law_parameters={"k": 1.0}), "unknown 'k'; the law takes max_moment"),
    (models.foot, PASSIVE | dict(limit_compliance=0.3), "limit_compliance has no meaning for law = 'exponential'"),
    (
        models.foot,
        PASSIVE | dict(law_parameters={"talocrural": 5}),
        "talocrural = 5; give a mapping from names to values",
    ),
    (
        models.foot,
        PASSIVE | dict(law_parameters={"talocrural": {"a_i": 5}}),
        "unknown 'a_i'; the law takes upper_moment",
    ),
    (models.foot, dict(limits="stiff"), "limits = 'stiff'; use 'elastic' or 'dissipative'"),
    (models.foot, dict(limits="elastic", preset="mine"), "preset = 'mine'; use 'anatomical' or 'published'"),
    (
        models.foot,
        dict(limits="elastic", law="linear"),
        "law = 'linear'; use 'conservative', 'as_published' or 'exponential'",
    ),
    (
        models.foot,
        dict(limits="elastic", law="exponential", inversion_deg=20),
        "a range of motion has no meaning for law = ",
    ),
    (
        models.foot,
        dict(limits="elastic", law="exponential", law_parameters={"knee": {}}),
        "unknown hinge 'knee'; use talocrural",
    ),
    (
        models.foot,
        dict(limits="elastic", law_parameters={"exponent": 2}),
        "has no meaning for law = 'conservative'",
    ),
    (models.foot, dict(law="as_published"), "give limits='elastic' or 'dissipative' too"),
    (models.pendulum, dict(limits="stiff"), "limits = 'stiff'; use 'elastic' or 'dissipative'"),
    (
        models.pendulum,
        dict(damping=1.0),
        "damping = 1.0 applies to limits only; give limits='elastic' or 'dissipative'",
    ),
    (models.pendulum, dict(limits="elastic", damping=1.0), "limits='elastic' have none; use limits='dissipative'"),
    (models.pendulum, dict(limits="elastic", compliance=-1.0), "compliance = -1 rad, must be above 0 rad"),
]


@pytest.mark.parametrize(("model", "arguments", "message"), OF_MODELS)
def test_limits_of_the_models(model, arguments, message):
    assert_refused(message, model.build, **arguments)
