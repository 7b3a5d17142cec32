"""Inverse kinematics: configurations of a system in which frames, points and coordinates are where they are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runtime.analysis.frame_problem import FrameProblem, FramesOfTree
from runtime.analysis.frame_targets import WHO, Targets
from runtime.analysis.least_squares import TOLERANCE, faint_rates
from runtime.analysis.mechanics import Mechanics
from runtime.support.arguments import checked, checked_class
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import bounded, positive
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.coordinate_ranges import coordinate_ranges
from runtime.system.frames import Frame
from runtime.system.state import State
from runtime.system.system import System

PRIORS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9)  # falling weights of staying at the start, which lead to the nearest solution
STEPS = 50  # of Gauss and Newton, before those of Newton
NEWTON = 30  # steps of Newton's method
REACH = 1e-4  # [rad], [m] of central differences of exact gradients
FLAT = 1e-9  # curvature, of the largest, below which a direction is not determined
DOWNWARD = 1e-7  # curvature, of the largest, below which its negative is no rounding
LONGEST = 0.5  # [rad], [m] of a step of Newton's method
ASIDE = 0.1  # [rad], [m] of a step off a saddle point or maximum
HALVES = 12  # of a step that does not descend
NEAR = 1e-7  # [rad], [m] from the nearest solution
NEAREST = 1e-10  # as LEVEL, of the nearest solution
LEVEL = 1e-6  # gradient at a solution, of the largest that sum and curvature admit
AT_LIMIT = 1e-9  # [rad], [m] from a limit at which a coordinate counts as at it


@checked_class
@dataclass(frozen=True, eq=False)
class InverseKinematicsSolution:
    """Configurations of a system; made by ``runtime.inverse_kinematics``.  Arrays have no first axis for a single instant.

    Attributes
    ----------
    system : System
    t : () or (n,) [s]
        At which drivers were evaluated.
    q : (coordinates,) or (n, coordinates)
        As of ``runtime.mechanics``, in the order of ``coordinate_names``.
    coordinate_names : tuple of str
    errors : mapping of str to () or (n,)
        Distance [m] from a wanted position ("hand"), angle [rad] from a wanted orientation ("hand.orientation"), or difference
        from a wanted value ("elbow.angle"); NaN where the target is missing.
    units : mapping of str to str
        Of the errors.
    weights : mapping of str to () or (n,)
        Of the targets.
    reached : () or (n,) bool
        Whether all errors of targets with a weight are within ``tolerance``; false where all targets are missing.
    converged : () or (n,) bool
        Whether no configuration nearby is better.
    tolerance : float
    limits : mapping of str to (lower, upper)
        Bounds that held, by coordinate.
    limits_left_out : tuple of str
        Limits and stops that are no bound of one coordinate and did not hold.
    at_limits : mapping of str to () or (n,) bool
        Coordinates that are at a bound somewhere, and where.
    undetermined : mapping of str to () or (n,) bool
        Rates that the targets leave open somewhere, and where; along them the configuration is the nearest one to the start.
    missing : mapping of str to int
        Instants at which a target is missing.
    violation : () or (n,)
        Largest violation of the rows of closed loops, couplings and drivers.
    message : str
        Sentence for a reader.
    """

    system: System
    t: Floats
    q: Floats
    coordinate_names: tuple[str, ...]
    errors: Mapping[str, Floats]
    units: Mapping[str, str]
    weights: Mapping[str, Floats]
    reached: NDArray[np.bool_]
    converged: NDArray[np.bool_]
    tolerance: float
    limits: Mapping[str, tuple[float, float]]
    limits_left_out: tuple[str, ...]
    at_limits: Mapping[str, NDArray[np.bool_]]
    undetermined: Mapping[str, NDArray[np.bool_]]
    missing: Mapping[str, int]
    violation: Floats
    message: str

    def __repr__(self) -> str:
        return f"InverseKinematicsSolution of '{self.system.name}': {self.message}"

    @property
    def coordinates(self) -> Mapping[str, Floats]:
        """Coordinates by name, () or (n,) each."""
        return dict(zip(self.coordinate_names, np.moveaxis(self.q, -1, 0), strict=True))

    @property
    def rms(self) -> Floats:
        """Root mean square of the distances from wanted positions, () or (n,) [m]; NaN without any."""
        own = [self.errors[name] for name, unit in self.units.items() if unit == "m" and "." not in name]
        squares = np.array(own).reshape(len(own), *np.shape(self.t)) ** 2
        seen = np.isfinite(squares)
        count = seen.sum(axis=0)
        total = np.where(seen, squares, 0.0).sum(axis=0)
        return np.asarray(np.sqrt(total / np.where(count > 0, count, np.nan)))


# Above 60 lines: eleven options, each documented.
@checked
def inverse_kinematics(
    system: System,
    *,
    positions: Mapping[str, Any] | None = None,
    orientations: Mapping[str, Any] | None = None,
    coordinates: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    frames: Sequence[Frame] = (),
    limits: bool = True,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    initial: State | ArrayLike | None = None,
    t: ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> InverseKinematicsSolution:
    """Configurations in which frames, points and coordinates of a system are nearest to where they are wanted.

    The sum of weight times squared error is least: distances of positions [m], angles of orientations [rad], differences of
    coordinates [rad], [m].  Closed loops, couplings and drivers hold exactly, limits as bounds.

    Parameters
    ----------
    system : System
    positions : mapping of str to (3,) or (n, 3) [m]
        Where origins of frames are to be, in global coordinates: of one instant or of n.  A frame is a body (its centre of mass),
        a frame of the system, such as a marker of a file, or one of ``frames``.  A position with a NaN is missing there.
    orientations : mapping of str to (3, 3), (4,), (n, 3, 3) or (n, 4)
        Rotation matrices from axes of frames to global axes, or Euler parameters, scalar first, or SciPy's Rotation.
    coordinates : mapping of str to float or (n,)
        Values of turns [rad] and slides [m], such as "elbow.angle", and of displacements of floating bodies.
    weights : mapping of str to float or (n,)
        By target: "hand", "hand.orientation", "elbow.angle"; 0 or more.  Default: 1.
    frames : sequence of Frame
        Further points and axes of bodies.
    limits : bool
        Keep coordinates within the ranges that limits and stops of the system state.
    bounds : mapping of str to (lower, upper)
        Ranges of coordinates, in place of those of the system; equal ends fix a coordinate.
    initial : State, (coordinates,) or (n, coordinates), optional
        Start of the search; default: the initial state of the system.  With one start each instant starts from the solution at
        the one before; with n starts, from its own.
    t : float or (n,) [s], optional
        Times at which drivers are evaluated.  Default: ``system.time``.
    tolerance : float [m], [rad]
        Error up to which a target counts as reached.

    Returns
    -------
    InverseKinematicsSolution
        Read ``reached`` and ``converged``: targets that cannot be reached, or not from this start, raise no error.

    Raises
    ------
    ModelError
        For unknown names, arrays that do not fit, and starts from which loops, drivers and bounds cannot be satisfied.

    Notes
    -----
    Damped Gauss-Newton steps, and Newton steps where targets are not reached; a solution is a local one.  Where targets leave
    directions open, it is the nearest to the start, by the sum of the squares of the way of ``Mechanics.difference``.
    """
    mechanics = Mechanics(system, None)
    targets = Targets.of(mechanics, frames, positions or {}, orientations or {}, coordinates or {}, weights or {})
    reach = positive(tolerance, f"{WHO}: tolerance")
    model, names = FramesOfTree(system, targets.frames), targets.scalars
    ranges, left_out = coordinate_ranges(system) if limits else ({}, ())
    ranges = {**ranges, **_bounds(names, bounds or {})}
    start, times = _start(mechanics, initial), _times(system, t)
    count = targets.count(initial=np.atleast_2d(start), t=np.atleast_1d(times))
    single = targets.single and start.ndim == 1 and times.ndim == 0
    ends = np.array([ranges.get(name, (-np.inf, np.inf)) for name in names]).reshape(-1, 2) * targets.sign[:, None]
    t_all = np.broadcast_to(times, count).copy()
    problem = FrameProblem(model, t_all, *targets.arrays(count), ends.min(axis=1), ends.max(axis=1))
    x, converged = _solved(problem, start * mechanics._sign_q, reach)
    reached = problem.largest_error(x) <= reach
    errors = targets.errors(problem, x)
    at = np.abs(x[:, model.scalars[0], None] - np.stack([problem.lower, problem.upper], axis=1)).min(axis=2) <= AT_LIMIT
    open_ = problem.undetermined(x)
    if (off := np.flatnonzero(~reached & open_.any(axis=1))).size:  # there the errors may add curvature
        open_[off] = _open_rates(problem.of(off), x[off])
    at_limits, undetermined = _ever(names, at), _ever(mechanics._all_rates, open_)
    violation = np.abs(model.rows(t_all, x)[0]).max(axis=1, initial=0.0)

    def shaped(array: Any) -> Any:
        return read_only(np.asarray(array[0] if single else array))

    def by_name(arrays: Mapping[str, Any]) -> dict[str, Any]:
        return {name: shaped(array) for name, array in arrays.items()}

    return InverseKinematicsSolution(
        system=system, t=shaped(t_all), q=shaped(x * mechanics._sign_q), coordinate_names=mechanics.coordinate_names,
        errors=by_name(errors), units=targets.units, weights=by_name(targets.weights(count)), reached=shaped(reached),
        converged=shaped(converged), tolerance=reach, limits={name: ranges[name] for name in names if name in ranges},
        limits_left_out=left_out, at_limits=by_name(at_limits), undetermined=by_name(undetermined),
        missing={name: int(np.isnan(of).sum()) for name, of in errors.items() if np.isnan(of).any()},
        violation=shaped(violation), message=_message(errors, targets, reached, converged, at_limits),
    )  # fmt: skip


def _bounds(names: Sequence[str], bounds: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The caller's ranges, checked."""
    for name, (lower, upper) in bounds.items():
        if name not in names:
            raise unknown_name(name, names, "coordinate", whose=f"{WHO}: bounds: ")
        if not (lower <= upper and lower < np.inf and upper > -np.inf):
            raise ModelError(
                f"{WHO}: bounds of '{name}' = ({lower:g}, {upper:g}); give the lower one first, and no NaN or empty range"
            )
    return dict(bounds)


def _start(mechanics: Mechanics, initial: Any) -> Floats:
    """Coordinates (n,) or (instants, n) with the signs of the joints."""
    if initial is None:
        return np.array(mechanics.q0)
    if isinstance(initial, State):
        return mechanics.of(initial)[0]
    (found,), single = mechanics._admitted(q=initial)
    if not found.size:
        raise ModelError(f"{WHO}: initial has no instants; give (coordinates,) or (n, coordinates)")
    return found[0] if single else found


def _times(system: System, t: Any) -> Floats:
    """Times () or (n,) [s] at which all signals are defined."""
    times = floats(system.time if t is None else t, f"{WHO}: t", "a time, or (n,) times")
    if times.ndim > 1 or not times.size:
        raise ModelError(f"{WHO}: t has the shape {times.shape}; give a time, or (n,) times")
    bounded(times, f"{WHO}: t")
    system.check_span(float(times.min()), float(times.max()), WHO)
    return times


def _solved(problem: FrameProblem, x: Floats, reach: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Coordinates (n, coordinates) of all instants, and whether each converged: from starts of their own, or in turn."""
    count = len(problem.t)
    if x.ndim == 2:
        return _from(problem, np.broadcast_to(x, (count, x.shape[1])), reach, 0)
    found, converged = np.empty((count, len(x))), np.empty(count, bool)
    for k in range(count):
        of, converged[k : k + 1] = _from(problem.of(np.array([k])), x[None], reach, k)
        found[k] = x = of[0]
    return found, converged


def _from(problem: FrameProblem, x: Floats, reach: float, first: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Solutions from starts of their own; ``first``: number of the first instant."""
    start = problem.admitted(x)
    if (open_ := np.isnan(start).any(axis=1)).any():
        k = int(open_.argmax())
        raise ModelError(
            f"{WHO}: system '{problem.frames.system.name}': instant {first + k}: {problem.why_open(x, k)}; start nearer "
            "(initial=), or check bounds= and the drivers"
        )
    x = problem.solve(problem.wound(start), most=STEPS).x
    if (half := np.flatnonzero(problem.half_turns(x))).size:
        x[half] = _aside(problem.of(half), x[half])
    off = np.flatnonzero(~(problem.largest_error(x) <= reach))
    if off.size:
        x[off] = _descended(problem.of(off), x[off])
    x = problem.unwound(x, start)
    if (rows := np.flatnonzero(_open_way(problem, start, x) > NEAR)).size:
        x[rows] = _nearest(problem.of(rows), start[rows], x[rows], reach)
    last = problem.solve(x)
    near = problem.largest_error(last.x) <= reach
    g, H, cost = problem.normal_equations(last.x)
    slope = np.linalg.norm(problem.slope(last.x, g), axis=1)
    level = slope <= LEVEL * np.sqrt(np.einsum("nii->n", H) * cost)
    return last.x, near | level


def _aside(problem: FrameProblem, x: Floats) -> Floats:
    """Coordinates from a start beside x, where the sum is less: at half a turn its slope jumps, and gradients show no way."""
    way = np.tile(ASIDE * np.linspace(1.0, 0.5, problem.frames.rates), (len(x), 1))
    new = problem.moved(x, way)
    new = _descended(problem, problem.solve(np.where(np.isnan(new), x, new), most=STEPS).x)
    less = problem.normal_equations(new)[2] < problem.normal_equations(x)[2]
    return np.where(less[:, None], new, x)


def _open_way(problem: FrameProblem, start: Floats, x: Floats) -> Floats:
    """Largest component (poses,) of the way from the start along directions left open: 0 at the nearest solution."""
    g, H, _ = problem.normal_equations(x)
    _, H = problem.restrained(x, 0.0 * g, H)
    values, vectors = np.linalg.eigh(H)
    along = np.abs(np.einsum("nij,ni->nj", vectors, problem.way(start, x)))
    faint = values < FLAT * np.einsum("nii->ni", H).max(axis=1)[:, None]
    return np.asarray(np.where(faint, along, 0.0).max(axis=1, initial=0.0))


def _nearest(problem: FrameProblem, start: Floats, x: Floats, reach: float) -> Floats:
    """Of the solutions that the targets leave open, those nearest to the start, by a falling weight of staying there.

    Solutions x are kept where this leads to larger errors.
    """
    near = np.where(problem.half_turns(start)[:, None], x, start)
    for prior in PRIORS:
        drawn = problem.drawn(start, prior)
        near = _descended(drawn, drawn.solve(near, most=STEPS).x, NEAREST)
    near = problem.solve(near).x
    good = problem.largest_error(near) <= np.maximum(problem.largest_error(x), reach)
    return np.where(good[:, None], near, x)


def _descended(problem: FrameProblem, x: Floats, most: float = LEVEL) -> Floats:
    """Coordinates after steps of Newton's method to a minimum: off saddle points, also where errors stay large.

    Second derivatives are differences of exact gradients.  Directions without curvature are left as they are.
    """
    x, todo = x.copy(), np.arange(len(x))
    for _ in range(NEWTON):
        one, at = problem.of(todo), x[todo]
        g, H, cost = one.normal_equations(at)
        slope = one.slope(at, g)
        size = np.maximum(np.einsum("nii->ni", H).max(axis=1), 1e-30)
        values, vectors = np.linalg.eigh(_curvature(one, at, one.free(at, g)))
        along = np.einsum("nij,ni->nj", vectors, slope)
        faint = np.abs(values) < FLAT * size[:, None]
        way = np.where(faint, 0.0, -along / np.where(faint, 1.0, np.abs(values)))
        level = np.linalg.norm(slope, axis=1) <= most * np.sqrt(np.einsum("nii->n", H) * cost)
        down = level & (values[:, 0] < -DOWNWARD * size)
        way[down] += ASIDE * (np.arange(way.shape[1]) == 0) * np.where(along[down, :1] > 0.0, -1.0, 1.0)
        if (ends := level & ~down).all():
            break
        way = np.where(ends[:, None], 0.0, np.einsum("nij,nj->ni", vectors, way))
        way *= np.minimum(1.0, LONGEST / np.maximum(np.abs(way).max(axis=1, initial=0.0), LONGEST))[:, None]
        better = ends.copy()
        for _ in range(HALVES):
            new = one.moved(at, way)
            better |= (take := ~better & (one.normal_equations(new)[2] < cost))
            x[todo[take]] = new[take]
            if better.all():
                break
            way[~better] *= 0.5
        todo = todo[better & ~ends & (np.abs(x[todo] - at).max(axis=1, initial=0.0) > TOLERANCE)]
        if not todo.size:
            break
    return x


def _curvature(problem: FrameProblem, x: Floats, free: Floats) -> Floats:
    """Second derivatives (poses, rates, rates) of half of the sums along the free ways."""
    count, n = len(x), free.shape[1]
    poses = np.repeat(np.arange(count), 2 * n)
    ways = np.stack([free, -free], axis=1).reshape(-1, n) * REACH  # rows of projections are their columns
    many = problem.of(poses)
    moved = many.moved(x[poses], ways)
    moved = np.where(np.isnan(moved), x[poses], moved)
    slopes = many.slope(moved, many.normal_equations(moved)[0]).reshape(count, 2, n, n)
    found = (slopes[:, 0] - slopes[:, 1]) / (2.0 * REACH) @ free
    return 0.5 * (found + np.swapaxes(found, 1, 2))


def _open_rates(problem: FrameProblem, x: Floats) -> NDArray[np.bool_]:
    """Rates (poses, rates) along which nothing changes to the second order."""
    g, H, _ = problem.normal_equations(x)
    free, size = problem.free(x, g), np.einsum("nii->ni", H).max(axis=1)
    return faint_rates(_curvature(problem, x, free) + size[:, None, None] * (np.eye(g.shape[1]) - free), size)


def _ever(names: Sequence[str], where: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    """By name, of what is true at any instant."""
    return {name: of for name, of in zip(names, where.T, strict=True) if of.any()}


def _message(
    errors: Mapping[str, Floats], targets: Targets, reached: NDArray[np.bool_], converged: NDArray[np.bool_],
    at_limits: Mapping[str, Any],
) -> str:  # fmt: skip
    count = len(reached)
    of = f" at {{}} of {count} instants" if count > 1 else ""
    parts = [f"all targets reached{of.format(int(reached.sum()))}" if reached.any() else "targets not reached"]
    if all(np.isnan(error).all() or not targets.given_weights[name].any() for name, error in errors.items()):
        parts.append("no target is seen and has a weight")
    elif not reached.all():
        largest = {name: float(np.nanmax(error[~reached], initial=0.0)) for name, error in errors.items()}
        name = max(largest, key=largest.__getitem__)
        parts.append(
            f"farthest off is {name}, {largest[name]:.3g} {targets.units[name]}, in the nearest configuration found"
        )
    if not converged.all():
        parts.append(f"not converged{of.format(int((~converged).sum()))}")
    if at_limits:
        parts.append(f"at limits: {', '.join(at_limits)}")
    return "; ".join(parts)
