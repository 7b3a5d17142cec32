"""Public functions and methods of studies, each with arguments with which it works."""

from pathlib import Path

import runtime
from runtime import studies
from runtime.figures import FigureFormat


def of_studies(w):
    """Name -> a function, and keyword arguments with which it works."""
    return {
        "study": (
            runtime.study,
            dict(
                build=w.system,
                parameters={"mass.rod": (3.0, 4.0)},
                t_end=0.05,
                outputs=["max(energy)"],
                kind="sample",
                n=4,
                sampler="sobol",
                seed=0,
                to_cases=None,
                t_eval=[0.0, 0.05],
                progress=False,
                workers=1,
            ),
        ),
        "uniform": (studies.uniform, dict(low=1.0, high=2.0)),
        "log_uniform": (studies.log_uniform, dict(low=1.0, high=2.0)),
        "normal": (studies.normal, dict(mean=1.0, sd=2.0, low=0.0, high=2.0)),
        "triangular": (studies.triangular, dict(low=1.0, mode=1.5, high=2.0)),
        "values": (studies.values, dict(listed=[1.0, 2.0])),
        "Study.indices": (w.study.indices, dict(failed="refuse", level=0.9, resamples=9)),
        "Study.bands": (w.study.bands, dict(output="e", percentiles=[5.0])),
        "Study.worst": (w.study.worst, dict(output="e", count=2, smallest=True)),
        "Study.figure": (w.study.figure, dict(output="e", failed="refuse")),
        "Study.unit": (w.study.unit, dict(name="e")),
        "Study.tables": (w.study.tables, dict(failed="refuse")),
        "Study.write": (
            w.study.write,
            dict(folder=Path("a_study"), failed="refuse", figure_format=FigureFormat(), pdf=False),
        ),
    }
