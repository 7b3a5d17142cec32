"""Cones of several shapes, points on them, and the law of a limit at given directions."""

import numpy as np
import pytest

import models
from generated import dispatch
from runtime import Cone
from runtime.dynamics.cone_curve import KINDS
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.limits import EXCESS, OUTPUTS, POTENTIAL, restrain
from runtime.jit.compilation import compiled

IRREGULAR = {
    "elliptical": Cone.from_degrees([0, 90, 180, 270, 360], [60, 30, 45, 20, 60]),
    "spline": Cone.from_degrees([0, 90, 135, 180, 270, 315, 360], [30, 70, 100, 80, 50, 45, 30]),
    "latitude_spline": Cone.from_degrees([0, 80, 200, 300, 360], [40, 60, 45, 70, 40], "latitude_spline"),
}
REGULAR = Cone.from_degrees([0, 90, 180, 270, 360], [40] * 5)
MAX_MOMENT, COMPLIANCE = 226.0, np.deg2rad(11.5)
both_ankles = pytest.mark.parametrize("ankle", ["modified", "classical"])
both_presets = pytest.mark.parametrize("preset", ["anatomical", "published"])
irregular = pytest.mark.parametrize("shape", list(IRREGULAR))


# The law


@compiled
def restrain_all(u, tables, work, outputs, slope):
    for n in range(len(u)):
        restrain(u[n], 0, tables, work, outputs[n], slope[n])


def restrained(cone, u, law="conservative", **parameters):
    """Excess, potential and dV/du at directions (n, 3) of the joint's frame."""
    system = models.pendulum.build(limits="elastic", cone=cone, law=law, **parameters)
    outputs, slope = np.full((len(u), OUTPUTS), np.nan), np.full(u.shape, np.nan)
    restrain_all(np.ascontiguousarray(u), system.data.limits, workspace_for(system.data).limits, outputs, slope)
    return outputs[:, EXCESS], outputs[:, POTENTIAL], slope


def at(cone, p, s):
    """Point of the cone, its derivative, and the unit normal that points outside with its derivative."""
    out = np.empty(9)
    dispatch.CONES[KINDS.index(cone.interpolation)].curve.py_func(s, cone.pieces.coefficients[p], out)
    t, dt, ddt = out.reshape(3, 3)
    speed = np.linalg.norm(dt)
    n = -np.cross(t, dt) / speed
    return t, dt, n, -np.cross(t, ddt) / speed - n * (dt @ ddt) / speed**2
