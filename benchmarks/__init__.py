"""Benchmarks: one module per question asked of cost or accuracy; ``python -m benchmarks QUESTION``.

NumPy's linear algebra runs on one thread here, as everything that it is compared with does.
"""

import os

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # read once, when NumPy is imported
