"""Models by their names, or by the function that builds them, with arguments as texts."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import sys
import warnings
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from runtime.cli.entries import loaded
from runtime.cli.helps import helps_of
from runtime.report.tables import Table
from runtime.support.errors import AssemblyWarning, ModelError, StaleKernelsError, said_by, shown
from runtime.support.interruption import Interrupted
from runtime.system.installed_reader import read_by_installed

if TYPE_CHECKING:
    from runtime.system.system import System

MODELS = "talus.models"
FORMATS = (".xml", ".mjcf", ".urdf", ".osim", ".json")
PLACE = "package.module:function"  # of a function that builds a model
MODEL_FILES = f"a file ({', '.join(FORMATS)})"


def models_by_name() -> dict[str, EntryPoint]:
    """The installed models."""
    return {entry.name: entry for entry in sorted(entry_points(group=MODELS), key=lambda entry: entry.name)}


def is_model_file(model: str) -> bool:
    """Whether the file of a model is meant, not a name."""
    return model.lower().endswith(FORMATS)


def _builder_of_file(model: str) -> Any:
    """A function with the arguments of the reader that returns the system."""

    def build(
        ignore: Any = (), floating: bool = False, root: str | None = None, muscles: Any = False, controllers: Any = True
    ) -> Any:  # fmt: skip
        """Build the system of a file.

        Parameters
        ----------
        ignore : kinds of parts that are left out although they change the motion, such as contacts,armature
        floating : the root of a URDF robot moves freely
        root : folder in which all files that the model names must lie
        muscles : True for all muscles of an OpenSim file, or their names, such as soleus_r,tib_ant_r
        controllers : True for those that an OpenSim file enables, False for none, or names of those that set its muscles
        """
        options = {"ignore": ignore, "floating": floating, "root": root, "muscles": muscles, "controllers": controllers}
        return read_by_installed(model, options).build()

    return build


def load_model(model: str, *, trusted: bool = True) -> Any:
    """The function that builds the system of a model's name, or of a file; ``trusted``: functions of any module are run, too."""
    if is_model_file(model):
        return _builder_of_file(model)
    known = models_by_name()
    if model in known:
        return loaded(known[model])
    if ":" not in model:
        near = difflib.get_close_matches(model, list(known), n=1, cutoff=0.7)
        meant = f"; did you mean '{near[0]}'? The" if near else "; the"
        raise ModelError(
            f"unknown model '{model}'{meant} models are {', '.join(known)}, or give {MODEL_FILES} or {PLACE}"
        )
    if not trusted:
        raise ModelError(
            f"model '{model}' is a function, which may run any program, and the file may come from somebody else; read both and "
            "give --trust, or name an installed model (talus models) or a file of a model"
        )
    module, _, function = model.partition(":")
    if not all(name.isidentifier() for name in (*module.split("."), function)):
        raise ModelError(f"model '{model}' is no name of a function; give {PLACE}")
    try:
        with redirect_stdout(sys.stderr):  # of this command is the result alone
            return getattr(importlib.import_module(module), function)
    except (ModelError, StaleKernelsError, Interrupted):
        raise
    except (ImportError, AttributeError) as error:
        raise ModelError(f"model '{model}' cannot be loaded: {error}; give {PLACE}") from None
    except (Exception, SystemExit) as error:  # in the user's module
        raise ModelError(f"model '{model}' cannot be loaded: {said_by(error)}; correct its module") from None


def build_model(model: str, given: list[str] | None) -> System:
    """Build the system of a model's name, with the arguments ``key=value``."""
    build = load_model(model)
    return built(model, build, given_arguments(model, build, given), ", ".join(given or ["no arguments"]))


def given_arguments(model: str, build: Any, given: list[str] | None) -> dict[str, Any]:
    """The arguments ``key=value`` of the function of a model."""
    try:
        parameters = inspect.signature(build).parameters
    except (TypeError, ValueError):
        raise ModelError(f"model '{model}' is no function that builds a System") from None
    arguments: dict[str, Any] = {}
    for argument in given or []:
        key, equals, value = argument.partition("=")
        if not equals:
            raise ModelError(f"--set {argument}: give KEY=VALUE")
        if key in arguments:
            raise ModelError(f"--set {argument}: '{key}' has a value already, {shown(arguments[key])}; give each once")
        if key not in parameters:
            raise ModelError(f"--set {argument}: model '{model}' has no '{key}'; it takes {', '.join(parameters)}")
        try:
            arguments[key] = ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # no value of Python, but a text
            arguments[key] = value
    return arguments


def left_out_table(model: str, given: list[str] | None) -> list[Table]:
    """What of a model's file is not in the system; nothing for models by name."""
    if not is_model_file(model):
        return []
    rows = read_by_installed(model, given_arguments(model, load_model(model), given)).rows()
    return [Table("not carried over", ["sort", "names", "reason"], [list(row) for row in rows])] if rows else []


def built(model: str, build: Any, arguments: dict[str, Any], words: str) -> System:
    """Build the system of a model by its function; ``words``: the arguments as the user gave them."""
    from runtime.system.system import System

    try:
        with warnings.catch_warnings(), redirect_stdout(sys.stderr):
            warnings.simplefilter("ignore", AssemblyWarning)  # the verbs show the remarks
            system = build(**arguments)
    except (ModelError, StaleKernelsError, Interrupted):
        raise
    except (TypeError, ValueError) as error:
        raise ModelError(f"model '{model}' does not take {words}: {error}") from None
    except (Exception, SystemExit) as error:  # in the user's function
        raise ModelError(f"model '{model}' cannot be built: {said_by(error)}; correct its function") from None
    if not isinstance(system, System):
        raise ModelError(f"model '{model}' returned {type(system).__name__}; its function must return a System")
    return system


def arguments_table(model: str) -> list[Table]:
    """What ``--set`` takes."""
    build = load_model(model)
    helps, choices = helps_of(inspect.getdoc(build) or ""), choices_of(build)
    rows = [
        [
            p.name,
            "needed" if p.default is p.empty else repr(p.default),
            _short(helps.get(p.name, "")) + (f"; one of {', '.join(choices[p.name])}" if p.name in choices else ""),
        ]
        for p in inspect.signature(build).parameters.values()
    ]
    return [Table("arguments, --set KEY=VALUE", ["key", "default", "meaning"], rows)] if rows else []


def choices_of(build: Any) -> dict[str, list[str]]:
    """The values of each parameter of a function that takes one of a few, by its annotation."""
    try:
        kinds = get_type_hints(build)
    except (NameError, TypeError):  # annotations that name what is imported for type checkers alone
        return {}
    found = {}
    for name, kind in kinds.items():
        parts = [part for part in (kind, *get_args(kind)) if get_origin(part) is Literal]
        if parts:
            found[name] = [str(value) for part in parts for value in get_args(part)]
    return found


def _short(text: str) -> str:
    """The first sentence of a help text, with its unit."""
    sentence, _, rest = text.partition(".  ")
    unit = rest[rest.rindex(" [") : -1] if rest.endswith("].") else ""
    return f"{sentence.rstrip('.')}{unit}".replace("``", "")
