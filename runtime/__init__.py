"""Runtime: build a system of rigid bodies and joints, simulate it, and read the result by names.

system = models.foot.build(ankle="modified")
run = runtime.simulate(system, t_end=5.0)
run.t, run.r["main_foot"], run.lam["ankle"], run.energy
"""

from runtime import plots
from runtime.builder import GROUND, Builder
from runtime.cones import Cone
from runtime.errors import AssemblyError, ModelError, StaleKernelsError
from runtime.events import Event, Rest, rest
from runtime.folder import results_folder
from runtime.methods import METHODS
from runtime.report import Report, Table
from runtime.restrict import Restriction, restriction
from runtime.result import LimitMotion, Reaction, Run, Stats
from runtime.simulate import simulate
from runtime.system import Body, Joint, Limit, State, System

__all__ = [
    "GROUND",
    "METHODS",
    "AssemblyError",
    "Body",
    "Builder",
    "Cone",
    "Event",
    "Joint",
    "Limit",
    "LimitMotion",
    "ModelError",
    "Reaction",
    "Report",
    "Rest",
    "Restriction",
    "Run",
    "StaleKernelsError",
    "State",
    "Stats",
    "System",
    "Table",
    "plots",
    "rest",
    "restriction",
    "results_folder",
    "simulate",
]
