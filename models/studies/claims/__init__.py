"""Claims of the papers, checked against runs: ``verdicts`` (a claim), ``*_runs`` (the runs), one or two modules for each paper.

``costs`` counts evaluations by method and tolerance.  ``study.claims`` makes the tables.  These modules import ``models``,
``models.studies``, ``models.walking``, the public names of ``runtime``, and one another without circles.
"""
