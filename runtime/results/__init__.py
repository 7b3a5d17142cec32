"""Results of a run, and their export.  Imports ``system`` and below."""

from runtime.results.contact_motion import ContactMotion, GroundReaction
from runtime.results.export import write_storage
from runtime.results.limit_motion import LimitMotion
from runtime.results.run import Reaction, Stats

__all__ = ["ContactMotion", "GroundReaction", "LimitMotion", "Reaction", "Stats", "write_storage"]
