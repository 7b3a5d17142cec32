"""A sole of nine spheres under the guided foot: the ground's force from the motion alone, and its fit to a measured force.

The motion is that of ``models.gait_analysis``; the spheres of seed 004 (Table 2), scaled to the subject's foot, meet the floor
and give vertical and horizontal force and centre of pressure through the cycle (Figs. 8 to 10).  Stiffness, damping and
heights of the spheres are fitted to a trial with force plates by least squares, with exact sensitivities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, least_squares

from models import gait
from models.foot_ground import EXPONENT, MU_D, SPHERES_MM
from models.gait_analysis import Gait
from models.subject import GRAVITY, LegFoot
from runtime import ContactSensitivity, ModelError, Motion, System, contact_sensitivities, inverse_dynamics

Floats = NDArray[np.float64]

STIFFNESS = 40e3  # [N/m^1.5] of every sphere, to start from; seed 004
MU_C = 0.5  # [1]; the seed lets it be 0.5 to 1
LOSS = 0.1  # [s/m] to start from; the seed's chi of 300 is 0.005 s/m, at which a search would see no slope
CREEP = 0.3  # [m/s] of the friction: a foot that stands seems to slip by cm/s, as its markers are on skin
ARCH = ("sphere_4", "sphere_5")  # what a cavus foot has higher and a flat foot lower
ARCH_CHANGE = 0.01  # [m]

FLAT = (0.25, 0.5)  # part of stance in which the foot is flat on the floor
BELT = 0.3  # [m/s] a flat foot that moves faster stands on a belt
LOADED = 0.1  # body weights from which a centre of pressure is compared
SWING_UNTIL = 0.95  # of the cycle: the next strike may begin a little before its event


@dataclass(frozen=True, eq=False)
class Sphere:
    """A sphere of the sole: centre (3,) [m] from the body's centre of mass in its axes, radius [m], and its normal law.

    ``stiffness`` [N/m^exponent] and ``loss`` [s/m] of Hunt and Crossley's law.
    """

    body: str
    centre: Floats
    radius: float
    stiffness: float
    loss: float


@dataclass(frozen=True, eq=False)
class Sole:
    """The spheres by name, and what they have in common: exponent of the law, friction (``smooth``) and its creep [m/s]."""

    spheres: Mapping[str, Sphere]
    exponent: float = EXPONENT
    mu_c: float = MU_C
    mu_d: float = MU_D
    creep: float = CREEP

    def changed(self, changes: Mapping[str, Mapping[str, Any]]) -> Sole:
        """The sole with other values of spheres: name -> attribute -> value."""
        spheres = {name: replace(sphere, **changes.get(name, {})) for name, sphere in self.spheres.items()}
        return replace(self, spheres=MappingProxyType(spheres))

    def raised(self, names: Collection[str], by: float) -> Sole:
        """The sole with some spheres higher by so much [m], or lower."""
        if unknown := [name for name in names if name not in self.spheres]:
            raise ModelError(f"sole: unknown sphere '{unknown[0]}'; the spheres are {', '.join(self.spheres)}")
        return self.changed({name: {"centre": self.spheres[name].centre + (0.0, 0.0, by)} for name in names})

    @property
    def cavus(self) -> Sole:
        """With a higher arch.  Seed 004, Fig. 10a."""
        return self.raised(ARCH, ARCH_CHANGE)

    @property
    def flat(self) -> Sole:
        """With a lower arch.  Seed 004, Fig. 10b."""
        return self.raised(ARCH, -ARCH_CHANGE)


@dataclass(frozen=True)
class Floor:
    """A level floor: its height [m], and the speed [m/s] along x at which it moves; below 0 under one who walks on a belt."""

    height: float = 0.0
    belt: float = 0.0


def sole(subject: LegFoot) -> Sole:
    """The nine spheres of seed 004, scaled to a subject's foot and so low that they bear half the body in standing.

    The main foot's spheres reach from the heel's marker to the metatarsophalangeal axis, those of the toes from there to the
    tip; radii and the shape of the arch are scaled alike.  Sole and floor touch first where the table's spheres are lowest.
    """
    heel = subject.bodies["main_foot"].markers[subject.landmarks.labels["heel"]]
    ball = subject.metatarsophalangeal.points
    length = float(ball["main_foot"][0] - heel[0])
    spans = {"main_foot": (heel[0], length), "toes": (ball["toes"][0], subject.foot_length - length)}
    spheres: dict[str, Sphere] = {}
    lifts = []
    for body, (begin, span) in spans.items():
        x, _, z, radius = np.array(SPHERES_MM[body]).T / 1000.0
        back = float((x - radius).min())
        scale = span / (float((x + radius).max()) - back)
        lift = (z - radius - (z - radius).min()) * scale
        segment = subject.bodies[body]
        medial = segment.local(subject.bodies["main_foot"].r + subject.bodies["main_foot"].A @ heel)[1]
        for k in range(len(x)):
            centre = np.array([begin + (x[k] - back) * scale, medial, lift[k] + radius[k] * scale - segment.r[2]])
            name = f"sphere_{len(spheres) + 1}"
            spheres[name] = Sphere(body, centre, float(radius[k] * scale), STIFFNESS, LOSS)
            lifts.append(lift[k])
    half = 0.5 * subject.mass * GRAVITY

    def left(depth: float) -> float:
        """What the spheres do not bear of half the weight when the lowest of them are so deep [N]."""
        return half - STIFFNESS * float((np.clip(depth - np.array(lifts), 0.0, None) ** EXPONENT).sum())

    depth = brentq(left, 0.0, (half / STIFFNESS) ** (1.0 / EXPONENT))
    return Sole(MappingProxyType(spheres)).raised(spheres, -float(depth))


def floor_of(one: Gait) -> tuple[Floor, str]:
    """The floor of a trial, and a note on what was decided about it.

    Its height is that of the force plate; a belt is told by a foot that moves while it is flat on the floor.
    """
    surface = one.ground.surface
    height = float(surface) if np.isfinite(surface) else 0.0
    stance = one.cycle.off - one.cycle.strike
    begin, end = (one.cycle.strike + part * stance for part in FLAT)
    flat = (one.t >= begin) & (one.t <= end)
    speed = float(np.median(one.motion.v["main_foot"][flat, 0]))
    if abs(speed) < BELT:
        return Floor(height), f"{one.name}: the floor is at z = {1e3 * height:.0f} mm and does not move"
    note = (
        f"{one.name}: the floor is at z = {1e3 * height:.0f} mm; the flat foot moves at {speed:.2f} m/s along x, so it stands on "
        "a belt of that speed"
    )
    return Floor(height, speed), note


def build(
    subject: LegFoot,
    coordinates: gait.Coordinates,
    sole: Sole,
    floor: Floor | None = None,
    *,
    time: float | None = None,
) -> System:
    """The guided leg and foot of ``models.gait`` with the sole's contacts in place of a measured force.

    Returns
    -------
    System
        As that of ``models.gait.build``, with the contacts ``sphere_1`` to ``sphere_9``.
    """
    floor = floor or Floor()
    b = gait.guided(subject, coordinates, "gait with contact")
    for name, sphere in sole.spheres.items():
        b.contact(
            name, sphere.body, centre=sphere.centre, radius=sphere.radius, law="hunt_crossley", stiffness=sphere.stiffness,
            exponent=sole.exponent, loss=sphere.loss, friction="smooth", mu_c=sole.mu_c, mu_d=sole.mu_d, creep=sole.creep,
            point=(0.0, 0.0, floor.height), belt=(1.0, 0.0, 0.0), belt_speed=floor.belt,
        )  # fmt: skip
    return b.build(time=coordinates.begin if time is None else time)


@dataclass(frozen=True)
class Errors:
    """Root mean square errors over stance: of the force [body weights], of the centre of pressure [m].

    The centre of pressure is compared while the measured force is above a tenth of the body's weight.
    """

    vertical: float
    anterior: float
    medial: float
    cop_anterior: float
    cop_medial: float


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a sole does along a trial's motion, at the times ``trial.t`` (n,).

    ``force`` (n, 3) [N] on the foot, ``cop`` (n, 3) [m], NaN without a force; ``pressed``: normal force of each sphere (n,) [N].
    ``motion``: the guided motion under that force, with ankle moments that need no force plate.
    """

    trial: Gait
    sole: Sole
    floor: Floor
    motion: Motion
    force: Floats
    cop: Floats
    pressed: Mapping[str, Floats]

    def errors(self) -> Errors:
        """Against the measured force."""
        force, cop, _ = self.trial.ground_at(self.trial.t)
        weight, stance = self.trial.subject.mass * GRAVITY, in_stance(self.trial)
        off = (self.force - force)[stance] / weight
        both = stance & (force[:, 2] > LOADED * weight) & np.isfinite(self.cop).all(axis=1)
        return Errors(*map(_rms, (off[:, 2], off[:, 0], off[:, 1], *(self.cop - cop)[both, :2].T)))

    def touching(self, stance: float) -> tuple[str, ...]:
        """Names of the spheres that press at a part of stance, 0 to 1."""
        cycle = self.trial.cycle
        n = int(np.argmin(np.abs(self.trial.t - (cycle.strike + stance * (cycle.off - cycle.strike)))))
        return tuple(name for name, force in self.pressed.items() if force[n] > 0.0)


def in_stance(one: Gait) -> NDArray[np.bool_]:
    """Which frames of a trial are in stance, (n,)."""
    return (one.t >= one.cycle.strike) & (one.t <= one.cycle.off)


def predict(one: Gait, sole: Sole, floor: Floor | None = None) -> Prediction:
    """The ground's force on a sole along a trial's motion; the floor is that of the trial unless given."""
    floor = floor_of(one)[0] if floor is None else floor
    system = build(one.subject, one.coordinates, sole, floor, time=float(one.t[0]))
    motion = inverse_dynamics(system, one.t)
    reaction = motion.ground_reaction()
    pressed = {name: contact.normal_force for name, contact in motion.contacts.items()}
    return Prediction(one, sole, floor, motion, reaction.force, reaction.centre_of_pressure, MappingProxyType(pressed))


# Identification


@dataclass(frozen=True)
class Group:
    """What a fit may change: a parameter of the contacts, by a factor or by a distance, up to ``reach`` in either sense.

    ``width``: the factor or distance from the start that the prior counts as ``PRIOR`` body weights.
    """

    parameter: str
    factor: bool
    reach: float
    width: float


# The prior's widths are those by which soles fitted to one trial predict the other four best, within 0.001 body weights, of the
# adult of Schreiber and Moissenet (2019), either foot: 0.171 and 0.174; heights of 1 mm predict with 0.184 and 0.187, of 2 mm
# with 0.22 and 0.26.  That of "medial" is taken from the height's.
GROUPS = {
    "stiffness": Group("stiffness", True, 100.0, 10.0),
    "loss": Group("loss", True, 100.0, 3.0),
    "height": Group("centre_z", False, 0.03, 0.0002),
    "medial": Group("centre_y", False, 0.03, 0.0002),
}
PRIOR = 0.01  # [body weights] root mean square over stance that one width of one parameter counts as much as
AXES = {"centre_z": 2, "centre_y": 1}
FREE, SHARED = ("stiffness", "loss", "height"), ("loss",)
STARTS = (1.0, 4.0, 0.25)  # factors of the stiffness from which the search begins
MOST_STEPS = 300


@dataclass(frozen=True, eq=False)
class Fit:
    """A sole fitted to trials.

    ``at_bounds``: what lies on a bound of the search; ``idle``: spheres that never touch, whose numbers mean nothing;
    ``per_mm``: change of the vertical force [body weights] by one millimetre of height of the whole sole, root mean square over
    stance; ``cost``: half the sum of squares, those of the prior among them; ``steps`` of the search; ``converged``.
    """

    sole: Sole
    start: Sole
    at_bounds: tuple[str, ...]
    idle: tuple[str, ...]
    per_mm: float
    cost: float
    steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class _Target:
    """A trial as the search sees it: motion, measured force, and in which frames it is compared."""

    motion: Motion
    force: Floats
    cop: Floats
    used: NDArray[np.bool_]
    stance: NDArray[np.bool_]
    weight: float
    length: float


def fit(
    trials: Gait | Sequence[Gait],
    start: Sole | None = None,
    *,
    free: Sequence[str] = FREE,
    shared: Sequence[str] = SHARED,
    starts: Sequence[float] = STARTS,
    prior: float = PRIOR,
) -> Fit:
    """Fit a sole to the measured force and centre of pressure of one trial or more of a subject.

    Least squares of the vertical force in body weights and of the horizontal moment about the measured centre of pressure in
    body weights times the length of the foot, which is zero where the predicted centre is the measured one, and needs no
    division by a force that may vanish.  The Jacobian is exact (``runtime.contact_sensitivities``).

    A trial tells little of a single sphere, and a sole with many free numbers fits what is particular to its trial, such as
    markers that are a millimetre off.  So a prior pulls stiffness, damping and heights towards the start, by widths that stand
    in ``GROUPS``.

    Parameters
    ----------
    trials : Gait or sequence of Gait
        Of one foot of one subject.
    start : Sole, optional
        Default: ``sole(subject)``.
    free : sequence of str
        What is fitted: of "stiffness", "loss", "height" and "medial".
    shared : sequence of str
        What of these changes alike for all spheres: by one factor, or by one distance that moves the whole sole.
    starts : sequence of float
        Factors of the stiffness from which the search begins; the best result is taken, as a sphere that leaves the floor has
        no slope that would bring it back, and a search may end there.
    prior : float [body weights]
        What a parameter one width off its start counts as much as, root mean square over stance; 0 for none.

    Returns
    -------
    Fit

    Raises
    ------
    ModelError
    """
    trials = (trials,) if isinstance(trials, Gait) else tuple(trials)
    _check(trials, free, shared, starts, prior)
    start = sole(trials[0].subject) if start is None else start
    targets = [_target(one, start) for one in trials]
    names = tuple(start.spheres)
    groups = [GROUPS[group] for group in free]
    owners = [[names] if group in shared else [(name,) for name in names] for group in free]
    entries = [(group, own) for group, sets in zip(groups, owners, strict=True) for own in sets]
    reach = np.array([np.log(group.reach) if group.factor else group.reach for group, _ in entries])
    size = np.array([1.0 if group.factor else 0.1 * group.reach for group, _ in entries])
    pull = np.diag([prior / (np.log(group.width) if group.factor else group.width) for group, _ in entries])

    def at(x: Floats) -> Sole:
        return start.changed(_changes(start, entries, x))

    last: dict[bytes, tuple[Floats, Floats]] = {}  # residuals and Jacobian are asked for one after the other

    def evaluate(x: Floats) -> tuple[Floats, Floats]:
        key = x.tobytes()
        if key not in last:
            last.clear()
            residuals, slopes = _compare(targets, at(x), entries)
            last[key] = np.concatenate([residuals, pull @ x]), np.concatenate([slopes, pull])
        return last[key]

    best: Any = None
    for factor in starts:
        x0 = np.array([np.log(factor) if group.parameter == "stiffness" else 0.0 for group, _ in entries])
        found = least_squares(
            lambda x: evaluate(x)[0], x0, jac=lambda x: evaluate(x)[1], bounds=(-reach, reach), x_scale=size,
            ftol=1e-6, xtol=1e-10, gtol=1e-14, max_nfev=MOST_STEPS,
        )  # fmt: skip
        if best is None or found.cost < best.cost:
            best = found
    result = at(best.x)
    told = [contact_sensitivities(target.motion, _keywords(result)) for target in targets]
    touched = {name for each in told for name, s in each.items() if s.normal_force.max() > 0.0}
    if not touched:
        height = 1e3 * floor_of(trials[0])[0].height
        raise ModelError(
            f"fit: no sphere of the sole touches the floor of {trials[0].name} at z = {height:.0f} mm; does the subject stand on "
            "that floor in the static trial?"
        )
    bounded = tuple(
        f"{group.parameter} of {own[0] if len(own) == 1 else 'all'}"
        for (group, own), mask in zip(entries, best.active_mask, strict=True)
        if mask
    )
    return Fit(
        sole=result, start=start, at_bounds=bounded,
        idle=tuple(name for name in names if name not in touched), per_mm=_per_mm(targets, told), cost=float(best.cost),
        steps=int(best.nfev), converged=bool(best.status > 0),
    )  # fmt: skip


def _check(
    trials: Sequence[Gait], free: Sequence[str], shared: Sequence[str], starts: Sequence[float], prior: float
) -> None:
    if not trials or not all(isinstance(one, Gait) for one in trials):
        raise ModelError("fit: trials must be analysed ones, one at least; models.gait_analysis.analyse gives them")
    first = trials[0]
    for one in trials[1:]:
        if one.side != first.side or one.subject.name != first.subject.name:
            raise ModelError(
                f"fit: {first.name} ({first.side} foot of {first.subject.name}) and {one.name} ({one.side} foot of "
                f"{one.subject.name}) show different feet; fit each by itself"
            )
    if not free:
        raise ModelError(f"fit: free is empty; use {', '.join(GROUPS)}")
    for key, values in (("free", free), ("shared", shared)):
        if unknown := [value for value in values if value not in GROUPS]:
            raise ModelError(f"fit: {key} = {unknown[0]!r}; use {', '.join(GROUPS)}")
    if not starts:
        raise ModelError("fit: starts is empty; give factors of the stiffness, such as 1")
    for factor in starts:
        if not 1.0 / GROUPS["stiffness"].reach < factor < GROUPS["stiffness"].reach:
            raise ModelError(f"fit: starts = {factor!r}, must be between 0.01 and 100 times the stiffness")
    if not 0.0 <= prior < np.inf:
        raise ModelError(f"fit: prior = {prior!r} body weights, must be a finite number, not below 0")


def _target(one: Gait, start: Sole) -> _Target:
    force, cop, _ = one.ground_at(one.t)
    floor = floor_of(one)[0]
    cop = np.column_stack([cop[:, :2], np.full(len(cop), floor.height)])
    cycle = one.cycle
    used = (one.t >= cycle.strike) & (one.t <= cycle.strike + SWING_UNTIL * (cycle.next_strike - cycle.strike))
    motion = inverse_dynamics(build(one.subject, one.coordinates, start, floor, time=float(one.t[0])), one.t)
    weight = one.subject.mass * GRAVITY
    return _Target(motion, force, cop, used, in_stance(one), weight, one.subject.foot_length)


def _changes(start: Sole, entries: Sequence[tuple[Group, tuple[str, ...]]], x: Floats) -> dict[str, dict[str, Any]]:
    changes: dict[str, dict[str, Any]] = {name: {} for name in start.spheres}
    for (group, own), value in zip(entries, x, strict=True):
        for name in own:
            sphere = start.spheres[name]
            if group.factor:
                changes[name][group.parameter] = getattr(sphere, group.parameter) * float(np.exp(value))
            else:
                centre = np.array(changes[name].get("centre", sphere.centre))
                centre[AXES[group.parameter]] += value
                changes[name]["centre"] = centre
    return changes


def _keywords(sole: Sole) -> dict[str, dict[str, Any]]:
    """The sole's numbers as keywords of the contacts."""
    return {
        name: {"centre": sphere.centre, "stiffness": sphere.stiffness, "loss": sphere.loss}
        for name, sphere in sole.spheres.items()
    }


def _compare(
    targets: Sequence[_Target], sole: Sole, entries: Sequence[tuple[Group, tuple[str, ...]]]
) -> tuple[Floats, Floats]:
    """Residuals (m,) and their exact Jacobian (m, x)."""
    residuals, rows = [], []
    for target in targets:
        told = contact_sensitivities(target.motion, _keywords(sole))
        load, by_sphere = _load(told, target.cop)
        slopes = np.zeros((*load.shape, len(entries)))
        for column, (group, own) in enumerate(entries):
            for name in own:
                k = told[name].parameters.index(group.parameter)
                scale = getattr(sole.spheres[name], group.parameter) if group.factor else 1.0
                slopes[:, :, column] += scale * by_sphere[name][:, :, k]
        off = load - np.column_stack([target.force[:, 2], np.zeros((len(load), 2))])
        unit = np.array([target.weight, *[target.weight * target.length] * 2])
        loaded = target.used & np.isfinite(target.cop).all(axis=1)
        share = 1.0 / np.sqrt(target.stance.sum())  # every trial counts alike, whatever its rate
        for column, frames in enumerate((target.used, loaded, loaded)):
            residuals.append(share * off[frames, column] / unit[column])
            rows.append(share * slopes[frames, column] / unit[column])
    return np.concatenate(residuals), np.concatenate(rows)


def _load(told: Mapping[str, ContactSensitivity], about: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Vertical force and horizontal moments about points (n, 3) of all spheres, (n, 3), and the slopes of each, (n, 3, q)."""
    up = np.array([0.0, 0.0, 1.0])
    total = np.zeros((len(about), 3))
    slopes = {}
    for name, s in told.items():
        force = s.normal_force[:, None] * up + s.friction
        of_force = up[:, None] * s.normal_force_slopes[:, None, :] + s.friction_slopes
        arm = s.point - about
        moment = np.cross(arm, force)
        of_moment = np.cross(s.point_slopes, force[:, :, None], axis=1) + np.cross(arm[:, :, None], of_force, axis=1)
        total += np.column_stack([force[:, 2], moment[:, :2]])
        slopes[name] = np.concatenate([of_force[:, 2:], of_moment[:, :2]], axis=1)
    return total, slopes


def _per_mm(targets: Sequence[_Target], told: Sequence[Mapping[str, ContactSensitivity]]) -> float:
    slopes = [
        sum(s.normal_force_slopes[:, s.parameters.index("centre_z")] for s in each.values())[target.stance] / target.weight
        for target, each in zip(targets, told, strict=True)
    ]  # fmt: skip
    return 1e-3 * _rms(np.concatenate(slopes))


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else float("nan")
