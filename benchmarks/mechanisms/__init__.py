"""Mechanisms from the literature, with reference motions of nine digits or more.

- ``problem``: a problem read from its JSON file, with its reference motion;
- ``model``: a problem as a system of Talus; ``forces``: its force elements;
- ``outputs``: the columns of the reference, computed from a run;
- ``peers``, ``programs``, ``geometry``: solutions of other programs, each in a process of its own, without ``runtime``;
- ``question``: error, time and evaluations at three tolerances, ``python -m benchmarks mechanisms [FILE ...]``.

Each JSON file of this folder is one problem; ``conventions.md`` states the meaning of its entries.
"""
