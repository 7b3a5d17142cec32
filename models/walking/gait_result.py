"""The result of the analysis of one walking trial: joint angles, moments and powers over the gait cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from models.isb import AnkleAngles, InversionAxis, ankle_angles
from models.walking.axes_posterior import AxesPosterior
from models.walking.capture import GroundForce
from models.walking.capture.trial import Side
from models.walking.gait_events import GaitCycle
from models.walking.hinge_fit import FunctionalAxes
from models.walking.leg_foot import JOINTS, Coordinates
from models.walking.spatiotemporal import Spatiotemporal
from models.walking.subject import LegFoot, UpperLeg
from runtime.analysis import Motion
from runtime.results import Seen
from runtime.support import checked_class
from runtime.support.arrays import Floats

if TYPE_CHECKING:
    from runtime.results import DrawnMotion
    from runtime.view import Group, Scene

PERCENT = np.linspace(0.0, 100.0, 101)
PERCENT.flags.writeable = False
# Labels of the loads, which are the ground's, in views.
GROUND_LABELS = {
    "load forces": "ground force",
    "load moments": "free moment of the ground",
    "point of action of the loads": "centre of pressure",
}
FLAT = (0.25, 0.5)  # part of stance in which the foot is flat on the floor and loaded


class Marker(NamedTuple):
    """A marker at the times of a trial: positions (n, 3) [m] in axes of the laboratory.

    ``measured``: filtered; ``modelled``: of the same point of ``body`` on the driven model.
    """

    body: str
    measured: Floats
    modelled: Floats


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class Gait(Seen):
    """One trial of one foot: a driven motion over a gait cycle.

    ``ankle_angles()`` gives the angles of the ISB, ``angles`` those of the hinges.
    ``view()`` and ``animation(file)`` show the motion with its markers, measured and modelled, and the ground force.

    Attributes
    ----------
    name, side, subject, cycle
        Of the trial; ``side`` is "left" or "right".
    t : (n,) [s]
        Frames of the cycle, two more on each side.
    angles, moments, powers : mapping of joint to (n,) [rad], [N m], [W]
        Joints ``talocrural``, ``talocalcaneal``, ``metatarsophalangeal``, which has no moment and no power where the toes
        are locked; those of the talocalcaneal joint are NaN where the markers do not show inversion.  Dorsiflexion, inversion and
        extension are positive, zero while standing; a moment is that of muscles and ligaments on the distal body.  With
        ``upper_leg`` also ``knee_flexion``, ``knee_adduction``, ``knee_rotation`` and those of the hip; flexion, adduction and
        internal rotation are positive, and zero where the anatomical axes of both bodies are parallel.
    ground : GroundForce
        The force on the foot.
    residual : (n,) [m]
        Root mean square distance of the markers from the model.
    coordinates, motion
        The signals that drive the model, and the motion with its reactions.
    markers : mapping of label to Marker
        Those that the motion follows.
    toes_guided : bool
        Whether the toes follow their markers.
    speed : float [m/s]
        Of the leg over the cycle; 0 on a treadmill.
    spatiotemporal : Spatiotemporal
        Cadence, lengths of steps, and events of the other foot.
    notes : tuple of str
        Every assumption that was not read from a file.
    functional_axes : FunctionalAxes or AxesPosterior, optional
        Axes found from the subject's own markers, if a trial for them was given.
    orthosis_moments : mapping of joint to (n,) [N m]
        The part of ``moments`` that an orthosis would exert in this motion, with its weight and inertia; empty without one.
    upper_leg : UpperLeg, optional
        Pelvis and thigh; None, with a note, where markers of them are missing.
    """

    name: str
    side: Side
    subject: LegFoot
    cycle: GaitCycle
    t: Floats
    angles: Mapping[str, Floats]
    moments: Mapping[str, Floats]
    powers: Mapping[str, Floats]
    ground: GroundForce
    residual: Floats
    coordinates: Coordinates
    motion: Motion
    markers: Mapping[str, Marker]
    toes_guided: bool
    speed: float
    spatiotemporal: Spatiotemporal
    notes: tuple[str, ...] = field(default=())
    functional_axes: FunctionalAxes | AxesPosterior | None = None
    orthosis_moments: Mapping[str, Floats] = field(default_factory=dict)
    upper_leg: UpperLeg | None = None

    def __repr__(self) -> str:
        return f"Gait('{self.name}', {self.side} foot, {len(self.t)} times, {self.t[0]:g} .. {self.t[-1]:g} s)"

    def drawn_motion(self) -> DrawnMotion:
        """The arrays that are drawn."""
        return self.motion.drawn_motion()

    def scene(self, **more: Any) -> Scene:
        """The scene: the leg and foot, markers, measured and modelled, the ground force and its centre of pressure, angles.

        Parameters
        ----------
        more
            As for ``Run.scene``; ``points`` and ``curves`` are added.

        Raises
        ------
        ModelError
        """
        points = {
            f"markers, {kind}": {label: getattr(marker, kind) for label, marker in self.markers.items()}
            for kind in ("measured", "modelled")
        }
        toes = f"metatarsophalangeal, {self.toe_caveat}" if self.toe_caveat else "metatarsophalangeal"
        labels = {"metatarsophalangeal": toes}
        angles: dict[str, dict[str, Floats]] = {"angles [deg]": {}}
        for joint, angle in self.angles.items():
            if np.isfinite(angle).all():
                chart = "angles [deg]" if joint in JOINTS else "angles of knee and hip [deg]"
                angles.setdefault(chart, {})[labels.get(joint, joint.replace("_", " "))] = np.rad2deg(angle)
        foot = f", {self.side} foot"
        more = {"name": self.name.removesuffix(foot) + foot} | more
        more["points"], more["curves"] = points | (more.get("points") or {}), angles | (more.get("curves") or {})
        found = super().scene(**more)
        return replace(found, groups=tuple(_of_ground(group) for group in found.groups))

    @property
    def toe_caveat(self) -> str:
        """A warning where the angle of the toes follows from a single marker, else empty."""
        labels = [label for label, marker in self.markers.items() if marker.body == "toes"]
        return f"from one marker, '{labels[0]}'" if len(labels) == 1 else ""

    @property
    def toe_off(self) -> float:
        """Percent of the cycle."""
        return 100.0 * self.cycle.stance

    @property
    def percent(self) -> Floats:
        """Percent of the cycle at ``t``, (n,)."""
        return 100.0 * (self.t - self.cycle.strike) / (self.cycle.next_strike - self.cycle.strike)

    def ankle_angles(self, *, inversion_about: InversionAxis = "floating") -> AnkleAngles:
        """Angles of the ankle joint complex at ``t`` in the joint coordinate system of the ISB, zero while standing.

        Of the main foot relative to the leg; anatomical axes of both are those of the leg in the standing trial, as Wu et al.
        (2002) recommend.  ``inversion_about``: see ``models.isb.ankle_angles``.

        Raises
        ------
        ModelError
            In gimbal lock.
        """
        leg, foot = (self.subject.bodies[body].A for body in ("leg", "main_foot"))
        # A left foot is mirrored before its analysis.
        return ankle_angles(self.motion, inversion_about=inversion_about, side="right", neutral=foot.T @ leg)

    def over_cycle(self, values: Floats) -> Floats:
        """Values at ``t`` (n, ...) as a curve of 101 points from foot strike to foot strike; NaN where they are blank."""
        if not np.isfinite(values).all():
            return np.full((len(PERCENT), *values.shape[1:]), np.nan)
        curve: Floats = CubicSpline(self.percent, values)(PERCENT)
        return curve

    def ground_over_cycle(self) -> tuple[Floats, Floats, Floats]:
        """Force (101, 3) [N], centre of pressure (101, 3) [m] and free moment (101,) [N m] over the cycle."""
        return self.ground_at(self.cycle.strike + PERCENT / 100.0 * (self.cycle.next_strike - self.cycle.strike))

    def ground_at(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Force (n, 3) [N], centre of pressure (n, 3) [m], NaN while unloaded, and free moment (n,) [N m] at times [s]."""
        columns = np.column_stack([self.ground.force, self.ground.cop, self.ground.free_moment])
        found = np.column_stack([np.interp(t, self.ground.t, column) for column in columns.T])
        return found[:, :3], found[:, 3:6], found[:, 6]

    def cop_in_foot(self) -> Floats:
        """Path of the centre of pressure under the foot through stance, (k, 2) [m]: anterior and medial of the heel's marker.

        In the axes of the main foot, at the frames in which the foot is loaded.
        """
        main_foot = self.subject.bodies["main_foot"]
        loaded = np.isfinite(self.ground.cop).all(axis=1)
        t = self.t[(self.t >= self.cycle.strike) & (self.t <= self.cycle.off)]
        t = t[(t >= self.ground.t[loaded][0]) & (t <= self.ground.t[loaded][-1])]
        cop = np.column_stack([np.interp(t, self.ground.t[loaded], c) for c in self.ground.cop[loaded].T])
        rows = np.searchsorted(self.t, t)
        A = self.motion.rotations("main_foot")[rows]
        local = np.einsum("nab,na->nb", A, cop - self.motion.r["main_foot"][rows])
        heel = main_foot.markers[self.subject.landmarks.labels["heel"]]
        path: Floats = (local - heel)[:, :2]
        return path


def _of_ground(group: Group) -> Group:
    """An entry of the legend; those of loads with the words for the ground force."""
    if group.key not in GROUND_LABELS:
        return group
    _, comma, largest = group.label.partition(", ")
    return replace(group, label=f"{GROUND_LABELS[group.key]}{comma}{largest}")
