"""Tables of the joints that fit two bones."""

from __future__ import annotations

from typing import Any

import numpy as np

from models import foot
from models.walking.joint_fit import HOLDS, MARGIN, JointComparison
from runtime.report import Table


def published_distance() -> float:
    """Shortest distance [m] between both axes of the published foot, whose link of 41.7 mm is vertical."""
    across = np.cross(foot.talocrural_frame()[1], foot.talocalcaneal_frame()[0])
    return float(foot.LINK_LENGTH * abs(across[2]) / np.linalg.norm(across))


def joints(found: JointComparison) -> Table:
    """A row for each joint, the simplest first."""
    rows: list[list[Any]] = []
    for name, fit in found.fits.items():
        free = name == "free"
        chosen = "chosen" if name == found.chosen else "nearest" if name == found.nearest else ""
        rows.append(
            [name, fit.freedoms, fit.parameters, fit.residual_deg, fit.residual_mm, fit.left_out_deg, fit.left_out_mm,
             fit.relative, None if free else fit.times, None if free else fit.margin, chosen]
        )  # fmt: skip
    columns = [
        "joint", "freedoms", "parameters", "turn [deg]", "shift [mm]", "turn left out [deg]", "shift left out [mm]",
        "left out, over noise", "over the least", "margin", "result",
    ]  # fmt: skip
    note = (
        f"Root mean square over frames of the turn and the shift that a joint leaves.  Left out: each {found.parts} by the joint "
        "fitted to the others; over noise: for each direction that the joint stops.  Chosen: the joint with the fewest freedoms, "
        f"then parameters, whose residual over the least one is within its margin, {1.0 + MARGIN:g} or two standard deviations; "
        f"free, where this residual exceeds {HOLDS:g} times the noise."
    )
    brief = ["joint", "parameters", "turn left out [deg]", "shift left out [mm]", "left out, over noise", "result"]
    return Table("joints", columns, rows, note, brief)


def left_out(found: JointComparison) -> Table:
    """A row for each part that was left out: residuals over the noise, and the length of the link without it."""
    fits = [fit for fit in found.fits.values() if fit.freedoms < 6]
    links = [fit for fit in fits if np.isfinite(fit.link_length)]
    rows = [
        [part, *(fit.by_part[part] for fit in fits), *(1e3 * fit.link_lengths[part] for fit in links)]
        for part in fits[0].by_part
    ]
    columns = [found.parts, *(f"{fit.joint}, over noise" for fit in fits), *("link without it [mm]" for _ in links)]
    return Table("left out", columns, rows)


def lines(found: JointComparison) -> Table:
    """A row for each joint and bone: the direction and a point of its line, in axes of the bone."""
    rows: list[list[Any]] = []
    for name, fit in found.fits.items():
        for bone, point in fit.points.items():
            axis = fit.axes.get(bone, (None,) * 3)
            sd = fit.sd_deg.get(bone)
            length, low, high = (
                1e3 * value if np.isfinite(value) else None for value in (fit.link_length, *fit.interval)
            )
            rows.append([name, bone, *axis, *(1e3 * point), sd, _number(fit.angle_deg), length, low, high])
    columns = [
        "joint", "bone", "axis x", "axis y", "axis z", "point x [mm]", "point y [mm]", "point z [mm]", "deviation [deg]",
        "angle of both axes [deg]", "link [mm]", "from [mm]", "to [mm]",
    ]  # fmt: skip
    note = (
        "In axes of each bone, as in the files; of a spherical joint, its centre.  Deviation: standard deviation of the "
        "direction; inf where the motion does not show it.  Link: shortest distance of both axes, with its 95 % interval; a dash "
        f"at its end: no limit.  That of the published foot, whose link of {1e3 * foot.LINK_LENGTH:.1f} mm is vertical and not "
        f"across its axes, is {1e3 * published_distance():.1f} mm."
    )
    return Table(
        "lines", columns, rows, note, ["joint", "bone", "deviation [deg]", "link [mm]", "from [mm]", "to [mm]"]
    )


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
