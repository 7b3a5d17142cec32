"""All of Talus under one name: ``import talus_multibody as talus``.

It has the public names of ``runtime``, such as ``talus.simulate`` and ``talus.Builder``, and the packages ``talus.runtime``,
``talus.models`` and ``talus.codegen``.  ``import runtime, models`` gives the same objects.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import runtime
from runtime.support.late_names import no_attribute

if TYPE_CHECKING:
    import codegen  # noqa: F401
    import models  # noqa: F401
    from runtime import *  # noqa: F403

_PACKAGES = ("codegen", "models", "runtime")  # codegen imports SymPy, so each is imported when it is first read

__all__ = [*runtime.__all__, *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(name)
    try:
        return getattr(runtime, name)
    except AttributeError:
        raise no_attribute("module 'talus_multibody'", name, __all__) from None


def __dir__() -> list[str]:
    return sorted(__all__)
