"""Writes URDF: each turn or slide is a joint; between those of one link lie links without mass."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

import numpy as np

from models.files.description import WORLD, Floats, Link, Omitted, Step
from models.files.written_couplings import WrittenCoupling, couplings_of
from models.files.written_tree import Tree
from models.files.written_xml import element, fixed_angles, name, text_of
from runtime import ModelError

ROOT = "world"
TYPES = {"turn": "continuous", "slide": "prismatic", "free": "floating"}


def urdf_text(tree: Tree) -> str:
    """The text of a robot, fixed to its root link "world"; adds to ``tree.left_out`` and ``tree.ignored``.

    Raises
    ------
    ModelError
        For ball joints and loops, which URDF does not have.
    """
    d = tree.description
    followers = {one.follower: one for one in couplings_of(tree, 1, "URDF has ratios and offsets alone")}
    if d.closures:
        raise ModelError(f"loops ({', '.join(c.name for c in d.closures)}): URDF states trees alone; write MJCF")
    top = element(None, "robot", name=name(d.name))
    root = _free_name(ROOT, [link.name for link in d.links])
    element(top, "link", name=root)
    origins = {WORLD: (root, np.zeros(3))}  # of the frame of each link, from the origin of the description's
    for link in d.links:
        origins[link.name] = _add_link(tree, top, link, *origins[link.parent], followers)
    for frame in d.frames:
        parent, origin = origins[frame.link]
        made = element(top, "joint", name=f"{frame.name}_weld", type="fixed")
        element(made, "parent", link=parent)
        element(made, "child", link=frame.name)
        element(made, "origin", xyz=frame.position - origin, rpy=fixed_angles(frame.rotation))
        element(top, "link", name=frame.name)
    tree.left_out.append(Omitted("initial state", (name(d.name),), "URDF has none; coordinates begin at 0, at rest"))
    thin = tuple(link.name for link in d.links if len(_steps(tree, link)) > 1)
    if thin:
        reason = "links without mass lie between the joints of these bodies, as the massless link of a modified universal joint"
        tree.left_out.append(Omitted("massless links", thin, reason))
    if d.outlines:
        tree.left_out.append(
            Omitted("shapes", tuple(dict.fromkeys(o.link for o in d.outlines)), "shapes are not written")
        )
    if d.frames:
        tree.left_out.append(Omitted("frames", tuple(f.name for f in d.frames), "URDF has none beside those of links"))
    sprung = tuple(step.name for _, step in d.steps if step.stiffness > 0.0)
    if sprung:
        tree.ignored.append(Omitted("springs", sprung, "URDF has no springs", True))
    return text_of(top)


def _free_name(wanted: str, taken: list[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def _steps(tree: Tree, link: Link) -> list[Step]:
    return [step for step in link.steps if step.name not in tree.locked]


def _add_link(
    tree: Tree, top: Element, link: Link, parent: str, at: Floats, followers: Mapping[str, WrittenCoupling]
) -> tuple[str, Floats]:
    """The links and joints of a link; its name in the file, and the origin of its frame in axes of the link."""
    steps = _steps(tree, link)
    if any(step.kind == "ball" for step in steps):
        raise ModelError(f"joint '{steps[0].name}': URDF has no ball joint; write MJCF, or use other joints")
    place, rpy = link.position - at, fixed_angles(link.rotation)
    origin = np.zeros(3)  # of the frame before, in axes of the link
    for n, step in enumerate(steps or [None]):
        last = n == max(len(steps), 1) - 1
        inner = link.name if last else f"{link.name}_behind_{step.name}"  # type: ignore[union-attr]
        target = step.point if step is not None and step.kind == "turn" else origin
        xyz = place + link.rotation @ target if n == 0 else target - origin
        kind = "fixed" if step is None else TYPES[step.kind]
        joint = element(top, "joint", name=step.name if step else f"{link.name}_weld", type=kind)
        element(joint, "parent", link=parent)
        element(joint, "child", link=inner)
        element(joint, "origin", xyz=xyz, rpy=rpy if n == 0 else np.zeros(3))
        if step is not None and step.kind != "free":
            element(joint, "axis", xyz=step.axis)
            if step.kind == "slide":
                element(joint, "limit", lower=0.0, upper=0.0, effort=0.0, velocity=0.0)  # 0 and 0: none
            if step.damping:
                element(joint, "dynamics", damping=step.damping)
            if (one := followers.get(step.name)) is not None:
                offset, ratio = (*one.powers, 0.0)[:2]
                element(joint, "mimic", joint=one.leader, multiplier=ratio, offset=offset)
        parent, origin = inner, target
        made = element(top, "link", name=inner)
        if last:
            _add_inertial(made, link, origin)
    return link.name, origin


def _add_inertial(made: Element, link: Link, origin: Floats) -> None:
    inertial, J = element(made, "inertial"), link.inertia
    element(inertial, "origin", xyz=link.centre - origin, rpy=np.zeros(3))
    element(inertial, "mass", value=link.mass)
    element(
        inertial, "inertia", ixx=J[0, 0], ixy=J[0, 1], ixz=J[0, 2], iyy=J[1, 1], iyz=J[1, 2], izz=J[2, 2],
    )  # fmt: skip
