"""Results of kinematics and inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import ROWS, STATE, V
from runtime.dynamics.signals import DEGREE
from runtime.results.run import Run
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, ReadOnlyArrays, frozen
from runtime.support.errors import ModelError
from runtime.support.names import named
from runtime.system.degrees_of_freedom import DegreeOfFreedom, branches, degrees_of_freedom


@dataclass(frozen=True)
class DegreeOfFreedomMotion(ReadOnlyArrays):
    """A degree of freedom over time: arrays (n,).

    ``rate`` [rad/s] or [m/s]; ``effort``: generalised force of all drivers along this degree of freedom, a moment about its axis
    [N m] on the body ``on``, or a force [N], positive in the sense of the rate; ``power`` = effort times rate [W].
    """

    name: str
    joint: str
    on: str
    unit: str
    rate: Floats
    effort: Floats
    power: Floats


@dataclass(frozen=True)
class DriverMotion(ReadOnlyArrays):
    """A driver over time: values, rates, efforts and powers (n,) by the names of its signals.

    The effort is the generalised force of the signal; effort times rate is the power that the driver supplies to the system.  For
    a guided angle the effort is the moment about its axis [N m], for a guided point the components of the force on it [N].
    """

    name: str
    value: Mapping[str, Floats]
    rate: Mapping[str, Floats]
    effort: Mapping[str, Floats]
    power: Floats


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class Motion(Run):
    """A driven motion: a ``Run`` whose states follow from drivers, with the forces and moments that the motion requires.

    ``degrees_of_freedom["ankle.a_j"]``: rate, effort and power of each degree of freedom of the joints; ``driven["talocrural"]``:
    those of each driver; ``joint_load(joint, ...)``: the total load of a joint, its reaction and its drivers together.
    ``residual`` (n,): root mean square of the drivers' rows where they are met by least squares, else zero.
    """

    residual: Floats = field(repr=False, kw_only=True)
    fitted: Floats | None = field(repr=False, kw_only=True, default=None)  # (n, 6 bodies) accelerations of a fit

    def __post_init__(self) -> None:
        super().__post_init__()
        for array in (self.residual, self.fitted):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else "no times"
        return f"Motion('{self.system.name}', {len(self.t)} times, {span})"

    @property
    def v_dot(self) -> Mapping[str, Floats]:
        """Accelerations of the centres of mass, (n, 3) [m/s^2]."""
        return super().v_dot if self.fitted is None else self._bodies(self._fitted, 0, 3)

    @property
    def omega_dot(self) -> Mapping[str, Floats]:
        """Angular accelerations, (n, 3) [rad/s^2], global axes."""
        return super().omega_dot if self.fitted is None else self._bodies(self._fitted, 3, 6)

    @property
    def _fitted(self) -> Floats:
        assert self.fitted is not None
        return self.fitted.reshape(len(self.t), -1, 6)

    @property
    def has_forces(self) -> bool:
        """Whether multipliers and reactions are determined; False where drivers were met by least squares."""
        return self.fitted is None

    @property
    def _solved(self) -> Any:
        if not self.has_forces:
            raise ModelError(
                f"system '{self.system.name}' meets its drivers by least squares, which leaves their forces undetermined; drive "
                "as many coordinates as there are degrees of freedom for inverse dynamics"
            )
        return super()._solved

    @cached_property
    def degrees_of_freedom(self) -> Mapping[str, DegreeOfFreedomMotion]:
        """Rate, effort and power of every degree of freedom of the joints by its name; joints in closed loops have none."""
        names: list[DegreeOfFreedom] = []
        motions: list[Floats] = []
        measures: list[Floats] = []
        tree = branches(self.system)
        for time, y in zip(self.t, self.states, strict=True):
            names, motion, measure = degrees_of_freedom(self.system, float(time), y, tree)
            motions.append(motion)
            measures.append(measure)
        B = np.array(motions)
        v = self._state[:, :, V:].reshape(len(self.t), -1)
        rates = np.einsum("nfk,nk->nf", np.array(measures), v)
        drivers = tuple(k for k, joint in enumerate(self.system.joints) if joint.signals)
        efforts = np.full((len(self.t), len(names)), np.nan)
        if self.fitted is None:
            Q = np.zeros((len(self.t), len(self.data.mass), 6))
            for k in drivers:
                for side, body in enumerate((self.data.body_i[k], self.data.body_j[k])):
                    Q[:, body] += self._solved.wrench[:, k, side]
            efforts = np.einsum("nkf,nk->nf", B, Q[:, 1:].reshape(len(self.t), -1))
        motions_of = {
            f.name: DegreeOfFreedomMotion(
                f.name, f.joint, f.distal, "N m" if f.turning else "N", rate, effort, power=effort * rate
            )
            for f, rate, effort in zip(names, rates.T, efforts.T, strict=True)
        }
        return named("degree of freedom", motions_of, "degrees of freedom")

    @cached_property
    def driven(self) -> Mapping[str, DriverMotion]:
        """Values, rates, efforts and power of every driver by its name."""
        solved = self._solved
        slopes = self._signal_slopes()
        found = {}
        for k, joint in enumerate(self.system.joints):
            if not joint.signals:
                continue
            value = {name: signal(self.t) for name, signal in joint.signals.items()}
            rate = {name: signal(self.t, 1) for name, signal in joint.signals.items()}
            efforts = np.einsum("nsr,nr->sn", slopes[:, :, k], solved.lam[:, k])
            effort = dict(zip(joint.signals, efforts, strict=False))
            power = sum((effort[name] * rate[name] for name in effort), np.zeros(len(self.t)))
            values, rates, forces = (named("signal", part) for part in (value, rate, effort))
            found[joint.name] = DriverMotion(joint.name, values, rates, forces, power)
        return named("driver", found)

    def _signal_slopes(self) -> Floats:
        """Derivative of every driver's rows with respect to its first, second, ... signal: (n, signals, joints, 6)."""
        system, work = self.system, workspace_for(self.system.data)
        most = max((len(joint.signals) for joint in system.drivers), default=0)
        count = len(system.data.signals.start) - 1
        place_in_driver = np.concatenate([np.arange(len(j.signals)) for j in system.drivers] + [np.zeros(0)])
        slopes = np.zeros((len(self.t), most, len(system.joints), ROWS))
        for n, (time, y) in enumerate(zip(self.t, self.states, strict=True)):
            projection.worst_row(float(time), y, self.data, work, False)
            still = y.copy()
            still.reshape(-1, STATE)[:, V:] = 0.0
            for s in range(most):
                # With the bodies at rest and a rate of 1 of one signal, Phi' is the derivative with respect to that signal.
                coefficients = np.zeros((count, DEGREE + 1))
                coefficients[:, 0] = work.signals[:, 0]
                coefficients[: len(place_in_driver), 1] = place_in_driver == s
                signals = self.data.signals._replace(
                    start=np.arange(count + 1), knot=np.full(count, float(time)), coefficient=coefficients
                )
                projection.worst_row(float(time), still, frozen(self.data._replace(signals=signals)), work, True)
                slopes[n, s] = work.Phi_dot
        return slopes
