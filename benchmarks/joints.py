"""Which joint fits: how often the joint by which synthetic bones move is chosen, and whether the interval of its link holds.

Lines of hinges are near those of the published foot; bones turn by dorsiflexion, by inversion and in circles, a movement each.
Each bone has the noise of fluoroscopy.  Poses are composed by SciPy's rotations, apart from the chain of the fit.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measure import Answer, Say
from models import foot
from models.walking.bone_motion import BoneMotion
from models.walking.joint_fit import JOINTS, NOISE_DEG, NOISE_MM, JointComparison, fit_joints
from runtime.report import Report, Table
from runtime.support.arrays import Floats
from runtime.support.machine import cores

BONES, QUICK = 100, 3
FRAMES = 40  # of a movement
LINKS = (0.01, 0.045)  # [m]
TURN, SLIDE = 0.3, 0.004  # [rad], [m] of the freedoms that a joint with more of them has
# Amplitudes of the three turns in each movement, in parts of TURN.
MOVEMENTS = {"dorsiflexion": (1.2, 0.2, 0.3), "inversion": (0.2, 1.0, 0.3), "circles": (1.0, 0.8, 0.6)}


def published_lines() -> tuple[Floats, Floats]:
    """Directions of the talocrural and of the talocalcaneal axis of the published foot."""
    return foot.talocrural_frame()[1], foot.talocalcaneal_frame()[0]


def moved(joint: str, rng: np.random.Generator, noise: float = 1.0) -> tuple[list[BoneMotion], float]:
    """Three movements of bones by a joint, and the length of its link [m]; ``noise``: in that of fluoroscopy."""
    one, two = (Rotation.from_rotvec(rng.normal(0.0, 0.15, 3)).apply(line) for line in published_lines())
    across = np.cross(one, two) / np.linalg.norm(np.cross(one, two))
    on_one, on_two = rng.normal(0.0, 0.02, (2, 3))
    length = rng.uniform(*LINKS) if joint == "modified" else 0.0
    count = {"hinge": 1, "classical": 2, "modified": 2}.get(joint, 3)
    rest = Rotation.from_rotvec(rng.normal(0.0, 0.5, 3))
    motions = []
    for name, amplitudes in MOVEMENTS.items():
        t = np.linspace(0.0, 2.0 * np.pi, FRAMES)
        phase, rates = rng.uniform(0.0, 2.0 * np.pi, 6), rng.uniform(0.7, 1.3, 6)
        waves = np.sin(t[:, None] * rates + phase)
        angles = TURN * np.array(amplitudes) * waves[:, :3]
        angles[:, count:] = 0.0
        turns = [Rotation.from_rotvec(angles[:, [k]] * line) for k, line in enumerate((one, two, across))]
        turn = turns[0] * turns[1] * turns[2]
        r = on_one + turns[0].apply(length * across) - turn.apply(on_two)
        if joint == "free":
            r = r + SLIDE * waves[:, 3:]
        sd = noise * np.sqrt(2.0)
        seen = turn * rest * Rotation.from_rotvec(np.radians(NOISE_DEG) * sd * rng.normal(size=(FRAMES, 3)))
        motions.append(BoneMotion(name, seen.as_matrix(), r + 1e-3 * NOISE_MM * sd * rng.normal(size=(FRAMES, 3))))
    return motions, length


def one_pair(number: int, joint: str) -> tuple[JointComparison, float]:
    """What is found of a pair of bones, and the true length of their link."""
    motions, length = moved(joint, np.random.default_rng([number, list(JOINTS).index(joint)]))
    return fit_joints(motions), length


def ask(*, quick: bool, say: Say) -> Answer:
    """Count how often each joint is chosen."""
    report = Report("Which joint fits synthetic bones")
    count = QUICK if quick else BONES
    rows: list[list[Any]] = []
    for joint in JOINTS:
        say(f"{count} pairs of bones moved by the joint {joint}")
        with ProcessPoolExecutor(min(cores(), 4)) as pool:
            found = list(pool.map(partial(one_pair, joint=joint), range(count)))
        rows.append([joint, *(sum(one.chosen == name for one, _ in found) for name in JOINTS)])
        if joint == "modified":
            links = [_link(found)]
    note = f"Rows: the joint that moves the bones, with noise of {NOISE_MM:g} mm and {NOISE_DEG:g} deg of each bone."
    report.tables.append(Table("chosen", ["moved by", *JOINTS], rows, note))
    columns = ["pairs", "interval holds the length", "median half width [mm]", "largest error [mm]"]
    report.tables.append(
        Table("length of the link", columns, links, "95 % intervals of bones moved by the modified joint.")
    )
    return Answer(report, {})


def _link(found: list[tuple[JointComparison, float]]) -> list[Any]:
    """How often the interval of the length of the link holds, its width and the largest error."""
    fits = [one.fits["modified"] for one, _ in found]
    held = sum(fit.interval[0] <= length <= fit.interval[1] for fit, (_, length) in zip(fits, found, strict=True))
    half = 500.0 * float(np.median([fit.interval[1] - fit.interval[0] for fit in fits]))
    error = max(abs(fit.link_length - length) for fit, (_, length) in zip(fits, found, strict=True))
    return [len(found), held, half, 1e3 * error]
