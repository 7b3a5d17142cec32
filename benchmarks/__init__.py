"""Benchmarks: one module per question about cost or accuracy, ``python -m benchmarks QUESTION``.

A question is a module here, or the module ``question`` of a folder: ``cost``, ``rhs``, ``limits``, ``gait``, ``ensembles``,
``targets``, ``mechanisms``, ``random``, ``files``, ``queries``, ``control``, ``peers``.  Each has
``ask(*, quick, say) -> Answer`` and holds its cases as data.  ``measure`` holds the code that they share;
``ensemble_systems`` and ``ensembles_on_device`` are parts of ``ensembles``.

Benchmarks import ``runtime`` and ``models``, compiled code of ``runtime`` through ``measure`` only, and never ``codegen``.
Nothing imports benchmarks, and they are not installed.  Programs that Talus is compared with are imported in processes of
their own.

NumPy's linear algebra runs on one thread here, like everything that it is compared with.
"""

import os

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # read once, when NumPy is imported
