"""Answers of Pinocchio: ``crba``, ``rnea``, ``aba``, their analytic derivatives, frames and centroidal quantities."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.files.owners import Pinocchio
from benchmarks.files.states import Sample
from benchmarks.queries.differences import Floats
from benchmarks.queries.tied import Asked
from models.files import Reading
from models.files.naming import identifiers


class PinocchioQueries:
    """``Rates`` and answers; of a floating base the rates of Pinocchio, in axes of the link."""

    def __init__(self, reading: Reading) -> None:
        self.owner = Pinocchio(reading)
        self.pin, self.model, self.data = self.owner.pin, self.owner.model, self.owner.data
        self.base = self.owner.free
        self.free = [] if self.base is None else [0]
        self.count = self.model.nv
        self.places = {s.name: self.model.joints[self.owner.places[s.name]].idx_v for s in self.owner.steps}
        places = {f.name: k for k, f in enumerate(self.model.frames) if f.type == self.pin.FrameType.BODY}
        frames = {f.name for f in reading.build().frames}
        self.frames = {
            name: f"{own}_origin" for name, own in identifiers(list(places)).items() if f"{own}_origin" in frames
        }
        self.ids = [places[name] for name in self.frames]

    def of_file(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """See ``Rates``."""
        found: dict[str, Any] = {name: float(w[k]) for name, k in self.places.items()}
        if self.base is not None:
            found[self.base] = np.hstack([sample.q[self.base][1] @ w[:3], w[3:6]])
        return found

    def drift(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """See ``Rates``."""
        if self.base is None:
            return {}
        return {self.base: np.hstack([sample.q[self.base][1] @ np.cross(w[3:6], w[:3]), np.zeros(3)])}

    def close(self) -> None:
        """Nothing is open."""

    def q(self, sample: Sample) -> Floats:
        """Coordinates of Pinocchio."""
        self.owner.accelerations(Sample(sample.q, self.of_file(sample, np.zeros(self.count))))
        return np.array(self.owner.q)

    def answers(self, asked: Asked) -> dict[str, Floats]:
        """Of all queries."""
        pin, m, d, w = self.pin, self.model, self.data, asked.w
        q, other = self.q(asked.sample), self.q(asked.other)
        M, world = pin.crba(m, d, q).copy(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        gravity = pin.computeGeneralizedGravity(m, d, q).copy()
        momentum = pin.computeCentroidalMomentum(m, d, q, w).vector.copy()
        found = {
            "mass matrix": np.triu(M) + np.triu(M, 1).T, "gravity forces": gravity,
            "bias": pin.computeCoriolisMatrix(m, d, q, w) @ w, "inverse dynamics": pin.rnea(m, d, q, w, asked.a).copy(),
            "forward dynamics": pin.aba(m, d, q, w, asked.tau).copy(), "centre of mass": pin.centerOfMass(m, d, q).copy(),
            "jacobian of the centre": pin.jacobianCenterOfMass(m, d, q).copy(), "momentum": momentum,
            "kinetic energy": np.array(pin.computeKineticEnergy(m, d, q, w)),
            "potential energy": np.array(pin.computePotentialEnergy(m, d, q) - pin.computePotentialEnergy(m, d, other)),
        }  # fmt: skip
        pin.computeJointJacobiansTimeVariation(m, d, q, w)
        pin.forwardKinematics(m, d, q, w, asked.a)
        pin.updateFramePlacements(m, d)
        of_frames: dict[str, list[Floats]] = {}
        for k in self.ids:
            pose, J = d.oMf[k], pin.getFrameJacobian(m, d, k, world).reshape(6, -1)
            for name, value in (
                ("pose", np.hstack([pose.translation, pose.rotation.ravel()])), ("jacobian", J),
                ("velocity", pin.getFrameVelocity(m, d, k, world).vector),
                ("acceleration", pin.getFrameClassicalAcceleration(m, d, k, world).vector),
                ("jacobian rate", pin.getFrameJacobianTimeVariation(m, d, k, world).reshape(6, -1) @ w),
            ):  # fmt: skip
                of_frames.setdefault(name, []).append(np.array(value))
        return found | {name: np.array(rows) for name, rows in of_frames.items()}

    def derivatives(self, asked: Asked) -> dict[str, Floats]:
        """By ``computeRNEADerivatives``."""
        of_q, of_u, _ = self.pin.computeRNEADerivatives(self.model, self.data, self.q(asked.sample), asked.w, asked.a)
        return {"derivatives over q": of_q.copy(), "derivatives over u": of_u.copy()}

    def moves(self, asked: Asked) -> dict[str, Floats]:
        """By ``integrate`` and ``difference``."""
        pin, m, d = self.pin, self.model, self.data
        q, other = self.q(asked.sample), self.q(asked.other)
        pin.framesForwardKinematics(m, d, pin.integrate(m, q, asked.way))
        poses = [d.oMf[k] for k in self.ids]
        rows = [np.hstack([pose.translation, pose.rotation.ravel()]) for pose in poses]
        return {"integrate": np.array(rows), "difference": pin.difference(m, q, other)}
