"""Positions and velocities of all bodies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.support.arrays import Floats
from runtime.support.checks import finite, unit
from runtime.support.errors import ModelError
from runtime.system.orientation import UNIT_TOLERANCE, euler_parameters

PARTS = {"r": slice(R, P), "p": slice(P, V), "v": slice(V, OMEGA), "omega": slice(OMEGA, STATE)}  # of a body's state
STATE_UNITS = {"r": "m", "p": "1", "v": "m/s", "omega": "rad/s"}


class State:
    """Positions and velocities of all bodies, immutable.

    ``r`` [m], ``p`` (Euler parameters, scalar first), ``v`` [m/s], ``omega`` [rad/s]: mappings from the body's name to an
    array in global axes.
    """

    def __init__(self, names: tuple[str, ...], y: Floats) -> None:
        self.names = names
        self.y = y.copy()
        self.y.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.names, np.array(self.y))

    def __repr__(self) -> str:
        return f"State of {', '.join(self.names)}"

    def _part(self, start: int, stop: int) -> Mapping[str, Floats]:
        rows = self.y.reshape(-1, STATE)
        return MappingProxyType({name: rows[k, start:stop] for k, name in enumerate(self.names)})

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

    def replace(self, **parts: Mapping[str, ArrayLike]) -> State:
        """Return a state with some vectors replaced, such as ``state.replace(omega={"leg": (0, 0, 1)})``.

        ``p`` takes Euler parameters (4,), rotation matrices (3, 3) or rotations of SciPy.

        Raises
        ------
        ModelError
            For unknown parts or bodies, other shapes, values that are not finite, and Euler parameters of other length than 1.
        """
        y = self.y.copy()
        rows = y.reshape(-1, STATE)
        for part, values in parts.items():
            if part not in PARTS:
                raise ModelError(f"state: unknown part '{part}'; use {', '.join(PARTS)}")
            if not isinstance(values, Mapping):
                raise ModelError(
                    f"state: {part} = {values!r}; give a mapping from bodies' names, such as {{'leg': (0, 0, 1)}}"
                )
            for name, value in values.items():
                if name not in self.names:
                    raise ModelError(f"state: unknown body '{name}'; the bodies are {', '.join(self.names)}")
                what = f"state: {part} of body '{name}'"
                checked = euler_parameters(value, what) if part == "p" else finite(value, (3,), what)
                rows[self.names.index(name), PARTS[part]] = checked
        for k, name in enumerate(self.names):
            rows[k, P:V] = unit(rows[k, P:V], f"state: p of body '{name}'", UNIT_TOLERANCE, normalise=True)
        return State(self.names, y)
