"""The checks of a joint's kernels: each returns the distance of a kernel from the truth."""

import inspect

import numpy as np
import sympy as sp

from codegen import Vector
from tests.support.motions import distance

TOLERANCE = 1e-11  # relative to the largest of 1 and the quantity
SEEDS = range(3)
KERNELS = ("phi", "jacobian", "nu", "gamma", "reference", "evaluate")


def as_defined(c):
    """The rows of the definition itself, and what it holds and carries, in numbers."""
    vectors = {v[0]: Vector(*c.x[3 * n : 3 * n + 3]) for n, v in enumerate(c.module.VECTORS)}
    numbers = iter(c.x[3 * len(vectors) :])
    known = {
        "r_i": Vector(*c.body_i[:3]),
        "r_j": Vector(*c.body_j[:3]),
        "p_i": sp.Matrix(c.body_i[3:7]),
        "p_j": sp.Matrix(c.body_j[3:7]),
        **vectors,
        **{name: next(numbers) for name, _ in c.module.PARAMETERS},
    }
    constants = [next(numbers) for _ in range(c.module.HELD)]
    known |= {name: [next(numbers) for _ in range(3)][0] for name in c.module.SIGNALS}
    held, carried, signs = [], [], []

    def hold(value):
        if isinstance(value, Vector):
            return Vector(*map(hold, value))
        held.append(value)
        return value - constants[len(held) - 1]

    def carry(value):
        carried.extend(value)
        return next(v for n, v in vectors.items() if n.startswith(f"carried{len(carried) // 3 - 1}_"))

    def across(a):
        name = next(n for n, v in vectors.items() if v is a)
        return vectors[f"across1_{name}"], vectors[f"across2_{name}"]

    known |= {"held": hold, "carried": carry, "across": across, "keeps_sign": signs.append}
    rows = c.definition(**{name: known[name] for name in inspect.signature(c.definition).parameters})
    Phi = [part for row in rows.values() for part in (row if isinstance(row, Vector) else (row,))]
    return np.array(Phi, float), np.array([*carried, *held, *signs], float)


def phi_is_the_definition(c, module):
    return distance(c.run("phi", module), as_defined(c)[0])


def reference_is_the_definition(c, module):
    return distance(c.run("reference", module), as_defined(c)[1])


def velocity_equation(c, module):
    """Phi' = D v - nu."""
    return distance(c.run("jacobian", module) @ c.v - c.run("nu", module), c.rates[1])


def acceleration_equation(c, module):
    """Phi'' = D v' - gamma."""
    return distance(c.run("jacobian") @ c.v_dot - c.run("gamma", module), c.rates[2])


def evaluate_is_all_of_them(c, module):
    Phi, Phi_dot, D, gamma = c.run("evaluate", module)
    parts = [(Phi, c.run("phi")), (Phi_dot, c.rates[1]), (D, c.run("jacobian")), (gamma, c.run("gamma"))]
    return max(distance(a, b) for a, b in parts)


CHECKS = {
    "phi": phi_is_the_definition,
    "jacobian": velocity_equation,
    "nu": velocity_equation,
    "gamma": acceleration_equation,
    "reference": reference_is_the_definition,
    "evaluate": evaluate_is_all_of_them,
}
