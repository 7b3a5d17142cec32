"""Cases of an ensemble from the samples of a study, whose parameters are numbers: vectors vary by component."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.studies.designs import Samples
from runtime.system.quantity import quantities
from runtime.system.state import AXES, EULER, PARTS
from runtime.system.system import System


def cases_of(build: Any, samples: Samples) -> dict[str, Any]:
    """Columns for ``simulate_many``; "gravity.z" or "omega.toes.y" become vectors with the other components of the system."""
    if not isinstance(build, System):
        return dict(samples)
    vectors = _vectors(build)
    count = len(next(iter(samples.values())))
    found: dict[str, Any] = {}
    for name, values in samples.items():
        whole, _, component = name.rpartition(".")
        if whole not in vectors or component not in (known := _components(vectors[whole])):
            found[name] = values
            continue
        if whole not in found:
            found[whole] = np.tile(vectors[whole], (count, *[1] * vectors[whole].ndim))
        found[whole][:, known.index(component)] = values
    return found


def _vectors(system: System) -> dict[str, Any]:
    """Vectors of a system by name: parameters, and parts of its initial state."""
    found = {name: np.asarray(value, float) for name, (_, value) in quantities(system).items() if np.ndim(value) == 1}
    for part in PARTS:
        of_bodies = getattr(system.state, part)
        found |= {f"{part}.{body}": np.array(of_bodies[body]) for body in system.body_names}
    return found


def _components(vector: Any) -> tuple[str, ...]:
    """Names of the components of a vector."""
    named = {3: AXES, 4: EULER}
    return named.get(len(vector), tuple(map(str, range(len(vector)))))
