"""Time that other programs take for the same motion at equal error, and for a chain of bodies.

- ``question``: tables and figures, ``python -m benchmarks peers``;
- ``comparison``, ``search``: which runs are made, and which setting of a program reaches an error;
- ``records``, ``report``: the measured quantities, and their tables and figures;
- ``process``: another program in a process of its own; ``interface``: the data that cross the border;
- ``talus``: Talus itself, measured as one of the programs;
- ``native``, ``reduced_foot``: for programs that take equations: a compiled integrator, and the equations;
- ``programs``: one module per program.

``interface``, ``native``, ``reduced_foot`` and ``programs`` import nothing of ``runtime`` and ``models``, and this file imports
nothing at all: they run in the processes of the other programs.
"""
