"""Laws of muscles on rigid tendons, and of limits of coordinates, at many times at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from generated import force_hinge_limit as hinge_limit
from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import STATE
from runtime.jit.python_code import with_arrays
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.connection import checked_parameter
from runtime.system.muscle_modules import LAWS

FORCES = ("tension", "energy")  # which precede the rates of the states in what the kernels of muscles give
MOMENT_J = 6 + 5  # place of the moment on body j about z among them


class _Numbers(np.ndarray):
    """Arrays whose whole powers are products; NumPy takes three times as long for powers."""

    def __pow__(self, exponent: Any) -> Any:  # type: ignore[override]
        whole = isinstance(exponent, int) and exponent > 0
        return reduce(mul, [self] * exponent) if whole else super().__pow__(exponent)


@checked
def rigid_muscle(
    law: str, length: ArrayLike, length_dot: ArrayLike, constants: Mapping[str, ArrayLike]
) -> dict[str, Floats]:
    """Quantities that a law reports of muscles on rigid tendons at full activation, by name, in the shape of ``length``.

    Parameters
    ----------
    law : str
        A definition of ``codegen.muscles`` with a rigid tendon, such as "thelen_as_opensim".
    length, length_dot : (...) [m], [m/s]
        Of the path, and its rate.
    constants : mapping of str to (...)
        Constants of the law, numbers or arrays that fit the shape of ``length``; default: those of the law.  Others have no
        effect.

    Raises
    ------
    ModelError
        For an unknown law, constants that are missing or beyond their bounds, and arrays that do not fit.
    """
    c = [of.view(_Numbers) for of in rigid_constants(law, constants, "rigid_muscle").values()]
    module = LAWS[law]
    path = [floats(of, name, "numbers").view(_Numbers) for name, of in (("length", length), ("length_dot", length_dot))]
    shape = path[0].shape
    try:
        fits = path[1].shape == shape and np.broadcast_shapes(shape, *(of.shape for of in c)) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ModelError(f"rigid_muscle: length_dot and constants do not fit the shape {shape} of length; give as many")
    names = [*FORCES, *(name for name, _ in module.STATES), *(name for name, _ in module.OUTPUTS[len(FORCES) :])]
    out, full = np.zeros((len(names), *shape)), np.ones(shape).view(_Numbers)
    rigid = with_arrays(module.rigid)
    if hasattr(module, "corner"):  # which laws with smooth corners call
        rigid.__globals__["corner"] = with_arrays(module.corner)
    with np.errstate(all="ignore"):  # of pieces of curves that are not selected
        rigid([*path, *[full] * (1 + len(module.STATES))], c, out)
    return dict(zip(names, out, strict=True))


@checked
def rigid_constants(law: str, constants: Mapping[str, ArrayLike], what: str) -> dict[str, Floats]:
    """The constants that a law of muscles on rigid tendons takes, in its order, within the bounds of ``Builder.muscle``.

    Parameters
    ----------
    law : str
        A definition of ``codegen.muscles`` with a rigid tendon, such as "thelen_as_opensim".
    constants : mapping of str to (...)
        Numbers or arrays; default: those of the law.  Others have no effect.
    what : str
        Beginning of errors, such as "muscle 'soleus_r'".

    Raises
    ------
    ModelError
        For an unknown law, and constants that are missing or beyond their bounds.
    """
    if law not in LAWS:
        raise unknown_name(law, LAWS, "law of muscles", "laws of muscles")
    module = LAWS[law]
    given = module.DEFAULTS | dict(constants)
    if not module.RIGID or any(name not in given for name in module.PARAMETERS):
        why = f"needs {', '.join(name for name in module.PARAMETERS if name not in given)}"
        raise ModelError(f"{what}: {law} {why if module.RIGID else 'has no rigid tendon; use another law'}")
    found = {name: floats(given[name], name, "numbers") for name in module.PARAMETERS}
    for name, values in found.items():
        for value in sorted(set(values.ravel().tolist())):
            checked_parameter(value, f"{what} ({law}): {name}", module.BOUNDS[name])
    return found


@checked
def limit_moment(
    angle: ArrayLike, rate: ArrayLike, *, lower: float, upper: float, lower_stiffness: float, upper_stiffness: float,
    damping: float, transition: float,
) -> Floats:  # fmt: skip
    """The moment (times,) [N m] of a limit by the law of ``hinge_limit`` along an angle; of a slide likewise, in m and N.

    Parameters
    ----------
    angle, rate : (times,) [rad], [rad/s]
    lower, upper : float [rad]
        Ends of the range.
    lower_stiffness, upper_stiffness, damping, transition : float
        [N m/rad], [N m/rad], [N m s/rad], [rad], as of ``hinge_limit``.

    Raises
    ------
    ModelError
        For arrays of different shapes, and a transition that is not above 0.
    """
    x, u = (floats(of, name, "(times,) numbers") for name, of in (("angle", angle), ("rate", rate)))
    if x.ndim != 1 or x.shape != u.shape:
        raise ModelError(f"limit_moment: angle and rate of shapes {x.shape} and {u.shape}; give (times,) each")
    narrowest = hinge_limit.BOUNDS["transition"][0]
    if not narrowest <= transition < np.inf:
        raise ModelError(f"limit_moment: transition = {transition:g}; give {narrowest:g} or more")
    zero, one = np.zeros_like(x), np.ones_like(x)
    still, turning = np.stack([zero] * STATE), np.stack([zero] * (STATE - 1) + [u])
    directions = [zero, zero, one, one, zero, zero, np.cos(x), np.sin(x), zero]  # a hinge along z at the angle
    ends = [upper_stiffness, lower_stiffness, damping, transition, (lower + upper) / 2.0, (upper - lower) / 2.0]
    out = np.zeros((REPORTS + len(hinge_limit.OUTPUTS), len(x)))
    with np.errstate(all="ignore"):
        with_arrays(hinge_limit.evaluate)(still, turning, [*directions, *map(np.float64, ends), x], out)
    return np.asarray(out[MOMENT_J])
