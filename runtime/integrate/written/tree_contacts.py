"""Contacts of spheres with planes in lanes: what is measured of each, and its forces on both bodies, by the generated kernels.

A contact's mode is one of its parameters, so the code has no branches by lane.  What lanes must not use is not multiplied by 0
but not selected: it may be infinite.  The forces of a contact are skipped where they act in none of the lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runtime.dynamics.contacts import odd
from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.small_matrices import dot, times
from runtime.integrate.written.acting_contacts import EXPONENT, NOTHING, ActingContact
from runtime.integrate.written.placed_bodies import Places
from runtime.jit.recorder import Number
from runtime.lanes.needed_outputs import call_for
from runtime.lanes.vector_formulas import with_vectors
from runtime.lanes.vector_functions import Functions

dot, odd, times = map(with_vectors, (dot, odd, times))

# Outputs of kernels: geometry, normal law, and force on both bodies.
PENETRATION, PENETRATION_RATE, SLIP = 0, 1, (2, 3, 4)
OF_POTENTIAL, OF_ELASTIC, OF_DAMPING, OF_OVER_RATE, OF_SLOPE = 0, 1, 2, 4, 5


class ContactForce(NamedTuple):
    """What a contact adds in each lane, 0 where it does not act."""

    wrench: Sequence[Number]  # force and moment on the sphere's body, then on the plane's
    stored: Number  # [W] into its potential
    potential: Number  # [J]


class Contact:
    """The instructions of one contact."""

    def __init__(self, places: Places, k: int) -> None:
        self.at, self.code, self.k = places, places.code, k
        self.contact: ActingContact = places.acting.contacts[k]
        self.rows = self.contact.rows
        self.functions = {"math": Functions()}
        self.bodies = [places.bodies[b] for b in self.contact.bodies]

    def parameter(self, place: int) -> Number:
        """A number of the contact."""
        return self.at.parameter("contact", self.k, place)

    def x(self) -> list[Number]:
        """Numbers of the geometry, with vectors turned and the speed of the belt at its time."""
        contact, belt = self.contact, self.contact.signal_place
        x: list[Number] = [0.0] * (belt + 3)
        replaced = set(range(belt, belt + 3))
        for place, body in contact.vectors:
            replaced |= {place, place + 1, place + 2}
            x[place : place + 3] = times(self.at.bodies[body].step.A, self.at.three("contact", self.k, place))
        if contact.signal != NOTHING:
            x[belt : belt + 3] = [self.at.signal(contact.signal, c) for c in range(3)]
        for place in set(range(belt + 3)) - replaced:
            x[place] = self.parameter(place)
        for place, number in contact.known:
            x[place] = number
        return x

    def normal(self, depth: Number, rate: Number, outputs: Sequence[int]) -> dict[int, Number]:
        """Outputs of the normal law, continued below the plane as an odd function of the depth."""
        code, module = self.code, self.contact.law
        parameters = {name: self.parameter(self.rows.law + c) for c, name in enumerate(module.PARAMETERS)}

        def law(numbers: Sequence[Number]) -> list[Number]:
            found = call_for(module, "law", outputs, {"math": Functions()}, *numbers[:2], numbers[2:])
            return [found[k] for k in outputs]

        numbers = [abs(depth), rate, *parameters.values()]
        if EXPONENT in parameters:
            usual, name = self.contact.exponent, f"{module.NAME}_{len(outputs)}"
            values = law([*numbers[:2], *(parameters | {EXPONENT: usual}).values()])
            other = code.compare("!=", parameters[EXPONENT], usual)
            values = code.where(other, lambda: code.outlined(name, len(outputs), law, *numbers), values, likely=False)
        else:
            values = law(numbers)
        continued = {OF_ELASTIC} | ({OF_DAMPING, OF_OVER_RATE} if self.contact.fades else set())
        return {k: odd(value, depth) if k in continued else value for k, value in zip(outputs, values, strict=True)}

    def friction(self, slip: Sequence[Number], force: Number) -> list[Number]:
        """Force of friction on the body of the sphere where it rubs, else 0."""
        module, code = self.contact.friction, self.code
        if module is None:
            return [0.0] * 3
        parameters = [self.parameter(self.rows.friction + c) for c in range(len(module.PARAMETERS))]

        def law(name: str) -> list[Number]:
            found = call_for(module, name, range(3), self.functions, slip, force, parameters)
            return [found[c] for c in range(3)]

        slow = code.compare("<", code.function("sqrt", dot(slip, slip)), self.parameter(self.rows.transition_velocity))
        rubs = code.compare("!=", self.parameter(self.rows.rubs), 0.0)
        build = code.builder
        above = code.where(build.and_(rubs, build.not_(slow)), lambda: law("above"), [0.0] * 3)
        found: list[Number] = code.where(build.and_(rubs, slow), lambda: law("below"), above)
        return found

    def measured(self) -> list[Number]:
        """Depth, rate, and all else that switching needs, in the order of ``acting_contacts.MEASURED``."""
        outputs = (PENETRATION, PENETRATION_RATE, *(SLIP if self.contact.kinks else ()))
        found = call_for(self.contact.geometry, "measure", outputs, self.functions, *self.bodies, self.x())
        depth, rate = found[PENETRATION], found[PENETRATION_RATE]
        law = self.normal(depth, rate, (OF_POTENTIAL, OF_ELASTIC, OF_DAMPING, OF_OVER_RATE, OF_SLOPE))
        force = law[OF_ELASTIC] + law[OF_DAMPING]
        slip: list[Number] = [0.0] * 3
        if self.contact.kinks:
            slip = [found[c] / self.parameter(self.rows.transition_velocity) for c in SLIP]
        return [depth, rate, force, law[OF_ELASTIC], law[OF_OVER_RATE], law[OF_SLOPE], law[OF_POTENTIAL], *slip]

    def force(self) -> ContactForce:
        """Forces, power into the potential, and potential."""
        for body in self.bodies:
            body.place()
        acts = self.code.compare("!=", self.parameter(self.rows.acts), 0.0)
        sides = [side for side, body in enumerate(self.contact.bodies) if body != GROUND_INDEX]
        with self.at.apart():
            *wrench, stored, potential = self.code.where(acts, lambda: self._force(sides), [0.0] * (6 * len(sides) + 2))
        whole: list[Number] = [0.0] * 12
        for n, side in enumerate(sides):
            whole[6 * side : 6 * side + 6] = wrench[6 * n : 6 * n + 6]
        return ContactForce(whole, stored, potential)

    def _force(self, sides: Sequence[int]) -> list[Number]:
        """Forces on the bodies of these sides, power into the potential, and potential, as if the contact acted."""
        geometry, x = self.contact.geometry, self.x()
        found = call_for(geometry, "measure", range(5), self.functions, *self.bodies, x)
        rate = found[PENETRATION_RATE]
        law = self.normal(found[PENETRATION], rate, (OF_POTENTIAL, OF_ELASTIC, OF_DAMPING))
        force = law[OF_ELASTIC] + law[OF_DAMPING]
        rubbing = self.friction([found[c] for c in SLIP], force)
        outputs = [6 * side + c for side in sides for c in range(6)]
        Q = call_for(geometry, "wrench", outputs, self.functions, *self.bodies, x, [force, *rubbing])
        return [*(Q[k] for k in outputs), law[OF_ELASTIC] * rate, law[OF_POTENTIAL]]
