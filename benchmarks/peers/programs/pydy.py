"""The foot in PyDy: frames and points in SymPy, Kane's equations, Cython, and SciPy's integrator for this accuracy."""

from __future__ import annotations

from functools import cache
from importlib import util
from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import FRAMES, Floats, Foot, MissingError, Prepared, Repeated, frame

NAME, DISTRIBUTION, METHOD, INPUT = "PyDy", "pydy", "Cython, SciPy's DOP853", FRAMES
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 20) for k in range(60, 271)], [10.0**-k for k in range(4, 14)]
REASON = "derives and compiles its equations again for each chain"


def check() -> None:
    """Check that PyDy can compile."""
    if util.find_spec("Cython") is None:
        raise MissingError("Cython, which PyDy needs to compile, is not installed")


@cache
def _derivative(text: str) -> Any:
    import sympy as sp
    from pydy.codegen.ode_function_generators import generate_ode_function
    from sympy.physics import mechanics as me

    foot = Foot.read(text)
    mass, centre, inertia = foot.welded()
    q, u = me.dynamicsymbols("q1 q2"), me.dynamicsymbols("u1 u2")
    g = sp.Symbol("g")
    first, second = frame(foot.talocrural_axis), frame(foot.talocalcaneal_axis)

    def vector(of: Any, components: Floats) -> Any:
        return sum((float(c) * e for c, e in zip(components, (of.x, of.y, of.z), strict=True)), me.Vector(0))

    ground, leg, subtalar = (me.ReferenceFrame(name) for name in ("ground", "leg", "subtalar"))
    leg.orient_dcm(ground, sp.Matrix(first.T))
    link = leg.orientnew("link", "Axis", (q[0], leg.z))
    subtalar.orient_dcm(link, sp.Matrix(second.T @ first))
    own = subtalar.orientnew("own", "Axis", (q[1], subtalar.z))
    link.set_ang_vel(ground, u[0] * link.z)
    own.set_ang_vel(link, u[1] * own.z)
    P = me.Point("P")
    P.set_vel(ground, 0)
    Q = P.locatenew("Q", vector(link, first.T @ np.subtract(foot.talocalcaneal, foot.talocrural)))
    C = Q.locatenew("C", vector(own, second.T @ (centre - foot.talocalcaneal)))
    Q.v2pt_theory(P, ground, link)
    C.v2pt_theory(Q, ground, own)
    J = second.T @ inertia @ second
    moments = me.inertia(own, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[1, 2], J[0, 2])
    body = me.RigidBody("foot", C, own, mass, (moments, C))
    kane = me.KanesMethod(ground, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)])
    size = float(np.linalg.norm(foot.gravity))
    kane.kanes_equations([body], [(C, mass * g * vector(ground, np.array(foot.gravity) / size))])
    function = generate_ode_function(
        kane.forcing, q, u, [g], mass_matrix=kane.mass_matrix, coordinate_derivatives=sp.Matrix(u), generator="cython"
    )
    constants = np.array([size])
    return lambda t, x: function(x, t, constants).copy()  # it overwrites its result in the next call


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """With step control."""
    from scipy.integrate import solve_ivp

    derivative, evaluations = _derivative(foot.text()), 0

    def solve() -> Any:
        nonlocal evaluations
        found = solve_ivp(derivative, (0.0, end), np.zeros(4), method="DOP853", rtol=setting, atol=setting)
        evaluations = found.nfev
        return found

    def motion() -> tuple[Floats, Floats]:
        found = solve()
        return found.t, reduced_foot.positions(foot, found.y[0], found.y[1])

    return Prepared(solve, motion, lambda: evaluations)


def evaluation(foot: Foot) -> Repeated:
    """The compiled function, called from Python, as SciPy does."""
    derivative, x, times = _derivative(foot.text()), np.zeros(4), 2000

    def job() -> None:
        for _ in range(times):
            derivative(0.0, x)

    return Repeated(job, times)
