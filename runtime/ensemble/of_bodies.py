"""Parts of states of many cases by body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import unknown_name


class OfBodies(Mapping[str, Floats]):
    """A part of the states of an ensemble or of an event by body, as ``run.r`` is of a run; NaN where a case did not arrive."""

    def __init__(self, of: ByBody, part: str) -> None:
        self._of, self._part = of, part

    def __getitem__(self, body: str) -> Floats:
        if not isinstance(body, str) or body not in self._of.bodies:
            raise unknown_name(body, self._of.bodies, "body", "bodies")
        return self._of._of_body(self._part, body)

    def __iter__(self) -> Iterator[str]:
        return iter(self._of.bodies)

    def __len__(self) -> int:
        return len(self._of.bodies)

    def __repr__(self) -> str:
        return f"{self._part} of {', '.join(self)}"

    @checked
    def __call__(self, body: str) -> Floats:
        """As by the index; studies of earlier versions call it.

        Raises
        ------
        UnknownNameError
        """
        return self[body]


class ByBody:
    """Base of what has states of all bodies in many cases, at some times: those of the results, or those of an event."""

    bodies: tuple[str, ...]

    def _of_body(self, part: str, body: str) -> Floats:
        raise NotImplementedError

    @property
    def r(self) -> OfBodies:
        """Centres of mass by body, (cases, times, 3) each [m]; read from the folder, if there is one, at each access."""
        return OfBodies(self, "r")

    @property
    def p(self) -> OfBodies:
        """Euler parameters by body, (cases, times, 4)."""
        return OfBodies(self, "p")

    @property
    def v(self) -> OfBodies:
        """Velocities of the centres of mass by body, (cases, times, 3) [m/s]."""
        return OfBodies(self, "v")

    @property
    def omega(self) -> OfBodies:
        """Angular velocities by body, (cases, times, 3) [rad/s]."""
        return OfBodies(self, "omega")
