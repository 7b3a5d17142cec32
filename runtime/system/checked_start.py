"""Checks of an initial state that is on its rows: velocities, singular poses, forces."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, warn
from runtime.system.assemble import check_velocities
from runtime.system.rank import refuse_infinite_forces
from runtime.system.system import System
from runtime.system.thin_bodies import with_added_inertia


def checked_start(
    system: System, y: Floats, singular: tuple[str, ...], remarks: Iterable[str], remedy: str, motions: Floats | None = None
) -> System:  # fmt: skip
    """The system with the inertia that its thin bodies need at the start y (13 bodies,); the remarks are given as warnings.

    Parameters
    ----------
    singular : tuple of str
        Rows that depend on others in this pose alone.
    remedy : str
        Where velocities are inconsistent.
    motions : (6 bodies, n), optional
        ``open_motions`` in this state, where they are known.

    Raises
    ------
    ModelError, AssemblyError
    """
    system = with_added_inertia(system, system.time, y, motions)
    check_velocities(system, system.time, y, remedy)
    if singular:
        joints = list(dict.fromkeys(row.split(".")[0] for row in singular))
        of = f"joint{'s' if len(joints) > 1 else ''} {', '.join(repr(joint) for joint in joints)}"
        raise ModelError(
            f"system '{system.name}': the initial configuration is singular, {', '.join(singular)} of {of} depend on other rows "
            "here but not nearby, and several motions may go on from it; start a little beside this pose"
        )
    refuse_infinite_forces(system, system.time, y)
    for remark in remarks:
        warn(remark)
    return system
