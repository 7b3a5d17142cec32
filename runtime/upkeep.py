"""The upkeep of an installation: its check, its compiled code, and the compilation ahead of what models need."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numba
import numpy as np
import scipy

from runtime.analysis.inverse import inverse_dynamics
from runtime.analysis.linearisation import linearisation
from runtime.analysis.sensitivities import sensitivities
from runtime.ensemble.simulate_many import simulate_many
from runtime.integrate.simulate import simulate
from runtime.jit import place
from runtime.jit.place import cache_folder
from runtime.jit.second_process import SETTING
from runtime.jit.tidying import size_of
from runtime.report.printing import browser
from runtime.report.printing import missing as printing_missing
from runtime.support.hidden_packages import PACKAGES, shipping
from runtime.support.notice import compilations
from runtime.support.streams import tell
from runtime.system.parameters import parameters
from runtime.system.system import System
from runtime.version import __version__

DURATION = 1e-3  # [s] of the runs
EXTRAS = (
    ("view", "viser", "views in three dimensions"),
    ("gait", "ezc3d", "C3D files"),
    ("cluster", "distributed", "ensembles on several machines"),
)


@dataclass(frozen=True)
class Warmed:
    """What was run of a model, what it compiled, and how long compilation took [s]."""

    model: str
    uses: tuple[str, ...]
    compiled: tuple[str, ...]
    seconds: float


def warm(name: str, build: Callable[[], System]) -> Warmed:
    """Build a model and run what applies to it, so that its code is compiled and kept.

    Simulation with dop853, and with radau for systems with contacts or dampers, to which the default method may turn;
    linearisation; an ensemble; sensitivities; inverse dynamics of driven ones.
    """
    with _one_process():
        return _warmed(name, build)


@contextmanager
def _one_process() -> Iterator[None]:
    """All is compiled in this process, which lists it."""
    before = os.environ.get(SETTING)
    os.environ[SETTING] = "0"
    try:
        yield
    finally:
        del os.environ[SETTING]
        os.environ |= {} if before is None else {SETTING: before}


def _warmed(name: str, build: Callable[[], System]) -> Warmed:
    before = len(compilations())
    system = build()
    uses = []
    for use, run in _uses(system):
        run()
        uses.append(use)
    made = compilations()[before:]
    compiled = tuple(dict.fromkeys(what.removeprefix("the ") for what, _ in made))
    return Warmed(name, tuple(uses), compiled, sum((seconds for _, seconds in made), 0.0))


def _uses(system: System) -> Iterator[tuple[str, Callable[[], object]]]:
    end = system.time + DURATION
    name = f"mass.{system.body_names[0]}"
    value = parameters(system)[name]
    damped = sum(limit.damping for limit in system.limits) + sum(motor.damping for motor in system.motors) > 0.0
    for method in ("dop853", "radau") if system.contacts or damped else ("dop853",):
        yield f"simulation ({method})", lambda method=method: _simulation(system, end, method)  # type: ignore[misc]
    yield "linearisation", lambda: linearisation(system)
    yield "ensemble", lambda: simulate_many(system, {name: [value, value]}, end, workers=1, progress=False)
    yield "sensitivities", lambda: sensitivities(system, {name: value}, end)
    if system.drivers and not system.overdetermined and system.degrees_of_freedom == 0:
        yield "inverse dynamics", lambda: inverse_dynamics(system, [system.time, end]).energy


def _simulation(system: System, end: float, method: str) -> None:
    run = simulate(system, end, t_eval=[system.time, end], method=method, progress=False)
    if run.success:
        _ = run.energy, run.violation  # compile what reads results


def compiled_code() -> tuple[str, str]:
    """The folder of the compiled code, and its size with a unit."""
    folder = cache_folder()
    return str(folder), f"{size_of(folder) / 2**20:.1f} MiB"


def clear() -> None:
    """Remove what is Talus's from the cache; what else is there stays, and one sentence says so."""
    place.clear(folder := cache_folder())
    if folder.exists():
        tell(f"{folder} stays, with what Talus has not made there; remove it by hand if you do not need it")


def checked(distribution: str, build: Callable[[], System] | None) -> tuple[list[list[str]], bool]:
    """Facts of an installation with their values, and whether the simulation of a model conserves energy."""
    facts = [
        ["talus", f"{__version__}, distribution {_installed(distribution)}"],
        ["folder", str(Path(__file__).parents[1])],
        ["python", sys.version.split()[0]],
        ["numpy", np.__version__],
        ["scipy", scipy.__version__],
        ["numba", numba.__version__],
        ["kernels", "fresh"],  # runtime refuses to be imported with stale ones
    ]
    healthy = False
    if build is None:
        facts.append(["models", f"none found; install the distribution: pip install {distribution}"])
    else:
        system = build()
        simulate(system, 0.01)  # compiles, so that the next run is timed without compilation
        run = simulate(system, 0.5)
        drift = float(np.abs(run.energy - run.energy[0]).max())
        facts.append(["foot, 0.5 s", f"{run.message}, energy drift {drift:.1e} J, {1000 * run.stats.wall_time:.1f} ms"])
        healthy = run.success and drift < 1e-8
    wrong = _wrong_files(distribution)
    folder, size = compiled_code()
    facts = [*facts, *_extras(distribution), ["compiled code", f"{folder} ({size})"], *wrong]
    return facts, healthy and not wrong


def _wrong_files(distribution: str) -> list[list[str]]:
    """Files of Talus that changed after their installation, and other distributions with packages of equal names."""
    found = []
    if others := shipping(*PACKAGES):
        what = f"{', '.join(others)}: packages of equal names; install each into another environment, and Talus again"
        found.append(["other distributions", what])
    try:
        files = metadata.distribution(distribution).files or []
    except PackageNotFoundError:
        files = []
    changed = [str(file) for file in files if file.hash and not _is_as_installed(file)]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        what = f"{', '.join(changed[:3])}{more} changed since the installation; install Talus again"
        found.append(["files", what])
    return found


def _is_as_installed(file: metadata.PackagePath) -> bool:
    """Whether a file has the digest that its distribution states."""
    place, stated = Path(str(file.locate())), file.hash
    if stated is None or not place.is_file():
        return False
    digest = hashlib.new(stated.mode, place.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == stated.value


def _extras(distribution: str) -> list[list[str]]:
    """What each optional library adds, and its version or the command that installs it."""
    facts = []
    for extra, library, adds in EXTRAS:
        try:
            found = f"{library} {version(library)}"
        except PackageNotFoundError:
            found = f"not installed: pip install '{distribution}[{extra}]'"
        facts.append([adds, found])
    return [
        *facts,
        ["report.pdf", browser() or printing_missing() or "WeasyPrint"],
        ["films (.mp4)", shutil.which("ffmpeg") or "not installed: install ffmpeg"],
    ]


def _installed(distribution: str) -> str:
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        return f"{distribution} is not installed"
