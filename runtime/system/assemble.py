"""Assembly: moving a state onto the constraints, and checking a state against them."""

from __future__ import annotations

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, P, R, V
from runtime.support.arguments import checked
from runtime.support.arrays import Floats, frozen
from runtime.support.checks import finite_number
from runtime.support.errors import AssemblyError
from runtime.support.units import with_unit
from runtime.system.degrees_of_freedom import rows_at
from runtime.system.homotopy import follow_homotopy
from runtime.system.parts import Assembly
from runtime.system.rank import closing_joints, joints_of, lever_arm
from runtime.system.reference import branch_signs
from runtime.system.state import State
from runtime.system.system import System, with_fields


def poses_moved(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Displacement [m] and rotation [rad] of each body between two states (13 bodies,)."""
    a, b = before.reshape(-1, STATE), after.reshape(-1, STATE)
    moves = np.linalg.norm(b[:, R:P] - a[:, R:P], axis=1)
    # The chord between Euler parameters keeps its digits near zero, which the arc cosine of their product does not.
    chords = [min(np.linalg.norm(q - p), np.linalg.norm(q + p)) for p, q in zip(a[:, P:V], b[:, P:V], strict=True)]
    return moves, 4 * np.arcsin(np.clip(np.array(chords) / 2, 0.0, 1.0))


def change(names: tuple[str, ...], before: Floats, after: Floats, iterations: int, residual: float) -> Assembly:
    """Iterations, residual and largest changes of pose between the states before and after an assembly (13 bodies,)."""
    moves, turns = poses_moved(before, after)
    m, n = int(moves.argmax()), int(turns.argmax())
    return Assembly(iterations, residual, float(moves[m]), names[m], float(turns[n]), names[n])


CLOSES_NEARLY = 1e-2  # of a joint's length: a loop that cannot close by less than this may have rounded data
# Largest violation of a given state: the smaller of one in the SI unit of the row and a fraction of the joint's length.
POSITION_TOLERANCE, FRACTION = 1e-6, 1e-4
SMALL = 1e-12  # [SI unit of a row] violations that are not compared with the length of a joint
# Velocities are consistent if |Phi'| of each row is below this fraction of the largest speed (at least 1 m/s or rad/s).
VELOCITY_TOLERANCE = 1e-9


def largest_coordinate(y: Floats) -> float:
    """Largest coordinate of a centre of mass [m] in a state (13 bodies,), 1 m at least."""
    return float(np.abs(y.reshape(-1, STATE)[:, R:P]).max(initial=1.0))


def is_assembled(system: System, time: float, y: Floats, residual: float) -> bool:
    """Whether a state (13 bodies,) whose largest |Phi| is ``residual`` satisfies all rows up to the rounding of coordinates."""
    if residual <= projection.ASSEMBLED:
        return True
    size = largest_coordinate(y)
    if not (np.isfinite(residual) and size > 1.0):
        return False
    Phi = rows_at(system, time, y).Phi
    return all(
        np.abs(Phi[k, r]) <= projection.ASSEMBLED * size**power
        for k, joint in enumerate(system.joints)
        for r, power in zip(range(system.data.rows[k]), joint.module.UNITS, strict=False)
    )


def assembled(system: System, time: float, y: Floats) -> tuple[Floats, int, float]:
    """Return the state moved onto Phi = 0, the number of iterations and the residual.

    Raises
    ------
    AssemblyError
        With the worst row, or the joints that would become mirror images of their reference configuration.
    """
    if not system.joints:
        return y.copy(), 0, 0.0
    work, start = shared_workspace_for(system.data), y
    y, iterations, residual = projection.assemble_positions(time, start, system.data, work)
    if (
        system.drivers
        and not system.overdetermined
        and (not is_assembled(system, time, y, residual) or mirrored(system, time, y))
    ):
        near = follow_homotopy(system, time, start)
        y, iterations, residual = projection.assemble_positions(time, near, system.data, work)
    if not is_assembled(system, time, y, residual):
        residual = projection.worst_row(time, y, system.data, work, False)
        k, r = map(int, work.failed)
        joint = system.joints[k]
        closing = k in closing_joints(system, [*(other for other in joints_of(system) if other != k), k])
        rounded = closing and residual < CLOSES_NEARLY * lever_arm(joint) ** joint.module.UNITS[r]
        advice = (
            "start nearer or check its geometry; a loop that closes to so few digits has rounded data: state them with all "
            "digits, or let build(adjust=True) change them by the least"
        )
        left = with_unit(f"{residual:.1e}", joint.units[r])
        raise AssemblyError(
            f"could not assemble: |Phi| = {left} after {iterations} iterations, worst row "
            f"{system.row_name(k, r)}; {advice if rounded else 'start nearer or check its geometry'}"
        )
    if names := mirrored(system, time, y):
        raise AssemblyError(
            f"joint {' and '.join(repr(name) for name in names)} could only be assembled as the mirror image of the reference "
            "configuration; start nearer"
        )
    return y, iterations, residual


def without_drivers(system: System) -> System:
    """The system with the rows of its joints alone."""
    rows = np.where([bool(joint.signals) for joint in system.joints], 0, system.data.rows)
    return with_fields(system, data=frozen(system.data._replace(rows=rows, redundant=0)))


def assembled_on_joints(system: System, y: Floats) -> Floats:
    """The state moved onto the joints of a system, wherever drivers place the bodies.  Raises AssemblyError."""
    return assembled(without_drivers(system) if system.drivers else system, system.time, y)[0]


def moved_reference(system: System) -> State:
    """The reference configuration of a system with changed joints, moved onto these by the least change.

    Raises
    ------
    AssemblyError
    """
    before = system.reference_configuration
    if not system.drivers:
        return assemble(system, before)
    return State(before.names, assembled_on_joints(system, before.y))


def mirrored(system: System, time: float, y: Floats) -> list[str]:
    """Names of joints with other branch signs than in the reference configuration: mirror images of it."""
    signs = zip(system.joint_names, branch_signs_of(system, time, y), system.branch_signs, strict=True)
    return [name for name, now, reference in signs if any(a * b < 0.0 for a, b in zip(now, reference, strict=True))]


def branch_signs_of(system: System, time: float, y: Floats) -> tuple[tuple[float, ...], ...]:
    """Signs of the expressions that each joint's definition passes to ``keeps_sign``, in a configuration."""
    if not any(joint.module.BRANCH_SIGNS for joint in system.joints):
        return ((),) * len(system.joints)
    work, i, j = rows_at(system, time, y), system.data.body_i, system.data.body_j
    return tuple(
        tuple(map(float, branch_signs(joint, work.state[i[k]], work.state[j[k]], work.x[k])))
        if joint.module.BRANCH_SIGNS
        else ()
        for k, joint in enumerate(system.joints)
    )


def check_velocities(system: System, time: float, y: Floats, remedy: str) -> None:
    """Refuse velocities with D v != nu, naming the worst row."""
    if not system.joints:
        return
    work = shared_workspace_for(system.data)
    worst = projection.worst_row(time, y, system.data, work, True)
    k, r = map(int, work.failed)
    limit = VELOCITY_TOLERANCE * max(1.0, float(np.abs(y.reshape(-1, STATE)[:, V:]).max(initial=0.0)))
    if not worst <= limit:
        raise AssemblyError(
            f"inconsistent initial velocities: |Phi'| = {worst:.1e} {system.joints[k].units[r]}/s in row "
            f"{system.row_name(k, r)}, limit {limit:.0e}; {remedy}"
        )


@checked
def assemble(system: System, state: State, *, time: float | None = None, project_velocities: bool = True) -> State:
    """Move a state onto the constraints of a system by the least change (measured by the kinetic energy).

    Parameters
    ----------
    system : System
    state : State
    time : float [s], optional
        Time at which drivers are evaluated.  Default: ``system.time``.
    project_velocities : bool
        True: make the velocities consistent by the least change.  False: refuse inconsistent velocities.

    Returns
    -------
    State

    Raises
    ------
    ModelError
        For a state of other bodies, and a time that is not finite or outside a signal's span.
    AssemblyError
        Naming the worst row, its value and the remedy.
    """
    system.check_bodies(state)
    time = system.time if time is None else finite_number(time, f"system '{system.name}': time")
    system.check_span(time, time, "assembling")
    y, _, _ = assembled(system, time, state.y)
    if project_velocities:
        y = projection.project_velocities(time, y, system.data, shared_workspace_for(system.data))
    check_velocities(system, time, y, "call runtime.assemble(system, state) to project them onto the constraints")
    return State(state.names, y, state.z)


def check_configuration(system: System, time: float, y: Floats, remedy: str) -> None:
    """Refuse poses with Phi != 0, naming a row."""
    work = shared_workspace_for(system.data)
    if projection.worst_row(time, y, system.data, work, False) <= SMALL:
        return
    size = largest_coordinate(y)
    for k, joint in enumerate(system.joints):
        length = lever_arm(joint)
        for r, power in zip(range(system.data.rows[k]), joint.module.UNITS, strict=False):
            limit = max(min(POSITION_TOLERANCE, FRACTION * length**power), projection.ASSEMBLED * size**power)
            off = abs(float(work.Phi[k, r]))
            if not off <= limit:
                raise AssemblyError(
                    f"the initial configuration violates {system.row_name(k, r)}: |Phi| = "
                    f"{with_unit(f'{off:.1e}', joint.units[r])}, limit {limit:.0e}; {remedy}"
                )


def check_state(system: System, state: State, time: float) -> None:
    """Refuse a state of other bodies than this system's, or one that violates its constraints at a time [s]."""
    system.check_bodies(state)
    if not system.joints:
        return
    check_configuration(system, time, state.y, "pass it through runtime.assemble(system, state)")
    if names := mirrored(system, time, state.y):
        raise AssemblyError(
            f"the initial configuration has joint {' and '.join(repr(name) for name in names)} as the mirror image of the "
            "reference configuration; start from system.state or nearer to it"
        )
    check_velocities(
        system,
        time,
        state.y,
        "pass them through runtime.assemble(system, state), which projects them onto the constraints",
    )
