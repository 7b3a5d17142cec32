"""Shared by all questions: clocks, reference motions, runs inside compiled code, and facts of the machine.

This is the only module of ``benchmarks`` that imports compiled code of ``runtime``.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import models
import runtime
from runtime import Run, System
from runtime.dynamics import equations, jacobian
from runtime.dynamics.equations import derivative_once, derivative_repeated, signature_of_parts, workspace_for
from runtime.dynamics.layout import OK
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.status import Status
from runtime.integrate import dop853, loop, stepping
from runtime.integrate.dense_output import DENSE_PART, result_once
from runtime.integrate.quintic import place_of_quintic
from runtime.integrate.switching import SWITCHING_PART
from runtime.jit.cache import compiled_folder
from runtime.report import Report, Table
from runtime.support.arrays import Floats
from runtime.support.machine import cores
from runtime.system.whole_model import use_kernels
from runtime.system.workspaces import workspace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Say = Callable[[str], None]

ROOT = Path(runtime.__file__).resolve().parent.parent
ANKLES = ("classical", "modified")
BODY = "main_foot"  # the error of a motion of the foot is that of this body's position
# The tightest tolerance that ``simulate`` accepts; SciPy's implementation of the method bounds the error that remains.
TIGHT, TIGHT_SCIPY = 1e-14, 3e-14
_NONE, _NONE2 = np.zeros(0), np.zeros((0, 0))


class BenchmarkError(Exception):
    """A run that a question needs has failed."""


@dataclass
class Answer:
    """Report with its tables, and figures by name."""

    report: Report
    figures: dict[str, Figure] = field(default_factory=dict)


def foot(ankle: str, case: str = "free") -> System:
    """The published foot with the "classical" or the "modified" ankle; "free", or with "elastic" or "dissipative" limits."""
    limits: Any = {} if case == "free" else {"limits": case, "preset": "published"}
    return models.foot.build(ankle=ankle, **limits)  # type: ignore[arg-type]


def succeeded(run: Run, what: str) -> Run:
    """The run, if it reached its end.

    Raises
    ------
    BenchmarkError
    """
    if not run.success:
        raise BenchmarkError(f"{what}: {run.message}")
    return run


def exact(system: System, times: ArrayLike) -> Run:
    """The motion at the given times [s], integrated at the tightest tolerance."""
    times = np.asarray(times, float)
    run = runtime.simulate(system, times[-1], t_eval=times, rtol=TIGHT, atol=TIGHT, progress=False)
    return succeeded(run, "reference")


def position_error(run: Run, reference: Run) -> float:
    """Largest distance of the main foot's centre of mass from where the reference has it [m]."""
    return float(np.linalg.norm(run.r[BODY] - reference.r[BODY], axis=1).max())


def reference_error(system: System, reference: Run) -> float:
    """How far SciPy's DOP853 at 3e-14, another program, is from the reference [m]."""
    other = runtime.simulate(
        system, reference.t[-1], t_eval=reference.t, method="DOP853", rtol=TIGHT_SCIPY, atol=TIGHT_SCIPY, progress=False
    )
    return position_error(succeeded(other, "second reference"), reference)


def seconds(work: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Floats]:
    """Durations [s] of several jobs, each (repeats,).

    The jobs alternate, so that a slow phase of the machine affects all of them.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, job in work.items():
            begin = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - begin)
    return {name: np.array(values) for name, values in times.items()}


def evaluated(system: System, *, whole: bool = False) -> tuple[Any, Floats]:
    """The workspace of compiled code and the derivative of the state (13 N,), after one evaluation at the initial state.

    Raises
    ------
    BenchmarkError
        The initial configuration is singular.
    """
    work, y, y_dot = (
        (workspace(system) if whole else workspace_for(system.data)),
        system.state.y.copy(),
        np.empty_like(system.state.y),
    )
    if derivative_once(0.0, y, system.data, work, y_dot) != OK:
        raise BenchmarkError(f"{system.name}: the initial configuration is singular")
    return work, y_dot


def evaluation_time(system: System, repeats: int = 9, *, whole: bool = False) -> float:
    """Time of one evaluation of the equations of motion inside compiled code [s]; the least of several measurements."""
    return evaluation_times({"": system}, repeats, whole=whole)[""]


def evaluation_times(
    systems: Mapping[str, System],
    repeats: int = 25,
    duration: float = 5e-3,
    states: Mapping[str, Floats] | None = None,
    *,
    whole: bool = False,
) -> dict[str, float]:
    """Times of one evaluation of several systems, which alternate; each measurement takes ``duration`` [s].

    ``states``, (13 N,) by the systems' names, replace the initial ones.  ``whole``: by the whole-model kernels.
    """
    jobs: dict[str, Callable[[], object]] = {}
    counts: dict[str, int] = {}
    for name, system in systems.items():
        y = (states or {}).get(name, system.state.y).copy()
        arguments = (
            0.0,
            y,
            system.data,
            (workspace(system) if whole else workspace_for(system.data)),
            np.empty_like(y),
        )
        if derivative_repeated(*arguments, 1) != OK:  # loads the compiled code, too
            raise BenchmarkError(f"{system.name}: the initial configuration is singular")
        counts[name] = max(1, int(duration / _seconds_each(arguments)))
        jobs[name] = lambda arguments=arguments, name=name: derivative_repeated(*arguments, counts[name])  # type: ignore[misc]
    return {name: float(times.min()) / counts[name] for name, times in seconds(jobs, repeats).items()}


def _seconds_each(arguments: tuple[Any, ...]) -> float:
    """A first estimate of the time of one evaluation [s]."""
    count, spent = 1, 0.0
    while spent < 1e-3:
        count *= 4
        begin = time.perf_counter()
        derivative_repeated(*arguments, count)
        spent = time.perf_counter() - begin
    return spent / count


def compiled_run(
    system: System,
    t_end: float,
    tolerance: float,
    times: Floats | None = None,
    *,
    states: Floats | None = None,
    whole: bool = False,
) -> tuple[Callable[[], int], Callable[[], int]]:
    """A whole run in compiled code, from ``t = 0`` to ``t_end`` [s], without the overhead of ``simulate``.

    Returns
    -------
    run : callable
        Integrates anew and returns the code of ``loop.advance``; states at ``times`` (n,) [s] are computed, if given, into
        ``states`` (n, 13 for each body), if given.
    evaluations : callable
        Evaluations of the last run.
    """
    data, work = system.data, (workspace(system) if whole else workspace_for(system.data))
    wanted = _NONE if times is None else times
    out = np.empty((len(wanted), len(system.state.y))) if states is None else states
    evaluations = 0

    def run() -> Status:
        nonlocal evaluations
        s = _stepper(system.state.y, data)
        limits = (t_end, tolerance, tolerance, np.inf, 1 << 40)
        code: Status = loop.advance(s, data, work, *limits, wanted, out, _NONE, _NONE2)
        evaluations = int(s.now.evaluations)
        return code

    if run() != Status.REACHED_END:
        raise BenchmarkError(f"{system.name}: the compiled run at tolerance {tolerance:g} did not reach {t_end:g} s")
    return run, lambda: evaluations


def _stepper(y: Floats, data: ModelData) -> stepping.Stepper:
    s = stepping.stepper(y, 0.0, dop853.memory(len(y)), data)
    s.address[stepping.DENSE], s.address[stepping.QUINTIC] = DENSE_PART.place(s, data), place_of_quintic()
    return s


def compiled_entries(*, step: bool) -> dict[str, list[tuple[Any, Any]]]:
    """Functions of compiled code with the types of their arguments: of one evaluation and, if asked for, of a step."""
    system = foot("modified")
    evaluated(system)
    entries: dict[str, list[tuple[Any, Any]]] = {"evaluation": _called(derivative_once)}
    entries["evaluation"] += [(part, signature_of_parts().args) for part in (*equations.PARTS, *equations.EVALUATIONS)]
    if step:
        y, data, work = system.state.y.copy(), system.data, workspace_for(system.data)
        compiled_run(system, 0.1, 1e-6)
        runtime.simulate(system, 0.01, method="radau")
        s = _stepper(y, data)
        loop.advance(s, data, work, 0.1, 1e-6, 1e-6, np.inf, 1, _NONE, _NONE2, _NONE, _NONE2)
        result_once(s, data, work, np.array([s.now.time]), y[None])
        entries["step"] = [*_called(loop.advance), *_called(result_once)]
        entries["step"] += [(part.function, part.signature(s, data).args) for part in (DENSE_PART, SWITCHING_PART)]
        entries["step"] += [(part, jacobian.types_of_parts(data)) for part in jacobian.PARTS]
    return entries


def _called(entry: Any) -> list[tuple[Any, Any]]:
    return [(entry.py_func, signature) for signature in entry.signatures]


SAY_KERNELS = """
import json
from runtime.system.whole_model import own_kernels
print(json.dumps(own_kernels()))
"""


def make_kernels(program: str, *arguments: str, given: str = "") -> None:
    """Use the kernels that a program makes in another process: benchmarks import no codegen.  ``given``: its standard input.

    Raises
    ------
    BenchmarkError
    """
    command = [sys.executable, "-c", program + SAY_KERNELS, *arguments]
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"no whole-model kernel: {done.stderr.strip().splitlines()[-1:]}")
    use_kernels(json.loads(done.stdout.splitlines()[-1]))


def build_folder() -> Path:
    """Folder for the compiled equations of other programs, beside the compiled code of Talus."""
    return compiled_folder() / "peers"


def exponent(sizes: ArrayLike, costs: ArrayLike) -> float:
    """Slope of log cost over log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def machine(command: str) -> Table:
    """The command and the machine of the measurement."""
    facts = [
        ["command", command],
        ["cpu", _cpu()],
        ["cores", cores()],
        ["system", f"{platform.system()} {platform.machine()}"],
        ["python", platform.python_version()],
        *([package, metadata.version(package)] for package in ("numpy", "scipy", "numba")),
    ]
    if hasattr(os, "getloadavg"):
        facts.append(["load average, last minute", round(os.getloadavg()[0], 2)])
    return Table("machine", ["fact", "value"], facts)


def _cpu() -> str:
    """Model of the processor, as the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown"
