"""Static optimisation: the activations of least cost that make the moments of a trial, frame by frame.

Tendons are rigid: the path gives length and velocity of the fibre, the law of the muscle its force at full activation, of which
the activation is the share.  Crowninshield and Brand (1981), A physiologically based criterion of muscle force prediction in
locomotion, Journal of Biomechanics 14, 793-801: cost of stresses cubed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from models.files.description import Floats, Muscle
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

SMALLEST_ARM = 1e-6  # [m] of a coordinate that a muscle moves
PASSIVE = "passive fiber force"  # as files switch it off
AT_BOUND = 1e-6  # [1] below the upper bound of an activation
MOST_RESERVE = 0.05  # of the largest net moment


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
        How far each frame is from its optimum: the largest entry of the projected gradient of the cost.
    notes : tuple of str
        Assumptions, and what of the file does not act.
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
        """The largest reserve by the largest moment of a coordinate."""
        reserve, moment = (float(np.abs(of[coordinate]).max()) for of in (self.reserves, self.moments))
        return reserve / moment if moment > 0.0 else 0.0

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
    Springs, dampers and limits of coordinates and bushings act, and leave the rest of the moments to muscles.  The force at full
    activation of a law whose velocity depends on the activation, such as Thelen's, is that of full activation for all, as in
    OpenSim.
    """
    source = reading.source
    found = chosen_muscles(reading, muscles)
    lower, upper = _bounds(found, bounds)
    if not 1.0 <= exponent < np.inf:
        raise ModelError(f"exponent = {exponent:g}: the cost is convex from 1 on; give 1 or more")
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
        dict(zip(names, left, strict=True)), paths, dict(zip(by_name, upper.tolist(), strict=True)), optimality,
        _notes(reading, muscles is None),
    )  # fmt: skip


def chosen_muscles(reading: Reading, names: Sequence[str] | None) -> list[Muscle]:
    """The muscles that are asked for; all without names.

    Raises
    ------
    ModelError
        For unknown names, and where there are none.
    """
    every = {muscle.name: muscle for muscle in reading.source.muscles}
    if unknown := [name for name in names or () if name not in every]:
        raise ModelError(f"muscles: '{unknown[0]}' is unknown; {reading.file.name} has {', '.join(every) or 'none'}")
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
    """Moments and arms with those of coordinates that a coupler drives added to their leaders', by the slope of the coupler."""
    moments, arms = dict(moments), dict(arms)
    for name, one in reading.source.coordinates.items():
        if one.value is not None and one.leader in moments and name in moments:
            slope = one.value(trial.q[one.leader], 1)
            moments[one.leader] = moments[one.leader] + slope * moments.pop(name)
            arms[one.leader] = arms[one.leader] + slope * arms.pop(name)
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
    if not found:
        raise ModelError(f"coordinates: no muscle moves any of {', '.join(arms)}; give muscles= that do")
    return found


def _notes(reading: Reading, every: bool) -> tuple[str, ...]:
    """What of the file does not act."""
    source = reading.source
    found = [
        f"muscles {', '.join(one.names)} do not act: {one.reason}"
        for one in source.unread_muscles
        if every and one.names
    ]
    for what, parts in (("contacts", source.contacts), ("motors", source.actuators)):
        if parts:
            found.append(f"{what} {', '.join(part.name for part in parts)} of the file do not act")
    return tuple(found)
