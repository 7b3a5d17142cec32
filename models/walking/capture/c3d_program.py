"""Program of the process that reads C3D files: the library that reads them may end it, or fill its memory, on a damaged file.

Started by ``c3d_process``; imports nothing of Talus.  Requests and answers are pickled, each after its length in 8 bytes.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import IO, Any

import numpy as np

LENGTH = 8  # bytes
ROOM, TIMES = 1 << 29, 64  # bytes of memory for a file: a fixed part, and times its size


def read(path: str) -> dict[str, Any]:
    """Contents of a file as arrays and texts: parameters by group and name, points (4, labels, n), analogs (1, channels, m)."""
    import ezc3d

    file = ezc3d.c3d(path)
    parameters = {
        group: {name: held.get("value") for name, held in members.items() if name != "__METADATA__"}
        for group, members in file["parameters"].items()
    }
    return {
        "parameters": {g: {n: _plain(v) for n, v in members.items()} for g, members in parameters.items()},
        # The library returns points with a negative residual, which the format defines as invalid, as NaN.
        "points": np.array(file["data"]["points"], dtype=float),
        "analogs": np.array(file["data"]["analogs"], dtype=float),
        "rate": float(file["header"]["points"]["frame_rate"]),
    }


def _plain(value: Any) -> Any:
    """Texts as a list, numbers as an array."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    return np.array([] if value is None else value)


def limit_memory(size: int) -> None:
    """Bound the memory of this process by what a file of ``size`` bytes can need, where the system has such bounds."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as pages:
            present = int(pages.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = present + ROOM + TIMES * size
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
    except (ImportError, OSError, ValueError):
        return


def send(stream: IO[bytes], message: object) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=5)
    stream.write(len(data).to_bytes(LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message.

    Raises
    ------
    EOFError
        The other process has ended.
    """
    head = stream.read(LENGTH)
    data = stream.read(int.from_bytes(head, "little")) if len(head) == LENGTH else b""
    if len(head) < LENGTH or len(data) < int.from_bytes(head, "little"):
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    """Answer requests until the standard input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # the library may print
    os.dup2(nowhere, 2)
    while True:
        try:
            path = receive(requests)
        except EOFError:
            return
        answer: tuple[str, Any]
        try:
            limit_memory(os.path.getsize(path))
            answer = "read", read(path)
        except Exception as error:  # the library raises various types on damaged files
            answer = "refused", str(error) or type(error).__name__
        send(answers, answer)


if __name__ == "__main__":
    sys.path.append(sys.argv[1])  # where the library is
    main()
