"""Lines of constant length, such as massless links, as solid rods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from runtime.view.scene import Lines, Pose, Scene, Solid
from runtime.view.triangles import rod

SAME = 1e-3  # relative change of length, below which a line is a rod


def with_rods(scene: Scene) -> Scene:
    """Put rods in place of single lines of constant length: they hide what is behind them, and pages move them at once."""
    rods = {lines.name: lines for lines in scene.lines if _is_rod(lines)}
    low, high = scene.near
    size = float(np.linalg.norm(high - low))
    return replace(
        scene,
        solids=(*scene.solids, *(_rod(lines, size) for lines in rods.values())),
        lines=tuple(lines for lines in scene.lines if lines.name not in rods),
    )


def _is_rod(lines: Lines) -> bool:
    if lines.points.shape[:2] != (len(lines.t), 1):
        return False
    lengths = np.linalg.norm(lines.points[:, 0, 1] - lines.points[:, 0, 0], axis=1)
    return bool(np.ptp(lengths) < SAME * lengths.max())


def _rod(lines: Lines, size: float) -> Solid:
    ends = lines.points[:, 0]
    length = float(np.linalg.norm(ends[0, 1] - ends[0, 0]))
    zeta = (ends[:, 1] - ends[:, 0]) / length
    # The turn of the z axis to zeta by the shortest way: (1 + zeta_z, z x zeta), normalised; half a turn about x opposite to it.
    p = np.stack([1.0 + zeta[:, 2], -zeta[:, 1], zeta[:, 0], np.zeros(len(zeta))], axis=1)
    p[np.linalg.norm(p, axis=1) < SAME] = (0.0, 1.0, 0.0, 0.0)
    pose = Pose(lines.t, ends.mean(axis=1), p / np.linalg.norm(p, axis=1)[:, None])
    return Solid(lines.group, lines.name, *rod(0.5 * lines.width * size, length), lines.colour, pose)
