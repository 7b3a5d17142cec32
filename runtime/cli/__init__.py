"""The command ``talus``, with a verb for each task.  Models and studies are found by name among the installed entry points.

Exit codes: 0 done, 1 a run failed or the output could not be written, 2 bad usage or input, 3 stale kernels, 130 Ctrl-C,
143 SIGTERM.
"""

from __future__ import annotations

from runtime.cli.application import app
from runtime.cli.verbs import main

__all__ = ["app", "main"]
