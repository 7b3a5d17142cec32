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
from models.walking.leg_foot import DEGREES_OF_FREEDOM, BodyPath, Coordinates, GroundLoad
from models.walking.norms import CENTRE_OF_PRESSURE, CYCLE, CYCLE_STANCE, MOTION, NORMS, Series
from models.walking.scaling import scale_to_subject
from models.walking.subject import LegFoot, UpperLeg
from models.walking.upper_leg import JOINT_ANGLES, SEQUENCE, UPPER_ANGLES, knee_and_hip, scale_upper_leg
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
    "R_FTC": (0.020, -0.075, 0.870),
    "R_IAS": (0.090, -0.030, 0.960),
    "L_IAS": (0.090, 0.210, 0.960),
    "R_IPS": (-0.070, 0.045, 0.975),
    "L_IPS": (-0.070, 0.135, 0.975),
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
    toes = NORMS["toe_extension"].mean
    assert isinstance(toes, Series)
    of_joints = {
        "talocrural": MOTION["dorsiflexion"],
        "talocalcaneal": MOTION["inversion"],
        "metatarsophalangeal": toes,
        **{name: MOTION[name] for name in UPPER_ANGLES},
    }
    series = named("joint", of_joints)[joint]
    times = bounded(floats(t, "t", "times [s]"), "t")
    if not 0 <= derivative <= MAX_DERIVATIVE:
        raise ModelError(f"derivative = {derivative}; give 0 to {MAX_DERIVATIVE}")
    return series((times - STRIKE) / CYCLE, derivative) / CYCLE**derivative


@cache
def coordinates() -> Coordinates:
    """The signals that drive the model."""
    leg = _path(_leg)
    return Coordinates(
        leg=leg.place,
        turn=leg.turn,
        talocrural=_signal(lambda t: angle("talocrural", t)),
        talocalcaneal=_signal(lambda t: angle("talocalcaneal", t)),
        metatarsophalangeal=_signal(lambda t: angle("metatarsophalangeal", t)),
    )


@cache
def upper_leg() -> UpperLeg:
    """The subject's thigh and pelvis."""
    return scale_upper_leg(static(), subject())


@cache
def upper_paths() -> dict[str, BodyPath]:
    """How ``thigh`` and ``pelvis`` move; the place of the pelvis is the middle of its anterior spines."""
    return {body: _path(lambda t, body=body: _above(t)[body]) for body in ("thigh", "pelvis")}  # type: ignore[misc]


def _leg(t: Floats) -> tuple[Floats, Rotation]:
    """Place (n, 3) [m] and orientation of the leg."""
    person, x = subject(), (t - STRIKE) / CYCLE
    leg, arm = person.bodies["leg"], np.array(person.talocrural.points["leg"])
    turn = Rotation.from_euler("ZYX", np.column_stack([MOTION[name](x) for name in ("yaw", "pitch", "roll")]))
    turn = turn * Rotation.from_matrix(np.array(leg.A))  # SciPy 1.15 refuses read-only arrays
    moved = leg.r + leg.A @ arm + np.column_stack([MOTION[f"ankle_{axis}"](x) for axis in "xyz"])
    return moved - turn.apply(arm), turn


def _above(t: Floats) -> dict[str, tuple[Floats, Rotation]]:
    """Place (n, 3) [m] and orientation of thigh and pelvis, from the leg upwards by the angles of knee and hip."""
    above, (r, turn) = upper_leg(), _leg(t)
    joints = {
        joint: Rotation.from_euler(SEQUENCE, np.column_stack([sign * angle(name, t) for name, sign in signs.items()]))
        for joint, signs in JOINT_ANGLES.items()
    }
    knee = r + turn.apply(np.array(subject().knee))
    thigh = turn * Rotation.from_matrix(np.array(above.knee_axes)) * joints["knee"].inv()
    r_thigh = knee - thigh.apply(np.array(above.knee))
    pelvis = thigh * joints["hip"].inv()
    r_pelvis = r_thigh + thigh.apply(np.array(above.hip)) - pelvis.apply(np.array(above.hip_in_pelvis))
    return {"thigh": (r_thigh, thigh), "pelvis": (r_pelvis, pelvis)}


def _path(pose: Callable[[Floats], tuple[Floats, Rotation]]) -> BodyPath:
    """Signals of a body's pose."""

    def p(t: Floats) -> Floats:
        return without_flips(pose(t)[1].as_quat(scalar_first=True))

    return BodyPath(
        place=tuple(_signal(lambda t, k=k: pose(t)[0][:, k]) for k in range(3)),  # type: ignore[arg-type, misc]
        turn=tuple(_signal(lambda t, k=k: p(t)[:, k]) for k in range(4)),  # type: ignore[arg-type, misc]
    )


def _signal(f: Callable[[Floats], Floats]) -> Signal:
    return Signal.function(f, 0.0, T_END, step=STEP)


@cache
def _ground_path() -> tuple[Floats, Floats, Floats]:
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
    t, force, point = _ground_path()
    s = (t - STRIKE) / (STANCE * CYCLE)
    free = MASS * NORMS["free_moment"].mean(s)
    loaded = (s > 0.0) & (s < 1.0)
    cop = np.where(loaded[:, None], point, np.nan)
    corners = np.array([[2.0, 1.0, SURFACE], [-1.0, 1.0, SURFACE], [-1.0, -1.0, SURFACE], [2.0, -1.0, SURFACE]])
    return GroundForce("synthetic", t, force, cop, free, corners, SURFACE)


def ground() -> tuple[GroundLoad]:
    """The force of the plate as signals, all of it on the main foot."""
    t, force, point = _ground_path()
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
    above, poses, known = upper_leg(), _above(t), person.landmarks
    static_only = {known.labels[name] for name in known.of("knee")}
    for body, places in (("thigh", above.thigh.markers), ("pelvis", above.pelvis)):
        r, turn = poses[body]
        markers |= {label: r + turn.apply(np.array(p)) for label, p in places.items() if label not in static_only}
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
    paths = upper_paths()
    system = leg_foot.build(subject(), coordinates(), ground(), thigh=(upper_leg().thigh, paths["thigh"]))
    motion = inverse_dynamics(system, t)
    above = knee_and_hip(motion, subject(), upper_leg(), paths["pelvis"])
    found = {}
    for name, moment in above["moments"].items():
        found[name, "angle"], found[name, "moment"] = angle(name, t), moment
        found[name, "power"] = moment * angle(name, t, 1)
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
