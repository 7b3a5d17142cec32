"""The result of a run: its arrays, its ground reaction, its datasets and files, and its views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.results.ground_reaction import GroundReaction, ground_reaction
from runtime.results.orientation_angles import TurnedRun
from runtime.results.seen import SeenRun
from runtime.results.written import WrittenRun
from runtime.support.arguments import checked_methods


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Run(SeenRun, WrittenRun, TurnedRun):
    """A simulated motion.

    Mappings from a body's name: ``r`` (n, 3) [m], ``p`` (n, 4), ``v`` (n, 3) [m/s], ``omega`` (n, 3) [rad/s], ``v_dot``
    [m/s^2], ``omega_dot`` [rad/s^2], all in global axes.  From a joint's name: ``lam``, ``Phi``, ``Phi_dot`` (n, rows).
    From a limit's name: ``limits``, a ``LimitMotion`` each; from a contact's: ``contacts``, a ``ContactMotion`` each; from a
    force's: ``forces``, a ``ForceMotion`` each; from a motor's: ``motors``, a ``MotorMotion`` each.  From a joint's: ``angles``,
    ``JointAngles`` of each joint with a motion.
    ``energy``, ``kinetic_energy``, ``potential_energy``, ``elastic_energy`` (n,) [J]; ``energy_balance``.  ``violation``: largest
    abs Phi of all rows (n,), ``velocity_violation``: largest abs Phi', ``norm_violation``: largest abs(|p| - 1).
    ``reaction(joint, ...)``; ``euler_angles(body, ...)``.  ``run["r.hand"]``, ``run["max(energy)"]``: any output by its name;
    ``outputs``: those that ``simulate(..., outputs=)`` names.

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
