"""Studies: designs of cases, one ensemble, indices, percentiles, tables, figures.  Imports ``ensemble`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.studies.distributions import Distribution, log_uniform, normal, triangular, uniform, values
    from runtime.studies.indices import Indices
    from runtime.studies.result import Study
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "distributions": "Distribution log_uniform normal triangular uniform values",
            "indices": "Indices",
            "result": "Study",
        },
    )

__all__ = ["Distribution", "Indices", "Study", "log_uniform", "normal", "triangular", "uniform", "values"]
