"""Writes the file of an OpenSim model again with swapped ankles: all else of it stays, muscles and geometry too.

A massless link is a body without mass between two PinJoints, which OpenSim takes.  What lies on the talus, such as points of
muscles, stays on it and moves with the link; markers and the mass move as ``models.swap`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.description import WORLD, Description, Floats, Link
from models.files.osim import read_osim
from models.files.reading import Reading
from models.files.written_xml import body_angles, child, element, numbers, text_of, tree_of
from models.files.xml_reading import read_xml
from runtime import ModelError
from runtime.support import checked, free_file, write_text

FIRST = 40000  # version of documents that state joints as this module writes them


@checked
def write_swapped(reading: Reading, file: str | Path, *, overwrite: bool = False) -> Path:
    """Write the OpenSim file of a reading with its ankles as ``models.swap`` made them; returns the file.

    Parameters
    ----------
    reading : Reading
        From ``models.swap``; its file, of version 4, is read again.
    file : str or Path
        .osim
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    ModelError
        For other formats, files of version 3, a file that was changed since, and changes that the format cannot state.
    """
    path = Path(file)
    if path.suffix.lower() != ".osim" or reading.source.format != "OpenSim":
        raise ModelError(
            f"{path.name}: swapped ankles of {reading.file.name} are written as .osim alone, from a model of OpenSim; "
            "use models.write for other formats"
        )
    read = read_xml(reading.file)
    version = read.attributes.get("Version", "")
    if not version.isdigit() or int(version) < FIRST:
        raise ModelError(
            f"{reading.file.name}: is of version {version or 'unknown'}, limit {FIRST} or later; save it with OpenSim 4, or use "
            "models.write"
        )
    old = read_osim(reading.file)
    root = tree_of(read)
    before, after = ({link.name: link for link in d.links} for d in (old, reading.source))
    new = [name for name in after if name not in before]
    if list(before) != [name for name in after if name in before] or any(after[name].mass for name in new):
        raise ModelError(f"{reading.file.name}: was changed since it was read; read it again")
    for name in new:  # a talus that the file lacks
        _add(root, "Body", name)
        before[name] = Link(name, "")
        _write_mass(_named(root, "Body", name), after[name])
    in_file = {link: body for body, link in reading.source.bodies.items()}
    for name, link in after.items():
        if not _equal_mass(before[name], link):
            _write_mass(_named(root, "Body", in_file[name]), link)
        if _equal_joint(before[name], link):
            continue
        if len(link.steps) != 1 or link.steps[0].kind != "turn":
            raise ModelError(
                f"joint '{link.joint}': is no hinge and differs from that of {reading.file.name}; read it again"
            )
        if new and not any(one.get("name") == link.joint for one in root.iter()):
            _add(root, "Joint", link.joint)
        _write_hinge(root, link, reading.source, in_file)
    _write_markers(root, old, reading.source, in_file)
    write_text(free_file(path, overwrite), text_of(root))
    return path


def _equal_mass(one: Link, two: Link) -> bool:
    return one.mass == two.mass and np.array_equal(one.centre, two.centre) and np.array_equal(one.inertia, two.inertia)


def _equal_joint(one: Link, two: Link) -> bool:
    """Whether the pose and the steps of two links are equal."""
    if len(one.steps) != len(two.steps):
        return False
    pairs = [(one.position, two.position), (one.rotation, two.rotation)]
    for a, b in zip(one.steps, two.steps, strict=True):
        if (a.name, a.kind) != (b.name, b.kind):
            return False
        pairs += [(a.axis, b.axis), (a.point, b.point)]
    return all(np.array_equal(a, b) for a, b in pairs)


def _named(root: Element, tag: str, name: str) -> Element:
    """The one element of a tag and a name."""
    found = [
        one
        for one in root.iter()
        if one.get("name") == name and (one.tag == tag or not tag and one.tag.endswith("Joint"))
    ]
    if len(found) != 1:
        raise ModelError(f"{tag or 'joint'} '{name}': {len(found)} elements of this name, limit 1; rename them")
    return found[0]


def _add(root: Element, kind: str, name: str) -> None:
    """Add an element, without content yet, to the set of its kind."""
    objects = next(one for one in root.iter(f"{kind}Set")).find("objects")
    assert objects is not None  # the file has bodies and joints
    element(objects, kind, name=name)


def _put(parent: Element, tag: str, value: object) -> None:
    """Set the text of a child, which is made if it is missing."""
    found = parent.find(tag)
    if found is None:
        child(parent, tag, value)
    else:
        found.text = value if isinstance(value, str) else numbers(value)


def _write_mass(body: Element, link: Link) -> None:
    J = link.inertia
    _put(body, "mass", link.mass)
    _put(body, "mass_center", link.centre)
    _put(body, "inertia", [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def _write_hinge(root: Element, link: Link, source: Description, in_file: Mapping[str, str]) -> None:
    """Make a PinJoint, which turns about z of its frames, of the joint of a link."""
    step = link.steps[0]
    law = next(one for one in source.laws if one.step == step.name)
    coordinate = source.coordinates[law.coordinate]
    joint = _named(root, "", link.joint)
    inner = _with_third(step.axis)
    outer = link.rotation @ inner @ Rotation.from_rotvec([0.0, 0.0, -coordinate.default]).as_matrix()
    poses = {"parent": (link.position + link.rotation @ step.point, outer), "child": (step.point, inner)}
    bodies = {"parent": link.parent, "child": link.name}
    kept = [one for one in joint.findall("coordinates") if any(of.get("name") == law.coordinate for of in one)]
    for one in [*joint]:
        joint.remove(one)
    joint.tag = "PinJoint"
    names = {end: f"{link.joint}_{end}" for end in poses}
    for end, name in names.items():
        child(joint, f"socket_{end}_frame", name)
    joint.extend(kept)
    if not kept:
        element(element(joint, "coordinates"), "Coordinate", name=law.coordinate)
    for one in joint.iter("Coordinate"):
        if one.get("name") == law.coordinate:
            _put(one, "locked", "true" if coordinate.locked else "false")
    frames = ElementTree.SubElement(joint, "frames")
    for end, (place, turn) in poses.items():
        frame = ElementTree.SubElement(frames, "PhysicalOffsetFrame", {"name": names[end]})
        body = bodies[end]
        child(frame, "socket_parent", "/ground" if body == WORLD else f"/bodyset/{in_file[body]}")
        child(frame, "translation", place)
        child(frame, "orientation", body_angles(turn))


def _with_third(axis: Floats) -> Floats:
    """A rotation matrix (3, 3) whose third column is a direction."""
    across = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    across = across / np.linalg.norm(across)
    return np.stack([across, np.cross(axis, across), axis], axis=1)


def _write_markers(root: Element, old: Description, new: Description, in_file: Mapping[str, str]) -> None:
    """Move markers to other bodies."""
    before = {frame.name: frame for frame in old.frames}
    for frame in new.frames:
        one = before.get(frame.name)
        if frame.kind != "marker" or one is None or frame.steps is not None:
            continue
        if one.link != frame.link or not np.array_equal(one.position, frame.position):
            marker = _named(root, "Marker", frame.name)
            _put(marker, "socket_parent_frame", f"/bodyset/{in_file[frame.link]}")
            _put(marker, "location", frame.position)
