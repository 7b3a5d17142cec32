"""The result of a run: its arrays, its ground reaction, its datasets and files, and its views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from runtime.results.free_bodies import FreeBody, Interaction, free_body, interactions, joint_load
from runtime.results.ground_reaction import GroundReaction, ground_reaction
from runtime.results.orientation_angles import euler_angles
from runtime.results.reactions import Reaction
from runtime.results.seen import SeenRun
from runtime.results.written import WrittenRun
from runtime.support.arguments import checked_methods
from runtime.support.arrays import Floats
from runtime.system.degrees_of_freedom import Branch, branches


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Run(SeenRun, WrittenRun):
    """A simulated motion.

    Mappings from a body's name: ``r`` (n, 3) [m], ``p`` (n, 4), ``v`` (n, 3) [m/s], ``omega`` (n, 3) [rad/s], ``v_dot``
    [m/s^2], ``omega_dot`` [rad/s^2], all in global axes.  From a joint's name: ``lam``, ``Phi``, ``Phi_dot`` (n, rows).
    From a limit's name: ``limits``, a ``LimitMotion`` each; from a contact's: ``contacts``, a ``ContactMotion`` each; from a
    force's: ``forces``, a ``ForceMotion`` each; from a motor's: ``motors``, a ``MotorMotion`` each.  From a joint's: ``angles``,
    ``JointAngles`` of each joint with a motion.
    ``energy``, ``kinetic_energy``, ``potential_energy``, ``elastic_energy`` (n,) [J]; ``energy_balance``.  ``violation``: largest
    abs Phi of all rows (n,), ``velocity_violation``: largest abs Phi', ``norm_violation``: largest abs(|p| - 1).
    ``reaction(joint, ...)``: what the rows of a joint exert; ``joint_load(joint, ...)``: all that the joint transmits;
    ``free_body(body)``: all that acts on a body.  ``euler_angles(body, ...)``.  ``run["r.hand"]``, ``run["max(energy)"]``: any
    output by its name; ``outputs``: those that ``simulate(..., outputs=)`` names.

    ``status``: a member of ``runtime.Status``, such as ``Status.REACHED_END``.  ``message`` gives the reason, the time, the joint
    and a remedy.
    """

    def ground_reaction(self, contacts: Sequence[str] | str | None = None) -> GroundReaction:
        """The sum of the forces of contacts that share a plane, with its centre of pressure.

        Moreira et al. (2011), Eqs. (15)-(18).

        Parameters
        ----------
        contacts : str or sequence of str, optional
            Their names, each once; default: all.

        Raises
        ------
        ModelError
        """
        return ground_reaction(self, contacts)

    @cached_property
    def _interactions(self) -> list[Interaction]:
        return list(interactions(self))

    @cached_property
    def _branches(self) -> list[Branch]:
        return branches(self.system)[0]

    def free_body(self, body: str) -> FreeBody:
        """Forces and moments on a body, or on the ground, by their sources; they add up to those that its motion needs.

        Raises
        ------
        ModelError
        """
        return free_body(self, self._interactions, body)

    def joint_load(self, joint: str, *, on: str, at: ArrayLike | str = "joint", axes: str = "global") -> Reaction:
        """Total force and moment that are transmitted across a joint.

        The joint's reaction with the drivers, motors, limits, couplings, rotors and forces between its two bodies.  In a tree of
        joints also what acts between the distal part and other bodies or the ground, such as a driver from the ground, but for
        loads and contacts: the inertial force of the distal part without gravity, loads and contacts (Newton-Euler).

        Parameters
        ----------
        joint, on : str
            Names of the joint and of that one of its two bodies on which the load acts.
        at : "joint", "centre" or (3,) [m]
            Point of that body about which the moment is taken, as for ``reaction``.
        axes : str
            As for ``reaction``.

        Returns
        -------
        Reaction
            Force (n, 3) [N] and moment (n, 3) [N m].

        Raises
        ------
        ModelError
            For an unknown joint or body, for a driver, and where the drivers were met by least squares.
        """
        return joint_load(self, self._interactions, self._branches, joint, on, at, axes)

    def euler_angles(self, body: str, *, relative_to: str = "ground", sequence: str) -> Floats:
        """Euler or Cardan angles of a body, relative to the axes of the ground or of another body, (n, 3) [rad].

        Parameters
        ----------
        body, relative_to : str
            Names of bodies, or "ground".
        sequence : str
            Three axes in SciPy's notation: capitals for intrinsic rotations, each about an axis that the rotations before it
            have turned ("YXZ": about y of ``relative_to``, then about the turned x, then about z of ``body``); small letters
            for extrinsic ones, about the fixed axes of ``relative_to``.  Three different axes give Cardan angles; with equal
            first and third axes, Euler angles.

        Returns
        -------
        (n, 3) [rad]
            In the order of the sequence, positive by the right hand.  The second is between -pi/2 and pi/2 for Cardan, and
            between 0 and pi for Euler angles.  The first and the third have no jumps while they change by less than half a
            turn between two times of the result.

        Raises
        ------
        ModelError
            For an unknown body or sequence, and in gimbal lock, where only the sum or the difference of the first and the
            third angle is determined.
        """
        A = np.swapaxes(self.rotations(relative_to), 1, 2) @ self.rotations(body)
        return euler_angles(self.t, A, sequence, name=f"'{body}' relative to '{relative_to}'")
