"""Step control, methods, the integration loop, switching of limits and contacts, events, batches.

Imports `results` and the rooms below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.integrate.choices import METHODS
    from runtime.integrate.events import Rest
else:
    __getattr__, __dir__ = late_names(__name__, {"events": "Rest", "choices": "METHODS"})

__all__ = ["METHODS", "Rest"]
