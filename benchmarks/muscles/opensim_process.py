"""A process in which OpenSim's tool runs: lines with setup files in, lines with seconds of one processor out.

Its own process, since ``ezc3d`` and ``opensim`` cannot live in one.
"""

from __future__ import annotations

import sys
import time


def main() -> None:
    """Answer until the input ends."""
    import opensim

    opensim.Logger.setLevelString("Off")
    for line in sys.stdin:
        tool = opensim.AnalyzeTool(line.strip())  # reads the model
        begin = time.process_time()
        done = tool.run()
        print(time.process_time() - begin if done else "failed", flush=True)


if __name__ == "__main__":
    main()
