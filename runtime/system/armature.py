"""Inertia of rotors along coordinates of joints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import not_negative
from runtime.support.errors import ModelError, unknown_name
from runtime.system.coordinate_steps import step_of
from runtime.system.spanning_tree import SpanningTree


@checked_class
@dataclass(frozen=True)
class Armature:
    """Inertia of the rotor of a motor along a coordinate, times the square of its gear's ratio.

    Its kinetic energy is half the inertia times the squared rate of the coordinate: the rotor turns with it, and takes
    no part in the motion of the bodies beside it.
    """

    coordinate: str  # such as "knee.angle"
    inertia: float  # [kg m^2], along a slide [kg]

    @property
    def name(self) -> str:
        """The coordinate."""
        return self.coordinate


def build_armature(coordinate: str, inertia: Any, joints: Collection[str], before: Iterable[str]) -> Armature:
    """An armature of a coordinate beside those before it; ``joints``: names.

    Raises
    ------
    ModelError
    """
    if not isinstance(coordinate, str) or coordinate.rpartition(".")[0] not in joints:
        raise unknown_name(str(coordinate).rpartition(".")[0], joints, "joint", whose=f"armature '{coordinate}': ")
    if coordinate in before:
        raise ModelError(f"armature '{coordinate}': this coordinate has one already; add up the inertias of its rotors")
    return Armature(coordinate, not_negative(inertia, f"armature '{coordinate}'"))


def armature_of_steps(armatures: Iterable[Armature], motions: Mapping[str, Any], tree: SpanningTree) -> Floats:
    """Inertia of the rotors along each step of a tree, (n,).

    Raises
    ------
    ModelError
        For coordinates that are no turns or slides, and those of joints that close loops.
    """
    found = np.zeros(len(tree.kinds))
    for one in armatures:
        found[step_of(f"armature '{one.coordinate}'", one.coordinate, motions, tree)] += one.inertia
    return found
