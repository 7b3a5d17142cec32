"""Studies in one call: parameters with distributions, a design of cases, one ensemble, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.ensemble.simulate_many import simulate_many
from runtime.results.outputs import RESERVED
from runtime.studies.cases import cases_of
from runtime.studies.designs import Kind, Sampler, design_of
from runtime.studies.distributions import distribution_of
from runtime.studies.result import Study
from runtime.support.arguments import checked
from runtime.support.checks import called
from runtime.support.errors import ModelError, shown
from runtime.system.system import System

TIMES = 101  # of the results, by default


# Above 60 lines: its documentation; the work is in the functions that it calls.
@checked
def study(
    build: System | Callable[..., System],
    parameters: Mapping[str, Any],
    t_end: float,
    *,
    outputs: Mapping[str, str] | Sequence[str],
    kind: Kind = "sample",
    n: int | None = None,
    sampler: Sampler = "sobol",
    seed: int = 0,
    to_cases: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    t_eval: ArrayLike | None = None,
    out: str | Path | None = None,
    progress: bool | Callable[[float, float], None] | None = None,
    **settings: Any,
) -> Study:
    """Vary parameters, simulate all cases in one call of ``simulate_many``, and return what follows.

    Parameters
    ----------
    build : System, or function
        What ``simulate_many`` takes.
    parameters : mapping
        Name -> distribution.  Names are those of ``simulate_many``: keywords of the function; parameters, parts of the initial
        state, coordinates and rates of joints of the system.  Components of a System's vectors have names too, such as
        "gravity.z" or "omega.toes.y".  Distributions are pairs (low, high); ``uniform``, ``log_uniform``, ``normal``,
        ``triangular`` and ``values`` of ``runtime.studies``; or those of ``scipy.stats`` with their arguments.
    t_end : float [s]
    outputs : sequence of str, or mapping of str to str
        What is kept of each case, as for ``simulate_many``, such as ``{"excursion": "range(r.main_foot.y)"}``.
    kind : "sample", "sobol", "grid" or "one_at_a_time"
        Samples of all distributions, for percentiles and rank correlations; samples for Sobol indices, n (parameters + 2) cases;
        all combinations of n values of each; n values of one parameter while the others have their medians.
    n : int, optional
        Samples, base samples (a power of 2), or values of each parameter.  Default: 1024, or 11 values.
    sampler : "sobol", "latin_hypercube" or "random"
        Of the kind "sample": a scrambled Sobol sequence, a Latin hypercube, or independent numbers.
    seed : int
        The same seed gives the same cases, so that ``out`` resumes.
    to_cases : function, optional
        From the samples, name -> values (cases,), to the cases of ``simulate_many``, for parameters that these names do not have.
    t_eval : (m,) [s], optional
        Times over which outputs are reduced.  Default: 101 times from the start to the end.
    out : path, optional
        Folder of the ensemble; repeating the call resumes it.
    progress : bool or callable(cases done, cases), optional
    **settings
        Others of ``simulate_many``, such as rtol, atol, assemble, workers and engine.

    Returns
    -------
    Study
        Cases that fail are counted and named in ``failed`` and in every table.

    Raises
    ------
    ModelError
        For invalid arguments, and where no case reached its end.
    """
    if not parameters:
        raise ModelError("parameters: give at least one name with its distribution, such as {'mass.toes': (0.1, 0.3)}")
    if seed < 0:
        raise ModelError(f"seed = {seed}; give 0 or a number above it")
    if named := [name for name in parameters if name in RESERVED]:
        raise ModelError(f"parameters: '{named[0]}' is the name of a column of the results; give another")
    if both := sorted({*outputs} & {*parameters}):
        raise ModelError(f"outputs: '{both[0]}' is a parameter of this study; give the output another name")
    varied = {name: distribution_of(name, given) for name, given in parameters.items()}
    design = design_of(kind, varied, n, sampler, seed)
    cases = cases_of(build, design.samples) if to_cases is None else _given_cases(to_cases, dict(design.samples))
    if t_eval is None:
        start = settings.get("t_start")
        start = (build.time if isinstance(build, System) else 0.0) if start is None else start
        t_eval = np.linspace(start, t_end, TIMES)
    many = simulate_many(
        build, cases, t_end, t_eval=t_eval, outputs=outputs, out=out, progress=progress, **settings
    )  # fmt: skip
    return Study(design, varied, many, seed)


def _given_cases(to_cases: Callable[[dict[str, Any]], Any], samples: dict[str, Any]) -> Mapping[str, Any]:
    """The cases that a function of the user makes of the samples."""
    found = called(to_cases, "to_cases", samples)
    if not isinstance(found, Mapping):
        raise ModelError(f"to_cases gave {shown(found)}; give a function that returns a mapping from names to values")
    count = len(next(iter(samples.values())))
    if wrong := [name for name, values in found.items() if np.ndim(values) == 0 or len(values) != count]:
        raise ModelError(f"to_cases gave '{wrong[0]}' with another number of rows; give {count}, a row for each sample")
    return found
