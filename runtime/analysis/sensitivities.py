"""How a run answers its parameters and its initial state.

The motion and its derivatives are integrated together, under the same control of the error.  Where there is a whole-model
kernel, the equations of motion and their derivative in a direction are one recorded kernel, and sixteen directions run side by
side; systems with limits, loads, motors and drivers take the exact Jacobian of their joints and forces (``runtime.integrate.variational``).
What a parameter does before the run, to the constants of a kernel and to the assembled initial state, is found by differences of
systems built nearby, of order six, on one side where the other has no systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import STATE
from runtime.dynamics.model_data import ModelData
from runtime.integrate import batch, loop
from runtime.integrate.methods import NONE, NONE2, Compiled
from runtime.integrate.settings import ATOL, RTOL, Settings, settings
from runtime.integrate.simulate import simulate
from runtime.integrate.variational import AHEAD, BOTH_SIDES, Varied, weights
from runtime.jit import addresses
from runtime.results.export import AXES, BODY_QUANTITIES, CONVENTION, EULER
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.assemble import assemble
from runtime.system.parameters import directions, is_state
from runtime.system.state import PARTS, State
from runtime.system.system import System
from runtime.system.variants import check_parameters, variant
from runtime.system.whole_model import constants_of, lanes_of

if TYPE_CHECKING:
    import xarray

STEP = 1e-3  # of the differences of systems, as a fraction of a parameter's size
ROUNDING = 1e-14  # a parameter below this is taken for 0, whose size is 1
MIN_SIZE = 1e-3  # of a number on a search, as a fraction of its first size: near 0 its steps would drown in rounding


@dataclass(frozen=True)
class Sensitivities:
    """A run and its derivatives with respect to K numbers.

    ``names`` (K,): of parameters, or of parts of the initial state such as "omega.main_foot"; components as "gravity[2]".
    ``values`` (K,): where the derivatives are taken.  ``t`` (m,) [s].  ``r``, ``p``, ``v``, ``omega``: derivatives by body,
    (m, 3, K) or (m, 4, K).  ``state``: the motion itself, in the same way without K.
    """

    system: System
    names: tuple[str, ...]
    values: Floats = field(repr=False)
    t: Floats = field(repr=False)
    states: Floats = field(repr=False)  # (m, 13 bodies)
    slopes: Floats = field(repr=False)  # (m, 13 bodies, K)
    steps: int

    def _by_body(self, array: Floats, part: str) -> Mapping[str, Floats]:
        wide = array.reshape(len(self.t), -1, STATE, *array.shape[2:])
        return MappingProxyType({name: wide[:, k, PARTS[part]] for k, name in enumerate(self.system.body_names)})

    @property
    def state(self) -> Mapping[str, Mapping[str, Floats]]:
        """r, p, v, omega -> body -> (m, 3) or (m, 4)."""
        return MappingProxyType({part: self._by_body(self.states, part) for part in PARTS})

    @property
    def r(self) -> Mapping[str, Floats]:
        """Of the centres of mass, (m, 3, K) [m by the number's unit]."""
        return self._by_body(self.slopes, "r")

    @property
    def p(self) -> Mapping[str, Floats]:
        """Of the Euler parameters, (m, 4, K)."""
        return self._by_body(self.slopes, "p")

    @property
    def v(self) -> Mapping[str, Floats]:
        """Of the velocities, (m, 3, K)."""
        return self._by_body(self.slopes, "v")

    @property
    def omega(self) -> Mapping[str, Floats]:
        """Of the angular velocities, (m, 3, K)."""
        return self._by_body(self.slopes, "omega")

    def to_xarray(self) -> xarray.Dataset:
        """Dimensions time, body, axis, euler, number."""
        import xarray

        data: dict[str, Any] = {}
        for name in PARTS:
            components, unit, meaning = BODY_QUANTITIES[name]
            dims = ("time", "body", "axis" if components is AXES else "euler")
            bodies = self.system.body_names
            values = np.stack([self.state[name][body] for body in bodies], axis=1)
            slopes = np.stack([getattr(self, name)[body] for body in bodies], axis=1)
            data[name] = (dims, values, {"units": unit, "long_name": meaning})
            data[f"d_{name}"] = ((*dims, "number"), slopes, {"long_name": f"derivative of the {meaning}"})
        coordinates: dict[str, Any] = {
            "time": ("time", self.t, {"units": "s"}), "body": list(self.system.body_names), "axis": list(AXES),
            "euler": list(EULER), "number": list(self.names), "value": ("number", self.values),
        }  # fmt: skip
        return xarray.Dataset(data, coordinates, {"system": self.system.name, "conventions": CONVENTION})


@dataclass(frozen=True)
class Question:
    """What is built, from which numbers, and which of them are looked at."""

    build: System | Callable[..., System]
    given: Mapping[str, Any]  # parameters of the function, numbers of the system, and parts of the initial state
    wrt: tuple[str, ...]

    @property
    def numbers(self) -> Floats:
        """All that are looked at, in a row."""
        return np.concatenate([np.ravel(np.asarray(self.given[name], float)) for name in self.wrt])

    @property
    def places(self) -> dict[str, slice]:
        """Where the numbers of each name stand in the row."""
        found, start = {}, 0
        for name in self.wrt:
            found[name] = slice(start, start + int(np.prod(np.shape(self.given[name]))))
            start = found[name].stop
        return found

    def sizes(self, numbers: Floats) -> Floats:
        """What the steps of differences are measured by: the largest component of each name, or 1 where all are but rounding."""
        sizes = np.empty(len(numbers))
        for name, place in self.places.items():
            first, largest = (float(np.abs(values).max()) for values in (self.given[name], numbers[place]))
            first = first if first > ROUNDING else 1.0
            sizes[place] = max(largest, MIN_SIZE * first) if largest > ROUNDING else first
        return sizes

    @property
    def names(self) -> tuple[str, ...]:
        """Theirs."""
        found: list[str] = []
        for name in self.wrt:
            shape = np.shape(self.given[name])
            found += [name + (f"[{','.join(map(str, index))}]" if shape else "") for index in np.ndindex(shape)]
        return tuple(found)

    def split(self, numbers: Floats) -> dict[str, Any]:
        """A row of numbers by name."""
        found = {}
        for name, place in self.places.items():
            shape = np.shape(self.given[name])
            found[name] = numbers[place].reshape(shape).tolist() if shape else float(numbers[place][0])
        return found

    def at(self, numbers: Floats) -> dict[str, Any]:
        """The mapping with other numbers; Euler parameters and directions keep their length."""
        numbers = numbers.copy()
        for name, place in self.unit_length.items():
            if length := np.linalg.norm(numbers[place]):
                numbers[place] *= np.linalg.norm(self.given[name]) / length
        return dict(self.given) | self.split(numbers)

    @property
    def unit_length(self) -> dict[str, slice]:
        """Where the Euler parameters and the directions of a System's joints among them stand."""
        axes = directions(self.build) if isinstance(self.build, System) else set()
        return {name: place for name, place in self.places.items() if name.startswith("p.") or name in axes}

    def system(self, numbers: Floats) -> tuple[System, Floats]:
        """System and initial state."""
        system, state, moved = variant(self.build, self.at(numbers))
        return system, (assemble(system, state) if moved or state is not system.state else state).y


def sensitivities(
    build: System | Callable[..., System],
    given: Mapping[str, Any],
    t_end: float,
    *,
    wrt: tuple[str, ...] | list[str] | None = None,
    t_eval: ArrayLike | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    alpha: float = 5.0,
    beta: float = 5.0,
) -> Sensitivities:
    """A run and its exact derivatives with respect to parameters and the initial state.

    Parameters
    ----------
    build : function, or System
        Builds the system from its parameters.
    given : mapping
        The function's keywords; numbers of the system such as "mass.toes" (see ``System.numbers``); and parts of the initial
        state such as "omega.main_foot" (r, p, v or omega of a body), which are moved onto the constraints by the least change.
        Euler parameters, and directions of a System's joints, keep their length: derivatives by them are those along the unit
        sphere.  Of inertia, give principal moments (3,); latitudes of a cone, which closes, are looked at through a function.
    t_end : float [s]
    wrt : names, optional
        Which of the given are looked at.  Default: all.  A number on whose one side there is no system, such as a damping of 0,
        is looked at from the other.
    t_eval : (m,) [s], optional
        Default: the end alone.
    rtol, atol, alpha, beta
        As of ``simulate``; the tolerances hold for the derivatives too.

    Returns
    -------
    Sensitivities

    Raises
    ------
    ModelError
        Among others for systems with contacts, and for a number on whose both sides there is no system, or another one.
    """
    question = question_of(build, given, wrt)
    return solve(question, question.numbers, t_end, t_eval, rtol, atol, alpha, beta)


def question_of(build: System | Callable[..., System], given: Mapping[str, Any], wrt: Any) -> Question:
    """What is asked, checked."""
    if not isinstance(given, Mapping) or not given:
        raise ModelError("given: give a mapping from names of parameters, or of parts of the initial state, to values")
    names = tuple(given) if wrt is None else (wrt,) if isinstance(wrt, str) else tuple(wrt)
    if not names:
        raise ModelError(
            f"wrt: names nothing to look at; choose from {', '.join(given)}, or leave it out for all of them"
        )
    for name in names:
        if name.startswith(("latitudes.", "inertia.")) and name in given and np.shape(given[name]) != (3,):
            remedy = (
                "principal moments (3,)" if name.startswith("inertia.") else "a function of the latitudes that differ"
            )
            raise ModelError(f"wrt: the components of '{name}' cannot differ one by one; give {remedy}")
        if name not in given:
            raise ModelError(f"wrt: '{name}' is not among the given: {', '.join(given)}")
        if names.count(name) > 1:
            raise ModelError(f"wrt: '{name}' stands there {names.count(name)} times; give each name once")
        value = np.asarray(given[name])
        if value.dtype.kind not in "fiu" or not value.size or not np.isfinite(value.astype(float)).all():
            raise ModelError(f"wrt: '{name}' = {given[name]!r} is no finite number; leave it out of wrt")
    if not isinstance(build, System):
        if not callable(build):
            raise ModelError(f"{build!r} is neither a System nor a function that builds one")
        check_parameters(build, [name for name in given if "." not in name], "given")
    return Question(build, given, names)


class _Nearby(NamedTuple):
    """Systems nearby, of which the derivative by a number is made."""

    systems: list[tuple[System, Floats]]  # with their initial states
    weights: Floats  # with which what they differ by from the system itself adds up to the derivative

    def slope(self, values: Sequence[Floats], own: Floats) -> Floats:
        """Derivative of what has these values there, and its own value here; exactly 0 where they are all the same."""
        slope: Floats = self.weights @ (np.array(values) - own)
        return slope


def solve(
    question: Question, numbers: Floats, t_end: float, t_eval: ArrayLike | None, rtol: float, atol: float, alpha: float,
    beta: float, max_steps: int | None = None,
) -> Sensitivities:  # fmt: skip
    """The run and its derivatives at other numbers than the given."""
    system, y = question.system(numbers)
    if system.contacts:
        raise ModelError(
            f"system '{system.name}' has contacts, of which sensitivities of runs know nothing; take differences of runs, or "
            "contact_sensitivities"
        )
    times = [t_end] if t_eval is None else t_eval
    how = settings(system, t_end, times, "dop853", rtol, atol, None, alpha, beta, np.inf, None, max_steps)
    sizes = question.sizes(numbers)
    nearby = [_nearby(question, system, numbers, k, STEP * sizes[k]) for k in range(len(numbers))]
    initial = np.array([six.slope([state for _, state in six.systems], y) for six in nearby])
    module = _module(nearby)
    if module is not None:
        states, slopes, count = _in_batch(question, module, how, system, y, initial, nearby)
    else:
        states, slopes, count = _one_by_one(question, how, system, y, initial, nearby)
    return Sensitivities(system, question.names, numbers, np.array(how.t), states, slopes, count)


def _nearby(question: Question, system: System, numbers: Floats, k: int, step: float) -> _Nearby:
    """Systems on both sides of a number, or on one where the other is refused."""
    needs = f"the derivative by {question.names[k]} at {numbers[k]:g} needs systems nearby"
    refused: list[ModelError] = []
    for places in (BOTH_SIDES, AHEAD, -AHEAD):
        found = []
        try:
            for place in places:
                at = numbers.copy()
                at[k] += place * step
                found.append(question.system(at))
        except ModelError as error:
            refused.append(error)
            continue
        for place, (other, _) in zip(places, found, strict=True):
            if _kind_of(other) != _kind_of(system):
                raise ModelError(
                    f"{needs}, but at {numbers[k] + place * step:g} the system has other bodies, joints, forces or degrees of "
                    "freedom; look at it elsewhere, or take differences of runs"
                )
        return _Nearby(found, weights(places) / step)
    raise ModelError(f"{needs}, on one side at least: {'; '.join(dict.fromkeys(map(str, refused)))}")


def _kind_of(system: System) -> list[Any]:
    """What systems have in common that differ in numbers alone."""
    return [
        system.body_names, [(j.name, j.kind, j.body_i, j.body_j) for j in system.joints],
        [(limit.name, limit.kind) for limit in system.limits], system.load_names,
        [(motor.name, motor.joint.kind) for motor in system.motors], system.degrees_of_freedom,
    ]  # fmt: skip


def _module(nearby: Sequence[_Nearby]) -> ModuleType | None:
    """A recorded kernel with lanes that holds for all systems nearby, whose zeros may be none; None if there is none."""
    keys = {other.model.key for six in nearby for other, _ in six.systems}
    return lanes_of(keys.pop()) if len(keys) == 1 else None


def _in_batch(
    question: Question, module: ModuleType, how: Settings, system: System, y: Floats, initial: Floats,
    nearby: Sequence[_Nearby],
) -> tuple[Floats, Floats, int]:  # fmt: skip
    """The motion and its derivatives by the recorded kernel, each derivative in a lane."""

    def constants(own: System) -> Floats:
        return constants_of(module, own, own.data._replace(alpha=how.alpha, beta=how.beta))

    n, count = len(y), len(initial)
    states = np.hstack([np.tile(y, (count, 1)), initial])
    own = constants(system)
    slopes = [six.slope([constants(other) for other, _ in six.systems], own) for six in nearby]
    numbers = np.hstack([np.tile(own, (count, 1)), slopes])
    given, found = batch.arguments(how, states, numbers)
    memory = batch.lanes(system.model.fixed[1:], numbers.shape[1], moved=True)
    address = int(addresses.addresses_of([module], "moved")[0])
    batch.integrate(memory, address, *given, *found, np.zeros(1, np.int64))
    if (bad := np.flatnonzero(found.status != loop.FINISHED)).size:
        _fail(system, y, how, question.names[bad[0]], found.reached[bad[0]])
    return found.out[0, :, :n], np.moveaxis(found.out[:, :, n:], 0, 2), int(found.counts[:, batch.STEPS].max())


def _one_by_one(
    question: Question, how: Settings, system: System, y: Floats, initial: Floats, nearby: Sequence[_Nearby],
) -> tuple[Floats, Floats, int]:  # fmt: skip
    """The same by the exact Jacobian of any system without contacts, all in one state."""
    n, count, times = len(y), len(initial), np.array(how.t)

    def data(own: System) -> ModelData:
        return own.data._replace(alpha=how.alpha, beta=how.beta)

    given = [
        None if is_state(name) else ([data(other) for other, _ in six.systems], six.weights)
        for name, six in zip(question.names, nearby, strict=True)
    ]
    varied = Varied(system, data(system), given)
    m = Compiled(
        "dop853", system, data(system), np.concatenate([y, initial.ravel()]), how.t_start, how.t_end, how.rtol, how.atol,
        np.inf, 0.0, work=varied.work,
    )  # fmt: skip
    out = np.full((len(times), (1 + count) * n), np.nan)
    first = 1 if times[0] == how.t_start else 0
    out[:first] = m.y
    code, _ = m.advance(how.max_steps, times[first:], out[first:], NONE, NONE2)
    if code != loop.FINISHED:
        _fail(system, y, how, "the numbers", m.t)
    states = out.reshape(len(times), 1 + count, n)
    return states[:, 0], np.moveaxis(states[:, 1:], 1, 2), m.counts()[1]


def _fail(system: System, y: Floats, how: Settings, name: str, reached: float) -> None:
    run = simulate(system, how.t_end, initial=State(system.body_names, y), progress=False, **how.keywords)
    outputs = f"; the motion itself: {run.message}" if not run.success else ""
    raise ModelError(f"the derivative by {name} failed at t = {reached:.6g} s{outputs}")
