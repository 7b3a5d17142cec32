"""Many subjects: ``study.gait_table`` writes the report of each, and ``tables``, ``figures`` and ``files`` of groups.

These modules import the modules of walking in ``models``, ``models.studies.gait``, the public names of ``runtime``, and one
another without circles.
"""
