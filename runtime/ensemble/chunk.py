"""A chunk of an ensemble: its cases are built and checked, then run in a batch or one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from runtime.dynamics.derived import energies_of_states
from runtime.dynamics.equations import shared_workspace_for, workspace_for
from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.lift import lift_all, lift_workspace
from runtime.dynamics.limits_along import OF_LIMIT
from runtime.dynamics.projection import project_velocities, worst_of_all
from runtime.dynamics.status import Status, message_at_end
from runtime.ensemble.cases import Cases, row
from runtime.integrate import batch
from runtime.integrate.balance_check import unbalanced_cases
from runtime.integrate.batch_limits import PARAMETERS, BatchLimits, batch_limits, parameters_of_limits
from runtime.integrate.choices import AUTO, JOINT
from runtime.integrate.settings import Settings
from runtime.integrate.simulate import TURNED, simulate
from runtime.integrate.step_control import NO_LIMIT
from runtime.integrate.tree_method import OFF_THE_ROWS, kernel_knows, off_the_rows, scales_of, tree_constants
from runtime.integrate.tree_stages import addresses_of_lanes
from runtime.results.run import Run
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import AssemblyError, ModelError, said_by
from runtime.system.assemble import POSITION_TOLERANCE, VELOCITY_TOLERANCE, assemble, check_state
from runtime.system.quantity import Quantity
from runtime.system.rank import refuse_singular_joints
from runtime.system.spanning_tree import SpanningTree, joint_coordinates, tree_data
from runtime.system.state import PARTS, State
from runtime.system.system import System
from runtime.system.variants import variant
from runtime.system.whole_model import batch_kernel_of, module_of, whole_of

Built = dict[int, tuple[System, Floats]]  # systems and initial states by case


class Stopped(Exception):
    """A chunk was stopped before its end."""


@dataclass(frozen=True)
class Task:
    """Settings common to all cases."""

    system: System | Callable[..., System]
    quantities: Mapping[str, Quantity]  # of the cases, by name
    how: Settings
    assemble: bool  # initial states
    bodies: tuple[str, ...]
    gpu: bool = False
    stop: Ints = field(default_factory=lambda: np.zeros(1, np.int64))  # other than 0: stop; shared by threads only

    @property
    def stored_settings(self) -> dict[str, Any]:
        """Settings of the runs, stored with the results."""
        max_steps = None if self.how.max_steps == NO_LIMIT else self.how.max_steps
        found = asdict(self.how) | {"assemble": self.assemble, "max_steps": max_steps}
        found["equations"] = f"{found.pop('coordinates')} coordinates"  # "coordinates" is an attribute of NetCDF's own
        return found


@dataclass(frozen=True)
class Chunk:
    """Results of cases that were run together."""

    first: int
    states: Floats  # (cases, times, 13 bodies), NaN after a failure
    status: Ints  # (cases,) of ``Status``
    reached: Floats  # (cases,) [s]
    counts: Ints  # (cases, 3) evaluations, steps, rejections
    in_batch: np.ndarray[Any, np.dtype[np.bool_]]  # (cases,)
    messages: dict[int, str]  # of cases that failed or lost accuracy, by case number
    mark: tuple[int, str]  # case number and digest of a system that a function built; "" where there is none


def side_by_side(system: System, how: Settings) -> bool:
    """True if cases of a system can be run in a batch."""
    return bool(_kernel_key(system, how))


def _kernel_key(system: System, how: Settings) -> str:
    """Key of the kernel by which cases of a system are run in a batch; empty where they cannot be."""
    if _in_joint_coordinates(system, how):
        if system.tree is None or not kernel_knows(system):
            return ""
        weight = scales_of(system.tree)[1]
        return " ".join([system.tree.key, *map(str, weight)])  # cases of a batch have the same weights
    alone = how.projected or system.redundant or how.method != "dop853"
    return "" if alone or batch_kernel_of(system.model.key) is None else system.model.key


def _in_joint_coordinates(system: System, how: Settings) -> bool:
    """Whether cases of a system run in joint coordinates."""
    return how.coordinates == JOINT or (how.coordinates == AUTO and kernel_knows(system))


def run_chunk(task: Task, first: int, cases: Cases) -> Chunk:
    """Run some cases, numbered from ``first`` on.

    Raises
    ------
    Stopped
        When ``task.stop`` was set meanwhile.
    """
    count = len(next(iter(cases.values())))
    how = task.how
    built, messages = built_cases(task, first, cases, count)
    chunk = Chunk(
        first, np.full((count, len(how.t or ()), STATE * len(task.bodies)), np.nan), np.full(count, int(Status.REFUSED)),
        np.full(count, np.nan), np.zeros((count, 3), np.int64), np.zeros(count, bool), messages,
        (0, "") if isinstance(task.system, System) else mark_of(built, first),
    )  # fmt: skip
    groups: dict[str, list[int]] = {}
    for own, cases_of in _places({case: own for case, (own, _) in built.items()}):
        groups.setdefault(_kernel_key(own, how), []).extend(cases_of.tolist())
    for key, members in groups.items():
        alone = members if not key else _run_in_batch(key, members, built, task, chunk)
        for case in alone:
            _run_alone(case, *built[case], task, chunk)
    return chunk


def mark_of(built: Built, first: int = 0) -> tuple[int, str]:
    """Number and digest of the first case that was built; cases are numbered from ``first`` on."""
    case = min(built, default=None)
    return (0, "") if case is None else (first + case, digest_of_system(*built[case]))


def digest_of_system(system: System, y: Floats) -> str:
    """Digest of the data of a system, the kernels of its joints and an initial state."""
    joints = [(joint.name, joint.kind, joint.body_i, joint.body_j) for joint in system.joints]
    digest = hashlib.sha256(repr((repr(system), joints, sorted(system.model.made_from.items()))).encode())
    none = np.zeros(0, np.int64)  # addresses differ between processes
    data = system.data._replace(address=none, loads=system.data.loads._replace(address=none))
    digest.update(repr(_bytes(data)).encode())
    digest.update(y.tobytes())
    return digest.hexdigest()[:16]


def _bytes(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_bytes(part) for part in value]
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def built_cases(task: Task, first: int, cases: Cases, count: int) -> tuple[Built, dict[int, str]]:
    """Systems and initial states of the cases that are not refused, and the messages of those that are."""
    system, start = task.system, task.how.t_start
    if isinstance(system, System) and all(task.quantities[name].part in ("v", "omega") for name in cases):
        if not (task.assemble and system.drivers and start != system.time):
            return _many_velocities(system, task, first, cases, count)
    built: Built = {}
    messages: dict[int, str] = {}
    for case in range(count):
        if task.stop[0]:
            raise Stopped
        try:
            own, state = built_case(task, row(cases, case))
            built[case] = own, state.y
        except ModelError as error:
            messages[first + case] = str(error)
    return built, messages


def built_case(task: Task, values: Mapping[str, Any]) -> tuple[System, State]:
    """System and initial state of a case.

    Raises
    ------
    ModelError
        For a case that is refused.
    """
    start = task.how.t_start
    try:
        own, state, moved = variant(task.system, values, task.quantities)
        if own.body_names != task.bodies:
            names, others = ", ".join(own.body_names), ", ".join(task.bodies)
            raise ModelError(f"the bodies of this case are {names}, those of the others {others}; give all the same")
        if state is not own.state or start != own.time or moved:
            state = assemble(own, state, time=start) if task.assemble else _checked(own, state, start)
        if moved and not task.gpu and _in_joint_coordinates(own, task.how):
            own = replace(own, reference=assemble(own, own.reference_configuration))
        if moved:
            refuse_singular_joints(own, state.y)
    except ModelError:
        raise
    except (ArithmeticError, ValueError) as error:  # raised in a library for extreme values
        raise ModelError(f"the system of this case cannot be made: {said_by(error)}") from error
    return own, state


def run_of_case(task: Task, values: Mapping[str, Any]) -> Run:
    """A case by ``simulate``."""
    own, state = built_case(task, values)
    return simulate(own, task.how.t_end, t_eval=task.how.t, initial=state, progress=False, **task.how.keywords)


def _checked(system: System, state: State, time: float) -> State:
    try:
        check_state(system, state, time)
    except AssemblyError as error:
        raise ModelError(f"{error}; simulate_many(..., assemble=True) does so for every case") from None
    return state


def _many_velocities(system: System, task: Task, first: int, cases: Cases, count: int) -> tuple[Built, dict[int, str]]:
    """Systems and initial states, and messages, where only velocities differ: all cases at once."""
    states = np.tile(system.state.y, (count, 1))
    for name, values in cases.items():
        quantity = task.quantities[name]
        o, place = STATE * system.body_index(quantity.owner), PARTS[quantity.part]
        states[:, o + place.start : o + place.stop] = values
    start = task.how.t_start
    if task.assemble:
        states = project_velocities(start, states, system.data, workspace_for(system.data))
    worst = np.zeros((count, 2))
    worst_of_all(start, states, system.data, workspace_for(system.data), worst)
    speed = np.abs(states.reshape(count, -1, STATE)[:, :, V:]).max(axis=(1, 2))
    bad = ~((worst[:, 0] <= POSITION_TOLERANCE) & (worst[:, 1] <= VELOCITY_TOLERANCE * np.maximum(1.0, speed)))
    messages = {}
    for case in np.flatnonzero(bad):
        try:
            _checked(system, State(system.body_names, states[case]), start)
            bad[case] = False
        except ModelError as error:
            messages[first + int(case)] = str(error)
    return {int(case): (system, states[case]) for case in np.flatnonzero(~bad)}, messages


def _run_in_batch(key: str, members: Sequence[int], built: Built, task: Task, chunk: Chunk) -> list[int]:
    """Run cases in a batch; those that failed or came close to a singular configuration, to be run alone for the message."""
    module, s = batch_kernel_of(key.partition(" ")[0]), task.how
    assert module is not None
    states = np.array([built[case][1] for case in members])
    systems = _places({place: built[case][0] for place, case in enumerate(members)})
    in_joints = " " in key  # see ``_kernel_key``
    constants = np.concatenate([np.tile(_constants(own, s, in_joints=in_joints), (len(at), 1)) for own, at in systems])
    constants[np.concatenate([at for _, at in systems])] = constants.copy()
    initial = _in_joints(systems, states) if in_joints else states
    given, results = batch.arguments(s, initial, constants)
    arrays: tuple[Any, ...] = (*given, *results)
    limits: BatchLimits | None = None
    if task.gpu:
        from runtime.integrate import gpu

        gpu.integrate(module, *arrays)
    else:
        first, sizes = systems[0][0], constants.shape[1]
        if in_joints:
            stages = list(addresses_of_lanes(module).values())
            limits = _limits(systems, initial.shape, sizes)
            memory = batch.tree_workspace(stages, sizes, scales_of(_tree(first)), limits)
        else:
            memory = batch.batch_workspace(first.model.fixed[1:], sizes)
        batch.run(module, "lanes", memory, *arrays, task.stop)
        if task.stop[0]:
            raise Stopped
    at, good = np.array(members), results.status == Status.REACHED_END
    if in_joints:
        out, off = _with_signs(_of_bodies(systems, np.concatenate([initial[:, None], results.out], axis=1)), states)
        results, good = results._replace(out=out), good & (off <= OFF_THE_ROWS)
    chunk.states[at[good]], chunk.status[at[good]], chunk.in_batch[at[good]] = (
        results.out[good],
        Status.REACHED_END,
        True,
    )
    chunk.counts[at[good]], chunk.reached[at[good]] = results.counts[good], results.reached[good]
    times, motions = np.append(s.t_start, s.t or ()), np.concatenate([states[:, None], results.out], axis=1)[good]
    work = np.zeros(motions.shape[:2])
    if limits is not None:  # the work of dampers is known at the end
        final = _with_signs(_of_bodies(systems, np.stack([initial, limits.final], axis=1)), states)[0]
        times, motions = np.array([s.t_start, s.t_end]), np.concatenate([states[:, None], final], axis=1)[good]
        work = np.outer(limits.work[good], [0.0, 1.0])
    _say_unbalanced(at[good], times, motions, work, built, task, chunk)
    return at[~good].tolist()  # type: ignore[no-any-return]


def _places(systems: Mapping[int, System]) -> list[tuple[System, Ints]]:
    """Each system once, with its keys."""
    found: dict[int, tuple[System, list[int]]] = {}
    for place, system in systems.items():
        found.setdefault(id(system), (system, []))[1].append(place)
    return [(system, np.array(places)) for system, places in found.values()]


def _in_joints(systems: Sequence[tuple[System, Ints]], states: Floats) -> Floats:
    """Coordinates and rates of the trees of systems, (cases, n), in states of their bodies (cases, 13 bodies)."""
    z = np.empty((len(states), len(scales_of(_tree(systems[0][0]))[0])))
    for system, at in systems:
        z[at] = joint_coordinates(_tree(system), system.body_names, system.joint_motions, states[at])
    return z


def _of_bodies(systems: Sequence[tuple[System, Ints]], z: Floats) -> Floats:
    """States of the bodies (cases, times, 13 bodies) for coordinates and rates of their trees (cases, times, n)."""
    cases, times, n = z.shape
    out = np.empty((cases, times, STATE * len(systems[0][0].bodies)))
    for system, at in systems:
        lifted = np.empty((len(at) * times, out.shape[2]))
        lift_all(
            tree_data(_tree(system), system.gravity),
            lift_workspace(len(_tree(system).kinds)),
            z[at].reshape(-1, n),
            lifted,
        )
        out[at] = lifted.reshape(len(at), times, -1)
    return out


def _with_signs(lifted: Floats, states: Floats) -> tuple[Floats, Floats]:
    """Lifted states (cases, 1 + times, 13 bodies) after the first, with the signs of the Euler parameters of the given ones.

    Also how far the first ones are off the given ones.
    """
    own, given = (y.reshape(*y.shape[:-1], -1, STATE) for y in (lifted, states))
    signs = np.where(np.einsum("cbp,cbp->cb", own[:, 0, :, P:V], given[..., P:V]) < 0.0, -1.0, 1.0)
    own[..., P:V] *= signs[:, None, :, None]
    return lifted[:, 1:], off_the_rows(lifted[:, 0], states)


def _say_unbalanced(
    cases: Ints, times: Floats, motions: Floats, work: Floats, built: Built, task: Task, chunk: Chunk
) -> None:
    """Messages of cases of a batch whose energy changes by more than the tolerance explains.

    motions (cases, n, 13 bodies) at times (n,), work (cases, n) of all sources until then.
    """
    for own, places in _places({place: built[case][0] for place, case in enumerate(cases.tolist())}):
        at, states = cases[places], motions[places]
        flat = states.reshape(-1, states.shape[2])
        energies = energies_of_states(
            np.zeros(len(flat)), flat, np.zeros((0, 4)), own.data, shared_workspace_for(own.data)
        )
        of_case = energies.reshape(*states.shape[:2], -1)
        found = unbalanced_cases(own.data, task.how, chunk.counts[at, 1], times, of_case, work[places])
        for k, remark in found.items():
            chunk.messages[chunk.first + int(at[k])] = message_at_end(task.how.t_end) + remark


def _limits(systems: Sequence[tuple[System, Ints]], shape: tuple[int, ...], constants: int) -> BatchLimits | None:
    """Limits of cases, whose states have this shape."""
    limits = _tree(systems[0][0]).limits
    if not limits:
        return None
    given = np.empty((shape[0], len(limits), PARAMETERS))
    for system, at in systems:
        given[at] = parameters_of_limits(_tree(system).limits, system.data.limits)
    return batch_limits(limits, shape[1], constants - OF_LIMIT * len(limits), given)


def _tree(system: System) -> SpanningTree:
    assert system.tree is not None
    return system.tree


def _constants(system: System, s: Settings, *, in_joints: bool) -> Floats:
    if in_joints:
        tree = _tree(system)
        module = module_of(tree.key)
        assert module is not None
        return tree_constants(tree, system.gravity, module)
    whole = whole_of(system, system.data._replace(alpha=s.alpha, beta=s.beta))
    assert whole is not None
    return whole.constants


def _run_alone(case: int, system: System, y: Floats, task: Task, chunk: Chunk) -> None:
    """Run one case by ``simulate``."""
    s, reached = task.how, task.how.t_start

    def report(t: float, end: float) -> None:
        nonlocal reached
        if task.stop[0]:
            raise KeyboardInterrupt
        reached = t

    try:
        run = simulate(system, s.t_end, t_eval=s.t, initial=State(system.body_names, y), progress=report, **s.keywords)
    except ModelError as error:
        chunk.messages[chunk.first + case] = str(error)
        return
    if run.status == Status.INTERRUPTED:
        raise Stopped
    chunk.states[case, : len(run.states)] = run.states
    chunk.status[case] = run.status
    chunk.reached[case] = reached
    chunk.counts[case] = run.stats.evaluations, run.stats.steps, run.stats.rejections or 0
    if run.message.partition(TURNED)[0] != message_at_end(s.t_end):  # reason of a failure, or loss of accuracy
        chunk.messages[chunk.first + case] = run.message
