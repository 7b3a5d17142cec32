"""Parameters of ``runtime.integrate.tree_forces``: of one system, and of many cases that differ in geometry and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from runtime.dynamics.force_elements import ForceData
from runtime.dynamics.layout import GROUND_INDEX, P, V
from runtime.integrate.acting_forces import OF_BODY, OF_PIECE, OF_STEP, ActingKernel, Rows, acting_forces
from runtime.integrate.contact_parameters import allowed_values_of_contact, put_contact, takes_value_of_contact
from runtime.support.arrays import Bools, Floats
from runtime.support.numbers import LARGEST
from runtime.system.connection import Bounds
from runtime.system.parts import Force
from runtime.system.quantity import MOTOR_PARTS
from runtime.system.reference import reference, rotation_matrices, states_with_ground
from runtime.system.system import System
from runtime.system.tree_geometry import Geometry

# Sort ("force", "motor" or "contact") and name of the owner -> name of the parameter -> its values, (cases,) or (cases, 3).
Values = Mapping[tuple[str, str], Mapping[str, Floats]]
NO_VALUES: Values = MappingProxyType({})


def parameters_of_forces(system: System) -> Floats:
    """Parameters (P,) of all that acts on a system with ``known_forces``."""
    assert system.tree is not None
    found: Floats = parameters_of_cases(system, system.tree.geometry)[0]
    return found


def parameters_of_cases(system: System, where: Geometry, values: Values = NO_VALUES) -> Floats:
    """Parameters (cases, P) of many cases of a system, one row where all have the same.

    Parameters
    ----------
    where : Geometry
        Of each case, or one of all.
    values : mapping
        Of parameters by name that cases have of their own, each with ``takes_values`` and allowed by ``allowed_values``.
    """
    acting, tree = acting_forces(system), system.tree
    assert tree is not None
    rows = Rows(acting)
    counts = [len(where.axis), *(len(given) for own in values.values() for given in own.values())]
    found = np.zeros((max(counts), rows.count))
    ways, arms = where.ways(tree.parents), where.arms(tree.body_step)
    for step in acting.steps():
        o = rows.of("step", step)
        found[:, o : o + 3], found[:, o + 3 : o + OF_STEP] = where.axis[:, step], ways[:, step]
    turned = {GROUND_INDEX: np.eye(3)[None]}
    for body in acting.bodies():
        o, p = rows.of("body", body), where.pose[:, body - 1, P:V]
        found[:, o : o + 3], found[:, o + 3 : o + OF_BODY] = arms[:, body - 1], p
        turned[body] = rotation_matrices(p)
    for k, motor in enumerate(acting.motors):
        o = rows.of("motor", k)
        _put_motor(system, k, motor, values, found[:, o : o + motor.parameters + len(MOTOR_PARTS)], turned)
    for k, force in enumerate(acting.forces):
        o = rows.of("force", k)
        _put_force(system, k, force, values, found[:, o : o + force.parameters], turned)
        for n, (_, pieces) in enumerate(force.tables):
            o = rows.of("table", k, n)
            found[:, o : o + OF_PIECE * pieces] = _table(system.data.forces, k, n).ravel()
    for k, contact in enumerate(acting.contacts):
        o, own = rows.of("contact", k), values.get(("contact", system.contacts[k].name), {})
        put_contact(system, k, contact, own, found[:, o : o + contact.rows.count], turned)
    return found


def takes_values(system: System, sort: str, owner: str, part: str) -> bool:
    """Whether ``parameters_of_cases`` takes values of a parameter of a motor, force or contact; of no direction and no table."""
    if sort == "contact":
        return takes_value_of_contact(system, owner, part)
    if sort == "motor":
        return part in MOTOR_PARTS
    if sort != "force":
        return False
    module = system.forces[system.force_names.index(owner)].module
    points = [name for name, kind, _ in module.VECTORS if kind == "point" and name in module.KEYWORDS]
    return part in points or part in dict(module.PARAMETERS)


def allowed_values(system: System, sort: str, owner: str, part: str, values: Floats) -> Bools:
    """Which of the values (cases,) or (cases, 3) of a parameter with ``takes_values`` break no rule, (cases,)."""
    if sort == "contact":
        return allowed_values_of_contact(system, owner, part, values)
    bounds: Bounds = (0.0, False, None, "")
    if sort == "force":
        module = system.forces[system.force_names.index(owner)].module
        bounds = module.BOUNDS.get(part) or (None, False, None, "")
    low, excluded, high, _ = bounds
    with np.errstate(invalid="ignore"):
        allowed: Bools = np.abs(values) <= LARGEST
        if low is not None:
            allowed &= values > low if excluded else values >= low
        if high is not None:
            allowed &= values <= high
    return np.asarray(allowed.reshape(len(values), -1).all(axis=1))


def _put_motor(
    system: System, k: int, motor: ActingKernel, values: Values, to: Floats, turned: Mapping[int, Floats]
) -> None:
    """Put the numbers of a motor into ``to`` (cases, numbers)."""
    t, own = system.data.loads, values.get(("motor", system.motors[k].name), {})
    to[:, : motor.parameters] = t.x[k, : motor.parameters]
    _put_vectors(motor, list(t.vector_local[t.vector_motor == k]), to, turned)
    for c, (part, gains) in enumerate(zip(MOTOR_PARTS, (t.stiffness, t.damping), strict=True)):
        to[:, motor.parameters + c] = own.get(part, gains[k])


def _put_force(
    system: System, k: int, force: ActingKernel, values: Values, to: Floats, turned: Mapping[int, Floats]
) -> None:
    """Put the numbers of a force into ``to`` (cases, numbers)."""
    t, own = system.data.forces, values.get(("force", system.forces[k].name), {})
    if own:
        x, local = _with_values(system, k, system.forces[k], own, len(to))
        to[:] = x[: to.shape[1]].T
    else:
        to[:] = t.x[k, : to.shape[1]]
        local = list(t.vector_local[t.vector_force == k])
    _put_vectors(force, local, to, turned)


def _with_values(
    system: System, k: int, force: Force, own: Mapping[str, Floats], cases: int
) -> tuple[Floats, list[Floats]]:
    """The numbers x (X, cases) of a force with values of its own, and its vectors in axes of their bodies, (cases, 3) or (3,).

    Constants are those of the reference configuration of the system, as ``replace_parameters`` computes them.
    """
    values = {
        key: np.reshape(value, (3, 1)) if np.shape(value) == (3,) else value for key, value in force.values.items()
    }
    changed = replace(force, values=MappingProxyType(values | {key: value.T for key, value in own.items()}))
    t, states = system.data.forces, states_with_ground(system.reference_configuration.y)
    ends = [states[b] for b in t.body[k, : t.bodies[k]]]
    x = np.zeros((force.module.SIZE, cases))
    local = reference(changed, ends[0], ends[1], x, *ends[2:])
    return x, [np.reshape(local[name], (3, -1)).T for name, *_ in force.module.VECTORS]


def _put_vectors(kernel: ActingKernel, local: Sequence[Floats], to: Floats, turned: Mapping[int, Floats]) -> None:
    """Put vectors, given in axes of their bodies, into their places in global axes."""
    for (place, body), vector in zip(kernel.vectors, local, strict=True):
        to[:, place : place + 3] = (turned[body] @ vector[..., None])[..., 0]


def _table(t: ForceData, k: int, n: int) -> Floats:
    """Knots and coefficients of a table of a force, (pieces, 6)."""
    call = int(t.call[k]) + n
    pieces = slice(int(t.start[call]), int(t.start[call + 1]))
    return np.column_stack([t.knot[pieces], t.coefficient[pieces]])
