"""Loads of an orthosis on leg and foot of a model from a file, along a motion that is known.

An orthosis without mass exerts loads on leg and foot that are equal and opposite and depend on their relative motion alone.
They are the applied forces of a system of two bodies with the orthosis of ``models.foot_orthosis``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.reading import Reading
from models.files.sides import stated_side
from models.files.swap_checks import hinges_of
from models.files.virtual_power import Load, inverse_dynamics, ways_at
from models.foot_anatomy import PUBLISHED_SIZE, Side
from models.foot_orthosis import add_orthosis, orthosis_values, springs_values
from models.walking.opensim_trial import Trial
from runtime import GROUND, Builder, ModelError, mechanics
from runtime.support import checked
from runtime.support.arrays import Floats

AXES = np.array(
    [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)]
)  # from axes of OpenSim to those of ``models.foot``
LEG, FOOT = "leg", "main_foot"


def massless_springs(orthosis: str | Mapping[str, Any]) -> dict[str, Any]:
    """As ``springs_values``, for an orthosis without a mass.

    Raises
    ------
    ModelError
        For an orthosis with a mass, too.
    """
    values = orthosis_values(orthosis)
    if np.any(np.asarray(values.get("mass", 0.0), dtype=object) != 0.0):
        raise ModelError(
            f"orthosis: mass = {values['mass']!r} kg: along a trial of a model from a file the stiffness of an orthosis acts, "
            "and no mass; leave it out"
        )
    return springs_values(values)


@checked
def orthosis_moments(
    reading: Reading, trial: Trial, ankles: Sequence[tuple[str, str]], orthosis: str | Mapping[str, Any]
) -> dict[str, Floats]:
    """The share of an orthosis on each ankle in the generalised forces of a trial, (n,) by coordinate [N m], [N].

    The motion and the other loads remain as they were measured; what is left of the forces is that of muscles and ligaments.
    Angles of the orthosis are zero where all coordinates are.

    Parameters
    ----------
    reading : Reading
        A model of OpenSim whose legs and feet have the axes x anterior, y up.
    trial : Trial
    ankles : sequence of (ankle, subtalar)
        Joints of the model.
    orthosis : str or mapping
        As of ``models.foot.build``, without a mass.

    Raises
    ------
    ModelError
        For an orthosis that ``massless_springs`` refuses, and an ankle whose side its name does not state.
    """
    values = massless_springs(orthosis)
    source, names = reading.source, list(trial.q)
    table = np.stack([np.stack([of[name] for name in names]) for of in (trial.q, trial.u, trial.u_dot)])
    moving, zero = ways_at(source, names, table)[0], ways_at(source, names, np.zeros((3, len(names), 1)))[0]
    links = {link.name: link for link in source.links}
    loads = list(trial.loads)
    for ankle, subtalar in ankles:
        one, foot = hinges_of(reading, ankle, subtalar, unlock=True)[1]
        leg = links[one].parent
        centres = np.array([links[leg].centre, links[foot].centre])
        pairs = [(ways[leg][-1], ways[foot][-1]) for ways in (zero, moving)]
        states = [_relative(*pair, centres) for pair in pairs]
        force, moment = _exerted(states[0], states[1], values, stated_side(ankle, None))
        turn = pairs[1][0].A @ AXES.T
        point = pairs[1][1].at(centres[1])[0]
        force, moment = (np.einsum("nab,nb->na", turn, of) for of in (force, moment))
        loads += [Load(foot, force, point, moment), Load(leg, -force, point, -moment)]
    left = inverse_dynamics(source, trial.q, trial.u, trial.u_dot, loads)
    return {name: force - left[name] for name, force in trial.forces.items()}


def _relative(leg: Any, foot: Any, centres: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Place (n, 3), rotation (n, 3, 3), velocity and angular velocity (n, 3) of the foot as seen from the leg, axes of ``AXES``.

    Places are those of the centres of mass ``centres`` (2, 3), from the origin of the leg.
    """
    turn = AXES @ np.swapaxes(leg.A, -1, -2)
    r, v, _ = foot.at(centres[1])
    d, omega = r - leg.r, foot.omega - leg.omega
    v = v - leg.v - np.cross(leg.omega, d)
    place, speed, spin = (np.einsum("nab,nb->na", turn, of) for of in (d, v, omega))
    return place, turn @ foot.A @ AXES.T, speed, spin


def _exerted(zero: Any, states: Any, values: Mapping[str, Any], side: Side) -> tuple[Floats, Floats]:
    """Force at the foot's centre of mass and moment on the foot, (n, 3) each, in axes of the leg."""
    b = Builder("orthosis", gravity=np.zeros(3))
    whole: dict[str, Any] = dict(mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.body(LEG, **whole)
    b.joint("held", "fixed", GROUND, LEG)
    b.body(FOOT, **whole, r=zero[0][0], p=zero[1][0], free=True)
    add_orthosis(b, PUBLISHED_SIZE, side, **values, check_units=False)
    system = b.build(check_units=False)
    known = mechanics(system)
    p = np.roll(Rotation.from_matrix(states[1]).as_quat(), 1, axis=1)
    parts = {"r": states[0], "p": p, "v": states[2], "omega": states[3]}
    at = [known.of(system.state.replace(**{part: {FOOT: of[n]} for part, of in parts.items()})) for n in range(len(p))]
    q, u = (np.array(of) for of in zip(*at, strict=True))
    tau = known.applied_forces(q, u)
    turned = (
        states[1] @ zero[1][0].T
    )  # efforts on a floating body are in axes that turn with it from the reference pose
    return tau[:, :3], np.einsum("nab,nb->na", turned, tau[:, 3:])
