"""Whether Talus reaches its targets of speed, memory and accuracy.

- ``question``: the table of all figures, ``python -m benchmarks targets``;
- ``target``: one figure with its limit;
- ``foot``, ``joints``, ``mechanisms``, ``rivals``, ``allocations``, ``processes``: the measurements; each function yields its
  figures.
"""
