"""Fit of a sole to the measured force of one trial or more: stiffness, damping and heights of its spheres, by least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from models.walking.contact_residuals import (
    GROUPS,
    Target,
    Unknown,
    changed_sole,
    compare,
    force_per_millimetre,
    responses,
    target_of,
)
from models.walking.gait_result import Gait
from models.walking.sole import Sole, floor_of, scale_sole
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

PRIOR = 0.01  # [body weights] root mean square over stance that counts as much as one width of one parameter
FREE, SHARED = ("stiffness", "loss", "height"), ("loss",)
STARTS = (1.0, 4.0, 0.25)  # factors of the stiffness from which the search begins
MAX_STEPS = 300


@checked_class
@dataclass(frozen=True, eq=False)
class SoleFit:
    """A sole fitted to trials.

    ``at_bounds``: parameters on a bound of the search; ``idle``: spheres that never touch the ground in the trials, which
    therefore do not determine their parameters; ``per_mm``: change of the vertical force [body weights] by one millimetre of
    height of the whole sole, root mean square over stance; ``cost``: half the sum of squares, those of the prior among them;
    ``steps`` of the search; ``converged``.
    """

    sole: Sole
    start: Sole
    at_bounds: tuple[str, ...]
    idle: tuple[str, ...]
    per_mm: float
    cost: float
    steps: int
    converged: bool


# Above 60 lines: more than half of them are the docstring.
@checked
def fit_sole(
    trials: Gait | Sequence[Gait],
    start: Sole | None = None,
    *,
    free: Sequence[str] = FREE,
    shared: Sequence[str] = SHARED,
    starts: Sequence[float] = STARTS,
    prior: float = PRIOR,
) -> SoleFit:
    """Fit a sole to the measured force and centre of pressure of one trial or more of a subject.

    Least squares of the vertical force in body weights and of the horizontal moment about the measured centre of pressure in
    body weights times the length of the foot.  That moment is zero where the predicted centre is the measured one, and needs
    no division by a force that may vanish.  The Jacobian is exact (``runtime.contact_sensitivities``).

    A trial says little about a single sphere, and a sole with many free parameters fits the peculiarities of its trial, such
    as markers that are a millimetre off.  So a prior pulls stiffness, damping and heights towards the start, by the widths of
    ``GROUPS``.

    Parameters
    ----------
    trials : Gait or sequence of Gait
        Of one foot of one subject.
    start : Sole, optional
        Default: ``scale_sole(subject)``.
    free : sequence of str
        The parameters to fit: of "stiffness", "loss", "height" and "medial".
    shared : sequence of str
        Those of these that change alike for all spheres: by one factor, or by one distance that moves the whole sole.
    starts : sequence of float
        Factors of the stiffness from which the search begins; the best result is taken, as a sphere that leaves the floor has
        no slope that would bring it back, and a search may end there.
    prior : float [body weights]
        Root mean square over stance that counts as much as one parameter one width off its start; 0 for no prior.

    Returns
    -------
    SoleFit

    Raises
    ------
    ModelError
    """
    trials = (trials,) if isinstance(trials, Gait) else tuple(trials)
    _check(trials, free, shared, starts, prior)
    start = scale_sole(trials[0].subject) if start is None else start
    targets = [target_of(one, start) for one in trials]
    names = tuple(start.spheres)
    unknowns: list[Unknown] = []
    for group in free:
        unknowns += [(GROUPS[group], names)] if group in shared else [(GROUPS[group], (name,)) for name in names]
    best = _search(targets, start, unknowns, starts, prior)
    sole = changed_sole(start, unknowns, best.x)
    all_responses = [responses(target, sole) for target in targets]
    touched = {name for each in all_responses for name, s in each.items() if s.normal_force.max() > 0.0}
    if not touched:
        height = 1e3 * floor_of(trials[0])[0].height
        raise ModelError(
            f"fit_sole: no sphere of the sole touches the floor of {trials[0].name} at z = {height:.0f} mm; does the subject "
            "stand on that floor in the static trial?"
        )
    at_bounds = tuple(
        f"{group.parameter} of {own[0] if len(own) == 1 else 'all'}"
        for (group, own), active in zip(unknowns, best.active_mask, strict=True)
        if active
    )
    return SoleFit(
        sole=sole, start=start, at_bounds=at_bounds, idle=tuple(name for name in names if name not in touched),
        per_mm=force_per_millimetre(targets, all_responses), cost=float(best.cost), steps=int(best.nfev),
        converged=bool(best.status > 0),
    )  # fmt: skip


def _search(
    targets: Sequence[Target], start: Sole, unknowns: Sequence[Unknown], starts: Sequence[float], prior: float
) -> Any:
    """The best result of least squares from several stiffnesses, as SciPy gives it."""
    groups = [group for group, _ in unknowns]
    reach = np.array([np.log(group.reach) if group.factor else group.reach for group in groups])
    size = np.array([1.0 if group.factor else 0.1 * group.reach for group in groups])
    pull = np.diag([prior / (np.log(group.width) if group.factor else group.width) for group in groups])
    last: dict[bytes, tuple[Floats, Floats]] = {}  # residuals and Jacobian are asked for one after the other

    def evaluate(x: Floats) -> tuple[Floats, Floats]:
        key = x.tobytes()
        if key not in last:
            last.clear()
            residuals, slopes = compare(targets, changed_sole(start, unknowns, x), unknowns)
            last[key] = np.concatenate([residuals, pull @ x]), np.concatenate([slopes, pull])
        return last[key]

    best: Any = None
    for factor in starts:
        x0 = np.array([np.log(factor) if group.parameter == "stiffness" else 0.0 for group in groups])
        found = least_squares(
            lambda x: evaluate(x)[0], x0, jac=lambda x: evaluate(x)[1], bounds=(-reach, reach), x_scale=size,
            ftol=1e-6, xtol=1e-10, gtol=1e-14, max_nfev=MAX_STEPS,
        )  # fmt: skip
        if best is None or found.cost < best.cost:
            best = found
    return best


def _check(
    trials: Sequence[Gait], free: Sequence[str], shared: Sequence[str], starts: Sequence[float], prior: float
) -> None:
    if not trials or not all(isinstance(one, Gait) for one in trials):
        raise ModelError("fit_sole: trials must be results of models.walking.analyse, one at least")
    first = trials[0]
    for one in trials[1:]:
        if one.side != first.side or one.subject.name != first.subject.name:
            raise ModelError(
                f"fit_sole: {first.name} ({first.side} foot of {first.subject.name}) and {one.name} ({one.side} foot of "
                f"{one.subject.name}) show different feet; fit each by itself"
            )
    if not free:
        raise ModelError(f"fit_sole: free is empty; use {', '.join(GROUPS)}")
    for key, values in (("free", free), ("shared", shared)):
        if unknown := [value for value in values if value not in GROUPS]:
            raise ModelError(f"fit_sole: {key} = {unknown[0]!r}; use {', '.join(GROUPS)}")
    if not starts:
        raise ModelError("fit_sole: starts is empty; give factors of the stiffness, such as 1")
    for factor in starts:
        if not 1.0 / GROUPS["stiffness"].reach < factor < GROUPS["stiffness"].reach:
            raise ModelError(f"fit_sole: starts = {factor!r}, must be between 0.01 and 100 times the stiffness")
    if not 0.0 <= prior < np.inf:
        raise ModelError(f"fit_sole: prior = {prior!r} body weights, must be a finite number, not below 0")
