"""The equations of a system, as a user asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codegen.compiler.errors import DefinitionError, NoKernelError, shown

if TYPE_CHECKING:
    from codegen.symbolic.absolute import AbsoluteEquations
    from codegen.symbolic.joint_coordinates import SystemEquations

PARAMETERS, COORDINATES = ("symbols", "numbers"), ("joint", "absolute")


def equations(
    system: Any, coordinates: str = "joint", *, parameters: str = "symbols", names: Mapping[str, str] | None = None
) -> SystemEquations | AbsoluteEquations:
    """The equations of motion of a small system as SymPy's expressions, which notebooks show.

    They follow from the rules and definitions that its kernels are made of.  Data that are 0 have no symbols.  Cosines and sines
    are combined in entries of up to 100 operations; parts of longer entries have symbols k_1, k_2, ..., which ``where`` defines.

    Parameters
    ----------
    system : runtime.System
    coordinates : str
        "joint": mass matrix, bias, gravity and forces along the coordinates of the joints, and rows of loops and couplings;
        "absolute": the rows of each joint from its definition, and the Newton-Euler terms of each body.
    parameters : str
        "symbols": masses m_BODY, inertias J_BODY_xx ... and centres of mass c_BODY, lengths l_JOINT from joint to joint, axes
        a_JOINT that are not along x, y or z, gravity g, rotors I_JOINT, all in global axes in the reference configuration;
        "numbers": decimal fractions of 14 digits.
    names : dict of str to str, optional
        Other names of symbols, such as {"m_upper": "m_1", "shoulder.angle": "theta_1"}; in joint coordinates only.

    Returns
    -------
    SystemEquations or AbsoluteEquations

    Raises
    ------
    DefinitionError
        Naming the system, if it has no tree of joints or a part of it reads Euler parameters; or the argument.
    """
    if not hasattr(type(system), "model"):
        raise DefinitionError(
            f"equations({shown(system)}): give a runtime.System, such as what a model's build() returns"
        )
    for what, value, known in (("coordinates", coordinates, COORDINATES), ("parameters", parameters, PARAMETERS)):
        if value not in known:
            raise DefinitionError(f"equations: {what} = {shown(value)}; give {' or '.join(map(repr, known))}")
    names = {} if names is None else names
    if not (isinstance(names, Mapping) and all(isinstance(x, str) and x for pair in names.items() for x in pair)):
        raise DefinitionError(f"equations: names = {shown(names)}; give a dict from symbols or coordinates to names")
    from codegen.symbolic.absolute import absolute_equations
    from codegen.symbolic.joint_coordinates import equations_in_coordinates

    numbers = parameters == "numbers"
    if coordinates == "absolute":
        if names:
            raise DefinitionError(
                "equations: names are for joint coordinates; leave them out, or use coordinates='joint'"
            )
        return absolute_equations(system, numbers=numbers)
    try:
        return equations_in_coordinates(system, names, numbers=numbers)
    except NoKernelError as reason:
        raise DefinitionError(
            f"equations: system '{system.name}' has none that can be written in joint coordinates: {reason}; use "
            "coordinates='absolute'"
        ) from None
