"""The tree of links of a system, for files of other programs: what these can state, and what they cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.description import WORLD, Bushing, Closure, Description, Floats, Frame, Link, Omitted, Outline, Step
from models.files.written_forces import with_forces
from runtime import GROUND, ModelError, System
from runtime.system import Joint, joint_coordinates

TURNING = 1e-6  # [1] rate of the product of two directions, by the turn, above which a constant angle locks the turn
CONES = "cones of circumduction, whose law other programs do not have"
REASONS = {
    "drivers": "signals that prescribe motion", "motors": "moments on coordinates", "loads": "prescribed forces",
    "contacts": "spheres on planes, with laws of Talus", "limits": CONES,
}  # fmt: skip
SORTS = (*REASONS, "armature", "couplings", "forces", "gravity", "loops")


@dataclass(eq=False)
class Tree:
    """A system as a tree of links, whose reference pose is the system's reference configuration.

    Origins of links are centres of mass.  A step is named after its joint and coordinate, such as "ankle_theta_i", as in the
    columns of ``Run.to_mot``.  ``locked``: steps that another joint locks; ``start``, ``rates``: initial coordinates.
    """

    description: Description
    system: System
    joints: Mapping[str, str]  # name of the joint by link
    locked: frozenset[str]
    start: Mapping[str, float]
    rates: Mapping[str, float]
    left_out: list[Omitted] = field(default_factory=list)
    ignored: list[Omitted] = field(default_factory=list)

    def relative(self, link: Link) -> tuple[Floats, Floats, Floats, Floats]:
        """Initial place, turn, velocity and angular velocity (in axes of the link) of a link against its parent.

        The turn is the one from the reference pose, in axes of the link.
        """
        state = self.system.state
        r, A, v, omega = (part(state, link.name) for part in (_place, _axes, _velocity, _spin))
        if link.parent == WORLD:
            return r, link.rotation.T @ A, v, A.T @ omega
        turn = link.rotation.T @ _axes(state, link.parent).T @ A
        return r, turn, v, A.T @ (omega - _spin(state, link.parent))


def _frames(system: System) -> Iterator[Frame]:
    """Frames of the system; the origins of its bodies in a file that was read, such as "arm_origin", are others in a new file."""
    for frame in system.frames:
        if not _is_origin(frame.name, system):
            yield Frame(frame.name, WORLD if frame.body == GROUND else frame.body, frame.s, frame.A, "marker")


def _is_origin(frame: str, system: System) -> bool:
    """Whether a frame is the origin of a body in a file that was read."""
    return frame.endswith("_origin") and frame.removesuffix("_origin") in system.body_names


def _place(state: Any, body: str) -> Floats:
    return np.asarray(state.r[body])


def _axes(state: Any, body: str) -> Floats:
    found: Floats = Rotation.from_quat(np.roll(state.p[body], -1)).as_matrix()
    return found


def _velocity(state: Any, body: str) -> Floats:
    return np.asarray(state.v[body])


def _spin(state: Any, body: str) -> Floats:
    return np.asarray(state.omega[body])


def tree_of(system: System, ignore: Collection[str], *, mjcf: bool, bushings: bool) -> Tree:
    """The tree of a system.

    ``mjcf``: the format has ranges of coordinates, into which stops are written, and armature; ``bushings``: it has bushings.

    Raises
    ------
    ModelError
        For a joint without coordinates, and for parts that change the motion and are not named in ``ignore``.
    """
    reference = system.reference_configuration
    poses = {body: (_place(reference, body), _axes(reference, body)) for body in system.body_names}
    poses[GROUND] = np.zeros(3), np.eye(3)
    links: dict[str, Link] = {}
    joints: dict[str, str] = {}
    left = [joint for joint in system.joints if not joint.signals]
    while (found := _next(system, left, links)) is not None:
        joint, parent, child = found
        links[child] = _link(system, joint, parent, child, poses)
        if joint is not None:
            left.remove(joint)
            joints[child] = joint.name
    for body in system.bodies:  # those that float
        if body.name not in links:
            raise ModelError(
                f"system '{system.name}': no joint with coordinates leads to body '{body.name}'; join it by one"
            )
    locked, left = _locks(left, links, joints, poses)
    closures, unsaid = _closures(left, poses)
    angles, rates = joint_coordinates(system)
    description = Description(
        system.name, "Talus", np.array(system.gravity), tuple(links.values()), outlines=tuple(_outlines(system)),
        closures=tuple(closures), frames=tuple(_frames(system)),
    )  # fmt: skip
    start, speeds = ({name.replace(".", "_"): value for name, value in part.items()} for part in (angles, rates))
    tree = Tree(description, system, joints, frozenset(locked), start, speeds)
    if origins := tuple(f.name for f in system.frames if _is_origin(f.name, system)):
        tree.left_out.append(Omitted("origins of links", origins, "origins of the written links are centres of mass"))
    sprung, others = (
        [one for one in system.forces if (bushings and one.kind == "frame_bushing") is wanted]
        for wanted in (True, False)
    )
    description = description.changed(bushings=tuple(map(_bushing, sprung)))
    tree.description, unwritten = with_forces(description, others, poses, tree.locked if mjcf else None)
    if unwritten:
        reason = (
            "forces other than one linear spring and damper" + (", and stops," if mjcf else "") + " for each coordinate"
        )
        tree.ignored.append(Omitted("forces", unwritten, reason, True))
    reasons: dict[str, tuple[list[str], str]] = {}
    if mjcf:
        tree.description = _with_armature(tree.description, system)
    elif system.armatures:
        reasons["armature"] = [one.name for one in system.armatures], "inertia of rotors along coordinates"
    reasons |= {"loops": (unsaid, "joints that close loops, other than ball joints")} if unsaid else {}
    _refuse(tree, {**_unstated(system), **reasons}, ignore)
    return tree


def _bushing(force: Any) -> Bushing:
    """A force of the kind "frame_bushing"."""
    v, (i, j) = force.values, (WORLD if body == GROUND else body for body in force.bodies)
    frames = (
        (v[f"s_{e}"], np.column_stack([v[f"a_{e}"], v[f"b_{e}"], np.cross(v[f"a_{e}"], v[f"b_{e}"])])) for e in "ij"
    )
    stiffness, damping = (
        tuple(np.array([v[f"{letter}{part}{axis}"] for axis in "xyz"]) for part in ("", "t")) for letter in "kc"
    )
    return Bushing(force.name, i, j, tuple(frames), stiffness, damping)  # type: ignore[arg-type]


def _with_armature(d: Description, system: System) -> Description:
    inertias = {one.coordinate.replace(".", "_"): one.inertia for one in system.armatures}
    links = (
        replace(link, steps=tuple(replace(step, armature=inertias.get(step.name, 0.0)) for step in link.steps))
        for link in d.links
    )
    return d.changed(links=tuple(links))


def _next(system: System, left: list[Joint], links: Mapping[str, Link]) -> tuple[Joint | None, str, str] | None:
    """The next joint that leads to a new body, with the bodies on both sides; then a body that floats, without a joint."""
    known = {GROUND, *links}
    for joint in left:
        inside = [body in known for body in (joint.body_i, joint.body_j)]
        if sum(inside) == 1 and _moves(system, joint):
            i_inside = inside[0]
            return joint, *((joint.body_i, joint.body_j) if i_inside else (joint.body_j, joint.body_i))
    return next(((None, GROUND, b.name) for b in system.bodies if b.name not in known and b.free), None)  # type: ignore[return-value]


def _moves(system: System, joint: Joint) -> bool:
    """Whether a joint states how its bodies move against each other."""
    return joint.kind == "fixed" or joint.name in system.joint_motions


def _link(system: System, joint: Joint | None, parent: str, child: str, poses: Mapping[str, Any]) -> Link:
    (r_p, A_p), (r_c, A_c), body = poses[parent], poses[child], system.body(child)
    place = {
        "position": A_p.T @ (r_c - r_p),
        "rotation": A_p.T @ A_c,
        "mass": body.mass,
        "inertia": np.array(body.inertia),
    }
    if joint is None:
        return Link(child, WORLD, **place, steps=(Step(f"{child}_free", "free"),))
    motion = system.joint_motions.get(joint.name)  # none of a fixed joint
    r_i, A_i = poses[joint.body_i]
    steps = []
    for step in motion.steps if motion else ():  # in axes of body i
        axis, point = A_c.T @ A_i @ step.axis, A_c.T @ (r_i + A_i @ step.point - r_c)
        steps.append(Step(f"{joint.name}_{step.name}", step.kind, axis, point))  # type: ignore[arg-type]
    if child == joint.body_i:  # walked backwards
        steps = [replace(step, axis=-step.axis) for step in steps[::-1]]
    return Link(child, WORLD if parent == GROUND else parent, **place, steps=tuple(steps))


def _locks(
    left: list[Joint], links: Mapping[str, Link], joints: Mapping[str, str], poses: Mapping[str, Any]
) -> tuple[list[str], list[Joint]]:
    """Steps that a constant angle between the same bodies locks, and the joints that are left."""
    locked, others = [], []
    for joint in left:
        child = next((c for c in (joint.body_i, joint.body_j) if c in links and _pair(links[c]) == _ends(joint)), "")
        steps = [step for step in links[child].steps if step.kind != "slide"] if child else []
        if joint.kind == "constant_angle" and len(steps) == 1 and steps[0].kind == "turn":
            one, two = (poses[b][1] @ joint.values[k] for b, k in ((joint.body_i, "a_i"), (joint.body_j, "a_j")))
            if abs(one @ np.cross(poses[child][1] @ steps[0].axis, two)) > TURNING:
                locked.append(steps[0].name)
                continue
        others.append(joint)
    return locked, others


def _pair(link: Link) -> set[str]:
    return {link.name, GROUND if link.parent == WORLD else link.parent}


def _ends(joint: Joint) -> set[str]:
    return {joint.body_i, joint.body_j}


def _closures(left: list[Joint], poses: Mapping[str, Any]) -> tuple[list[Closure], list[str]]:
    """Ball joints that close loops, and the names of the other joints that do."""
    found, unsaid = [], []
    for joint in left:
        if joint.kind != "spherical":
            unsaid.append(joint.name)
            continue
        i, j = (WORLD if body == GROUND else body for body in (joint.body_i, joint.body_j))
        found.append(Closure(joint.name, "point", i, j, joint.values["s_i"], joint.values["s_j"]))
    return found, unsaid


def _outlines(system: System) -> list[Outline]:
    kinds: dict[str, Any] = {shape.kind: shape.kind for shape in system.shapes} | {"bone": "capsule"}
    return [
        Outline(s.body, kinds[s.kind], s.at, s.rotation, s.sizes, s.vertices, s.faces, s.colour) for s in system.shapes
    ]


def _unstated(system: System) -> dict[str, tuple[list[str], str]]:
    """Parts of a system that no file states, by sort, with the reason; springs of coordinates are not among them."""
    names = {key: list(getattr(system, f"{key[:-1]}_names")) for key in REASONS}
    return {key: (own, REASONS[key]) for key, own in names.items() if own}


def _refuse(tree: Tree, unstated: Mapping[str, tuple[list[str], str]], ignore: Collection[str]) -> None:
    """Refuse parts that are not ignored; list the others."""
    found = [Omitted(sort, tuple(names), reason, True) for sort, (names, reason) in unstated.items()] + tree.ignored
    if refused := [one for one in found if one.sort not in ignore]:
        parts = "; ".join(f"{one.sort} ({', '.join(one.names[:6])}: {one.reason})" for one in refused)
        sorts = ",".join(one.sort for one in refused)
        raise ModelError(
            f"system '{tree.system.name}': has parts that are not written and that change the motion: {parts}; "
            f"remove them, or ignore='{sorts}'"
        )
    tree.ignored = found
