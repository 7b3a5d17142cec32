"""Modes of a system: its linear equations in independent coordinates, their eigenvalues, and the shapes by body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.report.tables import Table
from runtime.report.tables import text as cell
from runtime.support.arguments import checked_class
from runtime.support.arrays import Bools, Floats
from runtime.support.errors import ModelError
from runtime.system.degrees_of_freedom import null_space

if TYPE_CHECKING:
    import xarray
    from numpy.typing import NDArray

AXES = ("x", "y", "z")
COMPONENTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")  # of the displacement of a body, in global axes
UNITS = ("m", "m", "m", "rad", "rad", "rad")
# Eigenvalues below this fraction of the largest row sum of A are rounding: a double zero splits into a pair of the size of the
# root of a rounding.
NEUTRAL = 1e-7
DEPENDENT = 1e-7  # relative singular value below which coordinates do not determine the displacements of all bodies


@dataclass(frozen=True)
class Tangent:
    """Displacements and changes of velocity that a system's constraints admit at a state.

    ``displacement`` (6 n, f): displacements and small rotations of all bodies when one coordinate changes by 1; also changes of
    v, omega when its rate changes by 1.  ``velocity`` (6 n, f): changes of v, omega when one coordinate changes by 1 and the
    rates of the coordinates stay.
    """

    coordinates: tuple[str, ...]
    units: tuple[str, ...]
    places: Sequence[int]  # of the coordinates among the displacements of all bodies
    displacement: Floats
    velocity: Floats


def tangent(bodies: Sequence[str], rows: Floats, velocity_rows: Floats, names: Sequence[str] | None) -> Tangent:
    """The tangent space of the constraints Phi = 0 and Phi' = 0 in coordinates of single bodies.

    rows : (m, 6 n)
        D, the derivatives of Phi over displacements, and of Phi' over velocities.  Rows may depend on each other.
    velocity_rows : (m, 6 n)
        Derivatives of Phi' over displacements at constant velocities.
    names : sequence of str, optional
        Coordinates "body.component"; by default those that determine all displacements best.

    Raises
    ------
    ModelError
        For coordinates that are unknown, too few or too many, or that do not determine the motion.
    """
    Z = null_space(rows)
    f = Z.shape[1]
    available = [f"{body}.{component}" for body in bodies for component in COMPONENTS]
    places = _chosen(Z) if names is None else _places(names, available, f)
    sizes = np.linalg.svd(Z[places], compute_uv=False)
    if f and sizes[-1] < DEPENDENT:
        raise ModelError(
            f"coordinates {', '.join(available[p] for p in places)} do not determine the motion of all bodies here; leave them "
            f"out, or use {', '.join(available[p] for p in _chosen(Z))}"
        )
    Z = Z @ np.linalg.inv(Z[places])
    size = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    # D dv = -(dPhi'/dq) dq for the changes of velocity that a displacement asks for.  Of dependent rows any solution serves.
    Y = -np.asarray(np.linalg.lstsq(rows / size, velocity_rows @ Z / size, rcond=DEPENDENT)[0], dtype=np.float64)
    Y -= Z @ Y[places]
    names = tuple(available[p] for p in places)
    return Tangent(names, tuple(UNITS[p % 6] for p in places), tuple(places), Z, Y)


def _chosen(Z: Floats) -> list[int]:
    """The coordinates in which the displacements Z are determined best, by pivoting; in the order of the bodies."""
    from scipy.linalg import qr

    _, _, order = qr(np.round(Z, 12).T, pivoting=True, mode="economic")
    return sorted(int(place) for place in order[: Z.shape[1]])


def _places(names: Sequence[str], available: list[str], f: int) -> list[int]:
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in available:
            raise ModelError(
                f"coordinate {name!r} is unknown; use a body and one of {', '.join(COMPONENTS)}, such as {available[0]!r}"
            )
    if len(set(names)) != f or len(names) != f:
        raise ModelError(
            f"coordinates = {', '.join(names) or 'none'}: give {f} different ones, one for each degree of freedom"
        )
    return [available.index(name) for name in names]


@checked_class
@dataclass(frozen=True)
class Modes:
    """The linear equations x' = ``A`` x of a system about a state, and their modes.

    x (2 f,) are the changes of the f independent ``coordinates``, which are displacements "body.x" [m] and small rotations
    "body.turn_x" [rad] of bodies in global axes, then the changes of their rates, of v and omega of these bodies, and of the
    ``states`` of forces, with which x is (2 f + states,).  All other displacements follow from the constraints.  ``A`` contains
    the change of the directions of the reactions (geometric stiffness); neither Baumgarte's coefficients nor redundant rows have
    an influence on it.

    Where the system is not in equilibrium, ``at_rest`` is False.  x is then the deviation from a motion, for which x' = A(t) x is
    exact, and ``A`` is that of this instant: its eigenvalues depend on the choice of coordinates and do not decide on stability.

    A pair of conjugate eigenvalues is one mode, a real eigenvalue is one mode.
    """

    system: str
    bodies: tuple[str, ...]
    time: float
    at_rest: bool
    tangent: Tangent
    A: Floats
    states: tuple[str, ...] = ()
    state_units: tuple[str, ...] = ()

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the independent coordinates."""
        return self.tangent.coordinates

    @cached_property
    def _solution(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """Eigenvalues and eigenvectors, by size of the eigenvalue; of a pair the one of positive frequency first."""
        values, vectors = np.linalg.eig(self.A)
        # Conjugates have exactly equal sizes; rounding keeps equal modes of different bodies together, in a stable order.
        order = sorted(range(len(values)), key=lambda k: (float(f"{abs(values[k]):.9e}"), -values[k].imag))
        return values[order].astype(complex), vectors[:, order].astype(complex)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """All eigenvalues of ``A`` by size, (2 f + states,) [1/s]."""
        return self._solution[0]

    @cached_property
    def _first(self) -> list[int]:
        """Number of each mode's eigenvalue: the one of positive imaginary part, or a real one."""
        return [k for k, value in enumerate(self.eigenvalues) if value.imag >= 0.0]

    @property
    def eigenvalue(self) -> NDArray[np.complex128]:
        """Eigenvalue of each mode, of a pair the one with positive imaginary part, (modes,) [1/s]."""
        return np.asarray(self.eigenvalues[self._first])

    @property
    def neutral(self) -> Bools:
        """Modes whose eigenvalue is zero up to rounding, such as displacements that no force resists, (modes,)."""
        scale = float(np.abs(self.A).sum(axis=1).max(initial=0.0))
        return np.asarray(np.abs(self.eigenvalue) <= NEUTRAL * scale)

    @property
    def frequency(self) -> Floats:
        """Frequency at which each mode oscillates, |Im| / 2 pi, 0 without oscillation, (modes,) [Hz]."""
        return np.where(self.neutral, 0.0, np.abs(self.eigenvalue.imag) / (2.0 * np.pi))

    @property
    def natural_frequency(self) -> Floats:
        """Size of the eigenvalue over 2 pi: the frequency without damping of one degree of freedom, (modes,) [Hz]."""
        return np.where(self.neutral, 0.0, np.abs(self.eigenvalue) / (2.0 * np.pi))

    @property
    def damping_ratio(self) -> Floats:
        """-Re / |eigenvalue|: 1 decays without oscillation, below 0 the mode grows; nan for neutral modes, (modes,)."""
        size = np.where(self.neutral, np.nan, np.abs(self.eigenvalue))
        return np.asarray(-self.eigenvalue.real / size + 0.0)

    @cached_property
    def _shapes(self) -> NDArray[np.complex128]:
        """(modes, bodies, 6)."""
        x = self._solution[1][: len(self.coordinates), self._first]
        largest = np.take_along_axis(x, np.abs(x).argmax(axis=0)[None], axis=0)
        moved = self.tangent.displacement @ (x / np.where(largest == 0.0, 1.0, largest))
        return np.asarray(moved.T.reshape(len(self._first), -1, 6))

    @property
    def displacement(self) -> dict[str, NDArray[np.complex128]]:
        """Displacements of the centres of mass by body, (modes, 3) [m], in global axes.

        The largest coordinate of each mode is 1; a complex value is an amplitude and a phase.
        """
        return {body: self._shapes[:, n, :3] for n, body in enumerate(self.bodies)}

    @property
    def rotation(self) -> dict[str, NDArray[np.complex128]]:
        """Small rotations by body, (modes, 3) [rad], in global axes, with ``displacement``."""
        return {body: self._shapes[:, n, 3:] for n, body in enumerate(self.bodies)}

    def table(self) -> Table:
        """Eigenvalues, frequencies and damping ratios, with the coordinates that move most."""
        rows = []
        for k, value in enumerate(self.eigenvalue):
            x = np.abs(self._shapes[k].ravel()[list(self.tangent.places)])
            most = [self.coordinates[n] for n in np.argsort(-x, kind="stable")[:2] if x[n] > 0.1]
            damping = None if self.neutral[k] else float(self.damping_ratio[k])
            rows.append([k, float(value.real), float(value.imag), float(self.frequency[k]), damping, ", ".join(most)])
        columns = ["mode", "real part [1/s]", "imaginary part [rad/s]", "frequency [Hz]", "damping ratio", "moves most"]
        note = (
            "About an equilibrium."
            if self.at_rest
            else "The system is not in equilibrium: the eigenvalues are those of one instant of a motion."
        )
        return Table(f"modes of {self.system}", columns, rows, note)

    def __str__(self) -> str:
        table = self.table()
        lines = [list(table.columns), *([cell(value) for value in row] for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ["  ".join(word.rjust(width) for word, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([table.title, *shown, table.note])

    def to_xarray(self) -> xarray.Dataset:
        """A dataset with the dimensions mode, body, axis and state; real and imaginary parts are variables of their own."""
        import xarray

        rates = [f"{unit}/s" for unit in self.tangent.units]
        states = [*self.coordinates, *(f"{name} rate" for name in self.coordinates), *self.states]
        data: dict[str, Any] = {
            "A": (("state", "state_of"), self.A, {"long_name": "x' = A x, rows by state, columns by state_of"}),
            "frequency": ("mode", self.frequency, {"units": "Hz"}),
            "natural_frequency": ("mode", self.natural_frequency, {"units": "Hz"}),
            "damping_ratio": ("mode", self.damping_ratio, {"units": "1"}),
        }
        shapes = {"displacement": (self._shapes[:, :, :3], "m"), "rotation": (self._shapes[:, :, 3:], "rad")}
        for part in ("real", "imag"):
            data[f"eigenvalue_{part}"] = ("mode", getattr(self.eigenvalue, part), {"units": "1/s"})
            for name, (values, unit) in shapes.items():
                data[f"{name}_{part}"] = (("mode", "body", "axis"), getattr(values, part), {"units": unit})
        coordinates: dict[str, Any] = {
            "mode": np.arange(len(self.eigenvalue)),
            "body": list(self.bodies),
            "axis": list(AXES),
            "state": states,
            "state_of": states,
            "state_unit": ("state", [*self.tangent.units, *rates, *self.state_units]),
        }
        attributes = {"model": self.system, "time": self.time, "at_rest": int(self.at_rest)}
        return xarray.Dataset(data, coords=coordinates, attrs=attributes)
