"""The least change of rounded data with which closed loops close, not in one pose alone but in all poses of their motion.

Rows that are nearly dependent with the given data are to be dependent.  In a pose with the rows Phi and D, of the rank that the
mechanism shall have, the left null vectors N of D give the conditions N^T Phi = 0 that no motion of the bodies can satisfy; data
theta satisfy them to first order if N^T (Phi + B dtheta) = 0, B = dPhi/dtheta.  These conditions of many poses along the motion
are met together by least-norm steps in theta, damped in proportion to the residual (Levenberg and Marquardt), since conditions of
different poses contradict each other far from the solution.  The first pose is the given one: its bodies stay where they are if
the data can do it all.  B comes from the kernels ``data_slopes`` and ``reference_slopes`` of the definitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.layout import P, V
from runtime.support.arrays import Floats
from runtime.support.errors import AssemblyError
from runtime.system.adjustable import Chosen, Datum, data_of
from runtime.system.dependence import EXACT
from runtime.system.loop_rows import LoopRows, Rows, rank_beyond, spectrum_of
from runtime.system.parameters import replace_parameters
from runtime.system.parts import Adjustment, Joint
from runtime.system.rank import joints_of, singular_values
from runtime.system.reference import rotation_matrix, states_with_ground
from runtime.system.system import System

NEARLY = 3e-2  # singular values below this, and below a gap, are of rows that shall be dependent
STAYS, GUESSED = 1e3, 1e-3  # weights of the displacements of a body in the given pose beside changes of data
STEP, POSES = 0.3, 24  # [1] between the poses along the directions of the motion, and the number of poses
MOST_DIRECTIONS = 4  # of motion along which there are poses; each is followed forwards and backwards
ATTEMPTS, ROUNDS, PASSES = 2, 4, 60
CLOSED = 1e-15  # norm of the conditions, without units, below which only rounding is left
RAISED, LOWERED = 4.0, 0.25  # factors of the damping after a step that did not help, and after one that did
# The same where no step reduces it: by rounding, or because data where two families of moving loops meet, as those of Bricard's
# loop of equal links do, leave no gradient of the conditions.  Poses of the whole motion are checked afterwards in any case.
STUCK = 1e-11


def adjusted(system: System, chosen: Chosen) -> tuple[System, tuple[Adjustment, ...]]:
    """The system, not assembled, with the chosen data of its joints changed, and the changes.

    Raises
    ------
    ModelError
        For names that are no data of joints.
    AssemblyError
        Where no change of these data closes the loops.
    """
    for attempt in range(ATTEMPTS):
        adjusting = _Adjusting(system, chosen, attempt)
        if adjusting.solved():
            return adjusting.now, adjusting.report()
    names = [d.name for d in adjusting.data]
    few = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    raise AssemblyError(
        f"system '{system.name}': no small change of {few or 'no data'} closes the loops in all poses of their motion, "
        f"{adjusting.worst:.1e} is left; let more data give way (adjust=True), or check the geometry"
    )


class _Adjusting:
    """The changed data and the poses in which the loops shall close."""

    def __init__(self, system: System, chosen: Chosen, attempt: int) -> None:
        self.given = self.now = system
        self.reference = system.state.y
        self.loops = LoopRows(system)
        self.data = data_of(system, chosen, self.loops.length)
        self.values: dict[str, Any] = {d.name: system.joints[d.joint].values[d.part] for d in self.data}
        shares = np.array([d.accuracy / (1.0 if d.kind == "direction" else self.loops.length) for d in self.data])
        scale = shares.max(initial=0.0) or 1.0
        self.accuracy = np.concatenate([np.zeros(0), *(np.full(d.width, d.accuracy / scale) for d in self.data)])
        self.worst = np.inf
        self.rank = rank_beyond(singular_values(self.loops.at(self.reference).D), NEARLY)
        stays = STAYS * scale / shares.min(initial=scale)
        weight = [GUESSED if body.guess else stays for body in system.bodies]
        self.weights = np.repeat(np.array(weight), 6)
        self.poses = [self.reference]
        self.random = np.random.default_rng(attempt)
        self.poses += self._along_the_motion(STEP)

    def _along_the_motion(self, step: float) -> list[Floats]:
        """Poses at steps along the motion, in both directions."""
        y, _, converged = self.loops.closed(self.poses[0], self.rank)
        spectrum = spectrum_of(self.loops.at(y).D)
        free = spectrum.right[self.rank :]
        if not converged or not len(free) or self.rank == min(self.loops.at(y).D.shape[0], len(spectrum.values)):
            return []
        found: list[Floats] = []
        directions = min(len(free), MOST_DIRECTIONS)
        for _ in range(directions):
            direction = free.T @ self.random.standard_normal(len(free))
            for sign in (1.0, -1.0):
                length = step * self.random.uniform(0.7, 1.0)
                found += [
                    pose
                    for pose, _ in self.loops.walk(y, self.rank, sign * direction, length, POSES // (2 * directions))
                ]
        return found

    def solved(self) -> bool:
        """Change the data until the loops close in all poses, also in others than those of the conditions."""
        for _ in range(ROUNDS):
            if not self._conditions_met():
                return False
            others = self._along_the_motion(STEP)
            self.worst = max(self._left(pose) for pose in [self.poses[0], *others])
            if self.worst < EXACT:
                return True
            self.poses += others
        return False

    def _left(self, y: Floats) -> float:
        """Largest violation in a pose, or singular value of the rows that shall be dependent there."""
        rows = self.loops.at(y)
        values = singular_values(rows.D)
        return max(float(np.abs(rows.Phi).max(initial=0.0)), float(values[self.rank :].max(initial=0.0)))

    def _conditions_met(self) -> bool:
        """Change the data until the conditions of all poses are met; true if they are."""
        damping, before = 1.0, (np.inf, self.values, self.poses)
        A, e = self._conditions()
        for _ in range(PASSES):
            self.worst = size = float(np.linalg.norm(e))
            if size < CLOSED:
                return True
            if size < before[0]:
                damping *= LOWERED
                before = size, dict(self.values), list(self.poses)
            else:
                if before[0] < STUCK:
                    return True
                damping *= RAISED
                self._return_to(before[1], before[2])
                A, e = self._conditions()
            left, values, right = np.linalg.svd(A, full_matrices=False)
            step = -right.T @ (values / (values**2 + damping * before[0]) * (left.T @ e))
            if not np.abs(step).max(initial=0.0) < 1.0:
                break
            self._change(step[: len(self.accuracy)] * self.accuracy)
            self.poses[0] = self.loops.moved(self.poses[0], step[len(self.accuracy) :] / self.weights)
            A, e = self._conditions()
        return False

    def _return_to(self, values: dict[str, Any], poses: list[Floats]) -> None:
        self.values, self.poses = dict(values), list(poses)
        self.now = replace_parameters(self.given, self.values)
        self.loops = LoopRows(self.now, self.loops.length)

    def _conditions(self) -> tuple[Floats, Floats]:
        """Matrix and residual of the conditions on scaled changes of the data and of the first pose."""
        first = self.loops.at(self.poses[0])
        B = self._over_data(self.poses[0], first)
        matrix, residual = [np.hstack([B, first.D / self.weights])], [first.Phi]
        for k in range(1, len(self.poses)):
            self.poses[k] = self.loops.closed(self.poses[k], self.rank)[0]
            rows = self.loops.at(self.poses[k])
            N = spectrum_of(rows.D).left[:, self.rank :]
            of_data = N.T @ self._over_data(self.poses[k], rows)
            matrix.append(np.hstack([of_data, np.zeros((len(of_data), len(self.weights)))]))
            residual.append(N.T @ rows.Phi)
        return np.vstack(matrix), np.concatenate(residual)

    def _over_data(self, y: Floats, rows: Rows) -> Floats:
        """Derivatives of the scaled rows over the scaled data (m, columns)."""
        of_joint = {
            k: _slopes(self.now, k, states_with_ground(y), rows.work.x[k].copy(), states_with_ground(self.reference))
            for k in {datum.joint for datum in self.data}
        }
        starts, start = {}, 0
        for k in joints_of(self.now):
            starts[k], start = start, start + len(self.now.joints[k].rows)
        B, column = np.zeros((start, len(self.accuracy))), 0
        for d in self.data:
            block = of_joint[d.joint][:, d.column : d.column + d.width]
            B[starts[d.joint] : starts[d.joint] + len(block), column : column + d.width] = block
            column += d.width
        return B / rows.size[:, None] * self.accuracy

    def _change(self, change: Floats) -> None:
        """Change the data: translations, turns and lengths in axes of the bodies."""
        column = 0
        for d in self.data:
            part = change[column : column + d.width]
            column += d.width
            value = self.values[d.name]
            if d.kind == "direction":
                value = value + np.cross(part, value)
                value = value / np.linalg.norm(value)
            else:
                value = value + (part if d.kind == "point" else float(part[0]))
            self.values[d.name] = value
        self._return_to(self.values, self.poses)

    def report(self) -> tuple[Adjustment, ...]:
        """What has changed."""
        return tuple(_adjustment(d, self.given.joints[d.joint], self.values[d.name]) for d in self.data)


def _slopes(system: System, k: int, states: Floats, x: Floats, reference: Floats) -> Floats:
    """Derivatives of the rows of joint k over all its data, in axes of the bodies; states with that of the ground (n, 13)."""
    joint, t = system.joints[k], system.data
    module, places = joint.module, {"i": int(t.body_i[k]), "j": int(t.body_j[k])}
    now = {side: rotation_matrix(states[place][P:V]) for side, place in places.items()}
    before = {side: rotation_matrix(reference[place][P:V]) for side, place in places.items()}
    carried = [side for _, kind, side in module.VECTORS if kind.startswith("carried")]
    width = sum(3 if any(part == name for name, *_ in module.VECTORS) else 1 for part in module.KEYWORDS)
    slopes = np.zeros((len(joint.rows), width + 3 * len(carried) + module.HELD))
    module.data_slopes.py_func(states[places["i"]], states[places["j"]], x, slopes)
    direct: Floats = slopes[:, :width] @ _turned(module, now, width)
    if not carried and not module.HELD:
        return direct
    x_before = _at_reference(joint, x, now, before)
    derived = np.zeros((slopes.shape[1] - width, width))
    module.reference_slopes.py_func(reference[places["i"]], reference[places["j"]], x_before, derived)
    moved = np.eye(len(derived))
    for n, side in enumerate(carried):
        moved[3 * n : 3 * n + 3, 3 * n : 3 * n + 3] = now[side] @ before[side].T
    return direct + slopes[:, width:] @ moved @ derived @ _turned(module, before, width)


def _turned(module: Any, A: dict[str, Floats], width: int) -> Floats:
    """The rotation of changes of all data of a definition from axes of the bodies into global axes."""
    full, column = np.eye(width), 0
    side = {name: body for name, _, body in module.VECTORS}
    for part in module.KEYWORDS:
        if part in side:
            full[column : column + 3, column : column + 3] = A[side[part]]
        column += 3 if part in side else 1
    return full


def _at_reference(joint: Joint, x: Floats, now: dict[str, Floats], before: dict[str, Floats]) -> Floats:
    """The vectors and constants of a joint in the reference configuration."""
    x = x.copy()
    for n, (_, _, side) in enumerate(joint.module.VECTORS):
        x[3 * n : 3 * n + 3] = before[side] @ now[side].T @ x[3 * n : 3 * n + 3]
    return x


def _adjustment(d: Datum, joint: Joint, used: Any) -> Adjustment:
    given = joint.values[d.part]
    change = float(np.linalg.norm(np.asarray(used) - np.asarray(given)))
    if d.kind == "direction":
        change = 2.0 * float(np.arcsin(min(change / 2.0, 1.0)))
    used = used if d.kind == "length" else tuple(map(float, used))
    return Adjustment(
        d.name,
        given if d.kind == "length" else tuple(map(float, given)),
        used,
        change,
        "rad" if d.kind == "direction" else "m",
    )
