"""Positions and velocities of all bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.support.arguments import checked, fitting
from runtime.support.arrays import Floats
from runtime.support.checks import bounded, finite, numbers_of_shape, unit
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.support.names import ReadOnly
from runtime.system.orientation import UNIT_TOLERANCE, euler_parameters

PARTS = {"r": slice(R, P), "p": slice(P, V), "v": slice(V, OMEGA), "omega": slice(OMEGA, STATE)}  # of a body's state
OF_FORCES = "z"  # the part of a state that forces have
LOOSE = 1e-2  # [1] how far the length of Euler parameters may be from 1 where they are divided by it
AXES = ("x", "y", "z")
EULER = ("e0", "e1", "e2", "e3")
COMPONENTS = {"r": AXES, "p": EULER, "v": AXES, "omega": AXES}
STATE_UNITS = {"r": "m", "p": "1", "v": "m/s", "omega": "rad/s"}


def named_states(z: Mapping[str, float]) -> Mapping[str, float]:
    """States of forces by name."""
    return ReadOnly(z, "state of a force", "states of forces")


NO_STATES = named_states({})


def by_body(states: Floats) -> Floats:
    """States (..., 13 bodies) as (..., bodies, 13); also those of no case or time, whose shape ``reshape`` cannot find."""
    return states.reshape(*states.shape[:-1], states.shape[-1] // STATE, STATE)


class State:
    """Positions and velocities of all bodies, immutable.

    ``r`` [m], ``p`` (Euler parameters, scalar first), ``v`` [m/s], ``omega`` [rad/s]: mappings from the body's name to an
    array in global axes.  ``z``: states of forces by name, such as "tendon.extension"; others have their initial values.
    """

    MADE_BY = "a runtime.State, system.state or what its replace() returns"

    @fitting
    def __init__(self, names: tuple[str, ...], y: Floats, z: Mapping[str, float] = NO_STATES) -> None:
        if type(names) is not tuple or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
            raise ModelError(f"state: names = {shown(names)}; give the names of the bodies, a tuple of different texts")
        self.names = names
        # A copy that compiled code can take as the state of the bodies: (13,) of each, one after the other.
        self.y = numbers_of_shape(y, (STATE * len(names),), f"state of {', '.join(names) or 'no body'}: y")
        self.y.flags.writeable = False
        if not isinstance(z, Mapping) or not all(isinstance(name, str) for name in z):
            raise ModelError(
                f"state: z = {shown(z)}; give a mapping from states of forces, such as {{'tendon.extension': 0.1}}"
            )
        own = {name: float(finite(value, (), f"state: z of '{name}'")) for name, value in z.items()}
        self.z = named_states(own)

    @checked
    def check(self, bodies: int) -> None:
        """Refuse what compiled code for a number of bodies could not take; arrays of numpy can be changed after their checks.

        Raises
        ------
        ModelError
        """
        y, what = self.y, f"state of {', '.join(self.names)}: y"
        if (
            type(y) is not np.ndarray
            or y.dtype != np.float64
            or not y.flags.c_contiguous
            or y.shape != (STATE * bodies,)
        ):
            raise ModelError(f"{what} = {shown(y)}; give an array ({STATE * bodies},) of float64")
        bounded(y, what)
        lengths = np.linalg.norm(y.reshape(-1, STATE)[:, P:V], axis=1)
        if not (np.abs(lengths - 1.0) <= LOOSE).all():
            at = int(np.abs(lengths - 1.0).argmax())
            raise ModelError(
                f"state: p of body '{self.names[at]}' has the length {lengths[at]:.6g}; give Euler parameters of length 1"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.names, np.array(self.y), dict(self.z))

    def __repr__(self) -> str:
        return f"State of {', '.join(self.names)}"

    def _part(self, start: int, stop: int) -> Mapping[str, Floats]:
        rows = self.y.reshape(-1, STATE)
        views = {name: rows[k, start:stop] for k, name in enumerate(self.names)}  # as writable as y
        return ReadOnly(views, "body", "bodies")

    @property
    def r(self) -> Mapping[str, Floats]:
        """Centres of mass, (3,) [m]."""
        return self._part(R, P)

    @property
    def p(self) -> Mapping[str, Floats]:
        """Euler parameters, (4,)."""
        return self._part(P, V)

    @property
    def v(self) -> Mapping[str, Floats]:
        """Velocities of the centres of mass, (3,) [m/s]."""
        return self._part(V, OMEGA)

    @property
    def omega(self) -> Mapping[str, Floats]:
        """Angular velocities in global axes, (3,) [rad/s]."""
        return self._part(OMEGA, STATE)

    @checked
    def replace(self, **parts: Mapping[str, ArrayLike]) -> State:
        """Return a state with some vectors replaced, such as ``state.replace(omega={"leg": (0, 0, 1)})``.

        ``p`` takes Euler parameters (4,), rotation matrices (3, 3) or rotations of SciPy; ``z`` values of states of forces.

        Raises
        ------
        ModelError
            For unknown parts or bodies, other shapes, values that are not finite, and Euler parameters of other length than 1.
        """
        y = self.y.copy()
        rows, z = y.reshape(-1, STATE), dict(self.z)
        for part, values in parts.items():
            if part not in (*PARTS, OF_FORCES):
                raise unknown_name(part, (*PARTS, OF_FORCES), "part", whose="state: ")
            if not isinstance(values, Mapping):
                raise ModelError(
                    f"state: {part} = {values!r}; give a mapping from bodies' names, such as {{'leg': (0, 0, 1)}}"
                )
            if part == OF_FORCES:
                z.update(values)  # type: ignore[arg-type]  # State checks them
                continue
            for name, value in values.items():
                if name not in self.names:
                    raise unknown_name(name, self.names, "body", "bodies", "state: ")
                what = f"state: {part} of body '{name}'"
                checked = euler_parameters(value, what) if part == "p" else finite(value, (3,), what)
                rows[self.names.index(name), PARTS[part]] = checked
        for k, name in enumerate(self.names):
            rows[k, P:V] = unit(rows[k, P:V], f"state: p of body '{name}'", UNIT_TOLERANCE, normalise=True)
        return State(self.names, y, z)
