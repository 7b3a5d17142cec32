"""Landings: their conditions, the foot that lands, and what is measured of its inversion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from models import foot
from models.foot_muscles import RESTING
from models.isb import ankle_angles
from models.studies import measures
from runtime import ModelError, Run, System, simulate
from runtime.support import GRAVITY, floats

ANKLES = {"modified": "modified ankle", "classical": "classical ankle"}
FALLING = 1e-9  # tolerance of the fall, at whose end angles and rates are measured
# [m/s] of the friction: a foot at 1 mm/s, the default of the foot, lands alike and needs an implicit method.
TRANSITION_VELOCITY = 0.02
UNITS = {
    "incline": "deg", "height": "m", "pitch": "deg", "roll": "deg", "dorsiflexion": "deg", "inversion": "deg", "friction": "1",
    "co_activation": "1", "reflex": "1",
}  # fmt: skip
OF_MUSCLES = ("co_activation", "reflex")
AT_REST = RESTING  # co-activation of muscles that are not activated; 0 and no reflex: a foot without muscles


class Control(NamedTuple):
    """Muscles or groups that are co-activated, those that reflexes act on, and the delay of reflexes [s]."""

    co_activation_of: tuple[str, ...]
    reflex_of: tuple[str, ...]
    delay: float


@dataclass(frozen=True)
class Case:
    """Conditions of a landing, with the units of ``UNITS``.

    ``height``: of the lowest sphere above the ground; ``pitch``, ``roll``: of leg and foot; ``dorsiflexion``, ``inversion``: of
    the ankle at the start; ``friction``: coefficient of Coulomb; ``co_activation``: excitation of muscles; ``reflex``: gain.
    Without both the foot has no muscles.

    ``control``: of a study with muscles, whose landings begin at touch-down with the speed of the fall, so that the ankle has its
    angles there; nothing holds it against muscles in the air.
    """

    incline: float
    height: float
    pitch: float = 0.0
    roll: float = 0.0
    dorsiflexion: float = 0.0
    inversion: float = 0.0
    friction: float = foot.MU_C
    co_activation: float = 0.0
    reflex: float = 0.0
    control: Control | None = None

    def __post_init__(self) -> None:
        """Refuse what no foot falls from."""
        if self.height < 0.0:
            raise ModelError(f"clearance = {self.height:g} m: the foot falls from above the ground; give 0 or more")

    def build(self, ankle: str, orthosis: Mapping[str, Any] | None, *, check_units: bool = False) -> System:
        """The foot before it falls, with keywords of ``Builder.orthosis`` or without an orthosis."""
        begin: dict[str, Any] = dict(clearance=self.height)
        if self.control is not None:
            begin = dict(clearance=0.0, velocity=(0.0, 0.0, -GRAVITY * self._time_of_fall), muscles=self.muscles)
        return foot.build(
            ankle, ground=True, leg="free", limits="dissipative", toes="sprung", incline_deg=self.incline, **begin,  # type: ignore[arg-type]
            posture_deg=(self.pitch, self.roll, 0.0), ankle_deg=(self.dorsiflexion, self.inversion), mu_c=self.friction,
            transition_velocity=TRANSITION_VELOCITY, orthosis=orthosis, check_units=check_units,
        )  # fmt: skip

    @property
    def muscles(self) -> dict[str, Any] | None:
        """Keywords of ``muscles`` of ``models.foot.build``; None of a foot without muscles."""
        if self.control is None or not (self.co_activation or self.reflex):
            return None
        own = self.control
        reflex = {"gain": self.reflex, "delay": own.delay, "of": own.reflex_of} if self.reflex else None
        level = dict.fromkeys(own.co_activation_of, self.co_activation) if self.co_activation else {}
        return {"co_activation": level, "reflex": reflex}

    @property
    def fall(self) -> float:
        """Time of the fall of a foot that does not move in its ankle [s]; 0 of a landing that begins at touch-down."""
        return self._time_of_fall if self.control is None else 0.0

    @property
    def _time_of_fall(self) -> float:
        return float(np.sqrt(2.0 * self.height / (GRAVITY * np.cos(np.deg2rad(self.incline)))))

    def times(self, after: float) -> np.ndarray:
        """Output times of a run that ends a time after touch-down [s]."""
        return measures.times(self.fall + after)

    def text(self, varied: tuple[str, ...] = ()) -> str:
        """The conditions in words: incline, height, what is varied and what differs from its default."""
        usual = {each.name: each.default for each in fields(self)}
        shown = [n for n in UNITS if n in ("incline", "height", *varied) or getattr(self, n) != usual[n]]
        return ", ".join(f"{n} {getattr(self, n):g} {UNITS[n].removesuffix('1')}".rstrip() for n in shown)


def subtalar(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Inversion of the foot about the subtalar axis (n,) [deg], and its rate (n,) [deg/s]."""
    angles = run.angles["ankle"]
    return -np.rad2deg(angles.theta_i), -np.rad2deg(angles.rates["theta_i"])


def isb(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Inversion of the foot by the ISB (n,) [deg], about the floating axis, and its rate (n,) [deg/s]."""
    angles = ankle_angles(run)
    return np.rad2deg(angles.inversion), np.rad2deg(angles.rates["inversion"])


class Angle(NamedTuple):
    """An angle of inversion: in words, and as a function of a run."""

    words: str
    of: Callable[[Run], tuple[np.ndarray, np.ndarray]]


ANGLES = {"subtalar": Angle("about the subtalar axis", subtalar), "isb": Angle("by the ISB", isb)}


class Measured(NamedTuple):
    """An angle of inversion [deg] and its rate [deg/s]: at touch-down, and the largest from then on, with its time after it [ms].

    ``rising``: the largest is that at the end of the run.
    """

    at_touch_down: float
    rate_at_touch_down: float
    peak: float
    peak_at: float
    peak_rate: float
    rising: bool


@dataclass(frozen=True, eq=False)
class Landing:
    """A run with its ankle, its conditions, the factor on the stiffness of the orthosis, None without one, and its tolerance."""

    ankle: str
    case: Case
    scale: float | None
    run: Run
    tolerance: float

    @property
    def failure(self) -> str:
        """Why the landing is no result; "" where it is one."""
        if not self.run.success:
            return self.run.message
        after = self.run.t[-1] - self.case.fall
        return "" if self.touch_down <= self.run.t[-1] else f"the foot did not land; give after= above {after:.3g}"

    @cached_property
    def touch_down(self) -> float:
        """Time of the first contact [s]; infinite where the foot does not land."""
        return float(self.run.contact_events[0, 0]) if len(self.run.contact_events) else np.inf

    @cached_property
    def measured(self) -> Mapping[str, Measured]:
        """Of each of ``ANGLES``, where there is no ``failure``."""
        landed, t, found, first = self.run.t >= self.touch_down, self.run.t, {}, self.run
        if self.touch_down > 0.0:
            first = simulate(self.run.system, self.touch_down, rtol=FALLING, atol=FALLING, progress=False)
        for name, angle in ANGLES.items():
            values, rates = angle.of(self.run)
            begin = [float(of[-1 if self.touch_down > 0.0 else 0]) for of in angle.of(first)]
            k = self.place_of_peak(name)
            late = 1000.0 * float(t[k] - self.touch_down)
            peak, rate = float(values[k]), float(rates[landed].max())
            found[name] = Measured(*begin, peak, late, rate, k == len(t) - 1)
        return found

    def place_of_peak(self, angle: str) -> int:
        """Output time of the largest inversion from touch-down on, by its number."""
        first = int(np.searchsorted(self.run.t, self.touch_down))
        return first + int(ANGLES[angle].of(self.run)[0][first:].argmax())

    def peak(self, angle: str) -> float:
        """Largest inversion [deg] by the name of an angle."""
        return self.measured[angle].peak

    @cached_property
    def peak_force(self) -> float:
        """Largest force of the ground [N], also within the steps: at a touch-down it jumps, and falls between two outputs."""
        how: dict[str, Any] = dict(rtol=self.tolerance, atol=self.tolerance, progress=False)
        (fine,) = measures.resolved({self.ankle: self.run.system}, float(self.run.t[-1]), **how).values()
        return float(force_of(fine).max())


def force_of(run: Run) -> np.ndarray:
    """Magnitude of the force of the ground (n,) [N]."""
    return np.asarray(np.linalg.norm(run.ground_reaction().force, axis=1))


def scaled(orthosis: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """Keywords of ``Builder.orthosis`` with each stiffness times a factor: a number, a pair, or the moments of a curve.

    Raises
    ------
    ModelError
        For a law, unless the factor is 1.
    """
    return {**orthosis, "stiffness": [_times(scale, one) for one in orthosis["stiffness"]]}


def _times(scale: float, given: Any) -> Any:
    if isinstance(given, Mapping):
        if scale == 1.0:
            return given
        raise ModelError(
            f"orthosis: one entry of stiffness is a law, which has none to multiply by {scale:g}; give numbers, pairs or curves, "
            "or vary its parameters by runtime.minimise"
        )
    values = floats(given, "orthosis: stiffness", "a number, a pair, or points (n, 2) of angle and moment")
    return values * ([1.0, scale] if values.ndim == 2 else scale)


def landed(
    ankle: str, case: Case, orthosis: Mapping[str, Any] | None, scale: float | None, after: float, tolerance: float
) -> Landing:
    """One landing with a factor on the stiffness of the orthosis, or without one where it is None.

    Values of the foot without an orthosis are checked for other units.
    """
    worn = None if orthosis is None or scale is None else scaled(orthosis, scale)
    system, t = case.build(ankle, worn, check_units=worn is None), case.times(after)
    run = simulate(system, t[-1], t_eval=t, rtol=tolerance, atol=tolerance, progress=False)
    return Landing(ankle, case, scale, run, tolerance)


def scales_of(found: Iterable[Landing]) -> list[float | None]:
    """Factors on the stiffness, ascending; None first."""
    return sorted({one.scale for one in found}, key=lambda scale: -1.0 if scale is None else scale)
