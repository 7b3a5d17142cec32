"""A process that compiles models of MuJoCo for another one, so that a crash of its parser ends this process alone.

In: lines of JSON, the path of a model and one for its binary form.  Out: a line for each, the message of an error, or "".
"""

from __future__ import annotations

import json
import os
import sys

MEMORY = 8 << 30  # [bytes] of a model and its compiler


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # MuJoCo prints warnings
    _limit_memory()
    import mujoco

    for line in sys.stdin:
        file, binary = json.loads(line)
        text = ""
        try:
            mujoco.mj_saveModel(mujoco.MjSpec.from_file(file).compile(), binary)
        except Exception as error:  # of several classes, all with the compiler's message
            text = " ".join(str(error).split()) or type(error).__name__
        answers.write(f"{json.dumps(text)}\n")
        answers.flush()


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # no such limits here
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))


if __name__ == "__main__":
    main()
