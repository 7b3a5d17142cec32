"""Contacts of spheres with planes on a tree, as far as they decide the text of compiled code of lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NamedTuple

from runtime.system.contact_building import directions_of_ground, friction_has_kink
from runtime.system.parts import Contact
from runtime.system.system import System

NOTHING = -1  # in place of a signal that is 0 at any time, and of a row that there is none
# What compiled code measures of each contact: penetration [m] and its rate [m/s]; normal force [N], negative where the law would
# pull; its elastic part [N], the derivative of the force by the rate [N s/m], that of the elastic part by the penetration [N/m];
# the potential [J]; and, where friction has a kink at the transition velocity, the three components of the slip in units of
# the transition velocity, else 0.
DEPTH, RATE, FORCE, ELASTIC, OVER_RATE, SLOPE, POTENTIAL, SLIP = range(8)
MEASURED = SLIP + 3
EXPONENT = "exponent"  # parameter of normal laws
USUAL_EXPONENT, LARGEST_USUAL = 1.5, 3.0


class ActingContact(NamedTuple):
    """A contact: its geometry and laws, and where the numbers x of its geometry come from."""

    geometry: ModuleType
    law: ModuleType
    friction: ModuleType | None
    bodies: tuple[int, int]  # of the sphere and of the plane
    vectors: tuple[tuple[int, int], ...]  # place in x and body
    signal: int  # speed of the belt
    signal_place: int  # in x, of its value and two derivatives
    impact: int  # place of the speed of touch-down among the parameters of the law; NOTHING: it has none
    fades: bool  # the damping is 0 on the plane
    kinks: bool  # the law of friction has a kink at the transition velocity
    exponent: float  # the usual one: others take more operations
    known: tuple[tuple[int, float], ...]  # place in x and number: directions of the ground along its axes

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """Those of its kernels."""
        return (self.geometry, self.law, *([self.friction] if self.friction else []))

    @property
    def rows(self) -> ContactRows:
        """Places of its parameters."""
        return ContactRows(self)


class ContactRows:
    """Where the numbers of a contact are, from its first row on.

    ``impact``, ``acts`` and ``rubs`` belong to the state of a lane: the speed of the last touch-down, and whether the normal
    force and the friction act (1), or not (0).
    """

    def __init__(self, contact: ActingContact) -> None:
        self.x = 0  # numbers of the geometry but the speed of the belt
        self.law = contact.signal_place
        self.impact = NOTHING if contact.impact == NOTHING else self.law + contact.impact
        self.friction = self.law + len(contact.law.PARAMETERS)
        self.transition_velocity = self.friction + (len(contact.friction.PARAMETERS) if contact.friction else 0)
        self.acts = self.transition_velocity + 1
        self.rubs = self.acts + 1
        self.count = self.rubs + 1


def acting_contacts(system: System, signal: Callable[[int], int]) -> tuple[ActingContact, ...]:
    """The contacts of a system; signal: the number of one, or NOTHING for one that is 0 at any time."""
    t, found = system.data.contacts, []
    for k, contact in enumerate(system.contacts):
        at = t.vector_contact == k
        vectors = tuple(zip(t.vector_place[at].tolist(), t.vector_body[at].tolist(), strict=True))
        found.append(
            ActingContact(
                contact.module, contact.law_module, contact.friction_module,
                (int(t.body_i[k]), int(t.body_j[k])),
                vectors,
                signal(int(t.signal[k])), int(t.signal_place[k]), int(t.impact[k]), bool(t.fades[k]),
                friction_has_kink(contact.friction_module),
                _usual(contact.parameters.get(EXPONENT, USUAL_EXPONENT)), _known(contact, vectors),
            )
        )  # fmt: skip
    return tuple(found)


def _usual(exponent: float) -> float:
    """The exponent that compiled code knows: the own one where few multiplications and a root give the power.

    Others are no part of the code, which would be compiled for each of them where a function of cases varies the exponent.
    """
    return exponent if (2.0 * exponent).is_integer() and exponent <= LARGEST_USUAL else USUAL_EXPONENT


def _known(contact: Contact, vectors: Sequence[tuple[int, int]]) -> tuple[tuple[int, float], ...]:
    """Components of directions of the ground along its axes: no parameter by name changes them."""
    known = dict(directions_of_ground(contact))
    return tuple(
        (place + c, known[name][c])
        for (name, *_), (place, _) in zip(contact.module.VECTORS, vectors, strict=True)
        if name in known
        for c in range(3)
    )
