"""Applied forces along the coordinates of a tree with symbols: loads, motors, and forces by their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.bodies import load_at_point
from codegen.compiler.calculus import AXES
from codegen.compiler.calculus import Vector as Vector3
from codegen.compiler.recorded_algebra import Vector, add, times
from codegen.compiler.trace import dot, recording
from codegen.compiler.tree_kinematics import TreeMotion
from codegen.symbolic.tree import SymbolicTree, vectors_of

WRENCH = 6  # force and moment on a body


class SymbolicForces:
    """Applied forces along the coordinates of a tree."""

    def __init__(self, tree: SymbolicTree, motion: TreeMotion) -> None:
        self.tree, self.motion, self.zero, system = tree, motion, tree.zero, tree.system
        self.along: Vector = [self.zero] * len(tree.u)
        self.left_out = [part.name for part in (*system.limits, *system.contacts)]
        for load in system.loads:
            self._load(load)
        for k, motor in enumerate(system.motors):
            self._motor(k, motor)
        for k, force in enumerate(system.forces):
            if force.joint or force.module.TABLES or force.module.STATES:
                self.left_out.append(force.name)
            else:
                self._force(k, force)

    def _push(self, body: int, force: Vector, moment: Vector) -> None:
        """Add a force, and a moment about the centre of mass, on a body."""
        step = self.tree.steps[body]
        arm = times(self.motion.frame(step).A, self.tree.arms[body])
        self.motion.along(step, arm, force, moment, self.along)

    def _load(self, load: Any) -> None:
        body = self.tree.system.body_index(load.body) + 1
        turned, r = self.motion.frame(self.tree.steps[body]).A, self.tree.state(self.motion, body)[:3]
        A = [[self.zero + dot(row, column) for column in self.tree.turned[body].T] for row in turned]
        given = {"F": load.force, "M": load.moment, "s": load.point or ()}
        force, moment, point = (
            [self.tree.signal(f"{what}_{axis}_{load.name}", one)[0] for axis, one in zip(AXES, three, strict=False)]
            for what, three in given.items()
        )
        if load.axes == "body":
            force, moment = times(A, force), times(A, moment)
        if load.point_of_body:
            point = add(r, times(A, point))
        about = load_at_point(Vector3(*r), Vector3(*force), Vector3(*moment), Vector3(*(point or r)))
        self._push(body, [self.zero + part for part in force], [self.zero + part for part in about])

    def _motor(self, k: int, motor: Any) -> None:
        """A motor: its effort with a spring and a damper towards its target, along the coordinate of a driver."""
        data, joint, tree = self.tree.system.data.loads, motor.joint, self.tree
        bodies, module = [int(data.body_i[k]), int(data.body_j[k])], motor.joint.module
        x = tree.x_of(module, joint.name, data.x[k, : module.SIZE - 3], vectors_of(data, "motor", k), joint.signals)
        Phi, Phi_dot, gamma = (np.full(1, self.zero, object) for _ in range(3))
        D = np.full((1, 2 * WRENCH), self.zero, object)
        x = tree.turned_by(self.motion, x, vectors_of(data, "motor", k))
        recording(module.evaluate)(*(tree.state(self.motion, b) for b in bodies), x, Phi, Phi_dot, D, gamma)
        stiffness = tree.symbols.datum(f"stiffness_{motor.name}", motor.stiffness)
        damping = tree.symbols.datum(f"damping_{motor.name}", motor.damping)
        effort = tree.signal(f"tau_{motor.name}", motor.effort)[0] - stiffness * Phi[0] - damping * Phi_dot[0]
        for side, body in enumerate(bodies):
            wrench = [entry * effort for entry in D[0, WRENCH * side : WRENCH * (side + 1)]]
            self._push(body, wrench[:3], wrench[3:])

    def _force(self, k: int, force: Any) -> None:
        data, tree = self.tree.system.data.forces, self.tree
        bodies, vectors = data.body[k, : data.bodies[k]].tolist(), vectors_of(data, "force", k)
        first = force.module.LOADS_PLACE - 3 * len(force.signals)
        x = tree.x_of(force.module, force.name, data.x[k, :first], vectors, force.signals)
        x, out = tree.turned_by(self.motion, x, vectors), np.full(data.outputs, self.zero, object)
        recording(force.module.evaluate)(*(tree.state(self.motion, b) for b in bodies), x, out)
        for side, body in enumerate(bodies):
            wrench = [self.zero + entry for entry in out[WRENCH * side : WRENCH * (side + 1)]]
            self._push(body, wrench[:3], wrench[3:])
