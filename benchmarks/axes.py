"""Credible intervals of both axes of the ankle: whether they hold the truth, how narrow they are, and what a walk adds.

Synthetic subjects have axes of the prior and move their markers by noise and by skin of two rules: that of the fit, in proportion
to the joint angles instead of the turn of the foot, and another one, whose displacements are alike in neighbouring markers,
repeat with the movement, and are not proportional to the angles.  Subjects are also fitted together, nine at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.contact import DATA
from benchmarks.measure import Answer, Say
from models.walking import synthetic
from models.walking.axes_density import CORRELATED, TYPICAL_ANGLE
from models.walking.axes_of_many import axes_of_many
from models.walking.axes_posterior import NEIGHBOURS, AxesPosterior, axes_posterior, population_prior
from models.walking.capture import Capture, read_capture
from models.walking.scaling import scale_to_subject
from models.walking.subject import LegFoot
from models.walking.two_hinges import MILLIMETRES, UNKNOWNS
from runtime.report import Report, Table
from runtime.support.arrays import Floats
from runtime.support.machine import cores

SUBJECTS, QUICK = 200, 8
NOISE, SKIN, SPREAD = 1e-3, 2.5e-3, 1.3  # [m], [m], factor between subjects
RATE = 100.0  # [Hz]
MOVEMENTS = ("walking", "circles", "both")
GROUP = 9  # subjects that are fitted together
UNITS = np.where(MILLIMETRES, 1e3, np.degrees(1.0))
MASS = 70.0  # [kg] of adults: the axes do not depend on it

Skin = Callable[[Floats, Floats, Floats, np.random.Generator], Floats]


def skin_of_fit(t: Floats, angles: Floats, local: Floats, rng: np.random.Generator) -> Floats:
    """Displacements (n, m, 3) of unit variance by the rule of ``models.walking.axes_posterior``."""
    apart, turned = np.linalg.norm(local[:, None] - local, axis=-1), angles / TYPICAL_ANGLE
    in_pose = np.exp(-np.linalg.norm(turned[:, None] - turned, axis=-1))
    in_time = np.exp(-np.abs(t[:, None] - t) / CORRELATED)
    likeness = (1.0 + turned @ turned.T / 2.0 + in_pose + in_time) / 4.0 + 1e-9 * np.eye(len(t))
    return _field(np.linalg.cholesky(likeness), np.exp(-apart / NEIGHBOURS), rng)


def skin_of_another_rule(t: Floats, angles: Floats, local: Floats, rng: np.random.Generator) -> Floats:
    """Displacements (n, m, 3) of unit variance: affine in the segment, by harmonics, squares and rates of the angles."""
    phase = 2.0 * np.pi * t / (synthetic.CYCLE if np.ptp(t) < 2.0 else 4.0 / 3.0)
    waves = np.array([f(k * phase) / k for k in (1, 2, 3) for f in (np.cos, np.sin)])
    turned = angles.T / TYPICAL_ANGLE
    follow = np.array([*turned, *turned**2, *np.gradient(turned, t, axis=1) / 5.0]) / np.sqrt(6.0)
    signals = [np.ones((1, len(t))), waves / np.sqrt((waves**2).sum(axis=0).mean()), follow]
    from_middle = local - local.mean(axis=0)
    affine = from_middle @ from_middle.T / (from_middle**2).sum(axis=1).mean()
    return _field(np.concatenate(signals).T / np.sqrt(3.0), 0.4 + 0.3 * affine + 0.3 * np.eye(len(local)), rng)


def _field(signals: Floats, alike: Floats, rng: np.random.Generator) -> Floats:
    """Displacements (n, m, 3) by signals (n, b), with covariance (m, m) between markers."""
    loadings = rng.normal(size=(signals.shape[1], len(alike), 3))
    return np.einsum("nb,mk,bki->nmi", signals, np.linalg.cholesky(alike), loadings, optimize=True)


RULES: Mapping[str, Skin] = {"skin of the fit": skin_of_fit, "skin of another rule": skin_of_another_rule}


@dataclass(frozen=True)
class Movement:
    """Times (n,) [s] and both angles (n, 2) [rad]."""

    t: Floats
    angles: Floats


def walking(rng: np.random.Generator) -> Movement:
    """A step of the walker of ``models.walking.norms``, with angles that differ between subjects."""
    t = np.arange(0.0, synthetic.T_END, 1.0 / RATE)
    angles = np.column_stack([synthetic.angle(joint, t) for joint in ("talocrural", "talocalcaneal")])
    return Movement(t, angles * rng.normal(1.0, 0.2, 2) + rng.normal(0.0, 0.03, 2))


def circles(rng: np.random.Generator) -> Movement:
    """Three circles of the foot in 4 s."""
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    turn, (a, b) = 1.5 * np.pi * t, rng.uniform(0.25, 0.4, 2)
    angles = [
        a * np.sin(turn) + rng.normal(0.0, 0.05),
        b * np.sin(turn + rng.uniform(1.0, 2.0)) + 0.05 * np.sin(7.0 * t),
    ]
    return Movement(t, np.column_stack(angles))


def places(truth: Floats, movement: Movement, local: Floats) -> Floats:
    """Markers (n, m, 3) of the foot as seen from the leg, for unknowns (8,), in axes of the standing foot."""
    i_1, d_1, x, z, i_2, d_2, y, length = truth
    a_1, a_2 = (v / np.linalg.norm(v) for v in ([np.tan(d_1), 1.0, np.tan(i_1)], [1.0, np.tan(d_2), np.tan(i_2)]))
    found = np.broadcast_to(local, (len(movement.t), *local.shape))
    for axis, point, angle in (
        (a_2, [x, y, z - length], movement.angles[:, 1]),
        (a_1, [x, 0.0, z], movement.angles[:, 0]),
    ):
        turn = Rotation.from_rotvec(angle[:, None] * axis).as_matrix()
        found = point + np.einsum("nab,nmb->nma", turn, found - point)
    return found


def recorded(subject: LegFoot, truth: Floats, movement: Movement, skin: Skin, amplitude: float, rng: Any) -> Capture:
    """The trial of a subject whose leg rests."""
    leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    centre = leg.r + leg.A @ subject.talocrural.points["leg"]
    found = {}
    for segment in (leg, foot):
        labels = [label for label in segment.markers if label not in segment.calibration]
        local = np.array([segment.r + segment.A @ segment.markers[label] - centre for label in labels]) @ foot.A
        moved = local + amplitude * skin(movement.t, movement.angles, local, rng)
        if segment is foot:
            # Skin moves in the foot: each displaced marker is carried by it.
            seen = np.stack(
                [places(truth, Movement(movement.t[[k]], movement.angles[[k]]), moved[k])[0] for k in range(len(moved))]
            )
        else:
            seen = moved
        seen = centre + seen @ foot.A.T + NOISE * rng.normal(size=seen.shape)
        found |= dict(zip(labels, np.moveaxis(seen, 1, 0), strict=True))
    return replace(synthetic.static(), name="synthetic movement", t=movement.t, markers=found)


def one_subject(number: int, rule: str) -> tuple[Floats, dict[str, AxesPosterior]]:
    """The true unknowns (8,) of a subject, and what each movement says of them."""
    rng = np.random.default_rng([number, list(RULES).index(rule)])
    subject = scale_to_subject(synthetic.static(), "right", markers=synthetic.MARKERS)
    prior = population_prior(subject)
    truth = prior.mean + prior.sd * rng.normal(size=len(UNKNOWNS))
    amplitude = SKIN * SPREAD ** rng.normal()
    walk, circle = (recorded(subject, truth, of(rng), RULES[rule], amplitude, rng) for of in (walking, circles))
    trials = {"walking": (walk,), "circles": (circle,), "both": (walk, circle)}
    return truth, {name: axes_posterior(subject, those) for name, those in trials.items()}


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Count how many intervals hold the truth, and compare the speeds of the adults in a folder."""
    report = Report("Credible intervals of both axes of the ankle")
    count = QUICK if quick else SUBJECTS
    coverage: list[list[Any]] = []
    deviations: list[list[Any]] = []
    for rule in RULES:
        say(f"{count} synthetic subjects, {rule}")
        with ProcessPoolExecutor(min(cores(), 4)) as pool:
            done = list(pool.map(partial(one_subject, rule=rule), range(count)))
        truth = np.array([true for true, _ in done])
        for movement in MOVEMENTS:
            found = [of[movement] for _, of in done]
            held = _held(found, truth)
            groups = np.array_split(np.arange(count), max(count // GROUP, 1))
            together = [
                _held(axes_of_many([found[k] for k in group]).subjects, truth[group]).mean() for group in groups
            ]
            share, sd = held.mean(axis=0), UNITS * np.median([one.sd for one in found], axis=0)
            sampled = 100.0 * np.mean([one.sampled for one in found])
            coverage.append(
                [rule, movement, *share.round(0).tolist(), held.mean().round(1), np.mean(together).round(1), sampled]
            )
            bits = float(np.median([one.bits for one in found]))
            deviations.append([rule, movement, *sd.round(1).tolist(), round(bits, 1)])
    names = [name.replace("_", " ") for name in UNKNOWNS]
    report.tables += [
        Table(
            "coverage",
            ["skin", "movement", *names, "all", "together", "sampled"],
            coverage,
            "Of 95 % intervals, in per cent.",
        ),
        Table("deviations", ["skin", "movement", *names, "bits"], deviations, "Medians, in degrees and millimetres."),
        *_adults(Path(files[0]) if files else DATA, 2 if quick else None, say),
    ]
    return Answer(report, {})


def _held(found: Sequence[AxesPosterior], truth: Floats) -> Floats:
    """100 where the interval of a subject (s, 8) holds the true unknown, else 0."""
    low, high = np.moveaxis(np.array([one.interval for one in found]), 2, 0)
    return np.asarray(100.0 * ((low < truth) & (truth < high)))


def _adults(folder: Path, at_most: int | None, say: Say) -> list[Table]:
    """Both speeds of each foot of adults: what a walk adds to the prior, whether they agree, and what both say together."""
    rows: list[list[Any]] = []
    right: list[AxesPosterior] = []  # self-selected speed
    for file in sorted(folder.glob("*_ST.c3d"))[:at_most]:
        name, static = file.name.removesuffix("_ST.c3d"), read_capture(file)
        say(f"adult {name}")
        walks = [read_capture(sorted(folder.glob(f"{name}_{speed}_*.c3d"))[0]) for speed in ("C4", "C5")]
        for side in ("right", "left"):
            mirrored = [one.mirrored() if side == "left" else one for one in (static, *walks)]
            subject = scale_to_subject(mirrored[0], side, mass=MASS)
            found = [axes_posterior(subject, [walk]) for walk in mirrored[1:]]
            right += [found[0]] if side == "right" else []
            both = axes_posterior(subject, mirrored[1:]).sd / np.minimum(*(one.sd for one in found))
            apart = np.abs(found[0].mean - found[1].mean) / np.hypot(found[0].sd, found[1].sd)
            for walk, one in zip(walks, found, strict=True):
                conflicts = ", ".join(one.conflicts).replace("_", " ")
                numbers = [one.bits, float(apart.max()), float(both.max()), float(np.median(both))]
                rows.append([walk.name, side, *one.ratio.round(2).tolist(), *numbers, conflicts])
    if not rows:
        return [Table("adults", ["reason"], [[f"not run: no standing trials SUBJECT_ST.c3d in {folder}"]])]
    columns = ["trial", "foot", *(name.replace("_", " ") for name in UNKNOWNS), "bits", "speeds apart"]
    columns += ["together, largest", "median", "conflicts"]
    note = (
        "Deviations over those of the prior.  Speeds apart: largest difference of both means, in standard deviations.  Together: "
        "deviations by both walks over those of the better one."
    )
    together = axes_of_many(right)
    means, sds, ratios = (np.array([getattr(one, of) for one in together.subjects]) for of in ("mean", "sd", "ratio"))
    shared = [
        [name, *(round(float(x), 1) for x in (unit * mean.mean(), unit * np.median(sd))), *np.round([m, m_sd, s, r], 2)]
        for name, unit, mean, sd, m, m_sd, s, r in zip(
            columns[2:10], UNITS, means.T, sds.T, together.mean, together.mean_sd, together.sd, np.median(ratios, axis=0),
            strict=True,
        )
    ]  # fmt: skip
    heads = ["unknown", "mean", "median SD", "population mean", "its SD", "population SD", "median ratio"]
    words = "Right feet, self-selected speed.  Degrees and millimetres; the population in deviations of the published prior."
    return [Table("adults", columns, rows, note), Table("adults together", heads, shared, words)]
