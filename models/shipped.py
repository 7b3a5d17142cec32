"""The systems whose whole-model kernels come with Talus.

``python -m codegen --models`` emits them; it finds this table through ``[tool.talus]`` in ``pyproject.toml``.
"""

from __future__ import annotations

from collections.abc import Callable

from models import double_pendulum, foot, foot_ground, four_bar, free_body, hooke_shaft, pendulum
from runtime import System

SYSTEMS: dict[str, Callable[[], System]] = {
    "foot_modified": lambda: foot.build("modified"),
    "foot_modified_limited": lambda: foot.build("modified", limits="elastic"),
    "foot_classical": lambda: foot.build("classical"),
    "foot_classical_limited": lambda: foot.build("classical", limits="elastic"),
    "foot_modified_free": lambda: foot.build("modified", ground=True, leg="free"),
    "foot_classical_free": lambda: foot.build("classical", ground=True, leg="free"),
    "foot_ground": foot_ground.build,
    "pendulum": pendulum.build,
    "double_pendulum": double_pendulum.build,
    "four_bar": four_bar.build,
    "four_bar_revolute": lambda: four_bar.build("revolute"),
    "hooke_shaft": hooke_shaft.build,
    "free_body": free_body.build,
}
