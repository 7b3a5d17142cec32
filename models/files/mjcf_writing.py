"""Writes MJCF: the joints of a link are joints of one body, a modified universal joint two hinges at both ends of its link."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from models.files.description import WORLD, Description, Floats, Link, Omitted, Outline, Step
from models.files.merging import Pose, joined
from models.files.written_couplings import couplings_of
from models.files.written_tree import Tree
from models.files.written_xml import element, name, quaternion, text_of
from runtime import ModelError

NEAR = 1e-9  # [m] of the mass of a thin body from the axes that leave it in place
SHARED = 1e-9  # [1] moments and angles of such a body
LEAST = 1e-15  # [kg], [kg m^2] of bodies that move, below which MuJoCo refuses them: mjMINVAL
HINGE, SLIDE = "hinge", "slide"
DEGREE = 4  # of a polynomial of an equality
WIDEST = 1e10  # [m] in place of a stop that a slide does not have
DRAWN = ("sphere", "capsule", "ellipsoid", "box")


def mjcf_text(tree: Tree) -> str:
    """The text of a file of MuJoCo; adds to ``tree.left_out``.

    Raises
    ------
    ModelError
        For a body that MuJoCo refuses.
    """
    tree.description = d = _with_thin_bodies_merged(tree.description)
    top = element(None, "mujoco", model=name(d.name))
    element(top, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    option = element(top, "option", gravity=d.gravity)
    element(option, "flag", contact="disable")
    bodies: dict[str, Element] = {WORLD: element(top, "worldbody")}
    for outline in (o for o in d.outlines if o.link == WORLD):
        _add_shape(bodies[WORLD], outline)
    for link in d.links:
        bodies[link.name] = _body(tree, bodies[link.parent], link)
    for frame in d.frames:
        if frame.link in bodies:
            place = {"pos": frame.position, "quat": quaternion(frame.rotation)}
            element(bodies[frame.link], "site", name=frame.name, **place)
    _add_equalities(tree, top)
    _add_keyframe(tree, top)
    if meshes := tuple(dict.fromkeys(o.link for o in d.outlines if o.kind not in DRAWN)):
        tree.left_out.append(Omitted("shapes", meshes, "meshes are not written"))
    if stopped := tuple(step.name for _, step in d.steps if step.limited):
        reason = "MuJoCo's own law acts beyond the ranges; models.read gives them the stops of Talus"
        tree.left_out.append(Omitted("stops", stopped, reason))
    return text_of(top)


def _with_thin_bodies_merged(d: Description) -> Description:
    """The description with bodies that MuJoCo refuses merged into those behind them, which share their masses."""
    links = {link.name: link for link in d.links}
    held = (
        {end for c in d.closures for end in (c.link_1, c.link_2)}
        | {o.link for o in d.outlines}
        | {f.link for f in d.frames}
    )
    for thin in (links[link.name] for link in d.links):
        behind = [link for link in links.values() if link.parent == thin.name]
        if len(behind) != 1 or thin.name in held or not thin.steps or not _shares(thin, behind[0]):
            continue
        outer = behind[0]
        to_outer = Pose(-(outer.rotation.T @ outer.position), outer.rotation.T)
        steps = [
            replace(s, axis=outer.rotation.T @ s.axis, point=to_outer.point(s.point)) for s in thin.steps
        ]  # before its own
        links[outer.name] = replace(
            joined(outer, thin, to_outer), parent=thin.parent, position=thin.position + thin.rotation @ outer.position,
            rotation=thin.rotation @ outer.rotation, steps=(*steps, *outer.steps),
        )  # fmt: skip
        del links[thin.name]
    return d.changed(links=tuple(links.values()))


def _shares(thin: Link, outer: Link) -> bool:
    """Whether the mass of a body without inertia in some rotation lies where the turns of the outer one leave it in place."""
    moments, axes = np.linalg.eigh(thin.inertia)
    size = max(float(moments[-1]), thin.mass * NEAR**2)
    if not moments[0] <= SHARED * size or any(step.kind not in ("turn", "ball") for step in outer.steps):
        return False
    point_like = moments[-1] <= SHARED * size
    for step in outer.steps[:1] if not point_like else outer.steps:
        at = outer.position + outer.rotation @ step.point - thin.centre
        axis = outer.rotation @ step.axis
        off = at - axis * float(axis @ at)
        if float(np.linalg.norm(off)) > NEAR or (step.kind == "ball" and float(np.linalg.norm(at)) > NEAR):
            return False
        if not point_like and abs(abs(float(axis @ axes[:, 0])) - 1.0) > SHARED:
            return False
        if not point_like and len(outer.steps) > 1:
            return False
    return bool(outer.steps)


def _steps(tree: Tree, link: Link) -> list[Step]:
    return [step for step in link.steps if step.name not in tree.locked]


def _body(tree: Tree, parent: Element, link: Link) -> Element:
    made = element(parent, "body", name=link.name, pos=link.position, quat=quaternion(link.rotation))
    moments = np.linalg.eigvalsh(link.inertia)
    if _steps(tree, link) and not (link.mass >= LEAST and moments[0] >= LEAST):
        raise ModelError(
            f"body '{link.name}': its smallest moment of inertia is {moments[0]:.3g} kg m^2, and MuJoCo refuses bodies that move "
            f"with less than {LEAST:g}; give one above this"
        )
    J = link.inertia
    full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    element(made, "inertial", pos=link.centre, mass=link.mass, fullinertia=full)
    for step in _steps(tree, link):
        _add_step(made, step)
    for outline in tree.description.outlines:
        if outline.link == link.name:
            _add_shape(made, outline)
    return made


def _add_step(body: Element, step: Step) -> None:
    if step.kind == "free":
        element(body, "freejoint", name=step.name)
        return
    values: dict[str, object] = {"damping": step.damping} if step.damping else {}
    if step.armature:
        values["armature"] = step.armature
    if step.kind == "ball":
        element(body, "joint", name=step.name, type="ball", pos=step.point, **values)
        return
    if step.stiffness:
        values |= {"stiffness": step.stiffness, "springref": step.free}
    if step.limited:
        edges = (max(step.lower, -WIDEST), min(step.upper, WIDEST))
        values |= {"range": edges, "solreflimit": (step.stop_time, 1.0)}
    kind = HINGE if step.kind == "turn" else SLIDE
    element(body, "joint", name=step.name, type=kind, axis=step.axis, pos=step.point, **values)


def _add_shape(body: Element, o: Outline) -> None:
    if o.kind not in DRAWN:
        return
    sizes, place = o.sizes, o.position
    if o.kind == "capsule":
        place, sizes = place + o.rotation[:, 2] * sizes[1] / 2.0, (sizes[0], sizes[1] / 2.0)
    if o.kind == "box":
        sizes = tuple(size / 2.0 for size in sizes)
    kind: str = o.kind
    values: dict[str, Any] = {}
    if o.kind == "capsule" and not sizes[1] > 0.0:
        kind, sizes = "sphere", sizes[:1]
    if o.colour:
        values["rgba"] = [int(o.colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)] + [1.0]
    element(
        body, "geom", type=kind, size=list(sizes), pos=place, quat=quaternion(o.rotation), contype="0", conaffinity="0",
        **values,
    )  # fmt: skip


def _add_equalities(tree: Tree, top: Element) -> None:
    """Ball joints that close loops, and couplings."""
    followers = couplings_of(tree, DEGREE, "MJCF has polynomials of degree 4 or less; write .osim or .json")
    if not tree.description.closures and not followers:
        return
    equality = element(top, "equality")
    for coupled in followers:
        powers = [*coupled.powers, *[0.0] * (DEGREE + 1 - len(coupled.powers))]
        ends = {"joint1": coupled.follower, "joint2": coupled.leader}
        element(equality, "joint", name=coupled.name, polycoef=powers, **ends)
    if followers:
        names, reason = (
            tuple(coupled.name for coupled in followers),
            "MuJoCo holds coordinates by stiff springs, not exactly",
        )
        tree.left_out.append(Omitted("couplings", names, reason))
    if not tree.description.closures:
        return
    for closure in tree.description.closures:
        one, two, point = closure.link_1, closure.link_2, closure.point_1
        if one == WORLD:  # the first body is the one in whose axes the point is
            one, two, point = two, one, closure.point_2
        more = {} if two == WORLD else {"body2": two}
        element(equality, "connect", name=closure.name, body1=one, anchor=point, **more)
    names = tuple(closure.name for closure in tree.description.closures)
    tree.left_out.append(
        Omitted("loops", names, "MuJoCo holds the points of a connect together by stiff springs, not exactly")
    )


def _add_keyframe(tree: Tree, top: Element) -> None:
    """The initial state, as MuJoCo's keyframe 0."""
    qpos: list[float] = []
    qvel: list[float] = []
    for link in tree.description.links:
        r, turn, v, omega = tree.relative(link)
        for step in _steps(tree, link):
            if step.kind == "free":
                qpos += [*r, *quaternion(link.rotation @ turn)]
                qvel += [*v, *omega]
            elif step.kind == "ball":
                qpos += [*quaternion(_ball(link, turn))]
                qvel += [*omega]
            else:
                qpos.append(tree.start[step.name])
                qvel.append(tree.rates[step.name])
    if qpos:
        element(element(top, "keyframe"), "key", name="initial", qpos=qpos, qvel=qvel)


def _ball(link: Link, turn: Floats) -> Floats:
    """The turn of a ball, whose link has no other turns."""
    if sum(step.kind in ("ball", "turn") for step in link.steps) > 1:
        raise ModelError(f"body '{link.name}': has a ball joint and other turns; lay a body between them")
    return turn
