"""Parameters of ``written.tree_forces``: of one system, and of many cases that differ in geometry and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from runtime.dynamics.force_elements import ForceData
from runtime.dynamics.layout import GROUND_INDEX, P, V
from runtime.integrate.written.acting_forces import (
    OF_BODY,
    OF_PIECE,
    OF_STEP,
    ActingForces,
    ActingKernel,
    Rows,
    acting_forces,
)
from runtime.integrate.written.contact_parameters import put_contact, takes_value_of_contact
from runtime.support.arrays import Floats
from runtime.system.joint_cases import constants_of_cases
from runtime.system.parts import Force
from runtime.system.quantity import EFFORT, MOTOR_PARTS
from runtime.system.reference import rotation_matrices, states_with_ground
from runtime.system.system import System
from runtime.system.tree_geometry import Geometry
from runtime.system.trees import trees_of

# Sort ("force", "motor" or "contact") and name -> parameter or point -> values of cases, (cases,) or (cases, 3), which have
# ``takes_values`` and are ``allowed``.
Values = Mapping[tuple[str, str], Mapping[str, Floats]]
NONE: Values = MappingProxyType({})


def parameters_of_forces(system: System) -> Floats:
    """Parameters (P,) of all that acts on a system with ``known_forces``."""
    tree = trees_of(system).of_joints
    assert tree is not None
    found: Floats = parameters_of_cases(system, tree.geometry)[0]
    return found


def parameters_of_cases(system: System, where: Geometry, own: Values = NONE) -> Floats:
    """Parameters (cases, P) of many cases of a system, one row where all have the same; where: of each case, or one of all."""
    return parameters_of_acting(system, acting_forces(system), system.forces, system.data.forces, where, own)


def parameters_of_acting(
    system: System, acting: ActingForces, forces: Sequence[Force], t: ForceData, where: Geometry, own: Values = NONE
) -> Floats:
    """``parameters_of_cases`` of what acts on a system, or of events in it, with these forces and their data."""
    rows = Rows(acting)
    cases = [len(values) for of in own.values() for values in of.values()]
    found = np.zeros((max([len(where.axis), *cases]), rows.count))
    for number in acting.constants:
        found[:, rows.of("signal", number)] = system.data.signals.coefficient[system.data.signals.start[number], 0]
    ways, arms = where.ways(acting.parents), where.arms(acting.body_step)
    for step in acting.steps():
        o = rows.of("step", step)
        found[:, o : o + 3], found[:, o + 3 : o + OF_STEP] = where.axis[:, step], ways[:, step]
    turned = {GROUND_INDEX: np.eye(3)[None]}
    for body in acting.bodies():
        o, p = rows.of("body", body), where.pose[:, body - 1, P:V]
        found[:, o : o + 3], found[:, o + 3 : o + OF_BODY] = arms[:, body - 1], p
        turned[body] = rotation_matrices(p)
    for k, motor in enumerate(acting.motors):
        o, given = rows.of("motor", k), own.get(("motor", system.motors[k].name), {})
        if EFFORT in given:
            found[:, rows.of("signal", motor.effort)] = given[EFFORT]
        _put_motor(system, k, motor, given, found[:, o : o + motor.parameters + len(MOTOR_PARTS)], turned)
    for k, force in enumerate(acting.forces):
        o = rows.of("force", k)
        given = own.get(("force", forces[k].name), {})
        _put_force(system, k, force, (forces[k], t), given, found[:, o : o + force.parameters], turned)
        for n, (_, pieces) in enumerate(force.tables):
            o = rows.of("table", k, n)
            found[:, o : o + OF_PIECE * pieces] = _table(t, k, n).ravel()
    for k, contact in enumerate(acting.contacts):
        o, given = rows.of("contact", k), own.get(("contact", system.contacts[k].name), {})
        put_contact(system, k, contact, given, found[:, o : o + contact.rows.count], turned)
    return found


def values_at_start(system: System, parameters: Floats) -> tuple[Floats, Floats]:
    """Initial values of states of forces (cases or 1, states), and angles before in the reference configuration [rad].

    They are among the parameters of cases.
    """
    acting = acting_forces(system)
    rows = Rows(acting)
    sorts = ("force", acting.forces), ("motor", acting.motors)
    of = [(rows.of(sort, k), kernel) for sort, kernels in sorts for k, kernel in enumerate(kernels)]
    states = [first + place for first, kernel in of for place, _ in kernel.states]
    return parameters[:, states], parameters[:, [first + place for first, kernel in of for place in kernel.angles]]


def takes_values(system: System, sort: str, owner: str, part: str) -> bool:
    """Whether ``parameters_of_cases`` takes values of a parameter of a motor, force or contact; of no direction and no table."""
    if sort == "contact":
        return takes_value_of_contact(system, owner, part)
    if sort == "motor":
        motor = system.motors[system.motor_names.index(owner)]
        if part == EFFORT:
            return motor.effort.is_constant
        return part in MOTOR_PARTS and (part != "stiffness" or motor.winds or motor.joint.module.UNITS[0] != 0)
    if sort != "force":
        return False
    module = system.forces[system.force_names.index(owner)].module
    points = [name for name, kind, _ in module.VECTORS if kind == "point" and name in module.KEYWORDS]
    return part in points or part in dict(module.PARAMETERS)


def _put_motor(
    system: System, k: int, motor: ActingKernel, given: Mapping[str, Floats], to: Floats, turned: Mapping[int, Floats]
) -> None:
    """Put the numbers of a motor into ``to`` (cases, numbers)."""
    t = system.data.loads
    for c, (part, gains) in enumerate(zip(MOTOR_PARTS, (t.stiffness, t.damping), strict=True)):
        to[:, motor.parameters + c] = given.get(part, gains[k])
    to[:, : motor.parameters] = t.x[k, : motor.parameters]
    _put_vectors(motor, list(t.vector_local[t.vector_motor == k]), to, turned)


def _put_force(
    system: System, k: int, force: ActingKernel, of: tuple[Force, ForceData], given: Mapping[str, Floats], to: Floats,
    turned: Mapping[int, Floats],
) -> None:  # fmt: skip
    """Put the numbers of a force into ``to`` (cases, numbers); ``of``: the force, and the data of all."""
    element, t = of
    if given:
        ends = list(states_with_ground(system.reference_configuration.y)[list(force.bodies[: t.bodies[k]])])
        x, found = constants_of_cases(element, given, ends, (t.x.shape[1], len(to)))
        to[:], local = x[: to.shape[1]].T, list(found.values())
    else:
        to[:] = t.x[k, : to.shape[1]]
        local = list(t.vector_local[t.vector_force == k])
    _put_vectors(force, local, to, turned)


def _put_vectors(kernel: ActingKernel, local: Sequence[Floats], to: Floats, turned: Mapping[int, Floats]) -> None:
    """Put vectors, given in axes of their bodies (3,) or (3, cases or 1), into their places in global axes."""
    for (place, body), vector in zip(kernel.vectors, local, strict=True):
        to[:, place : place + 3] = (turned[body] @ np.reshape(vector, (3, -1)).T[..., None])[..., 0]


def _table(t: ForceData, k: int, n: int) -> Floats:
    """Knots and coefficients of a table of a force, (pieces, 6)."""
    call = int(t.call[k]) + n
    pieces = slice(int(t.start[call]), int(t.start[call + 1]))
    return np.column_stack([t.knot[pieces], t.coefficient[pieces]])
