"""Figures of the joints that fit two bones: residuals by joint, and the axes between the bones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from models.walking.bone_motion import BoneMotion
from models.walking.joint_fit import HOLDS, JointComparison
from runtime.figures.lines import fill, style
from runtime.figures.panels import figure, place_legend
from runtime.report.figure_files import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLANES = (("x", "y"), ("x", "z"), ("y", "z"))
REACH = 0.04  # [m] of a line to both sides of its point


def figures(found: JointComparison, motions: Sequence[BoneMotion]) -> dict[str, Drawing]:
    """The figures by file name, to be drawn when called."""
    shown = {
        "residuals": Drawing(
            partial(residuals, found),
            f"Error of each joint in each {found.parts} that was left out, over the noise; the nearest joint is "
            f"{found.nearest}.",
        )
    }
    one = found.fits[found.nearest]
    if one.axes:
        shown["axes"] = Drawing(
            partial(axes, found, motions),
            f"Axes of the {found.nearest} joint in the proximal bone, in all frames: that of the distal bone moves.",
        )
    return shown


def residuals(found: JointComparison) -> Figure:
    """Bars of left-out residuals over noise, by joint and part."""
    fits = [fit for fit in found.fits.values() if fit.freedoms < 6]
    parts = list(fits[0].by_part)
    fig, ((ax,),) = figure(1, 1, width=7.0, height=3.6)
    width = 0.8 / len(parts)
    for k, part in enumerate(parts):
        at = np.arange(len(fits)) + width * (k - (len(parts) - 1) / 2.0)
        ax.bar(at, [fit.by_part[part] for fit in fits], width, **fill(k))
    line = ax.axhline(HOLDS, color="0.2", linestyle="--", linewidth=1.0)
    ax.set_xticks(range(len(fits)), [f"{fit.joint}\n{fit.parameters} parameters" for fit in fits])
    ax.set_ylabel("left out, over noise")
    place_legend(fig, dict(zip(parts, ax.containers, strict=True)) | {"largest that holds": line})
    return fig


def axes(found: JointComparison, motions: Sequence[BoneMotion]) -> Figure:
    """Both lines in three planes of the proximal bone."""
    one = found.fits[found.nearest]
    along = np.array([-REACH, REACH])[:, None]
    fixed = one.points["proximal"] + along * one.axes["proximal"]
    local = one.points["distal"] + along * one.axes["distal"]
    A, r = (np.concatenate([getattr(motion, what) for motion in motions]) for what in ("A", "r"))
    moving = r[:, None] + np.einsum("nab,kb->nka", A, local)
    fig, panels = figure(1, 3, width=3.6, height=3.4)
    for ax, plane in zip(panels.flat, PLANES, strict=True):
        a, b = ("xyz".index(name) for name in plane)
        every = ax.plot(
            1e3 * moving[..., a].T, 1e3 * moving[..., b].T, **(style(1) | {"linewidth": 0.4, "linestyle": "-"})
        )
        (first,) = ax.plot(1e3 * fixed[:, a], 1e3 * fixed[:, b], **style(0))
        ax.set_xlabel(f"{plane[0]} of the proximal bone [mm]")
        ax.set_ylabel(f"{plane[1]} [mm]")
        ax.set_aspect("equal", adjustable="datalim")
    place_legend(fig, {"axis of the proximal bone": first, "axis of the distal bone": every[0]})
    return fig
