"""The data of joints that may give way: which, and how exact they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from runtime.support.checks import positive
from runtime.support.errors import ModelError, shown
from runtime.system.system import System

Adjust = bool | Iterable[str] | Mapping[str, float] | None
Chosen = Mapping[str, float | None] | bool  # accuracy by name, None for the default; True for all data, False for none


class Datum(NamedTuple):
    """A point, direction or constant of a joint that may change."""

    joint: int
    part: str  # keyword of the definition
    name: str  # "part.joint"
    kind: str  # "point", "direction" or "length"
    column: int  # first of its columns in the slopes of the joint's definition
    accuracy: float  # [m] or [rad]

    @property
    def width(self) -> int:
        """How many columns it has."""
        return 1 if self.kind == "length" else 3


def checked_adjust(adjust: Adjust) -> Chosen:
    """What the argument ``adjust`` of ``build`` chooses.

    Raises
    ------
    ModelError
    """
    if adjust is None or isinstance(adjust, bool):
        return bool(adjust)
    names = adjust if isinstance(adjust, Iterable) and not isinstance(adjust, str) else [None]
    given: dict[Any, Any] = dict(adjust) if isinstance(adjust, Mapping) else dict.fromkeys(names)
    if not all(isinstance(key, str) for key in given):
        raise ModelError(
            f"build: adjust = {shown(adjust)}; give True, names such as ['l.rod', 'hinge'], or a mapping of names to accuracies"
        )
    return {
        key: None if accuracy is None else positive(accuracy, f"build: adjust: accuracy of '{key}'")
        for key, accuracy in given.items()
    }


def data_of(system: System, chosen: Chosen, length: float) -> list[Datum]:
    """The chosen data of the joints of a system; ``length`` [m] is the accuracy of lengths where none is given.

    Raises
    ------
    ModelError
        For names that are no data of joints, and for data on which a limit depends.
    """
    known = {datum.name: datum for datum in _all(system, length)}
    if isinstance(chosen, bool):
        return [datum for datum in known.values() if chosen and not _limits_on(system, datum)]
    found: dict[str, Datum] = {}
    joints = dict.fromkeys(system.joints[datum.joint].name for datum in known.values())
    for name, accuracy in chosen.items():
        if name not in known and name not in joints:
            raise ModelError(
                f"build: adjust: '{name}' is no joint and no point, direction or length of one; these are "
                f"{', '.join([*joints, *known])}"
            )
        for key in (
            [name] if name in known else [key for key, d in known.items() if system.joints[d.joint].name == name]
        ):
            found[key] = known[key]._replace(accuracy=accuracy or known[key].accuracy)
    for datum in found.values():
        if limits := _limits_on(system, datum):
            raise ModelError(f"build: adjust: limit '{limits[0]}' depends on {datum.name}; leave it out")
    return list(found.values())


def _all(system: System, length: float) -> list[Datum]:
    found = []
    for k, joint in enumerate(system.joints):
        if joint.signals:
            continue
        column, kinds = 0, {name: kind for name, kind, _ in joint.module.VECTORS}
        for part in joint.module.KEYWORDS:
            kind = kinds.get(part, "length" if dict(joint.module.PARAMETERS).get(part) == 1 else "other")
            datum = Datum(k, part, f"{part}.{joint.name}", kind, column, 1.0 if kind == "direction" else length)
            column += 3 if part in kinds else 1
            if kind != "other":
                found.append(datum)
    return found


def _limits_on(system: System, datum: Datum) -> list[str]:
    joint = system.joints[datum.joint].name
    return [limit.name for limit in system.limits if limit.joint == joint and datum.part in limit.module.BORROWS]
