"""Five published results, each computed anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from models import foot
from models.rotations import about
from models.studies import measures
from models.studies import pendulum as study
from models.studies.validate import squeezer
from models.studies.validate.checks import Check, Result
from runtime import GROUND, Builder, ModelError, Run, Signal, System, inverse_dynamics, simulate

TOLERANCE = 1e-10  # relative and absolute, of the integration
SECONDS = 5.0  # simulated time of the pendulum, as in the paper


def _reached_end(run: Run) -> Run:
    """A run that reached its end; ModelError with its message otherwise."""
    if not run.success:
        raise ModelError(run.message)
    return run


# Rodrigues da Silva et al. (2024b), Section 4: both numbers are approximate.
LATITUDE_DEG, MOMENT = 50.0, 100.0  # Fig. 18b, Fig. 19a [N m]
ABOUT = {"latitude": 0.02, "moment": 0.05}  # parts of them


def limits() -> Result:
    """A pendulum leaves its cone: latitude, and restricting moment."""
    run = _reached_end(study.run_all({"elastic": study.build("elastic")}, SECONDS, TOLERANCE)["elastic"])
    latitude, _, _ = study.first_excess(run)
    moment, _ = measures.peak(run, study.LIMIT)
    return Result(
        "joint limits",
        "Rodrigues da Silva et al. (2024b), Section 4, Figs. 18b and 19a",
        "A pendulum swings beyond its elastic limit.  The paper calls its numbers approximate; the bounds are 2 and 5 per cent.",
        (
            Check("latitude [deg]", latitude, LATITUDE_DEG, ABOUT["latitude"] * LATITUDE_DEG),
            Check("moment [N m]", moment, MOMENT, ABOUT["moment"] * MOMENT),
        ),
    )


def mechanism() -> Result:
    """Andrews' squeezing mechanism at 0.03 s, simulated."""
    run = _reached_end(simulate(squeezer.builder().build(), squeezer.END, rtol=TOLERANCE, atol=TOLERANCE))
    found = squeezer.angles(run)
    return Result(
        "mechanism",
        f"{squeezer.SOURCE}: reference solution",
        "Andrews' squeezing mechanism, seven bodies in three loops; its crank turns 2.5 times in 0.03 s.",
        (
            Check("angle of the crank [rad]", found["beta"], squeezer.END_ANGLES["beta"], 1e-8),
            Check("angle of the last bar [rad]", found["epsilon"], squeezer.END_ANGLES["epsilon"], 1e-8),
        ),
    )


def inverse() -> Result:
    """Moments and a force from a motion: Andrews' squeezing mechanism, and a standing foot."""
    # Only both ends are on the published motion; the mechanism is led from one to the other in small steps.
    squeezed = inverse_dynamics(squeezer.builder(driven=True).build(), np.linspace(0.0, squeezer.END, 121))
    motor = squeezed.driven["motor"].effort["theta_t"]
    force = squeezed.reaction("E4", on="K4").force
    ankle = inverse_dynamics(standing_foot().build(), [0.0]).driven["held"].effort["theta_t"]
    return Result(
        "inverse dynamics",
        f"{squeezer.SOURCE}: parameters and multipliers; Winter (2009), Example 5.1",
        "The same crank, guided by its published motion; the ankle of a person who stands on one foot.",
        (
            Check("motor's moment [N m]", float(motor[-1]), squeezer.MOTOR, 1e-7),
            Check("force in a hinge [N]", float(force[-1, 0]), squeezer.END_FORCE, 1e-4),
            Check("ankle's moment [N m]", float(ankle[0]), ANKLE_MOMENT, 0.005),
        ),
    )


# Winter, Biomechanics and Motor Control of Human Movement, 4th ed., Wiley 2009, Example 5.1, as transcribed: upward force of the
# ground, downward force of the leg on the ankle [N], their distances behind the foot's centre of mass [m], and the moment [N m].
GROUND_FORCE, ANKLE_FORCE = 588.0, 579.2
GROUND_ARM, ANKLE_ARM = 0.02, 0.06
ANKLE_MOMENT, GRAVITY = -22.99, 9.8


def standing_foot() -> Builder:
    """A foot that stands still below a leg: x anterior, y up, positive moments from x to y; the ankle is at the origin."""
    weight = GROUND_FORCE - ANKLE_FORCE
    b = Builder("standing foot", gravity=(0.0, -GRAVITY, 0.0))
    b.body("foot", mass=weight / GRAVITY, inertia=(1e-3, 1e-3, 1e-3), r=(ANKLE_ARM, 0.0, 0.0))
    z, x = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    b.joint("ankle", "revolute", GROUND, "foot", s_i=(0.0, 0.0, 0.0), a_i=z, s_j=(-ANKLE_ARM, 0.0, 0.0), a_j=z)
    b.driver("held", "guided_angle", GROUND, "foot", h_i=z, a_i=x, b_j=x, theta_t=Signal.constant(0.0))
    b.load("ground", "foot", force=(0.0, GROUND_FORCE, 0.0), point=(ANKLE_ARM - GROUND_ARM, 0.0, 0.0))
    return b


ALPHA, SPEEDS = 0.1, (0.1, 0.01)  # [s/m], [m/s]


def contact() -> Result:
    """Restitution of a sphere that hits a plane slowly, without gravity."""
    checks = []
    for speed in SPEEDS:
        b = Builder("sphere", gravity=(0.0, 0.0, 0.0))
        b.body("ball", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), r=(0.0, 0.0, 0.0501), v=(0.0, 0.0, -speed), free=True)
        b.contact(
            "touch", "ball", centre=(0.0, 0.0, 0.0), radius=0.05, law="hunt_crossley", stiffness=1e7, exponent=1.5, loss=ALPHA
        )  # fmt: skip
        run = _reached_end(simulate(b.build(), 0.01 / speed, rtol=TOLERANCE, atol=TOLERANCE))
        published, bound = restitution(ALPHA, speed)
        checks.append(Check(f"restitution at {speed:g} m/s", float(run.v["ball"][-1, 2] / speed), published, bound))
    return Result(
        "contact",
        "Hunt and Crossley (1975): e = 1 - alpha v for a small speed v",
        f"A sphere hits a plane, alpha = {ALPHA:g} s/m.  The bound is (alpha v)^2, the first term that the formula leaves out.",
        tuple(checks),
    )


def restitution(alpha: float, speed: float) -> tuple[float, float]:
    """Hunt and Crossley's coefficient of restitution, and the next term of its series; ``alpha`` [s/m], ``speed`` [m/s]."""
    return 1.0 - alpha * speed, (alpha * speed) ** 2


# A state of the modified ankle: the neutral pose, and velocities of the main foot (body i) and the leg (body j).
VELOCITIES = (((0.1, -0.2, 0.3), (1.0, 2.0, -0.5)), ((-0.3, 0.1, 0.2), (-0.4, 0.7, 1.5)))  # [m/s], [rad/s]
ROW, STEP = 3, 3e-4  # of Eq. (32); [s] of second differences


def misprint() -> Result:
    """A wrong sign in the right-hand side of the accelerations of the modified universal joint."""
    system = foot.build("modified")
    (joint,) = (joint for joint in system.joints if joint.name == "ankle")
    bodies, vectors = _ankle(system, joint, 0.0)
    exact = _row(joint.module.gamma, bodies, vectors)
    before, now, after = (_row(joint.module.phi, *_ankle(system, joint, t)) for t in (-STEP, 0.0, STEP))
    by_differences = -(before - 2.0 * now + after) / STEP**2  # at constant velocities gamma is -Phi''
    printed, corrected = (eq32_row4(bodies, vectors, sign) for sign in (-1.0, 1.0))
    return Result(
        "misprint",
        "Rodrigues da Silva et al. (2024a), Eq. (32), row 4",
        "Right-hand side of the modified ankle's accelerations: the last sign of the printed row is wrong.",
        (
            Check("gamma as printed [m/s^2]", exact, printed, 1e-3, wrong=True),
            Check("gamma, sign corrected [m/s^2]", exact, corrected, 1e-12),
            Check("gamma by differences [m/s^2]", exact, by_differences, 1e-6),
        ),
    )


def _ankle(system: System, joint: Any, t: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Both bodies as the kernels take them, (13,) each, and s_i, a_i, s_j, a_j, after ``t`` [s] at constant velocities."""
    bodies, vectors = [], []
    for name, end, (v, omega) in zip((joint.body_i, joint.body_j), "ij", VELOCITIES, strict=True):
        size = float(np.linalg.norm(omega))
        turned = about(np.array(omega) / size, size * t)  # in the neutral pose all frames are parallel
        bodies.append(np.concatenate([system.state.r[name] + t * np.array(v), np.full(4, np.nan), v, omega]))
        vectors += [turned @ joint.values[f"{vector}_{end}"] for vector in "sa"]
    return bodies, vectors


def _row(kernel: Any, bodies: list[np.ndarray], vectors: list[np.ndarray]) -> float:
    """Row ``ROW`` of a kernel of the joint, whose held constants are 0."""
    found = np.full(ROW + 1, np.nan)
    kernel(*bodies, np.concatenate([*vectors, [foot.LINK_LENGTH], np.zeros(3)]), found)
    return float(found[ROW])


def eq32_row4(bodies: list[np.ndarray], vectors: list[np.ndarray], sign: float) -> float:
    """Row 4 of Eq. (32) of Rodrigues da Silva et al. (2024a), whose last term is printed with the sign -1 [m/s^2]."""
    (r_i, v_i, omega_i), (r_j, v_j, omega_j) = ((body[:3], body[7:10], body[10:]) for body in bodies)
    sP_i, _, sP_j, s_j = vectors  # the paper writes s for the axes and s^P for the points
    sP_i_dot, sP_j_dot, s_j_dot = np.cross(omega_i, sP_i), np.cross(omega_j, sP_j), np.cross(omega_j, s_j)
    d, d_dot = r_j + sP_j - r_i - sP_i, v_j + sP_j_dot - v_i - sP_i_dot
    of_j, of_i = (s_j @ np.cross(omega, rate) for omega, rate in ((omega_j, sP_j_dot), (omega_i, sP_i_dot)))
    return float(-d @ np.cross(omega_j, s_j_dot) - 2.0 * d_dot @ s_j_dot - of_j + sign * of_i)


RESULTS: dict[str, Callable[[], Result]] = {
    "joint limits": limits, "mechanism": mechanism, "inverse dynamics": inverse, "contact": contact, "misprint": misprint
}  # fmt: skip
