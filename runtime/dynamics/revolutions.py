"""Revolutions that angles of definitions have made in states of a tree, whose coordinates count them."""

from __future__ import annotations

from runtime.dynamics.angles import count_from_reference, write_angles
from runtime.jit.compilation import compiled


@compiled
def count_each(states, t, w, way, to):  # type: ignore[no-untyped-def]
    """Put the angles before in states of a tree (n, size of the state) into ``to`` (n, angles); ``way``: memory as a state."""
    for n in range(len(states)):
        count_from_reference(states[n], t, w, way)
        write_angles(t, w, to[n])
