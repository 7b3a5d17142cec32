"""Exchanged ankles of published models against OpenSim, on edited files whose talus has almost no mass, or is as it was."""

import json
import subprocess
import sys
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest

import models
from models.files import write_swapped
from models.files.virtual_power import inverse_dynamics
from models.walking import synthetic, write_leg
from tests.support.file_states import coordinate_table, worst
from tests.support.limb_models import Inertial, Limb, of_spatial, spatial
from tests.support.paths import shared_file
from tests.support.reduced_links import by_links

FILES = ("subject01.osim", "Rajagopal_2015.osim")
SOLVER = """
import json, sys
import numpy as np, opensim
opensim.Logger.setLevelString("Off")
model = opensim.Model(sys.argv[1])
state = model.initSystem()
for k in range(model.getForceSet().getSize()):
    model.updForceSet().get(k).set_appliesForce(False)
state = model.initSystem()
q, u, u_dot = json.load(sys.stdin)
set_ = model.updCoordinateSet()
order = [set_.get(k) for k in range(set_.getSize())]
names = [""] * state.getNU()
for c in order:
    c.setLocked(state, False)
    state.setU(opensim.Vector(state.getNU(), 0.0))
    c.setSpeedValue(state, 1.0)
    names[int(np.argmax([state.getU().get(k) for k in range(state.getNU())]))] = c.getName()
rows = []
for n in range(len(next(iter(q.values())))):
    for c in order:
        c.setValue(state, q[c.getName()][n], False)
        c.setSpeedValue(state, u[c.getName()][n])
    model.realizeVelocity(state)
    change = opensim.Vector(len(names), 0.0)
    for k, name in enumerate(names):
        change.set(k, u_dot[name][n])
    found = opensim.InverseDynamicsSolver(model).solve(state, change)
    rows.append([found.get(k) for k in range(found.size())])
print("answer", json.dumps(dict(zip(names, np.transpose(rows).tolist()))))
"""


def both(reading, **options):
    for side in "rl":
        reading = models.swap(reading, f"ankle_{side}", f"subtalar_{side}", unlock=True, **options)
    return reading


def edited(name, folder, *, light=False, length=None):
    """The file with both subtalar joints free; with the talus's mass on the foot; with the subtalar axis moved to a length."""
    tree = ElementTree.parse(shared_file("opensim", name))
    parts = {(one.tag, one.get("name")): one for one in tree.iter() if one.get("name")}
    reference = models.read(shared_file("opensim", name)).source
    links = {link.name: link for link in reference.links}
    for side in "rl":
        joint = next(one for one in tree.iter() if one.get("name") == f"subtalar_{side}")
        joint.find(".//Coordinate/locked").text = "false"
        foot = links[f"calcn_{side}"]  # poses in the default pose of the file
        if length is not None:
            frames = joint.findall(".//PhysicalOffsetFrame")
            old = vector(frames[0].find("translation"))
            new = old * (length / np.linalg.norm(old))
            shift = foot.rotation.T @ (new - old)
            frames[0].find("translation").text = words(new)
            frames[1].find("translation").text = words(vector(frames[1].find("translation")) + shift)
        if light:
            talus, calcn = parts["Body", f"talus_{side}"], parts["Body", f"calcn_{side}"]
            R = foot.rotation.T
            bone = inertial(talus)
            bone = Inertial(bone.mass, R @ bone.centre, R @ bone.inertia @ R.T)
            write(calcn, of_spatial(spatial(inertial(calcn), np.zeros(3)) + spatial(bone, -R @ foot.position)))
            write(talus, Inertial(1e-12, np.zeros(3), 1e-16 * np.eye(3)))
    file = folder / f"edited_{name}"
    tree.write(file)
    return file


def vector(e):
    return np.array([float(word) for word in e.text.split()])


def words(values):
    return " ".join(repr(float(value)) for value in values)


def inertial(e):
    xx, yy, zz, xy, xz, yz = vector(e.find("inertia"))
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertial(float(e.find("mass").text), vector(e.find("mass_center")), J)


def write(e, of):
    J = of.inertia
    e.find("mass").text, e.find("mass_center").text = repr(float(of.mass)), words(of.centre)
    e.find("inertia").text = words([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def in_solver(file, given):
    """Forces of OpenSim's InverseDynamicsSolver, by coordinate."""
    text = json.dumps([{name: values.tolist() for name, values in of.items()} for of in given])
    done = subprocess.run(
        [sys.executable, "-c", SOLVER, str(file)], input=text, capture_output=True, text=True, check=True
    )
    answer = next(line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith("answer"))
    return {name: np.array(values) for name, values in json.loads(answer).items()}


def difference(found, wanted):
    largest = max(np.abs(values).max() for values in wanted.values())
    return max(np.abs(found[name] - wanted[name]).max() for name in wanted) / largest


OPTIONS = {"as the file": (False, None, {"talus": "keep"}), "link": (True, None, {}),
           "short link": (True, 0.03, {"talus_length": 0.03}), "universal": (True, 0.0, {"with_": "universal"})}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "case"),
    [*((FILES[0], case) for case in OPTIONS), pytest.param(FILES[1], "short link", marks=pytest.mark.nightly)],
)
def test_against_the_links_of_an_edited_file(tmp_path, name, case):
    light, length, options = OPTIONS[case]
    file = models.read(edited(name, tmp_path, light=light, length=length))
    swapped = both(models.read(shared_file("opensim", name)), **options)
    assert worst(swapped, by_links(file), 5) < 3e-9
    given = coordinate_table(file, 10, 0.5, seed=5)
    assert difference(inverse_dynamics(swapped.source, *given), inverse_dynamics(file.source, *given)) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("case", OPTIONS)
def test_against_the_program(tmp_path, in_program, name, case):
    """Where several turns of one joint follow one angle, OpenSim's accelerations are not the changes of its velocities."""
    light, length, options = OPTIONS[case]
    file = models.read(edited(name, tmp_path, light=light, length=length))
    swapped = both(models.read(shared_file("opensim", name)), **options)
    speed = 0.0 if name.startswith("Rajagopal") else 1.0
    assert worst(swapped, in_program(file), 30, speed) < 3e-9
    given = coordinate_table(file, 10, 0.5, seed=5)
    for name_, values in given[1].items():
        given[1][name_] = speed * values
    assert difference(inverse_dynamics(swapped.source, *given), in_solver(file.file, given)) < 1e-9


@pytest.mark.slow
@pytest.mark.skipif(find_spec("opensim") is None, reason="compares with OpenSim: pip install opensim")
@pytest.mark.parametrize("name", FILES)
def test_opensim_on_the_file_that_is_written(tmp_path, name):
    """Massless links as bodies without mass; muscles, geometry and constraints are those of the file."""
    swapped = both(models.read(shared_file("opensim", name)), talus_length=0.04)
    file = write_swapped(swapped, tmp_path / f"written_{name}")
    given = coordinate_table(swapped, 8, 0.4, seed=6)
    if name == "Rajagopal_2015.osim":  # with rates OpenSim's knees differ, see docs/validation/opensim.md
        given[1] = {of: 0.0 * values for of, values in given[1].items()}
    found = inverse_dynamics(swapped.source, *given)
    assert difference(found, in_solver(file, given)) < 1e-9


def welded(folder):
    """A file that welds its subtalar joints, with axes."""
    swapped = models.read(shared_file("opensim", "gait10dof18musc.osim"))
    for side in "rl":
        joints = (f"ankle_{side}", f"subtalar_{side}")
        swapped = models.swap(swapped, *joints, subtalar_axis="isman_inman", talus_length=0.03)
    return swapped


def one_foot(folder):
    """A file without a talus, with axes."""
    file = folder / "one_foot.osim"
    file.write_text(Limb(one_foot=True).text())
    swapped = models.read(file)
    for side in "rl":
        swapped = models.swap(swapped, f"ankle_{side}", None, subtalar_axis="opensim")
    return swapped


def generic_leg(folder):
    """A leg that is scaled to a static trial."""
    return models.swap(write_leg(synthetic.subject(), folder / "leg.osim"), "ankle_r", "subtalar_r")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("opensim") is None, reason="compares with OpenSim: pip install opensim")
@pytest.mark.parametrize("made", [welded, one_foot, generic_leg])
def test_opensim_on_hinges_that_no_file_had(tmp_path, made):
    swapped = made(tmp_path)
    file = write_swapped(swapped, tmp_path / "written.osim")
    given = coordinate_table(swapped, 8, 0.4, seed=6)
    assert difference(inverse_dynamics(swapped.source, *given), in_solver(file, given)) < 1e-12
