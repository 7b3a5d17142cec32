"""Build a system of rigid bodies and joints, simulate it, and read the result by names.

system = models.foot.build(ankle="modified")
run = runtime.simulate(system, t_end=5.0)
run.t, run.r["main_foot"], run.lam["ankle"], run.energy

Rooms, each importing only from those below it: ``ensemble``, ``analysis``, ``integrate``, ``report``, ``results``, ``system``,
``dynamics``, ``jit``, ``support``.  Names that are not exported here are exported by their room, such as
``runtime.report.plots``, ``runtime.analysis.Motion`` or ``runtime.system.hertz_stiffness``.
"""

from runtime.support.hidden_packages import refuse_hidden_packages

refuse_hidden_packages()  # before anything is imported from them

from runtime import report  # noqa: E402, F401  the other rooms are loaded by the imports below
from runtime.analysis.contact_sensitivity import contact_sensitivities  # noqa: E402
from runtime.analysis.equilibrium import equilibrium  # noqa: E402
from runtime.analysis.fit import fit_parameters  # noqa: E402
from runtime.analysis.inverse import inverse_dynamics, kinematics  # noqa: E402
from runtime.analysis.linearisation import linearisation  # noqa: E402
from runtime.analysis.sensitivities import sensitivities  # noqa: E402
from runtime.dynamics.status import Status  # noqa: E402
from runtime.ensemble.simulate_many import read_ensemble, simulate_many  # noqa: E402
from runtime.integrate.events import Event, rest  # noqa: E402
from runtime.integrate.simulate import simulate  # noqa: E402
from runtime.results.run import Run  # noqa: E402
from runtime.support.errors import AssemblyError, ModelError, StaleKernelsError  # noqa: E402
from runtime.system.assemble import assemble  # noqa: E402
from runtime.system.builder import Builder  # noqa: E402
from runtime.system.cone import Cone  # noqa: E402
from runtime.system.parameters import parameters, with_parameters  # noqa: E402
from runtime.system.parts import GROUND  # noqa: E402
from runtime.system.signal import Signal  # noqa: E402
from runtime.system.state import State  # noqa: E402
from runtime.system.system import System  # noqa: E402
from runtime.version import __version__  # noqa: E402

__all__ = [
    "GROUND",
    "AssemblyError",
    "Builder",
    "Cone",
    "Event",
    "ModelError",
    "Run",
    "Signal",
    "StaleKernelsError",
    "State",
    "Status",
    "System",
    "__version__",
    "assemble",
    "contact_sensitivities",
    "equilibrium",
    "fit_parameters",
    "inverse_dynamics",
    "kinematics",
    "linearisation",
    "parameters",
    "read_ensemble",
    "rest",
    "sensitivities",
    "simulate",
    "simulate_many",
    "with_parameters",
]
