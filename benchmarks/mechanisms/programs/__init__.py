"""One module per program that Talus is compared with; its name is listed in ``benchmarks.mechanisms.peers.PROGRAMS``.

A module has ``NAME``, ``DISTRIBUTION``, ``method(data)`` (what it is, in words), ``settings(data, t_end)`` (three, from coarse to
fine) and ``prepare(data, times, points, setting)``, which returns a function that simulates the problem ``data`` and returns the
positions (points, times, 3) of points (a body and local coordinates each), and the number of evaluations or None.  What a program
cannot take it refuses by ``RefusedError``.

A module imports its program inside its functions, so that it can be imported where the program is not installed.
"""
