"""Reads URDF: links, joints, inertias, shapes.  Dry friction and transmissions are refused or listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.description import WORLD, Description, Floats, Follower, Link, Omitted, Outline, Step
from models.files.naming import identifiers
from models.files.xml_reading import read_xml
from runtime.support import DOWN, Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
UNUSED = ("transmission", "gazebo", "sensor", "material")
CHILDREN = {
    "robot": ("link", "joint", *UNUSED), "link": ("inertial", "visual", "collision"), "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic", "safety_controller"),
}  # fmt: skip
ATTRIBUTES = {
    "origin": ("xyz", "rpy"), "axis": ("xyz",), "dynamics": ("damping", "friction"), "mass": ("value",),
    "limit": ("lower", "upper", "effort", "velocity"), "mimic": ("joint", "multiplier", "offset"),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
}  # fmt: skip


def read_urdf(file: Path, *, floating: bool) -> Description:
    """The description of a robot.

    Raises
    ------
    ModelError
        With file and line.
    """
    robot = read_xml(file)
    if robot.tag != "robot":
        raise robot.error(f'the root is <{robot.tag}>; a URDF file begins with <robot name="...">')
    links = _by_name(robot.all("link"), "link")
    if not links:
        raise robot.error("<robot> has no link; give one")
    joints = _by_name(robot.all("joint"), "joint")
    parents = _parents(joints, links)
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        raise robot.error(
            f"{len(roots)} links have no joint that leads to them{', ' if roots else ''}{', '.join(roots[:5])}; a robot is a "
            "tree with one root"
        )
    order = _ordered(roots[0], parents, robot)
    names, steps = identifiers(links), identifiers(joints)
    found = [_link(links[name], names, steps, parents.get(name), floating) for name in order]
    return Description(
        robot.attributes.get("name", "").strip() or file.stem, "URDF", np.array(DOWN), tuple(found),
        outlines=tuple(o for name in order for o in _outlines(links[name], names[name])),
        omitted=_omitted(robot, joints, links),
        followers=_followers(joints, steps),
    )  # fmt: skip


def _by_name(elements: list[Element], what: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in elements:
        name = element.need("name")
        if name in found:
            raise element.error(f"{what} '{name}' exists already, line {found[name].line}; names must differ")
        found[name] = element
    return found


def _parents(joints: dict[str, Element], links: dict[str, Element]) -> dict[str, Element]:
    """The joint that leads to each link."""
    found: dict[str, Element] = {}
    for name, joint in joints.items():
        for end in ("parent", "child"):
            link = _end(joint, end)
            if link not in links:
                raise joint.error(
                    f"joint '{name}': {end} link '{link}' does not exist; the links are {', '.join(links)}"
                )
        child = _end(joint, "child")
        if child in found:
            other = found[child].need("name")
            raise joint.error(
                f"joint '{name}': link '{child}' is the child of joint '{other}' already; a robot is a tree"
            )
        found[child] = joint
    return found


def _end(joint: Element, end: str) -> str:
    element = joint.one(end)
    if element is None:
        raise joint.error(f"joint '{joint.need('name')}' has no <{end}>; give <{end} link=\"...\"/>")
    return element.need("link")


def _ordered(root: str, parents: dict[str, Element], robot: Element) -> list[str]:
    """Parents before children."""
    children: dict[str, list[str]] = {}
    for child, joint in parents.items():
        children.setdefault(_end(joint, "parent"), []).append(child)
    order = [root]
    for name in order:
        order += children.get(name, [])
    if len(order) <= len(parents):
        left = sorted(set(parents) - set(order))
        raise robot.error(f"links {', '.join(left[:5])} form a loop; a robot is a tree with one root")
    return order


def _link(e: Element, names: dict[str, str], steps: dict[str, str], joint: Element | None, floating: bool) -> Link:
    name = e.need("name")
    mass, centre, inertia = _inertial(e)
    if joint is None:
        free = (Step(f"{names[name]}_free", "free"),) if floating else ()
        return Link(names[name], WORLD, mass=mass, centre=centre, inertia=inertia, steps=free)
    position, rotation = _origin(joint)
    return Link(
        names[name], names[_end(joint, "parent")], position, rotation, mass, centre, inertia,
        _steps(joint, steps[joint.need("name")]),
    )  # fmt: skip


def _steps(joint: Element, name: str) -> tuple[Step, ...]:
    kind = joint.need("type")
    if kind not in KINDS:
        raise joint.error(f"joint '{joint.need('name')}': type \"{kind}\"; the types are {', '.join(KINDS)}")
    if kind == "fixed":
        return ()
    if kind == "floating":
        return (Step(name, "free"),)
    axis = _axis(joint)
    damping = _dynamics(joint, "damping")
    if kind == "planar":
        across = np.linalg.svd(axis[None])[2][1:]
        x, y = across[0], np.cross(axis, across[0])
        return (
            Step(f"{name}_x", "slide", x, damping=damping), Step(f"{name}_y", "slide", y, damping=damping),
            Step(f"{name}_turn", "turn", axis, damping=damping),
        )  # fmt: skip
    lower, upper = -inf, inf
    limit = joint.one("limit")
    if kind != "continuous" and limit is not None:
        lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if lower > upper:
            raise limit.error(
                f"joint '{joint.need('name')}': lower = {lower:g} is above upper = {upper:g}; exchange them"
            )
        if _without_range(joint):
            lower, upper = -inf, inf
    step = "slide" if kind == "prismatic" else "turn"
    return (Step(name, step, axis, damping=damping, lower=lower, upper=upper),)  # type: ignore[arg-type]


def _without_range(joint: Element) -> bool:
    """Whether a joint has limits that state no range: none, or 0 for both ends, which are the defaults of URDF."""
    limit = joint.one("limit")
    kind = joint.need("type")
    if kind not in ("revolute", "prismatic") or limit is None:
        return False
    return limit.number("lower", 0.0) == limit.number("upper", 0.0) == 0.0


def _dynamics(joint: Element, what: str) -> float:
    dynamics = joint.one("dynamics")
    value = 0.0 if dynamics is None else dynamics.number(what, 0.0)
    if value < 0.0:
        raise joint.error(f"joint '{joint.need('name')}': {what} = {value:g}, must not be below 0; give its magnitude")
    return value


def _axis(joint: Element) -> Floats:
    element = joint.one("axis")
    axis = np.array([1.0, 0.0, 0.0]) if element is None else element.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(axis))
    if not length > 1e-12:
        raise joint.error(f"joint '{joint.need('name')}': its axis has no length; give a direction")
    return axis / length


def _origin(e: Element) -> tuple[Floats, Floats]:
    """Place (3,) [m] and rotation matrix (3, 3) of an element."""
    origin = e.one("origin")
    if origin is None:
        return np.zeros(3), np.eye(3)
    rpy = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    return origin.numbers("xyz", 3, (0.0, 0.0, 0.0)), Rotation.from_euler("xyz", rpy).as_matrix()


def _inertial(link: Element) -> tuple[float, Floats, Floats]:
    """Mass, centre of mass and inertia about it in axes of the link."""
    e = link.one("inertial")
    if e is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    mass = e.one("mass")
    if mass is None:
        raise e.error(f"link '{link.need('name')}': <inertial> has no <mass>; give <mass value=\"...\"/>")
    value = mass.number("value")
    if value < 0.0:
        raise mass.error(f"link '{link.need('name')}': mass = {value:g} kg, must not be below 0; correct it")
    centre, A = _origin(e)
    J = np.zeros((3, 3))
    if (inertia := e.one("inertia")) is not None:
        for r, c, key in ((0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz")):
            J[r, c] = J[c, r] = inertia.number(key, 0.0)
    return value, centre, A @ J @ A.T


def _outlines(link: Element, name: str) -> list[Outline]:
    """What of a link can be drawn: boxes and spheres."""
    found = []
    for visual in link.all("visual"):
        geometry = visual.one("geometry")
        place, A = _origin(visual)
        for shape in geometry.children if geometry is not None else ():
            if shape.tag == "box":
                found.append(Outline(name, "box", place, A, tuple(shape.numbers("size", 3).tolist())))
            elif shape.tag == "sphere":
                found.append(Outline(name, "sphere", place, A, (shape.number("radius"),)))
    return [one for one in found if min(one.sizes) > 0.0]


def _without_size(link: Element) -> bool:
    """Whether a box or a sphere of a link has a size that is not above 0."""
    shapes = [e for visual in link.all("visual") for e in visual.within() if e.tag in ("box", "sphere")]
    return any(not (e.numbers("size", 3).min() if e.tag == "box" else e.number("radius")) > 0.0 for e in shapes)


def _followers(joints: dict[str, Element], steps: Mapping[str, str]) -> tuple[Follower, ...]:
    """Joints that follow others."""
    found = []
    for name, joint in joints.items():
        mimic = joint.one("mimic")
        if mimic is None or joint.need("type") == "fixed":
            continue
        leader = mimic.need("joint")
        if leader not in joints or leader == name:
            raise mimic.error(f"joint '{name}' mimics '{leader}', which is no other joint; name one of the file")
        for one in (name, leader):
            if joints[one].need("type") not in ("revolute", "continuous", "prismatic"):
                raise mimic.error(
                    f"joint '{name}' mimics '{leader}', and '{one}' is {joints[one].need('type')}; both must be revolute, "
                    "continuous or prismatic"
                )
        powers = [mimic.number("offset") if "offset" in mimic.attributes else 0.0]
        powers.append(mimic.number("multiplier") if "multiplier" in mimic.attributes else 1.0)
        found.append(Follower.by_powers(steps[name], steps[leader], powers, "mimic"))
    return tuple(found)


def _omitted(robot: Element, joints: dict[str, Element], links: dict[str, Element]) -> tuple[Omitted, ...]:
    """What of the file is not in the description."""
    found = []
    rubbing = tuple(name for name, joint in joints.items() if _dynamics(joint, "friction") > 0.0)
    if rubbing:
        found.append(Omitted("friction", rubbing, "dry friction, whose law URDF leaves open", True))
    drawn = tuple(name for name, link in links.items() if any(e.tag in ("mesh", "cylinder") for e in link.within()))
    if drawn:
        found.append(Omitted("shapes", drawn, "meshes and cylinders are not drawn"))
    if points := tuple(name for name, link in links.items() if _without_size(link)):
        found.append(Omitted("shapes", points, "boxes and spheres without size are not drawn"))
    touching = tuple(name for name, link in links.items() if link.all("collision"))
    if touching:
        found.append(Omitted("collision shapes", touching, "URDF states no law of contact"))
    if free := tuple(name for name, joint in joints.items() if _without_range(joint)):
        found.append(
            Omitted("ranges", free, "lower and upper are 0, as where they are not stated: the joint moves freely")
        )
    efforts = tuple(name for name, joint in joints.items() if joint.one("limit") is not None)
    if efforts:
        found.append(Omitted("effort and velocity limits", efforts, "bounds of motors, which are not in the file"))
    for tag in ("calibration", "safety_controller"):
        if held := tuple(name for name, joint in joints.items() if joint.one(tag) is not None):
            found.append(Omitted(tag.replace("_", " "), held, "of motors, which are not in the file"))
    if others := tuple(dict.fromkeys(_unknown(robot))):
        found.append(Omitted("unknown", others, "no part of URDF; other readers skip it too"))
    for tag in UNUSED:
        if elements := robot.all(tag):
            labels = tuple(
                e.attributes.get("name") or e.attributes.get("reference") or f"line {e.line}" for e in elements
            )
            found.append(Omitted(tag, labels, "no influence on the motion of the bodies"))
    return tuple(found)


def _unknown(e: Element, of: str = "") -> Iterator[str]:
    """Elements and attributes of links and joints that URDF does not have."""
    label = f"{e.tag} '{e.attributes['name']}'" if e.tag in ("link", "joint") and "name" in e.attributes else of
    for name in e.attributes:
        if name not in ATTRIBUTES.get(e.tag, (name,)):
            yield f"{name} of <{e.tag}>, {label}"
    for child in e.children:
        if child.tag not in CHILDREN.get(e.tag, (child.tag,)):
            yield f"<{child.tag}>, {label}" if label else f"<{child.tag}>"
        elif e.tag in CHILDREN and child.tag not in ("visual", "collision", *UNUSED):
            yield from _unknown(child, label)
