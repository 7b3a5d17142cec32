"""Whether Talus reaches the figures that were set for it.

- ``question``: the table of all figures, ``python -m benchmarks targets``;
- ``target``: one figure with its limit;
- ``foot``, ``mechanisms``, ``rivals``, ``allocations``, ``processes``: the measurements; each function yields its figures.
"""
