"""What the symbols of joints, axes and systems stand for, on random motions."""

from functools import cache
from types import SimpleNamespace

import numpy as np

import runtime
from models import foot
from runtime.dynamics.equations import derivative_once, workspace_for
from tests.support.definitions import module_of
from tests.support.kernels import assembled, call
from tests.support.motions import Motion, derivatives, unit
from tests.support.random_mechanisms import Dense

ROWS = ("Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma")


# What the symbols stand for


def column(v):
    return np.asarray(v, float).reshape(-1, 1)


@cache
def joint_symbols(name, seed, place, right_angle=False, at_rest=""):
    """The papers' symbols of a joint on a random motion; ``m.kernels`` holds what the generated kernels give."""
    rng = np.random.default_rng([seed, *name.encode()])
    module = module_of(name)
    setting, states, start = assembled(module, rng, _set_at_right_angle if right_angle else None)
    motion = Motion.through(states, rng) if place == "on" else Motion(rng)
    if at_rest:
        motion.q[at_rest][1:] = 0.0
    return _symbols(module, setting, motion, start)


def _set_at_right_angle(setting, start):
    a_i = start.A("i", 0.0) @ setting.local["a_i"]
    a_j = start.A("j", 0.0) @ setting.local["a_j"]
    setting.local["a_j"] = start.A("j", 0.0).T @ unit(a_j - a_i * (a_i @ a_j))


def _symbols(module, setting, motion, start):
    m = SimpleNamespace()
    paper = {"s": "sP", "a": "s"}  # the definitions' names and the papers'
    points = {"r_i": lambda t: motion.state("i", t)[:3], "r_j": lambda t: motion.state("j", t)[:3]}
    for name, kind, body in module.VECTORS:
        if kind in ("point", "direction"):
            local = setting.local[name]
            points[f"{paper[name[0]]}_{body}"] = lambda t, b=body, u=local: motion.A(b, t) @ u
            if kind == "direction":
                setattr(m, f"s_{body}_0", column(start.A(body, 0.0) @ local))
            else:
                setattr(m, f"sP_{body}_local", column(local))
    if "sP_i" in points:
        points["d"] = lambda t: points["r_j"](t) + points["sP_j"](t) - points["r_i"](t) - points["sP_i"](t)
        points |= {f"rP_{b}": lambda t, b=b: points[f"r_{b}"](t) + points[f"sP_{b}"](t) for b in "ij"}
        ends = [start.state(b)[:3] + start.A(b, 0.0) @ setting.local[f"s_{b}"] for b in "ij"]
        m.d_0 = column(ends[1] - ends[0])
    for name, path in points.items():
        for suffix, value in zip(("", "_dot", "_ddot"), derivatives(path, 2), strict=True):
            setattr(m, name + suffix, column(value))
    for body in "ij":
        omega, omega_dot = derivatives(lambda t, b=body: motion.omega(b, t), 1)
        vars(m).update(
            {f"w_{body}": column(omega), f"w_{body}_dot": column(omega_dot), f"A_{body}": motion.A(body, 0.0)}
        )
    if "sP_i" in points:  # an arbitrary body with a vector fixed in it
        m.w, m.w_dot, m.s, m.s_dot, m.s_ddot = m.w_i, m.w_i_dot, m.sP_i, m.sP_i_dot, m.sP_i_ddot
    m.l = dict(zip((name for name, _ in module.PARAMETERS), setting.parameters, strict=True)).get("l")
    m.kernels = _kernels(module, setting, motion)
    return m


def _kernels(module, setting, motion):
    body_i, body_j = motion.states()
    x = setting.x(body_i, body_j)
    rows = len(module.ROWS)
    Phi, Phi_dot, D, gamma = call(module.evaluate, body_i, body_j, x, (rows,), (rows,), (rows, 12), (rows,))
    nu = call(module.nu, body_i, body_j, x, rows)
    Phi_ddot = D @ motion.acceleration() - gamma
    values = dict(zip(ROWS, (Phi, Phi_dot, Phi_ddot, D, nu, gamma), strict=True))
    return {name: value if name == "D" else column(value) for name, value in values.items()}


def axes_symbols(seed):
    """The axes of the ankle from the projections of their angles: on a cardinal plane an axis has the tangent it shows."""
    rng = np.random.default_rng(seed)
    rho, theta, epsilon, tau = rng.uniform(-1.3, 1.3, 4) if seed else np.deg2rad([19.8, 35.3, 6.0, 8.0])
    s_i = unit(np.array([1.0, np.tan(rho), np.tan(theta)]))  # transverse plane: y/x; sagittal plane: z/x
    s_j = unit(np.array([np.tan(epsilon), 1.0, np.tan(tau)]))  # transverse plane: x/y; frontal plane: z/y
    real = [np.arctan2(s[2], np.hypot(s[0], s[1])) for s in (s_i, s_j)]  # angle to the transverse plane
    return SimpleNamespace(
        rho=rho,
        theta=theta,
        epsilon=epsilon,
        tau=tau,
        theta_re=real[0],
        tau_re=real[1],
        s_i=column(s_i),
        s_j=column(s_j),
    )


@cache
def system_symbols(seed, place, stabilised):
    """Mass matrix and applied forces of the foot by dense algebra, the rest as the runtime has it."""
    system = foot.build()
    rng = np.random.default_rng(seed)
    data, work, y = system.data, workspace_for(system.data), system.state.y.reshape(-1, 13).copy()
    if not stabilised:
        data = data._replace(alpha=0.0, beta=0.0)
    y[:, 7:] = rng.normal(size=(len(y), 6))
    if place == "off":
        y[:, :3] += 0.01 * rng.normal(size=(len(y), 3))
        y[:, 3:7] += 0.1 * rng.normal(size=(len(y), 4))
        y[:, 3:7] /= np.linalg.norm(y[:, 3:7], axis=1, keepdims=True)
    else:
        y = runtime.assemble(
            system, system.state.replace(v=dict(zip(system.body_names, y[:, 7:10], strict=True)))
        ).y.reshape(-1, 13)
    assert derivative_once(0.0, y.ravel(), data, work, np.empty(y.size)) == 0

    dense = Dense(system, runtime.State(system.body_names, y.ravel()), system.state)
    rows = [(k, r) for k, joint in enumerate(system.joints) for r in range(len(joint.rows))]
    D = np.zeros((len(rows), 6 * (len(y) + 1)))
    for n, (k, r) in enumerate(rows):
        for body, part in ((data.body_i[k], work.D[k, r, :6]), (data.body_j[k], work.D[k, r, 6:])):
            D[n, 6 * body : 6 * body + 6] += part

    def of_rows(table):
        return column([table[k, r] for k, r in rows])

    return SimpleNamespace(
        M=dense.M, g=column(dense.g), D=D[:, 6:], v_dot=column(work.v_dot[1:]), lam=of_rows(work.lam),
        gamma=of_rows(work.gamma), Phi=of_rows(work.Phi), Phi_dot=of_rows(work.Phi_dot),
        alpha=data.alpha, beta=data.beta,
    )  # fmt: skip
