"""Random trees and loops with joint limits, contacts and forces, up to six of them.

Stiffnesses and moments are drawn relative to the mass, size and pace of the mechanism, so that they matter and are resolved by
an explicit method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.random import planar, spatial
from benchmarks.random.actions import table_of
from benchmarks.random.mechanism import GROUND, Contact, Floats, Force, Joint, Limit, Mechanism
from benchmarks.random.planar import Random, log_uniform, unit
from benchmarks.random.spatial import random_axis
from benchmarks.random.trees import tree

LIMITS = {
    "spherical": "cone", "revolute": "hinge", "cylindrical": "hinge", "universal": "cross_hinge",
    "modified_universal": "link_hinge",
}  # fmt: skip
FORCES = (
    "spring_damper", "torsional_spring", "bushing", "stop", "cable", "tendon", "tabulated_spring", "tabulated_tendon",
    "hinge_friction", "slider_friction",
)  # fmt: skip
LAWS = ("kelvin_voigt", "hertz", "hunt_crossley")
SHARE, OUTPUTS = (
    0.2,
    6,
)  # of the duration and of the times of others: impacts make a motion unpredictable, and take small steps
TOLERANCES = 1e-11, 1e-9  # of the second method


def acting_tree(random: Random) -> Mechanism:
    """A tree of one to four bodies with limits, contacts and forces."""
    return _with_actions(tree(random, most=4, plain=True), random)


def acting_loop(random: Random) -> Mechanism:
    """A planar or spatial loop with limits, contacts and forces."""
    loops = (planar.four_bar, planar.slider_crank, planar.polygon, spatial.spatial_loop, spatial.spherical_four_bar)
    return _with_actions(loops[random.integers(len(loops))](random), random)


def _with_actions(m: Mechanism, random: Random) -> Mechanism:
    scale = _Scale(m, random)
    limited: set[tuple[str, str]] = set()
    kinds = []
    for n in range(int(random.integers(1, 5))):
        kind = str(random.choice(["limit", "contact", "force", "force"]))
        if kind == "limit":
            _limit(m, random, f"limit_{n}", scale, limited)
        elif kind == "contact":
            _contact(m, random, f"contact_{n}", scale)
        else:
            kinds.append(_force(m, random, f"force_{n}", scale))
    m.share, m.outputs, m.tolerances = SHARE, OUTPUTS, TOLERANCES
    named = [*(one.kind for one in m.limits), *(one.law for one in m.contacts), *kinds]
    m.note = " ".join(filter(None, [m.note, *named]))
    return m


class _Scale:
    """Units of stiffness [N/m] and of moments [N m] that matter, and the pace [1/s]."""

    def __init__(self, m: Mechanism, random: Random) -> None:
        self.size, self.mass = m.size, min(b.mass for b in m.bodies.values())
        self.pace = max(float(np.sqrt(np.linalg.norm(m.gravity) / m.size)), 1.0) * log_uniform(random, 1.0, 8.0)

    @property
    def stiffness(self) -> float:
        return self.mass * self.pace**2

    @property
    def moment(self) -> float:
        return self.stiffness * self.size**2


def _across(axis: Floats, random: Random) -> Floats:
    return unit(np.cross(axis, random_axis(random)))


def _limit(m: Mechanism, random: Random, name: str, scale: _Scale, limited: set[tuple[str, str]]) -> None:
    """Limit the motion of a joint, which may have one limit for each reference body."""
    choices = [(j, side) for j in m.joints if j.kind in LIMITS for side in "ij" if (j.name, side) not in limited]
    if not choices:
        return
    joint, side = choices[random.integers(len(choices))]
    limited |= {(joint.name, side)} if joint.kind == "modified_universal" else {(joint.name, "i"), (joint.name, "j")}
    other = "j" if side == "i" else "i"
    reference, moving = getattr(joint, side), getattr(joint, other)
    kind = LIMITS[joint.kind]
    xi, eta, direction = _frame_of(m, random, joint, kind, side, other)
    nothing = np.zeros(3)
    axes = joint.values.get(f"a_{side}", nothing), joint.values.get(f"a_{other}", nothing)
    points = joint.values.get(f"s_{side}", nothing), joint.values.get(f"s_{other}", nothing)
    held = 0.0
    if kind == "cross_hinge":
        A = _turn(m, reference)
        n = np.cross(A @ axes[0], _turn(m, moving) @ axes[1])
        held = float(np.arctan2(n @ A @ eta, n @ A @ np.cross(xi, eta)))
    latitudes = np.deg2rad(random.uniform(10.0, 70.0, 4))
    m.limits.append(Limit(
        name, kind, joint.name, reference, moving, xi, eta, latitudes, scale.moment * log_uniform(random, 0.3, 10.0),
        float(np.deg2rad(random.uniform(8.0, 30.0))), scale.moment / scale.pace * float(random.choice([0.0, 0.1])),
        direction, axes, points, held,
    ))  # fmt: skip


def _turn(m: Mechanism, body: str) -> Floats:
    return np.eye(3) if body == GROUND else m.bodies[body].A


def _frame_of(
    m: Mechanism, random: Random, joint: Joint, kind: str, side: str, other: str
) -> tuple[Floats, Floats, Floats]:
    """Xi and eta in axes of the reference body, and the direction of the moving body that is restrained."""
    reference, moving = getattr(joint, side), getattr(joint, other)
    A = _turn(m, reference)
    if kind == "cone":
        zeta = random_axis(random)
        xi = _across(zeta, random)
        u = unit(A @ zeta + 0.3 * random.standard_normal(3))
        return xi, np.cross(zeta, xi), _turn(m, moving).T @ u
    xi = np.array(joint.values[f"a_{side}"])
    zeta = _across(xi, random)
    if kind == "link_hinge":
        ends = [_place(m, body, joint.values[f"s_{s}"]) for body, s in ((reference, side), (moving, other))]
        d = A.T @ (ends[1] - ends[0])
        zeta = unit(d - (d @ xi) * xi)
    return xi, np.cross(zeta, xi), _turn(m, moving).T @ A @ zeta


def _place(m: Mechanism, body: str, s: Floats) -> Floats:
    return s if body == GROUND else m.bodies[body].r + m.bodies[body].A @ s


def _pair(m: Mechanism, random: Random) -> tuple[str, str]:
    """Two bodies, or the ground and a body."""
    i, j = random.choice([GROUND, *m.bodies], 2, replace=False)
    return str(i), str(j)


def _near(m: Mechanism, random: Random, body: str) -> Floats:
    """A point near a body, in global coordinates."""
    middle = np.mean([b.r for b in m.bodies.values()], axis=0) if body == GROUND else m.bodies[body].r
    return np.asarray(middle + 0.3 * m.size * random.standard_normal(3))


def _contact(m: Mechanism, random: Random, name: str, scale: _Scale) -> None:
    """A sphere of a body on a plane that it does not touch yet, or barely."""
    plane, body = _pair(m, random)
    if body == GROUND:
        plane, body = body, plane
    centre, normal = _near(m, random, body), random_axis(random)
    if random.random() < 0.6 and np.linalg.norm(m.gravity) > 0:
        normal = unit(0.5 * normal - m.gravity / np.linalg.norm(m.gravity))
    radius = m.size * random.uniform(0.02, 0.2)
    gap = m.size * random.uniform(-0.02, 0.3)
    point = centre - (radius + gap) * normal + m.size * random.uniform(-0.5, 0.5) * _across(normal, random)
    law = str(random.choice(LAWS))
    depth = 0.05 * m.size
    stiffness = 5.0 * scale.stiffness * log_uniform(random, 1.0, 10.0)
    exponent = 1.5 if law == "hertz" else float(random.choice([1.0, 1.5, 2.0]))
    parameters = {"stiffness": stiffness * depth ** (1 - exponent)}
    if law != "hertz":
        parameters["exponent"] = exponent
    if law == "kelvin_voigt":
        parameters["damping"] = 0.1 * scale.mass * scale.pace
    elif law == "hunt_crossley":
        parameters["loss"] = random.uniform(0.0, 0.5) / (scale.pace * m.size)
    friction = [None, "coulomb", "smooth"][random.integers(3)]
    if friction:
        parameters |= {
            "mu_c": random.uniform(0.1, 0.8), "mu_d": float(random.choice([0.0, 0.05 * scale.mass * scale.pace])),
            "transition_velocity": 0.3 * m.size * scale.pace,
        }  # fmt: skip
    m.contacts.append(Contact(
        name, body, plane, m.point(body, centre), radius, m.point(plane, point), m.direction(plane, normal), law, friction,
        parameters,
    ))  # fmt: skip


def _force(m: Mechanism, random: Random, name: str, scale: _Scale) -> str:
    """A force of any kind between two bodies; of angles only where a hinge keeps them apart from a singular pose."""
    kind = str(random.choice(FORCES))
    hinges = [joint for joint in m.joints if joint.kind in ("revolute", "cylindrical")]
    if kind == "torsional_spring" and not hinges:
        kind = "spring_damper"
    i, j = _pair(m, random)
    across = None
    damping = scale.stiffness / scale.pace * float(random.choice([0.0, 0.1]))
    ends = {"s_i": m.point(i, _near(m, random, i)), "s_j": m.point(j, _near(m, random, j))}
    values: dict[str, Any]
    others: list[str] = []
    if kind == "torsional_spring":
        i, j, values, across = _torsional(m, random, scale, hinges)
    elif kind == "bushing":
        values, across = _bushing(m, random, scale, i, j, damping)
        values |= ends
    elif kind == "stop":
        values = ends | {
            "a_i": random_axis(random), "stiffness": 3.0 * scale.stiffness, "exponent": 1.0, "loss": 0.1 / (scale.pace * m.size),
            "clearance": m.size * random.uniform(-1.0, 0.2),
        }  # fmt: skip
    elif kind.endswith("friction"):
        values = {"a_i": random_axis(random), "damping": damping * (m.size**2 if kind == "hinge_friction" else 1.0)}
        amount = 0.2 * scale.stiffness * m.size * (m.size if kind == "hinge_friction" else 1.0)
        transition_velocity = 0.5 * scale.pace * (m.size if kind == "slider_friction" else 1.0)
        values |= {"friction": amount, "transition_velocity": transition_velocity} | (
            ends if kind == "slider_friction" else {}
        )
    else:
        others = [str(b) for b in random.choice([GROUND, *m.bodies], 2)] if "tendon" in kind else []
        values = ends | {s: m.point(b, _near(m, random, b)) for s, b in zip(("s_k", "s_l"), others, strict=False)}
        values |= _lengthwise(m, kind, random, scale, damping)
        across = table_of(values["tension_table"]) if "tension_table" in values else None
    m.forces.append(Force(name, kind, (i, j, *others), values, across))
    return kind


def _torsional(
    m: Mechanism, random: Random, scale: _Scale, hinges: list[Joint]
) -> tuple[str, str, dict[str, Any], Any]:
    """A spring about a hinge; across: two directions of body i, and the first as carried by body j."""
    joint = hinges[random.integers(len(hinges))]
    axis = joint.values["a_i"]
    b = _across(axis, random)
    carried = _turn(m, joint.j).T @ _turn(m, joint.i) @ b
    values = {
        "a_i": axis, "stiffness": scale.moment * log_uniform(random, 0.1, 1.0), "free_angle": random.uniform(-0.5, 0.5),
        "damping": scale.moment / scale.pace * float(random.choice([0.0, 0.1])),
    }  # fmt: skip
    return joint.i, joint.j, values, (b, np.cross(axis, b), carried)


def _bushing(
    m: Mechanism, random: Random, scale: _Scale, i: str, j: str, damping: float
) -> tuple[dict[str, Any], Floats]:
    """A bushing with stiff angles, or without moments, and the axes of body i as carried by body j."""
    values: dict[str, Any] = {}
    turning = float(random.choice([0.0, 1.0]))
    for name in ("xi", "eta", "zeta"):
        values |= {
            f"k_{name}": scale.stiffness * log_uniform(random, 0.1, 1.0), f"c_{name}": damping,
            f"kt_{name}": turning * scale.moment * log_uniform(random, 0.3, 3.0),
            f"ct_{name}": turning * damping * m.size**2,
        }  # fmt: skip
    return values, _turn(m, j).T @ _turn(m, i)


def _lengthwise(m: Mechanism, kind: str, random: Random, scale: _Scale, damping: float) -> dict[str, Any]:
    """Parameters of springs, cables and tendons."""
    size, k = m.size, scale.stiffness * log_uniform(random, 0.1, 1.0)
    if kind.startswith("tabulated"):
        lengths = size * np.array([0.0, 0.5, 1.0, 1.5, 2.5])
        table = np.column_stack([lengths, k * size * np.sort(random.uniform(-0.3, 1.5, 5))])
        return {"tension_table": table, "damping": damping}
    if kind == "spring_damper":
        return {"stiffness": k, "damping": damping, "free_length": size * random.uniform(0.0, 1.0)}
    loss = float(random.choice([0.0, 0.1])) / (scale.pace * size)
    return {"stiffness": k, "loss": loss, "slack_length": size * random.uniform(0.1, 2.0)}
