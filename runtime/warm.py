"""Compile ahead what the use of a model compiles: short runs of all that applies to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runtime.analysis.inverse import inverse_dynamics
from runtime.analysis.linearisation import linearisation
from runtime.analysis.sensitivities import sensitivities
from runtime.ensemble.simulate_many import simulate_many
from runtime.integrate.simulate import simulate
from runtime.support.notice import compilations
from runtime.system.parameters import parameters
from runtime.system.system import System

DURATION = 1e-3  # [s] of the runs


@dataclass(frozen=True)
class Warmed:
    """What was run of a model, what it compiled, and how long compilation took [s]."""

    model: str
    uses: tuple[str, ...]
    compiled: tuple[str, ...]
    seconds: float


def warm(name: str, build: Callable[[], System]) -> Warmed:
    """Build a model and run what applies to it, so that its code is compiled and kept.

    Simulation with dop853, for systems with contacts with radau too; linearisation; an ensemble; sensitivities of systems without
    contacts; inverse dynamics of driven ones.
    """
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
    for method in ("dop853", "radau") if system.contacts else ("dop853",):
        yield f"simulation ({method})", lambda method=method: _simulation(system, end, method)  # type: ignore[misc]
    yield "linearisation", lambda: linearisation(system)
    yield "ensemble", lambda: simulate_many(system, {name: [value, value]}, end, workers=1, progress=False)
    if not system.contacts:
        yield "sensitivities", lambda: sensitivities(system, {name: value}, end)
    if system.drivers and not system.overdetermined and system.degrees_of_freedom == 0:
        yield "inverse dynamics", lambda: inverse_dynamics(system, [system.time, end]).energy


def _simulation(system: System, end: float, method: str) -> None:
    run = simulate(system, end, t_eval=[system.time, end], method=method, progress=False)
    if run.success:
        _ = run.energy, run.violation  # compile what reads results
