"""Paths of muscles in given states of the bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runtime.dynamics.layout import P, V
from runtime.jit.python_code import with_arrays
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.muscle_modules import UNIT_WRENCH, WRENCH
from runtime.system.parts import Force
from runtime.system.reference import reference, rotation_matrices

POINT, AXIS = "s_", "a_"  # beginnings of the names of vectors of a path


def is_muscle(force: Force) -> bool:
    """Whether a force is a law along a path."""
    return hasattr(force.module, "path")


def points_within(force: Force, states: Mapping[str, Floats]) -> Iterator[tuple[str, int, float, float]]:
    """Points of the path of a muscle within the radius of a wrap beside them: name, number of the wrap, distance and radius [m].

    ``states``: of the bodies by name, (13,) each.
    """
    ends = {letter: states[body] for letter, body in zip("ijkl", force.bodies, strict=False)}
    turned = {
        name: rotation_matrices(ends[body][None, P:V])[0] @ force.values[name] for name, _, body in force.module.VECTORS
    }
    places = {name: ends[name[-1]][:P] + v for name, v in turned.items() if name.startswith(POINT)}
    for axis in (name for name in turned if name.startswith(AXIS)):
        number, centre = axis.split("_")[1], places[f"s{axis.removeprefix('a')}"]
        n, second = int(number.rstrip("b")), number.endswith("b")
        radius = float(
            force.values.get(f"radius_{n}", force.values.get(f"{'second' if second else 'first'}_radius_{n}"))
        )
        for name, place in places.items():
            if name.startswith((f"s_{n - 1}_", f"s_{n + 1}_")):
                distance = float(np.linalg.norm(np.cross(turned[axis], place - centre)))
                if distance < radius:
                    yield name, n, distance, radius


def path_motion(force: Force, states: Mapping[str, Floats]) -> Floats:
    """Length of the path of a muscle, its rate, and force and moment of a unit tension on each of its bodies, (2 + 6 bodies, n).

    ``states``: of the bodies by name, (n, 13) each.

    Raises
    ------
    ModelError
        For a force that is no muscle.
    """
    if not is_muscle(force):
        raise ModelError(
            f"force '{force.name}' ({force.kind}) is no muscle, so it has no path; give the name of a muscle"
        )
    ends = [states[body].T for body in force.bodies]
    x, found = (
        np.zeros((force.module.SIZE, ends[0].shape[1])),
        np.zeros((UNIT_WRENCH + WRENCH * len(ends), ends[0].shape[1])),
    )
    reference(force, ends[0], ends[1], x, *ends[2:])
    with_arrays(force.module.path)(*ends, x, found)
    return found
