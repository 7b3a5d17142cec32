"""From the files of a motion laboratory to joint angles, moments and powers over a gait cycle.

After Rodrigues da Silva et al. (n.d.), sections 5 to 7:

1. The markers are filtered, and the model is fitted to them at each time by least squares; its joints hold exactly.
2. Splines through the coordinates of this motion drive the model, and the measured ground force loads its foot.
3. The efforts of the drivers are the joint moments.
4. Where the pelvis and the thigh have markers, these move beside the leg, and what drives leg and thigh are the loads of knee and
   hip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from models.foot_orthosis import springs_values
from models.walking import leg_foot
from models.walking.anatomy import Anatomy
from models.walking.axes_posterior import AxesPosterior, axes_posterior
from models.walking.capture import Capture, Subject
from models.walking.capture.trial import Side
from models.walking.gait_events import GaitCycle, with_sides
from models.walking.gait_result import FLAT, Gait, Marker
from models.walking.geometry import euler_parameters
from models.walking.ground_loads import force_on_foot, load_on_foot, loads_on_foot_and_toes
from models.walking.heading import along_x
from models.walking.hinge_fit import FunctionalAxes, functional_axes
from models.walking.leg_foot import DEGREES_OF_FREEDOM, JOINTS, marker_driven, skeleton
from models.walking.plate_assignment import assign_feet
from models.walking.preparation import (
    Filters,
    check_trials,
    choose_cycle,
    choose_frames,
    fill_short_gaps,
    find_feet,
    marker_positions,
)
from models.walking.scaling import FLAT_FOOT, scale_to_subject
from models.walking.segment_motion import check_same_subject, jumps, segment_pose, tracked
from models.walking.spatiotemporal import spatiotemporal
from models.walking.subject import BODIES, LegFoot
from models.walking.upper_leg import UpperLegMotion, follow_upper_leg, knee_and_hip, scale_upper_leg
from runtime import ModelError, State, inverse_dynamics, kinematics
from runtime.analysis import Motion
from runtime.support import checked
from runtime.support.arrays import Floats

MAX_RESIDUAL = 0.02  # [m] root mean square distance of markers from the model, beyond which it does not fit the subject
SAME_MASS = 0.03  # relative difference of the masses that two files of one subject may state

Toes = Literal["auto", "guided", "locked"]
Axes = Literal["rule", "posterior"]
Positions = Mapping[str, tuple[str, Floats]]  # label -> body, positions (n, 3) [m]


# Above 60 lines: the parameters and the order of the steps in one place.
@checked
def analyse(
    static: Capture,
    trial: Capture,
    *,
    side: Side | None = None,
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    markers: Mapping[str, str] | None = None,
    filters: Filters | None = None,
    toes: Toes = "auto",
    anatomy: Anatomy | None = None,
    subject: LegFoot | None = None,
    functional: Capture | FunctionalAxes | AxesPosterior | None = None,
    axes: Axes = "rule",
    foot_flat: bool = True,
    orthosis: str | Mapping[str, Any] | None = None,
) -> Gait:
    """Inverse dynamics of the foot and ankle over one gait cycle.

    Parameters
    ----------
    static, trial : Capture
        Standing and walking, of the same subject with the same markers.
    side : "left" or "right", optional
        Which foot.  Default: the one whose whole stance is on force plates; the right one where both are.
    mass, height, sex, markers, foot_flat
        Of ``models.walking.scale_to_subject``.  A note says where the markers show that the foot does not stand flat.
    filters : Filters, optional
        Default: those of Rodrigues da Silva et al. (n.d.).
    toes : "auto", "guided" or "locked"
        Whether the metatarsophalangeal joint follows the toes' markers; "auto": where the trial has any.
    anatomy : Anatomy, optional
        Of ``models.walking.scale_to_subject``: axes, height of the talus, table of inertia.
    subject : LegFoot, optional
        The subject's leg and foot, instead of the result of ``scale_to_subject``, on the side that is analysed; a left one was
        made from the mirrored static trial.  It has its own mass and anatomy, which are not given beside it.
    functional : Capture, FunctionalAxes or AxesPosterior, optional
        A trial in which the subject moves the ankle, such as slow circles of the foot: axes that it identifies replace those by
        rule, see ``functional_axes``.  Or the axes that were found in one, for the side that is analysed.
    axes : "rule" or "posterior"
        Those of the rules, or the means of the posterior by the markers of this trial and of ``functional``, if that is a trial,
        see ``axes_posterior``; where they conflict with the prior, the rules remain, and a note says so.
    orthosis : str or mapping, optional
        As of ``models.foot.build``: what it would contribute to the moments, if motion and ground force remained the same.

    Returns
    -------
    Gait

    Raises
    ------
    ModelError
        One sentence on what is missing or wrong, and what to do.
    """
    filters = filters or Filters()
    if orthosis is not None:
        springs_values(orthosis)  # refuses it before the work begins
    check_trials(static, trial)
    trial = fill_short_gaps(trial, filters)
    feet = find_feet(trial, side, markers)
    trial, heading = along_x(trial, feet)
    assignment = assign_feet(trial, feet)
    trial, sided = with_sides(trial, feet, assignment)
    side, cycle = choose_cycle(trial, side, feet, assignment)
    steps = spatiotemporal(trial, cycle, feet, assignment)
    if side == "left":
        static, trial = static.mirrored(), trial.mirrored()
    own: dict[str, Any] = dict(mass=mass, height=height, sex=sex, anatomy=anatomy, foot_flat=foot_flat)
    found: FunctionalAxes | AxesPosterior | None = None
    if subject is not None:
        others = {"functional": functional, "foot_flat": None if foot_flat else False}
        _check_subject(subject, side, {**own, **others, "axes": None if axes == "rule" else axes})
    else:
        subject = scale_with_trial(static, trial, side, markers=markers, **own)
        shown_by = functional.mirrored() if isinstance(functional, Capture) and side == "left" else functional
        if axes == "posterior" or isinstance(shown_by, AxesPosterior):
            _check_no_axes(anatomy, shown_by)
            trials = (shown_by, trial) if isinstance(shown_by, Capture) else (trial,)
            of_all = shown_by if isinstance(shown_by, AxesPosterior) else axes_posterior(subject, trials)
            found, subject = of_all, subject if of_all.conflicts else of_all.subject(subject)
        elif shown_by is not None:
            by_motion = functional_axes(subject, shown_by) if isinstance(shown_by, Capture) else shown_by
            found, own["anatomy"] = by_motion, by_motion.anatomy(anatomy)
            subject = scale_with_trial(static, trial, side, markers=markers, **own)
    # While the foot is flat and loaded, as in standing: skin and forefoot move least then.
    stance = cycle.off - cycle.strike
    check_same_subject(subject, trial.crop(*(cycle.strike + part * stance for part in FLAT)))
    notes = [*static.notes, *trial.notes, heading, *filter(None, [sided, cycle.note]), *assignment.notes(trial)]
    standing = subject.sources.get("standing foot", FLAT_FOOT)
    notes += [] if standing == FLAT_FOOT else [f"{static.name}: the standing {side} foot is {standing}"]
    notes += [] if found is None else found.sentences()

    labels, guided = _tracked(trial, subject, toes)
    notes += [*jumps(trial, labels, cycle.strike, cycle.next_strike), *_notes_of_toes(trial, labels, toes)]
    fit, within, positions = _fit_markers(trial, subject, cycle, labels, filters, locked=not guided)
    coordinates = leg_foot.coordinates_of(fit, subject, locked=not guided)

    ground, shown = force_on_foot(trial, side, cycle, assignment, filters)
    loads = loads_on_foot_and_toes(ground, subject, fit) if guided else load_on_foot(ground)
    t = fit.t[within]
    moved = JOINTS if guided else JOINTS[:2]
    above, why = _upper_leg(static, trial, subject, anatomy, fit, filters)
    thigh = None if above is None else (above.upper.thigh, above.thigh_path)
    motion = inverse_dynamics(leg_foot.build(subject, coordinates, loads, time=float(t[0]), thigh=thigh), t)
    hinges = _hinges(motion, moved)
    angles = leg_foot.angles(motion, subject)
    moments = {joint: axis.effort for joint, axis in hinges.items()}
    powers = {joint: axis.power for joint, axis in hinges.items()}
    shown_markers = _markers(subject, motion, positions, within)
    shares: dict[str, Floats] = {}
    if orthosis is not None:
        worn = leg_foot.build(subject, coordinates, loads, time=float(t[0]), orthosis=orthosis)
        left = _hinges(inverse_dynamics(worn, t), moved)
        shares = {joint: moments[joint] - left[joint].effort for joint in moved}
    if not subject.shows_inversion:
        for of in (angles, moments, powers, *([shares] if shares else [])):
            of["talocalcaneal"] = np.full(len(t), np.nan)
        on_foot = " and ".join(subject.bodies["main_foot"].markers)
        notes.append(
            f"{trial.name}: talocalcaneal angle, moment and power stay blank, as the markers {on_foot} do not show inversion; "
            "the joint is locked"
        )
    if above is not None:
        joints = knee_and_hip(motion, subject, above.upper, above.pelvis_path)
        for of, name in ((angles, "angles"), (moments, "moments"), (powers, "powers")):
            of |= joints[name]
        shown_markers |= above.markers(within)
    return Gait(
        name=trial.name, side=side, subject=subject, cycle=cycle, t=t, angles=angles, moments=moments, powers=powers,
        ground=ground, residual=_marker_distance(fit)[within], coordinates=coordinates, motion=motion,
        markers=shown_markers, toes_guided=guided, speed=_speed(motion), spatiotemporal=steps,
        notes=(*notes, *shown, *why), functional_axes=found,
        orthosis_moments=shares, upper_leg=None if above is None else above.upper,
    )  # fmt: skip


def _upper_leg(
    static: Capture, trial: Capture, subject: LegFoot, anatomy: Anatomy | None, fit: Motion, filters: Filters
) -> tuple[UpperLegMotion | None, list[str]]:
    """The motion of pelvis and thigh; where markers of them are missing, None, and a note."""
    try:
        return follow_upper_leg(scale_upper_leg(static, subject, anatomy), subject, trial, fit, filters), []
    except ModelError as error:
        return None, [f"knee and hip are not analysed: {error}"]


def _hinges(motion: Motion, joints: Sequence[str]) -> dict[str, Any]:
    """Driven degrees of freedom by joint."""
    return {joint: motion.degrees_of_freedom[DEGREES_OF_FREEDOM[joint]] for joint in joints}


def _check_subject(subject: LegFoot, side: Side, own: Mapping[str, object]) -> None:
    """Refuse a subject of the other side, and options that it has already."""
    for name, value in own.items():
        if value is not None:
            raise ModelError(
                f"{name}= and subject= are both given; give {name}= to scale_to_subject, or leave out subject="
            )
    if subject.landmarks.side != side:
        raise ModelError(
            f"subject {subject.name} is a {subject.landmarks.side} foot, and the {side} one is analysed; give side= or a "
            "subject of this side"
        )


def _check_no_axes(anatomy: Anatomy | None, functional: object) -> None:
    """Refuse axes that are given beside their posterior."""
    if isinstance(functional, FunctionalAxes):
        raise ModelError("axes='posterior' needs the trial that functional axes come from; give functional= a trial")
    anatomy = anatomy or Anatomy()
    given = [axis for axis in ("talocrural", "subtalar") if anatomy.stated(axis)]
    if given or anatomy.link_length is not None:
        raise ModelError(
            f"axes='posterior' and the {', '.join([*(f'{one} axis' for one in given), *(['link_length'] if not given else [])])} "
            "of the anatomy are both given; leave one of them out"
        )


def scale_with_trial(static: Capture, trial: Capture, side: Side, *, mass: float | None, **options: Any) -> LegFoot:
    """The subject by the static trial, completed by what the walking trial states; ``options`` of ``scale_to_subject``."""
    stated = static.subject.mass
    static = replace(static, subject=_merged(static, trial))
    subject = scale_to_subject(static, side, mass=mass, **options)
    if mass is None and stated is None and trial.subject.mass is not None:
        subject = replace(subject, sources={**subject.sources, "mass": "walking trial"})
    return subject


def _merged(static: Capture, trial: Capture) -> Subject:
    """The subject's data of both files; those of the static trial come first."""
    a, b = static.subject, trial.subject
    if a.mass is not None and b.mass is not None and abs(a.mass - b.mass) > SAME_MASS * a.mass:
        raise ModelError(
            f"{trial.name}: the subject has {b.mass:g} kg, in the static trial {static.name} {a.mass:g} kg; give the "
            "static trial of the same subject, or mass="
        )
    pairs = zip(vars(a).values(), vars(b).values(), strict=True)
    return Subject(*(first if first is not None else second for first, second in pairs))


def _tracked(trial: Capture, subject: LegFoot, toes: Toes) -> tuple[dict[str, str], bool]:
    """Label -> body of the markers to follow, and whether the toes follow markers of their own."""
    labels = {label: body for body in BODIES for label in tracked(subject, trial, body)}
    seen = "toes" in labels.values()
    if toes == "guided" and not seen:
        raise ModelError(f"{trial.name}: no marker on the toes, which toes='guided' needs; use toes='locked'")
    if seen and toes != "locked":
        return labels, True
    return {label: body for label, body in labels.items() if body != "toes"}, False


def _notes_of_toes(trial: Capture, labels: Mapping[str, str], toes: Toes) -> list[str]:
    """What is assumed about the metatarsophalangeal joint."""
    on_toes = [label for label, body in labels.items() if body == "toes"]
    if not on_toes:
        why = "as asked" if toes == "locked" else "as no marker on the toes guides it"
        return [f"{trial.name}: the metatarsophalangeal joint is locked, {why}"]
    notes = [
        f"{trial.name}: the moment and the power of the metatarsophalangeal joint are upper bounds, as the whole ground force "
        "goes to the toes once the centre of pressure passes the joint's axis"
    ]
    if len(on_toes) == 1:
        notes.append(f"{trial.name}: the angle of the toes follows from one marker, '{on_toes[0]}'")
    return notes


def _fit_markers(
    trial: Capture, subject: LegFoot, cycle: GaitCycle, labels: Mapping[str, str], filters: Filters, *, locked: bool
) -> tuple[Motion, slice, Positions]:
    """The motion that meets the markers by least squares, which of its frames are analysed, and the markers."""
    window, within = choose_frames(trial, cycle, tuple(labels))
    positions = marker_positions(trial, labels, window, filters)
    t = np.array(trial.t[window])
    system = marker_driven(subject, t, positions, locked=locked)
    fit = kinematics(system, t, initial=_first_state(subject, trial, window))
    worst = float(fit.residual.max()) * np.sqrt(3.0)
    if worst > MAX_RESIDUAL:
        raise ModelError(
            f"{trial.name}: the model misses the markers by {1e3 * worst:.0f} mm at t = {t[fit.residual.argmax()]:.2f} s, the "
            f"limit is {1e3 * MAX_RESIDUAL:.0f} mm; is the static trial of the same subject, and are the labels right?"
        )
    return fit, within, positions


def _markers(subject: LegFoot, motion: Motion, positions: Positions, within: slice) -> dict[str, Marker]:
    """The markers as measured, and those points of the bodies of the motion where they were while standing."""
    found = {}
    for label, (body, measured) in positions.items():
        arm = np.einsum("nab,b->na", motion.rotations(body), subject.bodies[body].markers[label])
        found[label] = Marker(body, measured[within], motion.r[body] + arm)
    return found


def _first_state(subject: LegFoot, trial: Capture, window: slice) -> State:
    """Initial guess for the first configuration: each body by its own markers, the toes else as the main foot."""
    begin = float(trial.t[window.start])
    poses = segment_pose(subject, trial.crop(begin, begin))
    system = skeleton(subject, "start").build()
    r, p = {}, {}
    for body, pose in poses.items():
        known = pose if np.isfinite(pose.A).all() else poses["main_foot"]
        r[body], p[body] = known.r[0], euler_parameters(known.A)[0]
    return system.state.replace(r=r, p=p)


def _marker_distance(fit: Motion) -> Floats:
    """Root mean square distance (n,) [m] of the markers from the model; the fit's residual is that of a coordinate."""
    return np.asarray(fit.residual * np.sqrt(3.0))


def _speed(motion: Motion) -> float:
    """Mean horizontal speed of the leg [m/s]."""
    r = motion.r["leg"]
    return float(np.linalg.norm((r[-1] - r[0])[:2]) / (motion.t[-1] - motion.t[0]))
