"""The twelve muscles across the ankle of ``models.foot``: those of the generic leg, placed on its bones.

``models.generic_bones`` states the data, their source and how they are scaled.  Leg and foot of the papers have joint centres and
no other landmarks, so that:

- The epicondyles are medial and lateral of the knee, whose centre is the upper end of the leg that is drawn.
- The foot is as wide as the generic one of its length: the middle of the ankle lies on that of the generic leg.
- The leg is one body, so that the knee is held straight.  The gastrocnemii begin on the femur, which moves with the leg.

Groups are those of the programs of Yoder et al. (2021), doi 10.3389/fbioe.2021.765331 (github.com/ajyoder/ankle-sprain-prob,
osimExecute.m), after DeMers et al. (2017), doi 10.1016/j.jbiomech.2016.11.002: four invertors and four evertors.  The others are
the plantarflexors and dorsiflexors here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from models.foot_anatomy import Ankle, mirrored, mirrored_axis
from models.foot_bones import KNEE
from models.generic_bones import (
    LAW,
    Bone,
    bones_below_knee,
    generic_centre,
    generic_leg,
    of_generic_size,
    points_in_neutral_pose,
    scaled_constants,
)
from runtime import Builder, ModelError, Signal
from runtime.support import finite_number, shown
from runtime.support.arrays import Floats

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "invertors": ("tib_post", "flex_dig", "flex_hal", "ext_hal"),
        "evertors": ("per_long", "per_brev", "per_tert", "ext_dig"),
        "plantarflexors": ("soleus", "med_gas", "lat_gas"),
        "dorsiflexors": ("tib_ant",),
    }
)
NAMES = tuple(name for names in GROUPS.values() for name in names)
REFLEX = "lengthening_speed"
RESTING = 0.01  # excitation of muscles that are not named: the minimum activation of the laws of Thelen
OF_LAW = "thelen_"  # laws that take the constants of the generic leg; others have defaults of their own
BODIES = {"femur": "leg", "tibia": "leg", "calcn": "main_foot", "toes": "toes"}


class Muscles(NamedTuple):
    """Options of the muscles; ``excitation`` and ``reflex``, keywords of ``Builder.muscle``, by the name of each muscle."""

    law: str | ModuleType
    tendon: str
    excitation: Mapping[str, float | Signal]
    reflex: Mapping[str, Mapping[str, Any]]
    strength: float
    constants: Mapping[str, float]


def muscle_values(muscles: bool | Mapping[str, Any] | None) -> Muscles | None:
    """What ``muscles`` of ``models.foot.build`` asks for.

    Raises
    ------
    ModelError
        For an unknown option, group or muscle.
    """
    if muscles is None or muscles is False:
        return None
    given = {} if muscles is True else dict(muscles)
    law, tendon = given.pop("law", LAW), given.pop("tendon", "elastic")
    co_activation, reflex = given.pop("co_activation", RESTING), given.pop("reflex", None)
    strength = finite_number(given.pop("strength", 1.0), "muscles: strength")
    constants = _by_name(given.pop("constants", {}), "constants", "{'fmax_muscle_strain': 0.7}")
    if given:
        raise ModelError(
            f"muscles: unknown {next(iter(given))!r}; use law, tendon, co_activation, reflex, strength or constants"
        )
    levels = co_activation if isinstance(co_activation, Mapping) else {"all": co_activation}
    excitation: dict[str, float | Signal] = dict.fromkeys(NAMES, RESTING)
    for group, level in levels.items():
        excitation |= dict.fromkeys(muscles_of(group, "co_activation"), level)
    return Muscles(law, tendon, excitation, {} if reflex is None else _reflexes(reflex), strength, constants)


def muscles_of(groups: str | Collection[str], what: str) -> tuple[str, ...]:
    """Names of the muscles of a group, a muscle, "all", or several of them.

    Raises
    ------
    ModelError
    """
    known = {**GROUPS, "all": NAMES, **{name: (name,) for name in NAMES}}
    names = tuple(groups) if isinstance(groups, list | tuple) else (groups,)
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ModelError(
                f"muscles: {what} of {shown(name)}; use all, {', '.join(GROUPS)}, or a muscle: {', '.join(NAMES)}"
            )
    return tuple(dict.fromkeys(muscle for name in names for muscle in known[name]))


def _by_name(given: Any, option: str, such: str) -> Mapping[str, Any]:
    """A mapping from names, checked."""
    if isinstance(given, Mapping) and all(isinstance(name, str) for name in given):
        return given
    raise ModelError(f"muscles: {option} = {shown(given)}; give a mapping from names, such as {such}")


def _reflexes(reflex: Any) -> dict[str, dict[str, Any]]:
    """Keywords of ``Builder.muscle`` by muscle."""
    given = _by_name(reflex, "reflex", "{'gain': 1.0, 'delay': 0.06, 'of': 'evertors'}")
    own = {"law": REFLEX, "of": ("invertors", "evertors"), **given}
    keywords = {"reflex": own.pop("law")} | {name: value for name, value in own.items() if name != "of"}
    return {name: keywords for name in muscles_of(own["of"], "reflex")}


def add_muscles(b: Builder, ankle: Ankle, balls: Mapping[str, Floats], muscles: Muscles) -> None:
    """Add the muscles by their names, as forces.

    ``balls``: the metatarsophalangeal joint in ``main_foot`` and ``toes`` (3,) [m], from their centres of mass.
    """
    knee, ball = np.array(KNEE) * ankle.size.leg - ankle.on_leg[0], balls["main_foot"] - ankle.on_foot
    bones, generic = placed(knee, ball, -mirrored_axis(ankle.axes[0], ankle.side))
    shifts = {"leg": ankle.on_leg[0], "main_foot": ankle.on_foot, "toes": balls["toes"] - ball}
    places, bodies, points = points_in_neutral_pose(NAMES)
    scaled, in_generic, located = (np.empty_like(points) for _ in range(3))
    for body in bones:
        of_body = np.array([one == body for one in bodies])
        scaled[of_body], in_generic[of_body] = (of[body].at(points[of_body]) for of in (bones, generic))
        located[of_body] = shifts[BODIES[body]] + mirrored(scaled[of_body], ankle.side)
    steps = [np.linalg.norm(np.diff(of, axis=0), axis=1) for of in (scaled, in_generic)]  # from point to point
    for name in NAMES:
        own, at = generic_leg()["muscles"][name], places[name]
        between = slice(at.start, at.stop - 1)
        ratio = float(steps[0][between].sum() / steps[1][between].sum())
        constants = scaled_constants(own, ratio, muscles.strength)
        if not (isinstance(muscles.law, str) and muscles.law.startswith(OF_LAW)):
            constants = {key: value for key, value in constants.items() if key not in generic_leg()["law"]}
        path = [(BODIES[body], point) for body, point in zip(bodies[at], located[at], strict=True)]
        b.muscle(
            name, muscles.law, path, excitation=muscles.excitation[name], tendon=muscles.tendon,  # type: ignore[arg-type]
            **{**constants, **muscles.constants, **muscles.reflex.get(name, {})},
        )  # fmt: skip


def placed(knee: Floats, ball: Floats, talocrural: Floats) -> tuple[dict[str, Bone], dict[str, Bone]]:
    """The bones of a right leg on a foot, and the generic ones in its posture, from the talocrural joint in the neutral pose.

    ``knee``, ``ball`` (3,) [m]: joint centres; ``talocrural`` (3,): the axis about which plantarflexion is positive.
    """
    axes = dict.fromkeys(("tibia", "calcn", "toes"), np.eye(3))
    below = bones_below_knee(knee, np.zeros(3), ball, axes, talocrural)
    scaled, generic = (
        {**bones, "femur": Bone(generic_centre("knee"), knee, np.eye(3), bones["tibia"].factor)}
        for bones in (below, of_generic_size(below, knee))
    )
    return scaled, generic
