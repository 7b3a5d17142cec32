"""Names of muscles: labels of electromyograms, and the names of the same muscles in models of OpenSim."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from models.generic_bones import generic_leg
from runtime.support import did_you_mean

# Labels of Schreiber and Moissenet (2019), Scientific Data 6, 111, without their side; names in the gait models of OpenSim (Delp
# et al. 1990, IEEE Transactions on Biomedical Engineering 37, 757-767), as in gait2354 and gait10dof18musc; those of Rajagopal
# et al. (2016), IEEE Transactions on Biomedical Engineering 63, 2068-2079.  Parts of a muscle have a number behind the name.
MUSCLES: Mapping[str, tuple[str, ...]] = {
    "tibialis_anterior": ("tib_ant", "tibant"),
    "soleus": (),
    "gastrocnemius_medialis": ("med_gas", "gastroc", "gasmed"),
    "vastus_medialis": ("vas_med", "vasti", "vasmed"),
    "rectus_femoris": ("rect_fem", "recfem"),
    "semitendinosus": ("semiten", "hamstrings"),
    "gluteus_maximus": ("glut_max", "glmax"),
    "gluteus_medius": ("glut_med", "glmed"),
}
# Tibialis posterior and peronei, as models name them.
INVERTORS_AND_EVERTORS = re.compile(r"tib(ialis)?_?post|(peroneus|fibularis|per)_?(long|brev|tert)")
SIDED = re.compile(r"(right|left|r|l)[^a-z]+(.+)")


def muscle_of_label(label: str) -> str | None:
    """The muscle that a label names, with its side as in "soleus_r"; None if it names none of the table.

    Upper and lower case, blanks and the signs . _ - do not count; the side is before the name, as in "R_soleus".
    """
    parts = SIDED.fullmatch(label.strip().lower())
    by_plain = {_plain(name): name for name in MUSCLES}
    name = by_plain.get(_plain(parts[2])) if parts else None
    return f"{name}_{parts[1][0]}" if parts and name else None


def is_of_muscle(name: str, muscle: str) -> bool:
    """Whether a muscle of a model, such as "tib_ant_r" or "glut_med1_r", is one such as "gluteus_medius_r", or a part of it."""
    known, side = muscle[:-2], muscle[-2:]
    names = "|".join((known, *MUSCLES.get(known, ())))
    return name == muscle or bool(re.fullmatch(rf"({names})\d?{side}", name))


def unknown_muscle(muscle: str, others: Collection[str] = ()) -> str:
    """A sentence on the name of a muscle, with its side, that neither the tables nor ``others`` have; "" for those that do."""
    names = (*MUSCLES, *(alias for own in MUSCLES.values() for alias in own), *generic_leg()["muscles"])
    known = [*others, *(f"{name}{side}" for name in names for side in ("_r", "_l"))]
    if INVERTORS_AND_EVERTORS.match(muscle) or _plain(muscle) in map(_plain, known):
        return ""
    return (
        f"'{muscle}' is the name of no muscle that is known; {did_you_mean(muscle, known)}its electromyogram is compared with "
        "activations of a muscle of this name alone"
    )


def in_words(muscle: str) -> str:
    """Such as "soleus, right" of "soleus_r"."""
    side = {"_r": ", right", "_l": ", left"}.get(muscle[-2:], "")
    return (muscle[:-2] if side else muscle).replace("_", " ") + side


def _plain(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())
