"""One module per program that Talus is compared with; its name is listed in ``benchmarks.peers.records.PROGRAMS``.

A module has

- ``NAME``, ``DISTRIBUTION``, ``METHOD``, ``INPUT`` (the input of the program: one of the names in ``interface``), ``KNOB``
  (the setting that is varied) and its values from coarse to fine: ``LADDER``, all that a search may use, and ``SHOWN``, those
  that the tables list;
- ``prepare(foot, end, setting, outputs) -> Prepared`` and ``evaluation(foot) -> Repeated``;
- ``chain(chain) -> Chained``, if the program can simulate chains, up to ``MAX_LINKS`` links; ``REASON``: why it cannot, or
  why not longer ones;
- ``check()``, which raises MissingError where something besides the program is not installed.

A module imports its program inside its functions, so that it can be imported where the program is not installed.
"""
