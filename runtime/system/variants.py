"""What named values make: the system of a function from its parameters, with other numbers, and its initial state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runtime.support.errors import ModelError
from runtime.system.parameters import affects_joints, is_parameter, is_state, replace_parameters
from runtime.system.state import State
from runtime.system.system import System


def name_of(function: Any) -> str:
    """``module.function``, for messages."""
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"


def check_parameters(build: Callable[..., System], names: Iterable[str], what: str) -> None:
    """Refuse names that a function does not take, and names that lack one that it needs; ``what`` holds them, for the message.

    Raises
    ------
    ModelError
        Naming the function, the parameter and those that it takes.
    """
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):
        return  # of compiled code, which does not tell
    known = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes = f"it takes {', '.join(p.name for p in known)}" if known else "it takes none"
    anything = any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values())
    given = set(names)
    if not anything and (unknown := sorted(given - {p.name for p in known})):
        raise ModelError(f"{what}: {name_of(build)} has no parameter '{unknown[0]}'; {takes}")
    if missing := [p.name for p in known if p.default is p.empty and p.name not in given]:
        raise ModelError(f"{what}: {name_of(build)} needs '{missing[0]}', too; {takes}")


def build_variant(build: Callable[..., System], parameters: Mapping[str, Any]) -> System:
    """What a function builds from parameters.

    Raises
    ------
    ModelError
        Where it builds no system; whatever the function raises is told so.
    """
    try:
        system = build(**parameters)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{name_of(build)} failed: {type(error).__name__}: {error}") from error
    if not isinstance(system, System):
        raise ModelError(f"{name_of(build)} gave {system!r}; give a function that builds a System")
    return system


def variant(build: System | Callable[..., System], values: Mapping[str, Any]) -> tuple[System, State, bool]:
    """A system and its initial state as values by name tell, and whether numbers of joints are among them.

    Names are the function's keywords, numbers of the system, and parts of the initial state, which may violate the constraints.

    Raises
    ------
    ModelError
    """
    system = build
    if not isinstance(system, System):
        system = build_variant(system, {name: value for name, value in values.items() if "." not in name})
    numbers = {name: value for name, value in values.items() if is_parameter(name, build)}
    if numbers:
        system = replace_parameters(system, numbers)
    parts: dict[str, dict[str, Any]] = {}
    for name in filter(is_state, values):
        part, _, body = name.partition(".")
        parts.setdefault(part, {})[body] = values[name]
    return system, system.state.replace(**parts) if parts else system.state, affects_joints(system, numbers)
