"""An ensemble in a folder: a file for each finished chunk, written whole or not at all, so that a killed run can go on.

ensemble.json   what was run: settings, names, digests of system and cases
cases.npz       what each case was run with
chunks/N.npz    results of the cases from number N on
lock            held by the one process that writes
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import io
import json
import os
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runtime.ensemble.chunk import Cases, Chunk, Task, built_cases, digest_of_system, mark_of
from runtime.jit.cache import compiled_folder
from runtime.support.errors import ModelError
from runtime.system.system import System

FORMAT = 2
SAMPLES = 8  # finished cases whose systems are compared when a folder is taken up
DAMAGED = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)  # what reading a broken file raises
FILES = ("chunks", "cases.npz", "ensemble.json", "lock")
COLUMNS = ("status", "reached", "counts", "in_batch")  # of a chunk


class Folder:
    """The folder of an ensemble."""

    def __init__(self, path: Path) -> None:
        self.path, self._chunk_files = path, path / "chunks"
        self._lock: Any = None
        file = path / "ensemble.json"
        try:
            self.outputs: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            version, self.name, self.how = self.outputs["format"], self.outputs["name"], self.outputs["settings"]
            self.chunk, self.count = max(1, int(self.outputs["chunk"])), int(self.outputs["count"])
            self.bodies, self.times = tuple(self.outputs["bodies"]), self.how["t"]
        except (FileNotFoundError, NotADirectoryError):
            raise ModelError(f"{path} holds no ensemble; give the folder that simulate_many wrote to") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{file} cannot be read ({error}); give another folder, or restore the file") from None
        if version != FORMAT:
            raise ModelError(f"{path} has the format {version}, this version reads {FORMAT}; run the ensemble anew")

    @classmethod
    def opened(cls, path: Path, example: System, task: Task, cases: Cases, size: int) -> Folder:
        """The folder for this ensemble, new or as it was left, and this process as the one that writes."""
        own = {
            "format": FORMAT, "name": example.name, "bodies": list(example.body_names), "count": len(next(iter(cases.values()))),
            "chunk": size, "settings": task.outputs, "code": compiled_folder().name,
            "system": digest_of_system(example, example.state.y) + _digest_of_function(task.system),
            "cases": _digest_of_cases(cases),
        }  # fmt: skip
        own = json.loads(json.dumps(own))
        try:
            path.mkdir(parents=True, exist_ok=True)
            begun = (path / "ensemble.json").exists()
            # One that was killed before it had begun left no more than these.
            if not begun and {file.name.removesuffix(".part") for file in path.iterdir()} - set(FILES):
                raise ModelError(f"{path} holds other files; give an empty folder, or one that does not exist")
            lock = _locked(path)
        except OSError as error:
            raise ModelError(f"{path} cannot be written to ({error.strerror}); give another folder") from None
        try:
            if not (path / "ensemble.json").exists():
                (path / "chunks").mkdir(exist_ok=True)
                _write(path / "cases.npz", _packed(_encoded(cases)))
                _write(path / "ensemble.json", json.dumps(own, indent=1).encode())
            folder = cls(path)
            own["chunk"] = folder.chunk  # a folder keeps its own
            for key, value in own.items():
                if value != folder.outputs.get(key):
                    raise ModelError(
                        f"{path} holds another ensemble: {_difference(key, folder.outputs.get(key), value)}; give another folder"
                    )
            folder._lock = lock
            folder._set_damaged_aside(cases)
            folder._compare_systems(task, cases)
        except BaseException:
            if lock is not None:
                lock.close()
            raise
        return folder

    def release(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()

    def _set_damaged_aside(self, cases: Cases) -> None:
        """Give chunks that cannot be read another name, so that their cases are run again; write damaged cases anew."""
        try:
            self.cases()
        except ModelError:
            _write(self.path / "cases.npz", _packed(_encoded(cases)))  # the same: their digest is in ensemble.json
        for first, _ in self.done():
            try:
                self.load(first)
            except ModelError as error:
                self._file(first).replace(self._file(first).with_suffix(".damaged"))
                warnings.warn(f"{error}; its cases are run again", stacklevel=4)

    def _compare_systems(self, task: Task, cases: Cases) -> None:
        """Refuse to go on where the function builds other systems than it did, as far as some cases tell."""
        if isinstance(task.system, System):
            return
        firsts = [first for first, _ in self.done()]
        for first in firsts[:: -(-len(firsts) // SAMPLES) or 1]:
            case, mark = self.load(first, states=False)["mark"]
            one = {name: values[int(case) : int(case) + 1] for name, values in cases.items()}
            if mark and mark != mark_of(built_cases(task, int(case), one, 1)[0])[1]:
                raise ModelError(
                    f"{self.path} holds another ensemble: its system differs for case {case}; give another folder"
                )

    def done(self) -> list[tuple[int, int]]:
        """First case and number of cases of each finished chunk, in order."""
        found = []
        for file in sorted(self._chunk_files.glob("*.npz")):
            first = int(file.stem) if file.stem.isdigit() else -1
            if first < 0 or first % self.chunk or first >= self.count:
                raise ModelError(f"{file} is no chunk of this ensemble; move it elsewhere")
            found.append((first, min(self.chunk, self.count - first)))
        return found

    def _file(self, first: int) -> Path:
        return self._chunk_files / f"{first:09d}.npz"

    def save(self, chunk: Chunk) -> None:
        """Write a finished chunk."""
        packed = {name: getattr(chunk, name) for name in ("states", *COLUMNS)}
        packed["messages"] = np.array(json.dumps(chunk.messages))
        packed["first"], packed["mark"] = np.array(chunk.first), np.array(chunk.mark)
        _write(self._file(chunk.first), _packed(packed))

    def load(self, first: int, *, states: bool = True) -> dict[str, Any]:
        """Arrays, messages and mark of a finished chunk."""
        file = self._file(first)
        arrays = _read(file, () if states else ("states",))
        count = min(self.chunk, self.count - first)
        try:
            whole = int(arrays["first"]) == first and all(len(arrays[name]) == count for name in COLUMNS)
            arrays["messages"] = {int(case): text for case, text in json.loads(str(arrays["messages"])).items()}
            arrays["mark"] = tuple(arrays["mark"].tolist())
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(file, error) from None
        if not whole:
            raise ModelError(f"{file} holds other cases; call simulate_many again with this folder")
        return arrays

    def chunks(self) -> Iterator[Chunk]:
        """Finished chunks without their states."""
        for first, _ in self.done():
            arrays = self.load(first, states=False)
            yield Chunk(
                first, np.zeros(0), arrays["status"], arrays["reached"], arrays["counts"], arrays["in_batch"],
                arrays["messages"], arrays["mark"],
            )  # fmt: skip

    def cases(self) -> Cases:
        """What each case was run with."""
        file = self.path / "cases.npz"
        stored = _read(file)
        try:
            return _decoded(stored)
        except ValueError as error:
            raise _damaged(file, error) from None


def _read(file: Path, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Arrays of a file.  numpy checks their checksums."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files if name not in leave_out}
    except DAMAGED as error:
        raise _damaged(file, error) from None


def _damaged(file: Path, error: Exception) -> ModelError:
    return ModelError(f"{file} is damaged ({type(error).__name__}); call simulate_many again with this folder")


def _locked(path: Path) -> Any:
    """The only process that writes holds this; the system lets go of it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks here
        return None
    lock = (path / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise ModelError(f"{path} is being written by another process; wait for its end") from None
    return lock


def _packed(arrays: Mapping[str, Any]) -> bytes:
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


def _encoded(cases: Cases) -> dict[str, Any]:
    """Columns that hold None as text, which needs no pickle."""
    texts = {name: np.array(json.dumps(values.tolist())) for name, values in cases.items() if values.dtype == object}
    return {f"json:{name}" if name in texts else name: texts.get(name, values) for name, values in cases.items()}


def _decoded(stored: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix("json:"): np.array(json.loads(str(values)), dtype=object)
        if name.startswith("json:")
        else values
        for name, values in stored.items()
    }


def _write(file: Path, content: bytes) -> None:
    """A file that is there whole or not at all, even if the machine stops."""
    other = file.with_name(file.name + ".part")
    try:
        with other.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        other.replace(file)
    except OSError as error:
        other.unlink(missing_ok=True)
        raise ModelError(
            f"{file} could not be written ({error.strerror}); make room, and call simulate_many again with this folder: it "
            "takes up what is not finished"
        ) from None


def _digest_of_cases(cases: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(cases):
        values = np.ascontiguousarray(cases[name])
        digest.update(f"{name} {values.dtype.str} {values.shape} ".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()[:16]


def _digest_of_function(system: Any) -> str:
    """Of the text of a function that builds systems, and of what it encloses."""
    if isinstance(system, System):
        return ""
    parts: list[Any] = []
    while isinstance(system, functools.partial):
        parts += [system.args, sorted(system.keywords.items())]
        system = system.func
    try:
        parts.append(inspect.getsource(system))
    except (OSError, TypeError):
        parts.append(getattr(system, "__qualname__", ""))
    with contextlib.suppress(TypeError):
        parts += [sorted(inspect.getclosurevars(system).nonlocals.items())]
        parts += [getattr(system, "__defaults__", None), getattr(system, "__kwdefaults__", None)]
    return hashlib.sha256(repr(_stable(parts)).encode()).hexdigest()[:16]


def _stable(value: Any) -> Any:
    """What of a value is the same in every process: numbers and texts; of other objects the type alone."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _stable(value.tolist())
    if isinstance(value, list | tuple):
        return [_stable(part) for part in value]
    if isinstance(value, dict):
        return sorted(((repr(_stable(key)), _stable(part)) for key, part in value.items()), key=lambda pair: pair[0])
    return getattr(value, "__qualname__", type(value).__qualname__)


def _difference(key: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        name = next(name for name in here if here[name] != there.get(name))
        return f"its {name} is {there.get(name)!r}, not {here[name]!r}"
    if key in ("system", "cases"):
        return f"its {key} {'differs' if key == 'system' else 'differ'}"
    return f"its {key} is {there!r}, not {here!r}"
