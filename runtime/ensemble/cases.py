"""Cases of an ensemble: checked columns of values by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.ensemble.chunk import Cases, row
from runtime.support.checks import shape_text
from runtime.support.errors import ModelError
from runtime.system.parameters import is_parameter, is_state, parameters
from runtime.system.state import PARTS
from runtime.system.system import System
from runtime.system.variants import build_variant, check_parameters, name_of

PLAIN = (bool, int, float, str, type(None))  # what a function's argument may be, beside arrays


def case_table(cases: Mapping[str, ArrayLike]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    if not isinstance(cases, Mapping) or not cases:
        raise ModelError("cases: give a mapping from names to values, a row for each case")
    table = {str(name): _column(str(name), values) for name, values in cases.items()}
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        outputs = ", ".join(f"'{name}' {length}" for name, length in lengths.items())
        raise ModelError(f"cases: the numbers of rows differ or are 0: {outputs}")
    return table


def _column(name: str, given: ArrayLike) -> np.ndarray[Any, np.dtype[Any]]:
    """What cases have under a name, a row each."""
    try:
        values = np.array(given)
    except ValueError:
        raise ModelError(f"cases: the rows of '{name}' differ in shape; give as many numbers for each case") from None
    if values.ndim == 0:
        raise ModelError(f"cases: '{name}' = {values!r} is one value; give a row for each case")
    if values.dtype.kind == "U" and isinstance(given, Sequence) and all(isinstance(v, PLAIN) for v in given):
        if not all(isinstance(v, str) for v in given):
            values = np.array(given, dtype=object)  # which numpy had made words of
    if values.dtype.kind == "O" and values.ndim == 1 and all(isinstance(v, PLAIN) for v in values):
        if bad := [k for k, v in enumerate(values) if isinstance(v, float) and not np.isfinite(v)]:
            raise ModelError(f"cases: '{name}' of case {bad[0]} is not finite; give finite numbers")
    elif values.dtype.kind not in "fiubU":
        raise ModelError(f"cases: '{name}' holds {values.dtype}; give numbers, names or None")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ModelError(f"cases: '{name}' of case {at} is not finite; give finite numbers")
    values.flags.writeable = False
    return values


def example_system(system: System | Callable[..., System], table: Cases) -> System:
    """The first system that can be built, with which the arguments are checked."""
    if isinstance(system, System):
        return system
    if not callable(system):
        raise ModelError(f"{system!r} is neither a System nor a function that builds one")
    check_parameters(system, [name for name in table if "." not in name], "cases")
    for case in range(len(next(iter(table.values())))):
        try:
            return build_variant(system, {name: value for name, value in row(table, case).items() if "." not in name})
        except ModelError as error:
            refused = error
    raise ModelError(f"{name_of(system)} builds no system for any case; the last error: {refused}")


def check_names(system: System | Callable[..., System], example: System, table: Cases) -> None:
    known: Mapping[str, Any] = {}
    for name, values in table.items():
        part, _, body = name.partition(".")
        if is_state(name):
            example.body_index(body)
            shape: tuple[int, ...] = (PARTS[part].stop - PARTS[part].start,)
        elif is_parameter(name, system):
            known = known or parameters(example)
            if name not in known and not isinstance(system, System):
                continue  # it may be of the systems of other cases
            if name not in known:
                remedy = "" if "." in name else ", or give the function that builds a system from its parameters"
                raise ModelError(
                    f"cases: system '{example.name}' has no number '{name}'; use {', '.join(PARTS)} of a body, or of "
                    f"{', '.join(known)}{remedy}"
                )
            shape = np.shape(known[name])
            if name.startswith("inertia.") and values.shape[1:] == (3,):
                shape = (3,)  # principal moments
        else:
            continue
        if values.shape[1:] != shape or values.dtype.kind not in "fiu":
            raise ModelError(
                f"cases: '{name}' has the shape {values.shape} of {values.dtype}; give {shape_text(shape)} for each case"
            )
