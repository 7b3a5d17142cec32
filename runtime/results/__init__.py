"""Results of a run, and their export.  Imports ``figures`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.results.contact_motion import ContactMotion
    from runtime.results.drawn_motion import DrawnMotion
    from runtime.results.energy_balance import EnergyBalance
    from runtime.results.export import write_columns, write_dataset, write_storage
    from runtime.results.free_bodies import FreeBody
    from runtime.results.ground_reaction import GroundReaction
    from runtime.results.limit_motion import LimitMotion
    from runtime.results.motion_file import MotionFile, read_netcdf
    from runtime.results.motor_motion import MotorMotion
    from runtime.results.orientation_angles import euler_angles
    from runtime.results.outputs import Output
    from runtime.results.reactions import Reaction
    from runtime.results.seen import Seen
    from runtime.results.stats import Stats
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "contact_motion": "ContactMotion",
            "drawn_motion": "DrawnMotion",
            "energy_balance": "EnergyBalance",
            "orientation_angles": "euler_angles",
            "export": "write_columns write_dataset write_storage",
            "free_bodies": "FreeBody",
            "ground_reaction": "GroundReaction",
            "limit_motion": "LimitMotion",
            "motion_file": "MotionFile read_netcdf",
            "motor_motion": "MotorMotion",
            "outputs": "Output",
            "reactions": "Reaction",
            "seen": "Seen",
            "stats": "Stats",
        },
    )

__all__ = [
    "ContactMotion", "DrawnMotion", "EnergyBalance", "FreeBody", "GroundReaction", "LimitMotion", "MotionFile", "MotorMotion",
    "Output", "Reaction", "Seen", "Stats", "euler_angles", "read_netcdf", "write_columns", "write_dataset", "write_storage",
]  # fmt: skip
