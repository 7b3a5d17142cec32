"""Settings of a run, checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.integrate.choices import ABSOLUTE, AUTO, COMPILED_METHODS, COORDINATES, JOINT, METHODS, SCIPY_METHODS
from runtime.integrate.step_control import MOST_STEPS, NO_LIMIT
from runtime.integrate.transition_velocities import refuse_transition_velocities, sticks
from runtime.support.arrays import Floats
from runtime.support.checks import counted, increasing_times, instant, not_negative, positive
from runtime.support.errors import ModelError, UnknownNameError, did_you_mean
from runtime.support.kept import kept
from runtime.system.coupling import whose_couplings
from runtime.system.signal import jumps
from runtime.system.system import System

ROUNDINGS = 4.0  # steps of fewer roundings of time do not differ in length
BAUMGARTE = 5.0  # [1/s] as in the papers
LOOSEST = 1e4  # tolerance; with larger ones states grow beyond any motion, and stiff runs then take steps without end
IN_JOINTS = ("auto", "dop853")  # methods that integrate joint coordinates
LATEST, MOST_TIMES = 16, 1024  # settings of a system that are remembered, and their times
MOST_STABILISED = 1e10  # [1/s] of both coefficients


@dataclass(frozen=True)
class Settings:
    """Checked settings of a run."""

    t_start: float  # [s]
    t_end: float
    t: tuple[float, ...] | None  # [s] of the results; None: the steps
    method: str
    rtol: float
    atol: float
    alpha: float
    beta: float
    max_step: float
    first_step: float  # [s] 0: chosen by the method
    max_steps: int
    projected: bool  # states are projected onto the constraints
    coordinates: str = ABSOLUTE

    @property
    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of ``simulate`` except ``t_eval``."""
        names = ["t_start", "method", "rtol", "atol", "max_step", "max_steps", "coordinates"]
        if self.coordinates == ABSOLUTE and not self.projected:
            names += ["alpha", "beta"]
        return {name: getattr(self, name) for name in names} | {"first_step": self.first_step or None}


def settings(system: System, t_end: float, t_eval: ArrayLike | None, *more: Any, **named: Any) -> Settings:
    """Checked settings from the arguments of ``simulate``; the others as of ``_checked``.

    Raises
    ------
    ModelError
        For an argument that breaks a rule.
    """
    times: Any = t_eval
    if type(times) is np.ndarray and times.dtype == np.float64 and times.ndim == 1 and len(times) <= MOST_TIMES:
        times = times.tolist()
    if type(times) in (list, tuple) and len(times) <= MOST_TIMES:
        # Numbers of other types may be equal and refused.
        times = tuple(times) if {*map(type, times)} == {float} else [*times]
    check = _known(system) if times is None or type(times) is tuple else partial(_checked, system)
    return check(t_end, times, *more, **named)


@kept
def _known(system: System) -> Callable[..., Settings]:
    """``_checked`` of a system, which remembers the latest."""
    return lru_cache(LATEST)(partial(_checked, system))


def _checked(
    system: System, t_end: float, t_eval: ArrayLike | None, method: str, rtol: float, atol: float, t_start: float | None,
    alpha: float | None, beta: float | None, max_step: float, first_step: float | None, max_steps: int | None,
    coordinates: str = ABSOLUTE,
) -> Settings:  # fmt: skip
    t_start = system.time if t_start is None else instant(t_start, "t_start")
    t_end = instant(t_end, "t_end")
    if t_end <= t_start:
        raise ModelError(f"t_end = {t_end:g} s must be after t_start = {t_start:g} s")
    if method not in METHODS:
        raise UnknownNameError(f"unknown method '{method}'; {did_you_mean(method, METHODS)}use {', '.join(METHODS)}")
    coordinates = checked_coordinates(system, coordinates, method, alpha, beta)
    if coordinates == AUTO and (method not in IN_JOINTS or alpha is not None or beta is not None):
        coordinates = ABSOLUTE
    projected = alpha is None and beta is None and system.data.closed == 1 and method in COMPILED_METHODS
    if projected:
        alpha = beta = 0.0
    rtol, atol = (not_negative(value, name) for name, value in dict(rtol=rtol, atol=atol).items())
    alpha, beta = baumgarte("alpha", alpha), baumgarte("beta", beta)
    _check_tolerances(rtol, atol)
    max_step = positive(max_step, "max_step", infinite=True)
    first_step = 0.0 if first_step is None else min(positive(first_step, "first_step", infinite=True), t_end - t_start)
    _check_steps(t_start, t_end, max_step, first_step, max_steps)
    most = NO_LIMIT if max_steps is None else min(counted("max_steps", max_steps, "steps"), NO_LIMIT)
    refuse_overdetermined(system)
    if method in SCIPY_METHODS:
        refuse_impacts(system, f"method '{method}' does not find on its way")
    refuse_transition_velocities(system, method, rtol, atol)
    if method == "auto" and sticks(system):
        method, coordinates = "radau", ABSOLUTE
    system.check_span(t_start, t_end, "simulating")
    _refuse_jumps(system, t_start, t_end)
    times = None if t_eval is None else tuple(_outputs(t_eval, t_start, t_end).tolist())
    return Settings(
        t_start, t_end, times, method, rtol, atol, alpha, beta, max_step, first_step, most, projected, coordinates
    )


def baumgarte(name: str, value: float | None) -> float:
    """One of Baumgarte's coefficients, checked [1/s]; of the default if None."""
    value = not_negative(BAUMGARTE if value is None else value, name)
    if value > MOST_STABILISED:
        raise ModelError(
            f"{name} = {value:g} 1/s, limit {MOST_STABILISED:g} 1/s, from where on the rounding of Phi decides the step; "
            f"give less, such as {BAUMGARTE:g}"
        )
    return value


def refuse_overdetermined(system: System) -> None:
    """Refuse a system that meets its drivers by least squares: it has no equations of motion."""
    if system.overdetermined:
        raise ModelError(
            f"system '{system.name}' meets its drivers by least squares and cannot be simulated; drive as many coordinates as "
            "there are degrees of freedom, and use Builder.build"
        )


def refuse_impacts(system: System, which: str) -> None:
    """Refuse contacts with laws of the speed of touch-down, which the caller does not know; ``which``: in a relative clause."""
    if needing := [contact.name for contact in system.contacts if contact.needs_impact]:
        raise ModelError(
            f"contact '{needing[0]}' damps by the speed of touch-down, which {which}; use runtime.simulate with "
            f"{' or '.join(map(repr, COMPILED_METHODS))}, or the law 'hunt_crossley'"
        )


def _refuse_jumps(system: System, t_start: float, t_end: float) -> None:
    """Refuse drivers whose signals jump, or have rates that do: no motion of finite accelerations follows them."""
    for driver in system.drivers:
        for name, signal in driver.signals.items():
            for time, order, size in jumps(signal, t_start, t_end):
                what = ("value", "rate")[order]
                raise ModelError(
                    f"driver '{driver.name}' of system '{system.name}': the {what} of its signal '{name}' jumps by {size:.3g} at "
                    f"t = {time:g} s, which no motion follows; give a signal with a continuous rate, such as "
                    "Signal.spline(..., degree=3), or end the run ahead of this time"
                )


def checked_coordinates(system: System, coordinates: str, method: str, alpha: float | None, beta: float | None) -> str:
    """The coordinates of a system; joint coordinates, which alone know couplings and armature, where it has any."""
    if not system.joint_coordinates_only:
        _check_coordinates(coordinates, method, alpha, beta)
        return coordinates
    whose = f"{whose_couplings(system)} joint coordinates know"
    if coordinates == ABSOLUTE:
        raise ModelError(f"{whose}; leave out coordinates='absolute'")
    if method not in IN_JOINTS:
        raise ModelError(
            f"{whose}, and method '{method}' integrates absolute ones; use {' or '.join(map(repr, IN_JOINTS))}"
        )
    if alpha is not None or beta is not None:
        raise ModelError(f"{whose}; they have no alpha and beta: leave these out")
    return JOINT


def _check_coordinates(coordinates: str, method: str, alpha: float | None, beta: float | None) -> None:
    """Refuse unknown coordinates, and what joint coordinates do not have."""
    if coordinates not in COORDINATES:
        raise UnknownNameError(
            f"unknown coordinates '{coordinates}'; {did_you_mean(coordinates, COORDINATES)}use {', '.join(COORDINATES)}"
        )
    if coordinates != JOINT:
        return
    if method not in IN_JOINTS:
        raise ModelError(f"method '{method}' integrates absolute coordinates; use coordinates='absolute', or 'dop853'")
    if alpha is not None or beta is not None:
        raise ModelError(
            "alpha and beta stabilise the rows of all joints, which joint coordinates do not have; leave them out, or use "
            "coordinates='absolute'"
        )


def _check_tolerances(rtol: float, atol: float) -> None:
    """Refuse tolerances below rounding, and those that allow errors beyond every motion."""
    if rtol < 1e-14 and atol < 1e-14:
        raise ModelError(
            f"rtol = {rtol:g} and atol = {atol:g} are both below the rounding of numbers, limit 1e-14; raise one"
        )
    if atol == 0.0:
        raise ModelError("atol = 0 leaves states that are zero without a scale; give a small tolerance above 0")
    for name, value in dict(rtol=rtol, atol=atol).items():
        if value > LOOSEST:
            raise ModelError(f"{name} = {value:g} allows errors larger than the motion, limit {LOOSEST:g}; give less")


def _check_steps(t_start: float, t_end: float, max_step: float, first_step: float, max_steps: int | None) -> None:
    """Refuse steps that are lost in the rounding of time, and a run of more steps than any computer takes."""
    rounding = ROUNDINGS * math.ulp(max(abs(t_start), abs(t_end)))
    if max_step < rounding:
        raise ModelError(
            f"max_step = {max_step:g} s is below the rounding of time, {rounding:.1g} s at t = {t_end:g} s; give more, or none"
        )
    if 0.0 < first_step < ROUNDINGS * math.ulp(t_start):
        raise ModelError(
            f"first_step = {first_step:g} s is below the rounding of time at t_start = {t_start:g} s; give more, or leave it out"
        )
    if max_steps is None and (t_end - t_start) / max_step > MOST_STEPS:
        raise ModelError(
            f"max_step = {max_step:g} s makes {(t_end - t_start) / max_step:.1g} steps, limit {MOST_STEPS:g}; give more"
        )


def _outputs(t_eval: ArrayLike, t_start: float, t_end: float) -> Floats:
    outputs = increasing_times(t_eval, "t_eval")
    slack = 1e-12 * max(abs(t_start), abs(t_end))
    if outputs[0] < t_start - slack or outputs[-1] > t_end + slack:
        span = f"{outputs[0]:g} to {outputs[-1]:g} s"
        raise ModelError(f"t_eval runs from {span}, outside the interval {t_start:g} .. {t_end:g} s; give times in it")
    if outputs[0] < t_start or outputs[-1] > t_end:
        outputs = np.clip(outputs, t_start, t_end)
    return outputs
