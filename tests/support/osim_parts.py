"""Models of OpenSim with bushings, functions of all kinds, ellipsoids and reversed joints, and accelerations by OpenSim 4.6."""

import re

import numpy as np

from benchmarks.files.states import Sample
from tests.support import opensim_models
from tests.support.osim_files import AXES, osim

FRAMES = ("0.02 -0.1 0.03", "0.2 -0.1 0.3"), ("0.01 0.1 -0.02", "-0.1 0.3 0.1")
CONSTANTS = (
    "<rotational_stiffness>10 20 30</rotational_stiffness><translational_stiffness>100 200 300</translational_stiffness>"
    "<rotational_damping>1 2 3</rotational_damping><translational_damping>4 5 6</translational_damping>"
)
POLYNOMIAL = (
    "<MultivariatePolynomialFunction{}><coefficients>0.01 0.02 -0.03 0.005 0.03 0.015</coefficients><dimension>2</dimension>"
    "<order>2</order></MultivariatePolynomialFunction>"
)
FUNCTIONS = {
    "sine": "<Sine><amplitude>0.3</amplitude><omega>1.7</omega><phase>0.4</phase><offset>0.05</offset></Sine>",
    "degree 7": "<PolynomialFunction><coefficients>0.1 -0.2 0.05 0.1 0.3 -0.1 0.2 0.02</coefficients></PolynomialFunction>",
    "step": (
        "<StepFunction><transition_start_time>-0.8</transition_start_time><transition_end_time>0.9</transition_end_time>"
        "<start_value>-0.1</start_value><end_value>0.3</end_value></StepFunction>"
    ),
    "multiple": (
        "<MultiplierFunction><function><Sine><amplitude>0.3</amplitude></Sine></function><scale>-2</scale></MultiplierFunction>"
    ),
}
SEVERAL = {
    "two lines": "<LinearFunction><coefficients>0.3 -0.4 0.1</coefficients></LinearFunction>",
    "two powers": POLYNOMIAL.format(""),
}


def bushing(version, one="pelvis", two="tibia"):
    """A bushing between two bodies, as the text of a force."""
    ends = []
    for k, (body, (place, turn)) in enumerate(zip((one, two), FRAMES, strict=True), start=1):
        path = "/ground" if body == "ground" else f"/bodyset/{body}"
        ends += [
            f"<body_{k}>{body}</body_{k}><location_body_{k}>{place}</location_body_{k}>"
            f"<orientation_body_{k}>{turn}</orientation_body_{k}>"
            if version == 3
            else f'<PhysicalOffsetFrame name="f{k}"><socket_parent>{path}</socket_parent><translation>{place}</translation>'
            f"<orientation>{turn}</orientation></PhysicalOffsetFrame>"
        ]
    within = "".join(ends)
    if version == 4:
        within = f"<socket_frame1>f1</socket_frame1><socket_frame2>f2</socket_frame2><frames>{within}</frames>"
    return f'<BushingForce name="pad">{within}{CONSTANTS}</BushingForce>'


def set_of(kind, objects):
    """A set of forces or constraints."""
    return f"<{kind}><objects>{objects}</objects></{kind}>"


def with_bushing(version, *ends):
    """The model with a bushing."""
    return osim(version, extra=set_of("ForceSet", bushing(version, *ends)))


def coupler(function, leaders, follower="ankle"):
    """A coupler of coordinates."""
    return (
        f'<CoordinateCouplerConstraint name="gear"><coupled_coordinates_function>{function}</coupled_coordinates_function>'
        f"<independent_coordinate_names>{leaders}</independent_coordinate_names><dependent_coordinate_name>{follower}"
        "</dependent_coordinate_name><scale_factor>0.9</scale_factor></CoordinateCouplerConstraint>"
    )


def coupled(function, leaders):
    """A leg whose ankle follows coordinates."""
    return opensim_models.leg(constraints=coupler(function, leaders))


def ellipsoid(*radii, **more):
    """The hip on an ellipsoid."""
    text = osim(4, defaults={"hip_x": 0.2, "hip_y": -0.1}, **more).replace("GimbalJoint", "EllipsoidJoint")
    i = text.index("<coordinates>", text.index("<EllipsoidJoint"))
    return f"{text[:i]}<radii_x_y_z>{' '.join(map(str, radii))}</radii_x_y_z>{text[i:]}"


def turned_round(joint):
    """A model whose joint has its parent further from ground."""
    text = osim(4, defaults={"hip_y": 0.3, "ankle": 0.4, "knee": 0.2})
    i = text.index(f'name="{joint}_joint"')
    j = text.index("</socket_child_frame>", i)
    parent, child = (re.search(f"socket_{end}_frame>(.*?)(<|$)", text[i:j])[1] for end in ("parent", "child"))
    part = (
        text[i:j]
        .replace(f"parent_frame>{parent}<", f"parent_frame>{child}<")
        .replace(f"child_frame>{child}", f"child_frame>{parent}")
    )
    return text[:i] + part + text[j:]


TWO = {**AXES, "translation1": ("knee twist", "1 0 0.2", POLYNOMIAL), "rotation3": ("knee twist", "1 0 0", POLYNOMIAL)}
REVERSED = "<reverse>true</reverse><parent_body>tibia"
BACKWARDS = osim(3).replace("<parent_body>tibia", REVERSED)
# Forces and constraints with functions of all kinds, by version.
SETS = {
    version: set_of("ForceSet", bushing(version)) + set_of(
        "ConstraintSet",
        coupler(SEVERAL["two powers"], "arm_x reach")
        + "".join(coupler(f, "arm_x", c) for c, f in zip(("arm_y", "s_x", "s_y", "s_turn"), FUNCTIONS.values(), strict=True)),
    )
    for version in (3, 4)
}  # fmt: skip
# With a bushing: without forces all that floats falls alike, whatever its joints.
HELD = {"axes": TWO, "extra": set_of("ForceSet", bushing(4))}
LOCKED = osim(4, **HELD, defaults={"twist": 0.3}).replace(
    '<Coordinate name="twist">', '<Coordinate name="twist"><locked>true</locked>'
)
FILES = {
    "bushing, version 3": with_bushing(3), "bushing, version 4": with_bushing(4), "bushing on ground": with_bushing(4, "ground"),
    **{name: coupled(text, "knee_angle") for name, text in FUNCTIONS.items()},
    **{name: coupled(text, "knee_angle flexion") for name, text in SEVERAL.items()},
    "axes of two coordinates": osim(4, **HELD), "one of them locked": LOCKED, "ellipsoid": ellipsoid(0.1, 0.25, 0.17),
    "reversed, version 3": BACKWARDS, **{f"reversed {name}": turned_round(name) for name in ("femur", "humerus", "hand")},
}  # fmt: skip
# Second derivatives of OpenSim's polynomials of several coordinates are its first ones; without rates they do not count.
RESTING = ("two powers", "axes of two coordinates", "one of them locked")


def sample_of(reading, speed):
    """A state of a reading: differences from the reference pose, and rates."""
    q, u = {}, {}
    for k, (_, step) in enumerate(reading.description.steps):
        q[step.name], u[step.name] = 0.3 * np.sin(k + 1.0), speed * 0.5 * np.cos(2.0 * k + 1.0)
    for one in reading.description.followers_in_order:
        q[one.step], u[one.step] = one.moved(q, u)
    return Sample(q, u)


# OpenSim 4.6: derivatives of the rates of all coordinates in the state of ``sample_of``, by its realizeAcceleration.
BY_OPENSIM = {
    "bushing, version 3": {
        "p_rx": -44.47171289772681, "p_ry": 29.30706051520965, "p_rz": -74.27245977008317,
        "p_tx": -1.9070255606253856, "p_ty": -12.627312699085545, "p_tz": 3.053846595642861,
        "hip_x": 104.69341839910437, "hip_y": 53.08511439300972, "hip_z": 16.915568306660184,
        "knee": 386.9639583619211, "twist": 267.1046784360489, "ankle": 31.45419123557423,
        "arm_x": -8.451729618238085, "arm_y": -5.157063386875946, "reach": -1.7713529452482453, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
    "bushing, version 4": {
        "p_rx": -44.47171289772681, "p_ry": 29.30706051520965, "p_rz": -74.27245977008317,
        "p_tx": -1.9070255606253856, "p_ty": -12.627312699085545, "p_tz": 3.053846595642861,
        "hip_x": 104.69341839910437, "hip_y": 53.08511439300972, "hip_z": 16.915568306660184,
        "knee": 386.9639583619211, "twist": 267.1046784360489, "ankle": 31.45419123557423,
        "arm_x": -8.451729618238085, "arm_y": -5.157063386875946, "reach": -1.7713529452482453, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
    "bushing on ground": {
        "p_rx": 4.343542393922291, "p_ry": 2.955968810805207, "p_rz": 3.510090234348906, "p_tx": -1.8314984099807454,
        "p_ty": -10.269818335622904, "p_tz": 1.464595235797879, "hip_x": 34.785782128715454,
        "hip_y": 77.69127318800736, "hip_z": -42.441333705144125, "knee": 336.93472032618075,
        "twist": 336.5874766895962, "ankle": 38.83718677650239, "arm_x": 0.8974550750105228,
        "arm_y": -2.340012919331686, "reach": -1.4024647216875055, "s_turn": 0.0, "s_x": 0.30146779456491785,
        "s_y": -9.30301115018515,
    },
    "sine": {
        "pelvis_turn": 0.12414293197548432, "pelvis_x": -0.011670042740776765, "pelvis_y": -9.805199131088086,
        "flexion": -0.6178416954164652, "adduction": 0.9281669323654658, "rotation": 0.7021268213834984,
        "forward": 0.060535397947894865, "up": -0.026641042010014715, "knee_angle": 0.15623416695600767,
        "ankle": 0.07557421858072999, "subtalar": -0.06911767332125329,
    },
    "degree 7": {
        "pelvis_turn": 0.06064500460276179, "pelvis_x": -0.005495617516999118, "pelvis_y": -9.803549831818342,
        "flexion": -0.7191438398294935, "adduction": 0.9421661727650852, "rotation": 0.626464031438001,
        "forward": 0.1312615638281791, "up": -0.03895026140711444, "knee_angle": 0.22295756180856152,
        "ankle": -0.1979989917506515, "subtalar": -1.0124743305341672,
    },
    "step": {
        "pelvis_turn": 0.12399000955636552, "pelvis_x": -0.011655172837448546, "pelvis_y": -9.805195159071278,
        "flexion": -0.5733778876314342, "adduction": 0.926771572701254, "rotation": 0.7193618183068025,
        "forward": 0.047548784764545715, "up": -0.028865531363621244, "knee_angle": 0.15861543558607138,
        "ankle": 1.0658141036401503e-14, "subtalar": -0.029816442397976317,
    },
    "multiple": {
        "pelvis_turn": 0.11685641595565244, "pelvis_x": -0.010961514916837167, "pelvis_y": -9.805009870650029,
        "flexion": -0.42716883715890774, "adduction": 0.929017943649832, "rotation": 0.7365931530969037,
        "forward": 0.017009356773010964, "up": -0.04043295385539025, "knee_angle": 0.14846329040698159,
        "ankle": -0.07739667429026298, "subtalar": 0.050023762566838936,
    },
    "two lines": {
        "pelvis_turn": 0.012051462111230649, "pelvis_x": -0.0006694556658821682, "pelvis_y": -9.802945869522967,
        "flexion": -0.5413134392560105, "adduction": 0.9656912156952044, "rotation": 0.7299196787980811,
        "forward": 0.13327060818982872, "up": -0.085596249279563, "knee_angle": 0.14638188283820064,
        "ankle": 0.23439594649849127, "subtalar": -0.07093008963669067,
    },
    "two powers": {
        "pelvis_turn": 0.20322284666941925, "pelvis_x": -0.01976238728942814, "pelvis_y": -9.805269660901853,
        "flexion": -0.11167945953333036, "adduction": 0.401608281095748, "rotation": 0.24274361653974585,
        "forward": -0.09397172880040117, "up": 0.06438031829596014, "knee_angle": 0.03462795207226321,
        "ankle": 0.0010352164120082108, "subtalar": 0.22447298428572537,
    },
    "axes of two coordinates": {
        "p_rx": -58.76707761808102, "p_ry": 28.424486761960573, "p_rz": -77.00884119328977,
        "p_tx": -2.0543770470561364, "p_ty": -12.683936251452582, "p_tz": 3.5763079064132217,
        "hip_x": 125.60859302509675, "hip_y": 49.586218366806605, "hip_z": 25.826269232325743,
        "knee": 282.6700981533927, "twist": -125.24335208949978, "ankle": -105.2475549267331,
        "arm_x": -11.886593166624841, "arm_y": 1.5979437655770306, "reach": -1.2422445941761122,
        "s_turn": -7.105427357601002e-15, "s_x": 0.30000000000000004, "s_y": -9.303193552098673,
    },
    "one of them locked": {
        "p_rx": -58.510658527729326, "p_ry": 77.78833167747304, "p_rz": -95.10756619532368,
        "p_tx": -3.515416164512795, "p_ty": -14.376542775954627, "p_tz": 1.4591573254006862,
        "hip_x": 56.832362024855726, "hip_y": -151.77542734697332, "hip_z": -3.75740043366104,
        "knee": 242.5931195758941, "ankle": -19.533258158475547, "arm_x": -14.734494989840274,
        "arm_y": -15.705331763280268, "reach": -5.177158400539532, "s_turn": -7.105427357601002e-15,
        "s_x": 0.30000000000000004, "s_y": -9.303193552098673,
    },
    "ellipsoid": {
        "p_rx": -0.36140555780060213, "p_ry": -0.08924600399082129, "p_rz": -0.7062218497952267,
        "p_tx": -2.887445379649809, "p_ty": -9.546769976328159, "p_tz": 1.3214003474298082,
        "hip_x": -0.3234329786101754, "hip_y": -0.19015822238880972, "hip_z": 0.8083778678648995,
        "knee": -1.132536210729583, "twist": -1.051421650301533, "ankle": -1.9033433140292217,
        "arm_x": -0.07909097853868419, "arm_y": -1.4702813933648997, "reach": -0.23706664993207127, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
    "reversed, version 3": {
        "p_rx": 0.3106868502990813, "p_ry": -0.6903255738650574, "p_rz": -1.1982400145893242,
        "p_tx": -2.950588574545301, "p_ty": -9.532895426799891, "p_tz": 1.2829215807823473,
        "hip_x": -0.02964104565741188, "hip_y": 1.0751468659227115, "hip_z": 1.2934310658777015,
        "knee": 0.8831675784078001, "twist": -2.4065855718699467, "ankle": 7.70880927536939,
        "arm_x": 0.26506095480199443, "arm_y": 1.3790799154954962, "reach": 0.20458068933620588, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
    "reversed femur": {
        "p_rx": 0.5002883708654233, "p_ry": -0.16349381704552293, "p_rz": -0.36963239078437554,
        "p_tx": -2.8757326254666293, "p_ty": -9.444398604288473, "p_tz": 1.2080610254018664,
        "hip_x": 1.064249385473714, "hip_y": -0.26458419150334667, "hip_z": -0.4220053419768375,
        "knee": -0.05152386364680761, "twist": -0.7629791328713385, "ankle": -2.91138727510117,
        "arm_x": 0.031682342232815186, "arm_y": 0.8836087797812788, "reach": 0.05031669009228956, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
    "reversed humerus": {
        "p_rx": -0.41501374229688315, "p_ry": -0.46559370371330905, "p_rz": -1.3264324937770997,
        "p_tx": -2.9596809448820283, "p_ty": -9.535539331047223, "p_tz": 1.2803460317586497,
        "hip_x": -0.1094722810881561, "hip_y": 0.34844208717039526, "hip_z": 1.4858161817095326,
        "knee": -0.10454607141912398, "twist": -0.986854336861497, "ankle": -3.935697602423872,
        "arm_x": 0.6007892256837941, "arm_y": -0.669949543137828, "reach": 0.38412353982437875, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
    "reversed hand": {
        "p_rx": 0.28747567881752045, "p_ry": -0.691549385985981, "p_rz": -1.1693734545709211,
        "p_tx": -2.9443638226170235, "p_ty": -9.525152873130486, "p_tz": 1.2947879135352622,
        "hip_x": -0.862009223122266, "hip_y": 0.4331646212012856, "hip_z": 1.3047091495713374,
        "knee": 0.023902145859066692, "twist": -0.9654591528619854, "ankle": -3.8221701671611754,
        "arm_x": 0.1819117189580557, "arm_y": 2.317880203722764, "reach": 0.1860622361879143, "s_turn": 0.0,
        "s_x": 0.30146779456491785, "s_y": -9.30301115018515,
    },
}  # fmt: skip
