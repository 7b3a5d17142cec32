"""Build a system of rigid bodies and joints, simulate it, and read the result by names.

system = models.foot.build(ankle="modified")
run = runtime.simulate(system, t_end=5.0)
run.t, run.r["main_foot"], run.lam["ankle"], run.energy

Rooms, each importing only from those below it: ``studies``, ``ensemble``, ``analysis``, ``integrate``, ``report``, ``results``,
``view``, ``system``, ``lanes``, ``dynamics``, ``jit``, ``support``.  Names that are not exported here are exported by their room,
such as ``runtime.report.plots``, ``runtime.analysis.Motion`` or ``runtime.system.hertz_stiffness``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.hidden_packages import refuse_hidden_packages

refuse_hidden_packages()  # before anything is imported from them

from runtime.jit.freshness import verify  # noqa: E402

verify()  # before anything is compiled

import runtime.integrate  # noqa: E402, F401  # registers what a second process compiles, before anything is compiled
from runtime.support.errors import AssemblyError, AssemblyWarning, ModelError, StaleKernelsError, UnitWarning  # noqa: E402
from runtime.support.late_names import late_names  # noqa: E402
from runtime.version import __version__  # noqa: E402

if TYPE_CHECKING:
    from runtime import analysis, ensemble, integrate, report, results, studies, system, view  # noqa: F401
    from runtime.analysis.contact_sensitivity import contact_sensitivities
    from runtime.analysis.equilibrium import equilibrium
    from runtime.analysis.fit import fit_parameters
    from runtime.analysis.inverse import inverse_dynamics, kinematics
    from runtime.analysis.inverse_kinematics import inverse_kinematics
    from runtime.analysis.linearisation import linearisation
    from runtime.analysis.mechanics import mechanics
    from runtime.analysis.minimise import minimise
    from runtime.analysis.sensitivities import sensitivities
    from runtime.dynamics.status import Status
    from runtime.ensemble.simulate_many import read_ensemble, simulate_many
    from runtime.integrate.co_simulation import Stepping
    from runtime.integrate.controllers import Controller
    from runtime.integrate.events import Event, at_rest, zero_crossing
    from runtime.integrate.right_hand_side import rhs
    from runtime.integrate.simulate import simulate
    from runtime.results.run import Run
    from runtime.studies.study import study
    from runtime.system.assemble import assemble
    from runtime.system.builder import Builder
    from runtime.system.cone import Cone
    from runtime.system.parameters import parameters, with_parameters
    from runtime.system.parts import GROUND
    from runtime.system.signal import Signal
    from runtime.system.state import State
    from runtime.system.sum_of_products import SumOfProducts
    from runtime.system.system import System
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "analysis.contact_sensitivity": "contact_sensitivities",
            "analysis.equilibrium": "equilibrium",
            "analysis.fit": "fit_parameters",
            "analysis.inverse": "inverse_dynamics kinematics",
            "analysis.inverse_kinematics": "inverse_kinematics",
            "analysis.linearisation": "linearisation",
            "analysis.mechanics": "mechanics",
            "analysis.minimise": "minimise",
            "analysis.sensitivities": "sensitivities",
            "dynamics.status": "Status",
            "ensemble.simulate_many": "read_ensemble simulate_many",
            "integrate.co_simulation": "Stepping",
            "integrate.controllers": "Controller",
            "integrate.events": "Event at_rest zero_crossing",
            "integrate.right_hand_side": "rhs",
            "integrate.simulate": "simulate",
            "results.run": "Run",
            "studies.study": "study",
            "system.assemble": "assemble",
            "system.builder": "Builder",
            "system.cone": "Cone",
            "system.parameters": "parameters with_parameters",
            "system.parts": "GROUND",
            "system.signal": "Signal",
            "system.state": "State",
            "system.sum_of_products": "SumOfProducts",
            "system.system": "System",
        },
        rooms="analysis ensemble figures integrate report results studies system view",
    )

__all__ = [
    "GROUND",
    "AssemblyError",
    "AssemblyWarning",
    "UnitWarning",
    "Builder",
    "Cone",
    "Controller",
    "Event",
    "ModelError",
    "Run",
    "Signal",
    "StaleKernelsError",
    "State",
    "SumOfProducts",
    "Status",
    "Stepping",
    "System",
    "__version__",
    "assemble",
    "at_rest",
    "contact_sensitivities",
    "equilibrium",
    "fit_parameters",
    "inverse_dynamics",
    "inverse_kinematics",
    "kinematics",
    "linearisation",
    "mechanics",
    "minimise",
    "parameters",
    "read_ensemble",
    "rhs",
    "sensitivities",
    "simulate",
    "simulate_many",
    "study",
    "with_parameters",
    "zero_crossing",
]
