"""An ensemble in a folder: a file for each finished chunk, written whole or not at all, so that a killed run can go on.

ensemble.json   what was run: settings, names, digests of system and cases
cases.npz       what each case was run with
chunks/N.npz    results of the cases from number N on
lock            held by the one process that writes
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.errors import ModelError
from runtime.system import System

if TYPE_CHECKING:
    from runtime.ensemble import Chunk, Ensemble
    from runtime.simulate import Settings

FORMAT = 1


class Folder:
    """The folder of an ensemble."""

    def __init__(self, path: Path) -> None:
        self.path, self.chunks = path, path / "chunks"
        self._lock: Any = None
        try:
            self.told: dict[str, Any] = json.loads((path / "ensemble.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ModelError(f"{path} holds no ensemble; give the folder that simulate_many wrote to") from None

    @classmethod
    def opened(
        cls,
        path: Path,
        example: System,
        system: Any,
        cases: Mapping[str, Any],
        settings: Settings,
        assemble: bool,
        size: int,
    ) -> Folder:
        """The folder for this ensemble, new or as it was left, and this process as the one that writes."""
        told = {
            "format": FORMAT, "name": example.name, "bodies": list(example.body_names), "count": len(next(iter(cases.values()))),
            "chunk": size, "settings": asdict(settings), "assemble": assemble, "system": _digest_of_system(example, system),
            "cases": _digest_of_cases(cases),
        }  # fmt: skip
        told = json.loads(json.dumps(told))
        if path.exists() and not path.is_dir():
            raise ModelError(f"{path} is a file; give a folder")
        path.mkdir(parents=True, exist_ok=True)
        if not (path / "ensemble.json").exists():
            # One that was killed before it had begun left no more than these.
            if {file.name.removesuffix(".part") for file in path.iterdir()} - {"chunks", "cases.npz", "ensemble.json"}:
                raise ModelError(f"{path} holds other files; give an empty folder, or one that does not exist")
            (path / "chunks").mkdir(exist_ok=True)
            _write(path / "cases.npz", _packed(cases))
            _write(path / "ensemble.json", json.dumps(told, indent=1).encode())
        folder = cls(path)
        told["chunk"] = folder.told["chunk"] if size != folder.told["chunk"] else size
        for key, value in told.items():
            if value != folder.told.get(key):
                raise ModelError(
                    f"{path} holds another ensemble: {_difference(key, folder.told.get(key), value)}; give another folder"
                )
        folder.hold()
        return folder

    def hold(self) -> None:
        """Be the only process that writes; the system lets go of the lock when the process ends, however it ends."""
        try:
            import fcntl
        except ImportError:  # no such locks here
            return
        lock = (self.path / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise ModelError(f"{self.path} is being written by another process; wait for its end") from None
        self._lock = lock

    def release(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()

    def done(self) -> list[tuple[int, int]]:
        """First case and number of cases of each finished chunk, in order."""
        firsts = sorted(int(f.stem) for f in self.chunks.glob("*.npz") if re.fullmatch(r"\d+", f.stem))
        return [(first, min(self.told["chunk"], self.told["count"] - first)) for first in firsts]

    def save(self, chunk: Chunk) -> None:
        """Write a finished chunk."""
        packed = dict(states=chunk.states, status=chunk.status, reached=chunk.reached, counts=chunk.counts)
        packed["messages"] = np.array(json.dumps(chunk.messages))
        _write(self.chunks / f"{chunk.first:09d}.npz", _packed(packed))

    def load(self, first: int) -> dict[str, Any]:
        """Arrays of a finished chunk."""
        with np.load(self.chunks / f"{first:09d}.npz", allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def ensemble(self) -> Ensemble:
        """The results so far; states are read when they are asked for."""
        from runtime.ensemble import Chunk, gathered

        def told() -> Iterator[Chunk]:
            for first, _ in self.done():
                with np.load(self.chunks / f"{first:09d}.npz", allow_pickle=False) as file:
                    messages = {int(case): text for case, text in json.loads(str(file["messages"])).items()}
                    yield Chunk(first, np.zeros(0), file["status"], file["reached"], file["counts"], messages)

        with np.load(self.path / "cases.npz", allow_pickle=False) as file:
            cases = {name: file[name] for name in file.files}
        times = np.array(self.told["settings"]["t"])
        return gathered(self.told["name"], tuple(self.told["bodies"]), times, cases, told(), self.path, self)


def _packed(arrays: Mapping[str, Any]) -> bytes:
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


def _write(file: Path, content: bytes) -> None:
    """A file that is there whole or not at all, even if the machine stops."""
    other = file.with_name(file.name + ".part")
    with other.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    other.replace(file)


def _digest_of_cases(cases: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(cases):
        values = np.ascontiguousarray(cases[name])
        digest.update(f"{name} {values.dtype.str} {values.shape} ".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()[:16]


def _digest_of_system(example: System, system: Any) -> str:
    """Of all numbers of a system, and of the text of the function that builds one."""
    joints = [(joint.name, joint.kind, joint.body_i, joint.body_j) for joint in example.joints]
    digest = hashlib.sha256(repr((repr(example), joints)).encode())
    none = np.zeros(0, np.int64)  # addresses are another in every process
    tables = example.tables._replace(address=none, loads=example.tables.loads._replace(address=none))
    digest.update(repr(_plain(tables)).encode())
    digest.update(example.state.y.tobytes())
    if not isinstance(system, System):
        try:
            digest.update(inspect.getsource(system).encode())
        except (OSError, TypeError):
            digest.update(repr(getattr(system, "__qualname__", "")).encode())
    return digest.hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _difference(key: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        name = next(name for name in here if here[name] != there.get(name))
        return f"its {name} is {there.get(name)!r}, not {here[name]!r}"
    if key in ("system", "cases"):
        return f"its {key} {'differs' if key == 'system' else 'differ'}"
    return f"its {key} is {there!r}, not {here!r}"
