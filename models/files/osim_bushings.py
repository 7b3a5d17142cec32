"""Bushings of OpenSim models, of both versions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np

from models.files.description import Bushing
from models.files.merging import Pose
from models.files.naming import identifiers
from models.files.osim_functions import numbers
from models.files.osim_xml import active, text_of
from runtime.support import Element

BUSHING = "BushingForce"
NONE = (0.0, 0.0, 0.0)
ENDS = (("frame1", "body_1"), ("frame2", "body_2"))  # by the words of versions 4 and 3


def bushings_of(
    forces: Iterable[Element], frame: Callable[[Element, str], tuple[str, Pose]],
    pose: Callable[[Element, str, str], Pose], taken: Collection[str],
) -> tuple[Bushing, ...]:  # fmt: skip
    """The bushings that act.

    Parameters
    ----------
    forces : elements
    frame : link and pose of a frame that an element names
    pose : by the names of properties of an element
    taken : names of other forces

    Raises
    ------
    ModelError
        With file and line, for frames that do not exist, and values below 0.
    """
    found: list[Bushing] = []
    for e in forces:
        if e.tag != BUSHING or not active(e):
            continue
        name = e.attributes.get("name", "").strip() or f"bushing_{e.line}"
        links, frames = [], []
        for of_4, of_3 in ENDS:
            path = text_of(e, f"socket_{of_4}") or text_of(e, of_3)
            link, at = frame(e, path)
            if e.one(of_3) is not None:
                at = at.then(pose(e, f"location_{of_3}", f"orientation_{of_3}"))
            links.append(link)
            frames.append((at.position, at.rotation))
        values = {
            tag: numbers(e, tag, 3, NONE) for tag in (f"{a}_{b}" for a in KINDS for b in ("stiffness", "damping"))
        }
        if below := [tag for tag, value in values.items() if (value < 0.0).any()]:
            raise e.error(f"force '{name}': {below[0]} has a value below 0; correct it")
        stiffness, damping = (tuple(values[f"{a}_{what}"] for a in KINDS) for what in ("stiffness", "damping"))
        own = identifiers([name], [*taken, *(one.name for one in found)])[name]
        if any(np.any(one) for one in (*stiffness, *damping)):
            found.append(Bushing(own, links[0], links[1], (frames[0], frames[1]), stiffness, damping))  # type: ignore[arg-type]
    return tuple(found)


KINDS = ("translational", "rotational")
