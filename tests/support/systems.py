"""Systems that exercise the equations of motion: the models, limits, motors and contacts."""

import numpy as np

import runtime
from models import chain, double_pendulum, foot, four_bar, free_body, hooke_shaft, pendulum
from runtime import Builder, Signal


def spun(system, seed=4):
    """The initial state with random velocities that the joints allow."""
    rng = np.random.default_rng(seed)
    omega = {name: rng.normal(size=3) for name in system.body_names}
    return runtime.assemble(system, system.state.replace(omega=omega))


BUILDS = {
    "chain": lambda: chain.build(4),
    "double_pendulum": double_pendulum.build,
    "four_bar": four_bar.build,
    "free_body": free_body.build,
    "hooke_shaft": hooke_shaft.build,
    "foot, classical": lambda: foot.build("classical"),
    "foot, modified": foot.build,
    "pendulum": lambda: pendulum.build("spherical", omega=(0.3, 1.0, 2.0)),
}
LIMITED = {
    "elastic": dict(limits="elastic"),
    "dissipative": dict(limits="dissipative"),
    "printed law": dict(limits="elastic", law="as_published"),
    "one cone": dict(ankle="classical", limits="elastic", preset="published"),
    "one cone, printed law": dict(ankle="classical", limits="elastic", preset="published", law="as_published"),
    "crossed hinges": dict(ankle="classical", limits="dissipative"),
}


def powered(axes="global", point=None):
    """A leg on a ball joint with a foot on a motor, pushed by loads."""
    b = Builder("powered")
    b.body("leg", mass=3.0, inertia=(0.04, 0.05, 0.01), r=(0, 0, 0.3), guess=True)
    b.body("foot", mass=1.0, inertia=(0.001, 0.004, 0.003), r=(0.05, 0, 0.02), omega=(0.0, 2.0, 0.0), guess=True)
    b.joint("knee", "spherical", "ground", "leg", s_i=(0, 0, 0.6), s_j=(0, 0, 0.3))
    b.joint("ankle", "revolute", "leg", "foot", s_i=(0, 0, -0.25), a_i=(0, 1, 0), s_j=(-0.05, 0, 0.03), a_j=(0, 1, 0))
    b.motor(
        "muscle", "guided_angle", "leg", "foot", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(0.6, 0, 0.8), theta_t=0.4,
        effort=Signal.function(lambda t: 3.0 * np.sin(t), 0.0, 2.0),
        stiffness=40.0, damping=2.0,
    )  # fmt: skip
    b.load("push", "foot", force=(3.0, -5.0, 20.0), moment=(0.3, 1.0, -2.0), axes=axes, point=point)
    return b.build(project_velocities=True)


def slider(law, friction, tilt=0.3, plane="ground", **parameters):
    """A foot-like block with four spheres on a tilted plane, pressed in and slipping."""
    b = Builder("slider")
    b.body(
        "block",
        mass=1.3,
        inertia=(0.003, 0.004, 0.005),
        r=(0, 0, 0.0485),
        v=(0.3, 0.1, -0.25),
        omega=(0.2, -0.1, 0.3),
        free=True,
    )
    n = (np.sin(tilt), 0.0, np.cos(tilt))
    if plane != "ground":
        b.body(plane, mass=20.0, inertia=(1.0, 1.2, 2.0), v=(0.1, 0.2, 0.0), omega=(0.1, 0.2, -0.1), free=True)
    common = (
        dict(law=law, friction=friction, normal=n, plane=plane, mu_c=0.6, mu_d=3.0)
        if friction
        else dict(law=law, normal=n, plane=plane)
    )
    for k, (x, y) in enumerate([(0.08, 0.03), (0.08, -0.03), (-0.08, 0.03), (-0.08, -0.03)]):
        belt = dict(belt=(0.0, 1.0, 0.0), belt_speed=-0.7) if k == 0 else {}
        # On the tilted plane, each sphere 2 mm deep.
        z = -(x * n[0]) / n[2] - 0.0485 + 0.018 / n[2]
        b.contact(f"sole_{k}", "block", centre=(x, y, z), radius=0.02, **common, **belt, **parameters)
    return b.build()


LAWS = {
    "kelvin_voigt": dict(stiffness=4e4, exponent=1.0, damping=300.0),
    "hertz": dict(stiffness=1e6),
    "hunt_crossley": dict(stiffness=1e6, exponent=1.5, loss=0.5),
    "lankarani_nikravesh": dict(stiffness=1e6, exponent=1.5, restitution=0.7),
    "flores": dict(stiffness=1e6, exponent=1.5, restitution=0.7),
}
