"""Static optimisation: the activations of least cost that make the moments of a trial, frame by frame.

Tendons are rigid: the path gives length and velocity of the fibre, the law of the muscle its force at full activation, of which
the activation is the share.  Crowninshield and Brand (1981), A physiologically based criterion of muscle force prediction in
locomotion, Journal of Biomechanics 14, 793-801: cost of stresses cubed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from models.files.description import WORLD, Floats, Muscle
from models.files.muscle_lengths import MusclePath, muscle_paths
from models.files.reading import Reading
from models.walking.activation_problem import OPTIMAL, Problem
from models.walking.coordinate_forces import coordinate_forces
from models.walking.muscle_strength import strength_of
from models.walking.opensim_trial import Trial, with_loads
from models.walking.pair_loads import bushing_loads
from runtime import ModelError
from runtime.results import write_storage
from runtime.support import checked
from runtime.system import rigid_constants

SMALLEST_ARM = 1e-6  # [m] of a coordinate that a muscle moves
PASSIVE = "passive fiber force"  # as files switch it off
AT_BOUND = 1e-6  # [1] below the upper bound of an activation
MOST_RESERVE = 0.05  # of the largest net moment
NEGLIGIBLE = 1e-6  # [N m], [N] of a reserve
FREE = 6  # steps of a link that floats
COSTS = ("activation", "stress")


@dataclass(frozen=True, eq=False)
class MuscleForces:
    """Muscles of a trial.

    Attributes
    ----------
    t : (n,) [s]
    activations, forces, fiber_lengths : mapping of str to (n,)
        By muscle: [1], tension [N], by the optimal length [1].
    moments, reserves : mapping of str to (n,)
        By coordinate: the moment that is left to muscles, and the part of it that they do not make [N m], [N].
    paths : mapping of str to MusclePath
        Lengths and moment arms.
    upper_bounds : mapping of str to float
        Upper bounds of activations.
    optimality : (n,)
        How far each frame is from its optimum: the largest difference of an activation from those that the multipliers of the
        moments ask for, by the largest one.
    trial : Trial
        That the muscles move.
    notes : tuple of str
        Assumptions, slack muscles, and what of the file does not act.
    """

    t: Floats
    activations: Mapping[str, Floats]
    forces: Mapping[str, Floats]
    fiber_lengths: Mapping[str, Floats]
    moments: Mapping[str, Floats]
    reserves: Mapping[str, Floats]
    paths: Mapping[str, MusclePath]
    upper_bounds: Mapping[str, float]
    optimality: Floats
    trial: Trial
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"MuscleForces of {len(self.forces)} muscles and {len(self.moments)} coordinates, {len(self.t)} frames, "
            f"{len(self.failed)} without success"
        )

    @property
    def failed(self) -> Floats:
        """Times [s] of the frames whose optimum was not found."""
        return np.asarray(self.t[~(self.optimality <= OPTIMAL)])

    @property
    def saturated(self) -> dict[str, int]:
        """Frames in which an activation is at its upper bound, by muscle, where there are any."""
        counts = {name: int((a >= self.upper_bounds[name] - AT_BOUND).sum()) for name, a in self.activations.items()}
        return {name: count for name, count in counts.items() if count}

    def reserve_share(self, coordinate: str) -> float:
        """The largest reserve by the largest moment of a coordinate; infinite where the moment is 0 and the reserve is not."""
        reserve, moment = (float(np.abs(of[coordinate]).max()) for of in (self.reserves, self.moments))
        if reserve <= NEGLIGIBLE:
            return 0.0
        return reserve / moment if moment > 0.0 else np.inf

    def to_sto(self, folder: str | Path, stem: str, *, overwrite: bool = False) -> list[Path]:
        """Write activations and forces, with the reserves [N m], as OpenSim's static optimisation does; returns the files."""
        reserves = {f"{name}_reserve": values for name, values in self.reserves.items()}
        written = []
        for what, values in (("activation", self.activations), ("force", self.forces)):
            columns = {**values, **reserves}
            table = np.column_stack([self.t, *columns.values()])
            file = Path(folder) / f"{stem}_{what}.sto"
            written.append(write_storage(file, "Static Optimization", ["time", *columns], table, overwrite=overwrite))
        return written


# Above 60 lines: the options of the cost, each documented.
@checked
def static_optimisation(
    reading: Reading,
    trial: Trial,
    *,
    coordinates: Sequence[str] | None = None,
    muscles: Sequence[str] | None = None,
    cost: Literal["activation", "stress"] = "activation",
    exponent: float = 2.0,
    force_length_velocity: bool = True,
    passive: bool = False,
    law: str | None = None,
    bounds: tuple[float, float] | None = None,
    reserve: float | Mapping[str, float] = 1.0,
    as_opensim: bool = False,
) -> MuscleForces:
    """Activations and forces of the muscles of a file along a trial.

    Parameters
    ----------
    reading : Reading
        A model of OpenSim with muscles, from ``models.read``.
    trial : Trial
        From ``inverse_dynamics_of_trial``.
    coordinates : sequence of str, optional
        Whose moments muscles make; default: all that are not locked and that a muscle moves.
    muscles : sequence of str, optional
        Default: all that were read.
    cost : "activation" or "stress"
        Sum of activations, or of stresses, to the power ``exponent``.  The stress is F/PCSA with PCSA = maximum isometric force
        over specific tension, counted in specific tensions, of which all muscles have one: F / maximum isometric force.
    exponent : float
        1 or more; 2 is the default of OpenSim, 3 with stresses that of Crowninshield and Brand (1981).
    force_length_velocity : bool
        Without, each muscle exerts its maximum isometric force at full activation.
    passive : bool
        The elastic passive force of the fibres acts too, unless the file switches it off.
    law : str, optional
        A law of ``codegen.muscles`` for all muscles, such as "thelen_as_published"; default: that of each muscle, as in OpenSim.
    bounds : (lower, upper), optional
        Of activations; default: those of the controls of each muscle in the file, in OpenSim 0.01 and 1.
    reserve : float or mapping [N m], [N]
        Optimal force of the reserve of each coordinate; reserve by optimal force is a control, which the cost counts like
        activations.
    as_opensim : bool
        Muscles of Millard et al. and De Groote et al. pull with the force of the fibre, without the cosine of the pennation
        angle, as in the static optimisation of OpenSim 4.6.

    Raises
    ------
    ModelError
        For a model without muscles, unknown names, and options outside of their ranges.

    Notes
    -----
    Springs, dampers and limits of coordinates and bushings act, and leave the rest of the moments to muscles.  A slack muscle,
    whose path is no longer than its tendon, exerts nothing.  The force at full activation of a law whose velocity depends on the
    activation, such as Thelen's, is that of full activation for all, as in OpenSim.
    """
    source, given = reading.source, trial
    options = dict(muscles=muscles, cost=cost, exponent=exponent, law=law, bounds=bounds)
    found, (lower, upper) = checked_options(reading, options)
    trial = with_loads(reading, trial, bushing_loads(reading, trial))
    every = muscle_paths(source, trial.q)
    paths = {muscle.name: every[muscle.name] for muscle in found}
    length = np.stack([path.length for path in paths.values()])
    arms = {name: np.stack([path.moment_arms[name] for path in paths.values()]) for name in trial.q}
    length_dot = -np.sum([arms[name] * rate for name, rate in trial.u.items()], axis=0)
    strength = strength_of(
        found,
        length,
        length_dot,
        law,
        force_length_velocity=force_length_velocity,
        passive=passive,
        as_opensim=as_opensim,
    )
    P = strength.passive * np.array([[PASSIVE not in muscle.ignored] for muscle in found])
    resting = coordinate_forces(source, trial.q, trial.u)
    moments, arms = _led(reading, trial, {name: f - resting.get(name, 0.0) for name, f in trial.forces.items()}, arms)
    names = _coordinates(reading, coordinates, arms)
    optimal = np.array([reserve.get(name, 1.0) if isinstance(reserve, Mapping) else reserve for name in names])
    if not (optimal > 0.0).all() or isinstance(reserve, Mapping) and not set(reserve) <= set(names):
        raise ModelError(f"reserve = {reserve!r}: give optimal forces above 0 N m, of {', '.join(names)}")
    R = np.stack([arms[name] for name in names])  # (coordinates, muscles, frames)
    b = np.stack([moments[name] for name in names]) - np.einsum("kmn,mn->kn", R, P)
    F_max = np.array([muscle.constants["max_isometric_force"] for muscle in found])
    w, c = (strength.active.T / F_max, P.T / F_max) if cost == "stress" else (np.ones_like(P.T), np.zeros_like(P.T))
    G = np.moveaxis(R * strength.active, 2, 0) / optimal[:, None]
    a, optimality = Problem(G, b.T / optimal, w, c, lower, upper).solved(exponent)
    F = a.T * strength.active + P
    left = np.stack([moments[name] for name in names]) - np.einsum("kmn,mn->kn", R, F)
    by_name = list(paths)
    return MuscleForces(
        trial.t, dict(zip(by_name, a.T, strict=True)), dict(zip(by_name, F, strict=True)),
        dict(zip(by_name, strength.fiber_length, strict=True)), {name: moments[name] for name in names},
        dict(zip(names, left, strict=True)), paths, dict(zip(by_name, upper.tolist(), strict=True)), optimality, given,
        _notes(reading, given, muscles is None, dict(zip(by_name, strength.slack.sum(axis=1), strict=True))),
    )  # fmt: skip


def check_cost(cost: str, exponent: float) -> None:
    """Refuse a cost that is unknown, and powers for which it is not convex."""
    if cost not in COSTS:
        raise ModelError(f"cost = {cost!r}: use {' or '.join(COSTS)}")
    if not 1.0 <= exponent < np.inf:
        raise ModelError(f"exponent = {exponent:g}: the cost is convex from 1 on; give 1 or more")


def checked_options(reading: Reading, options: Mapping[str, Any]) -> tuple[list[Muscle], tuple[Floats, Floats]]:
    """The muscles that are asked for, and bounds of their activations (muscles,), by options of ``static_optimisation``.

    What needs no trial is checked, before one is analysed.

    Raises
    ------
    ModelError
    """
    check_cost(options.get("cost", COSTS[0]), options.get("exponent", 2.0))
    found = _chosen(reading, options.get("muscles"))
    for muscle in found:
        rigid_constants(options.get("law") or muscle.law, muscle.constants, f"muscle '{muscle.name}'")
    return found, _bounds(found, options.get("bounds"))


def _chosen(reading: Reading, names: Sequence[str] | None) -> list[Muscle]:
    """The muscles that are asked for; all without names."""
    every = {muscle.name: muscle for muscle in reading.source.muscles}
    unread = {name: one.reason for one in reading.source.unread_muscles for name in one.names}
    for name in names or ():
        if name in unread:
            raise ModelError(f"muscles: '{name}' does not act: {unread[name]}")
        if name not in every:
            raise ModelError(f"muscles: '{name}' is unknown; {reading.file.name} has {', '.join(every) or 'none'}")
    if names is not None and not names and every:
        raise ModelError(f"muscles = []: names none; give some of {', '.join(every)}, or leave it out for all")
    found = [every[name] for name in (every if names is None else dict.fromkeys(names))]
    if not found:
        why = "; ".join(f"{', '.join(one.names)} {one.reason}" for one in reading.source.unread_muscles)
        raise ModelError(
            f"{reading.file.name}: has no muscles that act{': ' + why if why else ''}; give a model of OpenSim with muscles"
        )
    return found


def _bounds(found: Sequence[Muscle], bounds: tuple[float, float] | None) -> tuple[Floats, Floats]:
    ends = np.array([bounds or (muscle.min_control, muscle.max_control) for muscle in found]).T
    for muscle, lower, upper in zip(found, *ends, strict=True):
        if not 0.0 <= lower < upper < np.inf:
            raise ModelError(
                f"muscle '{muscle.name}': activation from {lower:g} to {upper:g}; give bounds= with 0 <= lower < upper"
            )
    return ends[0], ends[1]


def _led(
    reading: Reading, trial: Trial, moments: Mapping[str, Floats], arms: Mapping[str, Floats]
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Moments and arms with those of coordinates that a coupler drives added to their leaders', by the slopes of the coupler."""
    moments, arms, coordinates = dict(moments), dict(arms), reading.source.coordinates
    coupled = {name: one.leader.split() for name, one in coordinates.items() if one.slopes is not None}
    coupled = {name: leaders for name, leaders in coupled.items() if {name, *leaders} <= moments.keys()}
    while coupled:
        leading = {leader for leaders in coupled.values() for leader in leaders}
        if leading >= coupled.keys():
            raise ModelError(f"coordinates {', '.join(coupled)}: couplers let them follow each other; leave one out")
        for name in coupled.keys() - leading:  # followers before their leaders
            leaders, moment, own = coupled.pop(name), moments.pop(name), arms.pop(name)
            slopes = np.moveaxis(coordinates[name].slopes(*(trial.q[one] for one in leaders)), -1, 0)  # type: ignore[misc]
            for leader, slope in zip(leaders, slopes, strict=True):
                moments[leader] = moments[leader] + slope * moment
                arms[leader] = arms[leader] + slope * own
    return moments, arms


def _coordinates(reading: Reading, names: Sequence[str] | None, arms: Mapping[str, Floats]) -> list[str]:
    """Coordinates whose moments muscles make."""
    if unknown := [name for name in names or () if name not in arms]:
        raise ModelError(f"coordinates: '{unknown[0]}' is unknown, or a coupler drives it; use {', '.join(arms)}")
    moved = [name for name, values in arms.items() if np.abs(values).max() > SMALLEST_ARM]
    found = (
        [name for name in moved if not reading.source.coordinates[name].locked]
        if names is None
        else list(dict.fromkeys(names))
    )
    if not found and names is not None:
        raise ModelError(f"coordinates = []: names none; give some of {', '.join(moved)}, or leave it out for all")
    if not found and moved:
        raise ModelError(
            f"coordinates: all that a muscle moves are locked ({', '.join(moved)}); name some by coordinates="
        )
    if not found:
        raise ModelError(f"coordinates: no muscle moves any of {', '.join(arms)}; give muscles= that do")
    return found


def _notes(reading: Reading, trial: Trial, every: bool, slack: Mapping[str, int]) -> tuple[str, ...]:
    """What of the file does not act, and muscles by their frames without tension."""
    source = reading.source
    found = [
        f"muscles {', '.join(one.names)} do not act: {one.reason}"
        for one in source.unread_muscles
        if every and one.names
    ]
    found += [
        f"{one.sort} {', '.join(one.names)} of the file do not act: {one.reason}" for one in source.omitted if one.moves
    ]
    for what, parts in (("contacts", source.contacts), ("motors", source.actuators)):
        if parts:
            found.append(f"{what} {', '.join(part.name for part in parts)} of the file do not act")
    for name, one in source.coordinates.items():
        if one.leader and one.slopes is None:
            found.append(f"coordinate '{name}' counts alone: its coupler to {one.leader} is not read")
    if not trial.loads and any(link.parent == WORLD and len(link.steps) == FREE for link in source.links):
        found.append(
            "no loads act on the bodies, such as forces of the ground: moments are those of inertia and gravity alone"
        )
    if listed := [f"{name} ({count} of {len(trial.t)} frames)" for name, count in slack.items() if count]:
        found.append(f"slack muscles, whose path is no longer than the tendon, exert nothing: {', '.join(listed)}")
    return tuple(found)
