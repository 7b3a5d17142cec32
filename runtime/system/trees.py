"""The spanning trees of a system's joints, for equations in joint coordinates; found when they are first asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from types import ModuleType
from typing import Any

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.projection import worst_row
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.armature import armature_of_steps
from runtime.system.closed_tree import ClosedTree, closed_tree
from runtime.system.limits_along import limits_along
from runtime.system.spanning_tree import SpanningTree, TreeSteps, spanning_tree, tree_steps
from runtime.system.tree_check import error_of_closed_tree, error_of_tree


def trees_of(system: Any) -> Trees:
    """The trees of a ``runtime.System``."""
    found: Trees = system._trees
    return found


class Trees:
    """Trees of one ``runtime.System``."""

    def __init__(self, system: Any) -> None:
        self.system = system

    @cached_property
    def steps(self) -> TreeSteps:
        """The steps of the tree; none where nothing moves."""
        system, y = self.system, self.system.reference_configuration.y

        def rows() -> Floats:
            work = shared_workspace_for(system.data)
            worst_row(system.time, y.copy(), system.data, work, False)
            return work.D

        return tree_steps(system.bodies, system.joints, system.joint_motions, y, rows)

    @cached_property
    def of_joints(self) -> SpanningTree | None:
        """``tree``, also where forces depend on reactions of joints: vectorised cases run on it, single runs do not."""
        if not self.steps.kinds:
            return None
        system, tree = self.system, spanning_tree(self.steps, self.system.bodies)
        if system.armatures:
            return replace(tree, armature=armature_of_steps(system.armatures, system.joint_motions, tree))
        alone = tree.has_polynomials and not any((system.contacts, system.forces, system.loads, system.motors))
        alone = alone and bool(system.limits) and not tree.closing
        return replace(tree, limits=limits_along(tree, system.limits, system.data, in_lanes=False)) if alone else tree

    @cached_property
    def reason(self) -> str:
        """The reason why the system has no tree; empty where it has one."""
        if len(reactive := self.system.data.forces.reactive):
            return f"force '{self.system.forces[int(reactive[0, 0])].name}' depends on reactions of a joint"
        return "" if self.steps.kinds else "nothing in it moves"

    @cached_property
    def tree(self) -> SpanningTree | None:
        """The tree of the joints, if they make one."""
        return None if self.reason else self.of_joints

    @cached_property
    def in_lanes(self) -> SpanningTree | None:
        """``of_joints`` of vectorised cases, with limits along coordinates also where forces act, or rows."""
        tree, system = self.of_joints, self.system
        if tree is None or tree.limits or not system.limits or system.armatures:
            return tree
        return replace(tree, limits=limits_along(tree, system.limits, system.data, in_lanes=True))

    @cached_property
    def closed(self) -> ClosedTree | None:
        """The tree with the rows that restrain the coordinates, where there are any and a kernel can have them."""
        tree, system = self.tree, self.system
        if tree is None or not tree.closing or system.joint_coordinates_only:
            return None
        return closed_tree(system.name, tree, system.joints, system.data)

    def error(self, module: ModuleType) -> float:
        """How far the equations of a module for the tree are from those of all bodies; see ``runtime.system.tree_check``."""
        if self.tree is None:
            raise ModelError(f"system '{self.system.name}' has no tree: {self.reason}")
        if self.closed is not None:
            return error_of_closed_tree(self.tree, self.closed, module, self.system.data, self.system.time)
        return error_of_tree(self.tree, module, self.system.data)


OF_JOINTS, OF_BODIES = ("steps",), ("of_joints", "in_lanes", "closed")  # on masses, armatures, limits and gravity, too


def keep_of_joints(system: Any, other: Any) -> None:
    """Let a system with the same joints and other masses or forces keep what depends on joints and places alone."""
    if system.reference_configuration.y.tobytes() != other.reference_configuration.y.tobytes():
        return
    parts = [(one.bodies, one.limits, one.armatures, one.data.gravity) for one in (system, other)]
    alike = all(a is b for a, b in zip(*parts, strict=True))
    kept = (*OF_JOINTS, *OF_BODIES) if alike else OF_JOINTS
    for known, to, names in ((system, other, ("joint_motions",)), (trees_of(system), trees_of(other), kept)):
        vars(to).update({name: vars(known)[name] for name in names if name in vars(known)})
