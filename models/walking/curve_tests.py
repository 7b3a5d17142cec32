"""Comparison of two sets of curves along the gait cycle by statistical parametric mapping (spm1d, Pataky 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from models.walking.gait_result import PERCENT
from models.walking.samples import runs
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

MIN_CURVES = 3  # of each set
CONSTANT = 1e-9  # standard deviation, relative to the largest value, below which a point has no variance to test with
REMEDY = "pip install 'talus-multibody[statistics]'"


@checked_class
@dataclass(frozen=True)
class Cluster:
    """A part of the gait cycle in which |t| exceeds the threshold.

    ``start``, ``end`` [%]; ``p``: probability of a cluster of this extent or more if the means are equal; ``higher``: whether the
    first set is above the second one.
    """

    start: float
    end: float
    p: float
    higher: bool


@checked_class
@dataclass(frozen=True, eq=False)
class CurveTest:
    """The t test of two sets of curves at each percent of the gait cycle, with one threshold for the whole curve.

    Attributes
    ----------
    paired : bool
    count : (int, int)
        Curves of each set.
    t : (101,)
        NaN outside of ``tested``.
    difference : (101,)
        Mean of the first set less that of the second one, in the unit of the curves.
    threshold : float
        Of |t|, by random field theory, for a probability ``alpha`` that smooth random curves exceed it anywhere.
    degrees_of_freedom : float
    alpha : float
    tested : (float, float) [%]
        Part of the cycle in which the curves vary; a ground force is constant during swing.
    clusters : tuple of Cluster
    """

    paired: bool
    count: tuple[int, int]
    t: Floats
    difference: Floats
    threshold: float
    degrees_of_freedom: float
    alpha: float
    tested: tuple[float, float]
    clusters: tuple[Cluster, ...]

    @property
    def significant(self) -> bool:
        """Whether |t| exceeds the threshold anywhere."""
        return bool(self.clusters)


def missing() -> str:
    """A sentence where spm1d is not installed, else empty."""
    return "" if find_spec("spm1d") else f"curves are compared by spm1d, which is not installed: {REMEDY}"


@checked
def compare_curves(a: Floats, b: Floats, *, paired: bool = False, alpha: float = 0.05) -> CurveTest:
    """Compare two sets of curves by a two-tailed t test with statistical parametric mapping.

    The variances of unpaired sets count as equal.  Curves must be independent of each other: one for each subject, not one for
    each trial.  One threshold holds for one curve; several quantities need a smaller ``alpha``, such as 0.05 / quantities.

    Parameters
    ----------
    a, b : (subjects, 101)
        Curves over the gait cycle; of the same subjects in the same order where ``paired``.
    paired : bool
    alpha : float
        Probability of a false positive anywhere on the curve, between 0 and 0.5.

    Raises
    ------
    ModelError
        Where spm1d is missing, a set has fewer than three curves or one with NaN, or nothing varies.

    Notes
    -----
    Pataky, Vanrenterghem and Robinson, Journal of Biomechanics 48 (2015) 1277-1285.
    """
    first, second = (np.asarray(one, dtype=float) for one in (a, b))
    _check(first, second, paired, alpha)
    if why := missing():
        raise ModelError(why)
    start, stop = _varying(first, second, paired)
    found = _test(first[:, start:stop], second[:, start:stop], paired, alpha)
    t = np.full(len(PERCENT), np.nan)
    t[start:stop] = found.z
    clusters = []
    for cluster in found.clusters:
        begin, end = (float(np.clip(start + x, 0.0, 100.0)) for x in cluster.endpoints)
        middle = int(np.clip(round(0.5 * (begin + end)), start, stop - 1))
        clusters.append(Cluster(begin, end, float(cluster.P), bool(t[middle] > 0.0)))
    return CurveTest(
        paired, (len(first), len(second)), t, first.mean(axis=0) - second.mean(axis=0), float(found.zstar),
        float(found.df[1]), alpha, (float(PERCENT[start]), float(PERCENT[stop - 1])), tuple(clusters),
    )  # fmt: skip


def _check(a: Floats, b: Floats, paired: bool, alpha: float) -> None:
    for what, curves in (("a", a), ("b", b)):
        if curves.ndim != 2 or curves.shape[1] != len(PERCENT):
            raise ModelError(f"{what}: shape {curves.shape}; give curves (subjects, {len(PERCENT)})")
        if len(curves) < MIN_CURVES:
            raise ModelError(f"{what}: {len(curves)} curves, at least {MIN_CURVES} are needed for a comparison")
        if not np.isfinite(curves).all():
            raise ModelError(
                f"{what}: curve {int(np.argmin(np.isfinite(curves).all(axis=1)))} has values that are not finite"
            )
    if paired and len(a) != len(b):
        raise ModelError(f"paired=True: {len(a)} and {len(b)} curves; give one of each subject in both sets")
    if not 0.0 < alpha < 0.5:
        raise ModelError(f"alpha = {alpha:g} must be between 0 and 0.5")


def _varying(a: Floats, b: Floats, paired: bool) -> tuple[int, int]:
    """The longest interval of points at which the tested values vary, as a slice."""
    sets = [a, b, a - b] if paired else [a, b]
    least = CONSTANT * max(float(np.abs(a).max()), float(np.abs(b).max()))
    varies = np.all([one.std(axis=0, ddof=1) > least for one in sets], axis=0)
    found = runs(varies)
    start, stop = max(found, key=lambda run: run[1] - run[0]) if found else (0, 0)
    if stop - start < 3:
        raise ModelError("the curves of a set are all equal; nothing to compare")
    return start, stop


def _test(a: Floats, b: Floats, paired: bool, alpha: float) -> Any:
    """The inference of spm1d."""
    from spm1d import stats

    try:
        spm = stats.ttest_paired(a, b) if paired else stats.ttest2(a, b, equal_var=True)
        return spm.inference(alpha, two_tailed=True)
    except Exception as error:  # of spm1d's own kinds
        raise ModelError(f"spm1d cannot compare these curves: {' '.join(str(error).split())}") from None
