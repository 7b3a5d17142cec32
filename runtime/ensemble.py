"""Many runs: cases of initial states and parameters, on all cores or on an engine, streamed to a folder and taken up again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.ensemble_chunks import (
    NOT_RUN,
    Cases,
    Chunk,
    Stopped,
    Task,
    row,
    run_chunk,
    side_by_side,
)
from runtime.ensemble_folder import Folder
from runtime.equations import STATE
from runtime.errors import ModelError
from runtime.functions import built, check_parameters, name_of
from runtime.lanes import LANES
from runtime.numbers import is_number, is_state
from runtime.progress import reporter
from runtime.simulate import ATOL, REACHED_END, RTOL, Settings, settings
from runtime.structure import Floats, Ints
from runtime.system import PARTS, System, counted, shape_text

if TYPE_CHECKING:
    import xarray

SMALL_CHUNK, CHUNK, GPU_CHUNK = 64, 512, 16384  # cases: of systems that run alone, in lanes, on a graphics processor
MOST_BYTES = 256e6  # of the states of all chunks that are under way
AHEAD = 2  # chunks that are under way for each worker
PORTIONS = 4  # chunks for each worker, at least, where there are cases enough
PATIENCE = 30.0  # [s] for which chunks are waited for that were told to leave off
PLAIN = (bool, int, float, str, type(None))  # what a function's argument may be, beside arrays


@dataclass(frozen=True)
class Ensemble:
    """Results of many cases.

    ``t`` (m,) [s]; ``cases``: what each was run with, (n, ...); ``status`` (n,): as of a run, 0 where it reached the end, -20
    where the case was refused, -21 where it was not run yet; ``messages``: why, by the numbers of the cases, and what is to
    be said of others, such as that they passed close to a singular configuration;
    ``reached`` (n,) [s]; ``evaluations``, ``steps``, ``rejections`` (n,); ``in_lanes`` (n,): it ran side by side with others, by
    a whole-model kernel.  ``settings``: how all were run, such as rtol and alpha.
    """

    name: str
    bodies: tuple[str, ...]
    t: Floats = field(repr=False)
    cases: Cases = field(repr=False)
    status: Ints = field(repr=False)
    reached: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    in_lanes: np.ndarray[Any, np.dtype[np.bool_]] = field(repr=False)
    messages: Mapping[int, str] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    folder: Path | None
    _states: Any = field(repr=False)  # chunks in memory by their first case, or a Folder

    def __len__(self) -> int:
        return len(self.status)

    @property
    def success(self) -> bool:
        """Every case reached its end."""
        return bool((self.status == REACHED_END).all())

    @property
    def evaluations(self) -> Ints:
        """Of the equations of motion, (n,)."""
        return self.counts[:, 0]

    @property
    def steps(self) -> Ints:
        """(n,)."""
        return self.counts[:, 1]

    @property
    def rejections(self) -> Ints:
        """(n,)."""
        return self.counts[:, 2]

    def states(self, cases: slice | Sequence[int] | None = None) -> Floats:
        """States of some cases (all unless given), (cases, times, bodies, 13): r, p, v, omega.  NaN where there is none."""
        states = self._collect(cases, slice(0, len(self.bodies) * STATE))
        return states.reshape(*states.shape[:2], len(self.bodies), STATE)

    def _collect(self, cases: slice | Sequence[int] | None, numbers: slice) -> Floats:
        """Some numbers of the states of some cases, chunk by chunk, (cases, times, numbers)."""
        wanted = np.atleast_1d(np.arange(len(self))[slice(None) if cases is None else cases])
        out = np.full((len(wanted), len(self.t), numbers.stop - numbers.start), np.nan)
        for first, count, load in self._parts():
            here = np.flatnonzero((wanted >= first) & (wanted < first + count))
            if len(here):
                out[here] = load()[wanted[here] - first][:, :, numbers]
        return out

    def _parts(self) -> Iterator[tuple[int, int, Callable[[], Floats]]]:
        if isinstance(self._states, Folder):
            for first, count in self._states.done():
                yield first, count, lambda first=first: self._states.load(first)["states"]  # type: ignore[misc]
        else:
            for chunk in self._states:
                yield chunk.first, len(chunk.status), lambda chunk=chunk: chunk.states  # type: ignore[misc]

    def _part(self, name: str, body: str) -> Floats:
        if body not in self.bodies:
            raise ModelError(f"unknown body '{body}'; the bodies are {', '.join(self.bodies)}")
        o = STATE * self.bodies.index(body)
        return self._collect(None, slice(o + PARTS[name].start, o + PARTS[name].stop))

    def r(self, body: str) -> Floats:
        """Centres of mass, (cases, times, 3) [m]."""
        return self._part("r", body)

    def p(self, body: str) -> Floats:
        """Euler parameters, (cases, times, 4)."""
        return self._part("p", body)

    def v(self, body: str) -> Floats:
        """Velocities of the centres of mass, (cases, times, 3) [m/s]."""
        return self._part("v", body)

    def omega(self, body: str) -> Floats:
        """Angular velocities, (cases, times, 3) [rad/s]."""
        return self._part("omega", body)

    def to_xarray(self, cases: slice | Sequence[int] | None = None) -> xarray.Dataset:
        """Dimensions case, time, body, axis, euler; what the cases were run with are coordinates of ``case``."""
        from runtime.export import ensemble_to_xarray

        return ensemble_to_xarray(self, cases)


def simulate_many(
    system: System | Callable[..., System],
    cases: Mapping[str, ArrayLike],
    t_end: float,
    *,
    t_eval: ArrayLike | None = None,
    method: str = "dop853",
    rtol: float = RTOL,
    atol: float = ATOL,
    t_start: float | None = None,
    alpha: float = 5.0,
    beta: float = 5.0,
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = None,
    assemble: bool = False,
    out: str | Path | None = None,
    chunk: int | None = None,
    workers: int | None = None,
    engine: Any = None,
    progress: bool | Callable[[float, float], None] | None = None,
) -> Ensemble:
    """Run many cases.  No case stops another: its status and its message tell how it went.

    A system with a whole-model kernel and without limits, contacts, loads and drivers runs sixteen cases side by side in
    vector instructions; any other runs case by case as ``simulate`` does.  Either way what a case comes to does not depend on
    the others, nor on how many cores work.  ``simulate_many`` ends within seconds of an interruption (Ctrl-C), with what is
    finished; so it does when an engine breaks down, with the reason among the messages.

    Parameters
    ----------
    system : System, or function
        A function builds a case's system from its parameters, such as ``models.foot.build``.  With a System only what is named
        is made anew for a case, several times as fast.
    cases : mapping
        Name -> values (n, ...), a row for each case.  Names are the function's keywords; numbers of the system (see
        ``System.numbers``), as "mass.toes", "l.ankle", "damping.talocrural", "gravity"; and parts of the initial state, as
        "omega.main_foot": r [m], p (Euler parameters), v [m/s] or omega [rad/s] of a body.  Values of keywords may be numbers,
        names and None.  What joints hold is taken from the initial state of the system.
    t_end : float [s]
    t_eval : (m,) [s], optional
        Times of the results.  Default: the end alone.
    method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps
        As of ``simulate``.
    assemble : bool
        Move the given initial states onto the constraints, by the least change, in place of refusing those that violate them.
    out : path, optional
        A folder that every finished chunk is written to.  The same call with the same folder takes up what is not finished;
        nothing that is finished is computed again.  A folder of other cases, settings, systems or code is refused, as far as
        the function's text, what it encloses, and the systems of some finished cases tell.
    chunk : int, optional
        Cases that are run and written together.  A folder that is taken up keeps its own.
    workers : int, optional
        Threads, or workers of the engine that are kept busy.  Default: one for each core, or all of the engine's.
    engine : concurrent.futures.Executor, dask.distributed.Client or "gpu", optional
        Where the chunks are run in place of threads of this process.  On a graphics processor each case is a thread.
    progress : bool or callable(cases done, cases), optional

    Returns
    -------
    Ensemble

    Raises
    ------
    ModelError
        For arguments that break a rule, and for a folder that holds another ensemble.
    """
    table = _table(cases)
    count = len(next(iter(table.values())))
    example = _example(system, table)
    times = [t_end] if t_eval is None else t_eval
    how = settings(example, t_end, times, method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps)
    _check_names(system, example, table)
    gpu = isinstance(engine, str) and engine == "gpu"
    if gpu:
        _refuse_for_gpu(example, how)
    pool, close, workers = _pool(None if gpu else engine, 1 if gpu else workers)
    ahead = AHEAD * workers
    size = _chunk_size(chunk, system, example, how, count, workers, GPU_CHUNK if gpu else CHUNK)
    task = Task(system, how, bool(assemble), example.body_names, gpu)
    folder = None
    try:
        if out is not None:
            folder = Folder.opened(Path(out), example, task, table, size)
            size = folder.chunk
        done = {first for first, _ in folder.done()} if folder else set()
        waiting = [first for first in range(0, count, size) if first not in done]
        kept: list[Chunk] = []
        finished = sum(min(size, count - first) for first in done)
        failures: dict[int, str] = {}
        with reporter(progress, 0.0, float(count), "cases") as bar:

            def keep(first: int, result: Chunk | BaseException) -> None:
                nonlocal finished
                if not isinstance(result, Chunk):
                    failures[first] = f"{type(result).__name__}: {result}"
                    return
                if folder:
                    folder.save(result)
                else:
                    kept.append(result)
                finished += len(result.status)
                bar.update(float(finished))

            chunks = ((first, {k: v[first : first + size] for k, v in table.items()}) for first in waiting)
            _run_all(pool, chunks, task, ahead, keep)
    finally:
        task.stop[0] = 1
        close()
        if folder:
            folder.release()
    if failures and not finished:
        remedy = "" if engine is None else "; mend it, or leave out engine"
        raise ModelError(f"no case could be run; the first reason: {failures[min(failures)]}{remedy}")
    if folder:
        found = folder.ensemble()
    else:
        kept.sort(key=lambda chunk: chunk.first)
        found = gathered(example.name, example.body_names, task.told, table, kept, None, kept)
    messages = {}
    if failures:  # the first tells of all that was not begun after it
        left = np.flatnonzero(found.status == NOT_RUN).tolist()
        messages = {case: f"not run: {failures.get(size * (case // size), failures[min(failures)])}" for case in left}
    return replace(found, messages=MappingProxyType(dict(sorted({**found.messages, **messages}.items()))))


def read_ensemble(folder: str | Path) -> Ensemble:
    """The results that ``simulate_many`` wrote to a folder, as far as they are finished."""
    return Folder(Path(folder)).ensemble()


def gathered(
    name: str,
    bodies: tuple[str, ...],
    how: Mapping[str, Any],
    table: Cases,
    chunks: Iterable[Chunk],
    folder: Path | None,
    states: Any,
) -> Ensemble:
    """The results of what is finished, in memory or in a folder; ``states`` is what they are read from."""
    count = len(next(iter(table.values())))
    status, reached, counts = np.full(count, NOT_RUN), np.full(count, np.nan), np.zeros((count, 3), np.int64)
    in_lanes = np.zeros(count, bool)
    messages: dict[int, str] = {}
    for chunk in chunks:
        part = slice(chunk.first, chunk.first + len(chunk.status))
        status[part], reached[part], counts[part] = chunk.status, chunk.reached, chunk.counts
        in_lanes[part] = chunk.in_lanes
        messages |= chunk.messages
    return Ensemble(
        name, bodies, np.array(how["t"]), MappingProxyType(dict(table)), status, reached, counts, in_lanes,
        MappingProxyType(dict(sorted(messages.items()))), MappingProxyType(dict(how)), folder, states,
    )  # fmt: skip


def _table(cases: Mapping[str, ArrayLike]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    if not isinstance(cases, Mapping) or not cases:
        raise ModelError("cases: give a mapping from names to values, a row for each case")
    table = {str(name): _column(str(name), values) for name, values in cases.items()}
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        told = ", ".join(f"'{name}' {length}" for name, length in lengths.items())
        raise ModelError(f"cases: the numbers of rows differ or are 0: {told}")
    return table


def _column(name: str, given: ArrayLike) -> np.ndarray[Any, np.dtype[Any]]:
    """What cases have under a name, a row each."""
    try:
        values = np.array(given)
    except ValueError:
        raise ModelError(f"cases: the rows of '{name}' differ in shape; give as many numbers for each case") from None
    if values.ndim == 0:
        raise ModelError(f"cases: '{name}' = {values!r} is one value; give a row for each case")
    if values.dtype.kind == "U" and isinstance(given, Sequence) and all(isinstance(v, PLAIN) for v in given):
        if not all(isinstance(v, str) for v in given):
            values = np.array(given, dtype=object)  # which numpy had made words of
    if values.dtype.kind == "O" and values.ndim == 1 and all(isinstance(v, PLAIN) for v in values):
        if bad := [k for k, v in enumerate(values) if isinstance(v, float) and not np.isfinite(v)]:
            raise ModelError(f"cases: '{name}' of case {bad[0]} is not finite; give finite numbers")
    elif values.dtype.kind not in "fiubU":
        raise ModelError(f"cases: '{name}' holds {values.dtype}; give numbers, names or None")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ModelError(f"cases: '{name}' of case {at} is not finite; give finite numbers")
    values.flags.writeable = False
    return values


def _example(system: System | Callable[..., System], table: Cases) -> System:
    """The first system that can be built, with which the arguments are checked."""
    if isinstance(system, System):
        return system
    if not callable(system):
        raise ModelError(f"{system!r} is neither a System nor a function that builds one")
    check_parameters(system, [name for name in table if "." not in name], "cases")
    for case in range(len(next(iter(table.values())))):
        try:
            return built(system, {name: value for name, value in row(table, case).items() if "." not in name})
        except ModelError as error:
            refused = error
    raise ModelError(f"{name_of(system)} builds no system for any case; the last error: {refused}")


def _check_names(system: System | Callable[..., System], example: System, table: Cases) -> None:
    known: Mapping[str, Any] = {}
    for name, values in table.items():
        part, _, body = name.partition(".")
        if is_state(name):
            example.body_index(body)
            shape: tuple[int, ...] = (PARTS[part].stop - PARTS[part].start,)
        elif is_number(name, system):
            known = known or example.numbers
            if name not in known and not isinstance(system, System):
                continue  # it may be of the systems of other cases
            if name not in known:
                remedy = "" if "." in name else ", or give the function that builds a system from its parameters"
                raise ModelError(
                    f"cases: system '{example.name}' has no number '{name}'; use {', '.join(PARTS)} of a body, or of "
                    f"{', '.join(known)}{remedy}"
                )
            shape = np.shape(known[name])
            if name.startswith("inertia.") and values.shape[1:] == (3,):
                shape = (3,)  # principal moments
        else:
            continue
        if values.shape[1:] != shape or values.dtype.kind not in "fiu":
            raise ModelError(
                f"cases: '{name}' has the shape {values.shape} of {values.dtype}; give {shape_text(shape)} for each case"
            )


def _refuse_for_gpu(example: System, how: Settings) -> None:
    """Refuse what only the processor's cores run."""
    try:
        from runtime import gpu
    except ImportError as error:
        raise ModelError(f"engine='gpu' needs the extra 'gpu' (pip install 'talus[gpu]'): {error}") from None
    gpu.refuse_without_device()
    if not side_by_side(example, how):
        raise ModelError(
            f"engine='gpu': system '{example.name}' cannot be run there; it takes method='dop853' and a whole-model kernel of a "
            "system without limits, contacts, loads and drivers (codegen.compile_model)"
        )


def _chunk_size(
    chunk: int | None, system: Any, example: System, how: Settings, count: int, workers: int, most: int
) -> int:
    if chunk is not None:
        return counted("chunk", chunk, "cases")
    in_lanes = isinstance(system, System) and side_by_side(example, how)
    most = most if in_lanes else SMALL_CHUNK
    least = LANES if in_lanes else 1  # where a function builds them, that takes the time
    portion = -(-count // (PORTIONS * workers * least)) * least
    bytes_of_case = 8.0 * len(how.t or ()) * len(example.state.y)
    return max(1, min(most, portion, int(MOST_BYTES / (AHEAD * workers * bytes_of_case))))


# --- running chunks ---------------------------------------------------------------------------------------------------


def _pool(engine: Any, workers: int | None) -> tuple[Any, Callable[[], None], int]:
    """What runs the chunks, how to part from it, and how many workers it has."""
    given = None if workers is None else counted("workers", workers, "workers")
    if engine is None:
        threads = ThreadPoolExecutor(given or _cores())
        return threads, lambda: threads.shutdown(wait=False, cancel_futures=True), given or _cores()
    if hasattr(engine, "get_executor"):  # a client of dask.distributed
        executor = engine.get_executor(pure=False)
        return executor, lambda: executor.shutdown(wait=False), given or max(1, sum(engine.nthreads().values()))
    if not hasattr(engine, "submit"):
        raise ModelError(f"engine = {engine!r}; give an executor of concurrent.futures or a client of dask.distributed")
    return engine, lambda: None, given or getattr(engine, "_max_workers", None) or _cores()


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_all(
    pool: Executor,
    chunks: Iterator[tuple[int, Cases]],
    task: Task,
    ahead: int,
    keep: Callable[[int, Chunk | BaseException], None],
) -> None:
    """Run chunks, no more than ``ahead`` at a time so that memory is bounded; each result, or why there is none, is kept.

    After an interruption the chunks that are under way leave off, and what is finished by then is kept.
    """
    under_way: dict[Future[Chunk], int] = {}

    def collect(futures: Iterable[Future[Chunk]]) -> None:
        for future in futures:
            first = under_way.pop(future)
            if not future.cancelled():
                error = future.exception()
                if not isinstance(error, Stopped):
                    keep(first, future.result() if error is None else error)

    try:
        for first, cases in chunks:
            try:
                under_way[pool.submit(run_chunk, task, first, cases)] = first
            except Exception as error:  # the engine broke down, or was shut down, or cannot take the system
                keep(first, error)
                break
            while len(under_way) >= ahead:
                collect(wait(under_way, return_when=FIRST_COMPLETED).done)
        while under_way:
            collect(wait(under_way, return_when=FIRST_COMPLETED).done)
    except KeyboardInterrupt:
        task.stop[0] = 1
        for future in under_way:
            future.cancel()
        threads = isinstance(pool, ThreadPoolExecutor)
        with suppress(KeyboardInterrupt):
            collect(wait(under_way, timeout=PATIENCE if threads else 0.0).done)
