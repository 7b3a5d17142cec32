"""Files that are malformed, or hold what Talus does not read: one sentence each."""

import struct
import warnings

import numpy as np
import pytest

import models
from models.files import mjcf_compiling
from models.files.reading import SORTS
from runtime import AssemblyWarning, ModelError
from runtime.system.mesh_files import read_mesh
from tests.support import model_files, osim_parts
from tests.support.damage import bytes_of, odd_of
from tests.support.meshes import TETRAHEDRON
from tests.support.osim_files import osim
from tests.support.refusals import assert_refused

ROBOT = model_files.urdf(*model_files.MASSLESS)
LINK = '<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
SECOND = LINK.replace('"a"', '"b"')


def robot(kind=None, within="", links=LINK + SECOND):
    joint = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{within}</joint>' if kind else ""
    return f"<robot>{links}{joint}</robot>"


def hinged(attributes="", extra="", of_body="", before=""):
    body = f'<body name="a" {of_body}><joint name="h" {attributes}/><geom name="g" size="0.1" mass="1"/></body>'
    return f"<mujoco>{extra}<worldbody>{before}{body}</worldbody></mujoco>"


MALFORMED = {
    "no well-formed XML": "<robot",
    'value = "1_0"; give a finite number': robot(links=LINK.replace('value="1"', 'value="1_0"')),
    'value = "\u0661"; give a finite number': robot(links=LINK.replace('value="1"', 'value="\u0661"')),
    "remove <!DOCTYPE": '<!DOCTYPE r [<!ENTITY a "b">]><robot>&a;</robot>',
    "begins with <robot": "<model/>",
    "has no link": "<robot/>",
    "exists already, line 1": robot(links=LINK + LINK),
    "link 'b' does not exist": robot("fixed", links=LINK),
    "the types are revolute": robot("screw"),
    "its axis has no length": robot("continuous", '<axis xyz="0 0 0"/>'),
    "give 3 finite numbers": robot("continuous", '<axis xyz="0 nan 0"/>'),
    "lower = 2 is above upper = 1": robot("revolute", '<limit lower="2" upper="1"/>'),
    "2 links have no joint": robot(),
    "at most 1e+60": robot(links=LINK.replace('value="1"', 'value="1e308"')),
    "mass = -1 kg": robot(links=LINK.replace('value="1"', 'value="-1"')),
    "without mass and carries no other link": robot("continuous", links=LINK + '<link name="b"/>'),
    "none of its 2 moving links has a mass above 0 kg": robot(
        "continuous",
        '</joint><joint name="k" type="continuous"><parent link="b"/><child link="c"/>',
        LINK + '<link name="b"/><link name="c"/>',
    ),
    "mimics 'j', which is no other joint": robot("continuous", '<mimic joint="j"/>'),
}
REFUSED = {
    "begins with <mujoco": "<robot/>",
    "MuJoCo refuses it": "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
    "remove <!DOCTYPE": '<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>',
    "outside of the folder": '<mujoco><include file="../other.xml"/></mujoco>',
    "is outside": '<mujoco><asset><mesh name="m" file="/etc/passwd"/></asset></mujoco>',
    "body 'a': pos = [inf": hinged(of_body='pos="inf 0 0"'),
    "joint 'h': armature = -0.1, must not be below 0": hinged('armature="-0.1"'),
    "joint 'h': damping = -0.5, must not be below 0": hinged('damping="-0.5"'),
    "joint 'h': stiffness = -5, must not be below 0": hinged('stiffness="-5"'),
    "joint 'h': pos = [inf": hinged('pos="inf 0 0"'),
    "ignore='armature'": hinged('type="ball" armature="0.1"'),
    "ignore='friction'": hinged('frictionloss="0.1"'),
    "ignore='fluid'": hinged(extra='<option density="1.2"/>'),
    "ignore='gravity compensation'": hinged(of_body='gravcomp="1"'),
    "ignore='actuators'": hinged(extra='<actuator><position joint="h" kp="3" forcerange="-1 1"/></actuator>'),
    "ignore='contacts'": hinged(before='<geom type="plane" size="1 1 1"/>'),
    "ignore='tendons'": hinged(extra='<tendon><fixed stiffness="2"><joint joint="h" coef="1"/></fixed></tendon>'),
    "slides along a turn's axis": model_files.mjcf('<joint axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'),
}


def refusal(folder, text, suffix, **options):
    file = folder / f"model{suffix}"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ModelError) as caught:
        models.read(file, **options).build()
    return str(caught.value)


def test_impossible_inertias_are_lowered_where_that_is_asked_for(tmp_path):
    """The largest moment becomes the sum of the others, about axes that are not those of the body."""
    file = tmp_path / "robot.urdf"
    file.write_text(robot("continuous", links=LINK + SECOND.replace("izz", 'ixy="0.9" izz')))
    with pytest.warns(AssemblyWarning, match="body 'b' .* > .* used as they are"):
        assert models.read(file).build().body("b").inertia[0, 1] == pytest.approx(0.9)
    reading = models.read(file, ignore="inertias")
    (ignored,) = reading.ignored
    assert ignored.sort == "inertias" and ignored.names[0].startswith("b (")
    before = np.linalg.eigvalsh(next(link for link in reading.source.links if link.name == "b").inertia)
    after = np.linalg.eigvalsh(reading.build().body("b").inertia)
    assert before[2] > 1.1 * before[:2].sum() and after == pytest.approx([*before[:2], before[:2].sum()])


@pytest.mark.parametrize("part", MALFORMED)
def test_malformed_urdf_is_refused_in_one_sentence(part, tmp_path):
    sentence = refusal(tmp_path, MALFORMED[part], ".urdf")
    assert part in sentence and "model.urdf" in sentence and "\n" not in sentence and ";" in sentence


@pytest.mark.parametrize("part", REFUSED)
def test_mjcf_that_is_not_read_is_refused_in_one_sentence(part, tmp_path):
    sentence = refusal(tmp_path, REFUSED[part], ".xml")
    assert part in sentence and "model.xml" in sentence and "\n" not in sentence and ";" in sentence


def test_ignored_parts_are_listed_by_name(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text(hinged('armature="0.1"', '<sensor><jointpos name="s" joint="h"/></sensor>'))
    reading = models.read(file, ignore=["armature"])
    assert [(one.sort, one.names) for one in reading.ignored] == [("armature", ("h",))]
    assert [(one.sort, one.names) for one in reading.left_out] == [("sensors", ("s",))]
    assert reading.rows()[0][:2] == ("armature", "h") and reading.coordinates["h"] == ("h", "angle")
    assert reading.build().joint_names == ("h",) and not reading.build().armatures
    assert models.read(file).build().armatures[0].inertia == 0.1


def test_welded_and_massless_links_remain_as_frames(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(ROBOT)
    reading = models.read(file)
    assert {name: frame.link for name, frame in reading.frames.items()} == {
        "base": "ground", "cross2": "cross", "finger": "hand",
    }  # fmt: skip
    assert reading.build().body_names == ("arm", "cross", "hand")


def test_unknown_formats_and_sorts(tmp_path):
    assert "give one of these" in refusal(tmp_path, "", ".sdf")
    assert "the kinds of parts are actuators" in refusal(tmp_path, ROBOT, ".urdf", ignore=["muscles"])
    assert_refused(
        ("cannot read '", "none.urdf': No such file or directory; give an existing file"),
        models.read,
        tmp_path / "none.urdf",
    )


DAMAGED = {
    ".urdf": ROBOT,
    ".xml": model_files.mjcf(
        model_files.JOINTS["rotors"],
        extra='<equality><joint joint1="a" joint2="b"/><connect body1="arm" body2="base" anchor="0 0 0"/></equality>'
        '<tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon><actuator><motor joint="a"/></actuator>'
        '<sensor><jointpos joint="a"/></sensor><keyframe><key qpos="0 0 0 0 0"/></keyframe>',
    ),
    ".osim": osim_parts.ellipsoid(0.1, 0.2, 0.15, axes=osim_parts.TWO, extra=osim_parts.SETS[4]),
    "_of_3.osim": osim(3, axes=osim_parts.TWO, extra=osim_parts.SETS[3]).replace(
        "<parent_body>tibia", osim_parts.REVERSED
    ),
}


MESHES = {
    ".obj": "\n".join(["v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "f 1/1/1 2/1/1 3/1/1", "f 1 3 4", "f -1 -2 -3"]),
    ".stl": "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid t",
    "_in_bytes.stl": bytes(80) + struct.pack("<I12fH12fH", 2, *(0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0) * 2),
    ".vtp": TETRAHEDRON,
}


def read_damaged(file):
    """Read a file of any kind; all numbers of what is read must be finite."""
    if file.suffix in (".obj", ".stl", ".vtp"):
        vertices, faces = read_mesh(file, "shape")
        assert np.isfinite(vertices).all() and faces.min() >= 0 and faces.max() < len(vertices)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssemblyWarning)
        system = models.read(file, ignore=SORTS if file.suffix != ".json" else ()).build()
    values = [v for joint in system.joints for v in joint.values.values()]
    for value in (system.state.y, *(body.inertia for body in system.bodies), *values):
        assert np.isfinite(np.asarray(value, float)).all()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [*DAMAGED, ".json", *MESHES])
@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.nightly)])
def test_damaged_files_are_read_or_refused_in_one_sentence(suffix, count, tmp_path):
    random, refused, file = np.random.default_rng(count), 0, tmp_path / f"model{suffix}"
    own = models.pendulum.build().to_file(tmp_path / "own.json").read_text()
    text = (DAMAGED | MESHES | {".json": own})[suffix]
    for _ in range(count):
        if isinstance(text, bytes):
            file.write_bytes(bytes_of(text, random))
        else:
            file.write_bytes(odd_of(text.replace("><", ">\n<"), '"' if suffix == ".json" else " ", random))
        try:
            read_damaged(file)
        except ModelError as error:
            assert "\n" not in str(error) and f"model{suffix}" in str(error) and len(str(error)) < 1000
            assert "crashed" not in str(error)
            refused += 1
    assert refused > count / 3


def test_a_crash_of_the_compiler_is_a_sentence(tmp_path, monkeypatch):
    """In a process that dies on one file, and takes the next one."""
    file, program = tmp_path / "model.xml", tmp_path / "program.py"
    file.write_text(DAMAGED[".xml"])
    program.write_text(
        "import os, sys\nfrom pathlib import Path\nflag = Path(sys.argv[0]).with_name('died')\n"
        "if not flag.exists():\n    sys.stdin.readline()\n    flag.touch()\n    os.abort()\n"
        f"import runpy\nrunpy.run_path({str(mjcf_compiling.PROGRAM)!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(mjcf_compiling, "PROGRAM", program)
    mjcf_compiling._compiler.stop()
    assert_refused(
        "model.xml: MuJoCo refuses it: its compiler crashed; correct the file", models.read, file, ignore=SORTS
    )
    assert len(models.read(file, ignore=SORTS).build().bodies) > 2
    mjcf_compiling._compiler.process.kill()
    assert len(models.read(file, ignore=SORTS).build().bodies) > 2
    mjcf_compiling._compiler.stop()
