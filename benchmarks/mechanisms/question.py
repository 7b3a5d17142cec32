"""The question: how exactly, and how fast, mechanisms from the literature are simulated, by Talus and by other programs.

The error is that of the problem's key columns, at all times of its reference.  The default tolerance is among the tolerances;
method, stabilisation and treatment of redundant rows are those of ``runtime.simulate`` and ``Builder.build``.  Runs in absolute
coordinates and in joint coordinates stand beside each other.  Other programs take what they can, each in a process of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import runtime
from benchmarks.measure import Answer, BenchmarkError, Say, make_kernels, seconds
from benchmarks.mechanisms import model, outputs, peers, problem
from benchmarks.mechanisms.forces import STICKING
from benchmarks.mechanisms.problem import Problem
from runtime import ModelError, Run, System
from runtime.integrate.choices import RTOL
from runtime.report import Report, Table
from runtime.system.trees import trees_of

MAX_STEPS = 200_000  # far above what a mechanism needs
TALUS, IN_JOINTS = "Talus", "Talus, joint coordinates"
# Reads a problem from the standard input.
MAKE_KERNEL = """
import json, sys
import codegen
from benchmarks.mechanisms import model, problem
codegen.compile_model(model.build(problem.Problem(json.load(sys.stdin), [], {})))
"""
LONGEST_REASON = 200  # characters


@dataclass(frozen=True)
class Cases:
    """Tolerances, and how often a run is timed."""

    tolerances: tuple[float, ...] = (1e-6, 1e-8, RTOL)
    repeats: int = 5
    longest: float = 0.5  # [s] runs that take longer are timed once
    settings: int = 3  # of other programs
    timeout: float = 100.0  # [s] for all settings of another program


FULL = Cases()
QUICK = Cases(tolerances=(1e-6, RTOL), repeats=1, settings=1, timeout=30.0)


@dataclass(frozen=True)
class Solution:
    """One program's solution of a problem at one setting; errors are those at the times that the run reached."""

    problem: str
    program: str
    method: str
    setting: float  # a tolerance, or a step [s]
    error: float | None  # of the key columns
    reactions: float | None  # largest error of a reaction divided by its limit
    evaluations: int | None
    seconds: float | None
    status: str
    remark: str = ""

    @property
    def row(self) -> list[object]:
        """A row of the table."""
        took = None if self.seconds is None else 1e3 * self.seconds
        return [self.problem, self.program, self.method, self.setting, self.error, self.reactions, self.evaluations,
                took, self.status]  # fmt: skip


COLUMNS = ["problem", "program", "method", "setting", "error [m]", "reactions", "evaluations", "time [ms]", "status"]
BRIEF = ["problem", "program", "setting", "error [m]", "time [ms]"]


def ask(*, quick: bool, say: Say, files: Sequence[str | Path] = ()) -> Answer:
    """Solve the shipped problems, or those of the given files."""
    cases = QUICK if quick else FULL
    problems = [problem.read(file) for file in files] or [problem.shipped(name) for name in problem.NAMES]
    found: list[Solution] = []
    left_out: dict[tuple[str, str], str] = {}  # by problem and program: why there are no more solutions
    missing: dict[str, str] = {}
    for one in problems:
        say(f"{one.name}: {one.data['title']}")
        found += solutions(one, cases)
        found += in_joint_coordinates(one, cases)
        for program in (program for program in peers.PROGRAMS if program not in missing):
            answer = by_program(one, program, cases)
            found += answer.solutions
            if answer.missing:
                missing[program] = answer.reason
            elif answer.reason:
                left_out[one.name, answer.name] = answer.reason
    report = Report("Mechanisms from the literature", [_table(problems, found)])
    reasons = [["all", *item] for item in missing.items()] + [[*key, reason] for key, reason in left_out.items()]
    if reasons:
        report.tables.append(Table("left out", ["problem", "program", "reason"], reasons))
    report.failures += [text for solution in found if (text := failure(problems, solution))]
    return Answer(report)


def _table(problems: Sequence[Problem], found: Sequence[Solution]) -> Table:
    limits = ", ".join(f"{one.name} {one.good:g} m" for one in problems)
    note = (
        "setting: the tolerance or accuracy, of Exudyn and MuJoCo the step [s]; error: largest absolute difference of the key "
        "coordinates from the reference; reactions: largest error divided by its limit. A solution counts as good at errors "
        f"below: {limits}."
    )
    return Table("mechanisms", COLUMNS, [solution.row for solution in found], note, BRIEF)


def failure(problems: Sequence[Problem], solution: Solution) -> str:
    """Why a solution of Talus at the default tolerance counts as failed, or nothing."""
    (one,) = (one for one in problems if one.name == solution.problem)
    if solution.program not in (TALUS, IN_JOINTS) or solution.setting > RTOL:
        return ""
    if solution.remark:
        return f"{one.name}: {solution.remark}"
    if solution.error is None or not solution.error <= one.good:
        return (
            f"{one.name}: the run ended with {solution.status}, its error is {solution.error} m, limit {one.good:g} m"
        )
    return ""


def solutions(one: Problem, cases: Cases) -> list[Solution]:
    """The solutions of Talus in absolute coordinates at each tolerance."""
    try:
        system = model.build(one)
    except (ModelError, BenchmarkError) as error:
        return [Solution(one.name, TALUS, "", RTOL, None, None, None, None, "not built", str(error))]
    return [_solution(one, system, tolerance, cases) for tolerance in cases.tolerances]


def in_joint_coordinates(one: Problem, cases: Cases) -> list[Solution]:
    """The solutions of Talus in the coordinates of joints, by a kernel where there can be one; none without a tree."""
    try:
        system = model.build(one)
    except (ModelError, BenchmarkError):
        return []
    if trees_of(system).tree is None or _sticks(one):
        return []
    with suppress(BenchmarkError):  # without a kernel the runs go by recursion
        make_kernels(MAKE_KERNEL, given=json.dumps(dict(one.data)))
    return [_solution(one, system, tolerance, cases, "joint") for tolerance in cases.tolerances]


@dataclass(frozen=True)
class PeerAnswer:
    """What another program made of a problem; ``reason``: why there are no more solutions."""

    name: str
    solutions: Sequence[Solution]
    reason: str = ""
    missing: bool = False


def by_program(one: Problem, program: str, cases: Cases) -> PeerAnswer:
    """The solutions of another program at its settings."""
    kinds = {c["name"]: c["kind"] for c in one.columns}
    if any(kinds[name] != "pos" for name in one.key):
        return PeerAnswer(program, [], "the key columns are no positions")
    found = peers.solve(program, dict(one.data), one.t.tolist(), list(one.key), cases.settings, cases.timeout)
    rows = []
    for row in found["rows"]:
        by_column = {name: np.array(values, float) for name, values in row["columns"].items()}
        error = max(problem.errors(one, by_column).values())
        rows.append(
            Solution(
                one.name, found["name"], found["method"], row["setting"], error if np.isfinite(error) else None, None,
                row["evaluations"], row["seconds"], "reached_end" if np.isfinite(error) else "not_finite",
            )
        )  # fmt: skip
    reason = next((found[key] for key in ("missing", "refused", "error") if key in found), "")
    return PeerAnswer(found["name"], rows, reason[:LONGEST_REASON], "missing" in found)


def _sticks(one: Problem) -> bool:
    """It has friction that sticks, which asks for an implicit method."""
    return any(force["type"] == STICKING for force in one.data["forces"])


def simulate(one: Problem, system: System, tolerance: float, coordinates: str = "absolute") -> Run:
    """One run over the times of the reference, with default settings but for these, and friction that sticks."""
    how = {"method": "radau"} if _sticks(one) else {}
    return runtime.simulate(
        system, one.t[-1], t_eval=one.t, rtol=tolerance, atol=tolerance, max_steps=MAX_STEPS, progress=False,
        coordinates=coordinates, **how,
    )  # fmt: skip


def _solution(one: Problem, system: System, tolerance: float, cases: Cases, coordinates: str = "absolute") -> Solution:
    run = simulate(one, system, tolerance, coordinates)
    remark = "" if run.success else run.message
    try:
        model.driven_rates(one, run)
    except BenchmarkError as other_rate:
        remark = str(other_rate)
    error, reactions = measured(one, run)
    took = min(_times(lambda: simulate(one, system, tolerance, coordinates), run.stats.wall_time, cases))
    return Solution(
        one.name, TALUS if coordinates == "absolute" else IN_JOINTS, run.stats.method, tolerance, error, reactions,
        run.stats.evaluations, took, run.status.name.lower(), remark,
    )  # fmt: skip


def _times(job: Callable[[], object], expected: float, cases: Cases) -> Sequence[float]:
    return [float(t) for t in seconds({"": job}, cases.repeats if expected < cases.longest else 1)[""]]


def measured(one: Problem, run: Run) -> tuple[float | None, float | None]:
    """The largest error of the key columns, and of reactions as a fraction of their limits."""
    if not len(run.t):
        return None, None
    try:
        found = problem.errors(one, outputs.columns(one, run))
    except ModelError:  # a singular pose, at which accelerations and reactions are undetermined
        wanted = [c for c in one.columns if c["name"] in one.key]
        found = problem.errors(one, outputs.columns(one, run, wanted))
    limited = [found[name] / limit for name, limit in one.reactions.items() if name in found]
    return max(found[name] for name in one.key), max(limited, default=None)
