"""Whole-model kernels in plain Python, beside the general evaluation of the same system."""

from types import ModuleType

import numpy as np

from codegen.compiler.whole import emit_model
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OK, STATE
from runtime.dynamics.places import WHOLE

RANDOM = np.random.default_rng(6)


def emitted(system):
    """The emitted module, in plain Python."""
    module = ModuleType("whole_in_python")
    exec(emit_model(system.model), module.__dict__)
    return module


def constants(module, system):
    """What ``prepare`` makes of the parameters of a system."""
    c, parameters = np.zeros((max(module.CONSTANTS, 1), 1)), system.model.parameters
    module.prepare([float(parameters[name][index]) for name, index in module.PARAMETERS], c[:, 0])
    return c


def general(system, y, time=None):
    """State derivative by the joints' kernels, with the accelerations without joints and the signals of it."""
    work, y_dot = workspace_for(system.data), np.empty_like(y)
    assert work.address[WHOLE] == 0
    assert derivative_once(system.time if time is None else time, y, system.data, work, y_dot) == OK
    return y_dot, work


def difference(system, y, time=None, module=None):
    """Largest difference of both, as a fraction of the largest number."""
    module = module or emitted(system)
    expected, work = general(system, y, time)
    found, worst = np.full((len(y), 1), np.nan), np.full((1, 1), np.nan)
    module.derivative.py_func(0, y[:, None], work.free, work.signals, constants(module, system), found, worst)
    return np.abs(found[:, 0] - expected).max() / np.abs(expected).max()


def off(system, y, by):
    """A state near by, off the constraints; bodies fixed to the ground stay."""
    moved = y + by * RANDOM.normal(size=len(y))
    for b, fixed in enumerate(system.model.fixed[1:]):
        if fixed:
            moved[STATE * b : STATE * (b + 1)] = y[STATE * b : STATE * (b + 1)]
    return moved


def operations(module):
    """Of one evaluation, as its docstring tells."""
    return int(module.derivative.py_func.__doc__.split()[-2])
