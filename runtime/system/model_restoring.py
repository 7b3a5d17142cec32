"""What ``Builder.build`` computed of a system, from the file that the system was written to."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.model_data import ModelData
from runtime.support.arrays import Floats, frozen
from runtime.support.checks import bounded
from runtime.support.errors import ModelError
from runtime.system.data_building import model_data
from runtime.system.model_reading import Model
from runtime.system.model_text import DIGEST, digest_of
from runtime.system.model_writing import ADDRESSES, leaves
from runtime.system.parts import Adjustment, Assembly
from runtime.system.state import State


def system_fields(model: Model) -> dict[str, Any]:
    """The fields of the system that a file holds, with the bits that it was written with.

    Raises
    ------
    ModelError
        For a file without a system, and for one that, or whose definitions, were changed since it was written.
    """
    document = model.document
    value, remedy = document.value, "Builder.from_file(path).build() builds it anew"
    if "system" not in value:
        raise ModelError(f"{document.file}: holds no built system; {remedy}")
    if value.get(DIGEST) != digest_of(value):
        raise ModelError(f"{document.file}: was edited after the system was written; {remedy}")
    if model.changed:
        raise ModelError(f"{model.remark()}; {remedy}")
    own = value["system"]
    with document.errors():
        names, parts = tuple(model.made.starts), model.made.parts
        state = State(names, np.array(own["state"], dtype=float).ravel())
        reference = State(names, np.array(own["reference"], dtype=float).ravel()) if "reference" in own else None
        for one in (state, reference or state):
            one.check(len(names))
        signs = tuple(tuple(map(float, row)) for _, row in zip(parts.joints, own["branch_signs"], strict=True))
        data = _data(model, own, (reference or state).y)
        fields = {
            **parts._asdict(), "name": model.name, "gravity": model.gravity, "time": float(own["time"]), "state": state,
            "reference": reference, "assembly": _assembly(own["assembly"]), "degrees_of_freedom": own["degrees_of_freedom"],
            "rank": own["rank"], "redundant": tuple(own["redundant"]), "overdetermined": own["overdetermined"],
            "branch_signs": signs, "data": data,
        }  # fmt: skip
    return fields


def _data(model: Model, own: dict[str, Any], reference: Floats) -> ModelData:
    """The flat data: from the parts, and the arrays of the file in place of those that have other bits."""
    data = model_data(model.made.parts, model.gravity, reference, fit=own["overdetermined"])
    computed = own["computed"]
    arrays: dict[str, Floats] = {}
    for key, entry in leaves(data):
        if key not in computed:
            continue
        array = np.array(computed[key], dtype=float)
        plain = isinstance(entry, np.ndarray) and entry.dtype == np.float64 and key.rpartition(".")[2] not in ADDRESSES
        if not plain or array.shape != entry.shape:
            raise ModelError(f"computed: {key} does not belong to these parts; build the system anew")
        arrays[key] = bounded(array, f"computed: {key}")
    flags = {"closed": own["closed"], "redundant": own["redundant_rows"]}
    gains = {key: float(own[key]) for key in ("alpha", "beta")}
    changed: ModelData = _with_arrays(data, arrays)._replace(**flags, **gains)
    return frozen(changed)


def _with_arrays(data: Any, arrays: dict[str, Floats], before: str = "") -> Any:
    """Nested named tuples with other arrays, by their names."""
    named = zip(data._fields, data, strict=True)
    return type(data)(*(
        _with_arrays(entry, arrays, f"{before}{key}.") if hasattr(entry, "_fields") else arrays.get(f"{before}{key}", entry)
        for key, entry in named
    ))  # fmt: skip


def _assembly(own: dict[str, Any]) -> Assembly:
    def value(given: Any) -> Any:
        return np.array(given, dtype=float) if isinstance(given, list) else float(given)

    adjustments = [{**one, "given": value(one["given"]), "used": value(one["used"])} for one in own["adjustments"]]
    more = {"remarks": tuple(own["remarks"]), "adjustments": tuple(Adjustment(**one) for one in adjustments)}
    numbers = {key: float(own[key]) for key in ("residual", "largest_move", "largest_turn")}
    return Assembly(**{**own, **numbers, **more})
