"""Function evaluations by method and tolerance, on which the claims about cost are checked.

The counts do not depend on the machine, nor on the tolerance of the other runs of the study: each is made at all ``TOLERANCES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from models import pendulum
from models.studies import measures
from models.studies import pendulum as pendulum_study
from models.studies.ankle.runs import ANKLES, CASES, COST_SECONDS, PRESETS
from models.studies.ankle.runs import build as build_foot
from models.studies.claims.verdicts import Claims
from runtime import System, simulate
from runtime.support import Beside

METHODS = ("BDF", "Radau", "LSODA", "RK45", "dop853")
# RK45 needs minutes for the damped spin of the pendulum's slender rod; dop853 shows what an explicit method takes.
PENDULUM_METHODS = tuple(m for m in METHODS if m != "RK45")
TOLERANCES = (1e-8, 1e-10, 1e-12)
PAPERS = ("BDF", 1e-10)  # ode15s and its tolerance, Rodrigues da Silva et al. (2024c), Table 4
WHOLE = 5.0  # [s] of the papers' longer runs

Setting = tuple[str, float]  # method, relative and absolute tolerance
Counts = Mapping[Setting, int]


@dataclass(frozen=True)
class FootCosts:
    """Evaluations of the foot: in the first second by preset, ankle and case, and of whole dissipative runs by ankle."""

    first: Mapping[tuple[str, str, str], Counts]
    whole: Mapping[str, Counts]
    failures: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class PendulumCosts:
    """Evaluations of the pendulum by case, of the slender rod and of a body with equal moments of inertia."""

    rod: Mapping[str, Counts]
    isotropic: Mapping[str, Counts]
    failures: tuple[str, ...] = field(default=())


def counted(system: System, seconds: float, methods: Sequence[str], failures: list[str]) -> dict[Setting, int]:
    """Evaluations of a run by method and tolerance; messages of runs that fail go to ``failures``."""
    found = {}
    for method in methods:
        for tolerance in TOLERANCES:
            options: dict[str, Any] = dict(method=method, rtol=tolerance, atol=tolerance)
            run = simulate(system, seconds, coordinates=measures.EQUATIONS, **options)
            if not run.success:
                failures.append(f"cost of '{system.name}', {method} at {tolerance:g}: {run.message}")
            found[method, tolerance] = run.stats.evaluations
    return found


@cache
def counting() -> Beside[tuple[FootCosts, PendulumCosts]]:
    """Begin to count, in another process; once."""
    return Beside(lambda: (foot_costs(), pendulum_costs()))


@cache
def all_costs() -> tuple[FootCosts, PendulumCosts]:
    """Evaluations of the foot and of the pendulum; counted once."""
    return counting().result()


def foot_costs() -> FootCosts:
    """Evaluations of the foot."""
    failures: list[str] = []
    first = {}
    for preset in PRESETS:
        for ankle in ANKLES:
            for case in CASES:
                known = (
                    first.get((next(iter(PRESETS)), ankle, case)) if case == "free" else None
                )  # equal in all presets
                system = build_foot(ankle, case, preset)
                first[preset, ankle, case] = known or counted(system, COST_SECONDS, METHODS, failures)
    damped = {ankle: build_foot(ankle, "dissipative", "published") for ankle in ANKLES}
    whole = {ankle: counted(system, WHOLE, METHODS, failures) for ankle, system in damped.items()}
    return FootCosts(first, whole, tuple(failures))


def pendulum_costs() -> PendulumCosts:
    """Evaluations of the pendulum."""
    failures: list[str] = []
    across = float(np.linalg.eigvalsh(pendulum_study.build("free").bodies[0].inertia)[-1])
    rod, isotropic = {}, {}
    for case, limits in pendulum_study.CASES.items():
        rod[case] = counted(pendulum_study.build(case), WHOLE, PENDULUM_METHODS, failures)
        even = pendulum.build(
            "spherical", longitude=pendulum.RELEASE_LONGITUDE, inertia=(across, across, across), **limits
        )
        isotropic[case] = counted(even, WHOLE, ("dop853",), failures)
    return PendulumCosts(rod, isotropic, tuple(failures))


def ratios(a: Counts, b: Counts) -> dict[Setting, float]:
    """Evaluations of a relative to those of b, by setting."""
    return {setting: a[setting] / b[setting] for setting in a}


def beside_next(counts: Mapping[str, Counts], case: str, *, most: bool) -> dict[Setting, float]:
    """How much more efficient a case is than the next one (``most``), or how much less, by setting; above 1 where it is so."""
    others = [by_setting for name, by_setting in counts.items() if name != case]
    if most:
        return {setting: min(other[setting] for other in others) / n for setting, n in counts[case].items()}
    return {setting: n / max(other[setting] for other in others) for setting, n in counts[case].items()}


def ranged(values: Mapping[Setting, float], form: str = ".2f") -> str:
    """Smallest and largest value over the tolerances of each method, and that of the papers' setting, as text."""
    words = []
    for method in dict.fromkeys(method for method, _ in values):
        low, high = (f(value for (m, _), value in values.items() if m == method) for f in (min, max))
        words.append(f"{method} {low:{form}}" + (f" to {high:{form}}" if f"{low:{form}}" != f"{high:{form}}" else ""))
    own = f" ({PAPERS[0]} at {PAPERS[1]:g}: {values[PAPERS]:{form}})" if PAPERS in values else ""
    return ", ".join(words) + own


def dependence(parts: Mapping[Setting, bool]) -> str:
    """On what an outcome depends: ``the method``, ``the tolerance``, both, or neither (empty)."""

    def differ(kept: int) -> bool:
        groups: dict[Any, set[bool]] = {}
        for setting, part in parts.items():
            groups.setdefault(setting[kept], set()).add(bool(part))
        return any(len(group) > 1 for group in groups.values())

    # A column of equal tolerance whose outcomes differ shows the method, and the other way round.
    found = [name for name, kept in (("the method", 1), ("the tolerance", 0)) if differ(kept)]
    return " and ".join(found)


def check_over_settings(
    claims: Claims,
    place: str,
    statement: str,
    groups: Mapping[str, Mapping[Setting, float]],
    holds: Callable[[float], bool],
    *,
    quantity: str,
    reason: str = "",
) -> None:
    """Add a claim on a value, one for each method and tolerance, in several variants of the model.

    The verdict follows from all settings together, so it depends on none; ``computed`` has the range of each method over the
    tolerances, and the reason begins with what the outcome depends on.
    """
    parts = {name: {setting: holds(value) for setting, value in values.items()} for name, values in groups.items()}
    shown = "; ".join((f"{name}: " if name else "") + ranged(values) for name, values in groups.items())
    depends = [word for word in dict.fromkeys(dependence(part) for part in parts.values()) if word]
    first, *others = parts.values()
    if any(first[setting] != other[setting] for other in others for setting in other):
        depends.append(f"the variant ({', '.join(groups)})")
    flat = [part for of_group in parts.values() for part in of_group.values()]
    start = f"depends on {' and on '.join(depends)}: " if depends else ""
    count = f"holds in {sum(flat)} of {len(flat)} settings"
    tolerances = f"{quantity}, tolerances {TOLERANCES[-1]:g} to {TOLERANCES[0]:g}: {shown}"
    claims.check(
        place, statement, computed=tolerances, holds=flat, reason=start + count + (f"; {reason}" if reason else "")
    )
