"""Columns of force, point and moment in text files: the names in use, and the wrench of each plate.

A moment is taken as OpenSim's ExternalForce takes it: about the point of the same plate's columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from models.walking.capture.contents import AXES, Wrench
from runtime import ModelError
from runtime.support.arrays import Floats

LISTED = 5  # columns in a note
RULE = "a plate has columns of force, point and moment, such as ground_force_vx, ground_force_px, ground_torque_x"
ENOUGH = 1.0  # [N m] mean size of moments that show about which point they are
ALIKE = 0.2  # of their size: what the moments of the force about the origin may differ from them

QUANTITIES = {"v": "v", "f": "v", "force": "v", "p": "p", "cop": "p", "co_p": "p", "point": "p", "position": "p"} | dict.fromkeys(
    ("m", "t", "torque", "moment"), "m"
)  # fmt: skip
_WORDS = "|".join(sorted(QUANTITIES, key=len, reverse=True))
UNIT = re.compile(r"\s*[(\[][^)\]]*[)\]]$")
PATTERNS = tuple(
    re.compile(pattern.format(words=_WORDS, gap=r"[\s_.:-]"))
    for pattern in (
        # ground_force_1_vx, 1_ground_torque_x, p1_copx, FP1_Fx, Fx1, COPx_R
        r"(?:(?P<stem>.*?)(?:{gap}+|(?<=\d)))?(?P<what>{words})(?P<number>\d*){gap}*(?P<axis>[xyz])(?:{gap}*(?P<tail>\d+)|{gap}+(?P<word>[a-z]\w*))?",
        # ground_torque_r_x: the plate between the quantity and the axis
        r"(?P<stem>.*?)(?P<what>torque|moment|force|cop|point)s?(?P<tail>.*?){gap}*(?P<axis>[xyz])",
        # f1_1, ground_force_v_1: vectors whose components are numbered
        r"(?:(?P<stem>.*?){gap}+)?(?P<what>{words})(?P<number>\d*)_(?P<axis>[123])",
    )
)
COMMON = {"ground", "force", "forces", "torque", "torques", "moment", "moments", "reaction", "free", "grf", "grm"}


def force_columns(path: Path, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Columns of forces (v), points (p) and moments (m) by plate, with the axis: "vx".

    Raises
    ------
    ModelError
        For two columns of one quantity.
    """
    plates: dict[frozenset[str], dict[str, int]] = {}
    called: dict[frozenset[str], str] = {}
    for k, name in enumerate(names):
        # Capitals separate words, as in FP1Fx; units and the word "free" at the end say nothing of the plate.
        plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", UNIT.sub("", name)).lower().strip().removesuffix("_free")
        match = next((found for pattern in PATTERNS if (found := pattern.fullmatch(plain))), None)
        if match is None:
            continue
        parts = match.groupdict(default="")
        rest = [part for key in ("stem", "number", "tail", "word") if (part := parts.get(key, "").strip(" _.:-"))]
        key = frozenset(re.findall(r"[a-z]+|\d+", " ".join(rest))) - COMMON
        what = QUANTITIES[parts["what"]] + AXES["xyz123".index(parts["axis"]) % 3]
        at = plates.setdefault(key, {})
        if what in at:
            raise ModelError(
                f"{path.name}: columns '{names[at[what]]}' and '{name}' name one quantity; names must differ"
            )
        at[what] = k
        if what[0] == "v":
            called.setdefault(key, re.sub(r"^(?:p|fp)?(\d+)$", r"plate\1", "_".join(rest)) or "plate")
    return {called[key]: at for key, at in plates.items() if key in called}


def wrenches(path: Path, names: Sequence[str], numbers: Floats, factor: float, notes: list[str]) -> list[Wrench]:
    """The wrench of each plate; ``factor``: metres per unit of position.  Columns that are not used are listed in the notes.

    Raises
    ------
    ModelError
        Without forces, and for a plate without the three components of its force or its point.
    """
    plates = force_columns(path, names)
    if not plates:
        raise ModelError(
            f"{path.name}: no ground forces among its columns ({', '.join(names[:6])}, ...); name them ground_force_vx, "
            "ground_force_px, ground_torque_x as in OpenSim, or p1_Fx, p1_copx, p1_Ty_free"
        )
    found = []
    for plate, at in plates.items():
        columns = {what: [at.get(what + axis, -1) for axis in AXES] for what in "vpm"}
        # Without any point, three moments are about the origin.
        pointless = max(columns["p"]) < 0 <= min(columns["m"])
        needed = ("v",) if pointless else ("v", "p")
        if lacking := [what + axis for what in needed for axis in AXES if what + axis not in at]:
            raise ModelError(
                f"{path.name}: force plate '{plate}' has no column {', '.join(lacking)}; a force (v) and its point (p) need "
                "x, y, z"
            )
        force = numbers[:, columns["v"]]
        point = np.zeros(force.shape) if pointless else numbers[:, columns["p"]]
        # Without force there is no moment, whatever the field holds; a missing one at a loaded sample is refused later.
        moment = np.where((np.array(columns["m"]) < 0), 0.0, numbers[:, columns["m"]])
        moment = np.where(np.isfinite(moment) | force.any(axis=1, keepdims=True), moment, 0.0)
        wrench = Wrench(plate, numbers[:, 0], force, point * factor, moment * factor)
        found.append(wrench)
        notes += _about(wrench)
    note_unused(path, names, [0, *(k for at in plates.values() for k in at.values())], RULE, notes)
    return found


def _about(wrench: Wrench) -> list[str]:
    """A sentence on the point about which the moments of a plate are, where it is the origin or in doubt."""
    loaded = wrench.force.any(axis=1)
    force, point, moment = (np.nan_to_num(part[loaded]) for part in (wrench.force, wrench.point, wrench.moment))
    size = np.linalg.norm(moment, axis=1)
    if len(force) and not point.any():
        known = "" if moment.any() else ", and it has no moments, so its centre of pressure is not known"
        return [
            f"{wrench.plate}: its point is 0, 0, 0 throughout, the origin of the laboratory, about which its moments are{known}"
        ]
    off = np.linalg.norm(moment - np.cross(point, force), axis=1)
    if len(force) and size.mean() > ENOUGH and off.mean() < ALIKE * size.mean():
        return [
            f"{wrench.plate}: its moments equal those of its force about the origin of the laboratory, but are read about its "
            "point, as OpenSim reads them: if they are about the origin, set the columns of the point to 0"
        ]
    return []


def note_unused(path: Path, names: Sequence[str], used: Iterable[int], rule: str, notes: list[str]) -> None:
    """Note the columns that were not read."""
    left = [names[k] or f"(column {k + 1}, without a name)" for k in sorted(set(range(len(names))) - set(used))]
    if left:
        more = f" and {len(left) - LISTED} others" if len(left) > LISTED else ""
        notes.append(f"{path.name}: columns that are not read: {', '.join(left[:LISTED])}{more}; {rule}")
