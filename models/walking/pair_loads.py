"""Loads on two links of a model from a file that depend on their relative motion alone, along a motion that is known.

They are the applied forces of a system of two bodies, so that every force of ``runtime`` may act between the links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.building import bushing_values
from models.files.description import WORLD
from models.files.motion import Moving, resting, times
from models.files.reading import Reading
from models.files.virtual_power import Load, ways_at
from models.walking.opensim_trial import Trial
from runtime import GROUND, Builder, mechanics
from runtime.support.arrays import Floats

FIRST, SECOND = "leg", "main_foot"  # bodies of the system, as those of ``models.foot``
Pair = tuple[Moving, Moving]


def ways_of(reading: Reading, trial: Trial) -> tuple[dict[str, list[Moving]], dict[str, list[Moving]]]:
    """Axes of all links where all coordinates are zero, and along a trial."""
    names = list(trial.q)
    table = np.stack([np.stack([of[name] for name in names]) for of in (trial.q, trial.u, trial.u_dot)])
    still = np.zeros((3, len(names), 1))
    return ways_at(reading.source, names, still)[0], ways_at(reading.source, names, table)[0]


def bushing_loads(reading: Reading, trial: Trial) -> list[Load]:
    """Loads of the bushings of a file along a trial."""
    bushings = [one for one in reading.source.bushings if one.link_1 != one.link_2]
    zero, moving = ways_of(reading, trial) if bushings else ({}, {})
    found = []
    for one in bushings:
        links = one.link_1, one.link_2
        values = bushing_values(one, [resting(), resting()])
        pairs = [(ways[links[0]][-1], ways[links[1]][-1]) for ways in (zero, moving)]

        def add(b: Builder, values: dict[str, Any] = values) -> None:
            b.force("bushing", "frame_bushing", FIRST, SECOND, **values)

        found += loads_between(links, pairs, np.zeros(3), np.eye(3), add)
    return found


def loads_between(
    links: tuple[str, str], pairs: Sequence[Pair], centre: Floats, axes: Floats, add: Callable[[Builder], None]
) -> list[Load]:
    """Loads on two links by forces that ``add`` puts between the bodies ``FIRST`` and ``SECOND`` of a builder.

    pairs: axes of both links where all coordinates are zero, and along the motion; centre (3,) of body ``SECOND`` [m] in axes of
    its link; axes (3, 3): rows are the axes of the bodies, in those of the links
    """
    zero, states = (_relative(*pair, centre, axes) for pair in pairs)
    first, second = pairs[1]
    turn = first.A @ axes.T
    force, moment = (times(turn, of) for of in _exerted(zero, states, add))
    point = np.broadcast_to(second.place(centre), force.shape)
    both = Load(links[1], force, point, moment), Load(links[0], -force, point, -moment)
    return [load for load in both if load.body != WORLD]


def _relative(first: Moving, second: Moving, centre: Floats, axes: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Place (n, 3), rotation (n, 3, 3), velocity and angular velocity (n, 3) of the second link as seen from the first.

    The place is that of ``centre``, from the origin of the first link.
    """
    turn = axes @ np.swapaxes(first.A, -1, -2)
    r, v, _ = second.at(centre)
    d, omega = r - first.r, second.omega - first.omega
    v = v - first.v - np.cross(first.omega, d)
    place, speed, spin = (times(turn, of) for of in (d, v, omega))
    return place, turn @ second.A @ axes.T, speed, spin


def _exerted(zero: Any, states: Any, add: Callable[[Builder], None]) -> tuple[Floats, Floats]:
    """Force at the centre of the second body and moment on it, (n, 3) each, in axes of the first."""
    b = Builder("pair", gravity=np.zeros(3))
    whole: dict[str, Any] = dict(mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.body(FIRST, **whole)
    b.joint("held", "fixed", GROUND, FIRST)
    b.body(SECOND, **whole, r=zero[0][0], p=zero[1][0], free=True)
    add(b)
    system = b.build(check_units=False)
    known = mechanics(system)
    p = np.roll(Rotation.from_matrix(states[1]).as_quat(), 1, axis=1)
    parts = {"r": states[0], "p": p, "v": states[2], "omega": states[3]}
    at = [
        known.of(system.state.replace(**{part: {SECOND: of[n]} for part, of in parts.items()})) for n in range(len(p))
    ]
    q, u = (np.array(of) for of in zip(*at, strict=True))
    tau = known.applied_forces(q, u)
    # Efforts on a floating body are in axes that turn with it from the reference pose.
    turned = states[1] @ zero[1][0].T
    return tau[:, :3], times(turned, tau[:, 3:])
