"""The result of ``sensitivities``: a run and its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.analysis.angle_slopes import NearbyMotions, slopes_of_angles
from runtime.analysis.nearby_runs import NearbyRuns, Result
from runtime.dynamics.layout import STATE
from runtime.results.joint_angles import JointAngles, joint_angles
from runtime.results.result_quantities import BODY_QUANTITIES, CONVENTION
from runtime.results.run import Run
from runtime.results.whole_turns import WholeTurns
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.errors import ModelError
from runtime.support.names import named
from runtime.system.state import AXES, EULER, PARTS
from runtime.system.system import System

if TYPE_CHECKING:
    import xarray


@checked_class
@dataclass(frozen=True)
class Sensitivities(ReadOnlyArrays):
    """A run and its derivatives with respect to K scalar quantities.

    ``names`` (K,): names of parameters or of parts of the initial state, with component indices, such as "gravity[2]";
    ``values`` (K,): values at which the derivatives are taken; ``t`` (m,) [s]; ``r``, ``p``, ``v``, ``omega``: derivatives by
    body, (m, 3, K) or (m, 4, K); ``state``: the motion by part and body, (m, 3) or (m, 4).  ``argument_errors`` (K,): estimated
    relative errors of the derivatives of a system with respect to the arguments of the function that builds it, without its
    signals; 0 for the parameters of a System, in which its data are smooth.  ``angles``: derivatives of the coordinates of joints
    and of their rates, by joint, (m, K) each; ``motion``: these coordinates.  ``run``: the motion as ``simulate`` returns it;
    ``derivative("max(angle.ankle.theta_i)")``: the derivatives of any output of a run, or of a function of it.
    """

    system: System
    names: tuple[str, ...]
    values: Floats = field(repr=False)
    t: Floats = field(repr=False)
    states: Floats = field(repr=False)  # (m, 13 bodies)
    slopes: Floats = field(repr=False)  # (m, 13 bodies, K)
    steps: int
    argument_errors: Floats = field(repr=False)
    _nearby: tuple[NearbyMotions, ...] | str = field(repr=False, default="the coordinates of joints are not known")
    _turns: WholeTurns | None = field(repr=False, default=None)
    _start: Floats | None = field(repr=False, default=None)  # (13 bodies,) from which angles follow
    _around: Callable[[], NearbyRuns] | None = field(repr=False, default=None)  # the run and runs nearby

    def _by_body(self, array: Floats, part: str) -> Mapping[str, Floats]:
        wide = array.reshape(len(self.t), -1, STATE, *array.shape[2:])
        return named("body", {n: wide[:, k, PARTS[part]] for k, n in enumerate(self.system.body_names)}, "bodies")

    @property
    def state(self) -> Mapping[str, Mapping[str, Floats]]:
        """r, p, v, omega -> body -> (m, 3) or (m, 4)."""
        return named("part", {part: self._by_body(self.states, part) for part in PARTS})

    @property
    def r(self) -> Mapping[str, Floats]:
        """Derivatives of the centres of mass, (m, 3, K) [m per unit of the quantity]."""
        return self._by_body(self.slopes, "r")

    @property
    def p(self) -> Mapping[str, Floats]:
        """Derivatives of the Euler parameters, (m, 4, K) [1 per unit of the quantity]."""
        return self._by_body(self.slopes, "p")

    @property
    def v(self) -> Mapping[str, Floats]:
        """Derivatives of the velocities, (m, 3, K) [m/s per unit of the quantity]."""
        return self._by_body(self.slopes, "v")

    @property
    def omega(self) -> Mapping[str, Floats]:
        """Derivatives of the angular velocities, (m, 3, K) [rad/s per unit of the quantity]."""
        return self._by_body(self.slopes, "omega")

    @cached_property
    def motion(self) -> Mapping[str, JointAngles]:
        """Coordinates of the joints and their rates, by joint, as ``Run.angles``; (m,) each."""
        states = self.states.reshape(len(self.t), -1, STATE)
        return joint_angles(self.system, states, self._turns, start=self._start)

    @cached_property
    def angles(self) -> Mapping[str, JointAngles]:
        """Derivatives of the coordinates of the joints, (m, K) each [rad or m per unit of the quantity], by joint.

        ``angles["ankle"].theta_i``, ``angles["ankle"].rates["theta_i"]``; the coordinates are those of ``Run.angles``, which
        are 0 in the reference configuration of the system with the values at hand.

        Raises
        ------
        ModelError
            Where a system at nearby values has no reference configuration on its joints.
        """
        if isinstance(self._nearby, str):
            raise ModelError(f"angles: derivatives of coordinates of joints need systems nearby, but {self._nearby}")
        return slopes_of_angles(self.system, self._nearby, self.states, self.slopes)

    @cached_property
    def _runs(self) -> NearbyRuns:
        if isinstance(self._nearby, str):
            raise ModelError(f"derivatives of outputs need systems nearby, but {self._nearby}")
        assert self._around is not None
        runs = self._around()
        return replace(runs, run=replace(runs.run, states=self.states))

    @property
    def run(self) -> Run:
        """The motion at the times of the derivatives, as ``simulate`` returns it."""
        return self._runs.run

    def result(self, of: Result) -> tuple[Floats, Floats]:
        """A result of the run (...), and its derivatives (..., K); see ``derivative``."""
        return self._runs.slope(of)

    def derivative(self, of: Result) -> Floats:
        """Derivatives (..., K) of an output of the run, or of a function of the run.

        Parameters
        ----------
        of : str or function
            Such as "angle.ankle.theta_i" (m, K), "max(abs(angle.ankle.theta_i))" (K,), or a function that takes the ``Run``
            and returns a number or an array.  Largest and smallest values are those at the times ``t``.

        Raises
        ------
        ModelError
            For an unknown output, and where a derivative is not known.
        """
        return self.result(of)[1]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset: dimensions time, body, axis, euler, and number (the scalar quantities by name)."""
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
        listed = [(joint, name) for joint, angles in self.motion.items() for name in angles.units]
        if not isinstance(self._nearby, str):
            data |= self._dataset_of_angles(listed)
        coordinates: dict[str, Any] = {
            "time": ("time", self.t, {"units": "s"}), "body": list(self.system.body_names), "axis": list(AXES),
            "euler": list(EULER), "number": list(self.names), "value": ("number", self.values),
            "argument_error": ("number", self.argument_errors),
        }  # fmt: skip
        if listed:
            coordinates["coordinate"] = [f"{joint}.{name}" for joint, name in listed]
            coordinates["coordinate_unit"] = ("coordinate", [self.motion[joint].units[name] for joint, name in listed])
        return xarray.Dataset(data, coordinates, {"system": self.system.name, "conventions": CONVENTION})

    def _dataset_of_angles(self, listed: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Variables of the dataset for coordinates of joints, pairs of joint and coordinate."""

        def table(of: Mapping[str, JointAngles], part: str) -> Floats:
            return np.stack([getattr(of[joint], part)[name] for joint, name in listed], axis=1)

        data: dict[str, Any] = {}
        meanings = ("angle", "values", "coordinate of a joint"), ("angle_rate", "rates", "rate of the coordinate")
        for name, part, meaning in meanings if listed else ():
            data[name] = (("time", "coordinate"), table(self.motion, part), {"long_name": meaning})
            own = {"long_name": f"derivative of the {meaning}"}
            data[f"d_{name}"] = (("time", "coordinate", "number"), table(self.angles, part), own)
        return data
