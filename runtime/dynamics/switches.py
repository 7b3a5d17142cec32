"""Switches of a system, its joint limits and after them its contacts: the mode of each in an evaluation.

AUTO      by its direction, or by its penetration and force; the only mode that is not smooth;
INACTIVE  without force, even where the direction is outside the cone or the sphere within the plane;
ACTIVE    with the law continued inside the cone and beyond its end, or above the plane and below zero force;
SLACK     (contacts) within the plane but without force, since the surface recovers more slowly than the sphere leaves;
LEAVING   (contacts) with a normal force but no friction until the sphere is out or comes back, where friction (its viscous part
          does not fade with the normal force) would make the contact lose and regain its force without end;
FULL      (limits) with the largest moment, which acts beyond the end of the law, here also before it.

The smooth modes let an integrator step over a change, locate it, and repeat the step up to there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.support.arrays import Floats, Ints

AUTO, INACTIVE, ACTIVE, SLACK, LEAVING, FULL = range(6)


class Switches(NamedTuple):
    """Modes of the limits, then of the contacts."""

    mode: Ints  # (limits + contacts,); its two parts are also ``LimitWorkspace.mode`` and ``ContactWorkspace.mode``
    before_auto: Ints  # (limits + contacts,) mode before AUTO
    over: Floats  # (limits + contacts,) [rad], [mm] distance beyond the side of the mode; below 0 on that side


def switches_of(count: int) -> Switches:
    """Switches in mode AUTO."""
    return Switches(np.zeros(count, np.int64), np.full(count, INACTIVE), np.zeros(count))
