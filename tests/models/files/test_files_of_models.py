"""Files that models name: none is opened outside of the folder, and none that is no regular file, by any reader."""

import os
import struct

import numpy as np
import pytest

import models
import runtime
from models.files import read_storage
from models.files.mjcf_files import MOST_FILES
from models.walking.capture import read_capture
from models.walking.subject_table import read_subject_table
from runtime import ModelError
from runtime.cli.study_file import read_study_file
from runtime.results.motion_file import read_netcdf
from runtime.system.mesh_files import read_mesh
from tests.support.refusals import assert_refused

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
SIDES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
EXTENT = 1.5236  # [m] of the coordinates of a mesh of size 1, which MuJoCo turns into its principal axes


def stl(size):
    facets = [[0, 0, 0, *(size * x for k in side for x in CORNERS[k]), 0] for side in SIDES]
    return bytes(80) + struct.pack("<I", 4) + b"".join(struct.pack("<12fH", *facet) for facet in facets)


def mjcf(assets="", before="", name="m", body=""):
    geom = f'<geom type="mesh" mesh="{name}" contype="0" conaffinity="0"/>' if name else ""
    moving = f'<body name="b"><joint type="slide"/><geom size="0.1" mass="1" contype="0" conaffinity="0"/>{geom}</body>'
    return f"<mujoco>{before}<asset>{assets}</asset><worldbody>{moving}{body}</worldbody></mujoco>"


MESH = '<mesh name="m" file="{}"/>'
CHILD = '<model name="c" file="{}"/>'
ATTACH = '<frame><attach model="c" body="b" prefix="p"/></frame>'


@pytest.fixture
def folder(tmp_path):
    """A folder "in" with meshes of other sizes below it, and files outside of it to which links lead."""
    for path, size in {"in/m.stl": 1.0, "in/a/m.stl": 2.0, "in/b/m.stl": 4.0, "out/m.stl": 8.0}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(stl(size))
    (tmp_path / "out/child.xml").write_text(mjcf(name=""))
    (tmp_path / "out/part.xml").write_text("<mujoco/>")
    for link, to in {"away": "out", "away.stl": "out/m.stl", "near.stl": "in/a/m.stl", "near": "in/a"}.items():
        (tmp_path / "in" / link).symlink_to(tmp_path / to)
    (tmp_path / "in/circle.stl").symlink_to(tmp_path / "in/circle.stl")
    os.mkfifo(tmp_path / "in/pipe.stl")
    os.mkfifo(tmp_path / "in/pipe.xml")
    for name, assets in {"up": MESH.format("../../out/m.stl"), "link": MESH.format("../away.stl")}.items():
        (tmp_path / f"in/a/{name}.xml").write_text(mjcf(assets))
    (tmp_path / "in/a/dir.xml").write_text(mjcf(MESH.format("m.stl"), '<compiler meshdir="../../out"/>'))
    (tmp_path / "in/a/grandchild.xml").write_text(mjcf(CHILD.format("up.xml"), name="", body=ATTACH))
    return tmp_path / "in"


TEXTURE = '<texture name="t" type="cube" {}="../out/m.stl"/>'
OUTSIDE = {
    "parent": mjcf(MESH.format("../out/m.stl")),
    "absolute": mjcf(MESH.format("{out}/m.stl")),
    "backslashes": mjcf(MESH.format("..\\out\\m.stl")),
    "references": mjcf(MESH.format("&#46;&#46;&#47;out/m.stl")),
    "link": mjcf(MESH.format("away.stl")),
    "link to a folder": mjcf(MESH.format("away/m.stl")),
    "meshdir": mjcf(MESH.format("m.stl"), '<compiler meshdir="../out"/>'),
    "absolute meshdir": mjcf(MESH.format("m.stl"), '<compiler meshdir="{out}"/>'),
    "linked meshdir": mjcf(MESH.format("m.stl"), '<compiler meshdir="away"/>'),
    "assetdir": mjcf(MESH.format("m.stl"), '<compiler assetdir="away"/>'),
    "assetdir of a texture": mjcf(
        TEXTURE.format("file").replace("../out/", ""), '<compiler assetdir="away"/>', name=""
    ),
    "from a meshdir": mjcf(MESH.format("../../out/m.stl"), '<compiler meshdir="a"/>'),
    "late meshdir": mjcf(MESH.format("m.stl"), name="m").replace("</mujoco>", '<compiler meshdir="away"/></mujoco>'),
    "height field": mjcf('<hfield name="h" size="1 1 1 1" file="../out/m.stl"/>', name=""),
    "skin": mjcf('<skin name="s" file="../out/m.stl"/>', name=""),
    "texture": mjcf(TEXTURE.format("file"), name=""),
    "side of a texture": mjcf(TEXTURE.format("fileback"), name=""),
    "flexible": mjcf(name="", body='<body><flexcomp name="f" type="gmsh" file="../out/m.stl"/></body>'),
    "include": mjcf(name="", before='<include file="../out/part.xml"/>'),
    "linked include": mjcf(name="", before='<include file="away/part.xml"/>'),
    "child": mjcf(CHILD.format("../out/child.xml"), name="", body=ATTACH),
    "linked child": mjcf(CHILD.format("away/child.xml"), name="", body=ATTACH),
    "mesh of a child": mjcf(CHILD.format("a/up.xml"), name="", body=ATTACH),
    "link of a child": mjcf(CHILD.format("a/link.xml"), name="", body=ATTACH),
    "meshdir of a child": mjcf(CHILD.format("a/dir.xml"), name="", body=ATTACH),
    "child of a child": mjcf(CHILD.format("a/grandchild.xml"), name="", body=ATTACH),
}


@pytest.mark.parametrize("way", OUTSIDE)
def test_no_way_of_mjcf_leads_out_of_the_folder(way, folder):
    file = folder / "model.xml"
    file.write_text(OUTSIDE[way].replace("{out}", str(folder.parent / "out")))
    assert_refused("is outside of the folder in; move it there, or give root=", models.read, file)


INSIDE = {
    "beside": (mjcf(MESH.format("m.stl")), 1.0),
    "absolute": (mjcf(MESH.format("{in}/a/m.stl")), 2.0),
    "link": (mjcf(MESH.format("near.stl")), 2.0),
    "name by the link": (mjcf('<mesh file="near.stl"/>', name="near"), 2.0),
    "linked folder": (mjcf(MESH.format("near/m.stl")), 2.0),
    "backslashes": (mjcf(MESH.format("a\\m.stl")), 2.0),
    "meshdir": (mjcf(MESH.format("m.stl"), '<compiler meshdir="a"/>'), 2.0),
    "meshdir over assetdir": (mjcf(MESH.format("m.stl"), '<compiler assetdir="a" meshdir="b"/>'), 4.0),
    "the last one": (mjcf(MESH.format("m.stl"), '<compiler meshdir="a"/><compiler assetdir="b"/>'), 4.0),
    "up from a meshdir": (mjcf(MESH.format("../m.stl"), '<compiler meshdir="a"/>'), 1.0),
    "stripped": (mjcf(MESH.format("/no/such/m.stl"), '<compiler strippath="true" meshdir="b"/>'), 4.0),
    "included": (mjcf(before='<include file="b/part.xml"/>'), 1.0),
    "child": (mjcf(CHILD.format("b/child.xml"), '<compiler meshdir="a"/>', "", ATTACH), 4.0),
}


@pytest.mark.parametrize("way", INSIDE)
def test_files_of_the_folder_are_found_where_mujoco_finds_them(way, folder):
    text, size = INSIDE[way]
    (folder / "b/part.xml").write_text(f"<mujoco><asset>{MESH.format('m.stl')}</asset></mujoco>")
    (folder / "b/child.xml").write_text(mjcf(MESH.format("m.stl")))
    file = folder / "model.xml"
    file.write_text(text.replace("{in}", str(folder)))
    (shape,) = [shape for shape in models.read(file).build().shapes if shape.kind == "mesh"]
    vertices = pytest.importorskip("mujoco").MjModel.from_xml_path(str(file)).mesh_vert
    assert np.ptp(shape.vertices) == pytest.approx(np.ptp(vertices)) == pytest.approx(size * EXTENT, rel=1e-3)


@pytest.mark.parametrize("name", ["none.stl", "pipe.stl", "circle.stl", "a"])
def test_what_is_no_file_is_refused_with_the_line(name, folder):
    file = folder / "model.xml"
    file.write_text("\n\n" + mjcf(MESH.format(name)))
    with pytest.raises(ModelError, match=f"model.xml, line 3: <mesh>: cannot read '.*{name}': "):
        models.read(file)


def test_messages_of_mujoco_name_the_line_of_the_file(folder):
    (folder / "part.xml").write_text("<mujoco>\n\n\n<option/></mujoco>")
    file = folder / "model.xml"
    file.write_text(mjcf(name="", before='<include file="part.xml"/>\n<option no="1"/>'))
    assert_refused(("unrecognized attribute: 'no'", "line 2; correct the file"), models.read, file)


def test_models_that_contain_themselves_are_refused(folder):
    file, other = folder / "model.xml", folder / "other.xml"
    for text in (mjcf(CHILD.format("other.xml"), name="", body=ATTACH), '<mujoco><include file="other.xml"/></mujoco>'):
        file.write_text(text)
        other.write_text(text.replace("other.xml", "model.xml"))
        with pytest.raises(ModelError, match=f"includes itself, or more than {MOST_FILES} files"):
            models.read(file)


READERS = {
    "m.urdf": models.read, "m.osim": models.read, "m.xml": models.read, "m.json": models.read, "t.c3d": read_capture,
    "t.trc": read_capture, "t.csv": read_capture, "s.mot": read_storage, "subjects.csv": read_subject_table,
    "study.toml": read_study_file, "run.nc": read_netcdf, "loads.xml": models.files.read_external_loads,
    **dict.fromkeys(("g.vtp", "g.stl", "g.obj"), lambda file: read_mesh(file, "shape")),
    "own.json": runtime.System.from_file,
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_no_reader_opens_what_is_no_file(name, tmp_path):
    """None waits for a pipe, reads a device, or follows links in a circle."""
    file = tmp_path / name
    ways = {
        "not a file but a pipe": os.mkfifo,
        "not a file but a device": lambda at: at.symlink_to("/dev/zero"),
        "[Ss]ymbolic links": lambda at: at.symlink_to(at),
        "not a file but a folder": os.mkdir,
        "No such file": lambda at: None,
    }
    for kind, make in ways.items():
        make(file)
        with pytest.raises(ModelError, match=f"cannot read '.*{name}': .*{kind}"):
            READERS[name](file)
        if kind != "No such file":
            os.rmdir(file) if kind.endswith("folder") else os.unlink(file)
