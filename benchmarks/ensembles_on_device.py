"""Cases of an ensemble per second on a graphics processor: a table of ``benchmarks.ensembles``."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

import models
import runtime
from benchmarks.ensemble_systems import bouncing_ball, floating, loaded_foot
from benchmarks.measure import seconds

Kinds = dict[str, tuple[runtime.System, dict[str, Any], dict[str, Any]]]  # by name: system, cases, options
ON_DEVICE = (
    ("foot with a load and a motor: mass of the toes", loaded_foot, "mass.toes"),
    ("bouncing ball: stiffness", bouncing_ball, "stiffness.touch"),
    ("satellite with two arms: mass of an arm", floating, "mass.left"),
    ("four-bar linkage: mass of the coupler", models.four_bar.build, "mass.coupler"),
)


def on_device(kinds: Kinds, named: int, duration: float, settings: dict[str, Any], repeats: int) -> list[list[Any]]:
    """Cases per second on a graphics processor and on all cores, and the time of the first call [s]; none without a device.

    ``named``: number of cases of each of ``ON_DEVICE``, beside those of ``kinds``.
    """
    from numba import cuda

    if not cuda.is_available():
        return []
    kinds = dict(kinds)
    for name, build, varied in ON_DEVICE:
        system, share = build(), np.linspace(0.9, 1.1, named)
        kinds[name] = system, {varied: share * runtime.parameters(system)[varied]}, {}
    rows = []
    for name, (system, varied, options) in kinds.items():

        def run(engine: str | None) -> Any:
            return runtime.simulate_many(
                system, varied, duration, engine=engine, progress=False, **settings, **options  # noqa: B023
            )  # fmt: skip

        start = clock.perf_counter()
        run("gpu")
        first = clock.perf_counter() - start
        times = seconds({"gpu": lambda: run("gpu"), "cores": lambda: run(None)}, repeats)
        number = len(next(iter(varied.values())))
        rates = [number / float(times[where].min()) for where in ("gpu", "cores")]
        rows.append([name, number, *rates, rates[0] / rates[1], first])
    return rows
