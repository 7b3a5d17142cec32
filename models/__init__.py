"""Published mechanisms: a module each, with its data and a ``build`` function that returns a ``runtime.System``.

``walking`` holds motion capture, gait analysis and contact of gait; ``studies`` reproduces the papers, and nothing here imports
it.  Modules of this folder import the public names of ``runtime`` and one another.
"""

from models.hidden_runtime import refuse_hidden_runtime

refuse_hidden_runtime()  # before anything is imported from runtime

from models import (  # noqa: E402
    chain,
    double_pendulum,
    foot,
    foot_ground,
    four_bar,
    free_body,
    hooke_shaft,
    pendulum,
    walking,
)

__all__ = [
    "chain",
    "double_pendulum",
    "foot",
    "foot_ground",
    "four_bar",
    "free_body",
    "hooke_shaft",
    "pendulum",
    "walking",
]
