"""Knee and hip: a subject's pelvis and thigh, their motion, and the angles, moments and powers of both joints.

Hip joint centre: the regressions of ``models.walking.anatomy``.  Axes and angles of the hip: Wu et al., J Biomech 35, 2002,
543-548; of the knee: Grood and Suntay, J Biomech Eng 105, 1983, 136-144.  Mass and inertia of the thigh: de Leva (1996).

The leg keeps the motion that ``models.walking.analysis`` finds for it.  The pelvis follows its own markers.  The thigh follows
its markers, the hip centre of the pelvis and the knee centre of the leg by least squares: both joints may gape by millimetres.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from models.isb import joint_coordinates
from models.walking.anatomy import HIP_CENTRES, Anatomy
from models.walking.anthropometry import TABLES, long_segment_inertial, within
from models.walking.capture import Capture
from models.walking.gait_result import Marker
from models.walking.geometry import across, euler_parameters, fixes_orientation, frame, mean_of_seen, unit
from models.walking.leg_foot import BodyPath, path_through
from models.walking.preparation import Filters, marker_positions
from models.walking.samples import all_finite
from models.walking.segment_motion import Pose, fit_rigid
from models.walking.subject import LegFoot, Segment, UpperLeg
from runtime import ModelError
from runtime.analysis import Motion
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

HIP_SOURCES = {
    "harrington": "Harrington et al. (2007), from width and depth of the pelvis",
    "bell": "Bell et al. (1990), from the width of the pelvis",
}
THIGH_LENGTHS = (0.2, 0.65)  # [m] of people
PELVIS, KNEE = "the axes of the pelvis and the hip centre", "the axis of the knee"

# Angles of a joint about the axes y, x and z of its coordinate system, and their signs in the axes of a right leg: x anterior,
# y medial, z up.
SEQUENCE = "YXZ"
JOINT_ANGLES: Mapping[str, Mapping[str, float]] = {
    "knee": {"knee_flexion": 1.0, "knee_adduction": 1.0, "knee_rotation": 1.0},
    "hip": {"hip_flexion": -1.0, "hip_adduction": 1.0, "hip_rotation": 1.0},
}
UPPER_ANGLES = tuple(name for angles in JOINT_ANGLES.values() for name in angles)


@checked
def scale_upper_leg(static: Capture, subject: LegFoot, anatomy: Anatomy | None = None) -> UpperLeg:
    """The pelvis and the thigh of a subject who stands still.

    Pelvis (Wu et al. 2002): y along the line between the anterior superior iliac spines, x in the plane of these and the middle
    of the posterior ones.  Thigh: z from the middle of the epicondyles to the hip centre, y in the plane of this line and the
    epicondyles.  Leg, for angles of the knee: its long axis, and y towards the line between the epicondyles while standing, in
    place of the line between the plateaus of Grood and Suntay (1983), which cannot be palpated.

    Parameters
    ----------
    static : Capture
        The trial; that of a left leg must have been mirrored.
    subject : LegFoot
        Of the same trial.
    anatomy : Anatomy, optional
        With the regression of the hip centre and the table of inertia.

    Raises
    ------
    ModelError
        With the marker that is missing, or for a thigh that no person has.
    """
    anatomy = anatomy or Anatomy()
    known = subject.landmarks

    def place(landmark: str, purpose: str) -> Floats:
        return mean_of_seen(static.marker(known.need(landmark, purpose)), axis=0)

    own, other = (place(f"{side}anterior_iliac_spine", PELVIS) for side in ("", "opposite_"))
    if "posterior_iliac_spine" in known or "sacrum" not in known:
        back = np.mean([place(f"{side}posterior_iliac_spine", PELVIS) for side in ("", "opposite_")], axis=0)
    else:
        back = place("sacrum", PELVIS)
    medial = place("medial_epicondyle", KNEE) - place("lateral_epicondyle", KNEE)
    front, y = (own + other) / 2, unit(other - own)
    x = across(front - back, y)
    A = np.column_stack([x, y, np.cross(x, y)])
    if A[2, 2] <= 0.0:
        raise ModelError(f"{static.name}: the markers of the pelvis are upside down; are their labels exchanged?")
    sizes = (1.0, float(np.linalg.norm(other - own)), float(np.linalg.norm(front - back)))
    anterior, lateral, up = np.array(HIP_CENTRES[anatomy.hip_centre]) @ sizes
    in_pelvis = np.array([anterior, -lateral, up])
    leg = subject.bodies["leg"]
    hip, knee = front + A @ in_pelvis, leg.r + leg.A @ subject.knee
    length = float(np.linalg.norm(hip - knee))
    within(length, THIGH_LENGTHS, f"{static.name}: length of the thigh", "m", "are the labels right?")
    A_thigh = frame(hip - knee, medial, "y")
    of = long_segment_inertial("thigh", subject.sex, subject.mass, hip, knee, anatomy.inertia)

    def local(names: tuple[str, ...], r: Floats, axes: Floats) -> dict[str, Floats]:
        labels = [known.labels[name] for name in names]
        return {label: (mean_of_seen(static.marker(label), axis=0) - r) @ axes for label in labels}

    own_values = not isinstance(anatomy.inertia, str) and "thigh" in anatomy.inertia
    markers = local((*known.of("thigh"), *known.of("knee")), of.r, A_thigh)
    thigh = Segment(A_thigh, of.r, of.mass, of.inertia, markers)
    sources = {
        "hip centre": HIP_SOURCES[anatomy.hip_centre],
        "thigh": f"{'own values' if own_values else TABLES['de_leva']}; {1e3 * length:.0f} mm from hip to knee",
    }
    return UpperLeg(
        local(known.of("pelvis"), front, A), in_pelvis, thigh, thigh.local(hip), thigh.local(knee),
        leg.A.T @ frame(leg.A[:, 2], medial, "y"), A, sources,
    )  # fmt: skip


@checked_class
@dataclass(frozen=True, eq=False)
class UpperLegMotion:
    """How pelvis and thigh move in a trial, at the times of the fit of the leg.

    ``pelvis``, ``thigh``: poses, that of the pelvis with the middle of its anterior spines for r; ``pelvis_path``,
    ``thigh_path``: splines through them; ``measured``: label -> positions (n, 3) [m] of their markers.
    """

    upper: UpperLeg
    pelvis: Pose
    thigh: Pose
    pelvis_path: BodyPath
    thigh_path: BodyPath
    measured: Mapping[str, Floats]

    def markers(self, within: slice) -> dict[str, Marker]:
        """The markers as measured and as fitted, at some of the times."""
        found = {}
        bodies = (("pelvis", self.pelvis, self.upper.pelvis), ("thigh", self.thigh, self.upper.thigh.markers))
        for body, pose, local in bodies:
            for label in local.keys() & self.measured.keys():
                fitted = pose.r + pose.A @ local[label]
                found[label] = Marker(body, self.measured[label][within], fitted[within])
        return found


@checked
def follow_upper_leg(
    upper: UpperLeg, subject: LegFoot, trial: Capture, fit: Motion, filters: Filters
) -> UpperLegMotion:
    """The motion of pelvis and thigh beside that of the leg.

    Parameters
    ----------
    upper : UpperLeg
    subject : LegFoot
    trial : Capture
    fit : Motion
        The motion of the leg, at frames of the trial.
    filters : Filters
        Of markers.

    Raises
    ------
    ModelError
        Where too few markers are seen in all of these frames.
    """
    first = int(np.searchsorted(trial.t, fit.t[0] - 1e-9))
    window = slice(first, first + len(fit.t))
    body_of = dict.fromkeys(upper.pelvis, "pelvis") | dict.fromkeys(upper.thigh.markers, "thigh")
    seen = {k: body for k, body in body_of.items() if k in trial.markers and all_finite(trial.markers[k][window]).all()}
    measured = {label: p for label, (_, p) in marker_positions(trial, seen, window, filters).items()}

    def fitted(body: str, local: Mapping[str, Floats], more: dict[str, tuple[Floats, Floats]]) -> Pose:
        """The pose by the markers that are seen and more points, each with its place in the body and its path."""
        points = {label: (p, measured[label]) for label, p in local.items() if label in measured} | more
        places = np.array([p for p, _ in points.values()]).reshape(-1, 3)
        if not fixes_orientation(places):
            there = ", ".join(label for label in points if label not in more) or "none"
            raise ModelError(
                f"{trial.name}: of the markers of the {body} ({', '.join(local)}) {there} are seen in the whole gait cycle, "
                "which do not fix its orientation; fill gaps in the capture software"
            )
        return fit_rigid(places, np.stack([path for _, path in points.values()], axis=1))

    pelvis = fitted("pelvis", upper.pelvis, {})
    hip = pelvis.r + pelvis.A @ upper.hip_in_pelvis
    knee = fit.r["leg"] + fit.rotations("leg") @ subject.knee
    thigh = fitted("thigh", upper.thigh.markers, {"hip centre": (upper.hip, hip), "knee centre": (upper.knee, knee)})
    of_pelvis, of_thigh = (path_through(fit.t, pose.r, euler_parameters(pose.A)) for pose in (pelvis, thigh))
    return UpperLegMotion(upper, pelvis, thigh, of_pelvis, of_thigh, measured)


@checked
def joint_moments(motion: Motion, subject: LegFoot, upper: UpperLeg) -> dict[str, Floats]:
    """Moments (n, 3) [N m] of the knee on the leg and of the hip on the thigh about their centres, in global axes.

    Newton and Euler from below: each body adds what its drivers exert, which is what its own motion, that of the bodies below it
    and the ground's force need.

    Parameters
    ----------
    motion : Motion
        Of ``leg_foot.build`` with the thigh.
    subject : LegFoot
    upper : UpperLeg
    """
    found = {}
    force = moment = centre = np.zeros((len(motion.t), 3))
    for joint, body, local in (("knee", "leg", subject.knee), ("hip", "thigh", upper.hip)):
        own, before = motion.free_body(body), centre
        centre = motion.r[body] + motion.rotations(body) @ local
        moment = moment + np.cross(before - centre, force)
        found[joint] = moment = (
            moment + np.cross(motion.r[body] - centre, own.forces[body]) + own.moments[f"{body}_turn"]
        )
        force = force + own.forces[body]
    return found


@checked
def knee_and_hip(motion: Motion, subject: LegFoot, upper: UpperLeg, pelvis: BodyPath) -> dict[str, dict[str, Floats]]:
    """Angles [rad], moments [N m] and powers [W] of knee and hip, (n,) each, by the names of ``JOINT_ANGLES``.

    Flexion, adduction and internal rotation are positive.  A moment is that of muscles and ligaments on the distal body about the
    axis of its angle: a generalised force, so that the powers of the three axes add up to that of the joint.

    Parameters
    ----------
    motion : Motion
        Of ``leg_foot.build`` with the thigh.
    subject : LegFoot
    upper : UpperLeg
    pelvis : BodyPath
        Whose place is not used.

    Returns
    -------
    mapping of "angles", "moments" and "powers" to those of each angle

    Raises
    ------
    ModelError
        In gimbal lock.
    """
    p, p_dot = (np.stack([signal(motion.t, k) for signal in pelvis.turn], axis=1) for k in (0, 1))
    A = Rotation.from_quat(p, scalar_first=True).as_matrix()
    turning = p[:, :1] * p_dot[:, 1:] - p_dot[:, :1] * p[:, 1:] + np.cross(p[:, 1:], p_dot[:, 1:])
    omega = 2.0 * turning / (p**2).sum(axis=1, keepdims=True)
    thigh, leg = motion.rotations("thigh"), motion.rotations("leg") @ upper.knee_axes
    bodies = {
        "knee": (thigh, leg, motion.omega["leg"] - motion.omega["thigh"]),
        "hip": (A, thigh, motion.omega["thigh"] - omega),
    }
    moments = joint_moments(motion, subject, upper)
    found: dict[str, dict[str, Floats]] = {"angles": {}, "moments": {}, "powers": {}}
    for joint, signs in JOINT_ANGLES.items():
        of = joint_coordinates(motion.t, *bodies[joint], SEQUENCE, name=f"the {joint}")
        efforts = np.einsum("nab,na->nb", of.axes, moments[joint])
        for k, (name, sign) in enumerate(signs.items()):
            found["angles"][name], found["moments"][name] = sign * of.angles[:, k], sign * efforts[:, k]
            found["powers"][name] = efforts[:, k] * of.rates[:, k]
    return found
