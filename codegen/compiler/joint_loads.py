"""Normal loads: sizes of the reaction of a joint, on which a force may depend; their rules and kernels.

A load N = h(reaction) multiplies a part of the force, and the force changes the reaction.  The runtime finds both together
(``runtime.dynamics.joint_loads``), which needs h and its slope over the reaction, the part of the force that a load multiplies,
and, for Jacobians, the derivatives of h over displacements and the reaction.  That the solution is unique is decided by the
size of what a load feeds back to itself, which is why h must be a size: h(c R) = |c| h(R), h(R + R') <= h(R) + h(R').
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from codegen.compiler.calculus import BODIES, Expr, vector
from codegen.compiler.force_calculus import REACTION, ForceScope
from codegen.compiler.layout import Layout, kernel
from codegen.compiler.slopes import slope
from codegen.compiler.straight import Lines, indexed
from codegen.compiler.tangents import seeds_of, tangent

COMPONENTS = 6  # of a reaction
SAMPLES, ROUNDING = 20, 1e-9


def reaction_symbols() -> list[Expr]:
    """The components of the reaction: force, moment about the centre of mass of body j."""
    return [s for name in REACTION for s in vector(name)]


def refuse_loads(scope: ForceScope, arguments: dict[str, object], parts: Any) -> None:
    """Refuse reactions outside of loads, loads that are no size of the reaction, and forces that are not linear in them."""
    reaction, loads = set(reaction_symbols()), set(scope.loads)
    for name in ("normal_load", *REACTION):
        used = scope.loads if name == "normal_load" else set(vector(name)) & _symbols(list(scope.loads.values()))
        if name in arguments and not used:
            raise scope.error(f"argument '{name}' is not used in a normal load; use it in normal_load(x), or remove it")
    acting = [parts.dissipation, *(force for _, force in parts.pushes)]
    places = {
        "the potential": [parts.potential], "coordinate(x)": list(scope.coordinates.values()),
        "rate(x)": list(scope.rates.values()), "a coordinate along which a force acts": [x for x, _ in parts.pushes],
    }  # fmt: skip
    for what, expressions in places.items():
        if _symbols(expressions) & (reaction | loads):
            raise scope.error(f"{what} depends on a reaction; loads belong into the dissipation and the forces")
    if _symbols(acting) & reaction:
        raise scope.error("a force depends on the reaction itself; give it the size of one, normal_load(x)")
    if not loads:
        return
    for s in loads:
        if _symbols([slope(e, s) for e in acting]) & loads:
            raise scope.error("a force is not linear in its normal loads; multiply each load by a coefficient")
    if set(scope.bodies[2:]) & {m.body for m in scope.moving.values()}:
        raise scope.error("a force with normal loads acts between the two bodies of a joint; remove bodies k and l")
    known = reaction | {s for m in scope.moving.values() if m.kind not in ("centre", "euler") for s in m.symbols}
    known |= set(scope.parameters.values())
    for e in scope.loads.values():
        if other := _symbols([e]) - known:
            names = ", ".join(sorted(map(str, other)))
            raise scope.error(
                f"a normal load depends on {names}; it may use the reaction, vectors of bodies and constants"
            )
        _refuse_no_size(scope, e)


def _refuse_no_size(scope: ForceScope, load: Expr) -> None:
    """Refuse a load that is no size of the reaction, by its values at random."""
    random, reaction = np.random.default_rng(2), reaction_symbols()
    others = sorted(load.free_symbols - set(reaction), key=str)
    h = sp.lambdify([*reaction, *others], load, cse=True)
    for _ in range(SAMPLES):
        first, second = random.normal(size=(2, COMPONENTS))
        given = random.uniform(0.5, 2.0, size=len(others))
        one, two, scaled, both = (float(h(*R, *given)) for R in (first, second, -3.0 * first, first + second))
        limit = ROUNDING * max(1.0, abs(one), abs(two))
        if not (abs(scaled - 3.0 * one) < 10.0 * limit and both <= one + two + limit and one >= -limit):
            raise scope.error(
                "a normal load must be a size of the reaction, such as a length or a sum of lengths: h(-3 R) = 3 h(R) and "
                f"h(R + R') <= h(R) + h(R'); at random values h(R) = {one:.6g}, h(-3 R) = {scaled:.6g}, h(R') = {two:.6g}, "
                f"h(R + R') = {both:.6g}"
            )


def _symbols(expressions: list[Expr]) -> set[Expr]:
    return set().union(*(sp.sympify(e).free_symbols for e in expressions))


def load_kernels(
    scope: ForceScope, layout: Layout, wrench: tuple[Expr, ...], arguments: tuple[str, ...]
) -> list[Lines]:
    """The kernels of the loads of a force, with bodies i and j."""
    loads, reaction = scope.loads, reaction_symbols()
    sizes = [e for h in loads.values() for e in (h, *(slope(h, s) for s in reaction))]
    acting = [slope(e, s) for s in loads for e in wrench[:12]]
    directions = seeds_of(scope.moving.values(), reaction, BODIES)
    return [
        kernel(layout, "loads", (*arguments, "out"), indexed("out", sizes), "Each load, and its slopes over the reaction"),
        kernel(layout, "load_wrenches", (*arguments, "out"), indexed("out", acting), "Force on body i, j by each load"),
        tangent(
            "loads_tangent", arguments, layout.place, indexed("out", list(loads.values())),
            "Derivatives of the loads; seeds: bodies, reaction", directions, layout.rates, layout.long,
        ),
    ]  # fmt: skip
