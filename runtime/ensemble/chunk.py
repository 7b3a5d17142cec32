"""A chunk of an ensemble: its cases are built and checked, then run in SIMD lanes or one after another in compiled code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runtime.dynamics.derived import energies_of_states
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.status import Status, message_at_end
from runtime.ensemble.at_once import run_at_once
from runtime.ensemble.built_at_once import run_built
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.compiled_cases import run_compiled
from runtime.ensemble.joint_batch import (
    given_limits,
    in_joints,
    integrate,
    memory_of_batch,
    of_bodies,
    turns_in_lanes,
    with_signs,
)
from runtime.ensemble.kept_outputs import BatchQuantities, columns_of_batch, columns_of_run, same_coordinates
from runtime.ensemble.named_cases import run_named
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.ensemble.velocities import only_velocities, states_with_velocities
from runtime.integrate.balance_check import energies_of_motions, unbalanced_cases, weight_of
from runtime.integrate.batches import batch
from runtime.integrate.batches.limits import BatchLimits
from runtime.integrate.endings import TURNED
from runtime.integrate.settings import Settings
from runtime.integrate.simulate import simulate
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    in_joint_coordinates,
    lanes_know,
    scales_of,
    tree_constants,
    tree_of,
)
from runtime.results.run import Run
from runtime.results.undecided_turns import perhaps_undecided, remark_on_turns
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import AssemblyError, ModelError, said_by
from runtime.system.assemble import assemble, check_state, moved_reference
from runtime.system.rank import refuse_singular_joints
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.variants import variant, with_reference
from runtime.system.whole_model import batch_kernel_of, whole_of

Built = dict[int, tuple[System, Floats]]  # systems and initial states by case


def side_by_side(system: System, how: Settings) -> bool:
    """True if cases of a system can be run in a batch."""
    return bool(_kernel_key(system, how))


def _kernel_key(system: System, how: Settings) -> str:
    """Key of the kernel by which cases of a system are run in a batch; empty where they cannot be."""
    if in_joint_coordinates(system, how):
        if system.tree is None or not lanes_know(system):
            return ""
        weight = scales_of(system.tree)[1]
        return " ".join([system.tree.key, *map(str, weight)])  # cases of a batch have the same weights
    alone = how.projected or system.redundant or how.method != "dop853"
    return "" if alone or batch_kernel_of(system.model.key) is None else system.model.key


def run_chunk(task: Task, first: int, cases: Cases) -> Chunk:
    """Run some cases, numbered from ``first`` on.

    Raises
    ------
    Stopped
        When ``task.stop`` was set meanwhile.
    """
    count = len(next(iter(cases.values())))
    how = task.how
    chunk = Chunk(
        first, np.full((count, *task.kept_shape), np.nan), np.full(count, int(Status.REFUSED)),
        np.full(count, np.nan), np.zeros((count, 3), np.int64), np.zeros(count, bool), {}, (0, ""),
    )  # fmt: skip
    left = run_at_once(task, cases, chunk)
    if left is None and not (isinstance(task.system, System) and side_by_side(task.system, how)):
        left = run_named(task, cases, chunk)
    if left is not None:
        built = built_cases(task, chunk, cases, left)
        _run_each(list(built), built, task, chunk)
        return chunk
    if isinstance(task.system, System):
        built = built_cases(task, chunk, cases, range(count))
    else:
        known = run_built(task, cases, chunk)
        left = sorted({*range(count)} - {*known.done})
        built = built_cases(task, chunk, cases, left, known.systems)
        firsts = built_cases(task, chunk, cases, known.done[:1], known.systems)
        chunk = replace(chunk, mark=mark_of(built | firsts, first))
    groups: dict[str, list[int]] = {}
    for own, cases_of in _places({case: own for case, (own, _) in built.items()}):
        groups.setdefault(_kernel_key(own, how), []).extend(cases_of.tolist())
    for key, members in groups.items():
        _run_each(_run_in_batch(key, members, built, task, chunk) if key else members, built, task, chunk)
    return chunk


def _run_each(cases: Sequence[int], built: Built, task: Task, chunk: Chunk) -> None:
    """Run cases that no vector instructions serve: in compiled code, and those with more to say by ``simulate``."""
    for case in run_compiled(cases, built, task, chunk):
        _run_alone(case, *built[case], task, chunk)


def mark_of(built: Built, first: int = 0) -> tuple[int, str]:
    """Number and digest of the first case that was built; cases are numbered from ``first`` on."""
    case = min(built, default=None)
    return (0, "") if case is None else (first + case, digest_of_system(*built[case]))


def digest_of_case(task: Task, values: Mapping[str, Any]) -> str:
    """Digest of the system and the initial state of a case; "" for one that is refused."""
    try:
        own, state = built_case(task, values)
    except ModelError:
        return ""
    return digest_of_system(own, state.y)


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


def built_cases(
    task: Task, chunk: Chunk, cases: Cases, wanted: Sequence[int], systems: Mapping[int, System] | None = None
) -> Built:
    """Systems and initial states of the wanted cases that are not refused; the messages of those that are go to the chunk.

    ``systems``: those that the function has built already, by case.
    """
    if len(wanted) and only_velocities(task, cases):
        return _with_velocities(task, chunk, cases, wanted)
    built: Built = {}
    for case in wanted:
        if task.stop[0]:
            raise Stopped
        try:
            own, state = built_case(task, row(cases, case), (systems or {}).get(case))
            built[case] = own, state.y
        except ModelError as error:
            chunk.messages[chunk.first + case] = str(error)
    return built


def built_case(task: Task, values: Mapping[str, Any], system: System | None = None) -> tuple[System, State]:
    """System and initial state of a case; ``system``: that of its arguments, where the function has built it.

    Raises
    ------
    ModelError
        For a case that is refused.
    """
    start = task.how.t_start
    try:
        own, state, moved = variant(
            task.system if system is None else system, values, task.quantities, start, assembled=task.assemble
        )
        if own.body_names != task.bodies:
            names, others = ", ".join(own.body_names), ", ".join(task.bodies)
            raise ModelError(f"the bodies of this case are {names}, those of the others {others}; give all the same")
        as_reference = state is own.state and own.reference is None and task.assemble
        if state is not own.state or start != own.time or moved:
            state = assemble(own, state, time=start) if task.assemble else _checked(own, state, start)
        if moved:
            own = with_reference(own, state if as_reference else moved_reference(own))
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


def _with_velocities(task: Task, chunk: Chunk, cases: Cases, wanted: Sequence[int]) -> Built:
    """As ``built_cases``, where only velocities differ: all cases at once."""
    system, start = task.system, task.how.t_start
    assert isinstance(system, System)
    states, good = states_with_velocities(task, {name: values[list(wanted)] for name, values in cases.items()})
    built: Built = {}
    for case, y, fits in zip(wanted, states, good.tolist(), strict=True):
        try:
            if not fits:
                _checked(system, State(system.body_names, y), start)
            built[case] = system, y
        except ModelError as error:
            chunk.messages[chunk.first + case] = str(error)
    return built


def _run_in_batch(key: str, members: Sequence[int], built: Built, task: Task, chunk: Chunk) -> list[int]:
    """Run cases in a batch; those that failed or came close to a singular configuration, to be run alone for the message."""
    module, s = batch_kernel_of(key.partition(" ")[0]), task.how
    assert module is not None
    states = np.array([built[case][1] for case in members])
    systems = _places({place: built[case][0] for place, case in enumerate(members)})
    of_tree = " " in key  # see ``_kernel_key``
    constants = np.concatenate([np.tile(_constants(own, s, of_tree=of_tree), (len(at), 1)) for own, at in systems])
    constants[np.concatenate([at for _, at in systems])] = constants.copy()
    initial = in_joints(systems, states) if of_tree else states
    given, results = batch.arguments(s, initial, constants)
    arrays: tuple[Any, ...] = (*given, *results)
    limits: BatchLimits | None = None
    first, sizes = systems[0][0], constants.shape[1]
    if of_tree:
        given_to_limits = given_limits(systems, len(initial))
        memory, limits = memory_of_batch(first, initial.shape[1], sizes, given_to_limits)
    else:
        memory = batch.batch_workspace(first.model.fixed[1:], sizes)
    integrate(task, module, memory, *arrays)
    at, good = np.array(members), results.status == Status.REACHED_END
    if of_tree:
        in_coordinates = results.out
        out, off = with_signs(of_bodies(systems, np.concatenate([initial[:, None], results.out], axis=1)), states)
        results, good = results._replace(out=out), good & (off <= OFF_THE_ROWS)
    found = results.out[good]
    if task.outputs is not None:
        z = (initial[good], in_coordinates[good]) if of_tree else None
        found = _columns(task, built, at[good], found, z, chunk)
    elif of_tree:
        turns = turns_in_lanes(tree_of(first), initial[good], in_coordinates[good])
        chunk.keep_turns(task, at[good], turns.quarters)
    chunk.keep(at[good], found, results.counts[good], results.reached[good])
    times, motions = np.append(s.t_start, s.t or ()), np.concatenate([states[:, None], results.out], axis=1)[good]
    work = np.zeros(motions.shape[:2])
    if limits is not None:  # the work of dampers is known at the end
        final = with_signs(of_bodies(systems, np.stack([initial, limits.final], axis=1)), states)[0]
        times, motions = np.array([s.t_start, s.t_end]), np.concatenate([states[:, None], final], axis=1)[good]
        work = np.outer(limits.work[good], [0.0, 1.0])
    _say_unbalanced(at[good], times, motions, work, built, task, chunk)
    if not of_tree and task.counts_turns:
        _say_undecided(at[good], results.out[good], built, task, chunk)
    return at[~good].tolist()  # type: ignore[no-any-return]


def _places(systems: Mapping[int, System]) -> list[tuple[System, Ints]]:
    """Each system once, with its keys."""
    found: dict[int, tuple[System, list[int]]] = {}
    for place, system in systems.items():
        found.setdefault(id(system), (system, []))[1].append(place)
    return [(system, np.array(places)) for system, places in found.values()]


def _say_unbalanced(
    cases: Ints, times: Floats, motions: Floats, work: Floats, built: Built, task: Task, chunk: Chunk
) -> None:
    """Messages of cases of a batch whose energy changes by more than the tolerance explains.

    motions (cases, n, 13 bodies) at times (n,), work (cases, n) of all sources until then.
    """
    for own, places in _places({place: built[case][0] for place, case in enumerate(cases.tolist())}):
        at, of_case = cases[places], _energies(own, motions[places])
        found = unbalanced_cases(weight_of(own.data), task.how, chunk.counts[at, 1], times, of_case, work[places])
        chunk.remark(at, found, task.how.t_end)


def _say_undecided(cases: Ints, states: Floats, built: Built, task: Task, chunk: Chunk) -> None:
    """Messages of cases in states (cases, n, 13 bodies) that do not show all turns of their joints."""
    t = np.array(task.how.t)
    for k in np.flatnonzero(perhaps_undecided(t, states)):
        case = int(cases[k])
        if remark := remark_on_turns(built[case][0], t, states[k], task.how.method, of_tree=False):
            said = chunk.messages.get(chunk.first + case, message_at_end(task.how.t_end))
            chunk.messages[chunk.first + case] = said + remark


def _energies(system: System, states: Floats) -> Floats:
    """Energies (cases, n, 3) of states (cases, n, 13 bodies) of cases with the same system."""
    if system.loaded:
        flat = states.reshape(-1, states.shape[2])
        none = np.zeros((0, 4))
        found = energies_of_states(np.zeros(len(flat)), flat, none, system.data, shared_workspace_for(system.data))
        return found.reshape(*states.shape[:2], -1)
    masses = np.broadcast_to(system.data.mass[1:], (len(states), len(system.bodies)))
    return energies_of_motions(masses, system.data.inertia[1:], system.gravity, states)


def _columns(
    task: Task, built: Built, cases: Ints, states: Floats, z: tuple[Floats, Floats] | None, chunk: Chunk
) -> Floats:
    """Outputs (cases, columns) from states (cases, times, 13 bodies).

    z : coordinates of their trees at the start (cases, n) and at the times (cases, times, n)
    """
    assert task.outputs is not None
    if not len(cases):
        return np.zeros((0, *task.kept_shape))
    systems = _places({place: built[case][0] for place, case in enumerate(cases.tolist())})
    tree = None
    if z is not None and same_coordinates([tree_of(own) for own, _ in systems]):
        tree = tree_of(systems[0][0])

    def energies() -> Floats:
        found = np.empty((*states.shape[:2], 3))
        for own, places in systems:
            found[places] = _energies(own, states[places])
        return found

    def say(place: int, text: str) -> None:
        chunk.messages[chunk.first + int(cases[place])] = text

    limits = given_limits(systems, len(cases)) if tree is not None and tree.limits else None
    start, path = (None, None) if z is None else z
    quantities = BatchQuantities(systems[0][0], lambda: states, energies, tree, path, start, limits)
    return columns_of_batch(task.outputs, task.how, quantities, lambda place: built[int(cases[place])][0], say)


def _constants(system: System, s: Settings, *, of_tree: bool) -> Floats:
    if of_tree:
        return tree_constants(tree_of(system), system.gravity)
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
    chunk.status[case] = run.status
    chunk.reached[case] = reached
    chunk.counts[case] = run.stats.evaluations, run.stats.steps, run.stats.rejections or 0
    if run.message.partition(TURNED)[0] != message_at_end(s.t_end):  # reason of a failure, or loss of accuracy
        chunk.messages[chunk.first + case] = run.message
    if task.outputs is None:
        chunk.states[case, : len(run.states)] = run.states
        if run._turns is not None and len(run.t):
            missing = (0, len(s.t or ()) - len(run.t)), (0, 0)
            chunk.keep_turns(task, np.array([case]), np.pad(run._turns.quarters, missing, "edge")[None])
        return
    try:
        chunk.states[case] = columns_of_run(task.outputs, run, len(s.t or ()))
    except ModelError as error:
        chunk.messages[chunk.first + case] = str(error)
