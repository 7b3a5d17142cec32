"""Ensembles: many cases of one system on all cores, with results in a folder.  Imports ``integrate`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.ensemble.result import Ensemble
    from runtime.ensemble.simulate_many import output_names
else:
    __getattr__, __dir__ = late_names(__name__, {"result": "Ensemble", "simulate_many": "output_names"})

__all__ = ["Ensemble", "output_names"]
