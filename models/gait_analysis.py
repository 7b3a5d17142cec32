"""From the files of a motion laboratory to joint angles, moments and powers over a gait cycle.  Seed 002, sections 5 to 7.

Markers are filtered and met by the model, its joints exactly and its markers by least squares; the coordinates of that motion
become splines, which guide the model; the ground's force is a load on the foot; the drivers' efforts are the moments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from models import gait, subject
from models.marker_sets import recognise
from models.subject import LegFoot
from runtime import (
    Capture,
    GroundForce,
    ModelError,
    Motion,
    Signal,
    State,
    Subject,
    inverse_dynamics,
    kinematics,
    smoothing,
)
from runtime import capture as captures
from runtime import ground as floor

Floats = NDArray[np.float64]
Side = Literal["left", "right"]

PERCENT = np.linspace(0.0, 100.0, 101)
JOINTS = ("talocrural", "talocalcaneal", "metatarsophalangeal")
MOST_RESIDUAL = (
    0.02  # [m] root mean square distance of markers from the model, beyond which it does not fit the subject
)
SAME_MASS = 0.03  # relative difference of the masses that two files of one subject may state
UNLOADED = 3.0  # [N] that a plate may show while nobody is on it
FEWEST = 20  # frames of a walk
MARGIN = 10  # frames beside the gait cycle, where they are seen: derivatives of splines are poor at their ends
BESIDE = 2  # of these, frames that are analysed too, for interpolation at the ends of the cycle


@dataclass(frozen=True)
class Filters:
    """Cut-off frequencies [Hz] and order of the zero-lag Butterworth filters; None leaves data as they are.

    ``longest_gap`` [s]: gaps of markers up to it are filled by splines; longer ones, and all with 0, are refused.
    """

    markers: float | None = 6.0
    cop: float | None = 15.0
    forces: float | None = 20.0
    order: int = 3
    longest_gap: float = 0.1

    @classmethod
    def off(cls, longest_gap: float = 0.1) -> Filters:
        """No filter, for data that have been filtered already."""
        return cls(None, None, None, longest_gap=longest_gap)

    def text(self) -> str:
        """What is done, in words."""
        if self.markers is None and self.forces is None and self.cop is None:
            return "none"
        parts = (("markers", self.markers), ("forces", self.forces), ("centre of pressure", self.cop))
        cutoffs = ", ".join(f"{what} {cutoff:g} Hz" for what, cutoff in parts if cutoff is not None)
        return f"Butterworth of order {self.order}, forwards and backwards, {cutoffs}"


@dataclass(frozen=True, eq=False)
class Gait:
    """One trial of one foot: a guided motion over a gait cycle.

    ``t`` (n,) [s]: frames of the cycle, two more on each side.  By joint (``talocrural``, ``talocalcaneal``,
    ``metatarsophalangeal``): ``angles`` [rad], ``moments`` [N m], ``powers`` [W], each (n,); dorsiflexion, inversion and
    extension are positive, zero while standing; a moment is that of muscles and ligaments on the distal body.
    ``ground`` : the force on the foot; ``residual`` (n,) [m]: root mean square distance of the markers from the model;
    ``coordinates`` : what guides the ``motion``.
    """

    name: str
    side: Side
    subject: LegFoot
    cycle: floor.GaitCycle
    t: Floats
    angles: Mapping[str, Floats]
    moments: Mapping[str, Floats]
    powers: Mapping[str, Floats]
    ground: GroundForce
    residual: Floats
    coordinates: gait.Coordinates
    motion: Motion
    toes_guided: bool
    speed: float  # [m/s] of the leg over the cycle; 0 on a treadmill
    notes: tuple[str, ...] = field(default=())

    @property
    def toe_off(self) -> float:
        """Percent of the cycle."""
        return 100.0 * self.cycle.stance

    @property
    def percent(self) -> Floats:
        """Of the cycle, at ``t``."""
        return 100.0 * (self.t - self.cycle.strike) / (self.cycle.next_strike - self.cycle.strike)

    def over_cycle(self, values: Floats) -> Floats:
        """Values at ``t`` (n, ...) as a curve of 101 points from foot strike to foot strike."""
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
    toes: Literal["auto", "guided", "locked"] = "auto",
) -> Gait:
    """Inverse dynamics of the foot and ankle over one gait cycle.

    Parameters
    ----------
    static, trial : Capture
        Standing and walking, of the same subject with the same markers.
    side : "left" or "right", optional
        Which foot.  Default: the one whose stance is on force plates as a whole; the right one where both are.
    mass, height, sex, markers
        Of ``models.subject.leg_foot``.
    filters : Filters, optional
        Default: those of seed 002.
    toes : "auto", "guided" or "locked"
        Whether the metatarsophalangeal joint follows the toes' markers; "auto": where the trial has any.

    Returns
    -------
    Gait

    Raises
    ------
    ModelError
        One sentence on what is missing or wrong, and what to do.
    """
    filters = filters or Filters()
    if len(trial.t) < FEWEST:
        raise ModelError(
            f"{trial.name}: {len(trial.t)} frames are no walk, which takes {FEWEST} at least; give the static trial first, then "
            "walking trials"
        )
    if not set(static.markers) & set(trial.markers):
        raise ModelError(
            f"{trial.name}: it has none of the markers of the static trial {static.name}; give the static trial of the same "
            "subject with the same labels"
        )
    trial = _filled(trial, filters)
    feet = _feet(trial, side, markers)
    trial, heading = floor.along_x(trial, feet)
    assignment = floor.assign_feet(trial, feet)
    side, cycle = _which(trial, side, feet, assignment)
    if side == "left":
        static, trial = static.mirrored(), trial.mirrored()
    told = static.subject.mass
    static = replace(static, subject=_who(static, trial))
    person = subject.leg_foot(static, side, mass=mass, height=height, sex=sex, markers=markers)
    if mass is None and told is None and trial.subject.mass is not None:
        person = replace(person, sources={**person.sources, "mass": "walking trial"})
    # While the foot is flat and loaded, as it is in standing: skin and forefoot move least then.
    stance = cycle.off - cycle.strike
    subject.check_same_subject(person, trial.crop(cycle.strike + 0.25 * stance, cycle.strike + 0.5 * stance))
    notes = [*static.notes, *trial.notes, heading, *([cycle.note] if cycle.note else [])]

    tracked = {label: body for body in subject.BODIES for label in subject.tracked(person, trial, body)}
    guided = any(body == "toes" for body in tracked.values())
    if toes == "guided" and not guided:
        raise ModelError(f"{trial.name}: no marker on the toes, which toes='guided' needs; use toes='locked'")
    guided = guided and toes != "locked"
    if not guided:
        tracked = {label: body for label, body in tracked.items() if body != "toes"}
        why = "as asked" if toes == "locked" else "as no marker on the toes guides it"
        notes.append(f"{trial.name}: the metatarsophalangeal joint is locked, {why}")
    window, within = _window(trial, cycle, tuple(tracked))
    positions = {label: (body, trial.markers[label][window]) for label, body in tracked.items()}
    _refuse_gaps(trial, positions, window, filters)
    if filters.markers is not None:
        # Over the whole trial, so that its ends and not the cycle's bear what a filter does there.
        for label, (body, _) in positions.items():
            smooth = _smoothed(trial, label, window, filters)
            positions[label] = (body, smooth[window])
    t = np.array(trial.t[window])
    fit = kinematics(gait.fitted(person, t, positions, locked=not guided), t, initial=_first(person, trial, window))
    worst = float(fit.residual.max()) * np.sqrt(3.0)
    if worst > MOST_RESIDUAL:
        raise ModelError(
            f"{trial.name}: the model misses the markers by {1e3 * worst:.0f} mm at t = {t[fit.residual.argmax()]:.2f} s, the "
            f"limit is {1e3 * MOST_RESIDUAL:.0f} mm; is the static trial of the same subject, and are the labels right?"
        )
    coordinates = gait.coordinates_of(fit, person, locked=not guided)

    ground, shown = _ground(trial, side, cycle, assignment, filters)
    notes += shown
    loads = ground_loads(ground, person, fit) if guided else (_load(ground),)
    t = t[within]
    motion = inverse_dynamics(gait.build(person, coordinates, loads, time=float(t[0])), t)
    told_joints = JOINTS if guided else JOINTS[:2]
    axes = {joint: motion.freedoms[gait.AXES[joint]] for joint in told_joints}
    speed = float(np.linalg.norm((motion.r["leg"][-1] - motion.r["leg"][0])[:2]) / (t[-1] - t[0]))
    return Gait(
        name=trial.name, side=side, subject=person, cycle=cycle, t=t, angles=gait.angles(motion, person),
        moments={joint: axis.effort for joint, axis in axes.items()},
        powers={joint: axis.power for joint, axis in axes.items()},
        ground=ground, residual=fit.residual[within] * np.sqrt(3.0), coordinates=coordinates, motion=motion,
        toes_guided=guided, speed=speed, notes=tuple(notes),
    )  # fmt: skip


def _who(static: Capture, trial: Capture) -> Subject:
    """What the two files tell of the subject."""
    a, b = static.subject, trial.subject
    if a.mass is not None and b.mass is not None and abs(a.mass - b.mass) > SAME_MASS * a.mass:
        raise ModelError(
            f"{trial.name}: the subject has {b.mass:g} kg, in the static trial {static.name} {a.mass:g} kg; give the "
            "static trial of the same subject, or mass="
        )
    return Subject(
        *(mine if mine is not None else theirs for mine, theirs in zip(vars(a).values(), vars(b).values(), strict=True))
    )


def _feet(trial: Capture, side: Side | None, markers: Mapping[str, str] | None) -> dict[Side, tuple[str, ...]]:
    """Heel and forefoot markers of each foot that the trial shows, heel first; the user's labels are of the foot asked for."""
    seen = [label for label, p in trial.markers.items() if np.isfinite(p).any()]
    sides: tuple[Side, ...] = ("right", "left")
    asked = side or "right"
    feet: dict[Side, tuple[str, ...]] = {}
    reasons: dict[Side, str] = {}
    for each in sides:
        try:
            known = recognise(seen, each, markers=markers if each == asked else None, file=trial.name)
            heel = known.need("heel", "telling which foot is on a force plate")
        except ModelError as error:
            reasons[each] = str(error)
            continue
        fore = [known.labels[name] for name in (*known.of("main_foot"), *known.of("toes")) if name != "heel"]
        if fore:
            feet[each] = (heel, *fore)
        else:
            reasons[each] = (
                f"{trial.name}: no marker on the {each} forefoot, which telling which foot is on a plate needs"
            )
    if asked not in feet and (side is not None or not feet):
        raise ModelError(reasons[asked])
    return feet


def _which(
    trial: Capture, side: Side | None, feet: Mapping[Side, tuple[str, ...]], assignment: floor.Assignment
) -> tuple[Side, floor.GaitCycle]:
    """The foot and its gait cycle; the whole stance must be on force plates."""
    candidates: Sequence[Side] = (side,) if side else tuple(feet)
    found: list[tuple[Side, floor.GaitCycle]] = []
    reasons = []
    for candidate in candidates:
        try:
            cycle = floor.gait_cycle(trial, candidate, feet=feet, assignment=assignment)
        except ModelError as error:
            reasons.append(str(error))
            continue
        if cycle.complete:
            return candidate, cycle
        found.append((candidate, cycle))
    if not found:
        raise ModelError(reasons[0])
    candidate, cycle = found[0]
    if not trial.forces:
        why = "; ".join(note for note in trial.notes if "left out" in note) or "the file has none, nor a file beside it"
        raise ModelError(f"{trial.name}: no force plates that can be used: {why}; give forces=")
    why = "; ".join(assignment.left_out.values()) or "its contact is cut short or lies beside the cycle's stance"
    plates = f" (part of it is on {', '.join(cycle.plates)})" if cycle.plates else ""
    raise ModelError(
        f"{trial.name}: the stance of the {candidate} foot, {cycle.strike:.2f} to {cycle.off:.2f} s, is not on force plates as a "
        f"whole{plates}: {why}; choose another trial or side"
    )


def _window(trial: Capture, cycle: floor.GaitCycle, labels: Sequence[str]) -> tuple[slice, slice]:
    """Frames whose markers are used, around the cycle; and, within these, the frames that are analysed."""
    first = int(np.searchsorted(trial.t, cycle.strike, side="right")) - 1
    last = int(np.searchsorted(trial.t, cycle.next_strike, side="left"))
    if first < 0 or last >= len(trial.t):
        raise ModelError(
            f"{trial.name}: markers from {trial.t[0]:g} to {trial.t[-1]:g} s do not cover the gait cycle from {cycle.strike:g} "
            f"to {cycle.next_strike:g} s; give a longer piece"
        )
    seen = np.isfinite(np.stack([trial.markers[label] for label in labels])).all(axis=(0, 2))
    begin, end = first, last
    while begin > max(0, first - MARGIN) and seen[begin - 1]:
        begin -= 1
    while end < min(len(trial.t) - 1, last + MARGIN) and seen[end + 1]:
        end += 1
    inner = slice(max(begin, first - BESIDE) - begin, min(end, last + BESIDE) + 1 - begin)
    return slice(begin, end + 1), inner


def _filled(trial: Capture, filters: Filters) -> Capture:
    """The trial with short gaps between samples filled."""
    if not trial.gaps() or filters.longest_gap <= 0.0:
        return trial
    markers, notes = dict(trial.markers), []
    for label, gaps in trial.gaps().items():
        positions = np.array(trial.markers[label])
        for start, stop in gaps:
            inside = 0 < start and stop < len(trial.t)
            if not inside or trial.t[stop] - trial.t[start] > filters.longest_gap * (1.0 + 1e-9):
                continue
            near = slice(max(0, start - 25), min(len(trial.t), stop + 25))
            there = np.isfinite(positions[near]).all(axis=1)
            spline = CubicSpline(trial.t[near][there], positions[near][there])
            positions[start:stop] = spline(trial.t[start:stop])
            notes.append(
                f"{trial.name}: marker '{label}' was not seen from {trial.t[start]:g} to {trial.t[stop]:g} s; filled by a spline"
            )
        markers[label] = positions
    return replace(trial, markers=markers, notes=(*trial.notes, *notes))


def _refuse_gaps(trial: Capture, positions: Mapping[str, tuple[str, Floats]], window: slice, filters: Filters) -> None:
    gaps = trial.gaps()
    for label, (body, p) in positions.items():
        missing = np.flatnonzero(~np.isfinite(p).all(axis=1))
        if len(missing):
            first = window.start + int(missing[0])
            start, stop = next((a, b) for a, b in gaps[label] if a <= first < b)
            end = trial.t[min(stop, len(trial.t) - 1)]
            raise ModelError(
                f"{trial.name}: marker '{label}' of the {body.replace('_', ' ')} is not seen from {trial.t[start]:g} to {end:g} "
                f"s, {end - trial.t[start]:.3g} s in or beside the gait cycle; gaps up to {filters.longest_gap:g} s are filled: "
                "fill it in the capture software, or allow longer gaps"
            )


def _smoothed(trial: Capture, label: str, window: slice, filters: Filters) -> Floats:
    """A marker filtered over the piece that holds the window, as long as it is seen without a gap."""
    p = np.array(trial.markers[label])
    for start, stop in captures.runs(np.isfinite(p).all(axis=1)):
        assert filters.markers is not None
        if start < window.stop and stop > window.start:
            p[start:stop] = smoothing.lowpass(
                p[start:stop], trial.rate, filters.markers, order=filters.order, name=f"{trial.name}: marker '{label}'"
            )
    return p


def _first(person: LegFoot, trial: Capture, window: slice) -> State:
    """Where the search for the first configuration begins: each body by its own markers."""
    begin = trial.crop(float(trial.t[window.start]), float(trial.t[window.start]))
    poses = subject.segment_pose(person, begin)
    system = gait.skeleton(person, "start").build()
    r, p = {}, {}
    for body, pose in poses.items():
        known = np.isfinite(pose.A).all()
        A = pose.A if known else poses["main_foot"].A
        r[body] = (pose if known else poses["main_foot"]).r[0]
        p[body] = gait.euler_parameters(A)[0]
    return system.state.replace(r=r, p=p)


# Ground


def _ground(
    trial: Capture, side: Side, cycle: floor.GaitCycle, assignment: floor.Assignment, filters: Filters
) -> tuple[GroundForce, list[str]]:
    """The force on the foot, none of it in swing, and notes on plates that show some there; filtered unless that is off."""
    plates, notes = [], []
    for name in assignment.plates(side):
        plate, shown = _without_swing(trial.force(name), cycle)
        if shown > UNLOADED:
            notes.append(
                f"{trial.name}: force plate '{name}' shows {shown:.0f} N while nobody is on it; the analysis leaves that out, "
                "but not beneath the foot: zero the plate"
            )
        if filters.forces is not None or filters.cop is not None:
            plate = floor.filtered(plate, force_cutoff=filters.forces, cop_cutoff=filters.cop, order=filters.order)
        plates.append(plate)
    return floor.combined(plates, name=f"{side} foot"), notes


def _without_swing(plate: GroundForce, cycle: floor.GaitCycle) -> tuple[GroundForce, float]:
    """A plate with its contacts in the cycle's stance and after the cycle alone, and how much it shows beside contacts [N]."""
    kept, contact = np.zeros(len(plate.t), dtype=bool), np.zeros(len(plate.t), dtype=bool)
    for start, stop in floor.contacts(plate):
        t0, t1 = plate.t[start], plate.t[stop - 1]
        near = (plate.t >= t0 - floor.MATCH) & (plate.t <= t1 + floor.MATCH)
        contact |= near
        if (t0 < cycle.off and t1 > cycle.strike) or t1 > cycle.next_strike:
            kept |= near
    shown = float(np.median(np.linalg.norm(plate.force[~contact], axis=1))) if not contact.all() else 0.0
    force, cop, free = np.array(plate.force), np.array(plate.cop), np.array(plate.free_moment)
    force[~kept], cop[~kept], free[~kept] = 0.0, np.nan, 0.0
    return replace(plate, force=force, cop=cop, free_moment=free), shown


def _load(ground: GroundForce, body: str = "main_foot", share: Floats | None = None) -> gait.Ground:
    """The ground's force on a body as signals; ``share`` (m,) of it acts there."""
    part = np.ones(len(ground.t)) if share is None else share
    loaded = np.isfinite(ground.cop).all(axis=1)
    cop = np.column_stack([np.interp(ground.t, ground.t[loaded], c) for c in ground.cop[loaded].T])

    def signals(columns: Floats) -> tuple[Signal, Signal, Signal]:
        x, y, z = (Signal.spline(ground.t, column, degree=1) for column in columns.T)
        return x, y, z

    force = signals(ground.force * part[:, None])
    return gait.Ground(force, signals(cop), Signal.spline(ground.t, ground.free_moment * part, degree=1), body)


def ground_loads(ground: GroundForce, person: LegFoot, motion: Motion) -> tuple[gait.Ground, gait.Ground]:
    """The ground's force on the main foot until the centre of pressure passes the metatarsophalangeal axis, then on the toes.

    The whole force goes over at once: an upper bound of the moment of the toes.  It leaves the ankle's moments as they are.
    """
    hinge = person.metatarsophalangeal
    centre = motion.r["main_foot"] + np.einsum("nab,b->na", motion.rotations("main_foot"), hinge.points["main_foot"])
    axis = np.einsum("nab,b->na", motion.rotations("main_foot"), -hinge.axes["main_foot"])
    forward = np.cross(np.array([0.0, 0.0, 1.0]), axis)
    forward *= np.sign(np.einsum("na,na->n", forward, motion.rotations("main_foot")[:, :, 0]))[:, None]
    columns = np.column_stack([centre, forward])
    at = np.column_stack([np.interp(ground.t, motion.t, c) for c in columns.T])
    past = np.einsum("na,na->n", np.nan_to_num(ground.cop) - at[:, :3], at[:, 3:]) > 0.0
    share = (past & np.isfinite(ground.cop).all(axis=1)).astype(float)
    return _load(ground, "main_foot", 1.0 - share), _load(ground, "toes", share)
