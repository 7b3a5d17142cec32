"""Reads MJCF by MuJoCo's own compiler, which resolves defaults, angles, includes, and inertias from geometry."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from models.files.description import WORLD, Closure, Description, Floats, Follower, Frame, Link, Omitted, Outline, Step
from models.files.mjcf_actuators import actuators_of
from models.files.mjcf_compiling import compiled
from models.files.mjcf_omissions import omissions
from models.files.naming import identifiers
from runtime import ModelError
from runtime.support import are_finite, finite_numbers, one_line

KINDS = ("free", "ball", "slide", "turn")  # by MuJoCo's numbers
# What must be finite, by MuJoCo's names of its parts; MuJoCo takes "inf".
FINITE = {
    "body": ("pos", "ipos", "mass", "inertia"), "jnt": ("axis", "pos", "stiffness"),
    "dof": ("damping", "armature", "frictionloss"), "site": ("pos",), "geom": ("pos", "size"), "eq": ("data",), "mesh": ("vert",),
}  # fmt: skip
NOT_NEGATIVE = ("jnt_stiffness", "dof_damping", "dof_armature", "dof_frictionloss")
SAME_POSE = 1e-6  # [m], [1] of a weld from the reference pose


def read_mjcf(file: Path, root: Path) -> Description:
    """The description of a model; files that it names must lie in the folder ``root``.

    Raises
    ------
    ModelError
        With MuJoCo's message where its compiler refuses the model.
    """
    model = compiled_model(file, root)
    bodies = [_name(model.body(n).name, "body", n) for n in range(1, model.nbody)]
    named = identifiers(bodies)
    names = [WORLD, *(named[name] for name in bodies)]
    joints = [_name(model.joint(n).name, "joint", n) for n in range(model.njnt)]
    steps = list(identifiers(joints).values())
    links = [_link(model, n, names, steps) for n in range(1, model.nbody)]
    sites = [_name(model.site(n).name, "site", n) for n in range(model.nsite)]
    frames = [
        Frame(site, names[model.site_bodyid[n]], model.site_pos[n].copy(), matrix(model.site_quat[n]))
        for n, site in enumerate(sites)
    ]
    closures, followers, unsaid = _equalities(model, names, steps)
    gravity = np.zeros(3) if disabled(model, "GRAVITY") else model.opt.gravity.copy()
    motors, others, ranges = actuators_of(model, steps, off=disabled(model, "ACTUATION"))
    return Description(
        _text(model) or file.stem, "MJCF", gravity, tuple(links), tuple(frames), tuple(_outlines(model, names)),
        tuple(closures), (*unsaid, *omissions(model, others), *ranges), followers=tuple(followers),
        actuators=motors,
    )  # fmt: skip


def compiled_model(file: Path, root: Path) -> Any:
    """MuJoCo's model of a file."""
    if find_spec("mujoco") is None:
        raise ModelError(
            f"{file.name}: MJCF is read by MuJoCo, which is not installed; pip install 'talus-multibody[files]'"
        )
    model = compiled(file, root)
    for part, name in ((part, name) for part, names in FINITE.items() for name in names):
        values = np.asarray(getattr(model, f"{part}_{name}"), float)
        if not are_finite(values):
            n = next(n for n, value in enumerate(values) if not are_finite(value))
            raise ModelError(
                f"{file.name}: {_place(model, part, n)}: {name} = {values[n]}; give {finite_numbers(None)}"
            )
        if f"{part}_{name}" in NOT_NEGATIVE and (below := np.argwhere(values < 0.0)).size:
            raise ModelError(
                f"{file.name}: {_place(model, part, below[0][0])}: {name} = {values[*below[0]]:g}, must not be below 0; give its "
                "magnitude"
            )
    return model


def _place(model: Any, part: str, n: int) -> str:
    """The name of a part, or its number; of a degree of freedom those of its joint."""
    if part == "dof":
        part, n = "jnt", int(model.dof_jntid[n])
    kind = "joint" if part == "jnt" else part
    named = one_line(getattr(model, kind)(n).name) if part in ("body", "jnt", "site", "geom") else ""
    return f"{kind} '{named or n}'"


def matrix(quaternion: Floats) -> Floats:
    """The rotation matrix (3, 3) of a quaternion, scalar first."""
    import mujoco

    unit, found = np.array(quaternion, float), np.empty(9)
    mujoco.mju_normalize4(unit)
    mujoco.mju_quat2Mat(found, unit)
    return found.reshape(3, 3)


def disabled(model: Any, what: str) -> bool:
    """Whether a flag disables a part of MuJoCo's computation."""
    import mujoco

    return bool(model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}")))


def _name(name: str, what: str, number: int) -> str:
    return name or f"{what}_{number}"


def _text(model: Any) -> str:
    """Name of the model."""
    return one_line(bytes(model.names).split(b"\0")[0].decode("utf-8", "replace"))


def _link(model: Any, n: int, names: Sequence[str], steps: Sequence[str]) -> Link:
    A = matrix(model.body_iquat[n])
    first, count = model.body_jntadr[n], model.body_jntnum[n]
    return Link(
        names[n], names[model.body_parentid[n]], model.body_pos[n].copy(), matrix(model.body_quat[n]),
        float(model.body_mass[n]), model.body_ipos[n].copy(), A @ np.diag(model.body_inertia[n]) @ A.T,
        tuple(_step(model, k, steps[k]) for k in range(first, first + count)),
    )  # fmt: skip


def _step(model: Any, k: int, name: str) -> Step:
    kind = KINDS[model.jnt_type[k]]
    dof, at = model.jnt_dofadr[k], model.jnt_qposadr[k]
    damping = 0.0 if disabled(model, "DAMPER") else float(model.dof_damping[dof])
    if kind in ("free", "ball"):
        damping = damping if kind == "ball" else 0.0
        return Step(name, kind, point=model.jnt_pos[k].copy() if kind == "ball" else np.zeros(3), damping=damping)  # type: ignore[arg-type]
    reference = float(model.qpos0[at])
    lower, upper = -inf, inf
    if model.jnt_limited[k] and not (disabled(model, "LIMIT") or disabled(model, "CONSTRAINT")):
        lower, upper = (float(edge) - reference for edge in model.jnt_range[k])
    time = float(model.jnt_solref[k, 0])
    return Step(
        name, kind, model.jnt_axis[k].copy(), model.jnt_pos[k].copy(), reference,  # type: ignore[arg-type]
        stiffness=0.0 if disabled(model, "SPRING") else float(model.jnt_stiffness[k]),
        free=float(model.qpos_spring[at]) - reference, damping=damping, armature=float(model.dof_armature[dof]),
        friction=float(model.dof_frictionloss[dof]), lower=lower, upper=upper, stop_time=time if time > 0.0 else 0.02,
    )  # fmt: skip


def _equalities(
    model: Any, names: Sequence[str], steps: Sequence[str]
) -> tuple[list[Closure], list[Follower], list[Omitted]]:
    """Constraints that Talus can state, and those that it cannot."""
    import mujoco

    if disabled(model, "EQUALITY") or disabled(model, "CONSTRAINT"):
        return [], [], []
    kinds = {int(mujoco.mjtEq.mjEQ_CONNECT): "point", int(mujoco.mjtEq.mjEQ_WELD): "weld"}
    of_bodies = int(mujoco.mjtObj.mjOBJ_BODY)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found: list[Closure] = []
    followers: list[Follower] = []
    alone: list[int] = []  # joints that are held at a place
    left = []
    labels = identifiers([_name(model.equality(n).name, "equality", n) for n in range(model.neq)])
    for n, label in enumerate(labels.values()):
        if not model.eq_active0[n]:
            continue
        if (follower := _follower(model, n, steps)) is not None:
            followers.append(follower)
            continue
        if model.eq_type[n] == mujoco.mjtEq.mjEQ_JOINT and model.eq_obj2id[n] < 0:
            alone.append(n)
            continue
        kind = kinds.get(int(model.eq_type[n]))
        if (
            kind is None
            or model.eq_objtype[n] != of_bodies
            or (kind == "weld" and not _holds_reference(model, data, n))
        ):
            left.append(label)
            continue
        one, two = (names[int(body[n])] for body in (model.eq_obj1id, model.eq_obj2id))
        points = model.eq_data[n]
        if kind == "weld":
            found.append(Closure(label, "weld", one, two))
        else:
            found.append(Closure(label, "point", one, two, points[:3].copy(), points[3:6].copy()))
    for n in alone:
        if (held := _held(model, n, steps, followers)) is None:
            left.append(list(labels.values())[n])
        else:
            followers.append(held)
    reason = (
        "couplings of tendons, single joints where no other one can lead, constraints between sites, and welds in another pose "
        "than qpos0 are not read"
    )
    return found, followers, [Omitted("equalities", tuple(left), reason, True)] if left else []


def _follower(model: Any, n: int, steps: Sequence[str]) -> Follower | None:
    """The joint that an equality has follow another one, both hinges or slides."""
    import mujoco

    one, two = int(model.eq_obj1id[n]), int(model.eq_obj2id[n])
    if (
        model.eq_type[n] != mujoco.mjtEq.mjEQ_JOINT
        or two < 0
        or {KINDS[model.jnt_type[k]] for k in (one, two)} - {"turn", "slide"}
    ):
        return None
    return Follower.by_powers(steps[one], steps[two], model.eq_data[n, :5].tolist(), "equalities")


def _held(model: Any, n: int, steps: Sequence[str], followers: Sequence[Follower]) -> Follower | None:
    """The joint that an equality holds at a place, as one that follows any other by a constant."""
    one, following = int(model.eq_obj1id[n]), {f.step for f in followers}
    scalar = [k for k in range(model.njnt) if KINDS[model.jnt_type[k]] in ("turn", "slide")]
    leaders = [k for k in scalar if k != one and steps[k] not in following]
    if one not in scalar or not leaders or steps[one] in following:
        return None
    return Follower.by_powers(steps[one], steps[leaders[0]], [float(model.eq_data[n, 0])], "equalities")


def _holds_reference(model: Any, data: Any, n: int) -> bool:
    """Whether a weld holds position and orientation that its bodies have in the reference pose."""
    one, two = int(model.eq_obj1id[n]), int(model.eq_obj2id[n])
    given = model.eq_data[n]  # points of body 2 and of body 1, turn from body 1 to body 2, weight of the turn
    A, B = (data.xmat[body].reshape(3, 3) for body in (one, two))
    apart = data.xpos[one] + A @ given[3:6] - data.xpos[two] - B @ given[:3]
    turned = A @ matrix(given[6:10]) - B
    return bool(max(np.abs(apart).max(), np.abs(turned).max()) <= SAME_POSE and given[10] > 0.0)


def _outlines(model: Any, names: Sequence[str]) -> list[Outline]:
    """Shapes of bodies."""
    import mujoco

    kinds = {
        int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere", int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule",
        int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): "ellipsoid", int(mujoco.mjtGeom.mjGEOM_BOX): "box",
        int(mujoco.mjtGeom.mjGEOM_MESH): "mesh",
    }  # fmt: skip
    found = []
    for n in range(model.ngeom):
        kind = kinds.get(int(model.geom_type[n]))
        if kind is None or not model.geom_rgba[n, 3] > 0.0:
            continue
        size, A, at = model.geom_size[n], matrix(model.geom_quat[n]), model.geom_pos[n].copy()
        sizes: tuple[float, ...] = ()
        mesh: dict[str, Any] = {}
        if kind == "sphere":
            sizes = (float(size[0]),)
        elif kind == "capsule":
            sizes, at = (float(size[0]), float(2.0 * size[1])), at - A[:, 2] * size[1]
        elif kind == "mesh":
            mesh = _mesh(model, int(model.geom_dataid[n]))
        else:
            sizes = tuple((float(s) * (2.0 if kind == "box" else 1.0)) for s in size)
        r, g, b = (int(round(255 * min(max(float(c), 0.0), 1.0))) for c in model.geom_rgba[n, :3])
        link = names[model.geom_bodyid[n]]
        found.append(Outline(link, kind, at, A, sizes, colour=f"#{r:02x}{g:02x}{b:02x}", **mesh))  # type: ignore[arg-type]
    return found


def _mesh(model: Any, k: int) -> dict[str, Any]:
    vertices = slice(model.mesh_vertadr[k], model.mesh_vertadr[k] + model.mesh_vertnum[k])
    faces = slice(model.mesh_faceadr[k], model.mesh_faceadr[k] + model.mesh_facenum[k])
    return {"vertices": model.mesh_vert[vertices].astype(float), "faces": model.mesh_face[faces].astype(np.int64)}
