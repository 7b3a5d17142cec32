"""Ensembles: cases of initial states and parameters, on all cores or an engine, streamed to a folder that can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import LANES
from runtime.dynamics.status import Status
from runtime.ensemble.cases import (
    Cases,
    ask_about_columns,
    case_columns,
    check_names,
    ensemble_name,
    example_system,
    warn_of_inertias,
)
from runtime.ensemble.chunk import in_lanes, run_chunk, side_by_side, size_of_events, size_of_forces
from runtime.ensemble.closed_at_once import rows_in_lanes
from runtime.ensemble.outcomes import Outcomes
from runtime.ensemble.result import Ensemble, gathered, of_folder, read_folder
from runtime.ensemble.store import Folder
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.ensemble.waiting import Finished, all_of, first_of
from runtime.integrate.batches.event_memory import MOST_ZEROS
from runtime.integrate.choices import ABSOLUTE, ATOL, AUTO, RTOL
from runtime.integrate.controllers import Controller, sampling_of
from runtime.integrate.events import AtRest, Event, ZeroCrossing, check_events
from runtime.integrate.settings import Settings, settings
from runtime.jit.second_process import ask
from runtime.results.outputs import all_quantities, parsed_outputs
from runtime.support.arguments import checked
from runtime.support.checks import called, counted
from runtime.support.errors import ModelError, shown
from runtime.support.logs import logger
from runtime.support.machine import cores
from runtime.support.progress import reporter
from runtime.system.quantity import parse
from runtime.system.system import System

LOG = logger(__name__)
# Most cases per chunk: run one by one; built by a function for SIMD lanes, whose systems are kept meanwhile; in SIMD lanes; on a
# graphics processor.  States of 16384 feet are more than the 4 MB from which on NumPy asks for large pages, which two threads
# clear faster.
SMALL_CHUNK, BUILT_CHUNK, CHUNK, GPU_CHUNK = 64, 512, 16384, 65536
GPU_WORKERS = 8  # threads that prepare chunks; more of them wait for one another
MAX_BYTES = 256e6  # for the states and outputs of all submitted chunks
AHEAD = 2  # submitted chunks per worker
PORTIONS, BATCH_PORTIONS = 4, 2  # smallest number of chunks per worker, if there are enough cases; in SIMD lanes
# Least cases per chunk of threads in SIMD lanes: before and after its steps a chunk takes 2 ms, in which the other threads wait
# for the interpreter.
LEAST_IN_BATCH = 64
TIMEOUT = 30.0  # [s] to wait for chunks that were asked to stop


# Above 60 lines: twenty options and their documentation; the work is in the functions below.
@checked
def simulate_many(
    system: System | Callable[..., System],
    cases: Mapping[str, Any],
    t_end: float,
    *,
    t_eval: ArrayLike | None = None,
    outputs: Mapping[str, str] | Sequence[str] | None = None,
    method: str = "dop853",
    rtol: float = RTOL,
    atol: float = ATOL,
    t_start: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    events: Sequence[Event | AtRest | ZeroCrossing] = (),
    controllers: Sequence[Controller] | Callable[[], Sequence[Controller]] = (),
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = None,
    coordinates: str = AUTO,
    assemble: bool = False,
    check_units: bool = True,
    out: str | Path | None = None,
    chunk: int | None = None,
    workers: int | None = None,
    engine: Any = None,
    progress: bool | Callable[[float, float], None] | None = None,
) -> Ensemble:
    """Run many cases.  A case that fails does not stop the others; each has a status and, if it failed, a message.

    Systems with a whole-model kernel and without contacts, forces, loads and drivers are integrated sixteen cases at a time by
    vector instructions, trees in joint coordinates also with loads, motors, force elements, contacts, and limits that
    restrain angles of joints (without a kernel: up to 24 turns, slides, balls and floating bodies); other systems one case after
    another, with the bits of ``simulate``.  The result of a case depends neither on the other cases nor on the
    number of cores.  After an interruption (Ctrl-C) ``simulate_many`` returns the finished cases within seconds; after a failure
    of the engine it returns them with the reason among the messages.

    Parameters
    ----------
    system : System, or function
        A function such as ``models.foot.build`` is called with the keywords of each case, and each system is built and checked
        as if it were the only one: some milliseconds a case (a foot 5 to 10), during which other threads wait; processes of an
        ``engine`` build beside each other.  With a System, only the named parameters are replaced, within a thousandth of that:
        vary parameters by name where many thousands of cases are run.
    cases : mapping
        Name -> values (n, ...), a row for each case.  Names are keywords of the function; parameters of the system (see
        ``runtime.parameters``), such as "mass.toes", "l.ankle", "damping.talocrural", "gravity"; parts of the initial state:
        "r.", "p.", "v." or "omega." with the name of a body, in [m], Euler parameters, [m/s] and [rad/s]; and initial
        coordinates of joints and their rates (see ``Run.angles``), such as "angle.ankle.theta_i" and "rate.ankle.theta_i", in
        [rad], [m], [rad/s] and [m/s].  Values of keywords may be numbers, strings and None.  Constants that joints hold are
        computed from the reference configuration of the system.
    t_end : float [s]
        End of all runs.
    t_eval : (m,) [s], optional
        Times of the results.  Default: only ``t_end``.
    outputs : sequence of str, or mapping of str to str, optional
        What is kept of each case in place of its states: quantities over time, such as "angle.ankle.theta_i", "r.toes" or
        "r.toes.z", "energy", "limit_excess.talocrural", "reaction_force.ankle" (``runtime.ensemble.output_names(system)`` lists
        them), "abs" and "norm" of these, and reductions over the times of ``t_eval``: "first", "last", "max", "min", "range",
        "mean", "rms", "time_of_max", "time_of_min", such as "range(r.main_foot.y)" or "max(norm(reaction_force.ankle))".  A
        mapping gives them names of your own.  Largest and smallest values are those among the times of ``t_eval``.
        ``many["range(r.main_foot.y)"]`` are the values of all cases, NaN where a case did not reach its end.
    method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps, coordinates
        As in ``simulate``, but the default is "dop853", the method of vector instructions; methods of SciPy run case by case.
    events : sequence
        As in ``simulate``: ``runtime.zero_crossing(name, definition, ...)``, ``runtime.at_rest()`` and ``runtime.Event(name,
        function)``.
        ``many.events[name]`` has the times and states of each case.  A terminal event ends its case there: results at
        later times, and reductions of outputs, are NaN, ``status`` is ``STOPPED_BY_EVENT``, and ``reached`` is its time.
        With an ``Event`` among them, a function in Python, every case is a single run, and ``vectorised`` is False.
    controllers : sequence of Controller, or function
        As in ``simulate``; or a function without arguments that returns the controllers of a case, for controllers with memory of
        their own.  Every case is then a single run, and ``vectorised`` is False.
    assemble : bool
        Project the given initial states onto the constraints by the smallest change; otherwise states that violate them are
        refused.
    check_units : bool
        Warn of lengths, masses, speeds and stiffnesses far from those of the system, as ``runtime.with_parameters`` does.
    out : path, optional
        Folder to which every finished chunk is written.  Repeating the call resumes an interrupted ensemble; finished cases are
        not computed again.  A folder of other cases, settings, systems or code is refused; a function is compared by its source,
        its closure, and the systems of some finished cases.
    chunk : int, optional
        Number of cases that are run and written together.  A resumed folder keeps its number.
    workers : int, optional
        Number of threads, or of workers of the engine in use.  Default: one per core, at most 8 beside a graphics processor, or
        all of the engine.
    engine : concurrent.futures.Executor, dask.distributed.Client or "gpu", optional
        Runs the chunks instead of threads of this process.  On a graphics processor each case is a thread.
    progress : bool or callable(cases done, cases), optional
        Whether to show a progress bar; or a function that is called instead.  Default: on a terminal.

    Returns
    -------
    Ensemble

    Raises
    ------
    ModelError
        For invalid arguments, for a folder that holds another ensemble, and where no case could be run.
    """
    columns = case_columns(cases)
    count = len(next(iter(columns.values())))
    parsed = {name: parse(name, of_system=isinstance(system, System)) for name in columns}
    example = example_system(system, columns, parsed)
    times = [t_end] if t_eval is None else t_eval
    how = settings(
        example, t_end, times, method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps, coordinates
    )  # fmt: skip
    quantities = check_names(system, example, columns, parsed)
    check_events(events, example)
    sampling_of(
        example, how, example.data, called(controllers, "controllers") if callable(controllers) else controllers
    )
    if check_units:
        ask_about_columns(example, columns)
    warn_of_inertias(quantities, columns)
    gpu = type(engine) is str and engine == "gpu"
    if gpu:
        in_joints = side_by_side(example, how) or (isinstance(system, System) and rows_in_lanes(example, how))
        if how.coordinates == AUTO and not in_joints:
            how = replace(how, coordinates=ABSOLUTE)
        _refuse_for_gpu(example, how, in_joints, events, controllers)
    kept = None if outputs is None else parsed_outputs(outputs, example, len(how.t or ()), tuple(columns))
    workers = min(GPU_WORKERS, cores()) if gpu and workers is None else workers
    pool, close, workers = _pool(None if gpu else engine, workers)
    task = Task(system, quantities, how, bool(assemble), example.body_names, gpu, kept, tuple(events), controllers)
    if engine is None and in_lanes(task, example):
        ask("vectorised cases")
        if example.contacts:
            ask("vectorised contacts")
    size = _chunk_size(chunk, task, example, count, workers, threads=engine is None or gpu)
    folder = None
    try:
        if out is not None:
            folder = Folder.opened(Path(out), example, task, columns, size)
            size = folder.chunk
        outcomes, chunks, failures = _run_unfinished(pool, task, columns, size, folder, AHEAD * workers, progress)
    finally:
        task.stop[0] = 1
        close()
        if folder:
            folder.release()
    if failures and not outcomes.finished:
        remedy = "" if engine is None else "; mend it, or leave out engine"
        raise ModelError(f"no case could be run; the first reason: {failures[min(failures)]}{remedy}")
    if folder:
        found = of_folder(folder, columns, outcomes)
    else:
        found = gathered(
            ensemble_name(system, example),
            example.body_names,
            task.stored_settings,
            columns,
            quantities,
            outcomes,
            None,
            sorted(chunks, key=lambda chunk: chunk.first),
            kept,
            tuple(event.name for event in events),
        )
    running_again = replace(task, stop=np.zeros(1, np.int64))
    return replace(_with_reasons(found, failures, size), _task=running_again)


def _run_unfinished(
    pool: Executor,
    task: Task,
    columns: Cases,
    size: int,
    folder: Folder | None,
    ahead: int,
    progress: bool | Callable[[float, float], None] | None,
) -> tuple[Outcomes, list[Chunk], dict[int, str]]:
    """Run all chunks of ``size`` cases that the folder does not hold, and save each result or keep it.

    Also why chunks were not run, by their first cases.
    """
    count = len(next(iter(columns.values())))
    outcomes, kept, failures, done = Outcomes(count), list[Chunk](), dict[int, str](), set()
    if folder:
        for first, _ in folder.done():
            outcomes.add(folder.outcome(first))
            done.add(first)
    LOG.info(
        "%d cases, %d in a chunk%s", count, size, f", {outcomes.finished} of them in {folder.path}" if folder else ""
    )
    with reporter(progress, 0.0, float(count), "cases") as bar:

        def keep(first: int, result: Chunk | BaseException) -> None:
            if not isinstance(result, Chunk):
                failures[first] = f"{type(result).__name__}: {result}"
                LOG.warning("cases from %d on were not run: %s", first, failures[first])
                return
            if folder:
                folder.save(result)
            else:
                kept.append(result)
            outcomes.add(result)
            LOG.debug("%d of %d cases", outcomes.finished, count)
            bar.update(float(outcomes.finished))

        waiting = (first for first in range(0, count, size) if first not in done)
        chunks = ((first, {k: v[first : first + size] for k, v in columns.items()}) for first in waiting)
        _run_all(pool, chunks, task, ahead, keep)
    serially = outcomes.finished - int(outcomes.vectorised.sum())
    LOG.info("%d of %d cases done, %d as single runs", outcomes.finished, count, serially)
    return outcomes, kept, failures


def _with_reasons(found: Ensemble, failures: Mapping[int, str], size: int) -> Ensemble:
    """The ensemble with a message for each case that was not run; the first failure is the reason for all later chunks."""
    messages = {}
    if failures:
        left = np.flatnonzero(found.status == Status.NOT_RUN).tolist()
        messages = {case: f"not run: {failures.get(size * (case // size), failures[min(failures)])}" for case in left}
    return replace(found, messages=MappingProxyType(dict(sorted({**found.messages, **messages}.items()))))


@checked
def output_names(system: System) -> dict[str, str]:
    """Names of the quantities over time that ``simulate_many(..., outputs=)`` keeps of a system's runs, with their units.

    Of vectors, such as "r.toes", also a component: "r.toes.z".
    """
    return {name: quantity.unit for name, quantity in all_quantities(system).items()}


@checked
def read_ensemble(folder: str | Path) -> Ensemble:
    """Read the finished cases of the folder to which ``simulate_many`` writes or wrote.

    Raises
    ------
    ModelError
        Where the folder holds no ensemble, or a damaged one.
    """
    return read_folder(Folder(Path(folder)))


def _refuse_for_gpu(
    example: System, how: Settings, in_joints: bool, events: Sequence[Event | AtRest | ZeroCrossing], controllers: Any
) -> None:
    """Refuse systems and settings that the graphics processor cannot run, in coordinates of joints or of all bodies."""
    for what, given in (("finds no events", events), ("calls no controllers", controllers)):
        if given:
            raise ModelError(f"engine='gpu' {what}; leave engine or {what.split()[-1]} out")
    try:
        from runtime.integrate.batches import gpu
    except ImportError as error:
        raise ModelError(f"engine='gpu' needs the extra 'gpu' (pip install 'talus-multibody[gpu]'): {error}") from None
    gpu.refuse_without_device()
    if not (in_joints or side_by_side(example, how)):
        raise ModelError(
            f"engine='gpu': system '{example.name}' cannot be run there with these settings; it takes method='dop853'; in joint "
            "coordinates trees with loads, motors, forces, and contacts or limits of single coordinates, and closed loops and "
            "drivers with a whole-model kernel (codegen.compile_model) unless a function builds the cases; in absolute "
            "coordinates whole-model kernels without any of these; leave engine out to run on the processor's cores"
        )


def _chunk_size(chunk: int | None, task: Task, example: System, count: int, workers: int, *, threads: bool) -> int:
    """Number of cases per chunk: enough chunks for all workers, within ``MAX_BYTES`` of states and outputs.

    ``threads``: the workers are threads of this process.
    """
    if chunk is not None:
        return counted("chunk", chunk, "cases")
    built = not isinstance(task.system, System)
    lanes = in_lanes(task, example)
    largest = (BUILT_CHUNK if built else GPU_CHUNK if task.gpu else CHUNK) if lanes else SMALL_CHUNK
    multiple = LANES if lanes and not built else 1
    least = LEAST_IN_BATCH if lanes and threads else 1
    few = BATCH_PORTIONS if lanes and (threads or not built) else PORTIONS
    portions = max(few, -(-count // (workers * largest)))  # the same number for all workers
    portion = max(least, -(-count // (portions * workers * multiple)) * multiple)
    outputs = 0 if task.outputs is None else task.kept_shape[0]
    numbers = len(task.how.t or ()) * len(example.state.y) + outputs + size_of_forces(example, task.how)
    if built:  # each case may have signals of its own, in its parts and in the table of its batch
        numbers += 2 * sum(part.size for part in example.data.signals)
    found = MOST_ZEROS * (2 + len(example.state.y)) if lanes and task.events else 0
    bytes_of_case = 8.0 * (AHEAD * numbers + size_of_events(example, task.how, gpu=task.gpu) + found)
    return max(1, min(largest, portion, int(MAX_BYTES / (workers * bytes_of_case))))


def _pool(engine: Any, workers: int | None) -> tuple[Any, Callable[[], None], int]:
    """The executor of the chunks, a function that closes it, and its number of workers."""
    given = None if workers is None else counted("workers", workers, "workers")
    if engine is None:
        threads = ThreadPoolExecutor(given or cores())
        return threads, lambda: threads.shutdown(wait=False, cancel_futures=True), given or cores()
    if hasattr(type(engine), "get_executor"):  # a client of dask.distributed
        executor = engine.get_executor(pure=False)
        return executor, lambda: executor.shutdown(wait=False), given or max(1, sum(engine.nthreads().values()))
    if not hasattr(type(engine), "submit"):
        raise ModelError(
            f"engine = {shown(engine)}; give an executor of concurrent.futures, a client of dask.distributed or 'gpu'"
        )
    return engine, lambda: None, given or getattr(engine, "_max_workers", None) or cores()


def _run_all(
    pool: Executor,
    chunks: Iterator[tuple[int, Cases]],
    task: Task,
    ahead: int,
    keep: Callable[[int, Chunk | BaseException], None],
) -> None:
    """Run chunks, at most ``ahead`` at a time so that memory is bounded; pass each result or exception to ``keep``.

    After an interruption the submitted chunks are asked to stop, and those that finish in time are kept.
    """
    under_way: dict[Future[Chunk], int] = {}
    finished: Finished = SimpleQueue()
    threads = isinstance(pool, ThreadPoolExecutor)

    def collect(futures: Iterable[Future[Chunk]]) -> None:
        for future in futures:
            first = under_way.pop(future)
            if future.cancelled():
                if not task.stop[0]:
                    keep(first, CancelledError("the engine has cancelled these cases"))
                continue
            error = future.exception()
            if not isinstance(error, Stopped):
                keep(first, future.result() if error is None else error)

    try:
        for first, cases in chunks:
            try:
                future = pool.submit(run_chunk, task, first, cases)
                under_way[future] = first
                future.add_done_callback(finished.put)
            except Exception as error:  # the engine failed, was shut down, or cannot transfer the system
                keep(first, error)
                break
            while len(under_way) >= ahead:
                collect(first_of(finished, not threads))
        while under_way:
            collect(first_of(finished, not threads))
    except KeyboardInterrupt:
        task.stop[0] = 1
        for future in under_way:
            future.cancel()
        with suppress(KeyboardInterrupt):
            collect(all_of(finished, len(under_way), TIMEOUT if threads else 0.0))
