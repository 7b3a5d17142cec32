"""Refusal of starts in singular poses, where branches of the motion cross."""

from __future__ import annotations

from runtime.support.errors import ModelError
from runtime.system.system import System


def refuse_singular_start(system: System, rows: tuple[str, ...]) -> None:
    """Refuse an initial configuration in which these rows depend on others that are independent nearby."""
    if not rows:
        return
    joints = list(dict.fromkeys(row.split(".")[0] for row in rows))
    of = f"joint{'s' if len(joints) > 1 else ''} {', '.join(repr(joint) for joint in joints)}"
    raise ModelError(
        f"system '{system.name}': the initial configuration is singular, {', '.join(rows)} of {of} depend on other rows here "
        "but not nearby, and several motions may go on from it; start a little beside this pose"
    )
