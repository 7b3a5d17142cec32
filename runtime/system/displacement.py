"""States with other coordinates of joints: the bodies beyond a joint move with it as one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, OMEGA, STATE, P, R, V
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError, unknown_name
from runtime.system.assemble import POSITION_TOLERANCE
from runtime.system.connected import connected
from runtime.system.coupling import in_order
from runtime.system.degrees_of_freedom import rows_at
from runtime.system.joint_motion import (
    JointMotion,
    Pose,
    coordinates,
    moved_pose,
    relative_poses,
    twists,
)
from runtime.system.joint_motion import rates as rates_of
from runtime.system.joint_values import values_of
from runtime.system.orientation import euler_parameters
from runtime.system.reference import body_places, rotation_matrix, states_with_ground
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import products
from runtime.system.unusual_values import ask_about_state

Values = Mapping[str, float]  # by the names of coordinates, such as "ankle.theta_i"


@checked
def displaced(
    system: System,
    angles: Values | None = None,
    rates: Values | None = None,
    *,
    state: State | None = None,
    check_units: bool = True,
) -> State:
    """The state of a system with other coordinates of its joints and other rates of them.

    All bodies on the side of the joint that does not hold the ground move as one; their joints keep coordinates and rates.

    Parameters
    ----------
    system : System
    angles, rates : mapping, optional
        Values by name, such as ``{"ankle.theta_i": 0.2}`` [rad], [m], [rad/s], [m/s]; see ``Run.angles``.
    state : State, optional
        The state to start from.  Default: ``system.state``.
    check_units : bool
        Warn of angles of more than two turns, or of one turn of a joint with a limit, and about rates that no
        material bears, which were probably given in degrees.

    Raises
    ------
    ModelError
        For a coordinate that does not exist, a joint of a closed loop, whose other joints would have to follow, and a joint
        that another one between the same bodies keeps from moving.
    """
    state = system.state if state is None else state
    system.check_bodies(state)
    wanted: dict[str, dict[str, dict[str, float]]] = {}
    for what, given in (("angle", angles or {}), ("rate", rates or {})):
        for name, value in given.items():
            joint, column = coordinate_of(system, name)
            wanted.setdefault(joint, {"angle": {}, "rate": {}})[what][column] = finite_number(value, f"{what} '{name}'")
    if check_units:
        ask_about_state(
            system,
            {f"{part}.{n}": v for part, of in (("angle", angles), ("rate", rates)) for n, v in (of or {}).items()},
        )
    states = states_with_ground(state.y)
    for joint, values in wanted.items():
        before = states.copy()
        _displace(system, system.joint_motions[joint], states, values["angle"], values["rate"])
        _refuse_held(system, joint, before, states)
    if system.couplings:
        _move_followers(system, states, angles or {}, rates or {})
    return State(system.body_names, states[1:].ravel(), state.z)


@checked
def joint_coordinates(system: System, state: State | None = None) -> tuple[dict[str, float], dict[str, float]]:
    """Coordinates of all joints in a state, and their rates, as ``displaced`` takes them.

    Parameters
    ----------
    system : System
    state : State, optional
        Default: ``system.state``.

    Returns
    -------
    angles, rates : dict
        By name, such as "ankle.theta_i" [rad], [m], [rad/s], [m/s].

    Raises
    ------
    ModelError
        For a state of other bodies.
    """
    state = system.state if state is None else state
    system.check_bodies(state)
    return values_of(system.joint_motions, system.body_names, state.y)


def _move_followers(system: System, states: Floats, angles: Values, rates: Values) -> None:
    """Put followers of couplings where their leaders put them, in states (bodies + 1, 13); refuse other values for them."""
    for one in in_order(system.couplings):
        q, u = values_of(system.joint_motions, system.body_names, states[1:].ravel())
        at, rate = (
            {name: given.get(name, own[name]) for name in one.leaders} for given, own in ((angles, q), (rates, u))
        )
        led, slopes, _ = one.derivatives(at)
        wanted = float(led), float(sum(slope * rate[name] for name, slope in zip(one.leaders, slopes, strict=True)))
        for given, value, what in zip((angles, rates), wanted, ("angle", "rate"), strict=True):
            if abs(given.get(one.follower, value) - value) > POSITION_TOLERANCE * max(1.0, abs(value)):
                raise ModelError(
                    f"{what} '{one.follower}' = {given[one.follower]:.9g}, and coupling '{one.name}' has it follow "
                    f"{', '.join(map(repr, one.leaders))} at {value:.9g}; leave it out, or change the leader"
                )
        joint, _, column = one.follower.rpartition(".")
        _displace(system, system.joint_motions[joint], states, {column: wanted[0]}, {column: wanted[1]})


def coordinate_of(system: System, name: str) -> tuple[str, str]:
    """Joint and coordinate of a name such as "ankle.theta_i".  Raises ModelError."""
    joint, _, column = name.rpartition(".")
    motions = system.joint_motions
    if joint not in motions or column not in motions[joint].units:
        known = [f"{motion.joint.name}.{c}" for motion in motions.values() for c in motion.units]
        raise unknown_name(name, known, "coordinate", whose=f"system '{system.name}': ")
    return joint, column


def refuse_closed_loop(system: System, joint: str) -> None:
    """Refuse a joint with coordinates whose values other joints decide, whatever they are.  Raises ModelError."""
    places, ends = body_places(system.body_names), system.joint(joint)
    _beyond(system, joint, places[ends.body_i], places[ends.body_j])


def _displace(system: System, motion: JointMotion, states: Floats, angles: Values, rates: Values) -> None:
    """Change the states (bodies + 1, 13) of the bodies beyond a joint."""
    joint, places = motion.joint, body_places(system.body_names)
    i, j = places[joint.body_i], places[joint.body_j]
    moving, on_j = _beyond(system, joint.name, i, j)
    of_i, of_j = states[i : i + 1], states[j : j + 1]
    poses, columns = relative_poses(of_i, of_j), list(motion.units)
    q, u = coordinates(motion, poses)[0], rates_of(motion, poses, of_i, of_j)[0]
    q = np.array([angles.get(column, value) for column, value in zip(columns, q, strict=True)])
    u = np.array([rates.get(column, value) for column, value in zip(columns, u, strict=True)])
    pose = moved_pose(motion, q)
    v, omega = np.split(twists(motion, Pose(pose.A[None], pose.r[None]))[0] @ u, 2)

    rest, moved = (i, j) if on_j else (j, i)
    before, held = states[moved].copy(), states[rest]
    A_rest, A_before = rotation_matrix(held[P:V]), rotation_matrix(before[P:V])
    if on_j:
        A, r = A_rest @ pose.A, held[R:P] + A_rest @ pose.r
        turning = held[OMEGA:STATE] + A_rest @ omega
        speed = held[V:OMEGA] + np.cross(held[OMEGA:STATE], r - held[R:P]) + A_rest @ v
    else:
        A = A_rest @ pose.A.T
        r = held[R:P] - A @ pose.r
        turning = held[OMEGA:STATE] - A @ omega
        speed = held[V:OMEGA] - np.cross(turning, held[R:P] - r) - A @ v
    by = A @ A_before.T
    own = states[moving]
    arms = own[:, R:P] - before[R:P]
    slips = own[:, V:OMEGA] - before[V:OMEGA] - np.cross(before[OMEGA:STATE], arms)
    own[:, V:OMEGA] = speed + np.cross(turning, arms @ by.T) + slips @ by.T
    own[:, OMEGA:STATE] = turning + (own[:, OMEGA:STATE] - before[OMEGA:STATE]) @ by.T
    own[:, R:P] = r + arms @ by.T
    p = euler_parameters(by, f"turn of joint '{joint.name}'")
    turned = products(np.broadcast_to(p, (len(own), 4)), own[:, P:V])
    own[:, P:V] = turned / np.linalg.norm(turned, axis=1)[:, None]
    states[moving] = own


def _beyond(system: System, joint: str, i: int, j: int) -> tuple[list[int], bool]:
    """The bodies that move with a joint of bodies i and j, and whether j is among them rather than i."""
    places = body_places(system.body_names)
    pairs = [(places[one.body_i], places[one.body_j]) for one in system.joints]
    group = connected(len(places), [pair for pair in pairs if {*pair} != {i, j}])[0]
    if group[i] == group[j]:
        raise ModelError(
            f"joint '{joint}' of system '{system.name}' belongs to a closed loop, in which other joints have to follow; give "
            "poses of bodies, and runtime.assemble moves them onto the joints"
        )
    on_j = group[j] != group[GROUND_INDEX]
    return [body for body, own in enumerate(group) if own == group[j if on_j else i]], on_j


def _refuse_held(system: System, joint: str, before: Floats, after: Floats) -> None:
    """Refuse states in which a joint has moved that another joint of the same bodies keeps from moving."""
    pair = {system.joint(joint).body_i, system.joint(joint).body_j}
    joints = [
        (k, o) for k, o in enumerate(system.joints) if not o.signals
    ]  # drivers are compared where their time is known
    others = [k for k, o in joints if o.name != joint and {o.body_i, o.body_j} == pair]
    if not others:
        return
    rows_of = (rows_at(system, system.time, states[1:].ravel()) for states in (before, after))
    violated = [np.maximum(np.abs(work.Phi), np.abs(work.Phi_dot)) for work in rows_of]  # one after the other
    for k in others:
        rows = len(system.joints[k].rows)
        r = int(violated[1][k, :rows].argmax())
        if violated[1][k, r] > violated[0][k, r] + POSITION_TOLERANCE:
            raise ModelError(
                f"joint '{joint}' of system '{system.name}' cannot have these coordinates and rates: they violate "
                f"{system.row_name(k, r)} between the same bodies by {violated[1][k, r]:.1e}, limit {POSITION_TOLERANCE:.0e}; "
                f"give values that joint '{system.joints[k].name}' allows"
            )
