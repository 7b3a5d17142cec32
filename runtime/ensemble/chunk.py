"""A chunk of an ensemble: its cases are built and checked, then run in SIMD lanes or one after another in compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runtime.dynamics.limits_along import OF_LIMIT
from runtime.dynamics.status import Status, message_at_end
from runtime.ensemble.at_once import run_at_once
from runtime.ensemble.batch_remarks import Built, energies_of, unbalanced, undecided, with_places
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.closed_at_once import rows_in_lanes, run_closed
from runtime.ensemble.compiled_cases import run_compiled, settings_of
from runtime.ensemble.joint_batch import (
    Acting,
    Systems,
    acting_on,
    contacts_in_lanes,
    forces_key,
    given_limits,
    has_parameters,
    in_joints,
    integrate,
    keep_turns,
    of_bodies,
    parameters_in_lanes,
    run_trees,
    stored_in_lanes,
    with_signs,
)
from runtime.ensemble.kept_outputs import BatchQuantities, columns_of_batch, columns_of_run, same_coordinates
from runtime.ensemble.named_cases import run_named
from runtime.ensemble.seals import digest_of_system
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.ensemble.velocities import only_velocities, states_with_velocities
from runtime.integrate.batches import batch
from runtime.integrate.batches.contact_memory import EVENT, most_events
from runtime.integrate.endings import TURNED, with_stability
from runtime.integrate.settings import Settings
from runtime.integrate.simulate import simulate
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    acts_in_lanes,
    by_recursion,
    in_joint_coordinates,
    joints_in_lanes,
    tree_constants,
    tree_of_lanes,
)
from runtime.integrate.tree_scales import scales_of
from runtime.results.run import Run
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import AssemblyError, ModelError, said_by
from runtime.system.assemble import assemble, check_state, moved_reference
from runtime.system.rank import refuse_singular_joints
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.variants import variant, with_reference
from runtime.system.whole_model import batch_kernel_of, use_kernels, whole_of


def side_by_side(system: System, how: Settings) -> bool:
    """True if cases of a system can be run in a batch."""
    return bool(_kernel_key(system, how))


def _allowed(system: System, how: Settings) -> bool:
    """Whether ``simulate`` takes the settings for a system, whose signals or creep may be its own."""
    try:
        settings_of(system, how)
    except ModelError:
        return False
    return True


def size_of_forces(system: System, how: Settings) -> int:
    """Numbers that each case has for its forces, if it is run in a batch with them."""
    return len(parameters_in_lanes(system)) if joints_in_lanes(system, how) and has_parameters(system) else 0


def size_of_events(system: System, how: Settings, *, gpu: bool) -> int:
    """Numbers that each case has for touch-downs and lift-offs while it runs in a batch."""
    in_lanes = joints_in_lanes(system, how) or rows_in_lanes(system, how)
    return EVENT * most_events(gpu=gpu) if system.contacts and in_lanes else 0


def _kernel_key(system: System, how: Settings) -> str:
    """Key of the kernel by which cases of a system are run in a batch; empty where they cannot be."""
    if joints_in_lanes(system, how):
        if acts_in_lanes(system) and not _allowed(system, how):
            return ""
        tree = tree_of_lanes(system)
        weight = scales_of(tree)[1]
        return " ".join([tree.key, *map(str, weight), *forces_key(system)])  # cases of a batch have the same weights
    alone = how.projected or system.redundant or how.method != "dop853" or in_joint_coordinates(system, how)
    return "" if alone or batch_kernel_of(system.model.key) is None else system.model.key


def run_chunk(task: Task, first: int, cases: Cases) -> Chunk:
    """Run some cases, numbered from ``first`` on.

    Raises
    ------
    Stopped
        When ``task.stop`` was set meanwhile.
    """
    use_kernels(task.kernels)
    count = len(next(iter(cases.values())))
    how = task.how
    chunk = Chunk(
        first, np.full((count, *task.kept_shape), np.nan), np.full(count, int(Status.REFUSED)),
        np.full(count, np.nan), np.zeros((count, 3), np.int64), np.zeros(count, bool), {}, (0, ""),
    )  # fmt: skip
    left = run_at_once(task, cases, chunk)
    if left is None and not (isinstance(task.system, System) and side_by_side(task.system, how)):
        left = run_closed(task, cases, chunk)
        if left is None or left:
            named = run_named(task, cases, chunk, left)
            left = left if named is None else named
    if left is not None:
        built = built_cases(task, chunk, cases, left)
        _run_each(list(built), built, task, chunk)
        return chunk
    built = built_cases(task, chunk, cases, range(count))
    if not isinstance(task.system, System):
        chunk = replace(chunk, mark=mark_of(built, first))
    groups: dict[str, list[int]] = {}
    for own, cases_of in with_places({case: own for case, (own, _) in built.items()}):
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


def built_cases(task: Task, chunk: Chunk, cases: Cases, wanted: Sequence[int]) -> Built:
    """Systems and initial states of the wanted cases that are not refused; the messages of those that are go to the chunk."""
    if len(wanted) and only_velocities(task, cases):
        return _with_velocities(task, chunk, cases, wanted)
    built: Built = {}
    for case in wanted:
        if task.stop[0]:
            raise Stopped
        try:
            own, state = built_case(task, row(cases, case))
            built[case] = own, state.y
        except ModelError as error:
            chunk.messages[chunk.first + case] = str(error)
    return built


def built_case(task: Task, values: Mapping[str, Any]) -> tuple[System, State]:
    """System and initial state of a case.

    Raises
    ------
    ModelError
        For a case that is refused.
    """
    start = task.how.t_start
    try:
        own, state, moved = variant(task.system, values, task.quantities, start, assembled=task.assemble)
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
    s = task.how
    states = np.array([built[case][1] for case in members])
    systems = with_places({place: built[case][0] for place, case in enumerate(members)})
    of_tree = " " in key  # see ``_kernel_key``
    constants = np.concatenate([np.tile(_constants(own, s, of_tree=of_tree), (len(at), 1)) for own, at in systems])
    constants[np.concatenate([at for _, at in systems])] = constants.copy()
    at = np.array(members)
    if of_tree:
        return at[~_run_on_trees(systems, states, constants, at, built, task, chunk)].tolist()  # type: ignore[no-any-return]
    module = batch_kernel_of(key)
    assert module is not None
    given, results = batch.arguments(s, states, constants)
    integrate(task, module, batch.batch_workspace(systems[0][0].model.fixed[1:], constants.shape[1]), *given, *results)
    good = results.status == Status.REACHED_END
    found = results.out[good]
    times, motions = np.append(s.t_start, s.t or ()), np.concatenate([states[good][:, None], found], axis=1)
    if task.outputs is not None:
        found = _columns(task, built, at[good], found, states[good], None, chunk)
    chunk.keep(at[good], found, results.counts[good], results.reached[good])
    chunk.keep_starts(task, at[good], lambda: states[good], of_tree=False)
    work, of_steps = np.zeros(motions.shape[:2]), np.zeros((2, len(motions)))
    remarks = unbalanced(at[good], times, motions, work, of_steps, built, task, results.counts[good])
    chunk.remark(at[good], remarks, s.t_end)
    if task.counts_turns:
        chunk.remark(at[good], undecided(at[good], motions[:, 0], results.out[good], built, s), s.t_end)
    return at[~good].tolist()  # type: ignore[no-any-return]


def _run_on_trees(
    systems: Systems, states: Floats, constants: Floats, at: Ints, built: Built, task: Task, chunk: Chunk
) -> Bools:
    """Run the cases ``at`` with initial states (cases, 13 bodies) in joint coordinates; which of them reached their end."""
    initial = in_joints(systems, states)
    # Built systems run alike alone and with others of their layout, whose geometries may differ.
    acting = acting_on(systems, len(initial))._replace(general=not isinstance(task.system, System))
    runs = run_trees(task, systems[0][0], initial, constants, acting)
    results = runs.results
    out, off = with_signs(of_bodies(systems, np.concatenate([initial[:, None], results.out], axis=1)), states)
    good: Bools = (results.status == Status.REACHED_END) & (off <= OFF_THE_ROWS)
    motions = np.concatenate([states[:, None], with_signs(of_bodies(systems, runs.path), states)[0]], axis=1)[good]
    of_steps = np.stack([runs.exchanged[good], runs.unresolved[good]])
    stored = None if runs.events is None else runs.stored[good]  # which springs act is known of the runs alone
    remarks = unbalanced(
        at[good], runs.times, motions, runs.work[good], of_steps, built, task, results.counts[good], stored
    )
    remarks = with_stability(systems[0][0], remarks, results.counts[good, batch.STEPS], runs.bounded[good])
    found = out[good]
    if task.outputs is not None:
        kept = np.flatnonzero(good)
        z = initial[good], results.out[good]
        found = _columns(task, built, at[good], found, states[good], z, chunk, runs.of(kept, acting))
    else:
        keep_turns(chunk, task, at[good], tree_of_lanes(systems[0][0]), initial[good], results.out[good])
    chunk.keep(at[good], found, results.counts[good], results.reached[good])
    chunk.keep_starts(task, at[good], lambda: states[good], of_tree=True)
    chunk.remark(at[good], remarks, task.how.t_end)
    return good


def _columns(
    task: Task, built: Built, cases: Ints, states: Floats, begun: Floats, z: tuple[Floats, Floats] | None, chunk: Chunk,
    acting: Acting | None = None,
) -> Floats:  # fmt: skip
    """Outputs (cases, columns) from states (cases, times, 13 bodies), and those at the start (cases, 13 bodies).

    z : coordinates of their trees at the start (cases, n) and at the times (cases, times, n)
    acting : of what acts on their trees, with the events of contacts
    """
    assert task.outputs is not None
    if not len(cases):
        return np.zeros((0, *task.kept_shape))
    systems = with_places({place: built[case][0] for place, case in enumerate(cases.tolist())})
    tree = None
    if z is not None and same_coordinates([tree_of_lanes(own) for own, _ in systems]):
        tree = tree_of_lanes(systems[0][0])

    first, times = systems[0][0], np.array(task.how.t, float)
    with_contacts = acting is not None and acting.events is not None and z is not None

    def energies() -> Floats:
        found = np.empty((*states.shape[:2], 3))
        stored = stored_in_lanes(first, z[1], times, acting) if with_contacts else None  # type: ignore[index, arg-type]
        for own, places in systems:
            found[places] = energies_of(own, times, states[places], None if stored is None else stored[places])
        return found

    def say(place: int, text: str) -> None:
        chunk.messages[chunk.first + int(cases[place])] = text

    limits = given_limits(systems, len(cases)) if tree is not None and tree.limits else None
    start, path = (None, None) if z is None else z
    quantities = BatchQuantities(first, lambda: states, lambda: begun, energies, tree, path, start, limits)
    if with_contacts:
        assert acting is not None and acting.events is not None and path is not None
        quantities.events, quantities.contacts = acting.events.of, lambda: contacts_in_lanes(first, path, times, acting)
    return columns_of_batch(task.outputs, task.how, quantities, lambda place: built[int(cases[place])][0], say)


def _constants(system: System, s: Settings, *, of_tree: bool) -> Floats:
    if of_tree:
        tree = tree_of_lanes(system)
        return np.zeros(OF_LIMIT * len(tree.limits)) if by_recursion(system) else tree_constants(tree, system.gravity)
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
        chunk.keep_starts(task, np.array([case]), lambda: y[None], of_tree=run._turns is not None)
        return
    try:
        chunk.states[case] = columns_of_run(task.outputs, run, len(s.t or ()))
    except ModelError as error:
        chunk.messages[chunk.first + case] = str(error)
