"""Cases of an ensemble: checked columns of values by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.checks import shape_text
from runtime.support.errors import ModelError, Refused, UnknownNameError, did_you_mean, shown, warn
from runtime.support.numbers import real_numbers
from runtime.system.displacement import coordinate_of, refuse_closed_loop
from runtime.system.parameters import ask_about_units, refuse_borrowed
from runtime.system.quantity import COORDINATES, INERTIA, Quantity, Role, initial_coordinates, quantities
from runtime.system.remarks import impossible_moments
from runtime.system.state import PARTS
from runtime.system.system import System
from runtime.system.unusual_values import ask_about_state
from runtime.system.variants import build_variant, check_arguments, name_of

MAX_CASES = 100_000_000  # of an iterator, which may have no end
Cases = Mapping[str, np.ndarray[Any, np.dtype[Any]]]  # columns of values by name, a row for each case
PLAIN = (bool, int, float, str, type(None))  # types of arguments of a function, beside arrays


def case_columns(cases: Mapping[str, ArrayLike]) -> Cases:
    """The cases as read-only arrays by name, (cases, ...) each.

    Raises
    ------
    ModelError
        For values that are not finite, differ in shape or number, or are neither numbers, names nor None.
    """
    if not isinstance(cases, Mapping) or not cases:
        raise ModelError("cases: give a mapping from names to values, a row for each case")
    columns = {str(name): _column(str(name), values) for name, values in cases.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        listed = ", ".join(f"'{name}' {length}" for name, length in lengths.items())
        raise ModelError(f"cases: the numbers of rows differ or are 0: {listed}")
    return columns


def _column(name: str, given: ArrayLike) -> np.ndarray[Any, np.dtype[Any]]:
    """The values of a name, a row for each case."""
    try:
        if isinstance(given, Iterator):
            given = list(islice(given, MAX_CASES))
        values = np.array(given)
    except ValueError:
        raise ModelError(f"cases: the rows of '{name}' differ in shape; give as many numbers for each case") from None
    except Exception as error:  # whatever a foreign object raises
        raise ModelError(f"cases: '{name}' cannot be read: {type(error).__name__}; give a row for each case") from None
    if values.ndim == 0:
        raise ModelError(f"cases: '{name}' = {shown(given)} is one value; give a row for each case")
    if values.dtype.kind == "U" and isinstance(given, Sequence) and all(isinstance(v, PLAIN) for v in given):
        if not all(isinstance(v, str) for v in given):
            values = np.array(given, dtype=object)  # numpy has turned all values into text
    if values.dtype.kind == "O" and values.ndim == 1 and all(isinstance(v, PLAIN) for v in values):
        if bad := [k for k, v in enumerate(values) if isinstance(v, float) and not np.isfinite(v)]:
            raise ModelError(f"cases: '{name}' of case {bad[0]} is not finite; give finite numbers")
    elif values.dtype.kind not in "fiubU":
        raise ModelError(f"cases: '{name}' holds {values.dtype}; give numbers, names or None")
    try:
        if values.dtype.kind in "fiu":
            real_numbers(given)  # truth values among numbers, masked ones
    except Refused as refused:
        raise ModelError(refused.sentence(f"cases: '{name}'", given, "numbers")) from None
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ModelError(f"cases: '{name}' of case {at} is not finite; give finite numbers")
    values.flags.writeable = False
    return values


def ask_about_columns(system: System, cases: Cases) -> None:
    """Warn of the largest and the smallest length, mass, speed and stiffness of each column that is far from the system's."""
    largest, smallest = dict[str, float](), dict[str, float]()
    for name, values in cases.items():
        if values.dtype.kind in "fiu":
            largest[name], smallest[name] = _sizes(values)
    for sizes in (largest, {name: size for name, size in smallest.items() if size < min(largest[name], np.inf)}):
        ask_about_units(system, sizes)
        ask_about_state(system, sizes)


def warn_of_inertias(quantities: Mapping[str, Quantity], cases: Cases) -> None:
    """Warn, once for each body, of principal moments that no distribution of mass has; they are used."""
    for name, quantity in quantities.items():
        if quantity.owner_sort == "body" and quantity.part == INERTIA:
            values, owner = np.asarray(cases[name], float), quantity.owner
            moments = np.sort(values, axis=1) if values.ndim == 2 else np.linalg.eigvalsh(values)
            for sentence in impossible_moments(moments, partial("'{}' of case {}".format, owner)):
                warn(sentence)


def _sizes(values: np.ndarray[Any, np.dtype[Any]]) -> tuple[float, float]:
    """The largest size of a row, its largest component, and the smallest that is not 0; infinite where all are 0."""
    # Component by component: NumPy takes ten times as long for the maximum along a short last axis.
    sizes = np.abs(values.reshape(len(values), -1).T, order="C", dtype=float).max(axis=0, initial=0.0)
    return float(sizes.max()), float(sizes.min(where=sizes > 0.0, initial=np.inf))


def row(cases: Cases, case: int) -> dict[str, Any]:
    """Values of a case, by name."""
    return {
        name: v.tolist() if isinstance(v := values[case], np.ndarray | np.generic) else v
        for name, values in cases.items()
    }


def example_system(
    system: System | Callable[..., System], columns: Cases, quantities: Mapping[str, Quantity]
) -> System:
    """The system of the first case that can be built; the arguments of the whole ensemble are checked with it."""
    if isinstance(system, System):
        return system
    if not callable(system):
        raise ModelError(f"{system!r} is neither a System nor a function that builds one")
    check_arguments(system, quantities, "cases")
    for case in range(len(next(iter(columns.values())))):
        try:
            return build_variant(system, row(columns, case), quantities)
        except ModelError as error:
            refused = error
    raise ModelError(f"{name_of(system)} builds no system for any case; the last error: {refused}")


def ensemble_name(system: System | Callable[..., System], example: System) -> str:
    """Name of an ensemble: that of its system, or of the function that builds its systems."""
    return example.name if isinstance(system, System) else name_of(system)


def check_names(
    system: System | Callable[..., System], example: System, columns: Cases, parsed: Mapping[str, Quantity]
) -> dict[str, Quantity]:
    """Check names and shapes of the cases, and return the parsed quantities, with units and shapes of those of the example.

    A function may build systems with other parameters than those of the example; such a quantity has no unit.

    Raises
    ------
    ModelError
        For a parameter that a given System does not have or whose limits depend on it, a body that is unknown, a joint of a
        closed loop of a given System, and values of another shape.
    """
    known = quantities(example)
    found: dict[str, Quantity] = {}
    for name, values in columns.items():
        quantity = parsed[name]
        if quantity.role is Role.STATE:
            example.body_index(quantity.owner)
        elif quantity.role is Role.COORDINATE:
            joint, column = coordinate_of(example, quantity.owner)
            if isinstance(system, System):
                refuse_closed_loop(system, joint)
            unit = example.joint_motions[joint].units[column]
            quantity = quantity._replace(unit=unit if quantity.part == "angle" else f"{unit}/s")
        elif quantity.role is Role.PARAMETER and name in known:
            quantity = known[name][0]
        elif isinstance(system, System):
            remedy = (
                "" if quantity.owner else "; arguments need the function that builds the system, in place of a System"
            )
            angles = initial_coordinates(example)
            able = angles if name.startswith(COORDINATES) else [*angles, *known]
            of_joints = f", {', '.join(angles)} and their rates" if angles else ""
            raise UnknownNameError(
                f"cases: system '{example.name}' has no parameter '{name}'; {did_you_mean(name, able)}it has "
                f"{', '.join(known)}, and as parts of the initial state {', '.join(PARTS)} of each body{of_joints}{remedy}"
            )
        found[name] = quantity
        shape = quantity.shape
        if quantity.part == INERTIA and shape == (3, 3) and values.shape[1:] == (3,):
            shape = (3,)  # principal moments
        if shape is not None and (values.shape[1:] != shape or values.dtype.kind not in "fiu"):
            raise ModelError(
                f"cases: '{name}' has the shape {values.shape} of {values.dtype}; give {shape_text(shape)} for each case"
            )
    if isinstance(system, System):
        for connected in system.joints:
            own = [q.part for q in found.values() if (q.owner_sort, q.owner) == ("joint", connected.name)]
            refuse_borrowed(system, connected, own)
    return found
