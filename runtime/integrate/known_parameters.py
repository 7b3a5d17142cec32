"""Parameters of equations in lanes that are 0, 1 or -1 whatever the values that cases have by name: they take no operations.

In a planar mechanism half of all parameters are among them: axes, distances across the plane, products of inertia.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.integrate.acting_forces import OF_STEP, ActingForces, Known, Rows, acting_forces
from runtime.integrate.equation_parameters import equations_of_cases
from runtime.integrate.force_parameters import OwnForces
from runtime.support.latest import Latest
from runtime.system.contact_building import POINTS
from runtime.system.system import System
from runtime.system.tree_geometry import carried

OF_ARM = 3  # of the parameters of a body
OFF_DIAGONAL = 1, 2, 3, 5, 6, 8  # of what a step carries: moment, products of inertia


def _known_parameters(system: System) -> Known:
    acting, tree = acting_forces(system), system.tree
    assert tree is not None
    masses, inertias = system.data.mass[1:], system.data.inertia[1:]
    # Sums over the bodies of a step that are 0 for any masses are so for two sets of them.
    factors = np.random.default_rng(1).uniform(0.5, 2.0, (2, len(masses)))
    loads = [carried(tree.geometry, tree.skeleton, (f * masses)[None], f[:, None, None] * inertias) for f in factors]
    first, other = (equations_of_cases(system, tree.geometry, load, system.gravity[None])[0] for load in loads)
    rows = list(_rows_of_geometry(acting))
    return tuple((k, float(first[k])) for k in rows if first[k] == other[k] and first[k] in (0.0, 1.0, -1.0))


def _rows_of_geometry(acting: ActingForces) -> Iterator[int]:
    """Rows that no parameters of bodies, motors and contacts by name change, but for points and inertias."""
    rows = Rows(acting, whole=True)
    for step in range(len(acting.kinds)):
        yield from _span(rows.of("step", step), OF_STEP)
    for body in acting.bodies():
        yield from _span(rows.of("body", body), OF_ARM)
    for step in acting.carrying():
        yield from (rows.of("carried", step) + place for place in OFF_DIAGONAL)
    vectors = [(rows.of("motor", k), motor.vectors) for k, motor in enumerate(acting.motors)]
    vectors += [(rows.of("contact", k), contact.vectors) for k, contact in enumerate(acting.contacts)]
    for first, places in vectors:
        for place, _ in places:
            yield from _span(first + place, 3)


def _span(first: int, count: int) -> range:
    return range(first, first + count)


known_parameters = Latest(_known_parameters, 8)  # of a system whose equations lanes have by the recursion


def keeps_known(system: System, own: OwnForces) -> bool:
    """Whether cases with values of forces of their own have the ``known_parameters`` of a system: without points of contacts."""
    return own.references is None and not any(
        sort == "contact" and not POINTS.keys().isdisjoint(of) for (sort, _), of in own.values.items()
    )
