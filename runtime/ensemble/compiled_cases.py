"""Cases of a chunk that no vector instructions serve, one after another in compiled code: see ``runtime.integrate.cases.loop``.

Cases are grouped by their layout, the sizes of all arrays, and their settings; they differ in parameters, initial states, modes
and steps.  Those that did not simply reach their end are left to ``simulate``, which has the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.layout import STATE
from runtime.dynamics.lift import places_of_turns
from runtime.dynamics.model_data import stabilised
from runtime.dynamics.status import ENDED, Status, message_at_end
from runtime.ensemble.batch_remarks import with_places
from runtime.ensemble.derived_outputs import DerivedQuantities, derives_outputs
from runtime.ensemble.found_events import keep_events
from runtime.ensemble.kept_outputs import (
    BatchQuantities,
    columns_of_batch,
    needs_masses,
    needs_more_than_states,
)
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.integrate.automatic import DOP853, RADAU
from runtime.integrate.balance import AT, EXCHANGED, HIGHEST, KINETIC, LARGEST_ERROR, LOWEST, UNCERTAIN, UNRESOLVED
from runtime.integrate.balance_check import explained_by, remark_on_balance
from runtime.integrate.batches.event_memory import MOST_ZEROS
from runtime.integrate.cases.derived import CaseStates
from runtime.integrate.cases.loop import (
    LARGEST_LOST,
    SMALLEST,
    WHEN_CLOSE,
    WHEN_LOST,
    CaseControl,
    CasesFound,
    CasesGiven,
    cases_found,
    run_cases,
)
from runtime.integrate.cases.memory import (
    NO_CHANGES,
    Changes,
    Frame,
    Image,
    Parts,
    changes_of_data,
    changes_of_images,
    control_of,
    frame_for,
    image_of,
    key_of,
    parts_of,
    same_items,
)
from runtime.integrate.choices import COMPILED_METHODS
from runtime.integrate.endings import TURNED, closeness, lost_digits_at, stiffness, stiffness_is_said, turns_of
from runtime.integrate.events import AtRest, ZeroCrossing
from runtime.integrate.settings import Settings, settings
from runtime.integrate.tree_method import in_joint_coordinates, tree_of
from runtime.results.run import Run
from runtime.results.stats import Stats
from runtime.results.undecided_turns import followed_by_poses, perhaps_unknown, remark_on_turns
from runtime.results.whole_turns import WholeTurns, whole_turns
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.assemble import mirrored
from runtime.system.coupled_coordinates import coupled
from runtime.system.force_states import refuse_states
from runtime.system.quantity import Role
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates

Built = Mapping[int, tuple[System, Floats]]  # systems and initial states by case
NEARLY_LOST = 1e-15  # tolerance times sine of the smallest angle between rows; digits are lost below a quarter of it
MOST_EVENTS = 1024  # of contacts in a case, where outputs need them


@dataclass
class Group:
    """Cases with one layout and the same settings."""

    how: Settings
    system: System  # the first one
    frame: Frame
    first: Image
    cases: list[int] = field(default_factory=list)
    states: list[Floats] = field(default_factory=list)  # (cases, 13 bodies) of each system
    y: list[Floats] = field(default_factory=list)  # (cases, n) of the integration
    mass: list[float] = field(default_factory=list)  # [kg] by case
    gravity: list[float] = field(default_factory=list)  # [m/s^2]
    changes: list[tuple[int, Changes]] = field(default_factory=list)  # of so many cases

    def add(
        self, cases: Sequence[int], states: Floats, y: Floats, changes: Changes, mass: Floats, gravity: Floats
    ) -> None:
        """Add cases, whose memory begins with these changes (values of all, or a row for each); mass and gravity (cases,)."""
        self.cases += cases
        self.states.append(states)
        self.y.append(y)
        self.mass += mass.tolist()
        self.gravity += gravity.tolist()
        self.changes.append((len(cases), changes))

    def given(self) -> CasesGiven:
        """What the cases begin with."""
        floats = self._differing([(n, c.float_place, c.float_value) for n, c in self.changes], self.first.floats)
        ints = self._differing([(n, c.int_place, c.int_value) for n, c in self.changes], self.first.ints)
        outputs = np.array(self.how.t, float)
        return CasesGiven(*self.first, *floats, *ints, np.concatenate(self.states), np.concatenate(self.y), outputs)

    @staticmethod
    def _differing(changes: list[tuple[int, Ints, Any]], first: Any) -> tuple[Ints, Any]:
        """Places that differ between cases, and their values (cases, places)."""
        places = np.unique(np.concatenate([places for _, places, _ in changes]))
        if not len(places):
            return places, np.zeros((1, 0), first.dtype)
        rows = np.tile(first[places], (sum(n for n, _, _ in changes), 1))
        start = 0
        for n, own, values in changes:
            rows[start : start + n, np.searchsorted(places, own)] = values
            start += n
        return places, rows


def run_compiled(cases: Sequence[int], built: Built, task: Task, chunk: Chunk) -> list[int]:
    """Run cases in compiled code; those that are left to ``simulate``.

    Raises
    ------
    Stopped
    """
    if not len(cases) or task.how.method not in COMPILED_METHODS:
        return list(cases)
    groups: dict[Any, Group] = {}
    left: list[int] = []
    try:
        for system, own in with_places({case: built[case][0] for case in cases}):
            left += _add(groups, system, own.tolist(), built, task)
        for group in groups.values():
            left += run_group(group, lambda case: built[case][0], task, chunk)
    finally:
        for group in groups.values():
            group.frame.give_back()
    return sorted(left)


def _add(groups: dict[Any, Group], system: System, cases: list[int], built: Built, task: Task) -> list[int]:
    """Add the cases of a system to the group of its layout; those that are left to ``simulate``."""
    try:
        group, changes = group_of(groups, system, task.how, task.watched)
    except ModelError:
        return cases  # ``simulate`` has the message
    states = np.array([built[case][1] for case in cases])
    try:
        good, y = np.ones(len(cases), bool), initial_states(system, states, group.how)
    except ModelError:
        good, y = _each(system, states, group.how)
    for k in np.flatnonzero((states != system.state.y).any(axis=1) | (group.how.t_start != system.time)):
        good[k] &= not mirrored(system, group.how.t_start, states[k])
    at = np.flatnonzero(good)
    if len(at):
        mass, gravity = np.full(len(at), system.data.mass[1:].sum()), np.full(len(at), np.linalg.norm(system.gravity))
        group.add([cases[k] for k in at], states[at], y[at], changes, mass, gravity)
    return [case for case, fits in zip(cases, good, strict=True) if not fits]


def initial_states(system: System, states: Floats, how: Settings) -> Floats:
    """Initial states of the integration (cases, n) for those of the bodies (cases, 13 bodies).

    Raises
    ------
    ModelError
        Where followers of couplings are not where their leaders put them in one of them.
    """
    if not in_joint_coordinates(system, how):
        return states
    tree = tree_of(system)
    z: Floats = joint_coordinates(tree, system.body_names, system.joint_motions, states)
    if not system.couplings:
        return z
    bodies = [State(system.body_names, y) for y in states]
    return np.array([coupled(system, tree, state, own) for state, own in zip(bodies, z, strict=True)])


def _each(system: System, states: Floats, how: Settings) -> tuple[Any, Floats]:
    """``initial_states``, where some fail: which do not, and the states."""
    found: list[Floats | None] = []
    for y in states:
        with suppress(ModelError):
            found.append(initial_states(system, y[None], how)[0])
            continue
        found.append(None)
    size = next((len(y) for y in found if y is not None), 0)
    return np.array([y is not None for y in found]), np.array([np.zeros(size) if y is None else y for y in found])


def group_of(
    groups: dict[Any, Group], system: System, how: Settings, watched: tuple[AtRest | ZeroCrossing, ...]
) -> tuple[Group, Changes]:
    """The group of a system's layout, and how its memory differs from that of the first system there.

    Raises
    ------
    ModelError
        Where only ``simulate`` runs the system.
    """
    refuse_states(system, "serial cases")
    latest = next(reversed(groups.values()), None)
    if latest is not None and _same_settings(latest.system, system):
        if (changes := changes_of_data(latest.frame, latest.system, system, latest.how)) is not None:
            return latest, changes
    if not groups:
        own_how, parts, key, first = begun(system, how, watched)
        group = groups[key] = Group(own_how, system, frame_for(parts, key[0]), first)
        return group, NO_CHANGES
    own_how = settings_of(system, how)
    for group in groups.values():
        if (
            group.how == own_how
            and (changes := changes_of_data(group.frame, group.system, system, own_how)) is not None
        ):
            return group, changes
    parts = parts_of(system, own_how, watched)
    key = key_of(parts), own_how
    if key not in groups:
        frame = frame_for(parts, key[0])
        groups[key] = Group(own_how, system, frame, frame.image(parts))
        return groups[key], NO_CHANGES
    group = groups[key]
    return group, changes_of_images(group.frame.image(parts), group.first)


def _begun(
    system: System, how: Settings, watched: tuple[AtRest | ZeroCrossing, ...]
) -> tuple[Settings, Parts, Any, Image]:
    """Settings, parts, key and first values of the group of a system."""
    own_how = settings_of(system, how)
    parts = parts_of(system, own_how, watched)
    return own_how, parts, (key_of(parts), own_how), image_of(parts)


begun = Latest(_begun, 8)  # the same for all chunks of a task with one system


def _same_settings(first: System, system: System) -> bool:
    """Whether all that ``settings`` checks of a system is that of another one."""
    parts = "contacts", "forces", "joints", "loads", "motors", "couplings"
    same = all(same_items(getattr(first, part), getattr(system, part)) for part in parts)
    return same and first.state is system.state and first.overdetermined == system.overdetermined


def settings_of(system: System, how: Settings) -> Settings:
    """Settings as ``simulate`` checks them for a system of one's own."""
    more = {"alpha": None, "beta": None} | how.keywords
    return settings(system, how.t_end, np.array(how.t), **more)


def run_group(group: Group, system_of: Callable[[int], System], task: Task, chunk: Chunk) -> list[int]:
    """Run the cases of a group; those that are left to ``simulate``.  ``system_of``: the system of a case."""
    how, count, system = group.how, len(group.cases), group.system
    own = group.frame.parts
    n, sources = STATE * len(system.bodies), own.explicit.balance.work.shape[1]
    turns, counted = places_of_turns(own.w.tree.data), own.t.counted
    events = MOST_EVENTS if task.outputs is not None and system.contacts else 0
    found = cases_found(
        count,
        len(how.t or ()),
        n + sources + counted + len(turns),
        len(own.explicit.balance.energy),
        events,
        MOST_ZEROS if task.watched else 0,
    )
    given, control = group.given(), control_of(system, how)
    while run_cases(
        group.frame.memory, given, found, control
    ):  # in portions, between which an interruption is possible
        if task.stop[0]:
            raise Stopped
    good = np.isin(found.status, ENDED)
    if task.outputs is not None:
        good &= found.passed == 0
    at = np.array(group.cases, np.int64)
    known = whole_turns(given.y[good][:, turns], found.out[good, :, n + sources :], counted)
    if task.outputs is None:
        kept = found.out[good, :, :n]
        chunk.keep_turns(task, at[good], known.quarters)
    else:
        kept = _columns(group, given, found, np.flatnonzero(good), known, system_of, task, chunk)
    chunk.keep(at[good], kept, found.counts[good, :3], found.reached[good])
    chunk.keep_starts(task, at[good], lambda: given.states[good], of_tree=bool(control.in_joints))
    if task.watched:
        status, counts = found.status[good], found.zero_counts[good]
        keep_events(task, chunk, at[good], found.zeros[good, : counts.max(initial=0), : 2 + n], counts, status)
    whose = system_of if task.counts_turns else None
    for k, text in remarks(group, found, control, np.flatnonzero(good), whose).items():
        case, end = chunk.first + int(at[k]), message_at_end(how.t_end)
        if found.status[k] == Status.STOPPED_BY_EVENT:
            chunk.messages[case] += text
        elif (end + text).partition(TURNED)[0] != end:
            chunk.messages.setdefault(case, end + text)
    return at[~good].tolist()  # type: ignore[no-any-return]


def remarks(
    group: Group, found: CasesFound, control: CaseControl, good: Ints, system_of: Callable[[int], System] | None
) -> dict[int, str]:
    """What the messages of cases say beside their end, by place; as in ``simulate``.

    system_of : of a case; None where whole turns do not count
    """
    how = group.how
    explained = error = np.zeros(len(found.status))
    if found.energy.shape[1]:
        e = found.energy.T
        mass, g = np.array(group.mass), np.array(group.gravity)
        of_run = e[KINETIC], e[LOWEST], e[HIGHEST], e[EXCHANGED]
        explained = explained_by((mass, g), how, found.counts[:, 1], *of_run) + e[UNCERTAIN]
        error = e[LARGEST_ERROR]
    result: dict[int, str] = {}
    names = (RADAU, DOP853)
    unbalanced, of_tree = ~(np.abs(error) <= explained), bool(control.in_joints)
    t, states = np.array(how.t), found.out[..., : STATE * len(group.system.bodies)]
    far = np.zeros(len(found.status), bool)
    if system_of is not None and followed_by_poses(group.system, of_tree=of_tree):
        start = np.concatenate(group.states)
        far = perhaps_unknown(how.t_start, start, t, states)
    for k in good[(unbalanced | far | _perhaps_said(found, how))[good]].tolist():
        if control.projected:
            digits, when = np.log10(max(found.digits[k, LARGEST_LOST], 1.0)), found.digits[k, WHEN_LOST]
        else:
            digits, when = lost_digits_at(found.digits[k, SMALLEST], how.rtol, how.atol), found.digits[k, WHEN_CLOSE]
        text = closeness(float(digits), float(when))
        if unbalanced[k]:
            at, bound = found.energy[k, [AT, UNRESOLVED]].tolist()
            text += remark_on_balance(float(error[k]), at, float(explained[k]), bound)
        text += stiffness(group.system, int(found.counts[k, 1]), int(found.counts[k, 3]))
        if far[k] and system_of is not None:
            of_case = system_of(group.cases[k]), how.t_start, start[k], t, states[k], how.method
            text += remark_on_turns(*of_case, of_tree=of_tree)
        turns = int(found.turns[k])
        text += turns_of([(names[i % 2], float(t)) for i, t in enumerate(found.turn_times[k, :turns])], turns)
        if text:
            result[k] = text
    return result


def _perhaps_said(found: CasesFound, how: Settings) -> Any:
    """The cases about which there may be more to say than that their energy is not balanced, (cases,)."""
    sine = np.sqrt(np.clip(found.digits[:, SMALLEST], 0.0, 1.0))
    lost = (found.digits[:, LARGEST_LOST] > 1.0) | (sine * (how.rtol + how.atol) < NEARLY_LOST)
    steps, bounded = found.counts[:, 1], found.counts[:, 3]
    return lost | (stiffness_is_said(steps, bounded)) | (found.turns > 0)


def _columns(
    group: Group,
    given: CasesGiven,
    found: CasesFound,
    good: Ints,
    turns: WholeTurns,
    of_case: Callable[[int], System],
    task: Task,
    chunk: Chunk,
) -> Floats:
    """Outputs (cases, columns) of the cases at these places."""
    assert task.outputs is not None
    if not len(good):
        return np.zeros((0, *task.kept_shape))
    how, system = group.how, group.system
    own = np.ascontiguousarray(found.out[good, :, : STATE * len(system.bodies)])
    same_joints = vary_alone(task, *OF_MASSES, *OF_FORCES)
    derives = derives_outputs(system)  # all that depends on masses is found here
    same_parts = derives and not system.redundant and vary_alone(task, *OF_MASSES) and not needs_masses(task.outputs)
    one_mass = isinstance(task.system, System) and not any(q.owner_sort == "body" for q in task.quantities.values())
    resolution, alike = SPEED_RESOLUTION * (how.rtol + how.atol), same_mechanics(task)
    of_events = found.events, found.event_counts
    of_states = CaseStates(group.frame, given, good, np.array(how.t), own, turns.counted, *of_events, resolution)
    quantities = BatchQuantities(
        system,
        lambda: own,
        lambda: given.states[good],
        None if system.armatures else lru_cache(1)(of_states.energies),
        motions=system.joint_motions if same_joints else None,
        quarters=turns.quarters,
        derived=DerivedQuantities(system, how, task.outputs, of_states, own, alike)
        if same_joints and derives
        else None,
        masses=(system.data.mass[1:], system.data.inertia[1:]) if one_mass else None,
        alike=alike,
    )
    known = derives and needs_more_than_states(task.outputs)

    def run_of(k: int) -> Run:
        place = int(good[k])
        of_this, counts = system_of(k), found.counts[place]
        data = stabilised(of_this.data, how.alpha, how.beta)
        stats = Stats(how.method, int(counts[0]), int(counts[1]), int(counts[2]), 0.0, how.rtol, how.atol, "")
        run = Run(
            of_this, data, np.array(how.t), own[k], State(system.body_names, own[k, -1]), Status.REACHED_END,
            message_at_end(how.t_end), stats, {}, {}, contact_events=found.events[place, : found.event_counts[place]].copy(),
            _turns=turns[k], _start=given.states[good[k]],
        )  # fmt: skip
        if known:
            vars(run)["_found"] = of_states.derived(k)
        return run

    def system_of(k: int) -> System:
        return system if same_parts else of_case(group.cases[int(good[k])])

    return columns_of_batch(
        task.outputs, how, quantities, system_of, partial(chunk.say, np.array(group.cases)[good]), run_of
    )


# Sorts of the owners of parameters; ``Quantity.owner_sort``.
OF_MASSES, ACTING = ("", "body"), ("motor", "limit", "force", "contact")
OF_FORCES = (*ACTING, "armature")


def same_mechanics(task: Task) -> bool:
    """Whether all cases of a task have the mechanics of one system, which follow from states of its bodies alone."""
    system = task.system
    return isinstance(system, System) and vary_alone(task, *ACTING) and not system.couplings


def vary_alone(task: Task, *sorts: str) -> bool:
    """Whether the cases of a task are those of one system with other initial states and parameters of these sorts alone."""
    varied = [q.owner_sort for q in task.quantities.values() if q.role is Role.PARAMETER]
    return isinstance(task.system, System) and all(sort in sorts for sort in varied)
