"""Checks of joints, drivers, masses and inertias, by the rules of their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from generated import joints
from runtime.dynamics.layout import ROWS
from runtime.jit.python_code import with_arrays
from runtime.support.arguments import unchecked
from runtime.support.arrays import Floats
from runtime.support.checks import finite, finite_number, positive, unit
from runtime.support.errors import RENAMED, ModelError, shown, unknown_name
from runtime.support.numbers import LARGEST, floats
from runtime.system.definitions import Definitions, is_own
from runtime.system.global_axes import AXIS, POINT, local_values
from runtime.system.parts import AXIS_TOLERANCE, FORCE_KINDS, GROUND, Bounds, Joint
from runtime.system.signal import as_signal

# Relative, because published inertias are rounded and flat bodies satisfy the equality exactly
ROUNDING = 1e-12  # relative, of a principal moment that is zero
PLACES, PULL = 101, 1e-9  # of a law, at which it must be above a part of its largest value
KINDS = Definitions(joints.MODULES)


def definition(sort: str, name: str, kind: str | ModuleType) -> ModuleType:
    """Return the generated module of a kind of joint, driver, motor, force or event (``sort``).

    Raises
    ------
    ModelError
    """
    of_force = sort in ("force", "event", "muscle")
    kinds, made = (FORCE_KINDS, "compile_force") if of_force else (KINDS, "compile_joint")
    module = kinds.get(kind) if isinstance(kind, str) else kind
    sort = "force" if of_force else sort
    if module is None:
        able: dict[str, Callable[[Any], bool]] = {
            "force": lambda m: True, "joint": lambda m: not m.SIGNALS, "driver": lambda m: bool(m.SIGNALS),
            "motor": lambda m: bool(m.COORDINATE),
        }  # fmt: skip
        known = [key for key, m in kinds.items() if able.get(sort, able["motor"])(m)]
        raise unknown_name(
            kind, [*known, f"what codegen.{made}(definition) returns"], "kind", whose=f"{sort} '{name}': "
        )
    needed = ("evaluate", "KEYWORDS", "OUTPUTS" if of_force else "reference")
    if module is kind and not all(hasattr(module, part) for part in needed):
        raise ModelError(
            f"{sort} '{name}': {shown(kind)} is no kind of {sort}; pass a name or codegen.{made}(definition)"
        )
    refuse_name_of_shipped(f"{sort} '{name}'", module, kinds)
    if not of_force and len(module.ROWS) > ROWS:
        raise ModelError(f"{sort} '{name}' ({module.NAME}): {len(module.ROWS)} rows, limit {ROWS}; use two {sort}s")
    return module


def refuse_name_of_shipped(what: str, module: ModuleType, shipped: Collection[str]) -> None:
    """Refuse a user's own definition under the name of a shipped one: limits, files and cases know definitions by their names."""
    if is_own(module) and module.NAME in shipped:
        raise ModelError(
            f"{what}: the definition '{module.NAME}' of this program has the name of a shipped one; rename its function"
        )


def place_of_pull(law: ModuleType, places: Floats, inputs: Sequence[Any], output: int) -> tuple[float, float] | None:
    """The first of the places (n,) at which an output of a law is clearly negative, and its value; None where it is nowhere.

    ``inputs``: of the law beside the place and the outputs.
    """
    out = dict[int, Any]()
    with np.errstate(all="ignore"):
        with_arrays(law.law)(places, *inputs, out)
    values = np.broadcast_to(out[output], places.shape)
    if (good := values >= -PULL * np.abs(values).max()).all():
        return None
    bad = int(np.argmin(good))
    return float(places[bad]), float(values[bad])


def refuse_unknown_body(body: Any, bodies: Collection[str], what: str) -> None:
    """Refuse what is neither the name of a body nor the ground."""
    if not isinstance(body, str) or (body != GROUND and body not in bodies):
        raise unknown_name(body, [*bodies, GROUND], "body", "bodies", f"{what}: ")


def connection(
    sort: str,
    name: str,
    module: ModuleType,
    body_i: str,
    body_j: str,
    values: Mapping[str, Any],
    bodies: Collection[str],
    states: Mapping[str, Floats] | None = None,
) -> Joint:
    """Return a joint, driver or motor (``sort``) with checked bodies and values.

    ``states``: of the ground and the bodies by name, (13,) each, where the vectors are given in global axes; else None.

    Raises
    ------
    ModelError
        Naming the joint, its kind and the rule.
    """
    what = f"{sort} '{name}' ({module.NAME})"
    for body in (body_i, body_j):
        refuse_unknown_body(body, bodies, what)
    if body_i == body_j:
        raise ModelError(f"{what}: joins body '{body_i}' to itself; give two different bodies")
    if sort != "joint" and module.BODIES == ("i",) and (body_i == GROUND or body_j != GROUND):
        raise ModelError(
            f"{what}: guides '{body_i}' alone, not '{body_j}'; give the body that moves first, and no other"
        )
    if states is not None:
        values = local_values(what, module, values, {"i": states[body_i], "j": states[body_j]})
    checked = MappingProxyType(checked_values(what, module, values))
    signals = {one: as_signal(values[one], f"{what}: {one}") for one in module.SIGNALS}
    return unchecked(Joint, name, module.NAME, body_i, body_j, checked, module, MappingProxyType(signals))


def refuse_other_keys(
    what: str, given: Collection[str], wanted: Collection[str], needs: str, others: Collection[str] = ()
) -> None:
    """Refuse missing and unused keywords, both in one sentence: one may be the other, misspelt, or under its former name.

    others : keywords that are taken beside those wanted

    Raises
    ------
    ModelError
    """
    missing, unused = ([key for key in one if key not in other] for one, other in ((wanted, given), (given, wanted)))
    if missing or unused:
        unused = [f"{key} (now {RENAMED[key]})" if RENAMED.get(key) in (*wanted, *others) else key for key in unused]
        parts = [f"{word} {', '.join(keys)}" for word, keys in (("missing", missing), ("unused", unused)) if keys]
        raise ModelError(f"{what}: {', '.join(parts)}; {needs}")


def checked_values(what: str, module: ModuleType, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the vectors and constants of a definition by name; refuse missing and unused ones.  ``what``: subject of errors.

    Raises
    ------
    ModelError
    """
    keywords = (*module.KEYWORDS, *module.SIGNALS)
    both = "; point and axis are for axes='global'" if {POINT, AXIS} & set(values) - set(keywords) else ""
    refuse_other_keys(what, values, keywords, f"needs {', '.join(keywords) or 'no values'}{both}")
    tolerances = {key: AXIS_TOLERANCE if kind == "direction" else math.inf for key, kind, *_ in module.VECTORS}
    vectors = {key: checked_vector(values[key], what, key, tolerances[key]) for key in tolerances if key in values}
    bounds = {key: module.BOUNDS.get(key) for key, _ in module.PARAMETERS}
    return vectors | {key: checked_parameter(values[key], f"{what}: {key}", of) for key, of in bounds.items()}


def checked_vector(value: Any, what: str, key: str, tolerance: float = math.inf) -> Floats:
    """Return a vector (3,), read-only; with a tolerance refuse one whose length differs from 1 by more.

    Raises
    ------
    ModelError
    """
    vector = finite(value, (3,), f"{what}: {key}")
    if tolerance < math.inf:
        unit(vector, f"{what}: {key}", tolerance)
    vector.flags.writeable = False
    return vector


def checked_parameter(value: Any, what: str, bounds: Bounds | None, remedy: str = "") -> float:
    """Return a constant of a definition; refuse values beyond its bounds, with a remedy; default: one that follows from them."""
    number = finite_number(value, what, LARGEST if bounds is None or bounds[2] is None else np.inf)
    lower, excluded, upper, unit_of_bounds = bounds or (None, False, None, "")
    if lower is not None and (number < lower or (excluded and number == lower)):
        rule = f"must be above {lower:g}" if excluded else f"must not be below {lower:g}"
    elif upper is not None and number > upper:
        rule = f"must not be above {upper:g}"
    else:
        return number
    unit_text = f" {unit_of_bounds}" if unit_of_bounds not in ("", "1") else ""
    if not remedy:
        remedy = "give its magnitude" if lower == 0.0 and number < 0.0 else "give a value in this range"
    raise ModelError(f"{what} = {number:g}{unit_text}, {rule}{unit_text}; {remedy}")


def checked_name(name: str, what: str, existing: Collection[str]) -> None:
    """Refuse a name that is no identifier or exists already."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(f"{what} name {name!r}: use letters, digits and '_', and begin with a letter")
    if name in existing:
        raise ModelError(f"{what} '{name}' exists already; names must differ")


def checked_mass(value: float, what: str) -> float:
    """Return a mass [kg]; refuse values that are not above 0."""
    return positive(
        value, f"{what}: mass", remedy="give a mass above 0 kg; a massless link is the joint 'modified_universal'"
    )


SYMMETRIC = 1e-12  # of the largest entry: rounding of matrices that were turned


def checked_inertia(value: ArrayLike, what: str) -> Floats:
    """Return an inertia matrix (3, 3) [kg m^2]; refuse one that is not symmetric, and moments below 0."""
    given = floats(value, f"{what}: inertia", "3 numbers or 3 x 3 numbers")
    matrix = finite(given, (3,) if given.ndim == 1 else (3, 3), f"{what}: inertia")
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    if not np.abs(matrix - matrix.T).max() <= SYMMETRIC * np.abs(matrix).max():
        raise ModelError(f"{what}: inertia is not symmetric; give the full symmetric matrix or three principal moments")
    matrix = 0.5 * matrix + 0.5 * matrix.T
    matrix.flags.writeable = False
    moments = np.linalg.eigvalsh(matrix)
    listed = ", ".join(f"{m:.6g}" for m in moments)
    if moments[0] < -ROUNDING * moments[2]:
        raise ModelError(
            f"{what}: principal moments of inertia {listed} kg m^2, none must be below 0; correct the inertia"
        )
    return matrix
