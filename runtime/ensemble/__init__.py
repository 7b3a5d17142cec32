"""Many cases of one system on all cores, kept in a folder.  Imports `integrate` and below."""

from runtime.ensemble.result import Ensemble

__all__ = ["Ensemble"]
