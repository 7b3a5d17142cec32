"""Random mechanisms, each against a second method that shares no code with ``runtime``.

- ``mechanism``: a mechanism as data: bodies, joints, springs and drivers, made in global axes at the reference pose;
- ``trees``, ``planar``, ``spatial``: classes of random mechanisms, functions of a generator of random numbers;
- ``change_points``, ``swinging``: those that pass singular poses, with a motion that is known on its smooth branch;
- ``acting``: trees and loops with joint limits, contacts and forces;
- ``model``: a mechanism as a system of Talus;
- ``rows``, ``second``: the second method, equations of motion by singular values, in NumPy and SciPy alone;
- ``actions``: limits, contacts and forces by the second method;
- ``closed_form``: four-bars with change points, which pass singular poses, by one coordinate in closed form;
- ``compare``: a run against the second method, and the verdict;
- ``question``: counts by class, ``python -m benchmarks random``.
"""
