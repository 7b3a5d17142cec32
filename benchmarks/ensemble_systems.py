"""Systems with forces or without kernels, and what varies between their cases: data of ``benchmarks.ensembles``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import models
from benchmarks.mechanisms import model, problem
from runtime import Builder, Signal, System

SPAN = 2.0  # [s] of signals


@dataclass(frozen=True)
class Study:
    """Cases of a system: a parameter with equally spaced values, from 0.9 to 1.1 of its own."""

    name: str
    system: Callable[[], System]
    varied: str
    duration: float  # [s]
    settings: Mapping[str, Any] = field(default_factory=dict)


def builder_of(system: System) -> Builder:
    """A builder with the parts of a system."""
    with tempfile.TemporaryDirectory() as folder:
        return Builder.from_file(system.to_file(Path(folder) / "system.json"))


def loaded_foot() -> System:
    """The modified foot with a load that alternates and a motor at the ankle."""
    b = builder_of(models.foot.build())
    push = Signal.function(lambda t: 3.0 * np.sin(4.0 * t), 0.0, SPAN)
    b.load("push", "main_foot", force=(push, 0.0, 0.0))
    axes = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))
    b.motor("ankle_spring", "guided_angle", "leg", "main_foot", **axes, theta_t=0.0, stiffness=5.0, damping=0.05)
    return b.build()


def sprung_foot(limits: Literal["elastic", "dissipative"] | None = None) -> System:
    """The modified foot with a spring and damper at the ankle."""
    b = builder_of(models.foot.build(limits=limits))
    law = dict(stiffness=8.0, damping=0.1, free_angle=0.1)
    b.force("spring", "torsional_spring", "leg", "main_foot", axes="global", a_i=(0, 1, 0), **law)
    return b.build()


def sprung_chain() -> System:
    """A chain of two hinges about two axes, with a spring in each."""
    b = Builder("sprung chain")
    for k in range(2):
        before, axis = f"link_{k - 1}" if k else "ground", (float(k % 2), float(1 - k % 2), 0.0)
        b.body(f"link_{k}", mass=0.5, inertia=(2e-3, 2e-3, 4e-4), r=(0.0, 0.0, -0.1 - 0.2 * k))
        b.joint(
            f"hinge_{k}", "revolute", before, f"link_{k}", axes="global", point=(0.0, 0.0, -0.2 * k), a_i=axis, a_j=axis
        )
        law = dict(stiffness=0.5, damping=0.01, free_angle=0.5)
        b.force(f"spring_{k}", "torsional_spring", before, f"link_{k}", axes="global", a_i=axis, **law)
    return b.build()


def limited_foot() -> System:
    """The modified foot with elastic limits."""
    return models.foot.build(limits="elastic")


def driven_four_bar() -> System:
    """A four-bar linkage whose crank turns as prescribed."""
    b = builder_of(models.four_bar.build("revolute"))
    turn = Signal.function(lambda t: 0.5 * np.sin(3.0 * t) ** 3, 0.0, SPAN)
    b.driver("drive", "guided_angle", "ground", "crank", h_i=(0, -1, 0), **_across("crank"), theta_t=turn)
    return b.build()


def _across(body: str) -> dict[str, Any]:
    """The x axis of a body of the four-bar linkage, in its own axes and in those of the ground, from where its angle counts."""
    state = models.four_bar.build("revolute").state
    e0, _, e2, _ = state.p[body]
    turned = 2.0 * np.arctan2(e2, e0)
    return dict(a_i=(np.cos(turned), 0.0, -np.sin(turned)), b_j=(1.0, 0.0, 0.0))


def floating() -> System:
    """A satellite with two arms on ball joints, which nothing holds."""
    b = Builder("satellite", gravity=(0.0, 0.0, 0.0))
    b.body("hub", mass=20.0, inertia=(1.0, 1.2, 1.5), omega=(0.3, 1.0, 0.2), free=True, guess=True)
    for name, side in (("left", 1.0), ("right", -1.0)):
        b.body(
            name, mass=2.0, inertia=(0.2, 0.02, 0.2), r=(0.0, 0.9 * side, 0.0), omega=(0.5 * side, 1.0, 0.0), guess=True
        )
        b.joint(f"{name}_shoulder", "spherical", "hub", name, axes="global", point=(0.0, 0.4 * side, 0.0))
    return b.build(project_velocities=True)


SIDE_BY_SIDE = (
    Study("foot with a spring: stiffness", sprung_foot, "stiffness.spring", 1.0),
    Study("foot with a spring: length of the link", sprung_foot, "l.ankle", 1.0, dict(assemble=True)),
    Study("foot with a spring and elastic limits: stiffness", lambda: sprung_foot("elastic"), "stiffness.spring", 1.0),
    Study("foot with a spring and dissipative limits: stiffness", lambda: sprung_foot("dissipative"), "stiffness.spring", 1.0),
    Study("foot with a load and a motor: mass of the toes", loaded_foot, "mass.toes", 1.0),
    Study("foot with a load and a motor: stiffness of the motor", loaded_foot, "stiffness.ankle_spring", 1.0),
    Study("chain of two hinges with springs: a stiffness", sprung_chain, "stiffness.spring_1", 1.0),
)  # fmt: skip
STUDIES = (
    Study("foot on the ground, 0.05 s", models.foot_ground.build, "mass.toes", 0.05),
    Study("foot on the ground, 0.5 s, dop853", models.foot_ground.build, "mass.toes", 0.5),
    Study("foot on the ground, 0.5 s, auto", models.foot_ground.build, "mass.toes", 0.5, dict(method="auto")),
    Study("driven four-bar linkage", driven_four_bar, "mass.rocker", 1.0),
    Study("four-bar linkage", lambda: models.four_bar.build(crank_speed=1.0), "mass.coupler", 1.0),
    Study("slider-crank (IFToMM)", lambda: model.build(problem.shipped("slider_crank_iftomm")), "gravity", 1.0),
    Study("Bricard's linkage (IFToMM)", lambda: model.build(problem.shipped("bricard_brick")), "gravity", 1.0),
    Study("floating tree by recursion", floating, "mass.left", 1.0, dict(coordinates="joint")),
    Study("foot, elastic limits, absolute", limited_foot, "compliance.talocrural", 1.0, dict(coordinates="absolute")),
)  # fmt: skip
