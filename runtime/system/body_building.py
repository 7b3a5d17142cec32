"""Checked bodies and their initial states."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from numpy.typing import ArrayLike

from runtime.dynamics.layout import P, V
from runtime.support.arguments import unchecked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.connection import checked_inertia, checked_mass, checked_name
from runtime.system.global_axes import Axes, is_global
from runtime.system.orientation import given_state
from runtime.system.parts import GROUND, Body
from runtime.system.reference import rotation_matrix


def build_body(
    name: str, known: Collection[str], mass: float, inertia: ArrayLike, *, r: ArrayLike, p: Any, v: ArrayLike, omega: ArrayLike,
    inertia_axes: Axes, free: bool, guess: bool,
) -> tuple[Body, Floats]:  # fmt: skip
    """Return a checked body and its initial state (13,), read-only; see ``Builder.body``.  ``known``: the names of other bodies.

    Raises
    ------
    ModelError
    """
    what = f"body '{name}'"
    checked_name(name, "body", known)
    if name == GROUND:
        raise ModelError(f"body '{GROUND}': this name is reserved for the fixed body; choose another name")
    mass = checked_mass(mass, what)
    start = given_state(what, r, p, v, omega)
    J = checked_inertia(inertia, what)
    if is_global(inertia_axes, "body", f"{what}: inertia_axes"):
        A = rotation_matrix(start[P:V])
        J = checked_inertia(A.T @ J @ A, what)
    start.setflags(write=False)
    return unchecked(Body, name, mass, J, bool(free), bool(guess)), start
