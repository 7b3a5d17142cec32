"""Moments of inertia that no distribution of mass has, such as rounded or scaled ones of published models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.files.description import Description, Floats, Omitted

SORT = "inertias"  # in ``ignore=``
RELATIVE = 1e-9  # excess over the sum of the other two principal moments, as in ``Builder.body``


def with_possible_inertias(description: Description, *, change: bool) -> Description:
    """The description; with ``change`` its largest principal moments are at most the sum of the others, and listed."""
    found, links = [], []
    for link in description.links:
        moments, axes = np.linalg.eigh(link.inertia)
        most = moments[0] + moments[1]
        if moments[0] >= 0.0 and moments[2] - most > RELATIVE * moments[2]:
            found.append((link.name, float(moments[2]), float(most)))
            link = replace(link, inertia=_of(np.array([moments[0], moments[1], most]), axes))
        links.append(link)
    if not found or not change:
        return description
    names = tuple(f"{name} ({largest:.6g} to {most:.6g} kg m^2)" for name, largest, most in found)
    note = Omitted(SORT, names, "the largest principal moment is lowered to the sum of the other two", True)
    return description.changed(links=tuple(links), omitted=(*description.omitted, note))


def _of(moments: Floats, axes: Floats) -> Floats:
    matrix: Floats = (axes * moments) @ axes.T
    return 0.5 * matrix + 0.5 * matrix.T
