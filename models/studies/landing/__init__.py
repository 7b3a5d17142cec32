"""Landings of a foot with two axes: ``study.landing`` makes the report; ``runs``, ``design``, ``tables`` and ``figures``.

These modules import ``models.foot``, ``models.foot_orthosis`` and ``models.isb``, and the public names of ``runtime``.
"""
