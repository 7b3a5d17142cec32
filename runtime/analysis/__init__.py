"""Inverse dynamics, equilibrium, linearisation, sensitivities and fits.  Imports ``integrate`` and below."""

from runtime.analysis.contact_sensitivity import ContactSensitivity
from runtime.analysis.fit import ParameterFit
from runtime.analysis.inverse import coordinate
from runtime.analysis.linearisation import Linearisation
from runtime.analysis.motion import DegreeOfFreedomMotion, DriverMotion, Motion
from runtime.analysis.sensitivities import Sensitivities

__all__ = [
    "ContactSensitivity",
    "DegreeOfFreedomMotion",
    "DriverMotion",
    "Linearisation",
    "Motion",
    "ParameterFit",
    "Sensitivities",
    "coordinate",
]
