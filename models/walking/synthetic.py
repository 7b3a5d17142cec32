"""A synthetic walking trial with a known answer: the model itself generates the markers and the ground forces.

The motion is given by a few Fourier coefficients of one walker and of normative curves (``models.walking.norms``), so every
angle is known in closed form; the ground's force and its path under the foot are series too.  There is neither measurement
nor noise, so the result of an analysis can be compared with the input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from models.walking import leg_foot
from models.walking.capture import Capture, GaitEvent, GroundForce, Subject
from models.walking.filters import without_flips
from models.walking.leg_foot import DEGREES_OF_FREEDOM, Coordinates, GroundLoad
from models.walking.norms import CENTRE_OF_PRESSURE, CYCLE, CYCLE_STANCE, MOTION, NORMS
from models.walking.scaling import scale_to_subject
from models.walking.subject import LegFoot
from runtime import ModelError, Signal, System, inverse_dynamics, kinematics
from runtime.support import GRAVITY, bounded, checked, floats, increasing_times, named
from runtime.support.arrays import Floats

MASS, HEIGHT = 70.0, 1.75  # [kg], [m]
STRIKE = 0.1  # [s] foot strike; the trial lasts from 0 to a tenth of a second after the next
STANCE = CYCLE_STANCE
T_END = STRIKE + CYCLE + 0.1
MARKER_RATE, FORCE_RATE = 200.0, 1000.0  # [Hz]
STEP = 5e-4  # [s] between the knots of the signals: error of their accelerations 1e-9 of the largest
SURFACE = 0.0  # [m] height of the ground

# Standing with the right heel at the origin, x anterior, y medial [m]; the labels of Schreiber and Moissenet.
STANDING = {
    "R_FLE": (0.050, -0.050, 0.480),
    "R_FME": (0.055, 0.050, 0.475),
    "R_FAX": (0.030, -0.060, 0.420),
    "R_TTC": (0.090, 0.005, 0.420),
    "R_FAL": (0.035, -0.045, 0.075),
    "R_TAM": (0.055, 0.042, 0.085),
    "R_FCC": (-0.010, 0.000, 0.035),
    "R_FM1": (0.185, 0.045, 0.035),
    "R_FM2": (0.200, 0.005, 0.050),
    "R_FM5": (0.155, -0.050, 0.030),
    "R_HLX": (0.240, 0.030, 0.030),
    "R_TOE": (0.245, -0.005, 0.030),
}
MAX_DERIVATIVE = 10
MARKERS = {"hallux": "R_HLX", "toe_tip": "R_TOE"}  # labels that the marker set does not have


@checked
def build(*, time: float | None = None) -> System:
    """The driven leg and foot of the synthetic trial, with its ground forces: the model ``gait`` of the command.

    ``time`` [s]: of the initial configuration; default 0.
    """
    return leg_foot.build(subject(), coordinates(), ground(), time=time)


def static() -> Capture:
    """The subject standing, one frame."""
    markers = {label: np.array([p]) for label, p in STANDING.items()}
    who = Subject("synthetic", MASS, HEIGHT, None, None)
    return Capture("synthetic standing", np.zeros(1), markers, subject=who)


@cache
def subject() -> LegFoot:
    """The subject's leg and foot."""
    return scale_to_subject(static(), "right", markers=MARKERS)


@checked
def angle(joint: str, t: Floats, derivative: int = 0) -> Floats:
    """A joint's angle in closed form, or its derivative, at times (n,) [s]; [rad], [rad/s], ..."""
    of_joints = {
        "talocrural": MOTION["dorsiflexion"],
        "talocalcaneal": MOTION["inversion"],
        "metatarsophalangeal": NORMS["toe_extension"].mean,
    }
    series = named("joint", of_joints)[joint]
    times = bounded(floats(t, "t", "times [s]"), "t")
    if not 0 <= derivative <= MAX_DERIVATIVE:
        raise ModelError(f"derivative = {derivative}; give 0 to {MAX_DERIVATIVE}")
    return series((times - STRIKE) / CYCLE, derivative) / CYCLE**derivative


@cache
def coordinates() -> Coordinates:
    """The signals that drive the model."""
    person = subject()
    leg = person.bodies["leg"]
    standing = Rotation.from_matrix(np.array(leg.A))  # SciPy 1.15 refuses read-only arrays
    arm = np.array(person.talocrural.points["leg"])
    ankle = leg.r + leg.A @ arm

    def turn(t: Floats) -> Rotation:
        x = (t - STRIKE) / CYCLE
        angles = np.column_stack([MOTION[name](x) for name in ("yaw", "pitch", "roll")])
        return Rotation.from_euler("ZYX", angles) * standing

    def place(t: Floats) -> Floats:
        x = (t - STRIKE) / CYCLE
        moved = ankle + np.column_stack([MOTION[f"ankle_{axis}"](x) for axis in "xyz"])
        off: Floats = turn(t).apply(arm)
        return moved - off

    def p(t: Floats) -> Floats:
        return without_flips(turn(t).as_quat(scalar_first=True))

    return Coordinates(
        leg=tuple(_signal(lambda t, k=k: place(t)[:, k]) for k in range(3)),  # type: ignore[arg-type, misc]
        turn=tuple(_signal(lambda t, k=k: p(t)[:, k]) for k in range(4)),  # type: ignore[arg-type, misc]
        talocrural=_signal(lambda t: angle("talocrural", t)),
        talocalcaneal=_signal(lambda t: angle("talocalcaneal", t)),
        metatarsophalangeal=_signal(lambda t: angle("metatarsophalangeal", t)),
    )


def _signal(f: Callable[[Floats], Floats]) -> Signal:
    return Signal.function(f, 0.0, T_END, step=STEP)


@cache
def _path() -> tuple[Floats, Floats, Floats]:
    """Times (m,), and the forces (m, 3) on the foot and their points (m, 3), in global axes, at the rate of the plate."""
    person = subject()
    t = np.arange(0.0, T_END + 0.5 / FORCE_RATE, 1.0 / FORCE_RATE)
    system = leg_foot.build(person, coordinates())
    motion = kinematics(system, np.clip(t, 0.0, T_END))
    s = np.clip((t - STRIKE) / (STANCE * CYCLE), 0.0, 1.0)
    force = np.column_stack([NORMS[f"{name}_force"].mean(s) for name in ("anterior", "medial", "vertical")])
    heel = person.bodies["main_foot"].markers["R_FCC"]
    local = heel + person.foot_length * np.column_stack([CENTRE_OF_PRESSURE[axis](s) for axis in "xyz"])
    point = motion.r["main_foot"] + np.einsum("nab,nb->na", motion.rotations("main_foot"), local)
    # On the ground, along the line of the foot's own vertical.
    point[:, 2] = SURFACE
    return t, force * MASS * GRAVITY, point


def plate() -> GroundForce:
    """The force plate under the foot."""
    t, force, point = _path()
    s = (t - STRIKE) / (STANCE * CYCLE)
    free = MASS * NORMS["free_moment"].mean(s)
    loaded = (s > 0.0) & (s < 1.0)
    cop = np.where(loaded[:, None], point, np.nan)
    corners = np.array([[2.0, 1.0, SURFACE], [-1.0, 1.0, SURFACE], [-1.0, -1.0, SURFACE], [2.0, -1.0, SURFACE]])
    return GroundForce("synthetic", t, force, cop, free, corners, SURFACE)


def ground() -> tuple[GroundLoad]:
    """The force of the plate as signals, all of it on the main foot."""
    t, force, point = _path()
    free = MASS * NORMS["free_moment"].mean((t - STRIKE) / (STANCE * CYCLE))
    columns = [Signal.spline(t, column, degree=1) for column in (*force.T, *point.T, free)]
    return (GroundLoad(tuple(columns[:3]), tuple(columns[3:6]), columns[6]),)  # type: ignore[arg-type]


@checked
def trial(rate: float = MARKER_RATE) -> Capture:
    """The subject walking: markers at a rate [Hz], the force plate, and the events."""
    if not 10.0 <= rate <= 1e5:
        raise ModelError(f"rate = {rate:g} Hz; give 10 to 1e5 Hz")
    person = subject()
    t = np.arange(0.0, T_END, 1.0 / rate)
    motion = kinematics(leg_foot.build(person, coordinates()), t)
    markers = {}
    for body, segment in person.bodies.items():
        A = motion.rotations(body)
        for label, local in segment.markers.items():
            if label not in segment.calibration:
                markers[label] = motion.r[body] + np.einsum("nab,b->na", A, local)
    events = (
        GaitEvent(STRIKE, "foot_strike", "right"),
        GaitEvent(STRIKE + STANCE * CYCLE, "foot_off", "right"),
        GaitEvent(STRIKE + CYCLE, "foot_strike", "right"),
    )
    who = Subject("synthetic", MASS, HEIGHT, None, None)
    return Capture("synthetic trial", t, markers, (plate(),), events, who)


@cache
def _exact(times: tuple[float, ...]) -> dict[tuple[str, str], Floats]:
    t = np.array(times)
    motion = inverse_dynamics(leg_foot.build(subject(), coordinates(), ground()), t)
    found = {}
    for joint, axis in DEGREES_OF_FREEDOM.items():
        effort = motion.degrees_of_freedom[axis].effort
        found[joint, "angle"] = angle(joint, t)
        found[joint, "moment"] = effort
        found[joint, "power"] = effort * angle(joint, t, 1)
    return found


@checked
def exact(t: Floats) -> dict[tuple[str, str], Floats]:
    """The answer at times (n,): (joint, "angle" [rad], "moment" [N m] or "power" [W]) -> (n,).

    Angles and their rates are the series themselves; moments come from signals whose derivatives are exact to 1e-9.
    """
    return _exact(tuple(increasing_times(t, "t").tolist()))
