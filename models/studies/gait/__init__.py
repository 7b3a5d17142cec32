"""A walking trial: ``study.gait`` writes ``tables``, ``figures`` and ``files``; ``contact`` adds spheres under the foot.

These modules import the modules of walking in ``models``, the public names of ``runtime``, and one another without circles.
"""
