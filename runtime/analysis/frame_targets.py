"""Wanted positions and orientations of frames and values of coordinates, by name, with their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from runtime.analysis.frame_problem import FrameProblem, scalars_of
from runtime.analysis.mechanics import Mechanics
from runtime.dynamics.lift import GROUND_STEP
from runtime.support.arrays import Floats
from runtime.support.checks import bounded
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.frames import Frame
from runtime.system.orientation import euler_parameters
from runtime.system.reference import rotation_matrices

WHO = "inverse_kinematics"
ORIENTATION = ".orientation"  # behind the name of a frame


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets by the names of frames and coordinates: arrays of one instant or of n, with a first axis; NaN where missing."""

    frames: Sequence[Frame]
    positions: Mapping[str, Floats]  # (n, 3)
    orientations: Mapping[str, Floats]  # (n, 3, 3)
    coordinates: Mapping[str, Floats]  # (n,)
    given_weights: Mapping[str, Floats]  # (n,)
    units: Mapping[str, str]
    single: bool
    scalars: Sequence[str]  # names of the coordinates that can be wanted
    sign: Floats  # (scalars,) of these against those of the tree

    @classmethod
    def of(
        cls, mechanics: Mechanics, frames: Sequence[Frame], positions: Mapping[str, Any], orientations: Mapping[str, Any],
        coordinates: Mapping[str, Any], weights: Mapping[str, Any],
    ) -> Targets:  # fmt: skip
        """Checked targets.

        Raises
        ------
        ModelError
        """
        own = _own_frames(mechanics, frames)
        names = list(dict.fromkeys([*positions, *orientations]))
        used = [own[name] if name in own else mechanics.frame(name) for name in names]
        for name, frame in zip(names, used, strict=True):
            if mechanics._place(frame)[0] == GROUND_STEP:
                raise ModelError(f"{WHO}: frame '{name}' is fixed in the ground, which does not move; leave it out")
        columns, _ = scalars_of(mechanics._tree)
        scalars = [mechanics.coordinate_names[k] for k in columns]
        for name in coordinates:
            if name not in scalars:
                raise unknown_name(name, scalars, "coordinate", whose=f"{WHO}: system '{mechanics.system.name}': ")
        found = {
            **{name: _numbers(value, (3,), f"position of '{name}'") for name, value in positions.items()},
            **{name + ORIENTATION: _turns(value, f"orientation of '{name}'") for name, value in orientations.items()},
            **{name: _numbers(value, (), f"coordinate '{name}'") for name, value in coordinates.items()},
        }
        if not found:
            raise ModelError(f"{WHO}: no targets; give positions=, orientations= or coordinates=")
        units = {name: "m" for name in positions} | {name + ORIENTATION: "rad" for name in orientations}
        known = dict(zip(mechanics.coordinate_names, mechanics.coordinate_units, strict=True))
        units |= {name: known[name] for name in coordinates}
        for name in weights:
            if name not in found:
                raise unknown_name(name, list(found), "target", whose=f"{WHO}: weights: ")
        of_weights = {name: _weights(weights.get(name, 1.0), name) for name in found}
        arrays = {name: array for name, (array, _) in found.items()}
        return cls(
            used, {name: arrays[name] for name in positions},
            {name: arrays[name + ORIENTATION] for name in orientations}, {name: arrays[name] for name in coordinates},
            {name: array for name, (array, _) in of_weights.items()}, units,
            all(single for _, single in (*found.values(), *of_weights.values())), scalars, mechanics._sign_q[columns],
        )  # fmt: skip

    def count(self, **others: Floats) -> int:
        """Number of instants, for other arrays by name with a first axis, too."""
        parts = {
            **{f"position of '{name}'": one for name, one in self.positions.items()},
            **{f"orientation of '{name}'": one for name, one in self.orientations.items()},
            **{f"coordinate '{name}'": one for name, one in self.coordinates.items()},
            **{f"weight of '{name}'": one for name, one in self.given_weights.items()}, **others,
        }  # fmt: skip
        lengths = {name: len(part) for name, part in parts.items() if len(part) != 1}
        if len(set(lengths.values())) > 1:
            least, most = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
            raise ModelError(
                f"{WHO}: {least} has {lengths[least]} instants and {most} has {lengths[most]}; give as many of each, or one"
            )
        return next(iter(lengths.values()), 1)

    def weights(self, count: int) -> dict[str, Floats]:
        """By target, (instants,)."""
        return {name: np.broadcast_to(one, count) for name, one in self.given_weights.items()}

    @cached_property
    def places(self) -> dict[str, int]:
        """Of the frames by name."""
        return {frame.name: k for k, frame in enumerate(self.frames)}

    def arrays(self, count: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """``r``, ``A``, ``weights``, ``wanted`` and ``pulls`` of a ``FrameProblem``."""
        weights, frames, names, sign = self.weights(count), len(self.frames), self.scalars, self.sign
        r, A = np.zeros((count, frames, 3)), np.tile(np.eye(3), (count, frames, 1, 1))
        of, wanted, pulls = np.zeros((count, frames, 2)), *np.zeros((2, count, len(names)))
        for part, (to, given, end) in enumerate(((r, self.positions, ""), (A, self.orientations, ORIENTATION))):
            for name, value in given.items():
                k = self.places[name]
                seen = np.broadcast_to(np.isfinite(value).reshape(len(value), -1).all(axis=1), count)
                to[seen, k] = np.broadcast_to(value, (count, *value.shape[1:]))[seen]
                of[seen, k, part] = weights[name + end][seen]
        for name, value in self.coordinates.items():
            k = names.index(name)
            seen = np.broadcast_to(np.isfinite(value), count)
            wanted[seen, k] = sign[k] * np.broadcast_to(value, count)[seen]
            pulls[seen, k] = weights[name][seen]
        return r, A, of, wanted, pulls

    def errors(self, problem: FrameProblem, x: Floats) -> dict[str, Floats]:
        """By target, (instants,) [m], [rad]: NaN where it is missing."""
        from scipy.spatial.transform import Rotation

        r, A = problem.frames.places(x)
        q = x[:, problem.frames.scalars[0]] * self.sign
        found = {}
        for name, value in self.positions.items():
            found[name] = np.linalg.norm(r[:, self.places[name]] - value, axis=1)
        for name, value in self.orientations.items():
            turned = A[:, self.places[name]] @ np.swapaxes(value, 1, 2)
            seen = np.isfinite(turned).all(axis=(1, 2))
            angle = np.full(len(x), np.nan)
            angle[seen] = Rotation.from_matrix(turned[seen]).magnitude()
            found[name + ORIENTATION] = angle
        for name, value in self.coordinates.items():
            found[name] = np.abs(q[:, self.scalars.index(name)] - value)
        return found


def _own_frames(mechanics: Mechanics, frames: Sequence[Frame]) -> dict[str, Frame]:
    """Frames of the caller by name."""
    own: dict[str, Frame] = {}
    for frame in frames:
        if frame.name in own or frame.name in mechanics.frame_names:
            raise ModelError(f"{WHO}: frame '{frame.name}' exists already; give it another name")
        own[frame.name] = mechanics.frame(frame)
    return own


def _numbers(value: Any, shape: tuple[int, ...], what: str) -> tuple[Floats, bool]:
    """Numbers or NaN of one instant or of several, (n, ...), and whether it is one."""
    each = ", ".join(map(str, shape))
    words = f"({each}) numbers, or (n, {each}) of n instants" if shape else "a number, or one for each of n instants"
    array = floats(value, f"{WHO}: {what}", words)
    if array.ndim - len(shape) not in (0, 1) or array.shape[array.ndim - len(shape) :] != shape or not array.size:
        raise ModelError(f"{WHO}: {what} has the shape {array.shape}; give {words}")
    bounded(np.where(np.isnan(array), 0.0, array), f"{WHO}: {what}")
    return array.reshape(-1, *shape), array.ndim == len(shape)


def _turns(value: Any, what: str) -> tuple[Floats, bool]:
    """Rotation matrices (n, 3, 3), NaN where missing, and whether it is one."""
    if callable(getattr(type(value), "as_matrix", None)):
        value = value.as_matrix()
    array = floats(value, f"{WHO}: {what}", "rotation matrices, Euler parameters or a Rotation of SciPy")
    shape = (3, 3) if array.shape[-2:] == (3, 3) else (4,)
    array, single = _numbers(array, shape, what)
    missing = np.isnan(array).reshape(len(array), -1).any(axis=1)
    p = np.full((len(array), 4), np.nan)
    p[~missing] = [euler_parameters(one, f"{WHO}: {what}") for one in array[~missing]] or np.zeros((0, 4))
    found = np.full((len(array), 3, 3), np.nan)
    found[~missing] = rotation_matrices(p[~missing])
    return found, single


def _weights(value: Any, name: str) -> tuple[Floats, bool]:
    array, single = _numbers(value, (), f"weight of '{name}'")
    if not (array >= 0.0).all():
        raise ModelError(f"{WHO}: weight of '{name}' = {array[~(array >= 0.0)][0]:g}; give finite weights of 0 or more")
    return array, single
