"""Models: published mechanisms as data and a ``build`` function each.

``models.foot``, ``models.pendulum``, ``models.double_pendulum``, ``models.free_body``, ``models.hooke_shaft``,
``models.four_bar``, ``models.chain``.
"""

from models import chain, double_pendulum, foot, four_bar, free_body, hooke_shaft, pendulum

__all__ = ["chain", "double_pendulum", "foot", "four_bar", "free_body", "hooke_shaft", "pendulum"]
