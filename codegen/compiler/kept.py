"""The kernels of users' joints and forces, kept by the digest of all that they are derived from; SymPy is not imported here."""

from __future__ import annotations

import builtins
import dis
import importlib.util
import platform
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from codegen.compiler.output import digest_of_files
from codegen.compiler.text import digest, states_its_digest

FOLDER = Path(__file__).resolve().parents[1]
FIXED = ("sympy", "numpy", "math", "codegen")  # packages whose digest or version is that of all that they define
# Functions whose results the text of a definition does not decide.
OUTSIDE = {"open", "input", "eval", "exec", "__import__", "globals", "locals", "vars", "id", "hash"}


def kept(definitions: Sequence[FunctionType], derived: Callable[[], str], folder: str) -> str:
    """The text that is emitted from definitions, from a folder of the cache if it was derived before without a warning."""
    key = digest_of(*definitions)
    if key is None:
        return derived()
    file = place().cache_folder() / folder / f"{key[:32]}.py"
    if not (text := stored(file)):
        try:
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always")
                text = derived()
        finally:  # also where an error follows
            for warning in given:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        # A definition with a warning is derived each time: the cache never decides whether the warning is seen.
        if not given:
            with suppress(OSError):  # it is derived again where nothing can be written
                place().write(file, text.encode())
    return text


def stored(file: Path) -> str:
    """The text in a file of the cache; empty where there is none that states its digest, or where it is not the user's alone."""
    with suppress(OSError, UnicodeDecodeError):
        text: str = place().read(file).decode()
        return text if states_its_digest(text) else ""
    return ""


def place() -> Any:
    """The rules of the cache, ``runtime.jit.place``, from their file: the package refuses to be imported with stale kernels."""
    name = "runtime.jit.place"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, FOLDER.parent / "runtime" / "jit" / "place.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def digest_of(*definitions: FunctionType) -> str | None:
    """Digest of definitions and of all that they use; None where these cannot be listed."""
    try:
        return digest(repr((*(_parts(definition, set()) for definition in definitions), _common())))
    except (_UnknownError, TypeError, ValueError, RecursionError):  # an empty cell, a list that contains itself
        return None


@cache
def _common() -> tuple[str, ...]:
    return digest_of_files(FOLDER.rglob("*.py"), FOLDER), version("sympy"), version("numpy"), platform.python_version()


class _UnknownError(Exception):
    """A definition uses something whose value cannot be listed."""


def _parts(function: FunctionType, seen: set[FunctionType]) -> list[Any]:
    """The code of a function, and name and value of what it uses; its text may have been edited since it was read."""
    if function in seen:
        return []
    seen.add(function)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    used = {name: cell.cell_contents for name, cell in cells}
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            used[name] = function.__globals__[name]
        elif name in OUTSIDE or not hasattr(builtins, name):
            raise _UnknownError(name)
    own = (
        function.__defaults__ or (),
        *sorted((function.__kwdefaults__ or {}).items()),
        function.__dict__.get("__wrapped__"),
    )
    facts = function.__name__, function.__doc__, _code(function.__code__), _value(own, seen)
    return [*facts, *((name, _value(value, seen)) for name, value in used.items())]


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    counts = code.co_argcount, code.co_kwonlyargcount, code.co_flags
    return code.co_code.hex(), code.co_names, code.co_varnames, counts, constants


def _names(code: CodeType) -> set[str]:
    """Global names that a function uses, those of functions inside it included."""
    names = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(str(instruction.argval))
        elif instruction.opname.startswith("IMPORT"):
            raise _UnknownError(instruction.argval)
    return names.union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _value(value: Any, seen: set[FunctionType]) -> Any:
    if isinstance(value, ModuleType):
        home = value.__name__
    elif value is None or type(value) in (bool, int, float, complex, str):
        return repr(value)
    elif type(value) in (tuple, list):
        return [_value(v, seen) for v in value]
    elif type(value).__module__ == "numpy" and hasattr(value, "tobytes") and value.dtype != object:
        return str(value.dtype), value.shape, value.tobytes().hex()
    else:
        home = str(getattr(value, "__module__", ""))
    if isinstance(value, FunctionType):
        home = str(value.__globals__.get("__name__", ""))  # a decorator may have copied another function's module
        if home.partition(".")[0] not in FIXED:
            return _parts(value, seen)
    if home.partition(".")[0] == "codegen" and is_dataclass(value) and not isinstance(value, type):  # such as a curve
        return home, type(value).__qualname__, _value(list(vars(value).values()), seen)
    if home.partition(".")[0] in FIXED and (isinstance(value, ModuleType) or hasattr(value, "__qualname__")):
        return home, getattr(value, "__qualname__", "")
    raise _UnknownError(value)
