"""Many runs: cases of initial states and parameters, on all cores or on an engine, streamed to a folder and taken up again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import LANES
from runtime.ensemble.cases import case_table, check_names, example_system
from runtime.ensemble.chunk import NOT_RUN, Cases, Chunk, Stopped, Task, run_chunk, side_by_side
from runtime.ensemble.result import Ensemble, gathered, of_folder
from runtime.ensemble.store import Folder
from runtime.integrate.settings import ATOL, RTOL, Settings, settings
from runtime.support.checks import counted
from runtime.support.errors import ModelError
from runtime.support.progress import reporter
from runtime.system.system import System

SMALL_CHUNK, CHUNK, GPU_CHUNK = 64, 512, 16384  # cases: of systems that run alone, in lanes, on a graphics processor
MAX_BYTES = 256e6  # of the states of all chunks that are under way
AHEAD = 2  # chunks that are under way for each worker
PORTIONS = 4  # chunks for each worker, at least, where there are cases enough
TIMEOUT = 30.0  # [s] for which chunks are waited for that were told to leave off


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
    table = case_table(cases)
    count = len(next(iter(table.values())))
    example = example_system(system, table)
    times = [t_end] if t_eval is None else t_eval
    how = settings(example, t_end, times, method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps)
    check_names(system, example, table)
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
        found = of_folder(folder)
    else:
        kept.sort(key=lambda chunk: chunk.first)
        found = gathered(example.name, example.body_names, task.outputs, table, kept, None, kept)
    messages = {}
    if failures:  # the first tells of all that was not begun after it
        left = np.flatnonzero(found.status == NOT_RUN).tolist()
        messages = {case: f"not run: {failures.get(size * (case // size), failures[min(failures)])}" for case in left}
    return replace(found, messages=MappingProxyType(dict(sorted({**found.messages, **messages}.items()))))


def read_ensemble(folder: str | Path) -> Ensemble:
    """The results that ``simulate_many`` wrote to a folder, as far as they are finished."""
    return of_folder(Folder(Path(folder)))


def _refuse_for_gpu(example: System, how: Settings) -> None:
    """Refuse what only the processor's cores run."""
    try:
        from runtime.integrate import gpu
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
    in_batch = isinstance(system, System) and side_by_side(example, how)
    most = most if in_batch else SMALL_CHUNK
    least = LANES if in_batch else 1  # where a function builds them, that takes the time
    portion = -(-count // (PORTIONS * workers * least)) * least
    bytes_of_case = 8.0 * len(how.t or ()) * len(example.state.y)
    return max(1, min(most, portion, int(MAX_BYTES / (AHEAD * workers * bytes_of_case))))


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
            collect(wait(under_way, timeout=TIMEOUT if threads else 0.0).done)
