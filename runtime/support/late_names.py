"""Public names of a package, imported when they are first used: a process does not wait for what it does not use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from runtime.support.errors import nearest


def no_attribute(owner: str, name: str, known: Collection[str]) -> AttributeError:
    """The error for a name that a package or an object does not have, with the nearest one; programs ask for special names.

    ``owner``: such as "module 'runtime'".
    """
    near = "" if name.startswith("_") else nearest(name, [one for one in known if not one.startswith("_")])
    return AttributeError(f"{owner} has no attribute '{name}'" + (f"; did you mean '{near}'?" if near else ""))


def late_names(
    package: str, names: Mapping[str, str], *, rooms: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its name.  Its modules are attributes, too.
    names : mapping
        Module of the package -> public names that it defines, separated by spaces.
    rooms : str
        Packages in it that a user may use, separated by spaces.
    """
    places = {name: module for module, several in names.items() for name in several.split()}

    def get(name: str) -> Any:
        if name in places:
            value = getattr(import_module(f"{package}.{places[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        spec = None if name.startswith("__") else find_spec(f"{package}.{name}")
        if spec is None or spec.origin is None:
            raise no_attribute(f"module '{package}'", name, list_names())
        return import_module(f"{package}.{name}")

    def list_names() -> list[str]:
        own = vars(sys.modules[package])
        return sorted({*places, *rooms.split(), *own["__all__"], *(name for name in own if name.startswith("__"))})

    return get, list_names
