"""A system from its checked parts: connected to the ground, assembled, of full rank, with consistent velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.support.arguments import unchecked
from runtime.support.arrays import Floats, frozen
from runtime.support.errors import AssemblyError, ModelError
from runtime.system.adjustable import Chosen
from runtime.system.adjusting import adjusted
from runtime.system.assemble import (
    assembled,
    assembled_on_joints,
    branch_signs_of,
    change,
    check_configuration,
    check_velocities,
    without_drivers,
)
from runtime.system.checked_start import checked_start
from runtime.system.connected import connected
from runtime.system.coordinate_steps import step_of
from runtime.system.coupling import whose_couplings
from runtime.system.data_building import Parts, model_data
from runtime.system.displacement import Values, displaced
from runtime.system.load_building import motors_in
from runtime.system.model_writing import definitions_of
from runtime.system.muscle_start import in_equilibrium_at
from runtime.system.parts import Adjustment, Assembly, Body, Joint
from runtime.system.rank import (
    refuse_singular_joints,
    refuse_singular_motors,
    with_redundant_rows_named,
)
from runtime.system.reference import body_places, states_by_name
from runtime.system.remarks import (
    beyond_limits,
    changed_velocities,
    impossible_inertias,
    locked,
    moved_bodies,
    opposite_axes,
    with_light_guesses,
)
from runtime.system.state import State
from runtime.system.system import System, with_fields
from runtime.system.trees import trees_of
from runtime.system.unusual_values import ask_about_values


def build_system(
    name: str, parts: Parts, gravity: Floats, y: Floats, time: float, redundant: str, project_velocities: bool | None,
    adjust: Chosen = False, check_units: bool = True, angles: Values | None = None, rates: Values | None = None,
) -> System:  # fmt: skip
    """Assemble parts from the given states y (13 bodies,) and check the whole; see ``Builder.build``.

    Raises
    ------
    ModelError, AssemblyError
    """
    _refuse_disconnected(name, parts.bodies, parts.joints)
    definitions_of(parts)  # refuses two of one name
    adjustments: tuple[Adjustment, ...] = ()
    system = _not_assembled(name, parts, gravity, y, time, fit=redundant == "fit")
    if check_units:
        ask_about_values(system, angles or {}, rates or {})
    system.check_span(time, time, "the initial configuration is taken")
    _refuse_singular(system, y)
    if adjust:
        system, adjustments = adjusted(system, adjust)
    placed, iterations, residual = _moved(system, time, y, redundant)
    start, displaces = placed, bool(angles or rates or system.couplings)
    reference = _reference(system, y, placed) if displaces or system.drivers else None
    system = _with_constants_of(system, parts, y, placed if reference is None else reference.y)
    _refuse_unknown_coordinates(system)
    if displaces:
        system = replace(system, reference=reference)
        start = displaced(system, angles, rates, state=State(system.body_names, placed), check_units=False).y
        if system.drivers:
            check_configuration(
                system, time, start, "leave out angles of joints that drivers move, or change their signals"
            )
        refuse_singular_joints(system, start)
    system, singular = with_redundant_rows_named(system, start, redundant)
    lock = locked(system, start)
    remarks = [
        *impossible_inertias(system.bodies),
        *_on_poses(system, y, placed, reference),
        *opposite_axes(system, start),
        *lock,
    ]
    if project_velocities or (project_velocities is None and (system.drivers or adjust)):
        before = y
        if displaces:
            placed = _projected(system, time, placed)
            remarks += changed_velocities(system, y, placed)
            before = start = _in_motion(system, time, placed, angles, rates, strict=project_velocities is None)
        start = _projected(system, time, start)
        remarks += changed_velocities(system, before, start)
        remedy = "the rows contradict each other, and no velocities satisfy them; change the signals of drivers, or the joints"
    else:
        remedy = lock[0] if lock else "make them consistent, or build(project_velocities=True)"
    system = in_equilibrium_at(system, start)
    system = checked_start(system, start, singular, remarks, remedy)
    remarks += beyond_limits(system, start)  # such a start may be meant: without a warning
    rank, names = int(system.data.rows.sum()) - len(system.redundant), system.body_names
    assembly = change(names, y, placed if displaces else start, iterations, residual)
    return with_fields(
        system, state=State(names, start), reference=reference, rank=rank,
        degrees_of_freedom=6 * len(names) - rank - len(system.couplings),
        assembly=replace(assembly, remarks=tuple(remarks), adjustments=adjustments),
    )  # fmt: skip


def _refuse_singular(system: System, y: Floats) -> None:
    """Refuse a given configuration y (13 bodies,) in which a joint or a motor is singular."""
    refuse_singular_joints(system, y)
    refuse_singular_motors(system, y)


def _moved(system: System, time: float, y: Floats, redundant: str) -> tuple[Floats, int, float]:
    """The state y moved onto the constraints, bodies of first guesses before others; iterations and residual."""
    try:
        start, iterations, residual = assembled(with_light_guesses(system), time, y)
    except AssemblyError:
        if system.drivers:
            with_redundant_rows_named(system, y, redundant)  # the better message where drivers contradict each other
        raise
    if iterations:
        _refuse_singular(system, start)
    return start, iterations, residual


def _projected(system: System, time: float, y: Floats) -> Floats:
    """The state y with the velocities that the constraints allow."""
    return projection.project_velocities(time, y, system.data, shared_workspace_for(system.data))


def _in_motion(
    system: System, time: float, y: Floats, angles: Values | None, rates: Values | None, *, strict: bool
) -> Floats:
    """The state y, whose velocities drivers allow, with other coordinates and rates; ``strict``: which drivers allow, too."""
    moving = displaced(system, angles, rates, state=State(system.body_names, y), check_units=False).y
    if rates and system.drivers and strict:
        remedy = "leave out rates of joints that drivers move, or change their signals"
        check_velocities(system, time, moving, remedy)
    return moving


def _reference(system: System, y: Floats, placed: Floats) -> State:
    """The reference configuration of given poses y: on the joints alone, wherever drivers have placed the bodies."""
    if system.drivers:
        try:
            placed = assembled_on_joints(with_light_guesses(system), y)
        except AssemblyError:  # of poses that only the fit of the drivers brings together
            if not system.overdetermined:
                raise
    return State(system.body_names, placed)


def _with_constants_of(system: System, parts: Parts, y: Floats, reference: Floats) -> System:
    """The system whose motors, limits and forces are as given in the reference configuration, which was computed from y.

    The constants that joints hold are those of y, which decide where the joints are.
    """
    stays = np.array_equal(y, reference) and system.joints is parts.joints
    if stays or not (parts.motors or parts.limits or parts.forces):
        return system
    states = states_by_name(reference, system.body_names)
    parts = parts._replace(motors=motors_in(parts.motors, system.joints, states))
    anew = model_data(parts, system.gravity, reference, fit=system.overdetermined)
    data = system.data._replace(loads=anew.loads, limits=anew.limits, forces=anew.forces)
    return with_fields(system, motors=parts.motors, data=frozen(data), _made_of=())


def _on_poses(system: System, y: Floats, start: Floats, reference: State | None) -> list[str]:
    """Remarks on bodies that joints have moved; what drivers have moved is meant to move."""
    if np.array_equal(y, start):
        return []
    if not system.drivers or system.overdetermined or reference is None:
        return moved_bodies(system, y, start)
    return moved_bodies(without_drivers(system), y, reference.y)


def _not_assembled(name: str, parts: Parts, gravity: Floats, y: Floats, time: float, *, fit: bool) -> System:
    """A system in its reference configuration y, before assembly and checks."""
    system = unchecked(
        System, **parts._asdict(), name=name, gravity=gravity, time=time, state=State(tuple(b.name for b in parts.bodies), y),
        assembly=Assembly(0, 0.0, 0.0, "", 0.0, ""), degrees_of_freedom=0, rank=0, redundant=(), overdetermined=fit,
        branch_signs=(), data=model_data(parts, gravity, y, fit=fit),
    )  # fmt: skip
    return with_fields(system, branch_signs=branch_signs_of(system, time, y))


def _refuse_unknown_coordinates(system: System) -> None:
    """Refuse couplings and armature that are not along coordinates of the tree, and of systems without one."""
    if not (system.couplings or system.armatures):
        return
    trees = trees_of(system)
    if trees.tree is None:
        raise ModelError(f"{whose_couplings(system)} joint coordinates know, and it has none: {trees.reason}")
    for coupling in system.couplings:
        for name in coupling.coordinates:
            step_of(f"coupling '{coupling.name}'", name, system.joint_motions, trees.tree)


def _refuse_disconnected(name: str, bodies: Sequence[Body], joints: Sequence[Joint]) -> None:
    places = body_places(body.name for body in bodies)
    group = connected(len(places), [(places[joint.body_i], places[joint.body_j]) for joint in joints])[0]
    held = {group[0], *(group[places[body.name]] for body in bodies if body.free)}
    loose = [body.name for body in bodies if group[places[body.name]] not in held]
    if loose:
        raise ModelError(
            f"system '{name}': no chain of joints leads from {', '.join(repr(n) for n in loose)} to the ground; "
            "add a joint, or pass free=True for a body that may float"
        )
