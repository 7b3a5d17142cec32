"""Andrews' squeezing mechanism: seven plates in a plane, ten hinges and a spring, which a constant moment sets in motion.

Data and digits: F. Mazzia, C. Magherini: Test Set for Initial Value Problem Solvers, problem ``andrews`` (andrews.f of 2 October
2006), http://www.dm.uniba.it/~testset, which takes the mechanism from Hairer and Wanner: Solving Ordinary Differential Equations
II (1996), section VII.7.  The digits at the end were computed there by the program PSIDE, with tolerances of 1e-14.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime import GROUND, Builder, Run, Signal

SOURCE = "Test Set for IVP Solvers (Mazzia and Magherini 2006), problem andrews"
END = 0.03  # [s]
MOTOR = 0.033  # [N m] on K1
# Angles at the start [rad], where all rates are 0, and at the end.
START_ANGLES = {
    "beta": -0.0617138900142764496358948458001, "theta": 0.0, "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
    "Omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
}  # fmt: skip
END_ANGLES = {
    "beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101, "phi": -0.5347301163226948,
    "delta": 0.5244099658805304, "Omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip
# Of beta, at the start and at the end: rate [rad/s] and acceleration [rad/s^2].
RATES = (0.0, 1139.920302151208)
ACCELERATIONS = (14222.4439199541138705911625887, -24631.76316945196)
END_FORCE = (
    23.06654119098399  # [N] multiplier of the third loop equation at the end: of K5 on K4 by the hinge E4, along x
)

# Masses [kg] and moments of inertia about the centre of mass [kg m^2] of K1 to K7.
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
# Hinges on the ground, and the fixed end of the spring, x and y [m].
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
STIFFNESS, FREE_LENGTH = 4530.0, 0.07785  # [N/m], [m]
# Lengths [m], by the names of the source.
RR, RA, D, DA, SS, SA, SB, SC, SD = 0.007, 0.00092, 0.028, 0.0115, 0.035, 0.01874, 0.01043, 0.018, 0.02
E, EA, ZT, TA, TB, ZF, FA, U, UA, UB = 0.02, 0.01421, 0.04, 0.02308, 0.00916, 0.02, 0.01421, 0.04, 0.01228, 0.00449


def builder(*, driven: bool = False) -> Builder:
    """The mechanism at its start; ``driven``: in place of the motor its crank K1 follows beta, as published at both ends."""
    beta, theta, gamma, phi, delta, omega, epsilon = START_ANGLES.values()
    turns = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    axes = [np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) for turn in turns]

    def at(origin: Any, body: int, x: float, y: float) -> np.ndarray:
        """A point, from an origin by lengths along the axes of the plate K``body``, (3,) [m]."""
        return np.append(np.asarray(origin)[:2] + axes[body - 1] @ (x, y), 0.0)

    end = at(B, 3, 0.0, -SS)  # E
    crank, upper, lower = at((0.0, 0.0), 1, RR, 0.0), at(A, 5, ZT, 0.0), at(A, 7, 0.0, -U)  # F, G, H
    centres = (
        at((0.0, 0.0), 1, RA, 0.0), at(crank, 2, -DA, 0.0), at(B, 3, SB, -SA), at(upper, 4, 0.0, EA - E), at(A, 5, TA, TB),
        at(lower, 6, ZF - FA, 0.0), at(A, 7, -UB, -UA),
    )  # fmt: skip
    hinges: dict[str, tuple[str, str, Any]] = {
        "O": (GROUND, "K1", (0.0, 0.0, 0.0)), "F": ("K1", "K2", crank), "B": (GROUND, "K3", (*B, 0.0)), "E": ("K2", "K3", end),
        "G": ("K4", "K5", upper), "A5": (GROUND, "K5", (*A, 0.0)), "E4": ("K4", "K3", end), "A7": (GROUND, "K7", (*A, 0.0)),
        "H": ("K6", "K7", lower), "E6": ("K6", "K3", end),
    }  # fmt: skip
    b = Builder("Andrews' squeezing mechanism", gravity=(0.0, 0.0, 0.0), axes="global")
    for k, centre in enumerate(centres):
        p = (np.cos(turns[k] / 2), 0.0, 0.0, np.sin(turns[k] / 2))
        b.body(f"K{k + 1}", mass=MASSES[k], inertia=(INERTIAS[k],) * 3, r=centre, p=p)
    for name, (i, j, point) in hinges.items():
        b.joint(name, "revolute", i, j, point=point, axis=(0.0, 0.0, 1.0))
    ends: dict[str, Any] = dict(s_i=(*C, 0.0), s_j=at(B, 3, SD, -SC))
    b.force("spring", "spring_damper", GROUND, "K3", **ends, stiffness=STIFFNESS, damping=0.0, free_length=FREE_LENGTH)
    if driven:
        values = Signal.samples([0.0, END], [beta, END_ANGLES["beta"]], RATES, ACCELERATIONS)
        directions: dict[str, Any] = dict(axis=(0.0, 0.0, 1.0), a_i=(1.0, 0.0, 0.0), b_j=crank)
        b.driver("motor", "guided_angle", GROUND, "K1", **directions, theta_t=values)
    else:
        b.load("motor", "K1", moment=(0.0, 0.0, MOTOR))
    return b


def angles(run: Run) -> dict[str, float]:
    """The angles of the source at the end of a run [rad]."""
    hinges = {"beta": "O", "theta": "F", "gamma": "B", "phi": "G", "delta": "A5", "Omega": "H", "epsilon": "A7"}
    turned = {name: float(run.angles[hinge].angle[-1]) for name, hinge in hinges.items()}
    # phi and Omega turn K4 and K6 against K5 and K7; the hinges G and H count from K4 and K6.
    signs = {"phi": -1.0, "Omega": -1.0}
    return {name: START_ANGLES[name] + signs.get(name, 1.0) * turn for name, turn in turned.items()}
