"""Contacts of many systems of one layout: their values as arrays, and the questions of ``ask_about_values`` about these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE, P, R
from runtime.support.arrays import Bools, Floats, stacked
from runtime.system.contact_building import fades
from runtime.system.parts import GROUND, Contact
from runtime.system.system import System
from runtime.system.unusual_values import DEEPER, MARGIN, NO_UNIT, STIFFEST, WIDER, extent_of

Values = Mapping[str, Floats]  # of one contact: parameter or vector -> values, (cases,) or (cases, 3)


def values_of_contacts(contacts: Sequence[Sequence[Contact]]) -> list[dict[str, Floats]]:
    """Values of each contact of many cases, whose contacts have the same layout."""
    return [_values_of_contact(of) for of in zip(*contacts, strict=True)]


def _values_of_contact(of: Sequence[Contact]) -> dict[str, Floats]:
    found = columns(of[0].parameters, [one.parameters for one in of])
    found |= columns(of[0].values, [one.values for one in of])
    found["impact"] = np.array([one.least_impact for one in of])
    return found


def columns(keys: Iterable[str], of: Sequence[Mapping[str, Any]]) -> dict[str, Floats]:
    """Values of many cases by name, (cases, ...) each."""
    return {key: stacked([values[key] for values in of]) for key in keys}


def fading_as(system: System, values: Sequence[Values]) -> Bools:
    """Which cases have contacts whose damping fades where it does in the system."""
    found = [
        np.broadcast_to(fades(contact.law, own), own["radius"].shape) == bool(known)
        for contact, own, known in zip(system.contacts, values, system.data.contacts.fades, strict=True)
    ]
    return np.asarray(np.all(found, axis=0))  # without contacts: True


def usual_contacts_at(system: System, values: Sequence[Values], cases: int) -> Bools:
    """``usual_contacts`` of so many cases with the bodies, joints, forces and centres of spheres of a system, in its pose."""
    weight, extent = np.full(cases, system.data.mass[1:].sum()), np.full(cases, extent_of(system))
    gravity, states = np.tile(system.gravity, (cases, 1)), np.tile(system.state.y, (cases, 1))
    return usual_contacts(system, values, weight, gravity, extent, states.reshape(cases, -1, STATE))


def usual_contacts(
    system: System, values: Sequence[Values], weight: Floats, gravity: Floats, extent: Floats, states: Floats
) -> Bools:
    """Which cases surely raise no question about contacts in ``ask_about_values``.

    Parameters
    ----------
    weight, gravity : (cases,) [kg], (cases, 3) [m/s^2]
        Mass of all bodies, and gravity.
    extent : (cases,) [m]
        Largest distance of a point of joints, forces and contacts from the centre of mass of its body.
    states : (cases, bodies, 13)
    """
    good, least = np.ones(len(weight), bool), 1.0 - MARGIN
    g = np.linalg.norm(gravity, axis=1)
    for contact, own in zip(system.contacts, values, strict=True):
        radius, stiffness = own["radius"], own["stiffness"]
        exponent, normal, size = own.get("exponent", np.full(len(radius), 1.5)), own["n_j"], extent
        if contact.plane == GROUND:
            centre = states[:, system.body_index(contact.body), R:P]
            size = np.maximum(size, np.abs(((centre - own["s_j"]) * normal).sum(axis=1)))
        good &= (size * NO_UNIT <= least * radius) | (radius <= least * WIDER * size)
        good &= (stiffness <= least * STIFFEST) | (exponent > 1.5)
        if contact.plane == GROUND:
            flat = (normal * -gravity).sum(axis=1) > least * 0.5 * g
            good &= ~flat | (least * stiffness * (DEEPER * radius) ** exponent >= weight * g)
    return good
