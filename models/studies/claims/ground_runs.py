"""The foot on the ground, falling and through a gait cycle, on which the claims about contact are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from models import foot, foot_ground, foot_sole
from models.foot_orthosis import PRESETS
from models.studies import measures
from models.studies.drop import METHOD
from models.studies.drop import slip as slips
from models.studies.landing.runs import Case, subtalar
from models.walking import (
    Floor,
    Sole,
    analyse,
    fit_sole,
    floor_of,
    leg_foot,
    predict_ground_force,
    scale_sole,
    synthetic,
)
from models.walking.contact import Prediction
from models.walking.gait_result import Gait
from runtime import Builder, Run, inverse_dynamics, simulate
from runtime.support import GRAVITY
from runtime.support.arrays import Floats

# The printed 40 kN/m has not the unit of the law with the exponent 1.5; both readings that can be meant [N/m^1.5].
READINGS = {"40 kN/m^1.5": 40e3, "40 N/mm^1.5": foot_ground.STIFFNESS}
SPEEDS = (0.5, 1.0, 2.0)  # [m/s] of the falling foot, which the paper does not print
FRICTIONS = {"Coulomb": 0.0, "Coulomb and viscous": foot_ground.MU_D}  # mu_d [N s/m]
FALLING = 1.0  # [s]
SPRUNG = dict(
    stiffness=(foot.SPRING,) * 3, damping=(foot.DAMPER,) * 3
)  # the paper's springs, about all axes of the ankle
CASE, LANDING = Case(incline=20.0, height=foot.CLEARANCE), 0.25  # of landings; [s]
ORTHOSES: Mapping[str, Any] = {"without": None, "with": PRESETS["stiff"]}
IMPACT = 0.08  # [s] from the first touch-down, before the leg topples
DAMPINGS = (100.0, 300.0, 900.0)  # [N s/m] of a sphere that strikes the ground
BALL = dict(mass=1.0, radius=0.03, speed=0.5)  # [kg], [m], [m/s]
HEIGHTS = np.linspace(-0.03, 0.03, 13)  # [m] of the sole, from which the search of the best one begins
DRIFTING, LOOSE = (
    20.0,
    1e-6,
)  # [s], tolerance of the runs that show the drift, at whatever tolerance the others are made
BAUMGARTE = {"with": 5.0, "without": 0.0}  # alpha and beta [1/s]
TRANSITION_VELOCITY = 1e-2  # [m/s] of the friction under the walking foot


@dataclass(frozen=True)
class Walked:
    """Vertical force (n,) [body weights] on a sole along the walk, the spheres in contact, and its centre of pressure (n, 3)."""

    force: Floats
    pressed: Mapping[str, Floats]
    cop: Floats


@dataclass(frozen=True)
class GroundRuns:
    """Runs on which the claims are checked.

    ``falls`` by reading of the stiffness, speed and friction, ``falls_of_two_axes`` of the foot with the modified ankle;
    ``inversions`` [deg] at impact of that foot on an incline, without and with an orthosis;
    ``restitution`` of a ball by damping, and ``hysteresis`` by the
    reading of the printed number as the factor of Hunt and Crossley's law; ``walked`` by reading and shape of the sole, at the
    height that fits best, and "standing" at the height that bears the body while standing; ``fitted`` sole.
    """

    falls: Mapping[tuple[str, float, str], Run]
    falls_of_two_axes: Mapping[tuple[str, float, str], Run]
    inversions: Mapping[str, float]
    restitution: Mapping[float, float]
    hysteresis: Mapping[str, float]
    drifts: Mapping[str, Run]
    gait: Gait
    measured: Floats  # (n,) [body weights]
    walked: Mapping[tuple[str, str], Walked]
    fitted: Prediction
    fitted_shapes: Mapping[str, Prediction]

    @property
    def stance(self) -> Floats:
        """Fraction of stance at the times of ``gait``, (n,)."""
        cycle = self.gait.cycle
        return np.asarray((self.gait.t - cycle.strike) / (cycle.off - cycle.strike))

    def error(self, force: Floats) -> float:
        """Root mean square difference of a vertical force from the measured one over stance [body weights]."""
        inside = (self.stance >= 0.0) & (self.stance <= 1.0)
        return float(np.sqrt(np.mean((force - self.measured)[inside] ** 2)))

    def in_contact(self, walked: Walked, stance: float) -> list[int]:
        """Numbers of the spheres in contact at a fraction of stance."""
        n = int(np.argmin(np.abs(self.stance - stance)))
        return [int(name.removeprefix("sphere_")) for name, force in walked.pressed.items() if force[n] > 0.0]

    def failures(self) -> list[str]:
        """Messages of the runs that failed."""
        runs = {" ".join(map(str, key)): run for key, run in (*self.falls.items(), *self.drifts.items())}
        runs |= {f"two axes, {' '.join(map(str, key))}": run for key, run in self.falls_of_two_axes.items()}
        return [f"foot on the ground, {label}: {run.message}" for label, run in runs.items() if not run.success]


def ground_runs(tolerance: float) -> GroundRuns:
    """Simulate all falls with ``tolerance``, and put soles under the walk."""
    at: dict[str, Any] = dict(rtol=tolerance, atol=tolerance, method=METHOD, t_eval=measures.times(FALLING))
    falls, falls_of_two_axes = (
        {
            (reading, speed, friction): simulate(build(READINGS[reading], speed, FRICTIONS[friction]), FALLING, **at)
            for reading, speed, friction in product(READINGS, SPEEDS, FRICTIONS)
        }
        for build in (_falling, _falling_on_two_axes)
    )
    drifts = {
        name: simulate(
            foot.build(), DRIFTING, alpha=rate, beta=rate, rtol=LOOSE, atol=LOOSE, coordinates=measures.EQUATIONS
        )
        for name, rate in BAUMGARTE.items()
    }
    gait = analyse(synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS)
    sole = scale_sole(gait.subject)
    measured = gait.ground_at(gait.t)[0][:, 2] / (gait.subject.mass * GRAVITY)
    walked = {}
    for reading, stiffness in READINGS.items():
        high = _best_height(gait, sole, stiffness, measured)
        for shape, of_shape in shapes(sole.raised(sole.spheres, high)).items():
            walked[reading, shape] = walk(gait, of_shape, stiffness)
        walked[reading, "standing"] = walk(gait, sole, stiffness)
    fitted = fit_sole(gait).sole
    predictions = {shape: predict_ground_force(gait, of_shape) for shape, of_shape in shapes(fitted).items()}
    return GroundRuns(
        falls=falls,
        falls_of_two_axes=falls_of_two_axes,
        inversions={name: _inversion(orthosis, at) for name, orthosis in ORTHOSES.items()},
        restitution={c: _restitution(tolerance, law="kelvin_voigt", damping=c) for c in DAMPINGS},
        hysteresis={
            name: _restitution(tolerance, law="hunt_crossley", loss=2.0 * foot_ground.DAMPING / (3.0 * K), stiffness=K)
            for name, K in READINGS.items()
        },
        drifts=drifts,
        gait=gait,
        measured=measured,
        walked=walked,
        fitted=predictions["normal"],
        fitted_shapes=predictions,
    )


def shapes(sole: Sole) -> dict[str, Sole]:
    """The sole and its two pathologies."""
    return {"normal": sole, "cavus": sole.cavus, "flat": sole.flat}


def _falling(stiffness: float, speed: float, mu_d: float) -> Any:
    """The foot in a horizontal position, moving forward."""
    return foot_ground.build(stiffness=stiffness, speed=speed, mu_d=mu_d, pitch_deg=0.0)


def _falling_on_two_axes(stiffness: float, speed: float, mu_d: float) -> Any:
    """The foot with the modified ankle, held by springs, in a horizontal position, moving forward."""
    return foot.build(
        ground=True, leg="free", toes="sprung", limits="dissipative", velocity=(speed, 0.0, 0.0), mu_d=mu_d,
        sole_stiffness=stiffness, orthosis=SPRUNG,
    )  # fmt: skip


def _inversion(orthosis: Mapping[str, Any] | None, at: Mapping[str, Any]) -> float:
    """Largest inversion [deg] at impact of the foot with the modified ankle on an incline."""
    run = simulate(CASE.build("modified", orthosis), LANDING, **{**at, "t_eval": measures.times(LANDING)})
    return float(subtalar(run)[0].max(where=run.t <= run.contact_events[0, 0] + IMPACT, initial=0.0))


def longest_slip(run: Run) -> float:
    """Longest path of a sphere over the ground while in contact [mm]."""
    return 1000.0 * max(float(path[-1]) for path in slips(run).values())


def turn_of_foot(run: Run) -> float:
    """Largest rotation of the main foot's long axis from the horizontal, in the sagittal plane [deg]."""
    axis = run.rotations("main_foot")[:, :, 0]
    return float(np.abs(np.rad2deg(np.unwrap(np.arctan2(axis[:, 2], axis[:, 0])))).max())


def _restitution(tolerance: float, *, stiffness: float = READINGS["40 N/mm^1.5"], **law: Any) -> float:
    """Speed after the impact of a ball on the ground relative to that before."""
    b = Builder("ball", gravity=(0, 0, 0))
    radius, speed = BALL["radius"], BALL["speed"]
    b.body("ball", mass=BALL["mass"], inertia=(1e-3, 1e-3, 1e-3), r=(0, 0, radius + 1e-4), v=(0, 0, -speed), free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=radius, stiffness=stiffness, exponent=foot_sole.EXPONENT, **law)
    run = simulate(b.build(), 0.5, rtol=tolerance, atol=tolerance)
    return float(run.v["ball"][-1, 2]) / speed


def walk(gait: Gait, sole: Sole, stiffness: float, floor: Floor | None = None) -> Walked:
    """The ground's force on a sole along a walk by the law of the paper, Eqs. (11) and (14), with its constant damping."""
    floor = floor or floor_of(gait)[0]
    b = leg_foot.driven(gait.subject, gait.coordinates, "gait on nine spheres")
    for name, sphere in sole.spheres.items():
        b.contact(
            name, sphere.body, centre=sphere.centre, radius=sphere.radius, law="kelvin_voigt", stiffness=stiffness,
            exponent=foot_sole.EXPONENT, damping=foot_ground.DAMPING, friction="coulomb", mu_c=foot_ground.MU_C,
            mu_d=foot_ground.MU_D, transition_velocity=TRANSITION_VELOCITY, point=(0.0, 0.0, floor.height),
        )  # fmt: skip
    motion = inverse_dynamics(b.build(time=float(gait.t[0])), gait.t)
    reaction = motion.ground_reaction()
    pressed = {name: contact.normal_force for name, contact in motion.contacts.items()}
    return Walked(reaction.force[:, 2] / (gait.subject.mass * GRAVITY), pressed, reaction.centre_of_pressure)


def _best_height(gait: Gait, sole: Sole, stiffness: float, measured: Floats) -> float:
    """Shift of the sole [m] at which the vertical force is nearest to the measured one; the paper prints no height."""
    inside = (gait.t >= gait.cycle.strike) & (gait.t <= gait.cycle.off)

    def error(height: float) -> float:
        force = walk(gait, sole.raised(sole.spheres, height), stiffness).force
        return float(np.mean((force - measured)[inside] ** 2))

    n = int(np.argmin([error(height) for height in HEIGHTS]))
    step = HEIGHTS[1] - HEIGHTS[0]
    bounds = HEIGHTS[n] - step, HEIGHTS[n] + step
    return float(minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": 1e-5}).x)
