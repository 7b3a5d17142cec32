"""Random trees of hinges, sliders and the like, walked from either body of a joint."""

import numpy as np
from scipy.spatial.transform import Rotation

import runtime

# Kinds of joints with their coordinates.
KINDS = {"revolute": 1, "translational": 1, "cylindrical": 2, "universal": 2, "modified_universal": 2, "fixed": 0}


def unit(v):
    return v / np.linalg.norm(v)


def random_tree(seed, coordinates=3, kinds=tuple(KINDS)):
    """A system with so many coordinates, or one more, and a state with coordinates and rates other than 0."""
    random = np.random.default_rng(seed)
    b = runtime.Builder("random tree", gravity=5.0 * random.standard_normal(3))
    poses, count = {"ground": (np.zeros(3), np.eye(3))}, 0
    while count < coordinates:
        name, parent = f"b{len(poses)}", list(poses)[random.integers(len(poses))]
        turn = Rotation.random(random_state=int(random.integers(1 << 30)))
        x, y, z, w = turn.as_quat()
        r = random.standard_normal(3)
        b.body(name, mass=random.uniform(0.5, 2.0), inertia=random.uniform(0.1, 0.2, 3), r=r, p=(w, x, y, z))
        poses[name] = (r, turn.as_matrix())
        kind = str(random.choice(kinds))
        i, j = (parent, name) if random.random() < 0.6 else (name, parent)
        b.joint(f"of_{name}", kind, i, j, **_keywords(random, kind, poses[i], poses[j]))
        count += KINDS[kind]
    system = b.build(check_units=False)
    names = [f"{joint}.{column}" for joint, motion in system.joint_motions.items() for column in motion.units]
    values = random.standard_normal((2, len(names)))
    return system, runtime.system.displaced(system, *(dict(zip(names, v.tolist(), strict=True)) for v in values))


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
    return dict(s_i=A_i.T @ (P - r_i), a_i=A_i.T @ a, s_j=A_j.T @ (Q - r_j), a_j=A_j.T @ a_j, **more)
