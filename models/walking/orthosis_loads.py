"""Loads of an orthosis on leg and foot of a model from a file, along a motion that is known.

An orthosis without mass exerts loads on leg and foot that are equal and opposite and depend on their relative motion alone.
It is that of ``models.foot_orthosis``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from models.files.reading import Reading
from models.files.sides import stated_side
from models.files.swap_checks import hinges_of
from models.files.virtual_power import Load
from models.foot_anatomy import PUBLISHED_SIZE
from models.foot_orthosis import add_orthosis, orthosis_values, springs_values
from models.walking.opensim_trial import Trial
from models.walking.pair_loads import loads_between, ways_of
from runtime import ModelError
from runtime.support import checked

AXES = np.array(
    [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)]
)  # from axes of OpenSim to those of ``models.foot``


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
def orthosis_loads(
    reading: Reading, trial: Trial, ankles: Sequence[tuple[str, str]], orthosis: str | Mapping[str, Any]
) -> list[Load]:
    """The loads of an orthosis on leg and foot of each ankle along a trial.

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
    ways = ways_of(reading, trial)
    links = {link.name: link for link in reading.source.links}
    loads = []
    for ankle, subtalar in ankles:
        one, foot = hinges_of(reading, ankle, subtalar, unlock=True)[1]
        leg, side = links[one].parent, stated_side(ankle, None)
        pairs = [(of[leg][-1], of[foot][-1]) for of in ways]
        add = partial(add_orthosis, size=PUBLISHED_SIZE, side=side, **values, check_units=False)
        loads += loads_between((leg, foot), pairs, links[foot].centre, AXES, add)
    return loads
