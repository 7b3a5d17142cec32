"""The swapped ankle: ``study.swap`` writes the model and, with a trial, the report; ``tables``, ``figures`` and ``files``.

These modules import the public names of ``models``, those of walking, and the public names of ``runtime``.
"""
