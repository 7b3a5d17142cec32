"""Polynomials in the coordinates of slides and in the cosines and sines of those of turns.

The coefficients are nodes of an expression graph (``codegen.compiler.trace``).  sin^2 is written as 1 - cos^2, so that equal
polynomials have equal terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codegen.compiler.trace import Node

Powers = tuple[tuple[int, int], ...]  # by coordinate: powers of cosine and sine, or of the coordinate and 0


class Ring:
    """The coordinates, ``turn`` or ``slide`` each, in which polynomials are written."""

    def __init__(self, kinds: Sequence[str], one: Node) -> None:
        self.kinds, self.one = tuple(kinds), one
        self.unit: Powers = ((0, 0),) * len(self.kinds)

    def constant(self, value: Node) -> Polynomial:
        """A polynomial of degree 0."""
        return Polynomial(self, {} if value.constant == 0.0 else {self.unit: value})

    def variable(self, k: int, which: int = 0) -> Polynomial:
        """The coordinate of slide k; of turn k the cosine (0) or the sine (1)."""
        powers = list(self.unit)
        powers[k] = (0, 1) if which else (1, 0)
        return Polynomial(self, {tuple(powers): self.one})


@dataclass(frozen=True)
class Polynomial:
    """A sum of products; terms whose coefficient is known to be 0 are left out."""

    ring: Ring
    terms: Mapping[Powers, Node]

    def __add__(self, other: Polynomial) -> Polynomial:
        return self._sum(other.terms.items())

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self._sum((powers, -value) for powers, value in other.terms.items())

    def __neg__(self) -> Polynomial:
        return Polynomial(self.ring, {powers: -value for powers, value in self.terms.items()})

    def __mul__(self, other: Polynomial) -> Polynomial:
        total = Polynomial(self.ring, {})
        for p, a in self.terms.items():
            total = total._sum(
                (powers, a * b if sign > 0 else -(a * b))
                for q, b in other.terms.items()
                for powers, sign in _product(self.ring.kinds, p, q)
            )
        return total

    def times(self, value: Any) -> Polynomial:
        """The product with a number or a node."""
        return Polynomial(self.ring, {})._sum((powers, a * value) for powers, a in self.terms.items())

    def slope(self, k: int) -> Polynomial:
        """The derivative by coordinate k."""
        found = Polynomial(self.ring, {})
        for powers, value in self.terms.items():
            a, b = powers[k]
            rest = (*powers[:k], (0, 0), *powers[k + 1 :])
            if self.ring.kinds[k] == "slide":
                slopes = [((a - 1, 0), a)] if a else []
            else:
                slopes = ([((a - 1, b + 1), -a)] if a else []) + ([((a + 1, b - 1), b)] if b else [])
            for own, factor in slopes:
                of_own = (*rest[:k], own, *rest[k + 1 :])
                products = _product(self.ring.kinds, self.ring.unit, of_own)
                found = found._sum((p, value * float(sign * factor)) for p, sign in products)
        return found

    def _sum(self, more: Iterable[tuple[Powers, Node]]) -> Polynomial:
        terms = dict(self.terms)
        for powers, value in more:
            terms[powers] = terms[powers] + value if powers in terms else value
            if terms[powers].constant == 0.0:
                del terms[powers]
        return Polynomial(self.ring, terms)

    def value(self, variables: Sequence[tuple[Node, Node]]) -> Node:
        """Its node; ``variables``: by coordinate cosine and sine, or the coordinate twice.

        The variable in most terms is taken out first, and so on (Horner).
        """
        return _horner(self.terms, variables, self.ring.one.record.constant(0.0))


def _horner(terms: Mapping[Powers, Node], variables: Sequence[tuple[Node, Node]], zero: Node) -> Node:
    uses: dict[tuple[int, int], int] = {}
    for powers in terms:
        for k, pair in enumerate(powers):
            for which, power in enumerate(pair):
                if power:
                    uses[k, which] = uses.get((k, which), 0) + 1
    if not uses:
        return next(iter(terms.values()), zero)
    k, which = max(sorted(uses), key=lambda variable: uses[variable])
    inner: dict[Powers, Node] = {}
    outer: dict[Powers, Node] = {}
    for powers, value in sorted(terms.items()):
        if powers[k][which]:
            a, b = powers[k]
            less = (a, b - 1) if which else (a - 1, b)
            inner[(*powers[:k], less, *powers[k + 1 :])] = value
        else:
            outer[powers] = value
    return _horner(inner, variables, zero) * variables[k][which] + _horner(outer, variables, zero)


def _product(kinds: Sequence[str], p: Powers, q: Powers) -> list[tuple[Powers, int]]:
    """The product of two terms as terms with signs: sin^2 = 1 - cos^2."""
    found: list[tuple[tuple[tuple[int, int], ...], int]] = [((), 1)]
    for kind, (a, b), (c, d) in zip(kinds, p, q, strict=True):
        cosine, sine = a + c, b + d
        if kind == "turn" and sine >= 2:
            ways = [((cosine, sine - 2), 1), ((cosine + 2, sine - 2), -1)]
        else:
            ways = [((cosine, sine), 1)]
        found = [((*powers, own), sign * factor) for powers, sign in found for own, factor in ways]
    return found
