"""Results of a run, and their export.  Imports ``system`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.results.contact_motion import ContactMotion, GroundReaction
    from runtime.results.energy_balance import EnergyBalance
    from runtime.results.export import write_columns, write_dataset, write_storage
    from runtime.results.limit_motion import LimitMotion
    from runtime.results.motion_file import MotionFile, read_netcdf
    from runtime.results.reactions import Reaction
    from runtime.results.stats import Stats
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "contact_motion": "ContactMotion GroundReaction",
            "energy_balance": "EnergyBalance",
            "export": "write_columns write_dataset write_storage",
            "limit_motion": "LimitMotion",
            "motion_file": "MotionFile read_netcdf",
            "reactions": "Reaction",
            "stats": "Stats",
        },
    )

__all__ = [
    "ContactMotion", "EnergyBalance", "GroundReaction", "LimitMotion", "MotionFile", "Reaction", "Stats", "read_netcdf",
    "write_columns", "write_dataset", "write_storage",
]  # fmt: skip
