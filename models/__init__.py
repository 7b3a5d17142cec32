"""Models: published mechanisms as data and a ``build`` function each.

``models.foot``, ``models.pendulum``, ``models.double_pendulum``, ``models.free_body``, ``models.hooke_shaft``,
``models.four_bar``, ``models.chain``; ``models.gait``, a subject's leg and foot, with ``models.gait_analysis`` from files of
motion laboratories to joint moments, ``models.gait_contact``, spheres under its sole, ``models.subject``,
``models.normative`` and ``models.synthetic_gait``.
"""

from models import (
    chain,
    double_pendulum,
    foot,
    foot_ground,
    four_bar,
    free_body,
    gait,
    gait_analysis,
    gait_contact,
    hooke_shaft,
    normative,
    pendulum,
    subject,
    synthetic_gait,
)

__all__ = [
    "chain",
    "double_pendulum",
    "foot",
    "foot_ground",
    "four_bar",
    "free_body",
    "gait",
    "gait_analysis",
    "gait_contact",
    "hooke_shaft",
    "normative",
    "pendulum",
    "subject",
    "synthetic_gait",
]
