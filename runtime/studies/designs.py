"""Designs of studies: which values the parameters have in each case."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from runtime.studies.distributions import Distribution
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError

Kind = Literal["sample", "sobol", "grid", "one_at_a_time"]
Sampler = Literal["sobol", "latin_hypercube", "random"]
Samples = Mapping[str, np.ndarray[Any, np.dtype[Any]]]
SIZES = {"sample": 1024, "sobol": 1024, "grid": 11, "one_at_a_time": 11}  # by default
MOST_CASES = 100_000_000
MOST_DIMENSIONS = 21201  # of SciPy's Sobol sequences


@dataclass(frozen=True)
class Design:
    """Cases of a study.

    ``kind``; ``n``: samples, base samples, or values of each parameter; ``shape``: of a grid, by parameter; ``samples``: name ->
    values (cases,); ``first``: name -> first case of a parameter that varies alone, whose cases follow each other.

    "sobol": cases 0 to n - 1 are the samples A, the next n the samples B, then n for each parameter: A with this parameter of B.
    """

    kind: Kind
    n: int
    samples: Samples
    shape: tuple[int, ...] = ()
    first: Mapping[str, int] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.samples.values())))

    @property
    def independent(self) -> int:
        """Number of the first cases that are independent samples."""
        return {"sample": len(self), "sobol": 2 * self.n}.get(self.kind, 0)


def design_of(
    kind: Kind, varied: Mapping[str, Distribution], n: int | None, sampler: Sampler, seed: int
) -> Design:  # fmt: skip
    """The cases of a study.

    Raises
    ------
    ModelError
        For too few or too many cases, and for base samples whose number is not a power of 2.
    """
    n = SIZES[kind] if n is None else n
    if n < 2:
        raise ModelError(f"n = {n}; give 2 or more")
    of_grid = math.prod(n if one.values is None else len(one.values) for one in varied.values())
    cases = {"sample": n, "sobol": n * (len(varied) + 2), "grid": of_grid, "one_at_a_time": n * len(varied)}[kind]
    if cases > MOST_CASES or 2 * len(varied) > MOST_DIMENSIONS:
        raise ModelError(
            f"n = {n} of {len(varied)} parameters gives {cases} cases, limit {MOST_CASES}; give a smaller n"
        )
    if kind == "sample":
        unit = _unit_samples(sampler, len(varied), n, seed)
        return Design(kind, n, _at(varied, unit))
    if kind == "sobol":
        return _saltelli(varied, n, seed)
    return _grid(varied, n) if kind == "grid" else _one_at_a_time(varied, n)


def _unit_samples(sampler: Sampler, d: int, n: int, seed: int) -> Floats:
    """Samples in the unit cube, (n, d)."""
    rng = np.random.default_rng(seed)
    found: Floats
    if sampler == "random":
        found = rng.random((n, d))
    else:
        from scipy.stats import qmc

        if sampler == "latin_hypercube":
            found = qmc.LatinHypercube(d, seed=rng).random(n)
        else:
            sequence = qmc.Sobol(d, seed=rng, bits=64)  # scrambled
            found = sequence.random_base2((n - 1).bit_length())[:n]
    return found


def _at(varied: Mapping[str, Distribution], unit: Floats) -> dict[str, Any]:
    return {name: one.at(unit[:, k]) for k, (name, one) in enumerate(varied.items())}


def _saltelli(varied: Mapping[str, Distribution], n: int, seed: int) -> Design:
    """Samples A and B of a Sobol sequence of twice the dimensions, and A with each column of B; Saltelli et al. (2010)."""
    if n & (n - 1):
        power = 1 << n.bit_length()
        raise ModelError(
            f"n = {n}: the base samples of a Sobol sequence are a power of 2; give {power // 2} or {power}"
        )
    d = len(varied)
    unit = _unit_samples("sobol", 2 * d, n, seed)
    A, B = unit[:, :d], unit[:, d:]
    blocks = [A, B]
    for k in range(d):
        block = A.copy()
        block[:, k] = B[:, k]
        blocks.append(block)
    return Design("sobol", n, _at(varied, np.concatenate(blocks)))


def _grid(varied: Mapping[str, Distribution], n: int) -> Design:
    """All combinations of n values of each parameter."""
    values = [one.spread(n) for one in varied.values()]
    shape = tuple(len(one) for one in values)
    places = np.indices(shape).reshape(len(shape), -1)
    columns = (one[place] for one, place in zip(values, places, strict=True))
    return Design("grid", n, dict(zip(varied, columns, strict=True)), shape)


def _one_at_a_time(varied: Mapping[str, Distribution], n: int) -> Design:
    """Case 0 has all medians; then each parameter takes n values alone."""
    own = {name: one.spread(n) for name, one in varied.items()}
    *starts, count = np.cumsum([1, *map(len, own.values())]).tolist()
    first = dict(zip(own, starts, strict=True))
    samples: dict[str, Any] = {}
    for name, one in varied.items():
        column = np.full(count, one.middle, dtype=own[name].dtype)  # as wide as the longest text
        column[first[name] : first[name] + len(own[name])] = own[name]
        samples[name] = column
    return Design("one_at_a_time", n, samples, tuple(len(values) for values in own.values()), first)
