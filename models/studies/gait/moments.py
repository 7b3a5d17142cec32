"""Conventions of the moments that figures of a walk show; files and tables keep internal moments, positive as the angles."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.walking.laboratory_page import Panel
from runtime import ModelError

KINDS = {"internal": "of muscles and ligaments", "external": "of ground, gravity and inertia"}
EXTENDED = (
    "dorsiflexion",
    "flexion",
    "adduction",
)  # positive directions against which plantarflexors and extensors act
TOES = "metatarsophalangeal"  # whose flexors are plantarflexors


@dataclass(frozen=True)
class Moments:
    """Kind of the moments, and whether those of plantarflexors, extensors and abductors point up."""

    kind: str = "internal"
    plantarflexor_up: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"moments = {self.kind!r}: use {', '.join(KINDS)}")

    @property
    def text(self) -> str:
        """In words."""
        up = "plantarflexion, extension and abduction up" if self.plantarflexor_up else "positive as the angles"
        return f"{self.kind} ({KINDS[self.kind]}), {up}, in the figures; internal, positive as the angles, in tables and files"

    def of(self, panel: Panel, joint: str) -> Panel:
        """The panel of an internal moment about an axis of a joint, in these conventions."""
        turned = self.plantarflexor_up and (panel.positive in EXTENDED or joint == TOES)
        sign = -1.0 if turned != (self.kind == "external") else 1.0
        norm = panel.norm and replace(panel.norm, mean=sign * panel.norm.mean)
        up, down = (panel.negative, panel.positive) if turned else (panel.positive, panel.negative)
        return replace(
            panel, positive=up, negative=down, norm=norm, sort=f"{self.kind} moment ",
            curves={side: sign * values for side, values in panel.curves.items()},
            within={side: sign * ends for side, ends in panel.within.items()},
        )  # fmt: skip


INTERNAL = Moments()
