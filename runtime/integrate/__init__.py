"""Step control, methods, the integration loop, switching of limits and contacts, events, batches.

Imports `results` and the rooms below it.
"""

from runtime.integrate.events import Rest
from runtime.integrate.methods import METHODS

__all__ = ["METHODS", "Rest"]
