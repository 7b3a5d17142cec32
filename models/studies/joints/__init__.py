"""Which joint fits two bones: ``study.joints`` writes ``tables`` and ``figures``.

These modules import the modules of walking in ``models``, the public names of ``runtime``, and one another without circles.
"""
