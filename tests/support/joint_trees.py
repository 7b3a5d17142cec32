"""Random trees of joints with motions, walked from either body of a joint, on the ground or free."""

import numpy as np
from scipy.spatial.transform import Rotation

import runtime
from runtime.system.connection import KINDS as JOINTS
from tests.support.vectors import unit

# Kinds of joints with their coordinates: those of turns and slides alone, and all.
HINGED = {"revolute": 1, "translational": 1, "cylindrical": 2, "universal": 2, "modified_universal": 2, "fixed": 0}
KINDS = HINGED | {"spherical": 3, "point_on_line": 4, "point_on_plane": 5}


def random_tree(seed, coordinates=3, kinds=tuple(HINGED), floating=0.0):
    """A system with so many coordinates, or a few more, and a state with coordinates and rates other than 0.

    ``floating``: part of the bodies that no joint connects with those before.
    """
    random = np.random.default_rng(seed)
    b = runtime.Builder("random tree", gravity=5.0 * random.standard_normal(3))
    poses, count = {"ground": (np.zeros(3), np.eye(3))}, 0
    while count < coordinates:
        name, parent = f"b{len(poses)}", list(poses)[random.integers(len(poses))]
        turn = Rotation.random(random_state=int(random.integers(1 << 30)))
        x, y, z, w = turn.as_quat()
        r = random.standard_normal(3)
        own = dict(mass=random.uniform(0.5, 2.0), inertia=random.uniform(0.1, 0.2, 3), free=floating > 0.0)
        b.body(name, r=r, p=(w, x, y, z), **own)
        poses[name] = (r, turn.as_matrix())
        if random.random() < floating:
            count += 6
            continue
        kind = str(random.choice(kinds))
        i, j = (parent, name) if random.random() < 0.6 else (name, parent)
        b.joint(f"of_{name}", kind, i, j, **_keywords(random, kind, poses[i], poses[j]))
        count += KINDS[kind]
    system = b.build(check_units=False)
    names = [f"{joint}.{column}" for joint, motion in system.joint_motions.items() for column in motion.units]
    values = random.standard_normal((2, len(names)))
    state = runtime.system.displaced(system, *(dict(zip(names, v.tolist(), strict=True)) for v in values))
    if floating and not system.joints:
        state = state.replace(omega={"b1": random.standard_normal(3)})
    return system, state


def _keywords(random, kind, of_i, of_j):
    """Keywords of a joint in a random place, from the poses of its bodies."""
    if kind == "fixed":
        return {}
    (r_i, A_i), (r_j, A_j) = of_i, of_j
    P, a = random.standard_normal(3), unit(random.standard_normal(3))
    Q, a_j, more = P, a, {}
    if kind == "universal":
        a_j = unit(np.cross(a, random.standard_normal(3)))
    if kind == "modified_universal":
        a_j, d = unit(random.standard_normal(3)), 0.3 * random.standard_normal(3)
        Q, more = P + d, {"l": float(np.linalg.norm(d))}
    found = dict(s_i=A_i.T @ (P - r_i), a_i=A_i.T @ a, s_j=A_j.T @ (Q - r_j), a_j=A_j.T @ a_j, **more)
    return {name: value for name, value in found.items() if name in JOINTS[kind].KEYWORDS}
