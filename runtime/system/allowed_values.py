"""Rules of single parameters for values of many cases; a case that breaks one is left to the builder, which has the message."""

from __future__ import annotations

import numpy as np

from runtime.support.arrays import Bools, Floats
from runtime.support.numbers import LARGEST
from runtime.system.contact_building import fades
from runtime.system.mass_data import THIN
from runtime.system.parts import AXIS_TOLERANCE, Bounds
from runtime.system.quantity import INERTIA, Quantity
from runtime.system.system import System

MARGIN = 10.0  # from the least moment of a body that is not thin, within which a case is made alone
SYMMETRIC = 1e-13  # relative difference of an inertia from its transposed


def allowed(system: System, quantity: Quantity, values: Floats) -> Bools:
    """Which values (cases, ...) of a parameter break no rule; of contacts, and leave open where the damping fades."""
    good = within(quantity.bounds, values)
    if quantity.part == INERTIA:
        good[good] = _sound_inertias(matrices_of(values[good]))
    if quantity.unit_length:
        good &= np.abs(np.linalg.norm(np.where(good[:, None], values, 0.0), axis=1) - 1.0) <= AXIS_TOLERANCE
    if quantity.owner_sort == "contact":
        contact = system.contact(quantity.owner)
        if quantity.part in contact.law_module.PARAMETERS:
            given = {quantity.part: np.where(good, values, contact.parameters[quantity.part])}
            good &= np.asarray(fades(contact, given) == fades(contact))
    return good


def within(bounds: Bounds | None, values: Floats) -> Bools:
    """Which values (cases, ...) ``checked_parameter`` accepts."""
    lower, excluded, upper, _ = bounds or (None, False, None, "")
    least, most = -LARGEST if lower is None else lower, LARGEST if upper is None else upper
    with np.errstate(invalid="ignore"):
        good = (np.abs(values) <= LARGEST) & (values > least if excluded else values >= least) & (values <= most)
    return np.asarray(good.reshape(len(values), -1).all(axis=1))


def matrices_of(inertias: Floats) -> Floats:
    """Inertias (cases, 3, 3) of those given as such, or as principal moments (cases, 3)."""
    return inertias[:, :, None] * np.eye(3) if inertias.ndim == 2 else inertias


def _sound_inertias(matrices: Floats) -> Bools:
    """Which inertias (cases, 3, 3) ``checked_inertia`` surely accepts, with moments above 0; cases with others are made alone."""
    across = np.swapaxes(matrices, 1, 2)
    small, middle, large = np.linalg.eigvalsh(matrices).T
    sound: Bools = (small > MARGIN * THIN * large) & (large - middle - small <= 0.0) & (large > 1.0 / LARGEST)
    return np.asarray(sound & np.isclose(matrices, across, rtol=SYMMETRIC, atol=0.0).all(axis=(1, 2)))
