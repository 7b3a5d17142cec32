"""Symbolic code generation: from the equation of a joint to its compiled kernels.

The dictionary, which users edit, is in this folder: ``joints``, ``motions``, ``drivers``, ``limits``, ``contacts``, ``forces``,
``paths``, ``points``, ``cones``, ``laws``, ``couplings``, ``muscles``, ``reflexes``, ``bodies``, and ``basics``, the constraints
that joints share.  The compiler behind it is in ``codegen/compiler/``.

Stages, with their modules in ``codegen.compiler``:

1. definition   a function of body vectors, with inputs named by rule     calculus, declarations
2. reading      call it with symbols, check the rules, find the units     reading, units, bounds
3. derivation   differentiate moving vectors: D, nu, gamma, forces;       derive, soundness, motion, motion_proof,
                prove the motions of joints from their rows               forces, limit_forces, contact_forces, laws,
                                                                          force_elements, body_forces, cone_curves, curves,
                                                                          muscle_laws, corners, paths
4. functions    straight-line code, its exact tangents and data slopes     layout, straight, tangents, data_slopes
5. modules      data, kernels, and a header with a digest                 emit, module, text
6. dispatch     switches over the kinds of each family, and files:        dispatch, plan, generation, output
                what has changed is derived, the rest is kept
7. whole model  the kernels of a model, traced into one function          trace, recorded_algebra, model_inputs,
                                                                          mass_groups, elimination, whole

``python -m codegen`` runs stages 1 to 6 for the definitions that have changed and writes ``generated/``; ``--check`` runs them
for all and compares instead; ``--models`` adds stage 7 for the systems that ``pyproject.toml`` names.
From a study, ``codegen.compile_joint``, ``compile_force`` and ``compile_event`` compile a joint, a force and an event,
``compile_limit``, ``compile_contact``, ``compile_muscle`` and ``compile_reflex`` laws of limits, contacts, muscles and their
excitations, ``compile_path`` a span of a path, and ``codegen.compile_model`` a system as one function.
``codegen.equations`` gives the equations of a system as expressions of SymPy; ``codegen/symbolic/`` writes them with the
compiler's rules.

May import: sympy, numpy, the standard library.  Never ``generated``, ``runtime`` or ``models``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codegen.compiler.calculus import Vector
    from codegen.compiler.curves import Curve
    from codegen.compiler.errors import DefinitionError, DefinitionWarning
    from codegen.compiler.force_calculus import ramp, size
    from codegen.compiler.study import (
        compile_contact,
        compile_event,
        compile_force,
        compile_joint,
        compile_limit,
        compile_model,
        compile_muscle,
        compile_path,
        compile_reflex,
    )
    from codegen.symbolic.absolute import AbsoluteEquations, BodyTerms, JointRows
    from codegen.symbolic.equations import equations
    from codegen.symbolic.joint_coordinates import SystemEquations

__all__ = [
    "AbsoluteEquations",
    "BodyTerms",
    "Curve",
    "DefinitionError",
    "DefinitionWarning",
    "JointRows",
    "SystemEquations",
    "Vector",
    "compile_contact",
    "compile_event",
    "compile_force",
    "compile_joint",
    "compile_limit",
    "compile_model",
    "compile_muscle",
    "compile_path",
    "compile_reflex",
    "equations",
    "ramp",
    "size",
]
PLACES = {
    "DefinitionError": "compiler.errors", "DefinitionWarning": "compiler.errors", "Vector": "compiler.calculus",
    "Curve": "compiler.curves",
    "ramp": "compiler.force_calculus", "size": "compiler.force_calculus", "compile_contact": "compiler.study",
    "compile_event": "compiler.study", "compile_force": "compiler.study", "compile_joint": "compiler.study",
    "compile_limit": "compiler.study", "compile_model": "compiler.study", "compile_path": "compiler.study",
    "compile_muscle": "compiler.study", "compile_reflex": "compiler.study",
    "equations": "symbolic.equations", "AbsoluteEquations": "symbolic.absolute", "BodyTerms": "symbolic.absolute",
    "JointRows": "symbolic.absolute", "SystemEquations": "symbolic.joint_coordinates",
}  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name when it is used: SymPy takes half a second, and finding nothing to regenerate does without it."""
    if name not in __all__:
        raise AttributeError(f"module 'codegen' has no attribute '{name}'")
    return getattr(import_module(f"codegen.{PLACES[name]}"), name)
