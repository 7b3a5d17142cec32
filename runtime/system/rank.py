"""Detection of singular joints, singular poses, redundant rows and infinite forces, with messages that name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.elimination import CHOICES
from runtime.dynamics.equations import derivative_once, shared_workspace_for
from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import FRICTION, GROUND_INDEX
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import RANK_TOLERANCE
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats, frozen
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.connected import connected
from runtime.system.degrees_of_freedom import dense_rows, null_space, row_places, rows_at, undriven
from runtime.system.joint_friction import reason_of_friction
from runtime.system.parts import Joint
from runtime.system.system import System

JOINT_RANK_TOLERANCE = 3e-5  # relative singular value below which the rows of one joint alone are dependent
LEAST_GRADIENT = JOINT_RANK_TOLERANCE  # largest entry of that of a motor's coordinate; up to its inverse
TAKES_PART = 1e-6  # part of a combination of rows that vanishes, above which a row belongs to it
NEARBY = 0.05  # [m, rad] distance of a nearby configuration, where rows that depend on others only here are independent


def refuse_singular_joints(system: System, y: Floats) -> None:
    """Refuse joints whose own rows are dependent in this configuration."""
    if not system.joints:
        return
    work = rows_at(system, system.time, y)
    for k, joint in enumerate(system.joints):
        D = work.D[k, : len(joint.rows)].copy()
        if system.data.body_i[k] == GROUND_INDEX:
            D[:, :6] = 0.0
        if system.data.body_j[k] == GROUND_INDEX:
            D[:, 6:] = 0.0
        # Rotations are scaled by the joint's lever arm, so that translations and rotations are comparable.
        length = lever_arm(joint)
        D[:, [3, 4, 5, 9, 10, 11]] /= length
        size = np.linalg.norm(D, axis=1)
        natural = np.array([length ** (n - 1) for n in joint.module.UNITS])
        vanished = [joint.rows[r] for r in range(len(size)) if not np.inf > size[r] > JOINT_RANK_TOLERANCE * natural[r]]
        singular = _where_singular(joint.module)
        if vanished:
            raise ModelError(
                f"{_sort(joint)} '{joint.name}' ({joint.kind}): row {', '.join(vanished)} vanishes in this configuration and "
                f"constrains nothing{singular}; start from another configuration, or use another {_sort(joint)}"
            )
        values = np.linalg.svd(D / size[:, None], compute_uv=False)
        if values[-1] <= JOINT_RANK_TOLERANCE:
            raise ModelError(
                f"{_sort(joint)} '{joint.name}' ({joint.kind}): its rows {', '.join(joint.rows)} are dependent in this "
                f"configuration (rank {int((values > JOINT_RANK_TOLERANCE).sum())} of {len(values)}){singular}; start from "
                f"another configuration, or use another {_sort(joint)}"
            )


def refuse_singular_motors(system: System, y: Floats) -> None:
    """Refuse motors whose coordinate has no gradient in this configuration."""
    if not system.motors:
        return
    work, t = rows_at(system, system.time, y), system.data.loads
    x = np.array(t.x)
    rotate_vectors.py_func(t.vector_motor, t.vector_place, t.vector_body, t.vector_local, work.A, x)
    for k, motor in enumerate(system.motors):
        joint, D = motor.joint, np.zeros((1, 12))
        with np.errstate(all="ignore"):
            try:
                python_code(joint.module.jacobian)(work.state[t.body_i[k]], work.state[t.body_j[k]], x[k], D)
            except ZeroDivisionError:
                D[:] = np.nan
        if not LEAST_GRADIENT < float(np.abs(D).max()) < 1.0 / LEAST_GRADIENT:
            singular = _where_singular(joint.module)
            raise ModelError(
                f"motor '{motor.name}' ({joint.kind}): its coordinate has no gradient in this configuration{singular}; start "
                "from another one"
            )


def _where_singular(module: Any) -> str:
    """Where a definition is singular, for messages: as its docstring says, or as codegen derived it from its motion."""
    if module.SINGULAR:
        return f"; it is singular {module.SINGULAR}"
    derived = [getattr(module, name, "") for name in ("DEPENDENT_COORDINATES", "DEPENDENT_ROWS")]
    conditions = [one for one in derived if "=" in one]  # others state that there is a dependence, not where
    return f"; it is singular where {' or '.join(conditions)}" if conditions else ""


def _sort(joint: Joint) -> str:
    return "driver" if joint.signals else "joint"


def lever_arms(joint: Joint, given: Mapping[str, Floats]) -> Floats:
    """Characteristic length of a joint with values of each case, (cases,) or (1,)."""
    values = {key: given[key] if key in given else np.asarray(value)[None] for key, value in joint.values.items()}
    sizes = [np.linalg.norm(values[name], axis=1) for name, kind, _ in joint.module.VECTORS if kind == "point"]
    sizes += [np.abs(values[name]) for name, power in joint.module.PARAMETERS if power == 1]
    longest: Floats = np.max(np.broadcast_arrays(np.zeros(1), *sizes), axis=0)
    return np.where(longest > 0.0, longest, 1.0)


def _lever_arm(joint: Joint) -> float:
    """Characteristic length of a joint [m]: its longest lever arm or constant."""
    return float(lever_arms(joint, {})[0])


lever_arm = Latest(_lever_arm, 64)  # building a system asks for it several times


def joints_of(system: System) -> list[int]:
    """Indices of the joints that are no drivers."""
    return [k for k, joint in enumerate(system.joints) if not joint.signals]


def closing_joints(system: System, which: Sequence[int]) -> list[int]:
    """Those joints of these indices whose bodies earlier ones connect already: they close loops."""
    pairs = zip(system.data.body_i[list(which)].tolist(), system.data.body_j[list(which)].tolist(), strict=True)
    return [which[k] for k in connected(len(system.bodies) + 1, pairs)[1]]


def singular_values(D: Floats) -> Floats:
    """Singular values of D (rows, columns), descending."""
    return np.linalg.svd(D, compute_uv=False).astype(float)


def dependent_rows(system: System, data: ModelData, y: Floats, length: float) -> list[tuple[int, int]]:
    """Joint and row of the rows that depend on others in a configuration; as many as are missing from the rank.

    The rank comes from singular values.  Elimination row by row then says which rows to leave out; it starts with those that
    leave the others by large angles, since small pivots raise the rounding of those after them.
    """
    work = shared_workspace_for(data)
    found = projection.dependent_rows(system.time, y, data, work, length, RANK_TOLERANCE)
    which = [k for k in range(len(system.joints)) if data.rows[k]]
    if not closing_joints(system, which):
        return found
    drivers = None if any(system.joints[k].signals for k in which) else False
    scale = np.tile([1.0] * 3 + [1.0 / length] * 3, len(system.bodies))
    D = dense_rows(system, rows_at(system, system.time, y, data).D, drivers) * scale
    values = singular_values(D / np.linalg.norm(D, axis=1, keepdims=True))
    missing = len(D) - int((values > RANK_TOLERANCE**0.5).sum())
    for tolerance in CHOICES:
        if len(found) == missing:
            break
        found = projection.dependent_rows(system.time, y, data, work, length, tolerance)
    return found


def with_redundant_rows_named(system: System, y: Floats, redundant: str) -> tuple[System, tuple[str, ...]]:
    """Name redundant rows or refuse them; also names of the rows that are dependent in this configuration alone, if any.

    Of a closed loop in such a singular pose the redundant rows are those of a configuration nearby.
    """
    length = max(lever_arm(joint) for joint in system.joints) if system.joints else 1.0
    dependent = dependent_rows(system, system.data, y, length)
    if not dependent:
        return system, ()
    if system.drivers:
        of_joints = system.data._replace(rows=np.where([bool(j.signals) for j in system.joints], 0, system.data.rows))
        among = dependent_rows(system, of_joints, y, length)
        if len(among) < len(dependent):
            raise ModelError(_doubly_driven(system, y))
        dependent = among
    names = [system.row_name(k, r) for k, r in dependent]
    singular: tuple[str, ...] = ()
    nearby = projection.nearby_configuration(system.time, y, system.data, shared_workspace_for(system.data), NEARBY)
    if len(lasting := dependent_rows(system, system.data, nearby, length)) < len(dependent):
        kept = {system.row_name(k, r) for k, r in lasting}
        singular = tuple(name for name in names if name not in kept) or tuple(names)
        if not closing_joints(system, joints_of(system)):
            raise ModelError(
                f"system '{system.name}': the initial configuration is singular, {', '.join(names)} depend on other rows here "
                "but not nearby; start from another configuration"
            )
        if not lasting:
            return replace(system, data=frozen(system.data._replace(closed=1))), singular
        dependent, names = lasting, [system.row_name(k, r) for k, r in lasting]
    if redundant == "refuse":
        raise ModelError(
            f"system '{system.name}' is over-constrained: {', '.join(names)} repeat other rows; use joints that leave them out, "
            'or build(redundant="keep"), which satisfies all rows and leaves the reactions of the joints concerned undetermined'
        )
    data = frozen(system.data._replace(closed=1, redundant=len(dependent)))
    return replace(system, data=data, redundant=tuple(names)), singular


def _doubly_driven(system: System, y: Floats) -> str:
    """Message on drivers that drive motions already excluded or driven, and on undriven degrees of freedom."""
    D = dense_rows(system, rows_at(system, system.time, y).D)
    # The linear combinations of rows that vanish show which rows depend on each other.
    shares = np.linalg.norm(null_space(D.T), axis=1)
    places = zip(row_places(system), shares, strict=True)
    names = [system.row_name(k, r) for (k, r), share in places if system.joints[k].signals and share > TAKES_PART]
    missing = undriven(system, system.time, y, D)
    also = f"; undriven: {', '.join(missing)}" if missing else ""
    return (
        f"system '{system.name}' is doubly driven: {', '.join(names)} drive motions that other drivers drive or joints exclude"
        f"{also}; leave a driver out, or build_overdetermined() for runtime.kinematics, which meets the drivers by least squares"
    )


def refuse_infinite_forces(system: System, time: float, y: Floats) -> None:
    """Refuse a force that is not finite, or a friction that is not determined, in a state y."""
    if not system.forces:
        return
    work = shared_workspace_for(system.data)
    work.chosen[0] = 0  # the rows are chosen anew
    if derivative_once(time, y, system.data, work, np.empty_like(y)) & FRICTION:
        raise ModelError(f"{reason_of_friction(system, work)}; at t = {time:g} s")
    for k, force in enumerate(system.forces):
        bad = np.flatnonzero(~np.isfinite(work.forces.out[k, : REPORTS + len(force.outputs)]))
        if len(bad):
            names = [f"force and moment on body {force.ends[n]}" for n in range(4) for _ in range(6)]
            names += ["potential", "rate of the potential", *force.outputs]
            singular = f"; it is singular {force.module.SINGULAR}" if force.module.SINGULAR else ""
            raise ModelError(
                f"force '{force.name}' ({force.kind}): its {names[bad[0]]} is {work.forces.out[k, bad[0]]} at t = {time:g} s"
                f"{singular}; start from another configuration, or check its values"
            )
