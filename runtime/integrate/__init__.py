"""Step control, methods, the integration loop, switching of limits and contacts, events, batches.

Imports `results` and the rooms below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.jit.second_process import compile_ahead_with
from runtime.jit.words import add_words
from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.integrate.choices import METHODS
    from runtime.integrate.co_simulation import StepError
    from runtime.integrate.events import AtRest
    from runtime.integrate.handed_state import RunState
    from runtime.integrate.right_hand_side import RightHandSide
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "events": "AtRest",
            "choices": "METHODS",
            "co_simulation": "StepError",
            "handed_state": "RunState",
            "right_hand_side": "RightHandSide",
        },
    )

__all__ = ["METHODS", "AtRest", "RightHandSide", "RunState", "StepError"]

add_words(
    __name__,
    {
        "balance_check": "the energy balance of cases",
        "batches.batch": "the integration of cases in a batch (dop853)",
        "batches.closing": "the projection of closed loops in a batch",
        "batches.contact_outputs": "quantities of contacts in a batch",
        "batches.surfaces_part": "the switching of limits and contacts in a batch",
        "batches.forces": "energies of forces in a batch",
        "batches.event_part": "the events within steps of a batch",
        "batches.kink_landing": "the kinks of forces within steps of a batch",
        "closed_loops": "the projection of closed loops",
        "contact_events": "contact events",
        "crossings": "events",
        "dense_output": "the states within steps",
        "switching": "the switching of limits and contacts",
        "loop": "the integration loop",
        "resuming": "the change of efforts between steps",
        "quintic": "the states within stiff steps",
        "slips": "the slips of contacts",
        "stepping": "Euler parameters",
        "stepwise_balance": "the powers of forces",
        "turned_steps": "the lengths of steps with events",
        "kink_landing": "the kinks of forces",
        "variational.equations": "the variational equations",
    },
)
compile_ahead_with(f"{__name__}.ahead")
