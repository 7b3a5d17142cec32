"""Couplings: equations between coordinates of joints.

A definition takes coordinates and functions of them, and returns what is 0.  Its rows are derived as those of joints are: the
columns of the coordinates' rates, and gamma, which collects what is left of the second derivative by time.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.compiler.calculus import Expr


def follower(follower: Expr, leader: Expr, law: Callable[[Expr], Expr]) -> Expr:
    """A coordinate follows another one by a law: follower = law(leader).

    follower, leader : coordinates of joints [rad] or [m]
    law : function of the leader, twice differentiable, such as a spline
    """
    return follower - law(leader)
