"""Shapes of bodies: their triangles, files, and errors."""

import pickle
import re
import struct

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import runtime
from runtime import ModelError
from runtime.system.mesh_files import read_mesh
from runtime.view.triangles import triangles
from tests.support.meshes import TETRAHEDRON
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused


def builder(**pose):
    b = runtime.Builder("shapes")
    b.body("bob", mass=1.0, inertia=(1, 1, 1), free=True, **pose)
    return b


def volume(vertices, faces):
    """Volume of a closed surface, positive where its triangles turn outward."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.einsum("na,na->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("sphere", dict(radius=0.1), 4 / 3 * np.pi * 0.1**3),
        ("ellipsoid", dict(semi_axes=(0.1, 0.2, 0.3)), 4 / 3 * np.pi * 0.006),
        ("box", dict(edges=(0.1, 0.2, 0.3)), 0.006),
        ("capsule", dict(start=(0, 0, 0), end=(1, 2, 2), radius=0.1), np.pi * 0.1**2 * 3 + 4 / 3 * np.pi * 0.1**3),
    ],
)
def test_triangles_enclose_the_volume(kind, values, expected):
    b = builder()
    b.shape("bob", kind, **values)
    assert volume(*triangles(b.build().shapes[0])) == pytest.approx(expected, rel=0.03)


def test_a_bone_is_thinner_in_the_middle():
    b = builder()
    b.shape("bob", "bone", start=(0, 0, 0), end=(0, 0, 1), radius=0.1)
    vertices, _ = triangles(b.build().shapes[0])
    radius = np.hypot(vertices[:, 0], vertices[:, 1])
    assert radius[np.abs(vertices[:, 2] - 0.5) < 0.1].max() < 0.06 < radius.max()


def test_global_axes_give_the_same_shape():
    turn = Rotation.from_rotvec((0.3, -0.2, 0.9))
    r = np.array([1.0, 2.0, 3.0])
    b = builder(r=r, p=turn)
    b.shape("bob", "capsule", start=(0, 0, 0), end=(0.1, 0.2, 0.3), radius=0.05)
    b.shape("bob", "box", edges=(1, 2, 3), at=(0.1, 0, 0), p=Rotation.from_rotvec((0, 0.5, 0)))
    b.shape("bob", "capsule", start=r, end=r + turn.apply((0.1, 0.2, 0.3)), radius=0.05, axes="global")
    b.shape(
        "bob",
        "box",
        edges=(1, 2, 3),
        at=r + turn.apply((0.1, 0, 0)),
        p=turn * Rotation.from_rotvec((0, 0.5, 0)),
        axes="global",
    )
    capsule, box, *of_global = b.build().shapes
    for local, found in zip((capsule, box), of_global, strict=True):
        np.testing.assert_allclose(triangles(found)[0], triangles(local)[0], atol=1e-12)


def test_shapes_change_no_motion_and_are_pickled():
    b, plain = builder(), builder()
    b.shape("bob", "sphere", radius=0.1, colour="tab:red", label="the bob")
    b.shape("ground", "box", edges=(1, 1, 0.1))
    seen = pickle.loads(pickle.dumps(b.build()))
    assert [(shape.body, shape.colour, shape.label) for shape in seen.shapes] == [
        ("bob", "#d62728", "the bob"),
        ("ground", None, ""),
    ]
    runs = [runtime.simulate(system, 0.1).states for system in (seen, plain.build())]
    assert (runs[0] == runs[1]).all()
    assert runtime.with_parameters(seen, {"mass.bob": 2.0}).shapes == seen.shapes


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("ball", dict(radius=1), "shape: kind = 'ball'; use 'sphere'"),
        ("sphere", {}, r"shape of 'bob' \(sphere\): missing radius; needs radius, at \(optional\)"),
        ("sphere", dict(radius=1, edges=1), "unused edges; needs radius"),
        ("sphere", dict(radius=-1), "radius = -1"),
        ("box", dict(edges=(1, 2)), "edges has the shape"),
        ("capsule", dict(start=(0, 0, 0), end=(0, 0, np.nan), radius=1), "end = .* not finite"),
        ("sphere", dict(radius=1, colour="reddish"), "colour = 'reddish'; give a colour"),
        ("mesh", dict(file="bone.ply"), r"the format '.ply' is not known; use .vtp, .stl, .obj"),
        ("mesh", dict(file="nothing.vtp"), "cannot read 'nothing.vtp': No such file"),
        ("mesh", dict(file=3), "file = 3; give the path"),
        ("sphere", dict(body="bo", radius=1), "'bo'.*bob"),
    ],
)
def test_bad_shapes(kind, values, text):
    b = builder()
    assert_refused(re.compile(text), b.shape, kind=kind, **({"body": "bob"} | values))
    assert b.build().shapes == ()


def test_shapes_of_another_system():
    first, second = builder(), builder()
    first.shape("bob", "sphere", radius=0.1)
    second.add_shapes(first.build().shapes)
    assert second.build().shapes == first.build().shapes
    other = runtime.Builder("other")
    assert_refused(("add_shapes: ", "bob"), other.add_shapes, first.build().shapes)
    assert_refused("shapes", second.add_shapes, ["sphere"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_polydata(tmp_path, encoding):
    text = TETRAHEDRON if encoding == "utf-8" else TETRAHEDRON.removeprefix('<?xml version="1.0"?>')
    (tmp_path / "t.vtp").write_bytes(text.encode(encoding))
    vertices, faces = read_mesh(tmp_path / "t.vtp", "test")
    assert vertices.shape == (4, 3)
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 2, 3]]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("4 7<", "4 9<", "has the offset 9"),
        ("4 7<", "4 3<", "offsets of its Polys that do not fit"),
        ("0 2 3<", "0 2 9<", "has the corner 9; give whole numbers from 0 to 3"),
        ("1 1 0 0 1 0<", "1 1 0 0 x 0<", "has other than numbers where they belong"),
        ("1 1 0 0 1 0<", "1 1 0 0 nan 0<", "not finite"),
        ("1 1 0 0 1 0<", "1 1 0 0 1<", "11 coordinates, no multiple of 3"),
        ("0 2 3<", "0 1.7 3<", "has the corner 1.7"),
        ("0 2 3<", "0 -1 3<", "has the corner -1"),
        ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="nonsense"?>', "unknown encoding: nonsense"),
        ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="shift_jis"?>', "multi-byte encodings"),
        ("PolyData", "Unstructured", "is no PolyData"),
        ("</VTKFile>", "", "no well-formed XML"),
        ('format="ascii"', 'format="appended"', "stores 'appended' data"),
        ('<?xml version="1.0"?>', '<!DOCTYPE a [<!ENTITY b "c">]>', "has a document type"),
    ],
)
def test_damaged_polydata(tmp_path, old, new, text):
    (tmp_path / "t.vtp").write_text(TETRAHEDRON.replace(old, new))
    assert_refused(re.compile(text), read_mesh, tmp_path / "t.vtp", "test")


OBJ = "v 0 0 0 # a corner\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nv 0 0 1\nvt 0 0\nmtllib ../secret.mtl\n"


@pytest.mark.parametrize(
    ("faces", "found"),
    [
        ("f 1 2 3", [[0, 1, 2]]),
        ("f 1/1 2/1/1 3//1 4", [[0, 1, 2], [0, 2, 3]]),
        ("f -4 -3 \\\n-1", [[0, 1, 3]]),
        ("f 0 1 2", "has the corner -1"),
        ("f 1 2 5", "has the corner 4"),
        ("f 1 2 -5", "has the corner -1"),
        ("f 1 2.5 3", "has the corner 1.5"),
        ("f 1 2 nan", "has the corner nan"),
        ("f 1 2 x", "has other than numbers"),
        ("f 1 2", "holds no triangles"),
        ("v 1 2\nf 1 2 3", "has other than numbers"),
    ],
)
def test_corners_of_obj(tmp_path, faces, found):
    """Numbers from 1, or from the last vertex back; a fraction, 0, and numbers of no vertex are refused."""
    (tmp_path / "t.obj").write_text(OBJ + faces + "\n")
    if isinstance(found, list):
        assert read_mesh(tmp_path / "t.obj", "test")[1].tolist() == found
    else:
        with pytest.raises(ModelError, match=found):
            read_mesh(tmp_path / "t.obj", "test")


def test_stl_in_bytes(tmp_path):
    facet = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    (tmp_path / "t.stl").write_bytes(b"solid in spite of this word".ljust(80) + struct.pack("<I", 2) + 2 * facet)
    vertices, faces = read_mesh(tmp_path / "t.stl", "test")
    assert faces.tolist() == [[0, 1, 2], [3, 4, 5]] and vertices[4].tolist() == [1, 0, 0]
    (tmp_path / "t.stl").write_bytes(bytes(80) + struct.pack("<I", 3) + 2 * facet)
    assert_refused("has 184 bytes, too few for 3 triangles", read_mesh, tmp_path / "t.stl", "test")


def test_stl_in_letters(tmp_path):
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    (tmp_path / "t.stl").write_text(f"solid t\n{facet}endsolid t\n")
    vertices, faces = read_mesh(tmp_path / "t.stl", "test")
    assert vertices[faces[0]].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    (tmp_path / "bad.stl").write_bytes(b"\x00" * 30)
    assert_refused("bad.stl", read_mesh, tmp_path / "bad.stl", "test")


@pytest.mark.parametrize("name", ["r_bofoot", "r_fibula", "r_foot", "r_talus", "r_tibia"])
def test_bones_of_opensim(name):
    b = builder()
    b.shape("bob", "mesh", file=shared_file("opensim", "Geometry", f"{name}.vtp"))
    vertices, faces = triangles(b.build().shapes[0])
    assert 0.02 < np.ptp(vertices, axis=0).max() < 0.5  # [m]
    assert len(faces) > 100
