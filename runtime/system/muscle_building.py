"""Checked muscles: a law along a path, as a force."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.force_elements import MAX_BODIES
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.system.connection import checked_parameter, refuse_other_keys, refuse_unknown_body
from runtime.system.force_building import build_force
from runtime.system.muscle_modules import (
    ALONG,
    DELAY,
    DELAYED,
    EXCITATION,
    LAWS,
    LETTERS,
    OWN,
    POINT,
    REFLEXES,
    Element,
    law_of,
    letters_of,
    may_leave,
    muscle_module,
    names_of,
)
from runtime.system.parts import AXIS_TOLERANCE, GROUND, Force
from runtime.system.signal import Signal, as_signal
from runtime.system.spans import POINTS, SPANS

STEEPEST = "maximum_pennation_angle"
DIGITS = 9  # of an excitation, beyond which it may be off its bounds by rounding


def build_muscle(
    name: str, law: str | ModuleType, path: Sequence[Any], excitation: Signal | float, constants: Mapping[str, Any],
    known: Collection[str], states: Mapping[str, Floats] | None, *, rigid: bool, reflex: str | ModuleType | None = None,
    delay: float = 0.0,
) -> Force:  # fmt: skip
    """Return a checked muscle; see ``Builder.muscle``.

    ``rigid``: its tendon; ``known``: the names of the bodies; ``states``: as of ``build_force``.

    Raises
    ------
    ModelError
    """
    what = f"muscle '{name}'"
    of_law = LAWS.get(law) if isinstance(law, str) else law
    if of_law is None or not hasattr(of_law, "law"):
        raise unknown_name(law, [*LAWS, "what codegen.compile_muscle(law) returns"], "law", whose=f"{what}: ")
    if law_of(f"{of_law.NAME}{ALONG}") != of_law.NAME:
        raise ModelError(
            f"{what}: the law '{of_law.NAME}' has a part in its name by which files state rigid tendons, signals, reflexes and "
            "paths; rename its function"
        )
    if rigid and not of_law.RIGID:
        raise ModelError(
            f"{what}: the law '{of_law.NAME}' has no rigid tendon; leave out tendon, or choose another law"
        )
    of_reflex = REFLEXES.get(reflex) if isinstance(reflex, str) else reflex
    if reflex is not None and getattr(of_reflex, "SORT", "") != "reflex":
        raise unknown_name(
            reflex, [*REFLEXES, "what codegen.compile_reflex(law) returns"], "reflex", "reflexes", f"{what}: "
        )
    if delay and of_reflex is None:
        raise ModelError(f"{what}: delay = {delay:g} s is that of a reflex; give reflex, or leave the delay out")
    late = of_reflex is not None and delay != 0.0  # without a delay the law is that of the present
    bodies, elements, located = _path(what, path, known)
    signal = as_signal(excitation, f"{what}: excitation")
    between = (
        "" if signal.is_constant else "give a signal within 0 and 1, also between its knots, as splines of degree 1 are"
    )
    for value in signal.extent:
        checked_parameter(round(value, DIGITS), f"{what}: excitation", EXCITATION, between)
    driven = not signal.is_constant
    module = muscle_module(of_law, elements, rigid=rigid, driven=driven, reflex=of_reflex, delayed=late)
    given = {
        **(of_reflex.DEFAULTS if of_reflex else {}),
        **of_law.DEFAULTS,
        **(dict.fromkeys(DELAYED, 0.0) | {"delay": checked_parameter(delay, f"{what}: delay", DELAY)} if late else {}),
        "excitation": signal if driven else float(np.clip(signal.coefficients[0, 0], 0.0, 1.0)),
        **constants,
    }
    settled = tuple(state for state in module.STATES if f"{state}_0" not in given)
    given |= {f"{state}_0": 1.0 for state in settled}  # until the start is known
    takes = [key for key in (*module.KEYWORDS, *module.SIGNALS) if key not in located]
    needs = [key for key in takes if key not in given or key in constants]
    refuse_other_keys(what, given, takes, f"needs {', '.join(needs)}")
    force = build_force(name, module, bodies, {**given, **located}, known, "muscle", states=states, settled=settled)
    _refuse_unreachable(what, force.values)
    for n, (kind, letters) in enumerate(elements, 1):
        if kind in POINTS:
            _refuse_no_angle(f"{what}: path: {kind} point {n}", n, letters, force)
    return force


def _refuse_no_angle(what: str, n: int, letters: str, force: Force) -> None:
    """Refuse point n of a path, on bodies with these letters, whose range is empty or whose angle is none or never changes."""
    lower, upper = force.values[f"lower_{n}"], force.values[f"upper_{n}"]
    if lower > upper:
        raise ModelError(f"{what}: lower = {lower:g} rad, above upper = {upper:g} rad; exchange them")
    axis, turning = letters[1], letters[2]
    if axis == turning:
        body = force.bodies[LETTERS.index(axis)]
        raise ModelError(
            f"{what}: axis a_j and direction c_k are both of {body}, so that its angle never changes; give two bodies that turn "
            "against each other"
        )
    a, b = (force.values[f"{key}_{n}_{axis}"] for key in "ab")
    if (sine := float(np.linalg.norm(np.cross(a, b)))) < AXIS_TOLERANCE:
        raise ModelError(
            f"{what}: b_j, from which its angle counts, is along its axis a_j: the sine between them is {sine:.3g}, limit "
            f"{AXIS_TOLERANCE:g}; give a direction across the axis"
        )


def _refuse_unreachable(what: str, values: Mapping[str, Any]) -> None:
    """Refuse sides of wraps along their axes, and a pennation at which the fibre stops before its optimal length."""
    for side in (key for key in values if key.startswith("n_")):
        axis = f"a{side.removeprefix('n')}"
        if (cosine := abs(float(values[side] @ values[axis]))) > AXIS_TOLERANCE:
            raise ModelError(
                f"{what}: {side}, the side of a wrap, is not across its axis {axis}: the cosine between them is {cosine:.3g}, "
                f"limit {AXIS_TOLERANCE:g}; give a direction at right angles to the axis"
            )
    optimal, most = (
        values.get(key, default) for key, default in (("pennation_angle_at_optimal", 0.0), (STEEPEST, np.inf))
    )
    if optimal > most:
        raise ModelError(
            f"{what}: {STEEPEST} = {most:g} rad is below pennation_angle_at_optimal = {optimal:g} rad, so that its fibre stops "
            "before it is as short as its optimal length; give a larger one"
        )


def _path(what: str, path: Sequence[Any], known: Collection[str]) -> tuple[list[str], list[Element], dict[str, Any]]:
    """Bodies, elements and values of a path."""
    found = [_element(what, entry, known) for entry in path]
    bodies = list(dict.fromkeys(body for _, own, _ in found for body in own))
    if len(bodies) > MAX_BODIES:
        raise ModelError(
            f"{what}: its path is over {len(bodies)} bodies ({', '.join(bodies)}), limit {MAX_BODIES}; give points of fewer "
            "bodies, such as those between which its length changes"
        )
    kinds = [kind for kind, *_ in found]
    stays = [kind not in SPANS and not may_leave(kind) for kind in kinds]
    if not (stays and stays[0] and stays[-1]) or len(bodies) < 2:
        raise ModelError(
            f"{what}: its path needs a point at each end, on two or more bodies; it has {shown(list(path))}"
        )
    for a, b in itertools.pairwise(kinds):
        if a in SPANS and b in SPANS:
            raise ModelError(
                f"{what}: {a} and {b} without a point between them; give one, or a wrap over both, such as two_cylinders"
            )
        if {a, b} & {*SPANS} and (may_leave(a) or may_leave(b)):
            raise ModelError(f"{what}: {a} and {b} beside each other; give a point between them that stays in the path")
    elements = [(kind, "".join(LETTERS[bodies.index(body)] for body in own)) for kind, own, _ in found]
    values = {
        names_of(n, *element).get(key, f"{key}_{n}"): value
        for n, (element, (*_, own)) in enumerate(zip(elements, found, strict=True), 1) for key, value in own.items()
    }  # fmt: skip
    return bodies + [GROUND] * (len(bodies) == MAX_BODIES - 1), elements, values


def _kinds() -> list[str]:
    """Names of wraps, and of points that move or leave a path."""
    return [*(name for name in SPANS if "k" in SPANS[name].BODIES), *POINTS]


def _element(what: str, entry: Any, known: Collection[str]) -> tuple[str, tuple[str, ...], Mapping[str, Any]]:
    """Name of a wrap or of one of ``POINTS``, or "" for a fixed point; bodies; and values by the names of its module."""
    match entry:
        case (body, location):
            kind, own = "", {POINT: location}
        case (kind, body, Mapping() as own) if kind in _kinds():
            pass
        case (kind, _, Mapping()):
            raise unknown_name(kind, _kinds(), "wrap or point", "wraps and points", f"{what}: path: ")
        case _:
            raise ModelError(f"{what}: path: {shown(entry)}; give (body, point), or (kind, body, values by name)")
    bodies, count = tuple(body) if isinstance(body, tuple | list) else (body,), len(letters_of(kind))
    for one in bodies:
        refuse_unknown_body(one, known, f"{what}: path")
    if len(bodies) != count:
        raise ModelError(
            f"{what}: path: {kind or 'a point'} on {len(bodies)} bodies, needs {count}; give a name for each"
        )
    wanted: Sequence[str]
    if kind in SPANS:
        vectors = [v for v, _, body in SPANS[kind].VECTORS if body in OWN]
        wanted = [*vectors, *(parameter for parameter, _ in SPANS[kind].PARAMETERS)]
    elif kind:
        wanted = POINTS[kind].KEYWORDS
    else:
        return kind, bodies, own
    refuse_other_keys(f"{what}: path: {kind}", own, wanted, f"needs {', '.join(wanted)}")
    return kind, bodies, own
