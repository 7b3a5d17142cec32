"""Derivatives of a run with respect to parameters and the initial state.

The motion and its derivatives are integrated together: by the directional derivative of a whole-model kernel without contacts,
sixteen directions in a batch; else by differences of evaluations, in the coordinates that ``simulate`` takes
(``runtime.integrate.variational.equations``).  The derivatives of the constants of a kernel and of the assembled initial state
with respect to a parameter are differences between systems built at nearby values: central ones for parameters of a System, of
order six for arguments of a function, one-sided where there are systems on one side only (``runtime.analysis.nearby``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.analysis.angle_slopes import NearbyMotions, nearby_motions
from runtime.analysis.nearby import NearbySystems, counting_as, smooth_nearby
from runtime.analysis.nearby_runs import NearbyRuns, Slopes, slopes_of_events
from runtime.analysis.question import Question, question_of
from runtime.analysis.sensitivity_result import Sensitivities
from runtime.dynamics.status import Status
from runtime.integrate.batches import batch
from runtime.integrate.choices import ATOL, AUTO, JOINT, RTOL
from runtime.integrate.constraint_check import violated_row
from runtime.integrate.methods import NONE, NONE2, Compiled
from runtime.integrate.settings import Settings, settings
from runtime.integrate.simulate import simulate
from runtime.integrate.stepwise import Lookout, until_next_look
from runtime.integrate.tree_method import in_joint_coordinates, tree_of
from runtime.integrate.variational.contacts import FINE, GRAZES, ContactDirections
from runtime.integrate.variational.differences import places_for
from runtime.integrate.variational.equations import AlongDirections, Nearby, Varied
from runtime.integrate.variational.kinks import ON_NONE
from runtime.results.run import Run
from runtime.results.whole_turns import WholeTurns
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.progress import reporter
from runtime.system.assemble import moved_reference
from runtime.system.coupling import refuse_couplings
from runtime.system.delays import refuse_delays
from runtime.system.parameters import joints_differ
from runtime.system.quantity import Role
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.variants import with_reference
from runtime.system.whole_model import batch_kernel_of, constants_of, counts_in_rows

ROUGH = 1e-3  # relative error of derivatives of a system from which on a function has none
PORTION = 1024  # steps between which Ctrl-C is seen


@checked
def sensitivities(
    build: System | Callable[..., System],
    given: Mapping[str, Any],
    t_end: float,
    *,
    wrt: str | Sequence[str] | None = None,
    t_eval: ArrayLike | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    alpha: float | None = None,
    beta: float | None = None,
    coordinates: str = AUTO,
    check_units: bool = True,
) -> Sensitivities:
    """Compute a run and its exact derivatives with respect to parameters and the initial state.

    Parameters
    ----------
    build : System, or function
        A function builds the system from its arguments.
    given : mapping
        Arguments of the function; parameters of the system, such as "mass.toes" (``runtime.parameters(system)`` lists them);
        and parts of the initial state, such as "omega.main_foot" (r, p, v or omega of a body), which is moved onto the
        constraints by the least change.  Euler parameters, and directions of a System's joints, keep their length: the
        derivatives are those along the unit sphere.  Inertia is given by its principal moments (3,).  The latitudes of a cone
        cannot vary one by one, because the cone closes; give a function of the latitudes that vary.
    t_end : float [s]
    wrt : names, optional
        The given quantities to differentiate with respect to.  Default: all.  At a bound, such as a damping of 0, the derivative
        is one-sided.
    t_eval : (m,) [s], optional
        Default: the end alone.
    rtol, atol, alpha, beta
        See ``simulate``; the tolerances hold for the derivatives too, whose errors count a tenth.  From 1e-9 on, derivatives by
        parameters of a System have errors of 1e-10 by differences.  Where states of closed loops are projected onto their rows,
        the derivatives are projected onto those of the rows.
    coordinates : "auto", "absolute" or "joint"
        As in ``simulate``.
    check_units : bool
        Of a System: ask about given parameters far from the present ones and about speeds that no body has, which were probably
        given in another unit.

    Returns
    -------
    Sensitivities

    Raises
    ------
    ModelError
        For arguments that break a rule, for values without a system of the same structure on either side, for values at which
        the function that builds the system has a kink or a jump, for motions that come close to a singular pose of closed loops,
        where branches may part with the parameters, and for contacts that only graze their plane.
    """
    question = question_of(build, given, wrt, check_units=check_units)
    found = solve(question, question.row, t_end, t_eval, rtol, atol, alpha, beta, coordinates)
    worst = int(np.argmax(found.argument_errors))
    if found.argument_errors[worst] > ROUGH:
        raise ModelError(
            f"the derivative by {found.names[worst]} at {found.values[worst]:g}: the function that builds the system has a kink "
            f"or a jump there, where its slopes differ by {found.argument_errors[worst]:.1g} of them; choose another value, or "
            "take differences of runs"
        )
    return found


def solve(
    question: Question, row: Floats, t_end: float, t_eval: ArrayLike | None, rtol: float, atol: float,
    alpha: float | None = None, beta: float | None = None, coordinates: str = AUTO, max_steps: int | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Sensitivities:  # fmt: skip
    """Compute the run and its derivatives at a row of values of the question's quantities."""
    system, y = question.system(row)
    refuse_couplings(system, "sensitivities")
    refuse_delays(system, "sensitivities and fits")
    how = settings(
        system, t_end, [t_end] if t_eval is None else t_eval, "dop853", rtol, atol, None, alpha, beta, np.inf, None, max_steps,
        coordinates,
    )  # fmt: skip
    for one in (question.build, system) if isinstance(question.build, System) else ():
        in_joint_coordinates(one, how)  # makes what systems with other values share
    question = question.near(system)
    sizes = question.sizes(row)
    places = _places(system, how)
    nearby = [smooth_nearby(question, system, y, row, k, sizes[k], places) for k in range(len(row))]
    system = counting_as(system, [other for six in nearby for other, _ in six.systems])
    initial = np.array([six.slope([state for _, state in six.systems], y) for six in nearby])
    in_joints = in_joint_coordinates(system, how)
    referenced = _referenced(question, system, nearby)
    if in_joints and referenced.error is not None:
        raise referenced.error
    along = y, nearby, progress
    found = _along_directions(question, how, referenced.own, referenced.nearby, *along) if in_joints else None
    if found is None and not how.projected and (module := _module(nearby)) is not None:
        found = _in_batch(question, module, how, system, y, initial, nearby)
    if found is None:
        others = [[other for other, _ in six.systems] for six in nearby]
        found = _along_directions(question, how, system, others, *along, in_joints=False)
    assert found is not None
    errors = np.array([six.error for six in nearby])
    return Sensitivities(
        referenced.own, question.names, row, np.array(how.t), found.states, found.slopes, found.steps, errors,
        referenced.motions(nearby), found.turns, y, partial(_runs, referenced, nearby, y, how, found),
    )  # fmt: skip


def _places(system: System, how: Settings) -> Floats:
    """Places of differences."""
    return places_for(max(how.rtol, how.atol), kinks=bool(system.data.forces.kink[-1]))


class _Found(NamedTuple):
    """What an integration along directions gives."""

    states: Floats  # (m, 13 bodies)
    slopes: Floats  # (m, 13 bodies, K)
    steps: int
    turns: WholeTurns | None = None
    of_forces: tuple[Floats, Floats] | None = None  # states of forces (m, n), and their derivatives (m, n, K)
    contacts: ContactDirections | None = None
    contact_events: Floats | None = None


def _runs(
    referenced: _Referenced, nearby: Sequence[NearbySystems], y: Floats, how: Settings, found: _Found
) -> NearbyRuns:
    """The run of ``found`` as ``simulate`` returns it, and runs around it."""
    run = _motion(referenced.own, y, how, np.array(how.t))
    if found.contact_events is not None:
        run = replace(run, contact_events=found.contact_events)
    of_forces = np.zeros((len(found.states), 0, found.slopes.shape[2]))
    if found.of_forces is not None:
        run, of_forces = replace(run, _z=found.of_forces[0]), found.of_forces[1]
    slopes = Slopes(found.slopes, of_forces, slopes_of_events(run, found.contacts))
    return NearbyRuns(run, referenced.nearby, [six.weights for six in nearby], slopes)


class _Referenced(NamedTuple):
    """A system and those nearby with reference configurations on the rows of their joints, from which coordinates count."""

    own: System
    nearby: list[list[System]]  # of each quantity
    changing: list[bool]  # whether the quantity may change a motion of a joint
    error: ModelError | None  # why there are none

    def motions(self, nearby: Sequence[NearbySystems]) -> tuple[NearbyMotions, ...] | str:
        """The motions of joints nearby, or why there are none."""
        if self.error is not None:
            return str(self.error)
        others = [systems if changing else [] for systems, changing in zip(self.nearby, self.changing, strict=True)]
        return tuple(nearby_motions(self.own, *pair) for pair in zip(others, nearby, strict=True))


def _referenced(question: Question, system: System, nearby: Sequence[NearbySystems]) -> _Referenced:
    """The systems with reference configurations."""
    changing = [
        quantity.role not in (Role.STATE, Role.COORDINATE) and quantity.owner_sort in ("", "joint")
        for _, quantity in question.components
    ]
    try:
        others = [[_with_reference(question, other) for other, _ in six.systems] for six in nearby]
        return _Referenced(_with_reference(question, system), others, changing, None)
    except ModelError as error:
        return _Referenced(system, [], changing, error)


def _module(nearby: Sequence[NearbySystems]) -> ModuleType | None:
    """The whole-model kernel for batches that serves all nearby systems, if there is one.

    A kernel omits terms that are 0 in the system; in a nearby system they may differ from 0.
    """
    keys = {other.model.key for six in nearby for other, _ in six.systems}
    unknown = any(other.redundant or counts_in_rows(other) for six in nearby for other, _ in six.systems)
    return batch_kernel_of(keys.pop()) if len(keys) == 1 and not unknown else None


def _in_batch(
    question: Question, module: ModuleType, how: Settings, system: System, y: Floats, initial: Floats,
    nearby: Sequence[NearbySystems],
) -> _Found:  # fmt: skip
    """The motion and its derivatives by the whole-model kernel, one derivative in each SIMD lane."""

    def constants(own: System) -> Floats:
        return constants_of(module, own, own.data._replace(alpha=how.alpha, beta=how.beta))

    n, count = len(y), len(initial)
    states = np.hstack([np.tile(y, (count, 1)), initial])
    own = constants(system)
    slopes = [six.slope([constants(other) for other, _ in six.systems], own) for six in nearby]
    both = np.hstack([np.tile(own, (count, 1)), slopes])
    given, found = batch.arguments(how, states, both)
    memory = batch.batch_workspace(system.model.fixed[1:], both.shape[1], directions=True)
    batch.run_until_interrupted(module, "lanes_tangent", memory, *given, *found)
    if (bad := np.flatnonzero(found.status != Status.REACHED_END)).size:
        _fail(system, y, how, question.names[bad[0]], found.reached[bad[0]])
    return _Found(found.out[0, :, :n], np.moveaxis(found.out[:, :, n:], 0, 2), int(found.counts[:, batch.STEPS].max()))


def _along_directions(
    question: Question, how: Settings, system: System, others: Sequence[Sequence[System]], y: Floats,
    nearby: Sequence[NearbySystems], progress: Callable[[float, float], None] | None, *, in_joints: bool = True,
) -> _Found | None:  # fmt: skip
    """The motion and its derivatives as one state; None where joint coordinates fail and were not asked for."""
    data, places = system.data._replace(alpha=how.alpha, beta=how.beta), _places(system, how)
    points = []
    for systems, six in zip(others, nearby, strict=True):
        at = [Nearby(one, state) for one, (_, state) in zip(systems, six.systems, strict=True)]
        points.append((at, six.offsets, six.weights))
    alone = [quantity.role in (Role.STATE, Role.COORDINATE) for _, quantity in question.components]
    varied = Varied(system, data, tree_of(system) if in_joints else None, y, points, alone, places)
    asked, names = not in_joints or how.coordinates == JOINT, ", ".join(question.names)
    if not varied.alike:
        if asked:
            raise ModelError(
                f"the derivative by {names}: systems nearby have other joint coordinates, or the initial state is off the "
                "constraints; use coordinates='absolute'"
            )
        return None
    closed = bool(tree_of(system).closing) if in_joints else how.projected
    m = AlongDirections(varied, data, how.t_start, how.t_end, how.rtol, how.atol, projected=closed)
    out = _rows(m, how, system, y, varied, question.names, progress, closed=closed, needed=asked)
    if out is None:
        return None
    rows, angles = out
    states, slopes = varied.of_bodies(rows)
    if found := violated_row(system, m, np.array(how.t), states, angles, how):
        raise ModelError(Status.CONSTRAINTS_VIOLATED.text(*found))
    of_forces = varied.of_forces(rows, count) if (count := len(data.forces.state_place)) else None
    return _Found(
        states, slopes, m.counts()[1], varied.turns(rows), of_forces, varied.contacts, m.contact_events.copy()
    )


def _with_reference(question: Question, system: System) -> System:
    """The system with a reference configuration on the rows of its joints, where parameters of these were replaced."""
    if not isinstance(question.build, System) or not joints_differ(question.build, system):
        return system
    return with_reference(system, moved_reference(system))


def _rows(
    m: Compiled, how: Settings, system: System, y: Floats, varied: Varied, names: Sequence[str],
    progress: Callable[[float, float], None] | None, *, closed: bool, needed: bool = True,
) -> tuple[Floats, Floats] | None:  # fmt: skip
    """Rows of the integration and angles, as of ``Method.turns``, at the times; None where it fails and is not needed.

    ``closed``: the rows of closed loops hold by projection, and singular poses are refused.
    """
    times = np.array(how.t)
    out = np.full((len(times), len(m.row)), np.nan)
    first = 1 if times[0] == how.t_start else 0
    out[:first] = m.row
    code, steps, lookout = Status.RUNNING, 0, Lookout(how)
    with reporter(progress, how.t_start, how.t_end) as bar:
        while code == Status.RUNNING and steps < how.max_steps:
            if lookout.given_up(steps, m.t) is not None:
                break
            code, _ = m.advance(
                min(PORTION, until_next_look(steps, how.max_steps)), times[first:], out[first:], NONE, NONE2
            )
            steps = m.counts()[1]
            bar.update(m.t)
    what = f"the derivative by {', '.join(names)}"
    if closed and (code == Status.SINGULAR_CONFIGURATION or m.close_to_singular):
        raise ModelError(
            f"{what}: the motion of system '{system.name}' comes close to a singular pose, before t = {m.t:.6g} s, where its "
            "branches may part with the parameters; end the run ahead of it, or take differences of runs"
        )
    on, by = varied.kinks.lost.tolist()
    if on != ON_NONE:
        force = system.forces[int(np.searchsorted(system.data.forces.kink, on, "right")) - 1].name
        raise ModelError(
            f"the derivative by {names[by]}: force '{force}' begins on a kink of its law and stays there, as a muscle whose "
            "activation is its excitation, so that larger and smaller values have derivatives of their own; begin beside the "
            "kink, such as with another activation_0, or take differences of runs to one side"
        )
    lost, k = varied.contacts.lost.tolist()
    if lost != FINE:
        why = "grazes its plane" if lost == GRAZES else "loses and regains its force in quick turns"
        raise ModelError(
            f"{what}: contact '{system.contacts[k].name}' {why} after t = {m.t:.6g} s, where the motion has no derivative; end "
            "the run ahead of it, or take differences of runs"
        )
    if code == Status.REACHED_END:
        return np.ascontiguousarray(out[:, : len(m.y)]), out[:, len(m.y) :]
    if needed:
        _fail(system, y, how, ", ".join(names), m.t)
    return None


def _motion(system: System, y: Floats, how: Settings, t_eval: Floats | None = None) -> Run:
    initial = State(system.body_names, y)
    return simulate(system, how.t_end, initial=initial, t_eval=t_eval, progress=False, **how.keywords)


def _fail(system: System, y: Floats, how: Settings, name: str, reached: float) -> None:
    run = _motion(system, y, how)
    motion = f"; the motion itself: {run.message}" if not run.success else ""
    raise ModelError(f"the derivative by {name} failed at t = {reached:.6g} s{motion}")
