"""Vectorised cases with closed loops, drivers and joint limits: as one by one and in absolute coordinates."""

import numpy as np
import pytest

import runtime
from benchmarks.ensemble_systems import builder_of
from benchmarks.random import model, question
from runtime import Cone
from runtime.system.trees import trees_of
from tests.support.driven_legs import Y, driven_leg_of, made, once_with_kernel, one_by_one
from tests.support.marks import quick_for
from tests.support.own_laws import POWER

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12)
SHARE = np.linspace(0.9, 1.1, 20)


@once_with_kernel
def leg(damping=0.02):
    """A leg that is driven at the hip and at the toes; its passive ankle meets both stops."""
    b, _ = driven_leg_of(
        "driven leg with stops at its ankle", lambda t: 0.6 * np.sin(5 * t), lambda t: 0.2 * np.sin(3 * t) ** 3
    )
    b.force("spring", "torsional_spring", "leg", "foot", a_i=Y, stiffness=1.0, damping=0.01, free_angle=0.0)
    stops = Cone.from_degrees((0, 90, 180, 270, 360), (5, 30, 6, 30, 5))
    law = dict(max_moment=9.0, compliance=0.2, damping=damping)
    b.limit("stop", "ankle", reference="leg", xi=(1, 0, 0), eta=Y, cone=stops, **law)
    return b.build(project_velocities=True)


def limited(system, joint, degrees, **own):
    """A system with dissipative limits at a hinge, at these angles from the start; ``own``: a law and its parameters."""
    b, one = builder_of(system), system.joint(joint)
    eta = one.values["a_i"] / np.linalg.norm(one.values["a_i"])
    xi = np.cross(eta, np.eye(3)[np.argmin(np.abs(eta))])
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (degrees, 30, degrees, 30, degrees))
    law = dict(max_moment=3.0, compliance=1.0, damping=0.02) | own
    b.limit("stop", joint, reference=one.body_i, xi=xi / np.linalg.norm(xi), eta=eta, cone=cone, **law)
    return made(b.build())


@pytest.mark.slow
def test_an_own_law_beside_rows(closed_in_lanes):
    system = model.system_of(question.CLASSES["driven_loop"](np.random.default_rng(1)), "driven_loop")
    closing = trees_of(system).tree.closing
    hinge = next(j.name for k, j in enumerate(system.joints) if k not in closing and j.kind == "revolute")
    system = limited(system, hinge, 1.0, law=POWER, exponent=1.5)
    cases = {"exponent.stop": np.linspace(1.0, 2.0, 3), "compliance.stop": np.linspace(0.9, 1.1, 3)}
    settings = SETTINGS | dict(t_eval=0.5 * TIMES, coordinates="joint")
    many = runtime.simulate_many(system, cases, 0.5, **settings)
    assert many.vectorised.all() and many[0].limits["stop"].excess.max() > 1e-3
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 0.5, **settings)
    assert np.abs(many.states() - each.states()).max() < 1e-11 * max(1.0, np.abs(each.states()).max())


PLAIN = [
    ("polygon", 6), ("spherical_four_bar", 5), ("sarrus", 4), ("driven_loop", 0), ("sprung_loop", 1),
    ("door", 12),  # no row of its loops restrains a coordinate
    ("spatial_loop", 3), ("modified_loop", 1), ("sprung_loop", 0),  # with balls
]  # fmt: skip
OFTEN = [("driven_loop", 0), ("door", 12), ("modified_loop", 1)]
STOPPED = [("polygon", 0), ("spherical_four_bar", 1), ("driven_loop", 1), ("bricard", 0)]
LOOPS = quick_for(
    [(*one, False) for one in PLAIN] + [(*one, True) for one in STOPPED],
    [(*one, False) for one in OFTEN] + [(*one, True) for one in STOPPED[1:3]],
    pytest.mark.nightly,
)


@pytest.mark.slow
@pytest.mark.parametrize("case", LOOPS, ids="{0[0]}-{0[1]}-{0[2]}".format)
def test_random_loops_as_one_by_one(case, closed_in_lanes):
    name, seed, stop = case
    system = model.system_of(question.CLASSES[name](np.random.default_rng(seed)), name)
    if stop:
        hinges = [
            j.name
            for k, j in enumerate(system.joints)
            if k not in trees_of(system).tree.closing and j.kind == "revolute"
        ]
        system = limited(system, hinges[0], 1.0)
    system, cases = made(system), {f"mass.{system.body_names[0]}": system.data.mass[1] * SHARE[:3]}
    settings = SETTINGS | dict(t_eval=0.5 * TIMES, coordinates="joint")
    many = runtime.simulate_many(system, cases, 0.5, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 0.5, **settings)
    assert np.abs(many.states() - each.states()).max() < 1e-11 * max(1.0, np.abs(each.states()).max())
    assert not stop or (not many.messages and not each.messages and many[0].limits["stop"].excess.max() > 1e-3)
