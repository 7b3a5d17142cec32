"""Tables of landings and designs, and their answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from models.foot_muscles import GROUPS
from models.generic_bones import SOURCE
from models.studies.landing.design import FACTORS, Design
from models.studies.landing.runs import (
    ANGLES,
    ANKLES,
    AT_REST,
    OF_MUSCLES,
    TRANSITION_VELOCITY,
    UNITS,
    Case,
    Landing,
    Measured,
    scaled,
    scales_of,
)
from runtime.report import Table

ASSUMED = (
    "Leg and foot bear no body: without an orthosis or muscles the leg topples after the impact.  The spheres of the sole lie in "
    "the midline, so that the foot has no width.  "
    f"Friction is reached at a slip of {1000.0 * TRANSITION_VELOCITY:g} mm/s."
)
DIGITS = 4  # decimals of angles [deg] and rates [deg/s] at touch-down; beyond them is rounding
AXES = "Subtalar: the angle about the axis of the hinge.  ISB: about the floating axis of Wu et al. (2002)."


def _column(name: str) -> str:
    return name if UNITS[name] == "1" else f"{name} [{UNITS[name]}]"


def worn(orthosis: str, scale: float | None) -> str:
    """The orthosis of a landing in words."""
    if scale is None:
        return "none"
    return orthosis if scale == 1.0 else f"{scale:.3g} {orthosis}"


def against_inversion(orthosis: Mapping[str, Any] | None, scale: float | None) -> float | None:
    """Stiffness against inversion [N m/deg], the first of a pair; None of a curve or a law, and without an orthosis."""
    given = None if orthosis is None or scale is None else scaled(orthosis, scale)["stiffness"][1]
    if given is None or isinstance(given, Mapping) or np.ndim(given) == 2:
        return None
    return float(np.deg2rad(np.ravel(given)[0]))


def _rounded(value: float) -> float:
    """A value at touch-down, without rounding errors and without the sign of 0."""
    return round(value, DIGITS) + 0.0


def landings(found: Sequence[Landing], varied: Sequence[str], orthosis: str, values: Mapping[str, Any] | None) -> Table:
    """A row for each landing and angle."""
    rows: list[list[Any]] = []
    for one in found:
        for name, of in one.measured.items():
            rows.append(
                [
                    ANKLES[one.ankle], *(getattr(one.case, each) for each in varied), worn(orthosis, one.scale), name,
                    of.peak + 0.0, round(of.peak_at, 1), of.peak_rate, _rounded(of.at_touch_down),
                    _rounded(of.rate_at_touch_down), one.peak_force,
                    against_inversion(values, one.scale),
                ]
            )  # fmt: skip
    columns = [
        "ankle", *map(_column, varied), "orthosis", "angle", "peak inversion [deg]", "after touch-down [ms]", "peak rate [deg/s]",
        "at touch-down [deg]", "rate at touch-down [deg/s]", "force [N]", "against inversion [N m/deg]",
    ]  # fmt: skip
    note = (
        f"{AXES}  Peaks: of inversion and of its rate from touch-down on.  Force: largest of the ground, also "
        "within the steps of the integration; other values are those at output times, a millisecond apart.  Against inversion: "
        f"stiffness of the orthosis; none of a curve or a law.  {ASSUMED}"
    )
    return Table(
        "landings", columns, rows, note, brief=[*columns[: 4 + len(varied)], "force [N]", columns[4 + len(varied)]]
    )


def muscles(found: Sequence[Landing], angle: str) -> Table:
    """A row for each muscle of each landing."""
    rows: list[list[Any]] = []
    for one in found:
        k, first = one.place_of_peak(angle), int(np.searchsorted(one.run.t, one.touch_down))
        for group, names in GROUPS.items():
            for name in names:
                of = one.run.forces[name]
                values = of.activation[first], of.activation[k], of.tension[k], of.tension.max()
                rows.append([ANKLES[one.ankle], name, group, *map(float, values)])
    columns = [
        "ankle", "muscle", "group", "activation at touch-down", "activation at the peak", "tension at the peak [N]",
        "largest tension [N]",
    ]  # fmt: skip
    note = (
        f"Landings without an orthosis ({found[0].case.text()}), at the peak of inversion {ANGLES[angle].words}.  "
        f"{SOURCE[:1].upper()}{SOURCE[1:]}.  "
        "The knee is held straight.  No source states activations of this foot: they are those that were asked for."
    )
    return Table("muscles", columns, rows, note)


def peaks(found: Sequence[Landing], varied: Sequence[str], orthosis: str, angle: str) -> Table:
    """A row for each ankle and case, a column for each orthosis."""
    by_place = {(one.ankle, one.case, one.scale): one.peak(angle) + 0.0 for one in found}
    scales = scales_of(found)
    rows = [
        [ANKLES[ankle], *(getattr(case, each) for each in varied), *(by_place.get((ankle, case, scale)) for scale in scales)]
        for ankle, case in dict.fromkeys((one.ankle, one.case) for one in found)
    ]  # fmt: skip
    labels = ["no orthosis" if scale is None else worn(orthosis, scale) for scale in scales]
    columns = ["ankle", *map(_column, varied), *(f"{label} [deg]" for label in labels)]
    note = "A dash: the landing failed; see the failures."
    if "co_activation" in varied:
        note += (
            f"  Co-activation 0: no muscles.  {AT_REST:g}: muscles at rest, at the least activation of their law, with which all "
            "others are to be compared."
        )
    return Table(f"peak inversion {ANGLES[angle].words}", columns, rows, note)


def designs(found: Sequence[Design], varied: Sequence[str], values: Mapping[str, Any]) -> Table:
    """A row for each design."""
    rows: list[list[Any]] = []
    for one in found:
        landing = one.landing
        rows.append(
            [
                ANKLES[landing.ankle], *(getattr(landing.case, each) for each in varied), one.angle, one.limit, one.result,
                landing.scale, against_inversion(values, landing.scale), *(landing.peak(name) for name in ANGLES), one.tried,
                one.runs,
            ]
        )  # fmt: skip
    columns = [
        "ankle", *map(_column, varied), "limit of", "limit [deg]", "result", "of the stiffness", "against inversion [N m/deg]",
        *(f"peak, {name} [deg]" for name in ANGLES), "tried", "runs",
    ]  # fmt: skip
    note = (
        f"The least factor on the stiffness of the orthosis about all axes, up to {FACTORS[-1]:g}, that keeps the limit.  "
        "Tried: landings at fixed factors, between two of which the search begins.  Runs: those of the search, each with its "
        "derivative.  Orthoses that were measured (Shuman and Russell Esposito 2021) "
        "have up to 0.53 N m/deg against inversion."
    )
    return Table("designs", columns, rows, note, brief=[columns[0], *columns[1 : 1 + len(varied)], *columns[-7:-4]])


def answer(
    found: Sequence[Landing],
    made: Sequence[Design],
    orthosis: str,
    case: Case,
    varied: Sequence[str],
    acting: Iterable[Case],
) -> str:
    """Peaks of a case with both ankles, without muscles and with those of each of ``acting``, and orthoses designed for it."""
    own = [one for one in found if one.case == case]
    scales, parts = scales_of(own), []
    for scale in dict.fromkeys((scales[0], scales[-1])):
        each = [
            f"{_shown(one.measured['subtalar'])} ({_shown(one.measured['isb'])} by the ISB) with the {ANKLES[one.ankle]}"
            for one in own
            if one.scale == scale
        ]
        which = "without an orthosis" if scale is None else f"with the orthosis {worn(orthosis, scale)!r}"
        parts.append(f"{which} {', '.join(each)}")
    bare = [one for one in found if not one.case.muscles]
    which = "landings without muscles" if len(bare) < len(found) else "landings"
    conditions = tuple(name for name in varied if name not in OF_MUSCLES)
    largest = f"  Of {len(bare)} {which} this one inverts most." if conditions else ""
    sentences = [f"Largest inversion about the subtalar axis ({case.text(conditions)}): {'; '.join(parts)}.{largest}"]
    for one_case in acting:
        with_muscles = [one for one in found if one.case == one_case and one.case.muscles and one.scale is None]
        each = [f"{_shown(one.measured['subtalar'])} with the {ANKLES[one.ankle]}" for one in with_muscles]
        if each:
            sentences.append(f"With muscles, without an orthosis ({_control(one_case)}): {', '.join(each)}.")
    if own_designs := [one for one in made if one.landing.case == case]:
        limit = f"{own_designs[0].limit:g} deg {ANGLES[own_designs[0].angle].words}"
        sentences.append(f"To keep inversion below {limit}: {'; '.join(map(_said, own_designs))}.")
    return "  ".join(sentences)


def _control(case: Case) -> str:
    """Co-activation and reflex of a case with muscles in words."""
    of = case.control
    assert of is not None  # a case with muscles
    activated = f"co-activation {case.co_activation:g} of {' and '.join(of.co_activation_of)}"
    parts = ["at rest" if case.co_activation == AT_REST else activated]
    if case.reflex:
        parts.append(
            f"reflex with the gain {case.reflex:g} of {' and '.join(of.reflex_of)} after {1000.0 * of.delay:g} ms"
        )
    return ", ".join(parts)


def _shown(of: Measured) -> str:
    """A peak [deg]."""
    return f"{round(of.peak, 1) + 0.0:.1f} deg{' and rising' if of.rising else ''}"


def _said(one: Design) -> str:
    ankle, scale = ANKLES[one.landing.ankle], one.landing.scale
    if one.kept and scale:
        return f"{scale:.3g} of the stiffness with the {ankle}, found in {one.runs} runs with derivatives"
    return f"{one.result} ({ankle})"
