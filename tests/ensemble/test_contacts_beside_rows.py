"""Contacts in cases with drivers side by side: as in absolute coordinates."""

import functools

import numpy as np
import pytest

import runtime
from benchmarks.ensemble_systems import driven_leg_on_plane
from tests.support.driven_legs import compared, made

TIMES = np.linspace(0.0, 1.0, 21)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12)
SHARE = np.linspace(0.9, 1.1, 18)


@functools.cache
def leg():
    """A leg that is driven at the hip and at the toes; heel and toes touch a plane in turn, the heel already at the start."""
    return made(driven_leg_on_plane())


@pytest.mark.parametrize(
    "name", ["stiffness.tip", "mu_c.tip", "radius.heel", "point.tip", "loss.heel", "mass.foot", "stiffness.spring"]
)
def test_a_driven_leg_on_a_plane_as_in_absolute_coordinates(name, closed_in_lanes):
    own = np.asarray(runtime.parameters(leg())[name], float)
    share = 1.0 + 0.01 * (SHARE - 1.0) if name == "point.tip" else SHARE
    bounds = {
        "r.toes": 1e-11, "energy": 1e-10, "elastic_energy": 1e-10, "contact_normal_force.tip": 1e-8,
        "max(contact_normal_force.heel)": 1e-8, "contact_friction.tip": 1e-8, "lam.swing.angle": 1e-7,
    }  # fmt: skip
    cases = {name: own * share.reshape(-1, *[1] * own.ndim)}
    many = compared(leg(), cases, bounds, closed_in_lanes, slice(None, None, 17), **SETTINGS)
    assert many["max(contact_normal_force.heel)"].max() > 1.0 and many["contact_normal_force.tip"].max() > 1.0
    assert np.ptp(many["r.toes"][:, -1], axis=0).max() > 1e-8
