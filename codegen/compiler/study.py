"""Compile a joint, a force or a law of a user, or the whole-model kernel of a system, from a study."""

from __future__ import annotations

import functools
import inspect
import linecache
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from codegen.compiler.command import tell
from codegen.compiler.errors import DefinitionError, NoKernelError, shown
from codegen.compiler.kept import kept, place, stored
from codegen.compiler.text import COMMAND, digest, with_header

if TYPE_CHECKING:
    from codegen.compiler.calculus import Definition

SYSTEM = "the system that compile_model was given"  # no name: Python reads comments of the first lines as an encoding
WRONG = 1e-9  # of the largest acceleration: a difference of equations that is more than rounding, whatever the masses

F = TypeVar("F", bound=Callable[..., Any])


def _with_these_arguments(function: F) -> F:
    """Refuse calls with more, fewer or other arguments in a sentence."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            raise DefinitionError(f"{function.__name__}: {error}; it takes {', '.join(signature.parameters)}") from None
        return function(*given, **named)

    return call  # type: ignore[return-value]


@_with_these_arguments
def compile_joint(definition: Definition, motion: Definition | None = None) -> ModuleType:
    """Derive and emit a joint's kernels; the result goes to ``Builder.joint`` in place of a built-in joint's name.

    They are kept in the cache by the digest of the definition and of all that it uses: another process derives nothing, and does
    not import SymPy unless the definition does.  A definition that uses other values than numbers, arrays and functions is
    derived each time.

    Parameters
    ----------
    definition : function
        Written by the rules of ``codegen.compiler.calculus``: its arguments are the inputs, it returns the rows by name.
    motion : function, optional
        Turns and slides by which body j can move against body i, written as those of ``codegen.motions``; proven from the rows.

    Returns
    -------
    module
        The emitted module, with the same names as the modules of ``generated`` (``inspect.getsource`` shows its text).

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks, or what the motion does not satisfy.
    """
    if motion is None:
        return _compiled("joint", definition, derived=_derived_joint)
    if type(motion) is not FunctionType:
        raise DefinitionError(
            f"compile_joint: motion = {shown(motion)}; give the function that returns the steps by the names of coordinates"
        )
    return _compiled("joint", definition, motion, derived=_derived_joint)


@_with_these_arguments
def compile_force(definition: Definition) -> ModuleType:
    """Derive and emit the kernels of a force; the result goes to ``Builder.force`` in place of a built-in force's name.

    They are kept in the cache as those of ``compile_joint`` are.

    Parameters
    ----------
    definition : function
        Written by the rules of ``codegen.compiler.calculus``: its arguments are the inputs; it returns a potential, a dissipation
        function, forces along coordinates, rates of its states, and reported quantities, by name.

    Returns
    -------
    module
        The emitted module, with the same names as the modules of ``generated``.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    return _compiled("force", definition, derived=_derived_force)


@_with_these_arguments
def compile_path(definition: Definition) -> ModuleType:
    """Derive and emit the kernels of a span of a path.

    They are kept in the cache as those of ``compile_joint`` are.

    Parameters
    ----------
    definition : function
        Written as those of ``codegen.paths``: it returns the length of the span.

    Returns
    -------
    module
        The emitted module, with the same names as the modules of ``generated``.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    return _compiled("path", definition, derived=_derived_path)


@_with_these_arguments
def compile_event(definition: Definition) -> ModuleType:
    """Derive and emit the kernel of an event; the result goes to ``runtime.zero_crossing``.

    Parameters
    ----------
    definition : function
        Written by the rules of ``codegen.compiler.calculus``, velocities included; it returns one scalar, whose zeros are
        located.  The docstring states the unit of each parameter and that of the scalar, as ``value``.

    Returns
    -------
    module

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    return _compiled("event", definition, derived=_derived_event)


@_with_these_arguments
def compile_limit(law: Definition) -> ModuleType:
    """Derive and emit the kernel of a law of restriction; the result goes to ``Builder.limit`` as ``law``.

    It is kept in the cache as the kernels of ``compile_joint`` are.

    Parameters
    ----------
    law : function
        Returns the work of leaving the cone, as the laws of ``codegen.laws`` do.  Its first argument is ``x``, the excess by the
        compliance, and the work is per unit of max_moment times the compliance; or ``excess`` [rad], and the work is in [J].
        Further arguments are parameters of its own, keywords of ``Builder.limit``; the docstring states the unit of each and its
        bounds.  From the end of the compliance on the moment is constant.

    Returns
    -------
    module

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks: among others a moment that pulls, is not 0 at the edge, or is not
        max_moment at the end of the compliance.
    """
    return _compiled("limit", law, derived=_derived_limit)


@_with_these_arguments
def compile_contact(law: Definition) -> ModuleType:
    """Derive and emit the kernels of a law of contact; the result goes to ``Builder.contact`` as ``law`` or ``friction``.

    They are kept in the cache as those of ``compile_joint`` are.

    Parameters
    ----------
    law : function
        Written as the laws of ``codegen.contacts``: a normal law takes ``delta, delta_dot`` and returns a potential and a
        dissipation; a law of friction takes ``slip, normal_force`` and returns the dissipation below and above the transition
        velocity.  Further arguments are parameters of its own, keywords of ``Builder.contact``; the docstring states the unit of
        each and its bounds.  The parameter ``impact`` of a normal law is the speed of the last touch-down.

    Returns
    -------
    module

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks: among others adhesion, damping that feeds power in, friction across
        the slip, and forces that are not 0 at the edge.
    """
    return _compiled("contact", law, derived=_derived_contact)


@_with_these_arguments
def compile_muscle(law: Definition) -> ModuleType:
    """Derive and emit the kernels of a law of muscles.

    They are kept in the cache as those of ``compile_joint`` are.

    Parameters
    ----------
    law : function
        Written as the laws of ``codegen.muscles``: it takes ``length, length_dot, excitation``, its states and its constants, and
        returns a tension, an energy, the rates of its states, and reported quantities, by name.  The docstring states the unit of
        each state, constant and output, and bounds of constants.

    Returns
    -------
    module
        With ``law`` and, if the law has one of a rigid tendon, ``rigid``, and their exact derivatives ``law_tangent`` and
        ``law_parameters``; called by address as ``law_entry``.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    return _compiled("muscle", law, derived=_derived_muscle)


@_with_these_arguments
def compile_reflex(law: Definition) -> ModuleType:
    """Derive and emit the kernels of a reflex; the result goes to ``Builder.muscle`` as ``reflex``.

    They are kept in the cache as those of ``compile_joint`` are.

    Parameters
    ----------
    law : function
        Written as those of ``codegen.reflexes``: it takes ``length, length_dot`` and its constants, and returns what it adds to
        the excitation of the muscle.  The docstring states the unit of each constant, and its bounds.

    Returns
    -------
    module

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    return _compiled("reflex", law, derived=_derived_reflex)


def _compiled(sort: str, definition: Definition, *more: Definition, derived: Callable[..., str]) -> ModuleType:
    """The module of a definition of this ``sort``, such as a joint, whose text ``derived`` makes of all definitions."""
    if type(definition) is not FunctionType:
        returns = {
            "joint": "rows", "force": "potential, dissipation or forces", "event": "scalar", "limit": "work",
            "contact": "potential and dissipation", "path": "length",
            "muscle": "tension, energy and rates of states", "reflex": "excitation",
        }[sort]  # fmt: skip
        raise DefinitionError(
            f"compile_{sort}({shown(definition)}): give the function that returns the {sort}'s {returns}"
        )
    definitions = (definition, *more)
    text = kept(definitions, lambda: derived(*definitions), f"{sort}s".replace("xs", "xes"))  # type: ignore[arg-type]
    file = f"<kernels of {definition.__name__}, {digest(text)[:16]}>"  # two definitions may have one name
    module = module_from(text, file, f"generated_from_{definition.__name__}")
    module.definition = definition  # type: ignore[attr-defined]  # for the equations of its systems
    return module


def module_from(text: str, file: str, name: str) -> ModuleType:
    """A module from its text, which ``inspect.getsource`` shows although there may be no such file."""
    module = ModuleType(name)
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), module.__dict__)
    return module


def _derived_joint(definition: Definition, motion: Definition | None = None) -> str:
    from codegen.compiler.derive import derive
    from codegen.compiler.emit import emit

    return emit(derive(definition), f"the definition '{definition.__name__}'", motion)


def _derived_path(definition: Definition) -> str:
    from codegen.compiler.paths import emit_path

    return emit_path(definition, f"the definition '{definition.__name__}'")


def _derived_event(definition: Definition) -> str:
    from codegen.compiler.force_elements import derive_event, emit_force

    return emit_force(derive_event(definition), f"the definition '{definition.__name__}'")


def _derived_limit(definition: Definition) -> str:
    from codegen.compiler.laws import emit_law

    return emit_law(definition, f"the definition '{definition.__name__}'")


def _derived_contact(definition: Definition) -> str:
    from codegen.compiler.laws import emitted_contact_law

    return emitted_contact_law(definition, f"the definition '{definition.__name__}'")


def _derived_muscle(definition: Definition) -> str:
    from codegen.compiler.muscle_laws import emit_muscle

    return emit_muscle(definition, f"the definition '{definition.__name__}'")


def _derived_reflex(law: Definition) -> str:
    from codegen.compiler.muscle_laws import emit_reflex

    return emit_reflex(law, f"the definition '{law.__name__}'")


def _derived_force(definition: Definition) -> str:
    from codegen.compiler.force_elements import derive_force, emit_force

    return emit_force(derive_force(definition), f"the definition '{definition.__name__}'")


@_with_these_arguments
def compile_model(system: Any) -> Path:
    """Emit the whole-model kernel of a system; from now on simulations in this process use it, and those of its ensembles.

    It serves all systems with the same bodies, joints and zeros: masses, lengths and axes stay arguments.  The module is stored
    in the cache, where this call finds it in the next process; a program without this call runs by other equations, whatever
    the cache holds.  The first simulation compiles the kernel, which takes seconds; later ones load its machine code.

    Parameters
    ----------
    system : runtime.System

    Returns
    -------
    Path
        The emitted module.  Where it cannot be written, one sentence says so and the kernel serves this process.

    Raises
    ------
    DefinitionError
        Naming the system, if it is too large for one function, has friction by reactions, or redundant rows or a body without
        inertia in some rotation and no kernel in joint coordinates; or the object that is not a system.
    """
    if not hasattr(type(system), "model"):
        raise DefinitionError(
            f"compile_model({shown(system)}): give a runtime.System, such as what a model's build() returns"
        )
    if system.redundant or system.model.thin:
        return _in_joint_coordinates_alone(system)
    if reactive := [f"'{force.name}'" for force in system.forces if force.joint]:
        raise DefinitionError(
            f"compile_model: system '{system.name}' has friction by the reactions of joints ({', '.join(reactive)}), "
            "which a whole-model kernel does not take; simulate it without"
        )
    model, file = system.model, Path(system.model.file)

    def derived() -> str:
        from codegen.compiler.whole import emit_model

        return with_header(emit_model(model), SYSTEM)

    _use(file, model.key, derived, model.name)
    with suppress(NoKernelError):
        _use_tree(system)
    return file


def _in_joint_coordinates_alone(system: Any) -> Path:
    """Store the kernel in joint coordinates of a system that has no other, for its redundant rows or thin bodies."""
    try:
        return _use_tree(system)
    except NoKernelError as reason:
        what, remedy = (
            f"redundant rows ({', '.join(system.redundant)})",
            "use joints that leave them out, such as a hinge, a ball and a point_on_line in a planar loop",
        )
        if not system.redundant:
            what, remedy = (
                "a body with a moment of inertia of 0",
                "simulate it without, or give the body a moment above 0",
            )
        raise DefinitionError(
            f"compile_model: system '{system.name}' has {what}, which a whole-model kernel does not take, and none in joint "
            f"coordinates: {reason}; {remedy}"
        ) from None


def _use_tree(system: Any) -> Path:
    """Use the equations of a system in the coordinates of its joints.

    Raises
    ------
    NoKernelError
        For a system without a tree of turns and slides, or one that is too large.
    """

    def derived() -> str:
        text = equations_in_joint_coordinates(system, SYSTEM)[0]
        refuse_wrong_tree(system, text)
        return text

    key = _described(system).key
    file = Path(system.model.file).with_name(f"model_{key}.py")
    _use(file, key, derived, system.name)
    return file


def _described(system: Any) -> Any:
    """The tree of a system for a kernel in the coordinates of its joints.

    Raises
    ------
    NoKernelError
    """
    trees = system._trees
    if trees.closed is not None:
        return trees.closed
    if trees.tree is None or not trees.tree.has_polynomials:
        raise NoKernelError(trees.reason or "its joints have other steps than turns and slides")
    return trees.tree


def equations_in_joint_coordinates(system: Any, source: str, command: str = COMMAND) -> tuple[str, str]:
    """Text and key of the module of a system's equations in the coordinates of its joints; source and command: of its header.

    Raises
    ------
    NoKernelError
    """
    from codegen.compiler.closed_tree import emit_closed_tree
    from codegen.compiler.tree import emit_tree

    tree = _described(system)
    if system._trees.closed is not None:
        return with_header(emit_closed_tree(tree), source, command), tree.key
    return with_header(emit_tree(tree.kinds, tree.parents, tree.key, tree.limited_steps), source, command), tree.key


def refuse_wrong_tree(system: Any, text: str) -> None:
    """Compare the equations of a tree, a module's text, with those of all bodies of a system.

    Raises
    ------
    DefinitionError
    """
    name = system._trees.tree.name
    error = system._trees.error(module_from(text, f"<equations of {name}>", name))
    if not error <= WRONG:
        raise DefinitionError(
            f"system '{system.name}': its equations in the coordinates of the joints differ from those of all bodies by "
            f"{error:.1e} of the largest acceleration, limit {WRONG:.0e}; please report this system"
        )


def _use(file: Path, key: str, derived: Callable[[], str], name: str) -> None:
    """Have this process use the kernel of a model, from its file in the cache if it is there."""
    text, module = stored(file), f"whole.{file.stem}"
    if f"\nKEY = '{key}'\n" not in text:
        text = derived()
        try:
            place().write(file, text.encode())
        except OSError as error:
            tell(f"{file} cannot be written ({error.strerror}), so the kernel of '{name}' serves this process only")
    if module not in sys.modules:
        sys.modules[module] = module_from(text, str(file), module)  # where the runtime finds it
