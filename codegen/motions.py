"""The motions of the joints: turns and slides by which body j can move against body i from any pose that satisfies the rows.

A motion is a function with the name of its joint in ``codegen.joints``.  Its arguments are vectors of the joint, and the steps
``turn``, ``slide`` and ``ball``; it returns the steps by the names of their coordinates, in order from body i to body j: a step
moves body j and the axes of all later steps.  ``python -m codegen`` proves that the rows keep vanishing under the motion and that
it has 6 - rows coordinates, and derives where they depend on each other (``codegen.compiler.motion_proof``).

=========================  =====================================================================
``turn(a, s)``             about the axis a through the point s, or the centre of mass of body j (``turn(a)``): one angle [rad]
``slide(a)``               along the axis a: one distance [m]
``ball(s)``                any turn about the point s: a rotation vector in axes of body i [rad]
=========================  =====================================================================

A joint without a motion is a constraint between bodies that move by other joints, or freely.
"""

from __future__ import annotations

from typing import Any

from codegen.basics import Across
from codegen.compiler.calculus import Vector

Steps = dict[str, Any]


def spherical(s_i: Vector, ball: Any) -> Steps:
    """Any turn about P."""
    return {"orientation": ball(s_i)}


def revolute(s_i: Vector, a_i: Vector, turn: Any) -> Steps:
    """A turn about the axis."""
    return {"angle": turn(a_i, s_i)}


def cylindrical(s_i: Vector, a_i: Vector, turn: Any, slide: Any) -> Steps:
    """A turn about the line and a slide along it."""
    return {"angle": turn(a_i, s_i), "distance": slide(a_i)}


def translational(a_i: Vector, slide: Any) -> Steps:
    """A slide along the line."""
    return {"distance": slide(a_i)}


def universal(s_i: Vector, a_i: Vector, s_j: Vector, a_j: Vector, turn: Any) -> Steps:
    """A turn about the axis of body i, then one about the axis of body j."""
    return {"theta_i": turn(a_i, s_i), "theta_j": turn(a_j, s_j)}


def modified_universal(s_i: Vector, a_i: Vector, s_j: Vector, a_j: Vector, turn: Any) -> Steps:
    """A turn of the link about the axis of body i, then one about the axis of body j at the other end of the link."""
    return {"theta_i": turn(a_i, s_i), "theta_j": turn(a_j, s_j)}


def fixed() -> Steps:
    """None."""
    return {}


def plane_translation(a_i: Vector, b_i: Vector, slide: Any) -> Steps:
    """A slide along each direction."""
    return {"distance_a": slide(a_i), "distance_b": slide(b_i)}


def translation(xi_i: Vector, eta_i: Vector, zeta_i: Vector, slide: Any) -> Steps:
    """A slide along each axis of body i."""
    return {"xi": slide(xi_i), "eta": slide(eta_i), "zeta": slide(zeta_i)}


def parallel_axes(a_i: Vector, across: Across, slide: Any, turn: Any) -> Steps:
    """A slide along the axis and two across it, then a turn about it."""
    b, c = across(a_i)
    return {"distance": slide(a_i), "distance_1": slide(b), "distance_2": slide(c), "angle": turn(a_i)}


def oblique_translation(a_i: Vector, b_i: Vector, c_i: Vector, slide: Any) -> Steps:
    """A slide along each direction."""
    return {"distance_a": slide(a_i), "distance_b": slide(b_i), "distance_c": slide(c_i)}


def point_on_line(a_i: Vector, s_j: Vector, slide: Any, ball: Any) -> Steps:
    """A slide along the line, then any turn about the point."""
    return {"distance": slide(a_i), "orientation": ball(s_j)}


def point_on_plane(a_i: Vector, s_j: Vector, across: Across, slide: Any, ball: Any) -> Steps:
    """Two slides along the plane, then any turn about the point."""
    b, c = across(a_i)
    return {"distance_1": slide(b), "distance_2": slide(c), "orientation": ball(s_j)}
