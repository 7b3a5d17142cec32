"""The energy of a law of muscles against its work, by its kernels and without SymPy."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType

import numpy as np

from codegen.compiler.errors import DefinitionError

POWER = "fiber_power"
INPUTS, FIRST = 3, 2  # numbers before the states in what a kernel takes, and before their rates in what it gives
PLACES, WRONG = 20, 1e-6  # at which the energy is compared; a difference, of the largest term, that is no rounding


def refuse_wrong_energy(module: ModuleType) -> None:
    """Refuse a law whose energy does not change by the work, energy' = tension length' + fiber_power, if it reports this power.

    It is compared at random values, which need no meaning; of laws with smooth corners tests follow the energies.

    Raises
    ------
    DefinitionError
        Naming the law and the difference.
    """
    names = [name for name, _ in module.OUTPUTS]
    if POWER not in names or hasattr(module, "corner"):
        return
    states, draw = len(module.STATES), np.random.default_rng(0)
    for kernel in ("law", "rigid")[: 1 + module.RIGID]:
        of = [getattr(module, name) for name in (kernel, f"{kernel}_tangent")]
        evaluate, tangent_of = (getattr(f, "py_func", f) for f in of)  # without a compile
        for _ in range(PLACES):
            x, c = draw.uniform(0.2, 1.5, INPUTS + states), draw.uniform(0.2, 1.5, len(module.PARAMETERS))
            out, slopes = np.zeros(len(names) + states), np.zeros((FIRST + states, 1))
            terms = np.zeros(3)
            with suppress(ArithmeticError, ValueError):  # values without a meaning
                evaluate(x, c, out)
                tangent_of(x, c, np.array([[x[1]], [0.0], [0.0], *out[FIRST : FIRST + states, None]]), slopes)
                terms[:] = slopes[1, 0], -out[0] * x[1], -out[states + names.index(POWER)]
            if abs(terms.sum()) > WRONG * np.abs(terms).max():
                raise DefinitionError(
                    f"definition '{module.NAME}': its energy does not change by the work: energy' = {terms[0]:.4g} W where "
                    f"tension length' + {POWER} = {-terms[1:].sum():.4g} W; correct the energy, or leave out {POWER}"
                )
