"""Declarations beside a definition: joints that a limit fits and vectors that it borrows from the joint; lines of a docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codegen.compiler.calculus import VELOCITIES, Definition, Scope
from codegen.compiler.errors import DefinitionError
from codegen.compiler.reading import doc_of

# Arguments of a limit that do not come from the joint.
OWN_VECTORS = ("u_xi_i", "u_eta_i", "u_zeta_i", "e_i", "u_r_j")
OWN_CONSTANTS = ("to_xi", "to_eta", "damping")
CENTRES = ("r_i", "r_j")


@dataclass(frozen=True)
class Declaration:
    """Joints and vectors of a limit, as its generated module states them."""

    # Kinds of joints; none: every joint that no other limit fits, or that is given a direction.
    fits: tuple[str, ...] = ()
    # Vectors of the joint that the limit depends on, i its reference body, j the moving one.
    borrows: tuple[str, ...] = ()
    # The part of the joint that is the restrained direction, where a user cannot give another.
    own_direction: str = ""


def fits(*joints: str, borrows: tuple[str, ...] = (), own_direction: str = "") -> Callable[[Definition], Definition]:
    """Declare the joints that a limit fits and the vectors that it borrows from them."""

    def declare(definition: Definition) -> Definition:
        vars(definition)["declaration"] = Declaration(joints, borrows, own_direction)
        return definition

    return declare


def described(arguments: str, others: str = "") -> Callable[[Definition], Definition]:
    """Add lines to a docstring: those of the definition's arguments, and all others."""

    def describe(definition: Definition) -> Definition:
        names = inspect.signature(definition).parameters
        own = [line for line in arguments.strip().splitlines() if line.partition(" :")[0] in names]
        doc = doc_of(definition)
        definition.__doc__ = "\n".join([doc, "", *own, *others.strip().splitlines()])
        return definition

    return describe


def taking_defaults(other: Callable[..., object]) -> Callable[[Definition], Definition]:
    """Give a definition the arguments of another function that have defaults, in place of its ``**arguments``."""

    def take(definition: Definition) -> Definition:
        own, more = (inspect.signature(f).parameters.values() for f in (definition, other))
        taken = [*(p for p in own if p.kind is not p.VAR_KEYWORD), *(p for p in more if p.default is not p.empty)]
        vars(definition)["__signature__"] = inspect.Signature(taken)
        return definition

    return take


def declaration_of(definition: Definition) -> Declaration:
    """The declaration of a limit; without one it fits every joint and borrows nothing."""
    found: Declaration = vars(definition).get("declaration", Declaration())
    return found


def refuse_unclear_limits(limits: Sequence[Definition], joints: Sequence[Definition]) -> None:
    """Refuse declarations that name unknown joints or vectors, miss an argument, or leave open which limit a joint gets.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    vectors = {joint.__name__: _vectors_of(joint) for joint in joints}
    taken: dict[str, str] = {}
    for definition in limits:
        declared = declaration_of(definition)
        what = f"definition '{definition.__name__}'"
        _refuse_unknown_names(what, definition, declared, vectors)
        for joint in declared.fits or ("every joint",):
            if joint in taken:
                raise DefinitionError(f"{what}: fits {joint}, as '{taken[joint]}' does; one limit per kind of joint")
            taken[joint] = definition.__name__


def refuse_motions_without_joint(motions: Sequence[Definition], joints: Sequence[Definition]) -> None:
    """Refuse a motion that has no joint of its name."""
    names = [joint.__name__ for joint in joints]
    for motion in motions:
        if motion.__name__ not in names:
            raise DefinitionError(
                f"motion '{motion.__name__}': there is no joint of this name; remove it, or give it the name of its joint: "
                f"{', '.join(names)}"
            )


def _vectors_of(joint: Definition) -> set[str]:
    """The points and directions among the arguments of a joint, which its user gives."""
    scope = Scope(joint.__name__)
    for name in inspect.signature(joint).parameters:
        scope.argument(name)
    return {m.name for m in scope.moving.values() if m.kind in ("point", "direction")}


def _refuse_unknown_names(
    what: str, definition: Definition, declared: Declaration, vectors: Mapping[str, set[str]]
) -> None:
    for joint in declared.fits:
        if joint not in vectors:
            raise DefinitionError(f"{what}: fits the unknown joint '{joint}'; use {', '.join(vectors)}")
        # With the reference body j, the vector of the same stem on the other body is borrowed.
        paired = sorted(name for name in vectors[joint] if {f"{name[:-1]}i", f"{name[:-1]}j"} <= vectors[joint])
        if missing := [name for name in declared.borrows if name not in paired]:
            raise DefinitionError(
                f"{what}: borrows {', '.join(missing)}, which the joint '{joint}' does not have as points or directions of both "
                f"bodies; use {', '.join(paired) or 'another joint'}"
            )
    if declared.borrows and not declared.fits:
        raise DefinitionError(
            f"{what}: borrows {', '.join(declared.borrows)} of every joint; name the joints that it fits"
        )
    known: tuple[Any, ...] = (*OWN_VECTORS, *OWN_CONSTANTS, *CENTRES, *VELOCITIES, "held", "rate", *declared.borrows)
    arguments = list(inspect.signature(definition).parameters)
    for name in arguments:
        if name not in known:
            raise DefinitionError(
                f"{what}: argument '{name}' is not borrowed from the joint; others: {', '.join(OWN_VECTORS + OWN_CONSTANTS)}"
            )
    _refuse_incomplete_hinges(what, arguments, declared.borrows)


def _refuse_incomplete_hinges(what: str, arguments: Sequence[str], borrows: Sequence[str]) -> None:
    """Refuse e_i and its components without the axes from which the runtime finds them."""
    for name in ("to_xi", "to_eta"):
        if name in arguments and "e_i" not in arguments:
            raise DefinitionError(f"{what}: argument '{name}' is a component of e_i, which is no argument; add e_i")
    if "e_i" in arguments:
        needed = ("a_i", "a_j") if "u_r_j" in arguments else ("a_i",)
        if missing := [name for name in needed if name not in borrows]:
            raise DefinitionError(
                f"{what}: argument 'e_i' is perpendicular to the axis of a hinge, which is not borrowed; add "
                f"{', '.join(missing)} to borrows"
            )
