"""Marker sets: which label marks which landmark of the leg, the main foot and the toes.

A file's set is the one that has most of its labels there.  Upper and lower case, spaces and the signs . _ - are ignored, and
so is a subject's name before a colon: ``R.Knee.Lat`` and ``walker:R_KNEE_LAT`` are one label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runtime import ModelError
from runtime.support import checked

SIDES = {"left": "L", "right": "R"}

# Landmark -> the body that it moves with, and its anatomical name.  The epicondyles locate the knee while the subject stands;
# they belong to the thigh, and move by centimetres against the leg in gait.
LANDMARKS: Mapping[str, tuple[str, str]] = {
    "lateral_epicondyle": ("knee", "lateral epicondyle of the femur"),
    "medial_epicondyle": ("knee", "medial epicondyle of the femur"),
    "fibula_head": ("leg", "head of the fibula"),
    "tibial_tuberosity": ("leg", "tuberosity of the tibia"),
    "lateral_malleolus": ("leg", "lateral malleolus"),
    "medial_malleolus": ("leg", "medial malleolus"),
    **{f"leg_{n}": ("leg", "tracking marker of the leg") for n in range(1, 5)},
    "heel": ("main_foot", "back of the heel"),
    "metatarsal_1": ("main_foot", "head of the first metatarsal"),
    "metatarsal_2": ("main_foot", "head of the second metatarsal"),
    "metatarsal_5": ("main_foot", "head of the fifth metatarsal"),
    **{f"main_foot_{n}": ("main_foot", "tracking marker of the main foot") for n in range(1, 6)},
    "toe_tip": ("toes", "tip of the longest toe"),
    "hallux": ("toes", "big toe"),
    **{f"toes_{n}": ("toes", "tracking marker of the toes") for n in range(1, 3)},
    "greater_trochanter": ("thigh", "greater trochanter"),
    **{f"thigh_{n}": ("thigh", "tracking marker of the thigh") for n in range(1, 4)},
    "anterior_iliac_spine": ("pelvis", "anterior superior iliac spine"),
    "posterior_iliac_spine": ("pelvis", "posterior superior iliac spine"),
    "opposite_anterior_iliac_spine": ("pelvis", "anterior superior iliac spine opposite"),
    "opposite_posterior_iliac_spine": ("pelvis", "posterior superior iliac spine opposite"),
    "sacrum": ("pelvis", "sacrum"),
}
FOREFOOT = ("metatarsal_1", "metatarsal_2", "metatarsal_5")


@dataclass(frozen=True)
class MarkerSet:
    """A convention of labels.

    ``labels``: landmark -> labels that it may have, after ``L`` or ``R`` and ``separator``; ``sacrum``: its labels, without.
    """

    name: str
    separator: str
    labels: Mapping[str, tuple[str, ...]]
    sacrum: tuple[str, ...] = ()

    def on(self, side: str) -> dict[str, list[str]]:
        """Landmark -> whole labels that it may have, for a leg on one side, with those on the other side of the pelvis."""
        own = SIDES[side]
        other = next(letter for letter in SIDES.values() if letter != own)
        found = {name: [own + self.separator + label for label in known] for name, known in self.labels.items()}
        for name in ("anterior_iliac_spine", "posterior_iliac_spine"):
            known = self.labels.get(name, ())
            found[f"opposite_{name}"] = [other + self.separator + label for label in known]
        return found | {"sacrum": list(self.sacrum)}


MARKER_SETS = (
    # Schreiber and Moissenet, Scientific Data 6, 111 (2019), doi 10.1038/s41597-019-0124-4.
    MarkerSet(
        "Schreiber-Moissenet",
        "_",
        {
            "lateral_epicondyle": ("FLE",),
            "medial_epicondyle": ("FME",),
            "fibula_head": ("FAX",),
            "tibial_tuberosity": ("TTC",),
            "lateral_malleolus": ("FAL",),
            "medial_malleolus": ("TAM",),
            "heel": ("FCC",),
            "metatarsal_1": ("FM1",),
            "metatarsal_2": ("FM2",),
            "metatarsal_5": ("FM5",),
            "greater_trochanter": ("FTC",),
            "anterior_iliac_spine": ("IAS",),
            "posterior_iliac_spine": ("IPS",),
        },
    ),
    # The walking example of OpenSim.  Toe.Med and Toe.Lat keep their distance from the heel through push-off, where Toe.Tip
    # comes nearer by 27 mm: they are on the heads of the metatarsals.
    MarkerSet(
        "OpenSim gait",
        ".",
        {
            "lateral_epicondyle": ("Knee.Lat",),
            "medial_epicondyle": ("Knee.Med",),
            "lateral_malleolus": ("Ankle.Lat",),
            "medial_malleolus": ("Ankle.Med",),
            "leg_1": ("Shank.Upper",),
            "leg_2": ("Shank.Front",),
            "leg_3": ("Shank.Rear",),
            "heel": ("Heel",),
            "main_foot_1": ("Midfoot.Sup",),
            "main_foot_2": ("Midfoot.Lat",),
            "metatarsal_1": ("Toe.Med",),
            "metatarsal_5": ("Toe.Lat",),
            "toe_tip": ("Toe.Tip",),
            "thigh_1": ("Thigh.Upper",),
            "thigh_2": ("Thigh.Front",),
            "thigh_3": ("Thigh.Rear",),
            "anterior_iliac_spine": ("ASIS",),
            "posterior_iliac_spine": ("PSIS",),
        },
        sacrum=("V.Sacral",),
    ),
    # Plug-in Gait (RTOE is on the second metatarsal head) with medial markers, Oxford foot model (Carson et al. 2001,
    # Stebbins et al. 2006) and the conventional gait model's extended foot.  Laboratories differ in the medial labels.
    MarkerSet(
        "Plug-in Gait, Oxford foot model",
        "",
        {
            "lateral_epicondyle": ("KNE",),
            "medial_epicondyle": ("KNM", "MKN", "KNEM", "MKNE"),
            "fibula_head": ("HFB",),
            "tibial_tuberosity": ("TUB",),
            "leg_1": ("SHN", "TIB"),
            "leg_2": ("TIAP",),
            "leg_3": ("TIAD",),
            "lateral_malleolus": ("ANK",),
            "medial_malleolus": ("MMA", "MED", "ANKM", "MANK", "MMAL"),
            "heel": ("HEE",),
            "main_foot_1": ("LCA",),
            "main_foot_2": ("STL",),
            "main_foot_3": ("PCA",),
            "main_foot_4": ("P1M",),
            "main_foot_5": ("P5M",),
            "metatarsal_1": ("D1M", "FMH", "MT1"),
            "metatarsal_2": ("TOE", "SMH", "MT2"),
            "metatarsal_5": ("D5M", "VMH", "MT5"),
            "hallux": ("HLX", "HALLUX"),
            "thigh_1": ("THI",),
            "thigh_2": ("THAP",),
            "thigh_3": ("THAD",),
            "anterior_iliac_spine": ("ASI", "ASIS"),
            "posterior_iliac_spine": ("PSI", "PSIS"),
        },
        sacrum=("SACR",),
    ),
    # OpenCap (Uhlrich et al. 2023): markers that it computes from videos, and those of its laboratory, without _study.  The toe
    # is the metatarsophalangeal joint of the big toe.
    MarkerSet(
        "OpenCap",
        "_",
        {
            landmark: (f"{label}_study", label)
            for landmark, label in {
                "lateral_epicondyle": "knee",
                "medial_epicondyle": "mknee",
                "leg_1": "sh1",
                "leg_2": "sh2",
                "leg_3": "sh3",
                "lateral_malleolus": "ankle",
                "medial_malleolus": "mankle",
                "heel": "calc",
                "metatarsal_1": "toe",
                "metatarsal_5": "5meta",
                "thigh_1": "thigh1",
                "thigh_2": "thigh2",
                "thigh_3": "thigh3",
                "anterior_iliac_spine": "ASIS",
                "posterior_iliac_spine": "PSIS",
            }.items()
        },
    ),
    # Landmarks of the ISB's recommendation (Wu et al. 2002) with the labels of Cappozzo et al. (1995) and of the foot
    # protocol of Leardini et al. (2007).
    MarkerSet(
        "ISB",
        "",
        {
            "lateral_epicondyle": ("LE", "LFE"),
            "medial_epicondyle": ("ME", "MFE"),
            "fibula_head": ("HF",),
            "tibial_tuberosity": ("TT",),
            "lateral_malleolus": ("LM",),
            "medial_malleolus": ("MM",),
            "heel": ("CA",),
            "main_foot_1": ("ST",),
            "main_foot_2": ("PT",),
            "main_foot_3": ("TN",),
            "metatarsal_1": ("FM", "FMH"),
            "metatarsal_2": ("SM", "SMH"),
            "metatarsal_5": ("VM", "VMH"),
            "hallux": ("PM",),
            "greater_trochanter": ("GT",),
            "anterior_iliac_spine": ("ASIS",),
            "posterior_iliac_spine": ("PSIS",),
        },
    ),
)
MIN_LANDMARKS = 3  # fewer are no evidence of a set: labels of two letters agree by chance


@dataclass(frozen=True)
class Landmarks:
    """The landmarks found in a file.

    Attributes
    ----------
    marker_set : str
        Name of the set.
    side : "left" or "right"
    labels : mapping
        Landmark -> label, as the file has it.
    file : str
        Name of the file in messages.
    """

    marker_set: str
    side: str
    labels: Mapping[str, str]
    file: str

    def __contains__(self, landmark: str) -> bool:
        return landmark in self.labels

    def of(self, body: str) -> tuple[str, ...]:
        """Landmarks of a body (such as ``leg``, or ``knee``) that were found, in the order of ``LANDMARKS``."""
        return tuple(name for name in LANDMARKS if name in self.labels and LANDMARKS[name][0] == body)

    def need(self, landmark: str, purpose: str) -> str:
        """The label of a landmark.

        Raises
        ------
        ModelError
            Where the file has none, with the landmark, the labels that were looked for, and the ``purpose``.
        """
        if landmark in self.labels:
            return self.labels[landmark]
        sets = (s.on(self.side) for s in MARKER_SETS if s.name == self.marker_set)
        known = " or ".join(label for labels in sets for label in labels.get(landmark, ()))
        called = f" ({known} in the set {self.marker_set})" if known else ""
        raise ModelError(
            f"{self.file}: no marker on the {LANDMARKS[landmark][1]} of the {self.side} side{called}, which {purpose} needs; "
            f"if it has another label, give markers={{'{landmark}': LABEL}}"
        )


@checked
def recognise(
    labels: Iterable[str], side: str, *, markers: Mapping[str, str] | None = None, file: str = "the static trial"
) -> Landmarks:
    """Find the landmarks of one leg among the labels of a file.

    Parameters
    ----------
    labels : iterable of str
        Of the file.
    side : "left" or "right"
    markers : mapping, optional
        Landmark -> label, for labels of no known set; takes precedence over the set.
    file : str
        Name of the file in messages.

    Raises
    ------
    ModelError
        For an unknown side or landmark, a label that the file does not have, or where no set is recognised.
    """
    if side not in SIDES:
        raise ModelError(f"side = {side!r}; use 'left' or 'right'")
    labels, markers = list(labels), dict(markers or {})
    for landmark, label in markers.items():
        if landmark not in LANDMARKS:
            raise ModelError(f"markers: no landmark '{landmark}'; there are {', '.join(LANDMARKS)}")
        if label not in labels:
            raise ModelError(f"markers: {file} has no marker '{label}' for {landmark}; it has {_some(labels)}")
    plain = {_plain(label): label for label in reversed(labels)}
    found = []
    for candidate in MARKER_SETS:
        hits = {}
        for landmark, known in candidate.on(side).items():
            hit = next((plain[name] for name in map(_plain, known) if name in plain), None)
            if hit is not None and landmark not in markers and hit not in markers.values():
                hits[landmark] = hit
        of_leg = [landmark for landmark in hits if LANDMARKS[landmark][0] != "pelvis"]
        found.append((len(of_leg), candidate.name, hits))
    count, name, hits = max(found, key=lambda one: one[0])  # the first of several with as many
    if count < MIN_LANDMARKS:
        if len(markers) < MIN_LANDMARKS:
            known_sets = ", ".join(candidate.name for candidate in MARKER_SETS)
            closest = ""
            if count:
                of = next(candidate for candidate in MARKER_SETS if candidate.name == name)
                lacks = [known[0] for landmark, known in of.on(side).items() if known and landmark not in hits]
                closest = f"; {name} is the closest: of it there is {', '.join(hits.values())}, but not {_some(lacks)}"
            raise ModelError(
                f"{file}: no known marker set ({known_sets}) for the {side} leg among its labels {_some(labels)}{closest}; give "
                "markers={landmark: label}, or rename the markers"
            )
        name, hits = "the user's", {}
    return Landmarks(name, side, {**hits, **markers}, file)


def _plain(label: str) -> str:
    """A label without the subject's name, case and separators."""
    return "".join(c for c in label.rsplit(":", 1)[-1].casefold() if c.isalnum())


def _some(labels: list[str]) -> str:
    """At most twelve labels, for a message."""
    return (", ".join(labels[:12]) + (f" and {len(labels) - 12} more" if len(labels) > 12 else "")) or "(none)"
