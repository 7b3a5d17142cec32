"""Ensembles: many cases of one system on all cores, with results in a folder.  Imports ``integrate`` and below."""

from runtime.ensemble.result import Ensemble

__all__ = ["Ensemble"]
