"""Writes MJCF: the joints of a link are joints of one body, a modified universal joint two hinges at both ends of its link."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from models.files.description import WORLD, Floats, Link, Omitted, Outline, Step
from models.files.written_tree import Tree
from models.files.written_xml import element, name, quaternion, text_of
from runtime import ModelError

LEAST = 1e-15  # [kg], [kg m^2] of bodies that move, below which MuJoCo refuses them: mjMINVAL
HINGE, SLIDE = "hinge", "slide"
WIDEST = 1e10  # [m] in place of a stop that a slide does not have
DRAWN = ("sphere", "capsule", "ellipsoid", "box")


def mjcf_text(tree: Tree) -> str:
    """The text of a file of MuJoCo; adds to ``tree.left_out``.

    Raises
    ------
    ModelError
        For a body that MuJoCo refuses.
    """
    d = tree.description
    top = element(None, "mujoco", model=name(d.name))
    element(top, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    option = element(top, "option", gravity=d.gravity)
    element(option, "flag", contact="disable")
    bodies: dict[str, Element] = {WORLD: element(top, "worldbody")}
    for outline in (o for o in d.outlines if o.link == WORLD):
        _add_shape(bodies[WORLD], outline)
    for link in d.links:
        bodies[link.name] = _body(tree, bodies[link.parent], link)
    _add_closures(tree, top)
    _add_keyframe(tree, top)
    if meshes := tuple(dict.fromkeys(o.link for o in d.outlines if o.kind not in DRAWN)):
        tree.left_out.append(Omitted("shapes", meshes, "meshes are not written"))
    if stopped := tuple(step.name for _, step in d.steps if step.limited):
        reason = "MuJoCo's own law acts beyond the ranges; models.read gives them the stops of Talus"
        tree.left_out.append(Omitted("stops", stopped, reason))
    return text_of(top)


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


def _add_closures(tree: Tree, top: Element) -> None:
    if not tree.description.closures:
        return
    equality = element(top, "equality")
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
