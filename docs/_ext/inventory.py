"""The public names of Talus: what the reference documents.  Imports nothing of Sphinx, so that tests read it.

``ROOMS`` are packages whose ``__all__`` is documented, ``MODULES`` modules of which every own name is.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType

ROOMS = (
    "runtime", "runtime.system", "runtime.integrate", "runtime.results", "runtime.analysis", "runtime.ensemble",
    "runtime.studies", "runtime.report", "runtime.figures", "runtime.view", "runtime.support", "codegen", "models",
    "models.walking", "models.walking.capture", "models.files",
)  # fmt: skip
DICTIONARY = tuple(
    f"codegen.{name}"
    for name in (
        "joints",
        "motions",
        "drivers",
        "limits",
        "contacts",
        "forces",
        "paths",
        "points",
        "muscles",
        "reflexes",
        "coordinate_limits",
        "joint_friction",
        "cones",
        "couplings",
        "laws",
        "basics",
        "bodies",
    )
)
MODELS = tuple(
    f"models.{name}"
    for name in (
        "foot", "foot_sole", "foot_orthosis", "foot_ligaments", "foot_ground",
        "pendulum", "double_pendulum", "free_body", "hooke_shaft", "four_bar", "chain", "isb",
        "walking.leg_foot", "walking.norms", "walking.synthetic",
        "studies.ankle.study", "studies.pendulum", "studies.drop", "studies.landing.study", "studies.gait.study",
        "studies.gait_table.study", "studies.axes", "studies.joints.study", "studies.swap.study", "studies.claims.study",
        "studies.validate.study", "studies.measures",
    )
)  # fmt: skip
FIGURES = (
    *(f"runtime.report.{name}" for name in ("plots", "cone_plots", "figure_files")),
    *(f"runtime.figures.{name}" for name in ("panels", "lines")),
)
MODULES = (*DICTIONARY, *MODELS, *FIGURES)


def own_names(module: ModuleType) -> list[str]:
    """Functions and classes that a module defines, without a leading underscore, in the order of its source."""
    found = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }
    return sorted(found, key=lambda name: inspect.getsourcelines(inspect.unwrap(found[name]))[1])


def public_names() -> set[str]:
    """Every public name, with its path; modules are documented as modules."""
    rooms = {
        f"{room}.{name}"
        for room in ROOMS
        for name in import_module(room).__all__
        if not inspect.ismodule(getattr(import_module(room), name))
    }
    return {*rooms, *MODULES, *(f"{name}.{own}" for name in MODULES for own in own_names(import_module(name)))}
