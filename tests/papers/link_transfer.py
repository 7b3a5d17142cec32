"""Poses of the foot's ankle seen from either hinge of the massless link, and the rates that it allows."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import models
import runtime
from runtime.system.reference import reference, rotation_matrix
from tests.papers.citations import RODRIGUES_2024C
from tests.papers.equations import entry
from tests.papers.symbols import column
from tests.support.vectors import about

HINGES = ("talocrural", "talocalcaneal")
POSES = range(6)
DRAWN = (0, 1, 2, 3, 7, 5)  # by which each is drawn; 4 and 6 begin nearer to the ankle's mirror image, which is refused
hinges = pytest.mark.parametrize("hinge", HINGES)
poses = pytest.mark.parametrize("pose", POSES)


@cache
def foot():
    return models.foot.build("modified", limits="dissipative")


@cache
def situation(hinge, pose):
    """A pose in which the ankle is assembled, seen from one hinge: i is the reference body, j the moving body."""
    system, rng = foot(), np.random.default_rng(DRAWN[pose])
    p = system.state.p["main_foot"] + 0.4 * rng.normal(size=4)
    state = runtime.assemble(system, system.state.replace(p={"main_foot": p / np.linalg.norm(p)}))
    limit, joint = system.limit(hinge), system.joint("ankle")
    bodies = {name: np.r_[state.r[name], state.p[name], np.zeros(6)] for name in ("main_foot", "leg")}
    A = {name: rotation_matrix(body[3:7]) for name, body in bodies.items()}
    x = np.zeros(joint.module.SIZE)
    reference(joint, bodies["main_foot"], bodies["leg"], x)
    size, held = joint.module.SIZE, joint.module.HELD  # held in the reference configuration, not in this one
    x[-held:] = system.data.x[system.joint_names.index("ankle")][size - held : size]
    D, Phi = np.zeros((4, 12)), np.zeros(4)
    joint.module.phi.py_func(bodies["main_foot"], bodies["leg"], x, Phi)
    assert np.abs(Phi).max() < 1e-12
    joint.module.jacobian.py_func(bodies["main_foot"], bodies["leg"], x, D)
    s = {"main_foot": A["main_foot"] @ joint.values["a_i"], "leg": A["leg"] @ joint.values["a_j"]}
    sP = {"main_foot": A["main_foot"] @ joint.values["s_i"], "leg": A["leg"] @ joint.values["s_j"]}
    i, j = limit.reference, limit.moving
    if i == "leg":  # the velocities of the reference body come first here
        D = np.hstack([D[:, 6:], D[:, :6]])
    d = bodies[j][:3] + sP[j] - bodies[i][:3] - sP[i]
    return SimpleNamespace(
        limit=limit, states=(bodies[i], bodies[j]), x=limit_numbers(limit, bodies[i], bodies[j]), s=s[i], s_j=s[j],
        sP_i=sP[i], sP_j=sP[j], d=d, d_p=d - (d @ s[i]) * s[i], free=np.linalg.svd(D)[2][4:].T, pose=pose,
    )  # fmt: skip


def random(m, count):
    return np.random.default_rng([m.pose, count]).normal(size=count)


def limit_numbers(limit, body_i, body_j):
    x = np.zeros(limit.module.SIZE)
    reference(limit, body_i, body_j, x)
    return x


def rates(m):
    """Turning of the link about the reference body's axis, as a function of the velocities (12,)."""
    from_turns = np.linalg.pinv(np.stack([m.s, -m.s_j], axis=1))[0]
    return np.r_[np.zeros(3), -from_turns, np.zeros(3), from_turns]


def sense(m):
    """Whether a positive angle of the limit turns about +s or -s."""
    zeta, e = (rotation_matrix(m.states[0][3:7]) @ m.limit.values[key] for key in ("u_zeta_i", "e_i"))
    return np.sign(np.cross(zeta, e) @ m.s)


def our_rate(m, v):
    """The same by the kernel of the limit, with the velocities v (12,)."""
    out = np.full(3, np.nan)
    states = [np.r_[state[:7], u] for state, u in zip(m.states, v.reshape(2, 6), strict=True)]
    m.limit.module.measure.py_func(*states, m.x, np.zeros(3), out)
    return out[1] * sense(m)


def quotient(m, v, phi):
    """The corrected right-hand side of Eq. (20)."""
    a = column(about(m.s, phi) @ m.d_p / np.linalg.norm(m.d_p))
    vectors = {key: column(getattr(m, key)) for key in ("s", "sP_i", "sP_j", "d_p")}
    velocities = dict(zip(("r_i_dot", "w_i", "r_j_dot", "w_j"), map(column, v.reshape(4, 3)), strict=True))
    symbols = SimpleNamespace(a=a, u_r=column(m.d), phi=phi, rate=0.0, **vectors, **velocities)
    return float(entry(20, RODRIGUES_2024C).corrected(symbols)[1].item())
