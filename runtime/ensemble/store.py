"""An ensemble in a folder: a file for each finished chunk, written atomically, so that a killed ensemble can be resumed.

ensemble.json   settings, names, digests of the system and of the cases, and a digest of all these, the seal
cases.npz       values of all cases
chunks/N.npz    results of the chunk whose first case is number N, with the seal of its ensemble and digests of its arrays
lock            held by the only process that writes
.talus          the mark of folders that Talus made, or that were empty

Files of other ensembles and changed files are refused: every digest is compared on reading.  No link is followed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import io
import itertools
import json
import os
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runtime.ensemble.cases import Cases, ensemble_name, row
from runtime.ensemble.chunk import digest_of_case
from runtime.ensemble.seals import (
    SEAL,
    STATES,
    digest_of_arrays,
    digest_of_system,
    is_sealed,
    seal_of_description,
    sealed,
)
from runtime.ensemble.task import Chunk, Controllers, Task
from runtime.integrate.controllers import Controller
from runtime.integrate.events import AtRest, Event, ZeroCrossing
from runtime.jit.cache import compiled_folder
from runtime.results.outputs import output_from, record_of
from runtime.support.arrays import Ints
from runtime.support.errors import ModelError
from runtime.support.files import is_unfinished, opened, read_file, reason, write_bytes
from runtime.support.forks import not_in_forks
from runtime.support.results_folder import own_folder, refuse_links
from runtime.system.quantity import parse
from runtime.system.system import System

FORMAT = 3
SAMPLES = 8  # finished cases whose systems are compared when a folder is resumed
COLUMNS = ("status", "reached", "counts", "vectorised")  # of a chunk
KEPT = ("turns", "starts", "events")  # of some of its cases
AGAIN = "call simulate_many again with this folder"
RESUME = "make room, and call simulate_many again with this folder to resume the ensemble"


class Folder:
    """The folder of an ensemble."""

    def __init__(self, path: Path) -> None:
        self.path, self._chunk_files = path, path / "chunks"
        self._lock: Any = None
        refuse_links(path)
        self._description = stored = _description(path, path / "ensemble.json")
        self.name, self.how = stored["name"], stored["settings"]
        self.chunk, self.count = stored["chunk"], stored["count"]
        self.bodies, self.times = tuple(stored["bodies"]), self.how["t"]
        kept = stored.get("outputs")  # folders of earlier versions hold states
        self.outputs = None if kept is None else {output.name: output for output in map(output_from, kept)}
        self.events = tuple(event["name"] for event in stored.get("events") or ())
        self.quantities = {name: parse(name)._replace(unit=unit) for name, unit in stored["units"].items()}

    @classmethod
    def opened(cls, path: Path, example: System, task: Task, cases: Cases, size: int) -> Folder:
        """Open the folder for this ensemble, new or to be resumed, and lock it for this process."""
        own = {
            "format": FORMAT, "name": ensemble_name(task.system, example), "bodies": list(example.body_names),
            "count": len(next(iter(cases.values()))), "chunk": size, "settings": task.stored_settings,
            "code": compiled_folder().name,
            "system": digest_of_system(example, example.state.y) + _digest_of_function(task.system),
            "outputs": task.outputs and [record_of(output) for output in task.outputs.values()],
            "events": [_record_of(event) for event in task.events] or None,
            "controllers": _record_of_controllers(task.controllers),
            "cases": digest_of_arrays(cases), "units": {name: quantity.unit for name, quantity in task.quantities.items()},
        }  # fmt: skip
        own = json.loads(json.dumps(own))
        try:
            if (path / "ensemble.json").exists():
                cls(path)  # a folder of another version has no mark, but its seal
            else:
                own_folder(path)
            lock = _locked(path)
        except ModelError:
            raise
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} cannot be written to ({reason(error)}); give another folder") from None
        try:
            _prepare(path)
            if written := not (path / "ensemble.json").exists():
                _write(path / "cases.npz", _packed(_encoded(cases)))
                described = own | {SEAL: seal_of_description(own)}
                _write(path / "ensemble.json", json.dumps(described, indent=1).encode())
            folder = cls(path)
            own["chunk"] = folder.chunk  # a resumed folder keeps its chunk size
            for key, value in own.items():
                stored = folder._description.get(key)
                if value != stored:
                    remedy = "repeat the former call to resume it, or give another folder"
                    raise ModelError(f"{path} holds another ensemble: {_difference(key, stored, value)}; {remedy}")
            folder._lock = lock
            if not written:
                folder._mend_cases(cases)
            folder._set_damaged_aside()
            folder._compare_systems(task, cases)
        except BaseException:
            if lock is not None:
                lock.close()
            raise
        return folder

    def release(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the lock, which belongs to this process: a copy reads what the folder holds."""
        return self.__dict__ | {"_lock": None}

    def _mend_cases(self, cases: Cases) -> None:
        """Rewrite a damaged file of cases."""
        try:
            self.cases()
        except ModelError:
            _write(self.path / "cases.npz", _packed(_encoded(cases)))  # the digest in ensemble.json proves them equal

    def _set_damaged_aside(self) -> None:
        """Rename chunks that cannot be read, so that their cases are run again."""
        for first, _ in self.done():
            try:
                self.load(first)
            except ModelError as error:
                self._set_aside(self._file(first))
                said = str(error).partition(";")[0]
                warnings.warn(f"{said}; it is set aside, and its cases are run again", stacklevel=4)

    @staticmethod
    def _set_aside(file: Path) -> None:
        """Rename a file to a free name with the ending ``.damaged``."""
        endings = itertools.chain([".damaged"], (f".{number}.damaged" for number in itertools.count(2)))
        try:
            file.rename(next(free for ending in endings if not (free := file.with_suffix(ending)).exists()))
        except OSError as error:
            raise ModelError(f"{file} is damaged and cannot be renamed ({reason(error)}); remove it") from None

    def _compare_systems(self, task: Task, cases: Cases) -> None:
        """Refuse a folder some of whose finished cases had other systems than the function builds now."""
        if isinstance(task.system, System):
            return
        firsts = [first for first, _ in self.done()]
        for first in firsts[:: -(-len(firsts) // SAMPLES) or 1]:
            case, mark = self.load(first, states=False)["mark"]
            if mark and mark != digest_of_case(task, row(cases, int(case))):
                raise ModelError(
                    f"{self.path} holds another ensemble: its system differs for case {case}; give another folder"
                )

    def done(self) -> list[tuple[int, int]]:
        """First case and number of cases of each finished chunk, in order."""
        found = []
        for file in sorted(self._chunk_files.glob("*.npz")):
            first = int(file.stem) if file.stem.isdecimal() and file.stem.isascii() else -1
            if file != self._file(first) or first % self.chunk or first >= self.count:
                raise ModelError(f"{file} is no chunk of this ensemble; move it elsewhere")
            found.append((first, min(self.chunk, self.count - first)))
        return found

    def _file(self, first: int) -> Path:
        return self._chunk_files / f"{first:09d}.npz"

    def save(self, chunk: Chunk) -> None:
        """Write a finished chunk."""
        packed = {name: getattr(chunk, name) for name in ("states", *COLUMNS)}
        packed["messages"] = np.array(json.dumps(chunk.messages))
        for what in KEPT:
            if of_cases := getattr(chunk, what):
                packed[_cases_of(what)], packed[what] = map(np.concatenate, zip(*of_cases, strict=True))
        packed["first"], packed["mark"] = np.array(chunk.first), np.array(chunk.mark)
        _write(self._file(chunk.first), _packed(sealed(packed, self._description[SEAL])))

    def load(self, first: int, *, states: bool = True) -> dict[str, Any]:
        """Arrays, messages and mark of a finished chunk."""
        file = self._file(first)
        left_out = () if states else (STATES,)
        arrays = _read(file, left_out)
        count = min(self.chunk, self.count - first)
        try:
            own = str(arrays["ensemble"]) == self._description[SEAL]
            unchanged = is_sealed(arrays, left_out)
            whole = int(arrays["first"]) == first and all(len(arrays[name]) == count for name in COLUMNS)
            arrays["messages"] = {int(case): text for case, text in json.loads(str(arrays["messages"])).items()}
            arrays["mark"] = tuple(arrays["mark"].tolist())
        except Exception as error:
            raise _damaged(file, error) from None
        found = {
            "holds results of another ensemble": own,
            "holds other cases": whole,
            "was changed since it was written": unchanged,
        }
        if wrong := [text for text, good in found.items() if not good]:
            raise ModelError(f"{file} {wrong[0]}; {AGAIN}")
        return arrays

    def kept(self, first: int, what: str) -> list[tuple[Ints, Any]]:
        """One of ``KEPT`` (``what``) of a finished chunk."""
        arrays = self.load(first, states=False)
        return [(arrays[_cases_of(what)], arrays[what])] if what in arrays else []

    def outcome(self, first: int) -> Chunk:
        """A finished chunk without its states."""
        arrays = self.load(first, states=False)
        columns = (arrays[name] for name in (*COLUMNS, "messages", "mark"))
        return Chunk(first, np.zeros(0), *columns)

    def cases(self) -> Cases:
        """Values of all cases by name."""
        file = self.path / "cases.npz"
        stored = _read(file)
        try:
            found = _decoded(stored)
            own = digest_of_arrays(found) == self._description["cases"]
        except Exception as error:
            raise _damaged(file, error) from None
        if not own:
            raise ModelError(f"{file} holds other cases than those of the ensemble, or was changed; {AGAIN}")
        return found


def _cases_of(what: str) -> str:
    """Name of the numbers of the cases of one of ``KEPT``."""
    return f"{what.removesuffix('s')}_cases"


def _read(file: Path, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Arrays of a file; the checksums of the zip archive are verified on reading."""
    try:
        with opened(file) as stream, np.load(stream, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files if name not in leave_out}
    except Exception as error:  # NumPy, zipfile and the decompressors raise a dozen types on damaged files
        raise _damaged(file, error) from None


def _damaged(file: Path, error: Exception) -> ModelError:
    return ModelError(f"{file} is damaged ({type(error).__name__}); {AGAIN}")


def _description(path: Path, file: Path) -> dict[str, Any]:
    """The entries of ensemble.json, which its seal proves to be those that were written."""
    if not file.exists():
        raise ModelError(f"{path} holds no ensemble; give the folder that simulate_many wrote to")
    try:
        stored = json.loads(read_file(file))
        version = stored["format"]
        own = version != FORMAT or stored[SEAL] == seal_of_description(stored)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise ModelError(f"{file} cannot be read ({said}); give another folder, or restore the file") from None
    if version != FORMAT:
        raise ModelError(f"{path} has the format {version!r}, this version reads {FORMAT}; run the ensemble anew")
    if not own:
        raise ModelError(
            f"{file} was changed since it was written: its entries do not have the digest that it states; restore the file, "
            "or run the ensemble anew in another folder"
        )
    return dict(stored)


def _prepare(path: Path) -> None:
    """Make the folder of the chunks, and remove what killed processes left half written; the folder is locked."""
    try:
        (path / "chunks").mkdir(exist_ok=True)
        for file in (*path.iterdir(), *(path / "chunks").iterdir()):
            if is_unfinished(file.name) and file.is_file():
                file.unlink()
    except OSError as error:
        raise ModelError(f"{path} cannot be written to ({reason(error)}); give another folder") from None


def _locked(path: Path) -> Any:
    """Lock the folder; the operating system releases the lock when the process ends for any reason."""
    try:
        import fcntl
    except ImportError:  # no such locks on this platform
        return None
    # Not emptied, since a hard link may give a file of the user this name.
    lock = os.fdopen(os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK), "rb", buffering=0)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise ModelError(
            f"{path} is being written by another process; wait for its end, end it, or give another folder"
        ) from None
    not_in_forks(lock)  # a worker that outlives this process must not hold it
    return lock


def _packed(arrays: Mapping[str, Any]) -> memoryview:
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getbuffer()


def _encoded(cases: Cases) -> dict[str, Any]:
    """The cases with columns that contain None as JSON, so that no pickle is needed."""
    texts = {name: np.array(json.dumps(values.tolist())) for name, values in cases.items() if values.dtype == object}
    return {f"json:{name}" if name in texts else name: texts.get(name, values) for name, values in cases.items()}


def _decoded(stored: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix("json:"): np.array(json.loads(str(values)), dtype=object)
        if name.startswith("json:")
        else values
        for name, values in stored.items()
    }


def _write(file: Path, content: bytes | memoryview) -> None:
    """Write a file atomically: after a crash it is complete or absent."""
    write_bytes(file, content, remedy=RESUME)


def _record_of_controllers(controllers: Controllers) -> list[dict[str, Any]] | None:
    if callable(controllers):
        return [{"name": "a function", "digest": _digest_of_function(controllers)}]
    return [_record_of(one) for one in controllers] or None


def _record_of(event: Event | AtRest | ZeroCrossing | Controller) -> dict[str, Any]:
    """Name of an event or a controller and a digest of all that it is."""
    values = {name: value for name, value in vars(event).items() if name not in ("function", "module")}
    made_from: str = _digest_of_function(event.function) if isinstance(event, Event | Controller) else ""
    if isinstance(event, ZeroCrossing):
        made_from = inspect.getsource(event.module)
    of = repr((type(event).__name__, _stable({name: _stable(value) for name, value in values.items()}), made_from))
    return {"name": event.name, "digest": hashlib.sha256(of.encode()).hexdigest()[:16]}


def _digest_of_function(system: Any) -> str:
    """Digest of the source of a function of the user, of its closure and its defaults; none for a system."""
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
    """The part of a value that is equal in every process: numbers and strings; for other objects their type."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _stable(value.tolist())
    if isinstance(value, list | tuple):
        return [_stable(part) for part in value]
    if isinstance(value, dict):
        return sorted(((repr(_stable(key)), _stable(part)) for key, part in value.items()), key=lambda pair: pair[0])
    return getattr(value, "__qualname__", type(value).__qualname__)


def _named(output: dict[str, Any]) -> str:
    """An output with its name, where this is another one."""
    name, expression = output["name"], output["expression"]
    return str(expression) if name == expression else f"{name} = {expression}"


def _difference(key: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        name = next(name for name in here if here[name] != there.get(name))
        return f"its {name} is {there.get(name)!r}, not {here[name]!r}"
    if key == "outputs":
        kept = [
            "states" if outputs is None else ", ".join(_named(output) for output in outputs)
            for outputs in (there, here)
        ]
        return f"it keeps {kept[0]}, not {kept[1]}"
    if key in ("events", "controllers"):
        found = [", ".join(one["name"] for one in of or ()) or "none" for of in (there, here)]
        return f"its {key} are {found[0]}, not {found[1]}" if found[0] != found[1] else f"its {key} {found[0]} differ"
    if key == "count":
        return f"it has {there} cases, not {here}"
    if key in ("system", "cases"):
        return f"its {key} {'differs' if key == 'system' else 'differ'}"
    return f"its {key} is {there!r}, not {here!r}"
