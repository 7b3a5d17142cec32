"""Reads a model from a file of another program."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from models.files.building import Built, built
from models.files.description import Description, Floats, Frame, Muscle, Omitted, Step
from models.files.inertias import SORT as INERTIAS
from models.files.inertias import with_possible_inertias
from models.files.merging import merged
from models.files.osim_controllers import acting_controllers, with_controllers
from models.files.own_file import OwnReading, read_own
from runtime import Builder, ModelError, Signal, System
from runtime.support import checked, floats, named, opened

SORTS = (
    "actuators", "armature", "components", "constraints", "contacts", "couplers", "damping", "equalities", "flexes", "fluid",
    "forces", "friction", "gravity compensation", "inertias", "limits", "mimic", "other contacts", "plugins",
    "prescribed coordinates", "springs", "tendons",
)  # fmt: skip
MOST_NAMES = 6  # in a message
MUSCLES, CONTROLLERS = "muscles", "controllers"
NOT_ASKED = "they act by controls, and with them their least activation and passive forces; read them with muscles=True"
WITHOUT_MUSCLES = "they set controls; read muscles with muscles=True, or give excitations and efforts"
DISABLED = "not enabled, or not chosen by controllers="
OTHERS = "they set controls of other actuators than muscles; give efforts instead"
DROPPED: Mapping[str, Mapping[str, Any]] = {
    "limits": {"lower": -inf, "upper": inf, "limits": ()}, "springs": {"stiffness": 0.0}, "damping": {"damping": 0.0},
    "armature": {"armature": 0.0},
}  # fmt: skip
CLOSING = {"MJCF": "equalities", "OpenSim": "constraints"}  # sort of the constraints that close loops, by format
# Which steps have parts of a kind that is ignored.
HELD: Mapping[str, Callable[[Step], bool]] = {
    "limits": lambda step: step.limited or bool(step.limits), "springs": lambda step: step.stiffness > 0.0,
    "damping": lambda step: step.damping > 0.0, "armature": lambda step: step.armature > 0.0,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Reading:
    """A model that was read: its builder, and what of the file is not in it.

    ``description``: the model in neutral terms; ``left_out``: what does not change the motion; ``ignored``: what does, and was
    named in ``ignore=``; ``source``: the whole model, also with steps that follow others.
    """

    file: Path
    description: Description
    left_out: tuple[Omitted, ...]
    ignored: tuple[Omitted, ...]
    source: Description  # before links are merged, with all steps of the file

    def __repr__(self) -> str:
        source = self.source
        counts = f"{source.format}, {len(source.links)} links, {sum(1 for _ in source.steps)} turns and slides"
        parts = [f"Reading of {self.file.name} ({counts})"]
        for what, of in (("left out", self.left_out), ("ignored", self.ignored)):
            if of:
                parts.append(f"{what}: {', '.join(f'{one.sort} ({len(one.names)})' for one in of)}")
        return "; ".join(parts)

    @cached_property
    def _made(self) -> Built:
        return self._new()

    def _new(self) -> Built:
        try:
            return built(self.description)
        except ModelError as error:
            raise ModelError(f"{self.file.name}: {error}") from None

    def builder(self) -> Builder:
        """A new builder with bodies, joints, forces and shapes, to which more may be added."""
        return self._new().builder

    def build(self, **options: Any) -> System:
        """The system; ``options``: those of ``Builder.build``.  By default values are not asked about their units.

        Raises
        ------
        ModelError, AssemblyError
        """
        builder = self.builder()
        try:
            return builder.build(**{"check_units": False, **options})
        except ModelError as error:
            loop = CLOSING.get(self.description.format, "")
            left = f", or ignore='armature,{loop}'" if str(error).startswith("armature") and loop else ""
            raise type(error)(f"{self.file.name}: {error}{left}") from None

    @property
    def coordinates(self) -> Mapping[str, tuple[str, str]]:
        """Joint and coordinate of Talus by the name of the file's joint; both are empty where it has no coordinate of its own."""
        return dict(self._made.coordinates)

    @checked
    def coordinate_values(self, values: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        """Values by the coordinates of Talus, for ``Mechanics.configuration``, ``displaced`` and cases, from values of the file.

        ``{"knee_angle": 0.3}`` becomes ``{"knee_angle.angle": 0.3}``, less the value in the reference pose, which is 0 in Talus:
        the default value of OpenSim, ``ref`` of MJCF.

        Parameters
        ----------
        values : mapping of str to float or (states,) [rad], [m]
            By the names of ``coordinates``: turns and slides that have a coordinate of Talus.

        Raises
        ------
        ModelError
            For other names.
        """
        made, whose = self._made.coordinates, f"of {self.file.name}"
        own = {step.name: step for _, step in self.description.steps if made.get(step.name, ("", ""))[0]}
        steps, found = named(f"coordinate {whose}", own, f"coordinates {whose}"), {}
        for name, value in values.items():
            zero = steps[name].reference
            found[".".join(made[name])] = floats(value, f"coordinate '{name}'", "a number or (states,) numbers") - zero
        return found

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Sites, and links that were merged into others, by name."""
        return {frame.name: frame for frame in self.description.frames}

    def rows(self) -> list[tuple[str, str, str]]:
        """Sort, names and reason of all that is not in the model, for a table."""
        ignored = [(one.sort, ", ".join(one.names), f"ignored: {one.reason}") for one in self.ignored]
        return ignored + [(one.sort, ", ".join(one.names), one.reason) for one in self.left_out]


@checked
def read(
    file: str | Path, *, ignore: str | Collection[str] = (), floating: bool = False, root: str | Path | None = None,
    actuators: bool = False, muscles: bool | str | Collection[str] | Mapping[str, Signal | float] = False,
    controllers: bool | str | Collection[str] = True,
) -> Reading | OwnReading:  # fmt: skip
    """Read a model from a file: MJCF (.xml, .mjcf), URDF (.urdf), OpenSim (.osim), or Talus's own (.json).

    Parameters
    ----------
    file : str or Path
    ignore : str or collection of str
        Kinds of parts that are left out although the motion would be another with them, such as "contacts,friction".
        "contacts" includes "other contacts", which are those of OpenSim that are not read.
    floating : bool
        The root of a URDF robot moves freely; default: it is fixed.
    root : str or Path, optional
        Folder in which all files that the model names must lie; default: the folder of the file.
    actuators : bool
        Make motors also of actuators that exert no force without a control, for controllers; default: of those that do, as
        servos of MJCF.
    muscles : bool, str, collection of str or mapping of str to Signal or float
        Muscles of OpenSim that the system has: all, or those with these names, such as "soleus_r,tib_ant_r"; a mapping gives
        their excitations, from 0 to 1, in place of controllers.  By default none; those without an excitation or a controller
        have the default activation of the file.
        Of all, those that Talus cannot state are listed in ``left_out`` with the reason; one that is named is refused.
    controllers : bool, str or collection of str
        Controllers of OpenSim that set excitations of these muscles: those that the file enables, none, or those with these
        names, enabled or not.  A PrescribedController gives a function of time, a ToyReflexController the reflex
        ``lengthening_speed_as_opensim``; their excitations add up.  The others are listed in ``left_out``; one that is named is
        refused.

    Raises
    ------
    ModelError
        For a file that is malformed, or holds parts that Talus cannot state and that are not ignored.
    """
    path = Path(file)
    ignore = _words(ignore)
    for sort in ignore:
        if sort not in SORTS:
            raise ModelError(f"ignore: unknown kind of parts '{sort}'; the kinds of parts are {', '.join(SORTS)}")
    if path.suffix.lower() == ".json":
        return read_own(path)
    description = _described(path, None if root is None else Path(root), floating=floating)
    if not actuators:
        description = _acting(description)
    if "contacts" in ignore:
        ignore = [*ignore, "other contacts"]
    refused = [one for one in description.omitted if one.moves and one.sort not in ignore]
    if refused:
        raise ModelError(f"{path.name}: {_refusal(refused)}")
    names = () if isinstance(muscles, bool) else _words(muscles)
    _refuse_named(path, description.unread_muscles, names)
    if muscles:
        chosen = controllers if isinstance(controllers, bool) else _words(controllers)
        description = _controlled(path, description, chosen)
    description = _with_controllers_left_out(description.changed(muscles=_chosen(description, muscles)))
    reading = reading_of(path, description, ignore)
    _refuse_named(path, reading.left_out, names)
    return reading


def _chosen(
    description: Description, muscles: bool | str | Collection[str] | Mapping[str, Signal | float]
) -> tuple[Muscle, ...]:
    """The muscles of a description, with those that a builder is to have.

    Raises
    ------
    ModelError
        For a name of no muscle.
    """
    if isinstance(muscles, bool):
        return tuple(replace(one, built=muscles) for one in description.muscles)
    excitations = muscles if isinstance(muscles, Mapping) else {}
    known = named("muscle", {one.name: one for one in description.muscles})
    own = {name: replace(known[name], built=True) for name in _words(muscles)}
    own |= {name: replace(own[name], excitation=value, controlled={}) for name, value in excitations.items()}
    return tuple({**known, **own}.values())


def _controlled(path: Path, description: Description, chosen: bool | Collection[str]) -> Description:
    """The description with the excitations of its controllers, of which those that do not act are left.

    Raises
    ------
    ModelError
        For a name of no controller, or of one that is not read.
    """
    known = named("controller", {one.name: one for one in description.controllers})
    try:
        acting = acting_controllers(description.controllers, chosen if isinstance(chosen, bool) else [*chosen], known)
        muscles = with_controllers(description.muscles, acting)
    except ModelError as error:
        raise type(error)(f"{path.name}: {error}") from None
    left = (replace(one, enabled=any(one is other for other in acting)) for one in description.controllers)
    return description.changed(muscles=muscles, controllers=tuple(left))


def _with_controllers_left_out(description: Description) -> Description:
    """The description with the controllers that do not act on its muscles among what is omitted, by reason."""
    reasons: dict[str, list[str]] = {}
    for one in description.controllers:
        if not any(muscle.built for muscle in description.muscles):
            reasons.setdefault(WITHOUT_MUSCLES, []).append(one.name)
        elif one.unread or not one.enabled:
            reasons.setdefault(one.unread or DISABLED, []).append(one.name)
        elif one.others:
            reasons.setdefault(OTHERS, []).extend(f"{one.name} of {other}" for other in one.others)
    omitted = (Omitted(CONTROLLERS, tuple(names), reason) for reason, names in reasons.items())
    return description.changed(omitted=(*description.omitted, *omitted))


def _refuse_named(path: Path, left_out: Iterable[Omitted], names: Collection[str]) -> None:
    """Refuse muscles that are asked for by name and left out."""
    for one in left_out:
        if one.sort == MUSCLES and (asked := [name for name in one.names if name in names]):
            raise ModelError(f"{path.name}: muscle '{asked[0]}': {one.reason}; or leave its name out")


def _words(names: str | Collection[str]) -> Collection[str]:
    """Names, also from a text with commas between them."""
    return [word.strip() for word in names.split(",") if word.strip()] if isinstance(names, str) else names


def reading_of(path: Path, source: Description, ignore: Collection[str]) -> Reading:
    """The reading of a whole model, without kinds of parts that are ignored.

    Raises
    ------
    ModelError
    """
    try:
        description = with_possible_inertias(merged(_without(source, ignore)), change=INERTIAS in ignore)
        description = _with_muscles_left_out(description)
    except ModelError as error:
        raise ModelError(f"{path.name}: {error}") from None
    ignored = tuple(one for one in description.omitted if one.moves)
    left_out = tuple(one for one in description.omitted if not one.moves)
    return Reading(path, description, left_out, ignored, source)


def _with_muscles_left_out(description: Description) -> Description:
    """The description with the muscles that no builder has, and the objects that no muscle wraps over, among what is omitted."""
    off = tuple(one.name for one in description.muscles if not one.built)
    refused = built(description).refused if len(off) < len(description.muscles) else ()
    without = {*off, *(name for one in refused for name in one.names)}
    here = {wrap.name for one in description.muscles if one.name not in without for wrap in one.wraps}
    wraps = (
        replace(one, names=tuple(n for n in one.names if n not in here)) if one.sort == "wrapping" else one
        for one in description.omitted
    )
    omitted = (*wraps, Omitted(MUSCLES, off, NOT_ASKED), *description.unread_muscles, *refused)
    return description.changed(omitted=tuple(one for one in omitted if one.names))


def _described(path: Path, root: Path | None, *, floating: bool) -> Description:
    """The description of a file, by its suffix; readers of other formats are not imported, which takes a tenth of a second."""
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from models.files.urdf import read_urdf

        return read_urdf(path, floating=floating)
    if suffix == ".osim":
        from models.files.osim import read_osim

        return read_osim(path)
    if suffix in (".xml", ".mjcf"):
        from models.files.mjcf import read_mjcf

        with opened(path):  # a path that is none is refused
            folder = Path(os.path.realpath(path)).parent
        return read_mjcf(path, root or folder)
    raise ModelError(
        f"{path.name}: a model is a .urdf file, an .xml or .mjcf file of MuJoCo, an .osim file of OpenSim, or a .json file of "
        "Talus; give one of these"
    )


def _refusal(refused: list[Omitted]) -> str:
    """The sentence about parts that change the motion."""
    parts = []
    for one in refused:
        names = ", ".join(one.names[:MOST_NAMES])
        more = f" and {len(one.names) - MOST_NAMES} more" if len(one.names) > MOST_NAMES else ""
        parts.append(f"{one.sort} ({names}{more}: {one.reason})")
    sorts = ",".join(one.sort for one in refused)
    return f"has parts that Talus does not read and that change the motion: {'; '.join(parts)}; remove them, or ignore='{sorts}'"


def _acting(description: Description) -> Description:
    """The description without actuators that exert no force without a control."""
    idle = tuple(one.name for one in description.actuators if not one.acts)
    if not idle:
        return description
    reason = "no force at the control 0; read them with actuators=True"
    return description.changed(
        actuators=tuple(one for one in description.actuators if one.acts),
        omitted=(*description.omitted, Omitted("actuators without control", idle, reason)),
    )


def _without(description: Description, ignore: Collection[str]) -> Description:
    """The description without locked steps, and without the followers, limits, springs or dampers that are ignored."""
    values: dict[str, Any] = {}
    omitted = list(description.omitted)
    for sort in {one.sort for one in description.followers} & set(ignore):
        names = tuple(f"{one.step} of {' '.join(one.leaders)}" for one in description.followers if one.sort == sort)
        what = "they stay as in the reference pose" if sort == "couplers" else "they move by themselves"
        omitted.append(Omitted(sort, names, what, True))
    closing = CLOSING.get(description.format, "")
    if closing in ignore and description.closures:
        names = tuple(one.name for one in description.closures)
        omitted.append(Omitted(closing, names, "the bodies that they join move by themselves", True))
        description = description.changed(closures=())
    if "contacts" in ignore and description.contacts:
        names = tuple(one.name for one in description.contacts)
        omitted.append(Omitted("contacts", names, "named in ignore", True))
        description = description.changed(contacts=())
    if "actuators" in ignore and description.actuators:
        omitted.append(Omitted("actuators", tuple(one.name for one in description.actuators), "named in ignore", True))
        description = description.changed(actuators=())
    description = description.held(couplers="couplers" in ignore)
    moving = {step.name for _, step in description.steps}
    description = description.changed(actuators=tuple(one for one in description.actuators if one.step in moving))
    description = description.changed(followers=tuple(one for one in description.followers if one.sort not in ignore))
    for sort in ignore:
        values |= DROPPED.get(sort, {})
        has = HELD.get(sort)
        if has is not None and (names := tuple(step.name for _, step in description.steps if has(step))):
            omitted.append(Omitted(sort, names, "named in ignore", True))
    links = tuple(
        replace(link, steps=tuple(replace(step, **values) for step in link.steps)) for link in description.links
    )
    return description.changed(links=links, omitted=tuple(omitted))
