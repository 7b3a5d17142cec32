"""Many runs: cases of initial states and parameters, on all cores or on an engine, streamed to a folder and taken up again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from runtime import addresses, lanes, march
from runtime.assembly import project_velocities, worst_of_all
from runtime.ensemble_folder import Folder
from runtime.equations import OMEGA, STATE, P, R, V
from runtime.errors import ModelError
from runtime.progress import reporter
from runtime.simulate import ATOL, INTERRUPTED, REACHED_END, RTOL, Settings, settings, simulate
from runtime.structure import Floats, Ints
from runtime.system import VELOCITY_TOLERANCE, State, System
from runtime.whole import module_of, whole_of

if TYPE_CHECKING:
    import xarray

REFUSED, NOT_RUN = -20, -21  # statuses of a case beside those of a run
PARTS = {"r": slice(R, P), "p": slice(P, V), "v": slice(V, OMEGA), "omega": slice(OMEGA, STATE)}
SMALL_CHUNK, CHUNK, GPU_CHUNK = 64, 512, 16384  # cases
MOST_BYTES = 64e6  # of the states of a chunk
AHEAD = 2  # chunks that wait for each worker

Cases = Mapping[str, np.ndarray[Any, np.dtype[Any]]]


@dataclass(frozen=True)
class Chunk:
    """Results of cases that were run together."""

    first: int
    states: Floats  # (cases, times, 13 bodies), NaN from where a case failed on
    status: Ints  # (cases,)
    reached: Floats  # (cases,) [s]
    counts: Ints  # (cases, 3) evaluations, steps, rejections
    messages: dict[int, str]  # of cases that failed, by number


@dataclass(frozen=True)
class Ensemble:
    """Results of many cases.

    ``t`` (m,) [s]; ``cases``: what each was run with, (n, ...); ``status`` (n,): as of a run, 0 where it reached the end, -20
    where the case was refused, -21 where it was not run yet; ``messages``: why, by the numbers of the cases that failed;
    ``reached`` (n,) [s]; ``evaluations``, ``steps``, ``rejections`` (n,).
    """

    name: str
    bodies: tuple[str, ...]
    t: Floats = field(repr=False)
    cases: Cases = field(repr=False)
    status: Ints = field(repr=False)
    reached: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    messages: Mapping[int, str] = field(repr=False)
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
        wanted = np.arange(len(self))[slice(None) if cases is None else cases]
        out = np.full((len(wanted), len(self.t), len(self.bodies) * STATE), np.nan)
        for first, count, load in self._parts():
            here = np.flatnonzero((wanted >= first) & (wanted < first + count))
            if len(here):
                out[here] = load()[wanted[here] - first]
        return out.reshape(*out.shape[:2], len(self.bodies), STATE)

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
        return self.states()[:, :, self.bodies.index(body), PARTS[name]]

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
    the others, nor on how many cores work.

    Parameters
    ----------
    system : System, or function
        A function builds a case's system from its parameters, such as ``models.foot.build``.
    cases : mapping
        Name -> values (n, ...), a row for each case.  Names are the function's keywords, and parts of the initial state as
        "omega.main_foot": r [m], p (Euler parameters), v [m/s] or omega [rad/s] of a body.
    t_end : float [s]
    t_eval : (m,) [s], optional
        Times of the results.  Default: the end alone.
    method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps
        As of ``simulate``.
    assemble : bool
        Move the given initial states onto the constraints, by the least change, in place of refusing those that violate them.
    out : path, optional
        A folder that every finished chunk is written to.  The same call with the same folder takes up what is not finished;
        nothing that is finished is computed again.
    chunk : int, optional
        Cases that are run and written together.
    workers : int, optional
        Threads.  Default: one for each core.
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
    size = _chunk_size(chunk, system, example, how, GPU_CHUNK if gpu else CHUNK)
    task = Task(system, how, assemble, gpu)
    firsts = range(0, count, size)
    folder = None
    if out is not None:
        folder = Folder.opened(Path(out), example, system, table, how, bool(assemble), size)
    done = {first for first, _ in folder.done()} if folder else set()
    kept: list[Chunk] = []
    bar = reporter(progress, 0.0, float(count))
    finished = sum(min(size, count - first) for first in done)
    pool, close = _pool(None if gpu else engine, 1 if gpu else workers)
    try:
        with bar:
            chunks = (
                (first, {k: v[first : first + size] for k, v in table.items()}) for first in firsts if first not in done
            )
            for result in _results(pool, chunks, task, AHEAD * (workers or os.cpu_count() or 1)):
                if folder:
                    folder.save(result)
                else:
                    kept.append(result)
                finished += len(result.status)
                bar.update(float(finished))
    except KeyboardInterrupt:
        pass  # what is finished is kept; the rest has the status NOT_RUN
    finally:
        close()
        if folder:
            folder.release()
    if folder:
        return folder.ensemble()
    kept.sort(key=lambda chunk: chunk.first)
    return gathered(example.name, example.body_names, np.array(how.t), table, kept, None, kept)


def read_ensemble(folder: str | Path) -> Ensemble:
    """The results that ``simulate_many`` wrote to a folder, as far as they are finished."""
    return Folder(Path(folder)).ensemble()


def gathered(
    name: str,
    bodies: tuple[str, ...],
    times: Floats,
    table: Cases,
    chunks: Iterable[Chunk],
    folder: Path | None,
    states: Any,
) -> Ensemble:
    """The results of what is finished, in memory or in a folder; ``states`` is what they are read from."""
    count = len(next(iter(table.values())))
    status, reached, counts = np.full(count, NOT_RUN), np.full(count, np.nan), np.zeros((count, 3), np.int64)
    messages: dict[int, str] = {}
    for chunk in chunks:
        part = slice(chunk.first, chunk.first + len(chunk.status))
        status[part], reached[part], counts[part] = chunk.status, chunk.reached, chunk.counts
        messages |= chunk.messages
    return Ensemble(
        name, bodies, times, MappingProxyType(dict(table)), status, reached, counts,
        MappingProxyType(dict(sorted(messages.items()))), folder, states,
    )  # fmt: skip


def _table(cases: Mapping[str, ArrayLike]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    if not isinstance(cases, Mapping) or not cases:
        raise ModelError("cases: give a mapping from names to values, a row for each case")
    table = {str(name): np.array(values) for name, values in cases.items()}
    for name, values in table.items():
        if values.ndim == 0:
            raise ModelError(f"cases: '{name}' = {values!r} is one value; give a row for each case")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            at = int(np.argwhere(~np.isfinite(values))[0][0])
            raise ModelError(f"cases: '{name}' of case {at} is not finite; give finite numbers")
        if values.dtype.kind not in "fiubU":
            raise ModelError(f"cases: '{name}' holds {values.dtype}; give numbers or names")
        values.flags.writeable = False
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        told = ", ".join(f"'{name}' {length}" for name, length in lengths.items())
        raise ModelError(f"cases: the numbers of rows differ or are 0: {told}")
    return table


def _example(system: System | Callable[..., System], table: Cases) -> System:
    """The first system that can be built, with which the arguments are checked."""
    if isinstance(system, System):
        return system
    if not callable(system):
        raise ModelError(f"{system!r} is neither a System nor a function that builds one")
    for case in range(len(next(iter(table.values())))):
        try:
            example = system(**_parameters(table, case))
        except ModelError as error:
            refused = error
            continue
        if not isinstance(example, System):
            raise ModelError(f"{_name_of(system)} gave {example!r}; give a function that builds a System")
        return example
    raise ModelError(f"{_name_of(system)} builds no system for any case; the last error: {refused}")


def _name_of(function: Any) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"


def _parameters(table: Cases, case: int) -> dict[str, Any]:
    """Keywords of the function that builds a case's system."""
    return {name: values[case].tolist() for name, values in table.items() if "." not in name}


def _check_names(system: System | Callable[..., System], example: System, table: Cases) -> None:
    for name, values in table.items():
        part, _, body = name.partition(".")
        if not body:
            if isinstance(system, System):
                raise ModelError(
                    f"cases: '{name}' is no part of the initial state; use names such as 'omega.{example.body_names[0]}', or "
                    "give the function that builds a system from its parameters"
                )
            continue
        if part not in PARTS:
            raise ModelError(f"cases: unknown part of the state in '{name}'; use {', '.join(PARTS)}")
        example.body_index(body)
        length = PARTS[part].stop - PARTS[part].start
        if values.shape[1:] != (length,):
            raise ModelError(f"cases: '{name}' has the shape {values.shape}; give {length} numbers for each case")


def _refuse_for_gpu(example: System, how: Settings) -> None:
    """Refuse what only the processor's cores run."""
    try:
        from runtime import gpu
    except ImportError as error:
        raise ModelError(f"engine='gpu' needs the extra 'gpu' (pip install 'talus[gpu]'): {error}") from None
    gpu.refuse_without_device()
    if not _side_by_side(example, how):
        raise ModelError(
            f"engine='gpu': system '{example.name}' cannot be run there; it takes method='dop853' and a whole-model kernel of a "
            "system without limits, contacts, loads and drivers (codegen.compile_model)"
        )


def _chunk_size(chunk: int | None, system: Any, example: System, how: Settings, most: int) -> int:
    if chunk is not None:
        if not isinstance(chunk, int | np.integer) or chunk < 1:
            raise ModelError(f"chunk = {chunk!r}; give a number of cases, 1 or more")
        return int(chunk)
    size = most if isinstance(system, System) and _side_by_side(example, how) else SMALL_CHUNK
    return max(1, min(size, int(MOST_BYTES / (8.0 * len(how.t or ()) * len(example.state.y)))))


def _side_by_side(system: System, how: Settings) -> bool:
    """Its cases can be run in lanes."""
    if how.method != "dop853":
        return False
    module = module_of(system.model.key)
    return module is not None and module.LANES == lanes.LANES


# --- running chunks ---------------------------------------------------------------------------------------------------


def _pool(engine: Any, workers: int | None) -> tuple[Any, Callable[[], None]]:
    """What runs the chunks, and how to part from it."""
    if engine is None:
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise ModelError(f"workers = {workers!r}; give a number of threads, 1 or more")
        threads = ThreadPoolExecutor(workers or os.cpu_count() or 1)
        return threads, lambda: threads.shutdown(wait=True, cancel_futures=True)
    if hasattr(engine, "get_executor"):  # a client of dask.distributed
        executor = engine.get_executor(pure=False)
        return executor, lambda: executor.shutdown(wait=False)
    if not hasattr(engine, "submit"):
        raise ModelError(f"engine = {engine!r}; give an executor of concurrent.futures or a client of dask.distributed")
    return engine, lambda: None


@dataclass(frozen=True)
class Task:
    """What is done with every case."""

    system: System | Callable[..., System]
    how: Settings
    assemble: bool  # initial states
    gpu: bool = False


def _results(pool: Executor, chunks: Iterator[tuple[int, Cases]], task: Task, ahead: int) -> Iterator[Chunk]:
    """Chunks as they are finished; no more than ``ahead`` are under way, so that memory is bounded."""
    under_way: set[Future[Chunk]] = set()
    for first, cases in chunks:
        under_way.add(pool.submit(run_chunk, task, first, cases))
        while len(under_way) >= ahead:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while under_way:
        done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def run_chunk(task: Task, first: int, cases: Cases) -> Chunk:
    """Run some cases, numbered from ``first`` on."""
    count = len(next(iter(cases.values())))
    system, how = task.system, task.how
    built, messages = _built(task, first, cases, count)
    n = next((len(y) for _, y in built.values()), 0)
    if not n:
        n = len(system.state.y) if isinstance(system, System) else 0
    chunk = Chunk(
        first, np.full((count, len(how.t or ()), n), np.nan), np.full(count, REFUSED), np.full(count, np.nan),
        np.zeros((count, 3), np.int64), messages,
    )  # fmt: skip
    groups: dict[str, list[int]] = {}
    for case, (own, _) in built.items():
        groups.setdefault(own.model.key if _side_by_side(own, how) else "", []).append(case)
    for key, members in groups.items():
        alone = members if not key else _run_in_lanes(key, members, built, task, chunk)
        for case in alone:
            _run_alone(case, *built[case], how, chunk)
    return chunk


def _built(task: Task, first: int, cases: Cases, count: int) -> tuple[dict[int, tuple[System, Floats]], dict[int, str]]:
    """Systems and initial states of the cases that are not refused, and why the others are."""
    built: dict[int, tuple[System, Floats]] = {}
    messages: dict[int, str] = {}
    system, start = task.system, task.how.t_start
    if isinstance(system, System) and all(name.startswith(("v.", "omega.")) for name in cases):
        return _many_velocities(system, task, first, cases, count)
    for case in range(count):
        try:
            own = system if isinstance(system, System) else system(**_parameters(cases, case))
            state = own.state
            for name, values in cases.items():
                part, _, body = name.partition(".")
                if body:
                    state = state.replace(**{part: {body: values[case]}})
            if state is not own.state or start != own.time:
                if task.assemble:
                    state = own.assemble(state, time=start)
                else:
                    own.check_state(state, start)
            built[case] = own, state.y
        except ModelError as error:
            messages[first + case] = str(error)
    return built, messages


def _many_velocities(
    system: System, task: Task, first: int, cases: Cases, count: int
) -> tuple[dict[int, tuple[System, Floats]], dict[int, str]]:
    """The same where only velocities differ, all at once."""
    states = np.tile(system.state.y, (count, 1))
    for name, values in cases.items():
        part, _, body = name.partition(".")
        o = STATE * system.body_index(body)
        states[:, o + PARTS[part].start : o + PARTS[part].stop] = values
    start = task.how.t_start
    if task.assemble:
        states = project_velocities(start, states, system.tables, system.work())
    worst = np.zeros((count, 2))
    worst_of_all(start, states, system.tables, system.work(), worst)
    speed = np.abs(states.reshape(count, -1, STATE)[:, :, V:]).max(axis=(1, 2))
    bad = ~((worst[:, 0] <= 1e-6) & (worst[:, 1] <= VELOCITY_TOLERANCE * np.maximum(1.0, speed)))
    messages = {}
    for case in np.flatnonzero(bad):
        try:
            system.check_state(State(system.body_names, states[case]), start)
            bad[case] = False
        except ModelError as error:
            messages[first + int(case)] = str(error)
    return {int(case): (system, states[case]) for case in np.flatnonzero(~bad)}, messages


def _run_in_lanes(
    key: str, members: Sequence[int], built: Mapping[int, tuple[System, Floats]], task: Task, chunk: Chunk
) -> list[int]:
    """Run cases side by side; those that failed, to be run alone, which tells why."""
    module, s = module_of(key), task.how
    assert module is not None
    made: dict[int, Floats] = {}  # one for each system
    for case in members:
        own = built[case][0]
        if id(own) not in made:
            made[id(own)] = _constants(own, s)
    whole = [made[id(built[case][0])] for case in members]
    states = np.array([built[case][1] for case in members])
    system = built[members[0]][0]
    count, n = states.shape
    out, status = np.full((count, len(s.t or ()), n), np.nan), np.zeros(count, np.int64)
    counts, reached = np.zeros((count, 3), np.int64), np.zeros(count)
    steps = np.array([s.max_step, s.first_step, s.max_steps])
    given = np.array([s.t_start, s.t_end]), np.array([s.rtol, s.atol]), steps, states, np.array(whole), np.array(s.t)
    if task.gpu:
        from runtime import gpu

        gpu.integrate(module, *given, out, status, counts, reached)
    else:
        memory = lanes.lanes(system.model.fixed[1:], whole[0].shape[0])
        address = int(addresses.addresses_of([module], "lanes")[0])
        lanes.integrate(memory, address, *given, out, status, counts, reached)
    at = np.array(members)
    good = status == march.FINISHED
    chunk.states[at[good]], chunk.status[at[good]] = out[good], REACHED_END
    chunk.counts[at[good]], chunk.reached[at[good]] = counts[good], reached[good]
    return at[~good].tolist()  # type: ignore[no-any-return]


def _constants(system: System, s: Settings) -> Floats:
    whole = whole_of(system, system.tables._replace(alpha=s.alpha, beta=s.beta))
    assert whole is not None
    return whole.constants


def _run_alone(case: int, system: System, y: Floats, s: Settings, chunk: Chunk) -> None:
    """Run one case as ``simulate`` does."""
    try:
        run = simulate(
            system, s.t_end, t_eval=s.t, initial=State(system.body_names, y), progress=False, t_start=s.t_start,
            method=s.method, rtol=s.rtol, atol=s.atol, alpha=s.alpha, beta=s.beta, max_step=s.max_step,
            first_step=s.first_step or None, max_steps=s.max_steps,
        )  # fmt: skip
    except ModelError as error:
        chunk.messages[chunk.first + case] = str(error)
        return
    chunk.states[case, : len(run.states)] = run.states
    chunk.status[case] = run.status
    chunk.reached[case] = run.t[-1] if run.status != REACHED_END and len(run.t) else s.t_end
    chunk.counts[case] = run.stats.evaluations, run.stats.steps, run.stats.rejections or 0
    if run.status != REACHED_END:
        chunk.messages[chunk.first + case] = run.message
    if run.status == INTERRUPTED:
        raise KeyboardInterrupt
