"""The part of the builder that adds forces of definitions."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from runtime.system.connection import checked_name
from runtime.system.force_building import build_force
from runtime.system.parts import GROUND, Force


class ForceBuilder:
    """Collects forces between the bodies of a builder."""

    _bodies: Mapping[str, Any]

    def __init__(self) -> None:
        self._forces: dict[str, Force] = {}

    def force(
        self, name: str, kind: str | ModuleType, body_i: str, body_j: str = GROUND, *,
        body_k: str | None = None, body_l: str | None = None, **values: Any,
    ) -> None:  # fmt: skip
        """Add a force between bodies.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/forces.py``, such as "spring_damper", or what ``codegen.compile_force`` returned.
        body_i, body_j, body_k, body_l : str
            Names of the bodies, or "ground"; k and l where the definition has them.
        **values
            The arguments of the definition: points ``s_*`` (3,) [m] and unit directions (3,), each in the axes of its own
            body, constants, signals ``*_t``, and tables ``*_table`` (n, 2), increasing arguments and values.

        Raises
        ------
        ModelError
        """
        checked_name(name, "force", self._forces)
        bodies = [body_i, body_j, *(body for body in (body_k, body_l) if body is not None)]
        self._forces[name] = build_force(name, kind, bodies, values, self._bodies)
