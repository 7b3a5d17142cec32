"""Systems with forces, loops or drivers, or without kernels, and what varies between cases: data of ``benchmarks.ensembles``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import models
from benchmarks.measure import make_kernels
from benchmarks.mechanisms import model, problem
from models.walking import leg_foot, synthetic
from runtime import Builder, Cone, Signal, System

SPAN = 2.0  # [s] of signals
WAVE = Signal.function(lambda t: 3.0 * np.sin(4.0 * t), 0.0, SPAN)
# Makes the kernel of a system that a function of this module builds.
MAKE_KERNEL = """
import sys
import codegen
from benchmarks import ensemble_systems
codegen.compile_model(getattr(ensemble_systems, sys.argv[1])())
"""


@dataclass(frozen=True)
class Study:
    """Cases of a system: a parameter with equally spaced values, from 0.9 to 1.1 of its own."""

    name: str
    system: Callable[[], System]
    varied: str
    duration: float  # [s]
    settings: Mapping[str, Any] = field(default_factory=dict)
    part: int = 1  # of the cases of other studies, one in so many


def builder_of(system: System) -> Builder:
    """A builder with the parts of a system."""
    with tempfile.TemporaryDirectory() as folder:
        return Builder.from_file(system.to_file(Path(folder) / "system.json"))


def loaded_foot() -> System:
    """The modified foot with a load that alternates and a motor at the ankle."""
    b = builder_of(models.foot.build())
    b.load("push", "main_foot", force=(WAVE, 0.0, 0.0))
    axes = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))
    b.motor("ankle_spring", "guided_angle", "leg", "main_foot", **axes, theta_t=0.0, stiffness=5.0, damping=0.05)
    return b.build()


def sprung_foot(limits: Literal["elastic", "dissipative"] | None = None) -> System:
    """The modified foot with a spring and damper at the ankle."""
    b = builder_of(models.foot.build(limits=limits))
    law = dict(stiffness=8.0, damping=0.1, free_angle=0.1)
    b.force("spring", "torsional_spring", "leg", "main_foot", axes="global", a_i=(0, 1, 0), **law)
    return b.build()


def sprung_chain(links: int = 2) -> System:
    """A chain of hinges about two axes in turn, with a spring in each; there is a kernel for two of them."""
    b = Builder("sprung chain")
    for k in range(links):
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


def driven_four_bar(body: str = "crank") -> System:
    """A four-bar linkage whose crank, or another body, turns as prescribed."""
    b = builder_of(models.four_bar.build("revolute"))
    turn = Signal.function(lambda t: 0.5 * np.sin(3.0 * t) ** 3, 0.0, SPAN)
    b.driver("drive", "guided_angle", "ground", body, h_i=(0, -1, 0), **_across(body), theta_t=turn)
    return b.build()


def _across(body: str) -> dict[str, Any]:
    """The x axis of a body of the four-bar linkage, in its own axes and in those of the ground, from where its angle counts."""
    state = models.four_bar.build("revolute").state
    e0, _, e2, _ = state.p[body]
    turned = 2.0 * np.arctan2(e2, e0)
    return dict(a_i=(np.cos(turned), 0.0, -np.sin(turned)), b_j=(1.0, 0.0, 0.0))


def slider_crank() -> System:
    """The spatial slider-crank of IFToMM's benchmark."""
    return model.build(problem.shipped("slider_crank_iftomm"))


def bricard() -> System:
    """Bricard's linkage of IFToMM's benchmark, one of whose rows is redundant."""
    return model.build(problem.shipped("bricard_brick"))


def driven_leg() -> System:
    """A leg whose hip and toes turn as prescribed; a spring and a damper hold the ankle."""
    return _driven_leg().build(project_velocities=True)


def driven_leg_with_stops() -> System:
    """``driven_leg`` with dissipative limits at the ankle."""
    b, stops = _driven_leg(), Cone.from_degrees((0, 90, 180, 270, 360), (9, 30, 6, 30, 9))
    law = dict(max_moment=9.0, compliance=0.2, damping=0.02)
    b.limit("stop", "ankle", reference="leg", xi=(1, 0, 0), eta=(0, 1, 0), cone=stops, **law)  # type: ignore[arg-type]
    return b.build(project_velocities=True)


def driven_leg_on_plane() -> System:
    """``driven_leg`` with a sphere at its heel and one at its toes, which touch a plane with friction."""
    b = _driven_leg()
    law = dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.5, friction="coulomb", mu_c=0.4, mu_d=0.1)
    where = dict(radius=0.02, point=(0.0, 0.0, -0.4985), normal=(0, 0, 1), axes="body", transition_velocity=1e-2)
    for name, body, centre in (("heel", "foot", (-0.08, 0, -0.03)), ("tip", "toes", (0.03, 0, -0.01))):
        b.contact(name, body, centre=centre, **where, **law)  # type: ignore[arg-type]
    return b.build(project_velocities=True)


def four_bar_on_plane() -> System:
    """A four-bar linkage whose coupler has a sphere, which touches a plane."""
    b, state = builder_of(models.four_bar.build("revolute", crank_speed=2.0)), models.four_bar.build("revolute").state
    height = float(state.r["coupler"][2])
    law = dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.3, friction="coulomb", mu_c=0.3, mu_d=0.1)
    where = dict(centre=(0, 0, 0), radius=0.05, point=(0, 0, height - 0.3), normal=(0, 0, 1), transition_velocity=1e-2)
    b.contact("touch", "coupler", **where, **law)  # type: ignore[arg-type]
    return b.build()


def _driven_leg() -> Builder:
    b, y = Builder("driven leg with a passive ankle", axes="global"), (0.0, 1.0, 0.0)
    b.body("leg", mass=3.0, inertia=(4e-2, 4e-2, 5e-3), r=(0.0, 0.0, -0.2))
    b.body("foot", mass=0.9, inertia=(1e-3, 4e-3, 4e-3), r=(0.06, 0.0, -0.45))
    b.body("toes", mass=0.2, inertia=(1e-4, 2e-4, 2e-4), r=(0.17, 0.0, -0.46))
    b.joint("hip", "revolute", "ground", "leg", point=(0.0, 0.0, 0.0), axis=y)
    b.joint("ankle", "revolute", "leg", "foot", point=(0.0, 0.0, -0.4), axis=y)
    b.joint("ball", "revolute", "foot", "toes", point=(0.14, 0.0, -0.46), axis=y)
    across = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))
    swing = Signal.function(lambda t: 0.4 * np.sin(3.0 * t), 0.0, SPAN)
    rise = Signal.function(lambda t: 0.2 * np.sin(3.0 * t) ** 3, 0.0, SPAN)
    b.driver("swing", "guided_angle", "ground", "leg", **across, theta_t=swing)
    b.driver("toe_off", "guided_angle", "foot", "toes", **across, theta_t=rise)
    b.force("spring", "torsional_spring", "leg", "foot", a_i=y, stiffness=8.0, damping=0.1, free_angle=0.1)
    return b


def driven_gait() -> System:
    """The leg and foot of a walking subject: place and orientation of the leg and three angles are prescribed."""
    return leg_foot.build(synthetic.subject(), synthetic.coordinates(), synthetic.ground())


def with_kernel(build: Callable[[], System]) -> Callable[[], System]:
    """A function of this module that builds a system, with a kernel of the system."""

    def made() -> System:
        make_kernels(MAKE_KERNEL, build.__name__)
        return build()

    return made


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


def bouncing_ball() -> System:
    """A ball that moves up and down above the ground."""
    b = Builder("bouncing ball")
    b.body("ball", mass=0.5, inertia=(2e-3, 2e-3, 2e-3), r=(0.0, 0.0, 0.15))
    b.joint("guide", "translational", "ground", "ball", axes="global", point=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    law = dict(law="hunt_crossley", stiffness=1e6, exponent=1.5, loss=0.15)
    b.contact("touch", "ball", centre=(0, 0, 0), radius=0.1, **law)
    return b.build()


def pendulum_on_plane() -> System:
    """Two hinges about one axis; the bob touches a plane with friction."""
    b = Builder("pendulum on a plane")
    for k, (before, own) in enumerate((("ground", "upper"), ("upper", "lower"))):
        b.body(own, mass=0.5 - 0.2 * k, inertia=(2e-3, 2e-3, 4e-4), r=(0.1 + 0.2 * k, 0.0, 1.0))
        axis = dict(axes="global", point=(0.2 * k, 0.0, 1.0), a_i=(0, 1, 0), a_j=(0, 1, 0))
        b.joint(f"hinge_{k}", "revolute", before, own, **axis)
    law = dict(law="flores", stiffness=1e6, exponent=1.5, restitution=0.6, friction="coulomb", mu_c=0.3, mu_d=0.1)
    where = dict(centre=(0.1, 0, 0), radius=0.05, point=(0, 0, 0.7), normal=(0, 0, 1))
    b.contact("touch", "lower", **where, **law, transition_velocity=1e-2)
    return b.build()


def limited_foot_on_ground(damping: float = 0.0) -> System:
    """The foot, which falls on its toes, with limits of its ankle and toes; their moment is that of ``models.foot``."""
    b, limit = (
        builder_of(models.foot_ground.build(pitch_deg=-20.0)),
        models.foot.build(limits="dissipative").limit("talocrural"),
    )
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (20, 35, 35, 25, 20))
    law = dict(max_moment=limit.max_moment, compliance=limit.compliance, damping=damping, cone=cone)
    for joint, upper in (("ankle", "leg"), ("metatarsophalangeal", "main_foot")):
        b.limit(joint, joint, reference=upper, xi=(1, 0, 0), eta=(0, -1, 0), **law)  # type: ignore[arg-type]
    return b.build()


def leg_with_knee_stop() -> System:
    """``pendulum_on_plane`` with a limit of its lower hinge."""
    b, cone = builder_of(pendulum_on_plane()), Cone.from_degrees((0, 90, 180, 270, 360), (20, 20, 20, 20, 20))
    b.limit(
        "stop", "hinge_1", reference="upper", xi=(1, 0, 0), eta=(0, -1, 0), cone=cone, max_moment=20.0, compliance=0.2
    )
    return b.build()


def sledge() -> System:
    """A board in a plane, with two runners on a belt whose speed alternates."""
    b = Builder("sledge")
    b.body("board", mass=2.0, inertia=(0.02, 0.03, 0.02), r=(0, 0, 0.12), v=(1.0, 0, 0))
    b.joint("plane", "parallel_axes", "ground", "board", axes="global", a_i=(0, 1, 0), a_j=(0, 1, 0))
    law = dict(law="kelvin_voigt", stiffness=2e4, exponent=1.0, damping=8.0, friction="coulomb", mu_c=0.4, mu_d=0.1)
    belt = dict(belt=(1, 0, 0), belt_speed=Signal.function(lambda t: 0.5 * np.sin(6.0 * t), 0.0, SPAN))
    for k, x in enumerate((-0.15, 0.15)):
        b.contact(f"runner_{k}", "board", centre=(x, 0, -0.05), radius=0.05, transition_velocity=1e-2, **law, **belt)
    return b.build()


SIDE_BY_SIDE = (
    Study("foot with a spring: stiffness", sprung_foot, "stiffness.spring", 1.0),
    Study("foot with a spring: length of the link", sprung_foot, "l.ankle", 1.0, dict(assemble=True)),
    Study("foot with a spring and elastic limits: stiffness", lambda: sprung_foot("elastic"), "stiffness.spring", 1.0),
    Study("foot with a spring and dissipative limits: stiffness", lambda: sprung_foot("dissipative"), "stiffness.spring", 1.0),
    Study("foot with a load and a motor: mass of the toes", loaded_foot, "mass.toes", 1.0),
    Study("foot with a load and a motor: stiffness of the motor", loaded_foot, "stiffness.ankle_spring", 1.0),
    Study("chain of two hinges with springs: a stiffness", sprung_chain, "stiffness.spring_1", 1.0),
    Study("bouncing ball: stiffness", bouncing_ball, "stiffness.touch", 1.0),
    Study("pendulum of two hinges on a plane: mass of the bob", pendulum_on_plane, "mass.lower", 1.0),
    Study("sledge on a belt: mass", sledge, "mass.board", 1.0, part=8),
    Study("driven leg with a passive ankle: stiffness", with_kernel(driven_leg), "stiffness.spring", 1.0),
    Study("driven leg with limits at its ankle: mass of the foot", with_kernel(driven_leg_with_stops), "mass.foot", 1.0),
    Study("driven leg whose heel and toes touch a plane: mass", with_kernel(driven_leg_on_plane), "mass.foot", 1.0, part=4),
    Study("four-bar linkage whose coupler touches a plane: its mass", four_bar_on_plane, "mass.coupler", 1.0, part=4),
    Study("driven four-bar linkage: mass of the rocker", with_kernel(driven_four_bar), "mass.rocker", 1.0),
    Study("leg and foot driven by gait: mass of the leg", with_kernel(driven_gait), "mass.leg", 1.0, part=4),
    Study("leg and foot driven by gait: length of a link", with_kernel(driven_gait), "l.ankle", 1.0, dict(assemble=True), 4),
    Study("four-bar linkage: mass of the coupler", lambda: models.four_bar.build(crank_speed=1.0), "mass.coupler", 1.0),
    Study("four-bar linkage: a point of the coupler", models.four_bar.build, "s_j.B", 1.0, dict(assemble=True)),
    Study("slider-crank (IFToMM): gravity", with_kernel(slider_crank), "gravity", 1.0),
    Study("Bricard's linkage (IFToMM): gravity", with_kernel(bricard), "gravity", 1.0),
    Study("foot on the ground, 0.05 s", models.foot_ground.build, "mass.toes", 0.05),
    Study("foot on the ground, 0.5 s, dop853", models.foot_ground.build, "mass.toes", 0.5, part=64),
    Study("foot on the ground, elastic limits, 0.05 s", limited_foot_on_ground, "mass.toes", 0.05),
    Study("foot on the ground, elastic limits, 0.5 s, dop853", limited_foot_on_ground, "mass.toes", 0.5, part=64),
    Study("the same, dissipative limits", lambda: limited_foot_on_ground(0.568), "mass.toes", 0.5, part=64),
    Study("leg on a plane with a stop at its knee: mass of the bob", leg_with_knee_stop, "mass.lower", 1.0, part=4),
    Study("chain of five hinges with springs: a stiffness", lambda: sprung_chain(5), "stiffness.spring_1", 1.0),
    Study("satellite with two arms: mass of an arm", floating, "mass.left", 1.0),
)  # fmt: skip
STUDIES = (
    Study("foot on the ground, 0.5 s, auto", models.foot_ground.build, "mass.toes", 0.5, dict(method="auto")),
    Study("foot, elastic limits, absolute", limited_foot, "compliance.talocrural", 1.0, dict(coordinates="absolute")),
)  # fmt: skip
