"""The sum of the forces of contacts on a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runtime.results.ranges import RANGE, greatest, ranges
from runtime.results.recorded import RecordedRun
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.html import html_table
from runtime.system.parts import GROUND


@dataclass(frozen=True, repr=False)
class GroundReaction:
    """The sum of contacts with one plane; arrays over time, in global axes.

    ``force`` (n, 3) [N] on the bodies; ``centre_of_pressure`` (n, 3) [m]: the point of the plane about which the total moment has
    no component in the plane, NaN without a normal force; ``free_moment`` (n,) [N m] about the normal there, NaN likewise.
    """

    force: Floats
    centre_of_pressure: Floats
    free_moment: Floats

    def __repr__(self) -> str:
        return f"GroundReaction({len(self.force)} times, up to {greatest(self.force)} N)"

    def _repr_html_(self) -> str:
        """Ranges of the components, for notebooks."""
        parts = {
            "force [N]": self.force, "centre of pressure [m]": self.centre_of_pressure, "free moment [N m]": self.free_moment,
        }  # fmt: skip
        return html_table(repr(self), ("", *RANGE), ranges(parts))


def ground_reaction(run: RecordedRun, contacts: Sequence[str] | str | None = None) -> GroundReaction:
    """The sum of the forces of contacts that share a plane; see ``Run.ground_reaction``."""
    system = run.system
    if not system.contacts:
        raise ModelError(f"system '{system.name}' has no contact; add one with Builder.contact")
    names = (contacts,) if isinstance(contacts, str) else system.contact_names if contacts is None else tuple(contacts)
    if not names or len({*names}) < len(names):
        raise ModelError(
            f"ground_reaction: contacts = {names}; name one or more of {', '.join(system.contact_names)}, each once"
        )
    chosen = [system.contact(name) for name in names]
    first = chosen[0]
    for other in chosen[1:]:
        n, m = first.values["n_j"], other.values["n_j"]
        apart = abs(float((other.values["s_j"] - first.values["s_j"]) @ n))
        if other.plane != first.plane or np.abs(n - m).max() > 1e-12 or apart > 1e-12:
            raise ModelError(
                f"contacts '{first.name}' and '{other.name}' are on different planes, which have no common centre of "
                "pressure; name contacts of one plane"
            )
    A = run.rotations(first.plane)
    origin = run.r[first.plane] if first.plane != GROUND else np.zeros((len(run.t), 3))
    normal, point = A @ first.values["n_j"], origin + A @ first.values["s_j"]
    forces = np.array([run.contacts[name].force for name in names])
    arms = np.array([run.contacts[name].point for name in names]) - point
    force = forces.sum(axis=0)
    moment = np.cross(arms, forces).sum(axis=0)  # about the point of the plane
    along = np.einsum("na,na->n", force, normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        arm = np.where(along[:, None] > 0.0, np.cross(normal, moment) / along[:, None], np.nan)
        rest = moment - np.cross(arm, force)
    return GroundReaction(force, point + arm, np.einsum("na,na->n", rest, normal))
