"""Mechanics by name, inverse kinematics and dynamics, equilibrium, linearisation, sensitivities, fits, points of chains.

Imports ``integrate`` and below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.analysis.chain import ChainLink, PointChain
    from runtime.analysis.contact_sensitivity import ContactSensitivity
    from runtime.analysis.fit import ParameterFit
    from runtime.analysis.inverse import coordinate
    from runtime.analysis.inverse_kinematics import InverseKinematicsSolution
    from runtime.analysis.least_squares import PoseProblem, PoseSolution
    from runtime.analysis.linearisation import Linearisation
    from runtime.analysis.mechanics import AccelerationDerivatives, EffortDerivatives, FramePose, Mechanics
    from runtime.analysis.minimise import Minimum
    from runtime.analysis.modes import Modes
    from runtime.analysis.motion import DegreeOfFreedomMotion, DriverMotion, Motion
    from runtime.analysis.sensitivity_result import Sensitivities
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "chain": "ChainLink PointChain",
            "contact_sensitivity": "ContactSensitivity",
            "fit": "ParameterFit",
            "inverse": "coordinate",
            "inverse_kinematics": "InverseKinematicsSolution",
            "least_squares": "PoseProblem PoseSolution",
            "linearisation": "Linearisation",
            "mechanics": "AccelerationDerivatives EffortDerivatives FramePose Mechanics",
            "minimise": "Minimum",
            "modes": "Modes",
            "motion": "DegreeOfFreedomMotion DriverMotion Motion",
            "sensitivity_result": "Sensitivities",
        },
    )

__all__ = [
    "AccelerationDerivatives",
    "ChainLink",
    "ContactSensitivity",
    "DegreeOfFreedomMotion",
    "DriverMotion",
    "EffortDerivatives",
    "FramePose",
    "InverseKinematicsSolution",
    "Linearisation",
    "Mechanics",
    "Minimum",
    "Modes",
    "Motion",
    "ParameterFit",
    "PointChain",
    "PoseProblem",
    "PoseSolution",
    "Sensitivities",
    "coordinate",
]
