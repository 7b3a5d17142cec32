"""Kinematic analysis and inverse dynamics: the motion from the drivers, and the forces and moments it requires."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.analysis.motion import Motion
from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for, workspace_for
from runtime.dynamics.layout import OMEGA, STATE, V
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.status import Status
from runtime.integrate.contact_events import find_contact_events
from runtime.jit.python_code import python_code
from runtime.results.run import Run
from runtime.results.stats import Stats
from runtime.results.undecided_turns import remark_on_turns
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.checks import increasing_times, not_negative
from runtime.support.errors import AssemblyError, ModelError, unknown_name
from runtime.support.progress import reporter
from runtime.support.stopwatch import Stopwatch
from runtime.system.assemble import assembled, mirrored
from runtime.system.connection import connection, definition
from runtime.system.coupling import refuse_couplings
from runtime.system.degrees_of_freedom import dense_rows, row_places, rows_at, solutions, stacked, undriven
from runtime.system.delays import refuse_delays
from runtime.system.force_states import refuse_states
from runtime.system.parts import GROUND
from runtime.system.reference import body_places, reference, states_with_ground
from runtime.system.state import State
from runtime.system.system import System

MAX_FIT_STEPS = 50
FIT_TOLERANCE = 1e-11  # [m], [rad] largest change of a body in the last step of the search
MAX_STEP = 0.5  # [rad], [m] of one step of the search
RANK = 1e-7  # ratio of singular values below which drivers leave a degree of freedom undriven
# Relative to the smallest singular value of D in a regular configuration: 3e-5 rad from losing a direction
SINGULAR = 3e-5

ANALYSED = "configurations"  # of the progress bar


@checked
def kinematics(
    system: System, t: ArrayLike, *, initial: State | None = None, weights: Mapping[str, float] | None = None
) -> Motion:
    """Positions, velocities and accelerations of all bodies from the drivers of a system.

    With as many drivers' rows as degrees of freedom, the configurations are found by Newton's method, and the result includes
    multipliers, forces and moments, as that of ``inverse_dynamics``.  A system of ``Builder.build_overdetermined`` has more
    rows: its
    joints are met exactly and its drivers by least squares, at each level: positions, then velocities, then accelerations.

    Parameters
    ----------
    system : System
    t : (n,) [s]
        Increasing times, within the span of all signals.
    initial : State, optional
        Start of the search for the first configuration.  Default: ``system.state``.  Each later search starts from the state
        extrapolated by the velocities.
    weights : mapping, optional
        Weights of a least-squares fit: driver's name -> weight of its rows.  Default: 1.

    Returns
    -------
    Motion

    Raises
    ------
    ModelError
        For an undriven degree of freedom, by its name, and for times outside the span of a signal.
    AssemblyError
        Where the drivers cannot be met, with the time and the worst row.
    """
    times = increasing_times(t, "t", single=True)
    system.check_span(float(times[0]), float(times[-1]), "analysing")
    refuse_couplings(system, "kinematics")
    refuse_states(system, "kinematics")
    refuse_delays(system, "kinematics")
    start = system.state if initial is None else initial
    system.check_bodies(start)
    watch = Stopwatch()
    y = start.y.copy()
    data = system.data._replace(alpha=0.0, beta=0.0)
    residual, fitted = np.zeros(len(times)), None
    if system.overdetermined:
        scale = _weights(system, weights)
        states, fitted, residual = _along(times, y, lambda time, ahead, _: _fit(system, time, ahead, scale))
    elif weights:
        raise ModelError("weights belong to a least-squares fit; use Builder.build_overdetermined")
    else:
        states = _driven_states(system, times, y, data)
    contact_events = (
        find_contact_events(times, states, data, workspace_for(system.data)) if system.contacts else np.zeros((0, 4))
    )
    unknown = remark_on_turns(system, float(times[0]), states[0], times, states, "kinematics", of_tree=False)
    wall_time, compile_time = watch.times()
    stats = Stats(
        "kinematics", len(times), len(times), None, wall_time, 0.0, 0.0, "joint by joint", compile_time=compile_time
    )
    return Motion(
        system=system, data=data, t=times, states=states, final=State(system.body_names, states[-1].copy()),
        status=Status.REACHED_END, message=f"{len(times)} configurations{unknown}", stats=stats, events={}, event_states={},
        contact_events=contact_events, residual=residual, fitted=fitted,
    )  # fmt: skip


def _along(times: Floats, y: Floats, search: Callable[[float, Floats, Floats], Sequence[Any]]) -> list[Floats]:
    """What a search finds at each time, its state first, from the state extrapolated from the one before, and from that one."""
    found: list[Sequence[Any]] = []
    with reporter(None, 0.0, len(times), ANALYSED) as bar:
        for n, time in enumerate(times):
            ahead = _extrapolated(y, time - times[n - 1]) if n else y
            found.append(search(float(time), ahead, y))
            y = found[-1][0]
            bar.update(n + 1)
    return [np.array(of) for of in zip(*found, strict=True)]


def _driven_states(system: System, times: Floats, y: Floats, data: ModelData) -> Floats:
    """States of a system with as many drivers' rows as degrees of freedom, from the state ``y`` on."""
    _refuse_undriven(system)
    smallest = _refuse_singular(system, system.time, system.state.y, 0.0)

    def search(time: float, ahead: Floats, last: Floats) -> tuple[Floats]:
        nonlocal smallest
        try:
            y = _configuration(system, time, ahead, last)
            smallest = _refuse_singular(system, time, y, smallest)
        except AssemblyError as error:
            raise AssemblyError(f"at t = {time:g} s: {error}") from None
        return (projection.project_velocities(time, y, data, shared_workspace_for(system.data)),)

    return _along(times, y, search)[0]


@checked
def inverse_dynamics(system: System, t: ArrayLike, *, initial: State | None = None) -> Motion:
    """The forces and moments that a driven motion requires: kinematics, multipliers, reactions, efforts of the drivers.

    For any system with as many drivers' rows as degrees of freedom; loads, motors and joint limits are included.

    Parameters
    ----------
    system : System
    t : (n,) [s]
        Increasing times, within the span of all signals.
    initial : State, optional
        Start of the search for the first configuration.  Default: ``system.state``.

    Returns
    -------
    Motion
        ``degrees_of_freedom``, ``driven``, ``joint_load(...)``, ``lam``, and the other attributes of a ``Run``.

    Raises
    ------
    ModelError, AssemblyError
        As ``kinematics``; and for a system with more drivers' rows than degrees of freedom, or with a singular configuration.
    """
    motion = kinematics(system, t, initial=initial)
    motion._solved  # noqa: B018  raises where the forces are undetermined
    return motion


@checked
def coordinate(
    run: Run, kind: str | ModuleType, body: str, other: str = GROUND, *, rate: bool = False, **values: ArrayLike
) -> Floats:
    """A coordinate that a driver can prescribe, measured along a run: its values (n,) without jumps, or its rates (n,).

    Parameters
    ----------
    run : Run
    kind : str or module
        Kind of a driver of one coordinate, such as "guided_angle" or "guided_link".
    body, other : str
        Bodies of the driver.
    rate : bool
        Return the rate of the coordinate.
    **values
        Vectors of the driver, as for ``Builder.driver``.

    Raises
    ------
    ModelError
        For a kind of driver that prescribes more than one coordinate, and for vectors as ``Builder.driver`` refuses them.
    """
    module = definition("coordinate", str(kind), kind)
    if not module.COORDINATE:
        raise ModelError(f"coordinate of kind '{module.NAME}': that driver drives no single coordinate")
    system = run.system
    zero = {module.SIGNALS[0]: 0.0}
    joint = connection("coordinate", module.NAME, module, body, other, {**values, **zero}, system.body_names)
    n = len(run.t)
    states = [states_with_ground(y) for y in run.states]
    places = body_places(system.body_names)
    side = {"i": places[body], "j": places[other]}
    A = {s: run.rotations(name) for s, name in (("i", body), ("j", other))}
    Phi, Phi_dot, D, gamma = np.zeros(1), np.zeros(1), np.zeros((1, 12)), np.zeros(1)
    start = states_with_ground(system.reference_configuration.y)
    own = np.zeros(module.SIZE)
    local = reference(joint, start[side["i"]], start[side["j"]], own)
    x = np.tile(own, (n, 1))
    for k, (name, _, owner) in enumerate(module.VECTORS):
        x[:, 3 * k : 3 * k + 3] = A[owner] @ local[name]
    found = np.empty(n)
    for k in range(n):
        python_code(module.evaluate)(states[k][side["i"]], states[k][side["j"]], x[k], Phi, Phi_dot, D, gamma)
        found[k] = Phi_dot[0] if rate else Phi[0]
    return found if rate or module.UNITS[0] != 0 else np.unwrap(found)


def _extrapolated(y: Floats, h: float) -> Floats:
    """The state after a time h [s] at constant velocities."""
    rows = y.reshape(-1, STATE)
    u = np.zeros((len(rows) + 1, 6))
    u[1:] = rows[:, V : OMEGA + 3]
    moved = np.empty_like(y)
    projection.move(y, u, h, moved)
    return moved


def _configuration(system: System, time: float, ahead: Floats, last: Floats) -> Floats:
    """The configuration at a time, searched from the extrapolated state; if that fails, from the last state."""
    try:
        return assembled(system, time, ahead)[0]
    except AssemblyError:
        return assembled(system, time, last)[0]


def _refuse_singular(system: System, time: float, y: Floats, reference: float) -> float:
    """Refuse a configuration in which the rows of joints and drivers are linearly dependent.

    Compares the smallest singular value of D with ``reference``, that of a regular configuration; returns the larger of both.
    """
    D = dense_rows(system, rows_at(system, time, y).D)
    left, sizes, _ = np.linalg.svd(D)
    smallest = float(sizes[-1])
    if not smallest > SINGULAR * reference:
        k, r = row_places(system)[int(np.abs(left[:, -1]).argmax())]
        joint = system.joints[k]
        singular = f", which is singular {joint.module.SINGULAR}" if joint.module.SINGULAR else ""
        raise AssemblyError(
            f"singular configuration: row {system.row_name(k, r)} ({joint.kind}{singular}) drives nothing here; use a driver "
            "that is not singular there, such as guided_angle, guided_link or guided_orientation"
        )
    return max(smallest, reference)


def _refuse_undriven(system: System) -> None:
    if system.degrees_of_freedom == 0:
        return
    time, y = system.time, system.state.y
    names = undriven(system, time, y, dense_rows(system, rows_at(system, time, y).D))
    raise ModelError(
        f"system '{system.name}': {system.degrees_of_freedom} degree{'s' if system.degrees_of_freedom > 1 else ''} of freedom "
        f"undriven: {', '.join(names)}; add a driver for each"
    )


def _weights(system: System, weights: Mapping[str, float] | None) -> Floats:
    if not isinstance(weights, Mapping | None):
        raise ModelError(f"weights = {weights!r}: give a mapping from drivers' names to numbers")
    given = dict(weights or {})
    for name, weight in given.items():
        if name not in system.driver_names:
            raise unknown_name(name, system.driver_names, "driver", whose="weights: ")
        not_negative(weight, f"weights: {name}")
    parts = [np.full(len(j.rows), np.sqrt(given.get(j.name, 1.0))) for j in system.drivers]
    return np.concatenate([np.zeros(0), *parts])


def _fit(system: System, time: float, y: Floats, scale: Floats) -> tuple[Floats, Floats, float]:
    """State, accelerations and residual with the joints met exactly and the drivers by least squares; Gauss-Newton method."""
    work, data = workspace_for(system.data), system.data
    u = np.zeros((len(system.bodies) + 1, 6))
    used = scale > 0.0

    def solve(wanted_joints: Floats, wanted_drivers: Floats) -> Floats:
        joints, drivers = dense_rows(system, work.D, False), dense_rows(system, work.D, True)[used]
        fixed, free = solutions(joints, wanted_joints)
        seen = drivers @ free
        sizes = np.linalg.svd(seen, compute_uv=False)
        if len(sizes) < free.shape[1] or not sizes[-1] > RANK * sizes[0]:
            rows = np.concatenate([joints, drivers])
            names = ", ".join(undriven(system, time, y, rows))
            raise ModelError(f"system '{system.name}': undriven at t = {time:g} s: {names}; add a driver for it")
        rest = wanted_drivers[used] - drivers @ fixed
        weight = scale[used]
        return fixed + free @ np.linalg.lstsq(weight[:, None] * seen, weight * rest, rcond=None)[0]

    moved = np.empty_like(y)
    for _ in range(MAX_FIT_STEPS):
        projection.worst_row(time, y, data, work, False)
        step = solve(-stacked(system, work.Phi, False), -stacked(system, work.Phi, True))
        largest = float(np.abs(step).max(initial=0.0))
        u[1:] = step.reshape(-1, 6)
        projection.move(y, u, min(1.0, MAX_STEP / largest) if largest > 0.0 else 1.0, moved)
        y, moved = moved, y
        if largest < FIT_TOLERANCE:
            break
    else:
        raise AssemblyError(
            f"could not fit the drivers at t = {time:g} s: the last of {MAX_FIT_STEPS} steps still moved {largest:.1e}, limit "
            f"{FIT_TOLERANCE:g}; start nearer (initial=...), or check which driver drives which body"
        )
    if names := mirrored(system, time, y):
        raise AssemblyError(
            f"joint {' and '.join(repr(name) for name in names)} was fitted as the mirror image of its reference configuration "
            f"at t = {time:g} s; start nearer (initial=...)"
        )
    bodies = y.reshape(-1, STATE)
    bodies[:, V : OMEGA + 3] = 0.0
    projection.worst_row(time, y, data, work, False)
    residual = float(np.sqrt(np.mean(stacked(system, work.Phi, True) ** 2)))
    # With v = 0 the rates of the rows are -nu.
    velocities = solve(-stacked(system, work.Phi_dot, False), -stacked(system, work.Phi_dot, True))
    bodies[:, V : OMEGA + 3] = velocities.reshape(-1, 6)
    projection.worst_row(time, y, data, work, False)
    accelerations = solve(stacked(system, work.gamma, False), stacked(system, work.gamma, True))
    return y, accelerations, residual
