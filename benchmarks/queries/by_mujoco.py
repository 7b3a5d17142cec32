"""Answers of MuJoCo: ``mj_forward``, ``mj_inverse``, ``mj_jac``, ... without all forces but gravity."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.files.owners import MuJoCo
from benchmarks.files.states import Sample
from benchmarks.queries.differences import Floats, slope
from benchmarks.queries.tied import Asked, moved, width_of
from models.files import Reading
from models.files.naming import identifiers


class MuJoCoQueries:
    """``Rates`` and answers: of turns and slides the coordinates, of balls and free bodies those of MuJoCo."""

    def __init__(self, reading: Reading) -> None:
        self.owner = MuJoCo(reading)
        self.reading, self.mujoco, self.model, self.data = reading, self.owner.mujoco, self.owner.model, self.owner.data
        m, flags = self.model, self.mujoco.mjtDisableBit
        for what in ("SPRING", "DAMPER", "ACTUATION", "EULERDAMP"):
            m.opt.disableflags |= int(getattr(flags, f"mjDSBL_{what}"))
        self.off, self.weightless = int(flags.mjDSBL_GRAVITY), bool(m.opt.disableflags & int(flags.mjDSBL_GRAVITY))
        m.body_gravcomp[:] = 0.0
        m.opt.density = m.opt.viscosity = 0.0
        self.count = m.nv
        self.places = {
            step.name: slice(m.jnt_dofadr[k], m.jnt_dofadr[k] + width_of(step.kind))
            for k, step in enumerate(self.owner.steps)
        }
        self.free = [self.places[step.name].start for step in self.owner.steps if step.kind == "free"]
        names = identifiers([m.body(k).name for k in range(m.nbody)])
        known = {f"{own}_origin": name for name, own in names.items()}
        frames = {f.name for f in reading.build().frames}
        self.frames = {name: own for own, name in known.items() if own in frames}
        moving = [k for k in range(1, m.nbody) if m.body_weldid[k] != 0]
        self.roots = [k for k in moving if m.body_weldid[m.body_parentid[k]] == 0]

    def of_file(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """See ``Rates``."""
        return {
            name: float(w[at][0]) if at.stop - at.start == 1 else np.array(w[at]) for name, at in self.places.items()
        }

    def drift(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """See ``Rates``."""
        return {}

    def close(self) -> None:
        """Nothing is open."""

    def place(self, sample: Sample, w: Floats, gravity: bool = True) -> None:
        """Put a state, and compute what follows from it."""
        m = self.model
        m.opt.disableflags = m.opt.disableflags | self.off
        if gravity and not self.weightless:
            m.opt.disableflags &= ~self.off
        self.owner.accelerations(Sample(sample.q, self.of_file(sample, w)))

    def inverse(self, sample: Sample, w: Floats, a: Floats, gravity: bool = True) -> Floats:
        """Efforts of accelerations a."""
        self.place(sample, w, gravity)
        self.data.qacc[:] = a
        self.mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)

    def centre(self, sample: Sample, w: Floats) -> tuple[Floats, Floats, Floats]:
        """Centre of mass of what moves, its Jacobian, and the momentum about it."""
        m, d = self.model, self.data
        self.place(sample, w)
        self.mujoco.mj_subtreeVel(m, d)
        masses = m.body_subtreemass[self.roots]
        centre = masses @ d.subtree_com[self.roots] / masses.sum()
        J, momentum = np.zeros((3, m.nv)), np.zeros(6)
        for mass, root in zip(masses, self.roots, strict=True):
            one, linear = np.zeros((3, m.nv)), mass * d.subtree_linvel[root]
            self.mujoco.mj_jacSubtreeCom(m, d, one, root)
            J += mass / masses.sum() * one
            arm = d.subtree_com[root] - centre
            momentum += np.hstack([linear, d.subtree_angmom[root] + np.cross(arm, linear)])
        return centre, J, momentum

    def energies(self, sample: Sample, w: Floats) -> tuple[float, float]:
        """Kinetic and potential energy."""
        self.place(sample, w)
        self.mujoco.mj_energyVel(self.model, self.data)
        self.mujoco.mj_energyPos(self.model, self.data)
        return float(self.data.energy[1]), float(self.data.energy[0])

    def answers(self, asked: Asked) -> dict[str, Floats]:
        """Of all queries."""
        m, d, mujoco, s, w = self.model, self.data, self.mujoco, asked.sample, asked.w
        none = np.zeros(m.nv)
        centre, J, momentum = self.centre(s, w)
        kinetic, potential = self.energies(s, w)
        found = {
            "bias": self.inverse(s, w, none, gravity=False), "gravity forces": self.inverse(s, none, none),
            "inverse dynamics": self.inverse(s, w, asked.a), "centre of mass": centre, "momentum": momentum,
            "jacobian of the centre": J, "kinetic energy": np.array(kinetic),
            "potential energy": np.array(potential - self.energies(asked.other, none)[1]),
        }  # fmt: skip
        self.place(s, w)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        d.qfrc_applied[:] = asked.tau
        mujoco.mj_forward(m, d)
        found |= {"mass matrix": M, "forward dynamics": np.array(d.qacc)}
        d.qfrc_applied[:] = 0.0
        self.inverse(s, w, asked.a, gravity=False)
        mujoco.mj_rnePostConstraint(m, d)
        of_frames: dict[str, list[Floats]] = {}
        bodies = [m.body(name).id for name in self.frames]
        for k in bodies:
            J, rate, twist, a = np.zeros((2, 3, m.nv)), np.zeros((2, 3, m.nv)), np.zeros(6), np.zeros(6)
            mujoco.mj_jac(m, d, J[0], J[1], d.xpos[k], k)
            mujoco.mj_jacDot(m, d, rate[0], rate[1], d.xpos[k], k)
            mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, k, twist, 0)
            mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_XBODY, k, a, 0)
            for name, value in (
                ("pose", np.hstack([d.xpos[k], d.xmat[k]])), ("velocity", np.roll(twist, 3)), ("acceleration", np.roll(a, 3)),
                ("jacobian", J.reshape(6, -1)), ("jacobian rate", rate.reshape(6, -1) @ w),
            ):  # fmt: skip
                of_frames.setdefault(name, []).append(value)
        return found | {name: np.array(rows) for name, rows in of_frames.items()}

    def derivatives(self, asked: Asked) -> dict[str, Floats]:
        """Of the inverse dynamics, as differences, since MuJoCo's own are of order one."""
        s, w, a = asked.sample, asked.w, asked.a
        of_q, of_u = [], []
        for unit in np.eye(self.count):
            way = self.of_file(s, unit)
            of_q.append(slope(lambda t, way=way: self.inverse(moved(self.reading, s, way, t), w, a)))  # type: ignore[misc]
            of_u.append((self.inverse(s, w + unit, a) - self.inverse(s, w - unit, a)) / 2.0)
        return {"derivatives over q": np.array(of_q).T, "derivatives over u": np.array(of_u).T}

    def moves(self, asked: Asked) -> dict[str, Floats]:
        """By ``mj_integratePos`` and ``mj_differentiatePos``."""
        m, d, mujoco = self.model, self.data, self.mujoco
        self.place(asked.other, 0.0 * asked.w)
        other, way = d.qpos.copy(), np.zeros(m.nv)
        self.place(asked.sample, 0.0 * asked.w)
        mujoco.mj_differentiatePos(m, way, 1.0, d.qpos, other)
        mujoco.mj_integratePos(m, d.qpos, asked.way, 1.0)
        mujoco.mj_kinematics(m, d)
        bodies = [m.body(name).id for name in self.frames]
        return {"integrate": np.hstack([d.xpos[bodies], d.xmat[bodies]]), "difference": way}
