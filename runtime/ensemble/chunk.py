"""A chunk of an ensemble: its cases are built and checked, then run in SIMD lanes or one after another as single runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.batch_remarks import Built, undecided, with_places
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.closed_at_once import rows_in_lanes
from runtime.ensemble.joint_batch import (
    forces_key,
    has_parameters,
    integrate,
    masses_of,
    of_each,
    parameters_in_lanes,
)
from runtime.ensemble.kept_outputs import BatchQuantities, columns_of_batch
from runtime.ensemble.named_cases import run_named
from runtime.ensemble.seals import digest_of_system
from runtime.ensemble.side_by_side import run_prepared, run_side_by_side
from runtime.ensemble.single_runs import SingleRuns, settings_of
from runtime.ensemble.systems_at_once import prepared_systems
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.ensemble.velocities import only_velocities, states_with_velocities
from runtime.integrate.balance_check import energies_of_motions, unbalanced_cases, weights_of
from runtime.integrate.batches import batch
from runtime.integrate.batches.contact_memory import EVENT, most_events
from runtime.integrate.settings import Settings
from runtime.integrate.simulate import simulate
from runtime.integrate.tree_method import (
    acts_in_lanes,
    in_joint_coordinates,
    joints_in_lanes,
    tree_of_lanes,
)
from runtime.integrate.tree_scales import scales_of
from runtime.results.run import Run
from runtime.support.arrays import Floats
from runtime.support.errors import AssemblyError, ModelError, said_by
from runtime.support.latest import Latest
from runtime.system.assemble import assemble, check_state, moved_reference
from runtime.system.rank import refuse_singular_joints
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.variants import variant, with_reference
from runtime.system.whole_model import batch_kernel_of, counts_in_rows, use_kernels, whole_of


def side_by_side(system: System, how: Settings) -> bool:
    """True if cases of a system can be run in a batch."""
    return bool(_kernel_key(system, how))


def in_lanes(task: Task, system: System) -> bool:
    """Whether cases of a system, which stands for all of a task, are run in lanes."""
    rows = isinstance(task.system, System) and rows_in_lanes(system, task.how)
    return task.found_in_lanes(system) and (rows or side_by_side(system, task.how))


def _allowed(system: System, how: Settings) -> bool:
    """Whether ``simulate`` takes the settings for a system, whose signals or transition velocity may be its own."""
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


def _kernel_key(system: System, how: Settings, *, general: bool = False) -> str:
    """Key of the kernel by which cases of a system are run in a batch; empty where they cannot be.

    general : as of ``forces_key``
    """
    if joints_in_lanes(system, how):
        if acts_in_lanes(system) and not _allowed(system, how):
            return ""
        tree = tree_of_lanes(system)
        weight = scales_of(tree)[1]
        # Cases of a batch have the same weights, and the same coordinates, of which their outputs are made.
        return " ".join([tree.key, *map(str, weight), *forces_key(system, general=general), str(tree.coordinates)])
    alone = how.projected or system.redundant or how.method != "dop853" or in_joint_coordinates(system, how)
    return "" if alone or counts_in_rows(system) or batch_kernel_of(system.model.key) is None else system.model.key


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
    left = run_side_by_side(task, cases, chunk)
    alike = isinstance(task.system, System) and side_by_side(task.system, how)
    if (left is None or left) and not alike and task.compiled:
        named = run_named(task, cases, chunk, left)
        left = left if named is None else named
    if left is not None:
        built = built_cases(task, chunk, cases, left)
        _run_each(list(built), built, task, chunk)
        return chunk
    alone, general = task.events or task.controllers, not isinstance(task.system, System)
    key_of = Latest(lambda own: "" if alone else _kernel_key(own, how, general=general), count)
    built = built_cases(task, chunk, cases, range(count), key_of)
    if general:
        chunk = replace(chunk, mark=mark_of(built, first))
    groups: dict[str, list[int]] = {}
    for own, cases_of in with_places({case: own for case, (own, _) in built.items()}):
        groups.setdefault(key_of(own), []).extend(cases_of.tolist())
    for key, members in groups.items():
        _run_each(_run_in_batch(key, members, built, task, chunk) if key else members, built, task, chunk)
    return chunk


def _run_each(cases: Sequence[int], built: Built, task: Task, chunk: Chunk) -> None:
    """Run cases that no vector instructions serve."""
    runs = SingleRuns(task, chunk)
    for case in cases:
        runs.run(case, *built[case])
    runs.end()


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


def built_cases(
    task: Task, chunk: Chunk, cases: Cases, wanted: Sequence[int], prepare: Callable[[System], Any] | None = None
) -> Built:  # fmt: skip
    """Systems and initial states of the wanted cases that are not refused; the messages of those that are go to the chunk.

    prepare : called with each system while compiled code still has the references to its data, which take a millisecond to make
    """
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
            continue
        if prepare is not None:
            prepare(own)
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
    how = task.how
    return simulate(own, how.t_end, t_eval=how.t, initial=state, progress=False, **task.acting, **how.keywords)


def _checked(system: System, state: State, time: float) -> State:
    try:
        check_state(system, state, time)
    except AssemblyError as error:
        raise ModelError(
            f"{error}; for every case assemble=True does so, in a study's file 'assemble = true' under [settings]"
        ) from None
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
    s, at, states = task.how, np.array(members), np.array([built[case][1] for case in members])
    systems = with_places({place: built[case][0] for place, case in enumerate(members)})

    def system_of(place: int) -> System:
        return built[members[place]][0]

    if " " in key:  # see ``_kernel_key``
        # Built systems run alike alone and with others of their layout, whose geometries may differ.
        prepared = prepared_systems(systems, states, system_of, general=not isinstance(task.system, System))
        return at[~run_prepared(task, prepared, at, chunk)].tolist()  # type: ignore[no-any-return]
    module, constants = batch_kernel_of(key), of_each(systems, lambda own: _constants(own, s))
    assert module is not None
    given, results = batch.arguments(s, states, constants)
    integrate(task, module, batch.batch_workspace(systems[0][0].model.fixed[1:], constants.shape[1]), *given, *results)
    ended = np.flatnonzero(results.status == Status.REACHED_END)
    kept, start, found = at[ended], states[ended], results.out[ended]
    masses, inertias, gravity = (of[ended] for of in masses_of(systems))
    energies = energies_of_motions(masses, inertias, gravity, np.concatenate([start[:, None], found], axis=1))
    chunk.keep(kept, found if task.outputs is None else None, results.counts[ended], results.reached[ended])
    if task.outputs is not None and len(kept):
        quantities = BatchQuantities(systems[0][0], lambda: found, lambda: start, lambda: energies[:, 1:])
        quantities.masses = (masses, inertias) if isinstance(task.system, System) else None
        quantities.alike = task.same_mechanics
        of_kept = (lambda k: system_of(int(ended[k]))), partial(chunk.say, kept)
        chunk.states[kept] = columns_of_batch(task.outputs, s, quantities, *of_kept)
    chunk.keep_starts(task, kept, lambda: start, of_tree=False)
    times, none, steps = np.append(s.t_start, s.t or ()), np.zeros(len(kept)), results.counts[ended, batch.STEPS]
    work = np.zeros(energies.shape[:2])
    remarks = unbalanced_cases(weights_of(masses, gravity), s, steps, times, energies, work, none, none)
    chunk.remark(kept, remarks, s.t_end)
    if task.counts_turns:
        remarks = undecided(lambda k: system_of(int(ended[k])), s, start, found, of_tree=False)
        chunk.remark(kept, remarks, s.t_end)
    return at[results.status != Status.REACHED_END].tolist()  # type: ignore[no-any-return]


def _constants(system: System, s: Settings) -> Floats:
    whole = whole_of(system, system.data._replace(alpha=s.alpha, beta=s.beta))
    assert whole is not None
    return whole.constants
