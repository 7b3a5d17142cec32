"""States of muscles at the start: those in equilibrium with all bodies at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import V
from runtime.jit.python_code import with_arrays
from runtime.lanes.vector_formulas import with_vectors
from runtime.support.arguments import checked
from runtime.support.arrays import Floats, Ints, frozen
from runtime.support.errors import ModelError, warn
from runtime.system.connection import checked_parameter
from runtime.system.force_building import look_up_tables
from runtime.system.muscle_modules import BEFORE_STATES, DELAYED, RATES, Muscle, reflex_of
from runtime.system.parts import Force
from runtime.system.reference import body_places, reference, states_with_ground
from runtime.system.system import System, with_fields
from runtime.system.trees import keep_of_joints

# Where the rate of a state is sampled: parts of the length of the path or, in another unit, of the largest constant with this
# unit; pure numbers.  Between these it is sampled where it may turn back before 0, and on both sides of kinks of the law, such
# as the isometric force: laws have poles beside their zeros there.
PLACES = np.append(0.0, np.geomspace(1e-4, 10.0, 101))
BESIDE = 1e-9  # of a state: how far from a kink
TURNING = 0.5  # of the second difference of samples: a size that is larger is none of a rate that turns back beyond 0
LARGEST = 1e300  # of a rate, in place of an infinite one


@checked
def in_equilibrium(system: System) -> System:
    """Return the system whose muscles begin where the rates of their states are 0, in its initial state with all bodies at rest.

    That is for states whose initial values were not given, in the order of the law.  One that is at rest at the excitation, such
    as the activation, begins as the excitation.  Another one, such as the length of the fibre, is sought upwards from 0, and
    begins at the first place where its rate falls through 0.  An activation without such a place, as that of an excitation below
    the minimum activation, begins as the excitation too, with a warning.

    Raises
    ------
    ModelError
        Naming the muscle and the state for whose rate no such place is found.
    """
    return in_equilibrium_at(system, system.state.y)


def in_equilibrium_at(system: System, y: Floats) -> System:
    """``in_equilibrium`` in a state y (13 bodies,)."""
    states, places = states_with_ground(y), body_places(system.body_names)
    states[:, V:] = 0.0
    groups, found = dict[tuple[Any, ...], list[_AtStart]](), dict[str, dict[str, float]]()
    for force in system.forces:
        if force.settled:
            of = force.module.muscle
            one = _at_start(force, [states[places[body]] for body in force.bodies], system.time)
            groups.setdefault((of.law, of.kernel, of.states), []).append(one)
    for muscles in groups.values():
        found |= dict(zip((one.force.name for one in muscles), _at_rest(muscles), strict=True))
    return _beginning(system, found) if found else system


def _beginning(system: System, found: Mapping[str, Mapping[str, float]]) -> System:
    """The system whose muscles begin with these states by name, which is all that changes."""
    t, forces = system.data.forces, list[Force]()
    x = t.x.copy()
    for k, force in enumerate(system.forces):
        module, own = force.module, {f"{state}_0": value for state, value in found.get(force.name, {}).items()}
        for n, state in enumerate(module.STATES if own else ()):
            if (initial := f"{state}_0") in own:
                place = 3 * len(module.VECTORS) + [name for name, _ in module.PARAMETERS].index(initial)
                x[k, place] = x[k, module.STATES_PLACE + n] = own[initial]
        values = MappingProxyType({**force.values, **own})
        forces.append(with_fields(force, values=values) if own else force)
    data = frozen(system.data._replace(forces=t._replace(x=x)))
    other = with_fields(system, forces=tuple(forces), data=data, _made_of=())
    keep_of_joints(system, other)
    return other


class _AtStart(NamedTuple):
    """A muscle at rest at the start: its length, excitation, states and constants."""

    force: Force
    length: float
    excitation: float
    states: Floats
    constants: Floats

    def whole(self, unit: str) -> float:
        """Of which ``PLACES`` are parts."""
        if known := {"m": self.length, "1": 1.0}.get(unit):
            return known
        parts, values = self.force.module.PARAMETERS, self.force.values
        largest = [np.abs(values[part]).max() for part, of in parts if of == unit and not part.endswith("_0")]
        return max(map(float, largest), default=0.0) or 1.0


def _at_start(force: Force, ends: Sequence[Floats], time: float) -> _AtStart:
    module, x = force.module, np.zeros(force.module.SIZE)
    reference(force, ends[0], ends[1], x, *ends[2:])
    look_up_tables(force, ends, x)
    signals = {name: module.LOADS_PLACE - 3 * n for n, name in enumerate(reversed(module.SIGNALS), 1)}
    if "excitation" in signals:
        x[signals["excitation"]] = force.signals["excitation"](time)
    places = {name: REPORTS + k for k, (name, _) in enumerate(module.OUTPUTS)}

    def outputs() -> tuple[float, float]:
        out = dict[int, Any]()
        with np.errstate(all="ignore"):
            with_arrays(module.evaluate)(*ends, x, out)
        return float(out[places["length"]]), float(out[places["excitation"]])

    length, excitation = outputs()
    if DELAYED[0] in signals:  # before the start the muscle was at rest
        x[signals[DELAYED[0]]] = length
        _, excitation = outputs()
    of, first = module.muscle, module.STATES_PLACE
    constants = x[of.constants : of.constants + len(of.law.PARAMETERS)]
    return _AtStart(force, length, excitation, x[first : first + len(module.STATES)], constants)


class _Law:
    """The law of several muscles, with their lengths and the rest of their numbers by columns."""

    def __init__(self, of: Muscle, muscles: Sequence[_AtStart]) -> None:
        self.numbers, kinks = of.numbers, of.law.KINKS[of.kernel]
        self.law = with_vectors(getattr(of.law, of.kernel), math=np)
        self.kinked = with_vectors(getattr(of.law, f"{of.kernel}_kinks"), math=np) if kinks else None
        self.x = np.zeros((BEFORE_STATES + len(of.law.STATES), len(muscles)))
        self.x[0], self.x[2] = ([getattr(one, name) for one in muscles] for name in ("length", "excitation"))
        self.c = np.array([one.constants for one in muscles]).T
        for k in range(len(of.numbers)):
            self.put(k, np.array([one.states[k] for one in muscles]))

    def put(self, k: int, values: Floats) -> None:
        """Set state k of all muscles."""
        self.x[BEFORE_STATES + self.numbers[k]] = values

    def _of(self, kernel: Any, k: int, rows: Ints, z: Floats) -> dict[int, Any]:
        x, out = [*self.x[:, rows]], dict[int, Any]()
        x[BEFORE_STATES + self.numbers[k]] = z
        with np.errstate(all="ignore"):
            kernel(x, self.c[:, rows], out)
        return out

    def rate(self, k: int, rows: Ints, z: Floats) -> Floats:
        """Rates of values z of state k of muscles, by their rows."""
        found = self._of(self.law, k, rows, z)[RATES + self.numbers[k]]
        return np.clip(np.broadcast_to(found, z.shape), -LARGEST, LARGEST)

    def kinks(self, k: int, rows: Ints, z: Floats) -> Floats:
        """What changes its sign at kinks of the law, (kinks, *z.shape)."""
        found = [] if self.kinked is None else self._of(self.kinked, k, rows, z).values()
        return np.array([np.broadcast_to(value, z.shape) for value in found]).reshape(-1, *z.shape)


def _at_rest(muscles: Sequence[_AtStart]) -> list[dict[str, float]]:
    """The states that are settled of muscles with one law, with their values."""
    of: Muscle = muscles[0].force.module.muscle
    law, found = _Law(of, muscles), [dict[str, float]() for _ in muscles]
    for k, state in enumerate(of.states):
        rows = np.array([n for n, one in enumerate(muscles) if state in one.force.settled], np.int64)
        if not len(rows):
            continue
        unit, excitation = of.law.STATES[of.numbers[k]][1], law.x[2, rows]
        at = PLACES * np.array([[muscles[n].whole(unit)] for n in rows])
        follows = np.zeros(len(rows), bool)
        if unit == "1":
            at = np.sort(np.column_stack([at, excitation]))
            before, behind = (law.rate(k, rows, excitation + off) for off in (-BESIDE, BESIDE))
            follows = (law.rate(k, rows, excitation) == 0.0) & ((before > 0.0) | (behind < 0.0))
        starts, sought = excitation.copy(), rows[~follows]
        starts[~follows] = _first_falls(law, k, sought, at[~follows]) if len(sought) else 0.0
        for n, start, last in zip(rows.tolist(), starts.tolist(), at[:, -1].tolist(), strict=True):
            found[n][state] = _checked(muscles[n], state, unit, start, last)
        law.x[BEFORE_STATES + of.numbers[k], rows] = [found[n][state] for n in rows]
    return found


def _checked(one: _AtStart, state: str, unit: str, start: float, last: float) -> float:
    """The value at which a state begins, where one was found up to the last place; of an activation the excitation."""
    what = f"muscle '{one.force.name}' ({one.force.kind})"
    if not np.isnan(start):
        return checked_parameter(start, f"{what}: {state}_0", one.force.module.BOUNDS[f"{state}_0"])
    if state != "activation":
        most = f"{last:.4g} {unit}".removesuffix(" 1")
        raise ModelError(
            f"{what}: found no {state} up to {most} at which its rate falls through 0, with a path of {one.length:.4g} m and "
            f"its excitation of {one.excitation:.4g}; give {state}_0, or correct the constants"
        )
    if "excitation" in one.force.values and not reflex_of(one.force.kind):  # which else would rise
        warn(
            f"{what}: at the excitation {one.excitation:g} its activation falls without end, as below a minimum activation; "
            "it begins as the excitation, give an excitation above the minimum for an equilibrium"
        )
    return one.excitation


def _first_falls(law: _Law, k: int, rows: Ints, at: Floats) -> Floats:
    """The first places at which rates of state k fall through 0, and not at a pole, where they are more than beside it.

    NaN where there is none.  rows : of the muscles; at (rows, places), increasing
    """
    from scipy.optimize import elementwise  # only systems with muscles need it

    of = np.broadcast_to(np.arange(len(rows))[:, None], at.shape)

    def rate(z: Floats, n: Ints, *sign: Floats) -> Floats:
        return law.rate(k, rows[n], z) * (sign[0] if sign else 1.0)

    def kink(z: Floats, n: Ints, i: Ints) -> Floats:
        return np.take_along_axis(law.kinks(k, rows[n], z), i[None], axis=0)[0]

    rates, signs = rate(at, of), np.sign(law.kinks(k, rows[of], at))
    i, n, cell = np.nonzero(signs[..., :-1] * signs[..., 1:] < 0.0)
    between, near = (at[n, cell], at[n, cell + 1]), {"xrtol": 0.1 * BESIDE}
    kinks = elementwise.find_root(kink, between, args=(n, i), tolerances=near).x if len(n) else np.zeros(0)
    side, (before, here, behind) = np.sign(rates[:, 1:-1]), (np.abs(rates[:, q : q - 2 or None]) for q in range(3))
    same = (np.sign(rates[:, :-2]) == side) & (np.sign(rates[:, 2:]) == side)
    low = (here < before) & (here < behind) & (here < TURNING * (before - 2.0 * here + behind))
    m, cell = np.nonzero(same & low)
    three = at[m, cell], at[m, cell + 1], at[m, cell + 2]
    turns = elementwise.find_minimum(rate, three, args=(m, side[m, cell])).x if len(m) else np.zeros(0)
    more, of_more = np.concatenate([kinks * (1.0 - BESIDE), kinks * (1.0 + BESIDE), turns]), np.concatenate([n, n, m])
    z, of = np.append(at, more), np.append(of, of_more)
    order = np.lexsort((z, of))
    z, of, values = z[order], of[order], np.append(rates, rate(more, of_more))[order]
    longer = (
        (of[:-1] == of[1:]) & (values[:-1] == 0.0) & (values[1:] == 0.0)
    )  # where a rate is 0 its first place counts
    z, of, values = (part[np.append(True, ~longer)] for part in (z, of, values))
    q = np.flatnonzero((of[:-1] == of[1:]) & (values[:-1] >= 0.0) & (values[1:] < 0.0))
    found, n = np.full(len(rows), np.nan), of[q]
    if len(q):
        zeros = elementwise.find_root(rate, (z[q], z[q + 1]), args=(n,)).x
        true = np.abs(rate(zeros, n)) <= np.maximum(np.abs(values[q]), np.abs(values[q + 1]))
        found[n[true][::-1]] = zeros[true][::-1]
    return found
