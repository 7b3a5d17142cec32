"""The memory of cases that ``cases.loop`` runs: made once for each layout, and what each case begins with in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.equations import workspace_for
from runtime.dynamics.force_elements import EventWorkspace
from runtime.dynamics.lift import places_of_turns
from runtime.dynamics.model_data import ModelData, Workspace, size_of_states, stabilised
from runtime.integrate.automatic import DOP853, FIRST_NEEDED, MAX_NEEDED, RADAU, SHORT
from runtime.integrate.cases.loop import (
    EXPLICIT,
    IMPLICIT,
    LOOP_PART,
    AnyMethod,
    CaseControl,
    CaseMemory,
    Turning,
)
from runtime.integrate.constraint_check import bound_of_couplings, relative_bound, states_to_check
from runtime.integrate.crossings import CROSSINGS_PART
from runtime.integrate.dense_output import DENSE_PART
from runtime.integrate.events import NO_EVALUATION, AtRest, ZeroCrossing, evaluation_in, watched, watching
from runtime.integrate.methods import bind, memory_of_radau, stepper_for
from runtime.integrate.settings import Settings
from runtime.integrate.stepping import Stepper
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    in_joint_coordinates,
    is_projected,
    module_of_tree,
    stepper_of_tree,
    tree_constants,
    tree_of,
    workspace_of_tree,
)
from runtime.integrate.tree_scales import scales_of
from runtime.jit.references import Reference
from runtime.support.arrays import Floats, Ints
from runtime.support.forks import lock
from runtime.support.pool import Block, items_of, layout_of
from runtime.system.spanning_tree import COORDINATES, RATES, tree_data
from runtime.system.system import System
from runtime.system.whole_model import whole_of

STEPS_PER_CALL, SMALL = 512, 260  # steps that the loop takes at once, of systems with states up to SMALL
MAX_FREE, MAX_LAYOUTS = 4, 8  # frames that wait for their next use, by layout
PORTIONS = (np.dtype(float), np.dtype(np.int64), np.dtype(complex))


class Parts(NamedTuple):
    """Data and memory of a case."""

    t: ModelData
    w: Workspace
    rows: Workspace
    explicit: Stepper
    implicit: Stepper
    turning: Turning


def parts_of(system: System, how: Settings, watched_for: Sequence[AtRest | ZeroCrossing]) -> Parts:
    """Data and memory of a run of a system, as ``simulate`` makes them."""
    data, events = stabilised(system.data, how.alpha, how.beta), None
    if watched_for:
        of = _writable(watched(watched_for, system))
        events = watching(watched_for, of, size_of_states(data), at_start=True)
    if in_joint_coordinates(system, how):
        tree, work = tree_of(system), workspace_of_tree(system, data)
        work = _watching(work, events)
        rows, n = workspace_for(data), sum(COORDINATES[kind] + RATES[kind] for kind in tree.kinds)
        explicit = implicit = stepper_of_tree(tree, data, work, np.zeros(n))
        explicit.now.projected = is_projected(system)
    else:
        work = rows = _watching(workspace_for(data, whole_of(system, data)), events)
        if any(isinstance(event, AtRest) for event in watched_for):
            rows = workspace_for(data, whole_of(system, data))  # its accelerations are no part of the integration
        method = RADAU if how.method == RADAU else DOP853
        explicit = implicit = stepper_for(method, system, data, system.state.y)
        explicit.now.projected = how.projected
        if how.method == "auto":
            implicit = explicit._replace(own=memory_of_radau(system), address=np.zeros_like(explicit.address))
            bind(implicit, data, work)
    bind(explicit, data, work)
    return Parts(_writable(data), work, rows, explicit, implicit, _turning(implicit))


def _watching(work: Workspace, events: EventWorkspace | None) -> Workspace:
    return work if events is None else work._replace(events=events)


def _turning(s: Stepper) -> Turning:
    first = np.array([FIRST_NEEDED[DOP853], FIRST_NEEDED[RADAU]])
    rules = np.array([SHORT, MAX_NEEDED])
    kept, last = (getattr(s.own, name, np.zeros(1, kind)) for name, kind in (("kept", np.int64), ("last", float)))
    return Turning(kept, last, first.copy(), np.zeros(2, np.int64), first, rules)


def _writable(value: Any) -> Any:
    """A named tuple with copies of its arrays, which may be written."""
    if isinstance(value, tuple):
        return type(value)(*map(_writable, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _read_only(value: Any) -> Any:
    """A named tuple with its arrays as read-only ones, for which compiled code is specialised."""
    if isinstance(value, tuple):
        return type(value)(*map(_read_only, value))
    if not isinstance(value, np.ndarray):
        return value
    seen = value.view()
    seen.flags.writeable = False
    return seen


class Image(NamedTuple):
    """The values of all arrays: floats, integers, complex numbers as pairs of floats."""

    floats: Floats
    ints: Ints
    pairs: Floats


class Changes(NamedTuple):
    """Where the values of a case differ from those of the first one, and these values."""

    float_place: Ints
    float_value: Floats
    int_place: Ints
    int_value: Ints


NO_CHANGES = Changes(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Frame:
    """The memory of a layout, with the references by which compiled code finds its parts."""

    key: Any
    block: Block
    own: Image  # the memory itself
    parts: Parts  # in it
    memory: Reference
    kept: tuple[Any, ...] = field(repr=False)  # what the memory refers to

    def image(self, parts: Parts) -> Image:
        """The values of other parts of the same layout."""
        self.block.fill(parts)
        return Image(self.own.floats.copy(), self.own.ints.copy(), self.own.pairs.copy())

    def places(self, array: np.ndarray[Any, Any]) -> Ints:
        """Places of the items of one of the arrays of floats."""
        start = (array.ctypes.data - self.own.floats.ctypes.data) // array.itemsize
        return np.arange(start, start + array.size)

    @property
    def copies(self) -> dict[int, list[Floats]]:
        """Arrays of the memory of evaluations that begin as copies of those of the data, by the identity of these."""
        t, found = self.parts.t, dict[int, list[Floats]]()
        for w in (self.parts.w, self.parts.rows):
            for own, copy in (
                (t, w),
                (t.limits, w.limits),
                (t.loads, w.loads),
                (t.forces, w.forces),
                (t.contacts, w.contacts),
            ):
                found.setdefault(id(own.x), []).append(copy.x)
            found.setdefault(id(t.contacts.normal), []).append(w.contacts.normal)
        return found

    def give_back(self) -> None:
        """Let the next chunk have the memory."""
        with _LOCK:
            free = _FREE.pop(self.key, [])
            while len(_FREE) >= MAX_LAYOUTS:
                del _FREE[next(iter(_FREE))]
            _FREE[self.key] = free
            if len(free) < MAX_FREE:
                free.append(self)


def image_of(parts: Parts) -> Image:
    """The values of parts, in the order of every frame of their layout."""
    return _arrays(Block(parts))


def _arrays(block: Block) -> Image:
    found = {array.dtype: array for array in block.arrays}
    floats, ints, complexes = (found.get(kind, np.zeros(0, kind)) for kind in PORTIONS)
    return Image(floats, ints, complexes.view(float))


def changes_of_images(image: Image, first: Image) -> Changes:
    """The changes from one image to another."""
    floats, ints = (np.flatnonzero(_bits(a) != _bits(b)) for a, b in zip(image[:2], first[:2], strict=True))
    return Changes(floats, image.floats[floats], ints, image.ints[ints])


def _bits(array: Any) -> Any:
    return array.view(np.int64)


def same_items(first: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two sequences hold the same objects."""
    return len(first) == len(other) and all(a is b for a, b in zip(first, other, strict=True))


def changes_of_data(frame: Frame, first: System, system: System, how: Settings) -> Changes | None:
    """The changes from the first system of a frame to another, from their data and trees alone.

    None where more than numbers of these may differ, so that memory of its own decides.
    """
    in_joints = in_joint_coordinates(system, how)
    if in_joints != in_joint_coordinates(first, how):
        return None
    if len(frame.parts.w.events.value):  # whose vectors may be given in the reference configuration
        if not np.array_equal(first.reference_configuration.y, system.reference_configuration.y):
            return None
    same = same_items(first.contacts, system.contacts) and same_items(first.forces, system.forces)
    if how.method != DOP853 and not same:
        return None  # the tolerances of radau depend on their transition velocities
    found = (_changes_of_tree if in_joints else _changes_of_kernel)(frame, first, system)
    if found is None:
        return None
    before, now, own = (items_of(t) for t in (first.data, system.data, frame.parts.t))
    if not _add_changes(found, before, now, own):
        return None
    c = system.data.contacts
    if c.min_impact_speed is not first.data.contacts.min_impact_speed:
        found.append((frame.parts.w.contacts.speed, np.where(c.impact >= 0, c.min_impact_speed, 0.0)))
    copies = frame.copies
    found += [(copy, values) for to, values in found for copy in copies.get(id(to), ())]
    if not found:
        return NO_CHANGES
    places = np.concatenate([frame.places(to) for to, _ in found])
    return NO_CHANGES._replace(float_place=places, float_value=np.concatenate([value.ravel() for _, value in found]))


def _add_changes(found: list[tuple[Floats, Floats]], before: list[Any], now: list[Any], own: list[Any]) -> bool:
    """Add arrays of memory and their values; False where more than floats differ."""
    for a, b, to in zip(before, now, own, strict=True):
        if a is b:
            continue
        if not isinstance(b, np.ndarray) or b.dtype != float:
            if not np.array_equal(a, b):
                return False
        elif a.shape != b.shape:
            return False
        else:
            found.append((to, b))
    return True


def _changes_of_kernel(frame: Frame, first: System, system: System) -> list[tuple[Floats, Floats]] | None:
    """The constants of the kernel of all bodies; None where there is another one."""
    old, new = whole_of(first, first.data), whole_of(system, system.data)
    if (old is None) != (new is None):
        return None
    if old is None or new is None:
        return []
    if old[:2] != new[:2] or old.constants.shape != new.constants.shape:
        return None
    return [(frame.parts.w.constants, new.constants)]


def _changes_of_tree(frame: Frame, first: System, system: System) -> list[tuple[Floats, Floats]] | None:
    """The data of a tree without rows, the constants of its kernel and the scales of its errors; None for other trees."""
    old, new, m = tree_of(first), tree_of(system), frame.parts.w.tree
    module = module_of_tree(system)
    if (
        old.closing
        or new.closing
        or old.limits
        or new.limits
        or system.couplings
        or module is not module_of_tree(first)
    ):
        return None
    found: list[tuple[Floats, Floats]] = [(frame.parts.explicit.scales, np.array(scales_of(new)))]
    if module is not None:
        constants = tree_constants(new, system.gravity)
        found.append((m.constants[: len(constants)], constants))
    before, now = (items_of(tree_data(tree, of.gravity)) for tree, of in ((old, first), (new, system)))
    return found if _add_changes(found, before, now, items_of(m.data)) else None


_FREE: dict[Any, list[Frame]] = {}
_LOCK = lock()


def key_of(parts: Parts) -> Any:
    """What cases have in common that can have the same memory."""
    # On these the width of results depends.
    return layout_of(parts), places_of_turns(parts.w.tree.data).tobytes(), parts.t.counted


def frame_for(parts: Parts, key: Any) -> Frame:
    """Memory of the layout of parts; safe in threads."""
    with _LOCK:
        if free := _FREE.get(key):
            return free.pop()
    block = Block(parts)
    own = _arrays(block)
    inside: Parts = block.value
    w, rows = (w._replace(events=w.events._replace(data=_read_only(w.events.data))) for w in (inside.w, inside.rows))
    inside = inside._replace(t=_read_only(inside.t), w=w, rows=rows)
    of_methods = inside.explicit, inside.implicit
    steppers = [Reference(s) for s in of_methods]
    loops, crossings, dense = (
        np.array([part.place(s, inside.t) for s in of_methods]) for part in (LOOP_PART, CROSSINGS_PART, DENSE_PART)
    )
    at_rest = bool(np.isfinite(inside.w.events.limits).any())
    evaluation, kept = evaluation_in(inside.t, inside.rows) if at_rest else NO_EVALUATION
    memory = CaseMemory(
        inside.t, inside.w, inside.rows, inside.explicit._replace(own=AnyMethod(np.zeros(1))), inside.turning, *own,
        np.array([s.address for s in steppers]), loops, crossings, dense, np.array(evaluation),
    )  # fmt: skip
    return Frame(key, block, own, inside, Reference(memory), (memory, steppers, kept))


def control_of(system: System, how: Settings) -> CaseControl:
    """Settings of the cases of systems with the layout of this one."""
    in_joints = in_joint_coordinates(system, how)
    projected = is_projected(system) if in_joints else how.projected
    size = len(system.state.y)
    portion = max(1, int(STEPS_PER_CALL * min(1.0, SMALL / size) ** 2))
    return CaseControl(
        how.t_start, how.t_end, how.rtol, how.atol, how.max_step, how.first_step, how.max_steps, portion,
        int(projected), IMPLICIT if how.method == RADAU else EXPLICIT,
        int(how.method == "auto" and not in_joints), FIRST_NEEDED[DOP853] if how.method == "auto" else 0, int(in_joints),
        OFF_THE_ROWS, states_to_check(system, how), relative_bound(how),
        bound_of_couplings(how),
    )  # fmt: skip
