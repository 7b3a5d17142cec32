"""Laws of muscles: their kernels as Python functions of named numbers."""

from types import FunctionType

import numpy as np

from generated import (
    muscle_de_groote_as_opensim,
    muscle_de_groote_as_published,
    muscle_millard_as_opensim,
    muscle_millard_as_published,
    muscle_thelen_as_opensim,
    muscle_thelen_as_published,
)

MODULES = {
    module.NAME: module
    for module in (
        muscle_thelen_as_published,
        muscle_thelen_as_opensim,
        muscle_millard_as_published,
        muscle_millard_as_opensim,
        muscle_de_groote_as_published,
        muscle_de_groote_as_opensim,
    )
}
INPUTS = ("length", "length_dot", "excitation")
# A pennate muscle with a long tendon.
PENNATE = dict(
    max_isometric_force=6194.8, optimal_fiber_length=0.044, tendon_slack_length=0.277, pennation_angle_at_optimal=0.38
)


def python(module, kernel):
    """A kernel as a Python function."""
    f = getattr(module, kernel).py_func
    solver = {"corner": module.corner.py_func} if hasattr(module, "corner") else {}
    return FunctionType(f.__code__, {**f.__globals__, **solver})


def states_of(module):
    """Names of the states."""
    return tuple(name for name, _ in module.STATES)


def outputs_of(module):
    """Names of the outputs in their order."""
    names = [name for name, _ in module.OUTPUTS]
    return [*names[:2], *(f"rate of {name}" for name in states_of(module)), *names[2:]]


def arrays(module, **values):
    """x and c of a kernel, with defaults; values of other names are left out."""
    x = [values.get(name, 0.0) for name in (*INPUTS, *states_of(module))]
    return np.array(x, float), np.array([values.get(n, module.DEFAULTS.get(n, np.nan)) for n in module.PARAMETERS])


def evaluated(module, kernel, x, c):
    """Outputs (outputs,) of a law; NaN where it writes none."""
    out = np.full(len(outputs_of(module)), np.nan)
    python(module, kernel)(x, c, out)
    return out


def outputs(module, kernel, **values):
    """Outputs of a law by name."""
    return dict(zip(outputs_of(module), evaluated(module, kernel, *arrays(module, **values)), strict=True))
