"""Lengths and moment arms of muscles of files, against geometry, differences, and OpenSim."""

import numpy as np
import pytest

import models
from models.files.motion import Coordinates, motion_of
from models.files.muscle_lengths import muscle_paths
from models.files.storage import read_storage
from models.files.virtual_power import ways_at
from tests.support import osim_muscles as osim
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

ANKLE = ("ankle_angle_r", "subtalar_angle_r")
CROSSING = (
    "med_gas", "lat_gas", "soleus", "tib_post", "flex_dig", "flex_hal", "tib_ant", "per_brev", "per_long", "per_tert",
    "ext_dig", "ext_hal",
)  # fmt: skip
WALK = "other contacts,forces,couplers,constraints,components,prescribed coordinates"
H = 1e-3


def of_leg(read, *muscles, wraps=""):
    return read(osim.leg("".join(muscles), wraps), ignore="couplers").source


def coordinates(description, count=1, seed=0, **values):
    """Coordinates at random; those that are locked have their default values."""
    rng, found = np.random.default_rng(seed), {}
    for name in dict.fromkeys(name for law in description.laws for name in law.coordinates):
        locked = description.coordinates[name].locked
        found[name] = np.full(count, description.coordinates[name].default) if locked else rng.uniform(-0.5, 0.5, count)
    return found | {name: np.asarray(value, float) for name, value in values.items()}


def ends_of(description, q, points):
    """Places of points (link, location) in the ground at the first of the coordinates, by matrices of the links."""
    steps = {}
    for law in description.laws:
        steps[law.step] = float(law.function.derivatives(*(q[name][0] for name in law.coordinates))[0]) - law.reference
    way = motion_of(description.links, Coordinates(steps, {}, {}))
    return [way[link][-1].r + way[link][-1].A @ location for link, location in points]


def test_the_length_is_that_of_the_pieces(read):
    locations = {"pelvis": (0.01, 0.02, 0.03), "thigh": (0.0, -0.1, 0.02), "foot": (0.1, 0.0, 0.0)}
    points = "".join(osim.point(body, "{} {} {}".format(*at)) for body, at in locations.items())
    description = of_leg(read, osim.muscle("a", points))
    q = coordinates(description)
    ends = ends_of(description, q, [(body, np.array(at)) for body, at in locations.items()])
    expected = sum(np.linalg.norm(b - a) for a, b in zip(ends, ends[1:], strict=False))
    assert muscle_paths(description, q)["a"].length == pytest.approx([expected], rel=1e-14)


def test_a_muscle_that_a_file_does_not_have_is_named(read):
    points = osim.point("pelvis", "0 0 0") + osim.point("foot", "0.1 0 0")
    with_one, without = (of_leg(read, *muscles) for muscles in ([osim.muscle("soleus_r", points)], []))
    paths = muscle_paths(with_one, coordinates(with_one))
    assert_refused(("unknown muscle of the file 'soleus_l'; did you mean 'soleus_r'",), lambda: paths["soleus_l"])
    paths = muscle_paths(without, coordinates(without))
    assert_refused(("unknown muscle of the file 'soleus_r'",), lambda: paths["soleus_r"])


def test_a_conditional_point_belongs_to_the_path_in_its_range_only(read):
    ends = osim.point("pelvis", "0 0 0"), osim.point("foot", "0.1 0 0")
    with_all = osim.muscle("all", ends[0] + osim.point("thigh", "0.1 -0.1 0") + ends[1])
    sometimes = osim.muscle("some", ends[0] + osim.conditional("thigh", "0.1 -0.1 0", -0.2, 0.1) + ends[1])
    description = of_leg(read, osim.muscle("without", "".join(ends)), with_all, sometimes)
    q = coordinates(description, 4, knee_angle=[-0.3, -0.2, 0.0, 0.2])
    found = {name: path.length for name, path in muscle_paths(description, q).items()}
    inside = np.array([False, True, True, False])
    assert found["some"].tolist() == np.where(inside, found["all"], found["without"]).tolist()
    assert np.abs(found["all"] - found["without"]).min() > 1e-3


def test_the_path_leads_around_a_cylinder(read):
    """The one muscle touches it, the other one not: its length is that of the muscle without."""
    points = osim.point("thigh", "0.06 -0.03 0.01") + osim.point("shank", "0.02 -0.1 0")
    cylinder = osim.cylinder("large", 0.06) + osim.cylinder("small", 1e-4)
    names = ("none", osim.muscle("none", points)), ("large", osim.muscle("large", points, osim.wrap("large")))
    description = of_leg(
        read, *(text for _, text in names), osim.muscle("small", points, osim.wrap("small")), wraps=cylinder
    )
    found = muscle_paths(description, coordinates(description))
    assert found["small"].length == pytest.approx(found["none"].length, rel=1e-15)
    assert found["large"].length[0] > found["none"].length[0] + 1e-3


def test_moment_arms_are_the_derivatives_of_the_length(read):
    points = osim.point("pelvis", "0.02 0 0.02") + osim.moving("shank") + osim.point("foot", "0.1 0 0.02")
    around = osim.point("thigh", "0.06 -0.03 0.01") + osim.point("shank", "0.02 -0.1 0")
    description = of_leg(
        read, osim.muscle("moving", points), osim.muscle("around", around, osim.wrap("large")),
        wraps=osim.cylinder("large", 0.06),
    )  # fmt: skip
    q = coordinates(description, 3)
    found = muscle_paths(description, q)
    assert compared(description, q, found, q) < 1e-10
    assert np.abs(found["around"].moment_arms["knee_angle"]).max() > 1e-2


def compared(description, q, found, names):
    """Largest difference of moment arms and differences of order six of the length, along coordinates that move."""
    worst = 0.0
    for name in (name for name in names if not description.coordinates[name].locked):
        slopes = {muscle: [] for muscle in found}
        for h in (H, H / 2, H / 4):
            ahead, behind = (muscle_paths(description, q | {name: q[name] + by}) for by in (h, -h))
            for muscle, slope in slopes.items():
                slope.append((ahead[muscle].length - behind[muscle].length) / (2 * h))
        for muscle, (a, b, c) in slopes.items():
            arm = found[muscle].moment_arms[name]
            worst = max(worst, np.abs((a - 20 * b + 64 * c) / 45 + arm).max())
    return worst


def test_moment_arms_about_both_ankle_axes_are_the_derivatives():
    """The muscles of the model of the tutorial, in poses at which no conditional point comes or goes."""
    description = models.read(shared_file("opensim", "landing", "ToyLandingModel.osim")).source
    assert len(description.muscles) == 70 and not description.unread_muscles
    q = coordinates(description, 20)
    found = muscle_paths(description, q)
    assert compared(description, q, found, ANKLE) < 1e-10
    assert all(np.abs(found[f"{name}_r"].moment_arms[axis]).max() > 1e-3 for name in CROSSING for axis in ANKLE)


@pytest.mark.slow
def test_lengths_and_moment_arms_of_the_muscles_at_the_ankle_are_those_of_opensim():
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    file = shared_file("opensim", "landing", "ToyLandingModel.osim")
    description = models.read(file).source
    q = coordinates(description, 1000)
    found = muscle_paths(description, q)
    model = opensim.Model(str(file))
    state = model.initSystem()
    axes = [model.getCoordinateSet().get(name) for name in ANKLE]
    muscles = {name: model.getMuscles().get(name) for name in (f"{stem}_r" for stem in CROSSING)}
    for n in range(1000):
        for name, values in q.items():
            model.getCoordinateSet().get(name).setValue(state, values[n], False)
        model.realizePosition(state)
        for name, muscle in muscles.items():
            own = found[name]
            assert own.length[n] == pytest.approx(muscle.getLength(state), abs=1e-9)
            for axis in axes:
                arm = muscle.getGeometryPath().computeMomentArm(state, axis)
                assert own.moment_arms[axis.getName()][n] == pytest.approx(arm, abs=1e-6)


@pytest.fixture(scope="module")
def walk():
    """Description, coordinates and OpenSim's lengths of the muscles of a walk; couplers drive the kneecaps."""
    description = models.read(shared_file("opensim", "muscles", "subject_walk_armless_18musc.osim"), ignore=WALK).source
    motion = read_storage(shared_file("opensim", "muscles", "subject_walk_armless_coordinates.mot"))
    q = coordinates(description, len(motion.t))
    for name in q:
        values = motion.columns.get(name, np.full(len(motion.t), description.coordinates[name].default))
        q[name] = np.radians(values) if name in motion.columns and name[-3:-1] != "_t" else values
    for name, coordinate in description.coordinates.items():
        if coordinate.leader and name in q:
            q[name] = coordinate.value(q[coordinate.leader], 0)
    file = "std_testGeometryPathWrapping_subject_walk_armless_muscle_lengths.sto"
    lengths = read_storage(shared_file("opensim", "muscles", file)).columns
    return description, q, {label.split("/")[-1].split("|")[0]: values for label, values in lengths.items()}


def test_lengths_of_a_walk_are_those_of_opensim(walk):
    """All over points and single cylinders; OpenSim reads the places of this file, of version 3, with six digits."""
    description, q, expected = walk
    found = muscle_paths(description, q)
    assert not description.unread_muscles and set(found) == set(expected)
    worst = {name: np.abs(path.length - expected[name]).max() for name, path in found.items()}
    assert sorted(worst, key=worst.get)[-3:] == ["psoas_r", "med_gas_l", "med_gas_r"]
    assert max(error for name, error in worst.items() if name not in ("psoas_r", "med_gas_l", "med_gas_r")) < 1e-6
    assert worst["psoas_r"] < 2e-6


@pytest.mark.parametrize("name", ["med_gas_r", "med_gas_l"])
def test_a_line_over_two_cylinders_is_that_of_opensim_where_it_touches_one(walk, name):
    """Where it touches both, OpenSim's length is below the shortest line: it adds an arc from one place and a line to another."""
    description, q, expected = walk
    difference = muscle_paths(description, q)[name].length - expected[name]
    assert np.abs(difference[difference < 1e-6]).max() < 1e-6 and (difference < 1e-6).sum() > 70
    assert 5e-3 < difference.max() < 6e-3 and difference.min() > -1e-6


def test_a_line_over_a_cylinder_is_no_longer_than_that_of_opensim(walk):
    """OpenSim leaves the cylinder where a plane cuts it, and not where the line is shortest: psoas_r is up to 1.7 um too long."""
    description, q, expected = walk
    (muscle,) = (m for m in description.muscles if m.name == "psoas_r")
    names = list(q)
    values = np.stack(list(q.values()))
    ways, _ = ways_at(description, names, np.stack([values, 0.0 * values, 0.0 * values]))
    places = [ways[p.link][-1].at(p.location)[0] for p in muscle.points]
    (wrap,) = muscle.wraps
    way = ways[wrap.link][-1]
    frame = np.stack([np.cross(wrap.side, wrap.axis), wrap.side, wrap.axis])
    length = sum(np.linalg.norm(b - a, axis=1) for a, b in zip(places, places[1:], strict=False))
    one, other = (
        np.einsum("ij,tkj,tk->ti", frame, way.A, p - way.at(wrap.centre)[0]) for p in places[wrap.first : wrap.last + 1]
    )
    by_opensim = length + np.array([extra_by_apex(p, q, wrap.radius) for p, q in zip(one, other, strict=True)])
    assert np.abs(by_opensim - expected["psoas_r"]).max() < 1e-7, "the rule is that of OpenSim"
    own = muscle_paths(description, q)["psoas_r"].length
    assert (own <= by_opensim + 1e-15).all() and (by_opensim - own).max() > 1.6e-6


def extra_by_apex(p, q, radius):
    """How much longer than the straight line that of OpenSim's WrapCylinder is, from p to q in axes of the cylinder (z)."""
    angles = [np.arctan2(v[1], v[0]) for v in (p, q)]
    between = (angles[1] - angles[0] + np.pi) % (2 * np.pi) - np.pi
    far = [np.hypot(*v[:2]) for v in (p, q)]
    openings = [np.arccos(radius / d) for d in far]
    arc = abs(between) - sum(openings)
    if arc <= 0.0:
        return 0.0
    at = [angles[0] + np.sign(between) * openings[0], angles[1] - np.sign(between) * openings[1]]
    tangents = [np.array([radius * np.cos(a), radius * np.sin(a), v[2]]) for a, v in zip(at, (p, q), strict=True)]
    middle = p + far[0] / sum(far) * (q - p)
    normal = np.cross(p - [0, 0, middle[2]], q - [0, 0, middle[2]])
    up = np.cross([0.0, 0.0, 1.0], normal)
    up *= radius / np.linalg.norm(up)
    apex = min((np.array([0, 0, middle[2]]) + s * up for s in (1, -1)), key=lambda a: np.linalg.norm(a - middle))
    plane = np.cross(p - apex, q - apex)
    for k, t in enumerate(tangents):
        tangents[k] = t + [0.0, 0.0, (p - t) @ plane / plane[2]]
    pieces = [np.linalg.norm(tangents[0] - p), np.linalg.norm(tangents[1] - q)]
    return sum(pieces) + np.hypot(radius * arc, tangents[1][2] - tangents[0][2]) - np.linalg.norm(q - p)
