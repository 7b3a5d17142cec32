"""Cases of a chunk side by side: which of their arrays run, and what is kept of the runs."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from runtime.ensemble.at_once import Prepared, of_places, prepared_trees
from runtime.ensemble.batch_remarks import undecided
from runtime.ensemble.cases import Cases
from runtime.ensemble.closed_at_once import prepared_rows, rows_in_lanes
from runtime.ensemble.contact_batch import ContactEvents
from runtime.ensemble.found_events import keep_events
from runtime.ensemble.joint_batch import TreeRuns, energies_in_lanes, keep_turns, states_in_lanes, turns_in_lanes
from runtime.ensemble.kept_outputs import BatchQuantities, blocks_of, columns_of_batch, needs_masses
from runtime.ensemble.task import Chunk, Task
from runtime.integrate.balance_check import jumps_of_paths, unbalanced_cases
from runtime.integrate.batches import batch
from runtime.integrate.batches.event_memory import STATE
from runtime.integrate.endings import with_stability
from runtime.integrate.tree_method import joints_in_lanes
from runtime.results.undecided_turns import followed_by_poses
from runtime.support.arrays import Bools, Floats, Ints
from runtime.system.system import System


def run_side_by_side(task: Task, cases: Cases, chunk: Chunk) -> list[int] | None:
    """Run the cases of a chunk side by side; those to be run in another way.  None where no arrays hold what they differ in.

    Raises
    ------
    Stopped
    """
    system, prepared, numbers = task.system, None, np.arange(len(chunk.status))
    if isinstance(system, System) and task.starts_in_time(system) and task.found_in_lanes(system):
        if joints_in_lanes(system, task.how):
            prepared = prepared_trees(task, system, cases)
        elif rows_in_lanes(system, task.how):
            prepared = prepared_rows(task, system, cases)
    if prepared is None or (prepared.joints is not None and task.events):
        return None  # of cases with joints of their own places of events follow from the pose of each
    return numbers[~run_prepared(task, prepared, numbers, chunk)].tolist()


def run_prepared(task: Task, prepared: Prepared, numbers: Ints, chunk: Chunk) -> Bools:
    """Integrate the good ones of prepared cases, which are those of these numbers in a chunk; which of them reached their end."""
    good, at = prepared.good.copy(), np.flatnonzero(prepared.good)
    if len(at):
        good[at] = _run(task, prepared, at, numbers, chunk)
    return good


def _run(task: Task, prepared: Prepared, at: Ints, numbers: Ints, chunk: Chunk) -> Bools:
    """``run_prepared`` for cases at these places."""
    how, trees, system, tree = task.how, prepared.trees(at), prepared.given.system, prepared.given.tree
    runs = prepared.integrated(task, at, trees)
    results, good = runs.results, runs.good
    to = np.where(good, numbers[at], -1)
    in_steps = task.outputs is None and not (runs.forces or tree.limits)  # states of the results at once
    energies = energies_in_lanes(trees, runs.path, runs.stored, *((chunk.states, to) if in_steps else ()))
    ended = np.flatnonzero(good)
    remarks = _remarks(task, prepared, at, ended, runs, energies)
    kept, found, out = at[ended], None, of_places(results.out, ended)
    if task.outputs is not None:
        events = None if runs.events is None else runs.events.at(ended)
        known = energies[ended, 1:] if np.array_equal(runs.times[1:], how.t or ()) else None
        counted = runs.counted[ended] if runs.counted.size else None
        found = _columns(task, prepared, kept, numbers[kept], out, known, events, counted, chunk)
    else:
        start = prepared.angles(kept, of_places(prepared.z, kept))
        keep_turns(chunk, task, numbers[kept], tree, start, prepared.angles(kept, out))
        if not in_steps:
            states_in_lanes(trees, results.out, chunk.states, to)
    chunk.keep(numbers[kept], found, of_places(results.counts, ended), of_places(results.reached, ended))
    if runs.zeros is not None:
        rows, counts = (of_places(values, ended) for values in runs.zeros)
        rows = rows[:, : counts.max(initial=0)]
        states = prepared.states(kept, rows[..., STATE : STATE + prepared.z.shape[1]])
        rows = np.concatenate([rows[..., :STATE], states], axis=-1)
        keep_events(task, chunk, numbers[kept], rows, counts, results.status[ended])
    chunk.keep_starts(task, numbers[kept], partial(prepared.at_start, kept), of_tree=True)
    chunk.remark(numbers[at], remarks, how.t_end)
    if len(ended) and tree.closing and task.counts_turns and followed_by_poses(system, of_tree=True):
        said = undecided(
            lambda k: prepared.system_of(int(kept[k])), how, prepared.at_start(kept), prepared.states(kept, out),
            of_tree=True,
        )  # fmt: skip
        chunk.remark(numbers[kept], said, how.t_end)
    return good


def _remarks(task: Task, prepared: Prepared, at: Ints, ended: Ints, runs: TreeRuns, energies: Floats) -> dict[int, str]:
    """Remarks on balances and stability of the cases that ended, by their places among those at ``at``."""
    steps, weights = runs.results.counts[ended, batch.STEPS], prepared.given.weights(at[ended])
    jumps, times = jumps_of_paths(prepared.given.system), runs.times
    energies, work, *rest = (of_places(v, ended) for v in (energies, runs.work, runs.exchanged, runs.unresolved))
    remarks = unbalanced_cases(weights, task.how, steps, times, energies, work, rest[0], rest[1], jumps)
    remarks = with_stability(prepared.given.system, remarks, steps, runs.bounded[ended])
    return {int(ended[k]): text for k, text in remarks.items()}


def _columns(
    task: Task, prepared: Prepared, kept: Ints, numbers: Ints, z: Floats, energies: Floats | None,
    events: ContactEvents | None, counted: Floats | None, chunk: Chunk,
) -> Floats:  # fmt: skip
    """Outputs (cases, columns) of the cases at these places, of these numbers in the chunk.

    z, energies : coordinates and rates, with states of forces (cases, times, n), and energies (cases, times, 3) where known
    events : of their contacts
    counted : as of ``TreeRuns``, of forces with such angles
    """
    if not len(kept):
        return np.zeros((0, *task.kept_shape))
    whole = bool(prepared.given.tree.closing)  # what follows by the equations is found for all cases at once
    blocks = [slice(None)] if whole else blocks_of(len(kept), z.shape[1] * len(prepared.given.system.state.y))
    every, found = np.arange(len(kept)), []
    for b in blocks:
        own = None if events is None else events.at(every[b])
        of_block = z[b], None if energies is None else energies[b], own, None if counted is None else counted[b]
        found.append(_columns_of_block(task, prepared, kept[b], numbers[b], *of_block, chunk))
    return np.concatenate(found)


def _columns_of_block(
    task: Task, prepared: Prepared, kept: Ints, numbers: Ints, z: Floats, energies: Floats | None,
    events: ContactEvents | None, counted: Floats | None, chunk: Chunk,
) -> Floats:  # fmt: skip
    """``_columns`` of a block of cases."""
    system, tree, times = prepared.given.system, prepared.given.tree, np.array(task.how.t, float)
    assert task.outputs is not None
    limits = prepared.limits if prepared.shown is None else prepared.shown
    start, angles = prepared.angles(kept, prepared.z[kept]), prepared.angles(kept, z)

    # No function refers to itself through another: arrays of a chunk would stay until the next collection of cycles.
    @lru_cache(1)
    def states() -> Floats:
        return prepared.states(kept, z)

    @lru_cache(1)
    def of_energies() -> Floats:
        if energies is not None:
            return energies
        return prepared.energies(kept, z, times, events, *(() if counted is None else (counted,)))

    begun = partial(prepared.at_start, kept)
    quantities = BatchQuantities(system, states, begun, of_energies, tree, angles, start, limits[kept], counted=counted)
    quantities.alike = task.same_mechanics
    if isinstance(task.system, System):
        inertias = prepared.given.inertias
        quantities.masses = prepared.given.masses[kept], inertias if inertias.ndim == 3 else inertias[kept]
    if len(system.data.forces.state_place):
        quantities.of_forces = z[..., prepared.z.shape[1] :]
    if tree.closing and prepared.joints is None:
        quantities.motions, quantities.quarters = system.joint_motions, turns_in_lanes(tree, start, angles).quarters
    if events is not None:
        quantities.contacts = lru_cache(1)(partial(prepared.contacts, kept, z, times, events))
        quantities.events = events.of
    with prepared.derived(task, kept, states, events, counted) as derived:
        quantities.derived = derived
        same = derived is not None and task.varies_masses_alone and not system.redundant
        same = same and not needs_masses(task.outputs)

        def system_of(k: int) -> System:
            return system if same else prepared.system_of(int(kept[k]))

        return columns_of_batch(task.outputs, task.how, quantities, system_of, partial(chunk.say, numbers))
