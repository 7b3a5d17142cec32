"""Scenes in three dimensions as pages and films.  Imports ``system`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.view.output import show, write
    from runtime.view.scene import Group, Scene
else:
    __getattr__, __dir__ = late_names(__name__, {"output": "show write", "scene": "Group Scene"})

__all__ = ["Group", "Scene", "show", "write"]
