"""Accelerations by the programs that own the formats: MuJoCo's ``mj_forward``, Pinocchio's ``aba``, OpenSim."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.files.states import Floats, Sample
from models.files import Reading
from models.files.mjcf import compiled_model
from models.files.naming import identifiers


class Owner(Protocol):
    """A program that owns a format."""

    def accelerations(self, sample: Sample) -> dict[str, Any]:
        """Derivatives of the rates of all steps, by name."""

    def seconds(self) -> float:
        """Time of one evaluation [s]."""


class MuJoCo:
    """``mj_forward`` without contacts, stops and constraints, actuators that are not read, and what the reading ignored."""

    def __init__(self, reading: Reading) -> None:
        import mujoco

        self.mujoco, self.reading = mujoco, reading
        self.model = m = compiled_model(reading.file, reading.file.resolve().parent)
        acting = () if reading.description.actuators else ("ACTUATION",)
        for what in ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "CONSTRAINT", *acting):
            m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}"))
        self._leave_out({one.sort for one in reading.ignored})
        mujoco.mj_setConst(m, mujoco.MjData(m))  # inertias of single joints are computed ahead, armature included
        self.data = mujoco.MjData(m)
        self.steps = [step for _, step in reading.description.steps]

    def _leave_out(self, sorts: set[str]) -> None:
        m = self.model
        of = {
            "armature": ("dof_armature",), "fluid": (), "gravity compensation": ("body_gravcomp",),
            "springs": ("jnt_stiffness", "jnt_stiffnesspoly"), "damping": ("dof_damping", "dof_dampingpoly"),
            "tendons": ("tendon_stiffness", "tendon_stiffnesspoly", "tendon_damping", "tendon_dampingpoly", "tendon_armature"),
            "actuators": ("actuator_armature", "actuator_damping", "actuator_dampingpoly"),
        }  # fmt: skip
        for sort in sorts:
            for name in of.get(sort, ()):
                getattr(m, name)[:] = 0.0
        if "fluid" in sorts:
            m.opt.density = m.opt.viscosity = 0.0

    def accelerations(self, sample: Sample) -> dict[str, Any]:
        """See ``Owner``."""
        m, d = self.model, self.data
        for k, step in enumerate(self.steps):
            at, dof, q, u = m.jnt_qposadr[k], m.jnt_dofadr[k], sample.q[step.name], sample.u[step.name]
            if step.kind == "free":
                d.qpos[at : at + 3] = q[0]
                self.mujoco.mju_mat2Quat(d.qpos[at + 3 : at + 7], q[1].ravel())
                d.qvel[dof : dof + 6] = u
            elif step.kind == "ball":
                self.mujoco.mju_mat2Quat(d.qpos[at : at + 4], q.ravel())
                d.qvel[dof : dof + 3] = u
            else:
                d.qpos[at], d.qvel[dof] = q + step.reference, u
        self.mujoco.mj_forward(m, d)
        width = {"free": 6, "ball": 3}
        found: dict[str, Any] = {}
        for k, step in enumerate(self.steps):
            dof = m.jnt_dofadr[k]
            n = width.get(step.kind)
            found[step.name] = float(d.qacc[dof]) if n is None else d.qacc[dof : dof + n].copy()
        return found

    def seconds(self) -> float:
        """See ``Owner``."""
        return least(lambda: self.mujoco.mj_forward(self.model, self.data))


class Pinocchio:
    """``aba`` with the dampers of the file as joint torques."""

    def __init__(self, reading: Reading) -> None:
        import pinocchio

        self.pin = pinocchio
        self.free = next((s.name for _, s in reading.description.steps if s.kind == "free"), None)
        root = [] if self.free is None else [pinocchio.JointModelFreeFlyer()]
        self.model = pinocchio.buildModelFromUrdf(str(reading.file), *root)
        self.model.armature[:] = 0.0
        self.places = {own: k for k, own in enumerate(identifiers(list(self.model.names)).values())}
        self.data = self.model.createData()
        self.q, self.u, self.tau = pinocchio.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        self.steps = [step for _, step in reading.description.steps if step.kind != "free"]

    def accelerations(self, sample: Sample) -> dict[str, Any]:
        """See ``Owner``."""
        m = self.model
        A = np.eye(3)
        if self.free is not None:
            r, A = sample.q[self.free]
            self.q[:3], self.q[3:7] = r, self.pin.Quaternion(A).coeffs()
            u = sample.u[self.free]
            self.u[:3], self.u[3:6] = A.T @ u[:3], u[3:]
        joints = {step.name: m.joints[self.places[step.name]] for step in self.steps}
        for step in self.steps:
            joint, q, u = joints[step.name], sample.q[step.name], sample.u[step.name]
            self.q[joint.idx_q : joint.idx_q + joint.nq] = q if joint.nq == 1 else (np.cos(q), np.sin(q))
            self.u[joint.idx_v], self.tau[joint.idx_v] = u, -step.damping * u
        a = self.pin.aba(m, self.data, self.q, self.u, self.tau)
        found: dict[str, Any] = {step.name: float(a[joints[step.name].idx_v]) for step in self.steps}
        if self.free is not None:  # its rates are in axes of the link
            linear = A @ (a[:3] + np.cross(self.u[3:6], self.u[:3]))
            found[self.free] = np.concatenate([linear, a[3:6]])
        return found

    def seconds(self) -> float:
        """See ``Owner``."""
        return least(lambda: self.pin.aba(self.model, self.data, self.q, self.u, self.tau))


class OpenSim:
    """``realizeAcceleration`` in another process, without what the reading left out or ignored."""

    def __init__(self, reading: Reading) -> None:
        if find_spec("opensim") is None:
            raise ImportError("opensim is not installed")
        program = Path(__file__).with_name("opensim_process.py")
        how = ["couplers"] if reading.description.followers else []
        how += ["limits"] if any(step.limits for _, step in reading.description.steps) else []
        how += ["contacts"] if reading.description.contacts else []
        self.process = subprocess.Popen(
            [sys.executable, str(program), str(reading.file), *how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.steps = {step.name: step for _, step in reading.description.steps}
        self.names = {own: name for name, own in identifiers(self._answer()).items() if own in self.steps}

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ValueError("OpenSim ended without an answer")
        return json.loads(line)

    def _asked(self, what: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def accelerations(self, sample: Sample) -> dict[str, Any]:
        """See ``Owner``."""
        given = {name: [sample.q[own] + self.steps[own].reference, sample.u[own]] for own, name in self.names.items()}
        found = self._asked(given)
        return {own: found[name] for own, name in self.names.items()}

    def seconds(self) -> float:
        """See ``Owner``."""
        return float(self._asked("time"))


def least(call: Callable[[], Any], repeats: int = 5, count: int = 200) -> float:
    """The least time of one call [s], in several series."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return min(times)


def owner_of(reading: Reading) -> Owner:
    """The program that owns the format of a reading; ImportError where it is not installed."""
    kinds: dict[str, type[Owner]] = {"MJCF": MuJoCo, "URDF": Pinocchio, "OpenSim": OpenSim}
    return kinds[reading.description.format](reading)  # type: ignore[call-arg]


def largest_error(wanted: Floats, found: Floats) -> float:
    """The largest difference of accelerations, as a fraction of the largest."""
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-12))
