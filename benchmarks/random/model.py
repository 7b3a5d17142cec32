"""A mechanism as a system of Talus."""

from __future__ import annotations

import numpy as np

from benchmarks.random.mechanism import Mechanism
from benchmarks.random.second import quaternion
from runtime import Builder, Cone, System
from runtime.system.cone import QUADRANTS
from runtime.system.signal import Signal


def system_of(m: Mechanism, name: str) -> System:
    """Build the system; drivers are splines through samples of their polynomials, which they reproduce."""
    b = Builder(name, gravity=m.gravity)
    for body in m.bodies.values():
        b.body(
            body.name, mass=body.mass, inertia=body.J, r=body.r, p=quaternion(body.A), v=body.v, omega=body.w, free=True
        )
    for joint in m.joints:
        if joint.signal is None:
            b.joint(joint.name, joint.kind, joint.i, joint.j, **joint.values)
            continue
        t = np.linspace(0.0, 1.01 * m.t_end, 12)
        signal = Signal.spline(t, np.polynomial.Polynomial(joint.signal)(t))
        # The body whose axes are given first is body i of the definition.
        b.driver(joint.name, joint.kind, joint.i, joint.j, **joint.values, theta_t=signal)
    for s in m.springs:
        target = {"theta_t": s.target} if s.kind == "guided_angle" else {"l_t": s.target}
        b.motor(s.name, s.kind, s.i, s.j, stiffness=s.stiffness, damping=s.damping, **s.values, **target)
    add_actions(b, m)
    return b.build()


def add_actions(b: Builder, m: Mechanism) -> None:
    """Add limits, contacts and forces."""
    for limit in m.limits:
        b.limit(
            limit.name, limit.joint, reference=limit.reference, xi=limit.xi, eta=limit.eta,
            cone=Cone(QUADRANTS, [*limit.latitudes, limit.latitudes[0]]), max_moment=limit.max_moment,
            compliance=limit.compliance, damping=limit.damping,
            direction=limit.direction if limit.kind == "cone" else None,
        )  # fmt: skip
    for contact in m.contacts:
        parameters = dict(contact.parameters)
        b.contact(
            contact.name, contact.body, centre=contact.centre, radius=contact.radius, law=contact.law,
            friction=contact.friction, plane=contact.plane, point=contact.point, normal=contact.normal,
            transition_velocity=parameters.pop("transition_velocity", None), **parameters,
        )  # fmt: skip
    for force in m.forces:
        i, j, *others = force.bodies
        more = dict(zip(("body_k", "body_l"), others, strict=False))
        b.force(force.name, force.kind, i, j, **more, **force.values)
