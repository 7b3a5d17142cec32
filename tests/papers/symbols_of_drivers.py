"""What the symbols of drivers stand for, on random motions."""

from functools import cache
from types import SimpleNamespace

import numpy as np

from tests.papers.symbols import _kernels, column
from tests.support.definitions import bodies_of, module_of
from tests.support.kernels import Setting, assembled, call
from tests.support.motions import G, Motion, derivatives, polynomial, unit

# Drivers: what the kernels say, and the papers' symbols for it

# The definitions' names and the papers', whose s_i is the axis.
IN_SECTION_6 = {"s_i": "sP_i", "s_j": "sP_j", "a_i": "a_i", "b_j": "b_j", "h_i": "s_i"}
WITH_ANY_AXES, AT_REST = "off, a_i not perpendicular to s_i", "off, both bodies at rest"


@cache
def driver_symbols(name, seed, place):
    """The symbols of a driver on a random motion.  The guided Euler parameter is that of ``seed`` modulo 4.

    "on": the signal is where the bodies are, and as fast; a link is that of a modified universal joint whose rows hold too.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    module, motion, m = module_of(name), Motion(rng), SimpleNamespace()
    setting = Setting(module, rng)
    if name == "cosine_of_link" and place == "on":
        joint, states, _ = assembled(module_of("modified_universal"), rng)
        motion = Motion.through(states, rng)
        setting.local |= {"s_i": joint.local["s_i"], "s_j": joint.local["s_j"], "h_i": joint.local["a_i"]}
        rows = (4,), (4,), (4, 12), (4,)
        m.joint = call(joint.module.evaluate, *motion.states(), joint.x(*motion.states()), *rows)
    if name == "cosine_of_link" and place != WITH_ANY_AXES:
        setting.local["a_i"] = unit(np.cross(setting.local["h_i"], rng.normal(size=3)))
    if name == "euler_parameter":
        setting.parameters = np.eye(4)[seed % 4]
    if place == AT_REST:
        for body in "ij":
            motion.r[body][1:], motion.q[body][1:] = 0.0, 0.0
    if place == "on":
        follow(setting, motion)

    paths = {"r_i": lambda t: motion.state("i", t)[:3], "r_j": lambda t: motion.state("j", t)[:3]}
    for vector, _, body in module.VECTORS:
        paths[IN_SECTION_6[vector]] = lambda t, b=body, u=setting.local[vector]: motion.A(b, t) @ u
    if "sP_i" in paths:
        paths["rP_i"] = lambda t: paths["r_i"](t) + paths["sP_i"](t)
    if "sP_j" in paths:
        paths["d"] = lambda t: paths["r_j"](t) + paths["sP_j"](t) - paths["rP_i"](t)
        paths["d_p"] = lambda t: -np.cross(paths["s_i"](t), np.cross(paths["s_i"](t), paths["d"](t)))
    if name == "euler_parameter":
        paths["G_k"] = lambda t: G(motion.state("i", t)[3:7])[:, seed % 4]
        m.e = motion.state("i")[3 + seed % 4]
    for symbol, path in paths.items():
        for suffix, value in zip(("", "_dot", "_ddot"), derivatives(path, 2), strict=True):
            setattr(m, symbol + suffix, column(value))
    for body in "ij":
        setattr(m, f"w_{body}", column(motion.omega(body, 0.0)))
    symbol = {"guided_point": "c", "euler_parameter": "e_k", "cosine_of_angle": "theta", "cosine_of_link": "beta"}[name]
    for order, suffix in enumerate(("", "_dot", "_ddot")):
        value = column([polynomial(c, 0.0, order) for c in setting.signals])
        setattr(m, symbol + suffix, value if len(value) > 1 else value.item())

    body_i, body_j = motion.states()
    rows = len(module.ROWS)
    m.dPhi_dt = column(
        derivatives(lambda t: call(module.phi, body_i, body_j, setting.x(body_i, body_j, t), rows), 1)[1]
    )
    m.kernels, m.r_and_w = _kernels(module, setting, motion), (body_i[:3], body_j[:3])
    if bodies_of(name) == {"i"}:
        assert not m.kernels["D"][:, 6:].any()
        m.kernels["D"] = m.kernels["D"][:, :6]
    return m


def follow(setting, motion):
    """Give the signals the values and rates that the motion has."""
    module, h = setting.module, 1e-30
    bodies, rows = motion.states(), len(module.ROWS)
    setting.signals[:, 0] = np.pi / 2

    def left(x, order):
        if order == 0:
            return call(module.phi, *bodies, x, rows)
        return call(module.jacobian, *bodies, x, (rows, 12)) @ motion.velocity() - call(module.nu, *bodies, x, rows)

    for order in (0, 1):
        places = range(module.SIZE - 3 * len(setting.signals) + order, module.SIZE, 3)
        for _ in range(20):
            x = setting.x(*bodies)
            slope = np.array([left(x + 1j * h * np.eye(len(x))[k], order).imag / h for k in places]).T
            setting.signals[:, order] -= np.linalg.solve(slope, left(x, order))
