"""How a run answers its parameters and its initial state, and parameters from data.

The motion and its derivatives are integrated together, under the same control of the error.  Where there is a whole-model
kernel, the equations of motion and their derivative in a direction are one recorded kernel, and sixteen directions run side by
side; systems with limits, loads, motors and drivers take the exact Jacobian of their joints and forces (``runtime.variation``).
What a parameter does before the run, to the constants of a kernel and to the assembled initial state, is found by differences of
systems built nearby, of order six.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares

from runtime import addresses, lanes, march
from runtime.equations import STATE, Tables
from runtime.errors import ModelError
from runtime.methods import NONE, NONE2, Compiled
from runtime.simulate import ATOL, RTOL, Settings, settings, simulate
from runtime.structure import Floats
from runtime.system import PARTS, State, System
from runtime.variation import NEARBY, WEIGHTS, Varied
from runtime.whole import constants_of, module_of

if TYPE_CHECKING:
    import xarray

STEP = 1e-3  # of the differences of systems, as a fraction of a parameter's size
PATIENCE, LEAST_PATIENCE = 100, 1000  # times the steps of a fit's first run: what takes more is no candidate
ROUNDING = 1e-14  # a parameter below this is taken for 0, whose size is 1


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

        from runtime.export import AXES, BODY_QUANTITIES, CONVENTION, EULER

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
class ParameterFit:
    """Parameters with which a model comes nearest to data.

    ``values``: by name.  ``deviation``: standard deviation of each by the residuals' own scatter, as linearised at the end.
    ``residual``: root mean square of all weighted residuals.  ``success``, ``message``: of the search.
    """

    values: Mapping[str, Any]
    deviation: Mapping[str, Any]
    residual: float
    evaluations: int
    success: bool
    message: str
    sensitivities: Sensitivities = field(repr=False)


@dataclass(frozen=True)
class _Question:
    """What is built, from which numbers, and which of them are looked at."""

    build: Callable[..., System]
    given: Mapping[str, Any]  # parameters of the function, and parts of the initial state
    wrt: tuple[str, ...]

    @property
    def numbers(self) -> Floats:
        """All that are looked at, in a row."""
        return np.concatenate([np.ravel(np.asarray(self.given[name], float)) for name in self.wrt])

    def sizes(self, numbers: Floats) -> Floats:
        """What the steps of differences are measured by: the largest component of each name, or 1 where all are but rounding."""
        sizes, start = np.empty(len(numbers)), 0
        for name in self.wrt:
            part = slice(start, start + int(np.prod(np.shape(self.given[name]))))
            largest = float(np.abs(numbers[part]).max())
            sizes[part], start = largest if largest > ROUNDING else 1.0, part.stop
        return sizes

    @property
    def names(self) -> tuple[str, ...]:
        """Theirs."""
        found: list[str] = []
        for name in self.wrt:
            shape = np.shape(self.given[name])
            found += [name + (f"[{','.join(map(str, index))}]" if shape else "") for index in np.ndindex(shape)]
        return tuple(found)

    def at(self, numbers: Floats) -> dict[str, Any]:
        """The mapping with other numbers."""
        changed, start = dict(self.given), 0
        for name in self.wrt:
            shape = np.shape(self.given[name])
            size = int(np.prod(shape))
            part = numbers[start : start + size].reshape(shape)
            changed[name] = part.tolist() if shape else float(part)
            start += size
        return changed

    def system(self, numbers: Floats) -> tuple[System, Floats]:
        """System and initial state."""
        given = self.at(numbers)
        system = self.build(**{name: value for name, value in given.items() if "." not in name})
        parts: dict[str, dict[str, Any]] = {}
        for name, value in given.items():
            part, _, body = name.partition(".")
            if body:
                parts.setdefault(part, {})[body] = value
        state = system.assemble(system.state.replace(**parts)) if parts else system.state
        return system, state.y


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
        Builds the system from its parameters; a System where only its initial state is looked at.
    given : mapping
        The function's keywords, and parts of the initial state such as "omega.main_foot" (r, p, v or omega of a body), which
        are moved onto the constraints by the least change.
    t_end : float [s]
    wrt : names, optional
        Which of the given are looked at.  Default: all.
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
        Among others for systems with contacts.
    """
    question = _question(build, given, wrt)
    return _solve(question, question.numbers, t_end, t_eval, rtol, atol, alpha, beta)


def fit_parameters(
    build: System | Callable[..., System],
    given: Mapping[str, Any],
    t: ArrayLike,
    data: Mapping[str, ArrayLike],
    *,
    wrt: tuple[str, ...] | list[str] | None = None,
    sigma: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
) -> ParameterFit:
    """Parameters and initial state with which a model comes nearest to measured motion, by least squares.

    Parameters
    ----------
    build, given, wrt
        As of ``sensitivities``; the search starts from ``given``.
    t : (m,) [s]
    data : mapping
        Part of the state, such as "r.main_foot" -> (m, 3) measured values, NaN where there is none.
    sigma : mapping, optional
        Standard deviation of each; default 1 in its unit.
    bounds : mapping, optional
        Name -> least and greatest value.

    Returns
    -------
    ParameterFit

    Raises
    ------
    ModelError
    """
    question = _question(build, given, wrt)
    times = np.atleast_1d(np.asarray(t, float))
    start = question.numbers
    low, high = np.full(len(start), -np.inf), np.full(len(start), np.inf)
    place = 0
    for name in question.wrt:
        size = int(np.prod(np.shape(given[name])))
        if bounds and name in bounds:
            low[place : place + size], high[place : place + size] = bounds[name]
        place += size
    if bounds and (unknown := set(bounds) - set(question.wrt)):
        raise ModelError(f"bounds: '{sorted(unknown)[0]}' is not looked for; known are {', '.join(question.wrt)}")
    measured = {name: np.asarray(values, float) for name, values in data.items()}
    sigma = dict(sigma or {})
    last: dict[bytes, Sensitivities] = {}
    most: int | None = None

    def solved(numbers: Floats) -> Sensitivities:
        key = numbers.tobytes()
        if key not in last:
            last.clear()
            last[key] = _solve(question, numbers, float(times[-1]), times, rtol, atol, 5.0, 5.0, most)
        return last[key]

    def rows(numbers: Floats, slopes: bool) -> Floats:
        found = solved(numbers)
        parts = []
        for name, values in measured.items():
            part, _, body = name.partition(".")
            own = getattr(found, part)[body] if slopes else found.state[part][body] - values
            known = np.isfinite(values)
            parts.append(own[known] / sigma.get(name, 1.0))
        return np.concatenate(parts)

    _check_data(solved(start), measured, sigma, len(times))
    most = max(PATIENCE * solved(start).steps, LEAST_PATIENCE)
    if not ((low < start) & (start < high)).all():
        at = int(np.argmin((low < start) & (start < high)))
        raise ModelError(f"bounds: {question.names[at]} = {start[at]:g} is not between {low[at]:g} and {high[at]:g}")
    count = len(rows(start, False))

    def residuals(numbers: Floats) -> Floats:
        try:
            return rows(numbers, False)
        except ModelError:
            return np.full(count, np.nan)  # no such system or run: the search takes a shorter step

    found = least_squares(
        residuals, start, jac=lambda x: rows(x, True), bounds=(low, high), x_scale="jac", xtol=1e-12,
        ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    spread = 2.0 * found.cost / max(count - len(start), 1)
    covariance = spread * np.linalg.pinv(found.jac.T @ found.jac)
    values, deviation = question.at(found.x), question.at(np.sqrt(np.diag(covariance)))
    return ParameterFit(
        MappingProxyType({name: values[name] for name in question.wrt}),
        MappingProxyType({name: deviation[name] for name in question.wrt}),
        float(np.sqrt(2.0 * found.cost / count)), int(found.nfev), bool(found.success), str(found.message), solved(found.x),
    )  # fmt: skip


def _check_data(found: Sensitivities, data: Mapping[str, Floats], sigma: Mapping[str, float], times: int) -> None:
    if not data:
        raise ModelError("data: give measured parts of the state, such as {'r.main_foot': (m, 3)}")
    for name, values in data.items():
        part, _, body = name.partition(".")
        if part not in PARTS or body not in found.system.body_names:
            known = ", ".join(found.system.body_names)
            raise ModelError(f"data: '{name}' is no part of the state; use r, p, v or omega of {known}")
        expected = (times, PARTS[part].stop - PARTS[part].start)
        if values.shape != expected:
            raise ModelError(f"data: '{name}' has the shape {values.shape}; give {expected}, a row for each time")
        if not np.isfinite(values).any():
            raise ModelError(f"data: '{name}' holds no number")
        if not (np.isfinite(sigma.get(name, 1.0)) and sigma.get(name, 1.0) > 0.0):
            raise ModelError(f"sigma: '{name}' = {sigma[name]!r} must be above 0")
    if unknown := set(sigma) - set(data):
        raise ModelError(f"sigma: there are no data '{sorted(unknown)[0]}'")


def _question(build: System | Callable[..., System], given: Mapping[str, Any], wrt: Any) -> _Question:
    if not isinstance(given, Mapping) or not given:
        raise ModelError("given: give a mapping from names of parameters, or of parts of the initial state, to values")
    names = tuple(given) if wrt is None else (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for name in names:
        if name not in given:
            raise ModelError(f"wrt: '{name}' is not among the given: {', '.join(given)}")
        value = np.asarray(given[name])
        if value.dtype.kind not in "fiu" or not np.isfinite(value.astype(float)).all():
            raise ModelError(f"wrt: '{name}' = {given[name]!r} is no finite number; leave it out of wrt")
    for name in given:
        part, _, body = name.partition(".")
        if body and part not in PARTS:
            raise ModelError(f"given: unknown part of the state in '{name}'; use {', '.join(PARTS)}")
    if isinstance(build, System):
        if plain := [name for name in given if "." not in name]:
            raise ModelError(
                f"given: '{plain[0]}' is no part of the initial state; give the function that builds the system"
            )
        system = build
        return _Question(lambda: system, given, names)
    if not callable(build):
        raise ModelError(f"{build!r} is neither a System nor a function that builds one")
    return _Question(build, given, names)


def _solve(
    question: _Question, numbers: Floats, t_end: float, t_eval: ArrayLike | None, rtol: float, atol: float, alpha: float,
    beta: float, max_steps: int | None = None,
) -> Sensitivities:  # fmt: skip
    system, y = question.system(numbers)
    if system.contacts:
        raise ModelError(
            f"system '{system.name}' has contacts, of which sensitivities of runs know nothing; take differences of runs, or "
            "contact_sensitivities"
        )
    how = settings(
        system,
        t_end,
        [t_end] if t_eval is None else t_eval,
        "dop853",
        rtol,
        atol,
        None,
        alpha,
        beta,
        np.inf,
        None,
        max_steps,
    )
    steps = STEP * question.sizes(numbers)
    others = [_nearby(question, system, numbers, k, steps[k]) for k in range(len(numbers))]
    initial = np.array([_slope([state for _, state in six], steps[k]) for k, six in enumerate(others)])
    module = _module(system, others)
    if module is not None:
        states, slopes, count = _in_lanes(question, module, how, system, y, initial, others, steps)
    else:
        states, slopes, count = _in_march(question, how, system, y, initial, others, steps)
    return Sensitivities(system, question.names, numbers, np.array(how.t), states, slopes, count)


def _nearby(question: _Question, system: System, numbers: Floats, k: int, step: float) -> list[tuple[System, Floats]]:
    """The six systems, with their initial states, of which the differences by a number are taken."""
    found = []
    for part in NEARBY:
        at = numbers.copy()
        at[k] += part * step
        try:
            other, state = question.system(at)
        except ModelError as error:
            raise ModelError(
                f"the derivative by {question.names[k]} at {numbers[k]:g} needs systems nearby: {error}"
            ) from None
        if [other.body_names, other.joint_names, other.limit_names] != [
            system.body_names, system.joint_names, system.limit_names,
        ]:  # fmt: skip
            raise ModelError(
                f"the derivative by {question.names[k]} at {numbers[k]:g} needs systems nearby, but at {at[k]:g} the system "
                "has other bodies, joints or limits"
            )
        found.append((other, state))
    return found


def _slope(values: Sequence[Floats], step: float) -> Floats:
    """What values at ``NEARBY`` times a step tell of the slope between them."""
    slope: Floats = WEIGHTS @ np.array(values) / step
    return slope


def _module(system: System, others: Sequence[Sequence[tuple[System, Floats]]]) -> ModuleType | None:
    """A recorded kernel that holds for the system and for those nearby, whose zeros may be none; None if there is none."""
    if system.limits or system.loads or system.motors or system.drivers:
        return None
    keys = {other.model.key for six in others for other, _ in six}
    if len(keys) > 1:
        return None
    module = module_of(keys.pop())
    return module if module is not None and module.LANES == lanes.LANES else None


def _in_lanes(
    question: _Question, module: ModuleType, how: Settings, system: System, y: Floats, initial: Floats,
    others: Sequence[Sequence[tuple[System, Floats]]], steps: Floats,
) -> tuple[Floats, Floats, int]:  # fmt: skip
    """The motion and its derivatives by the recorded kernel, each derivative in a lane."""

    def constants(own: System) -> Floats:
        return constants_of(module, own, own.tables._replace(alpha=how.alpha, beta=how.beta))

    n, count, times = len(y), len(initial), np.array(how.t)
    states = np.hstack([np.tile(y, (count, 1)), initial])
    slopes = [_slope([constants(other) for other, _ in six], steps[k]) for k, six in enumerate(others)]
    numbers = np.hstack([np.tile(constants(system), (count, 1)), slopes])
    out, status = np.full((count, len(times), 2 * n), np.nan), np.zeros(count, np.int64)
    counts, reached = np.zeros((count, 3), np.int64), np.zeros(count)
    lanes.integrate(
        lanes.lanes(system.model.fixed[1:], numbers.shape[1], moved=True),
        int(addresses.addresses_of([module], "moved")[0]), np.array([how.t_start, how.t_end]),
        np.array([how.rtol, how.atol]), np.array([np.inf, 0.0, how.max_steps]), states, numbers, times, out, status, counts,
        reached, np.zeros(1, np.int64),
    )  # fmt: skip
    if (bad := np.flatnonzero(status != march.FINISHED)).size:
        _fail(system, y, how, question.names[bad[0]], reached[bad[0]])
    return out[0, :, :n], np.moveaxis(out[:, :, n:], 0, 2), int(counts[:, 1].max())


def _in_march(
    question: _Question, how: Settings, system: System, y: Floats, initial: Floats,
    others: Sequence[Sequence[tuple[System, Floats]]], steps: Floats,
) -> tuple[Floats, Floats, int]:  # fmt: skip
    """The same by the exact Jacobian of any system without contacts, all in one state."""
    n, count, times = len(y), len(initial), np.array(how.t)

    def tables(own: System) -> Tables:
        return own.tables._replace(alpha=how.alpha, beta=how.beta)

    nearby = [
        None if _is_initial(name) else [tables(other) for other, _ in six]
        for name, six in zip(question.names, others, strict=True)
    ]
    varied = Varied(system, tables(system), nearby, steps)
    m = Compiled(
        "dop853", system, tables(system), np.concatenate([y, initial.ravel()]), how.t_start, how.t_end, how.rtol, how.atol,
        np.inf, 0.0, work=varied.work,
    )  # fmt: skip
    out = np.full((len(times), (1 + count) * n), np.nan)
    first = 1 if times[0] == how.t_start else 0
    out[:first] = m.y
    code, _ = m.advance(how.max_steps, times[first:], out[first:], NONE, NONE2)
    if code != march.FINISHED:
        _fail(system, y, how, "the numbers", m.t)
    states = out.reshape(len(times), 1 + count, n)
    return states[:, 0], np.moveaxis(states[:, 1:], 1, 2), m.counts()[1]


def _is_initial(name: str) -> bool:
    """It is a number of the initial state."""
    return "." in name


def _fail(system: System, y: Floats, how: Settings, name: str, reached: float) -> None:
    run = simulate(
        system, how.t_end, t_start=how.t_start, rtol=how.rtol, atol=how.atol, alpha=how.alpha, beta=how.beta,
        max_steps=how.max_steps, initial=State(system.body_names, y), progress=False,
    )  # fmt: skip
    told = f"; the motion itself: {run.message}" if not run.success else ""
    raise ModelError(f"the derivative by {name} failed at t = {reached:.6g} s{told}")
