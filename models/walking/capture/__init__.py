"""Motion capture: one trial of a laboratory from its files, in the axes and units of Talus.

``read`` chooses a reader (``c3d``, ``text_files``); each returns ``contents.Contents`` in the file's own axes, which
``conventions`` converts to a ``trial.Capture`` with the vertical found by ``vertical``.  ``plates`` works on the ground forces
of a trial.  May import ``models.walking.samples`` and ``models.walking.filters``, and from ``runtime`` errors, array types and
``support`` only: a trial needs no system and no integration.  ezc3d, which is optional and may end its process on a damaged
file, is imported in a process beside this one (``c3d_process``, ``c3d_program``).
"""

from models.walking.capture.read import read_capture
from models.walking.capture.trial import Analog, Capture, GaitEvent, GroundForce, Subject

__all__ = ["Analog", "Capture", "GaitEvent", "GroundForce", "Subject", "read_capture"]
