"""What of a model of MuJoCo is not carried over, by name, and whether the motion would be another with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.files.description import Floats, Omitted

LISTED = (
    ("cameras", "camera", "ncam"), ("lights", "light", "nlight"), ("sensors", "sensor", "nsensor"),
    ("keyframes", "key", "nkey"), ("skins", "skin", "nskin"), ("materials", "material", "nmat"), ("textures", "texture", "ntex"),
    ("custom numbers", "numeric", "nnumeric"), ("custom texts", "text", "ntext"), ("custom tuples", "tuple", "ntuple"),
)  # fmt: skip


IDLE = ("actuators without control", "no force at the control 0")


def omissions(model: Any, actuators: Sequence[int]) -> tuple[Omitted, ...]:
    """All of them; ``actuators``: numbers of those that are no motors."""
    import mujoco

    off = {
        bit.name.removeprefix("mjDSBL_"): bool(model.opt.disableflags & int(bit.value))
        for bit in mujoco.mjtDisableBit.__members__.values()
        if bit.name != "mjNDISABLE"
    }
    found = [
        *_of_joints(model, off),
        *_of_bodies(model, off),
        *_of_tendons(model, off),
        *_of_actuators(model, actuators),
    ]
    if not off["CONTACT"] and not off["CONSTRAINT"] and (touching := _touching(model)):
        found.append(Omitted("contacts", touching, "geoms that may touch one another", True))
    if model.nflex:
        found.append(Omitted("flexes", _names(model, "flex", range(model.nflex)), "deformable bodies", True))
    if model.nplugin:
        found.append(
            Omitted("plugins", tuple(f"plugin_{n}" for n in range(model.nplugin)), "code of other makers", True)
        )
    if model.opt.density > 0.0 or model.opt.viscosity > 0.0:
        medium = f"density {model.opt.density:g} kg/m^3", f"viscosity {model.opt.viscosity:g} Pa s"
        found.append(Omitted("fluid", medium, "forces of the medium around the bodies", True))
    for sort, one, count in LISTED:
        if number := getattr(model, count):
            found.append(Omitted(sort, _names(model, one, range(number)), "no influence on the motion"))
    return tuple(found)


def _names(model: Any, sort: str, numbers: Any) -> tuple[str, ...]:
    access = getattr(model, sort, None)
    found = []
    for n in numbers:
        name = access(int(n)).name if access is not None else ""
        found.append(name or f"{sort}_{n}")
    return tuple(found)


def _nonzero(values: Floats) -> Any:
    """Numbers of the rows that have an entry other than 0."""
    if not len(values):
        return np.zeros(0, np.int64)
    rows = np.asarray(values).reshape(len(values), -1)
    return np.flatnonzero((rows != 0.0).any(axis=1))


def _of_joints(model: Any, off: dict[str, bool]) -> list[Omitted]:
    import mujoco

    found = []
    joint = model.dof_jntid
    kind = model.jnt_type
    whole = {int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)}

    def add(sort: str, joints: Any, reason: str) -> None:
        if len(joints):
            found.append(Omitted(sort, _names(model, "joint", sorted({int(j) for j in joints})), reason, True))

    turning = [j for j in joint[_nonzero(model.dof_armature)] if kind[j] in whole]
    add("armature", turning, "inertia of rotors of balls and free joints")
    if not (off["FRICTIONLOSS"] or off["CONSTRAINT"]):
        add("friction", joint[_nonzero(model.dof_frictionloss)], "dry friction by MuJoCo's soft constraint")
    if not off["SPRING"]:
        stiff = [j for j in _nonzero(model.jnt_stiffness) if kind[j] in whole]
        add(
            "springs",
            [*stiff, *_nonzero(model.jnt_stiffnesspoly)],
            "springs of balls and free joints, and nonlinear ones",
        )
    if not off["DAMPER"]:
        free = [j for j in joint[_nonzero(model.dof_damping)] if kind[j] == int(mujoco.mjtJoint.mjJNT_FREE)]
        add("damping", [*free, *joint[_nonzero(model.dof_dampingpoly)]], "dampers of free joints, and nonlinear ones")
    if not (off["LIMIT"] or off["CONSTRAINT"]):
        add("limits", [j for j in np.flatnonzero(model.jnt_limited) if kind[j] in whole], "cones of balls")
    return found


def _of_bodies(model: Any, off: dict[str, bool]) -> list[Omitted]:
    found = []
    light = _nonzero(model.body_gravcomp)
    if len(light) and not off["GRAVITY"]:
        found.append(Omitted("gravity compensation", _names(model, "body", light), "a force against the weight", True))
    moved = np.flatnonzero(model.body_mocapid >= 0)
    if len(moved):
        found.append(Omitted("mocap bodies", _names(model, "body", moved), "they rest where the file places them"))
    return found


def _of_tendons(model: Any, off: dict[str, bool]) -> list[Omitted]:
    if not model.ntendon:
        return []
    acts = np.zeros(model.ntendon, bool)
    acts |= model.tendon_armature != 0.0
    if not off["SPRING"]:
        acts |= (model.tendon_stiffness != 0.0) | (model.tendon_stiffnesspoly != 0.0).any(axis=1)
    if not off["DAMPER"]:
        acts |= (model.tendon_damping != 0.0) | (model.tendon_dampingpoly != 0.0).any(axis=1)
    if not (off["LIMIT"] or off["CONSTRAINT"]):
        acts |= model.tendon_limited != 0
    if not (off["FRICTIONLOSS"] or off["CONSTRAINT"]):
        acts |= model.tendon_frictionloss != 0.0
    acting = ("tendons", "tendons with stiffness, damping, inertia, friction or a range")
    return _split(model, "tendon", acts, acting, ("tendons without force", "no influence on the motion"))


def _of_actuators(model: Any, which: Sequence[int]) -> list[Omitted]:
    import mujoco

    if not len(which):
        return []
    none = int(mujoco.mjtBias.mjBIAS_NONE)
    biased = (model.actuator_biastype != none) & (
        (model.actuator_biasprm != 0.0).any(axis=1) | (model.actuator_biastype != int(mujoco.mjtBias.mjBIAS_AFFINE))
    )
    acts = (biased | (model.actuator_armature != 0.0) | (model.actuator_damping != 0.0))[list(which)]
    acting = (
        "actuators",
        "they act without a control, and are no motors, position or velocity servos of hinges and slides",
    )
    return _split(model, "actuator", acts, acting, IDLE, which)


def _split(
    model: Any, kind: str, acts: NDArray[np.bool_], acting: tuple[str, str], idle: tuple[str, str],
    which: Sequence[int] | None = None,
) -> list[Omitted]:  # fmt: skip
    """Parts of a kind that change the motion and those that do not, each by sort and reason."""
    found, numbers = [], np.arange(len(acts)) if which is None else np.array(which)
    if acts.any():
        found.append(Omitted(acting[0], _names(model, kind, numbers[acts]), acting[1], True))
    if not acts.all():
        found.append(Omitted(idle[0], _names(model, kind, numbers[~acts]), idle[1]))
    return found


def _touching(model: Any) -> tuple[str, ...]:
    """Pairs of geoms that MuJoCo would test for contact, the first few by name."""
    kind, affinity = np.asarray(model.geom_contype), np.asarray(model.geom_conaffinity)
    body = np.asarray(model.geom_bodyid)
    weld, parent = np.asarray(model.body_weldid), np.asarray(model.body_parentid)
    able = (kind[:, None] & affinity[None]) | (kind[None] & affinity[:, None])
    one, two = weld[body][:, None], weld[body][None]
    above = weld[parent[weld]][body]
    related = ((above[:, None] == two) & (two != 0)) | ((above[None] == one) & (one != 0))
    pairs = np.argwhere(np.triu((able != 0) & (one != two) & ~related, 1))
    excluded = set(int(s) for s in model.exclude_signature)
    names = []
    for a, b in pairs:
        signature = (int(min(body[a], body[b])) << 16) + int(max(body[a], body[b]))
        if signature not in excluded:
            names.append(" and ".join(_names(model, "geom", (a, b))))
    names += [
        " and ".join(_names(model, "geom", (model.pair_geom1[n], model.pair_geom2[n]))) for n in range(model.npair)
    ]
    return tuple(names)
