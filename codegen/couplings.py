"""Couplings: equations between coordinates of joints.

A definition takes coordinates and functions of them, and returns what is 0.  Its rows are derived as those of joints are: the
columns of the coordinates' rates, and gamma, which collects what is left of the second derivative by time.  ``product`` is a
term of which functions of several coordinates are sums; its derivatives are derived too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from sympy import sin

from codegen.compiler.calculus import Expr
from codegen.compiler.couplings import power


def follower(follower: Expr, leader: Expr, law: Callable[[Expr], Expr]) -> Expr:
    """A coordinate follows another one by a law: follower = law(leader).

    follower, leader : coordinates of joints [rad] or [m]
    law : function of the leader, twice differentiable, such as a spline
    """
    return follower - law(leader)


def combination(follower: Expr, leaders: Sequence[Expr], law: Callable[..., Expr]) -> Expr:
    """A coordinate follows several others by a law: follower = law(leaders).

    follower, leaders : coordinates of joints [rad] or [m]
    law : function of the leaders, twice differentiable, such as a polynomial
    """
    return follower - law(*leaders)


def product(
    leaders: Sequence[Expr], coefficient: Expr, powers: Sequence[Expr], frequencies: Sequence[Expr],
    phases: Sequence[Expr],
) -> Expr:  # fmt: skip
    """Term of a law of several coordinates: a coefficient times x^power sin(frequency x + phase) of each coordinate x.

    leaders : coordinates of joints [rad] or [m]
    powers : whole numbers, 0 or more
    frequencies, phases : 0 and pi/2 where there is no sine
    """
    of_each = zip(leaders, powers, frequencies, phases, strict=True)
    return coefficient * prod(power(x, n) * sin(frequency * x + phase) for x, n, frequency, phase in of_each)
