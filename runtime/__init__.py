"""Runtime: build a system of rigid bodies and joints, simulate it, and read the result by names.

system = models.foot.build(ankle="modified")
run = runtime.simulate(system, t_end=5.0)
run.t, run.r["main_foot"], run.lam["ankle"], run.energy
"""

from runtime import ground, plots, smoothing
from runtime.builder import GROUND, Builder
from runtime.capture import Capture, GaitEvent, GroundForce, Subject, read_capture
from runtime.cones import Cone
from runtime.contact_motion import ContactMotion, GroundReaction
from runtime.contact_sensitivity import ContactSensitivity, contact_sensitivities
from runtime.ensemble import Ensemble, read_ensemble, simulate_many
from runtime.equilibrium import equilibrium
from runtime.errors import AssemblyError, ModelError, StaleKernelsError
from runtime.events import Event, Rest, rest
from runtime.export import write_storage
from runtime.folder import results_folder
from runtime.inverse import DriverMotion, FreedomMotion, Motion, coordinate, inverse_dynamics, kinematics
from runtime.linear import Linearisation, linearisation
from runtime.methods import METHODS
from runtime.parameters import ParameterFit, fit_parameters
from runtime.report import Report, Table
from runtime.restrict import Restriction, restriction
from runtime.result import LimitMotion, Reaction, Run, Stats
from runtime.sensitivities import Sensitivities, sensitivities
from runtime.signals import Signal
from runtime.simulate import simulate
from runtime.system import Body, Contact, Joint, Limit, State, System
from runtime.touching import hertz_stiffness

__all__ = [
    "GROUND",
    "METHODS",
    "AssemblyError",
    "Body",
    "Builder",
    "Capture",
    "Cone",
    "Contact",
    "ContactMotion",
    "ContactSensitivity",
    "DriverMotion",
    "Ensemble",
    "Event",
    "FreedomMotion",
    "GaitEvent",
    "GroundForce",
    "GroundReaction",
    "Joint",
    "Limit",
    "LimitMotion",
    "Linearisation",
    "ModelError",
    "Motion",
    "ParameterFit",
    "Reaction",
    "Report",
    "Rest",
    "Restriction",
    "Run",
    "Sensitivities",
    "Signal",
    "StaleKernelsError",
    "State",
    "Stats",
    "Subject",
    "System",
    "Table",
    "contact_sensitivities",
    "coordinate",
    "equilibrium",
    "fit_parameters",
    "ground",
    "hertz_stiffness",
    "inverse_dynamics",
    "kinematics",
    "linearisation",
    "plots",
    "read_capture",
    "read_ensemble",
    "rest",
    "restriction",
    "results_folder",
    "sensitivities",
    "simulate",
    "simulate_many",
    "smoothing",
    "write_storage",
]
