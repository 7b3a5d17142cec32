"""Models of OpenSim: what is read, against d'Alembert's principle on the links and against the program, and what is refused."""

import importlib.util

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import models
from benchmarks.files.owners import OpenSim, largest_error
from benchmarks.files.states import accelerations_of, random_sample, state_of, talus_accelerations
from models.files.building import REFERENCE
from models.files.motion import motion_of
from models.files.opensim_functions import value_of
from models.files.xml_reading import parse_xml
from runtime import ModelError, simulate
from tests.support import opensim_models
from tests.support.damage import text_of
from tests.support.paths import shared_file
from tests.support.reduced_links import reduced_accelerations

WITHOUT = "couplers"
FILES = ("arm26.osim", "gait10dof18musc.osim", "subject01.osim", "Rajagopal_2015.osim")
SPRING = """<SpringGeneralizedForce name="spring"><coordinate>ankle</coordinate><stiffness>20</stiffness>
 <rest_length>0.3</rest_length><viscosity>0.4</viscosity></SpringGeneralizedForce>"""
MUSCLE = '<Thelen2003Muscle name="soleus"/><CoordinateActuator name="motor"/>'


@pytest.fixture
def read(tmp_path):
    def of(text, **options):
        file = tmp_path / "leg.osim"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return models.read(file, **options)

    return of


def worst(reading, reference, count=20):
    system, random, errors = reading.build(), np.random.default_rng(1), []
    for _ in range(count):
        sample = random_sample(reading, random)
        wanted = accelerations_of(reading, system, sample, reference(sample))
        errors.append(largest_error(wanted, talus_accelerations(system, state_of(reading, system, sample))))
    return max(errors)


@pytest.fixture
def in_program():
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    opened = []

    def of(reading):
        opened.append(OpenSim(reading))
        return opened[-1].accelerations

    yield of
    for program in opened:
        program.close()


@pytest.mark.parametrize("version", [3, 4])
def test_accelerations_are_those_of_the_links(read, version):
    reading = read(opensim_models.leg(version, forces=SPRING), ignore=WITHOUT)
    assert worst(reading, lambda sample: reduced_accelerations(reading.description, sample)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("version", [3, 4])
def test_accelerations_are_those_of_the_program(read, in_program, version):
    reading = read(opensim_models.leg(version, forces=SPRING), ignore=WITHOUT)
    assert worst(reading, in_program(reading)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_published_models_against_the_program(in_program, name):
    reading = models.read(shared_file("opensim", name), ignore=WITHOUT)
    # Small bodies between three turns of one body change the motion by 1e-9 near gimbal lock (``models.files.grouping``).
    assert worst(reading, in_program(reading), 100) < 3e-9


@pytest.mark.parametrize("name", FILES)
def test_published_models_against_the_links(name):
    reading = models.read(shared_file("opensim", name), ignore=WITHOUT)
    assert worst(reading, lambda sample: reduced_accelerations(reading.description, sample), 5) < 1e-9


def test_both_versions_are_the_same_model(read):
    three, four = (read(opensim_models.leg(version), ignore=WITHOUT).description for version in (3, 4))
    assert [link.name for link in three.links] == [link.name for link in four.links]
    for one, two in zip(three.links, four.links, strict=True):
        assert np.allclose(one.position, two.position, atol=1e-15) and np.allclose(one.inertia, two.inertia, atol=1e-15)
        assert [s.name for s in one.steps] == [s.name for s in two.steps]
    assert [frame.name for frame in three.frames] == [frame.name for frame in four.frames] == ["toe"]


def test_what_is_read_and_what_is_listed(read):
    reading = read(opensim_models.leg(forces=MUSCLE + SPRING), ignore=WITHOUT)
    assert {one.sort: one.names for one in reading.left_out} == {
        "muscles": ("soleus",), "actuators": ("motor",), "locked coordinates": ("toe_out",),
    }  # fmt: skip
    (couplers,) = reading.ignored
    assert couplers.names == ("shank_joint.translation1", "shank_joint.translation2")
    system = reading.build()
    assert system.degrees_of_freedom == 3 + 5 + 1 + 1 + 1
    assert [force.name for force in system.forces] == ["ankle_spring"]
    assert simulate(system, 0.05).success
    assert reading.frames["toe"].kind == "marker"


def test_the_start_is_the_default_pose(read):
    """The pelvis: 0.2 m forward, 0.9 m up, turned by 0.1 rad; its own axes are turned by 0.2 rad against those of the joint."""
    reading = read(opensim_models.leg(), ignore=WITHOUT)
    pelvis = reading.description.links[0]
    turn = Rotation.from_euler("z", 0.1) * Rotation.from_euler("y", -0.2)
    assert np.allclose(pelvis.rotation, turn.as_matrix(), atol=1e-15)
    assert np.allclose(pelvis.position, [0.2, 0.9, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("text", "at", "value"),
    [  # digits of OpenSim 4.6, ``calcValue``
        (opensim_models.spline("SimmSpline"), 0.5, 0.08645833333333333),
        (opensim_models.spline("SimmSpline"), -1.7, 0.245775),
        (opensim_models.spline("NaturalCubicSpline"), 2.5, -0.03958333333333333),
        ("<PiecewiseLinearFunction><x>0 1 3</x><y>1 2 0</y></PiecewiseLinearFunction>", 2.0, 1.0),
        ("<PiecewiseLinearFunction><x>0 1 3</x><y>1 2 0</y></PiecewiseLinearFunction>", 4.0, -1.0),
        ("<PolynomialFunction><coefficients>1 -2 0.5</coefficients></PolynomialFunction>", 2.0, 0.5),
        (
            "<MultiplierFunction><function><Constant><value>3</value></Constant></function><scale>2</scale></MultiplierFunction>",
            1.0,
            6.0,
        ),
    ],
)
def test_values_of_functions(text, at, value, tmp_path):
    element = parse_xml(f"<TransformAxis>{text}</TransformAxis>".encode(), tmp_path / "function.osim")
    assert value_of(element, [at]) == pytest.approx(value, abs=1e-12)


PIN = opensim_models.JOINT_4.format(
    kind="PinJoint", name="again", child="foot", path="/ground", at_parent="0 0 0", turn_parent="0 0 0", at_child="0 0 0",
    turn_child="0 0 0", coordinates=opensim_models.coordinate("more"), more="",
)  # fmt: skip
LEG = opensim_models.leg()
REFUSED = {
    "remove <!DOCTYPE": LEG.replace("<OpenSimDocument", '<!DOCTYPE r [<!ENTITY a "b">]><OpenSimDocument', 1),
    "the root is <Model>": "<Model/>",
    "has no <Model>": "<OpenSimDocument/>",
    "has no body": '<OpenSimDocument><Model name="a"/></OpenSimDocument>',
    "ignore='couplers'": LEG,
    "is no body and no frame of this file": LEG.replace("/bodyset/thigh<", "/bodyset/thingy<"),
    "'foot' is the child of joint 'foot_joint' already": LEG.replace("</JointSet>", "</JointSet>").replace(
        "</objects></JointSet>", PIN + "</objects></JointSet>"
    ),
    "is a EllipsoidJoint": LEG.replace("PinJoint", "EllipsoidJoint"),
    "1 coordinates, needs 2": LEG.replace("PinJoint", "UniversalJoint"),
    "mass = -9 kg": LEG.replace("<mass>9.0<", "<mass>-9.0<"),
    "give a finite number": LEG.replace("<mass>9.0<", "<mass>nan<"),
    "give 3 finite numbers": LEG.replace("<gravity>0 -9.8 0.1<", "<gravity>0 -9.8<"),
    "<Parabola>": LEG.replace("NaturalCubicSpline", "Parabola"),
    "its axis has no length": LEG.replace("<axis>0.6 0.8 0<", "<axis>0 0 0<"),
    "'knee' is no coordinate of this joint": LEG.replace("<coordinates>knee_angle<", "<coordinates>knee<"),
    "forces (ligament": opensim_models.leg(forces='<Ligament name="ligament"/>'),
    "contacts (heel": opensim_models.leg(forces='<HuntCrossleyForce name="heel"/>'),
    "limits (stop": opensim_models.leg(forces='<CoordinateLimitForce name="stop"/>'),
    "couplers (shank_joint.translation1, shank_joint.translation2, patella": opensim_models.leg(
        constraints='<CoordinateCouplerConstraint name="patella"/>'
    ),
    "equalities (weld": opensim_models.leg(constraints='<WeldConstraint name="weld"/>'),
    "prescribed motions (ankle": LEG.replace(
        opensim_models.coordinate("ankle", 0.1),
        opensim_models.coordinate("ankle", 0.1, "<prescribed>true</prescribed>"),
    ),
    "is no coordinate of this model": opensim_models.leg(forces=SPRING.replace(">ankle<", ">ancle<")),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(read, sentence):
    with pytest.raises(ModelError) as found:
        read(REFUSED[sentence])
    assert sentence in str(found.value) and "\n" not in str(found.value)


def test_a_point_constraint_closes_a_loop(read):
    """A pelvis that hangs on a point of the ground."""
    constraint = (
        '<PointConstraint name="hook"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/foot</socket_body_2>'
        "<location_body_1>{}</location_body_1><location_body_2>0 0 0</location_body_2></PointConstraint>"
    )
    plain = read(opensim_models.leg(), ignore=WITHOUT)
    system, at = plain.build(), motion_of(plain.description.links, REFERENCE)["foot"][-1].r
    closed = read(
        opensim_models.leg(constraints=constraint.format(" ".join(map(repr, at.tolist())))), ignore=WITHOUT
    ).build()
    assert closed.degrees_of_freedom == system.degrees_of_freedom - 3
    assert simulate(closed, 0.02).success


@pytest.mark.slow
def test_mutations_give_one_sentence(read):
    random, texts = np.random.default_rng(5), [opensim_models.leg(3), opensim_models.leg(4, forces=SPRING + MUSCLE)]
    refused = 0
    for n in range(500):
        text = text_of(texts[n % 2], "<", random)
        try:
            read(text, ignore=WITHOUT).build()
        except ModelError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 100
