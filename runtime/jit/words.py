"""Compiled code in the terms of the field, for the notice of compilation."""

from __future__ import annotations

from typing import Any

WORDS = {  # by module
    "runtime.dynamics.cone_curve": "cones of limits",
    "runtime.dynamics.contact_slopes": "the derivatives of contact forces",
    "runtime.dynamics.contacts": "contacts",
    "runtime.dynamics.derived": "accelerations, reactions and energies of results",
    "runtime.dynamics.equations": "the equations of motion",
    "runtime.dynamics.jacobian": "the Jacobian of the equations of motion",
    "runtime.dynamics.kinematics": "rotations",
    "runtime.dynamics.limits": "limits of motion",
    "runtime.dynamics.state_jacobian": "the Jacobian of the states",
    "runtime.dynamics.projection": "the assembly of the initial state",
    "runtime.integrate.batch": "the integration of cases in a batch (dop853)",
    "runtime.integrate.contact_events": "contact events",
    "runtime.integrate.landing": "the switching of limits and contacts",
    "runtime.integrate.loop": "the integration loop",
    "runtime.integrate.stepping": "Euler parameters",
    "runtime.integrate.variational": "the variational equations",
    "runtime.jit.references": "the layout of the model's data",
}


def words_of(function: Any, signature: Any) -> str:
    """Words for a compiled function and the types of its arguments."""
    method = _method(signature)
    words = WORDS.get(function.__module__, f"the function {function.__name__}")
    return f"{words} ({method})" if method else words


def _method(signature: Any) -> str:
    """Method of integration: the module that defines its memory in the stepper, the first argument of the loop."""
    arguments = getattr(signature, "args", signature)
    try:
        return str(arguments[0].field("own")[1].instance_class.__module__.rpartition(".")[2])
    except (AttributeError, IndexError, ValueError):
        return ""


def words_of_kernel(module: str) -> str:
    """Words for the kernel of a generated module, or of one of a user."""
    room, _, name = module.rpartition(".")
    name = name.removeprefix("generated_from_")  # of a user's own joint
    return f"the whole-model kernel of {name}" if room.endswith("whole") else f"the kernel of {name}"
