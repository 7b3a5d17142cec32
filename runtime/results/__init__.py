"""Results of a run, and their export.  Imports ``system`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.results.contact_motion import ContactMotion, GroundReaction
    from runtime.results.export import write_columns, write_dataset, write_storage
    from runtime.results.limit_motion import LimitMotion
    from runtime.results.reactions import Reaction
    from runtime.results.run import Stats
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "contact_motion": "ContactMotion GroundReaction",
            "export": "write_columns write_dataset write_storage",
            "limit_motion": "LimitMotion",
            "reactions": "Reaction",
            "run": "Stats",
        },
    )

__all__ = [
    "ContactMotion", "GroundReaction", "LimitMotion", "Reaction", "Stats", "write_columns", "write_dataset", "write_storage",
]  # fmt: skip
