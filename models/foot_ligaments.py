"""Ligaments of the ankle and the plantar fascia by name: attachments, slack lengths and stiffnesses with their sources.

Attachments are given for the published right foot in its neutral pose, from the talocrural joint, x anterior, y medial, z up.
Bones and landmarks are those of the surfaces of OpenSim's leg (Delp et al. 1990), which is of the same length within 2 %; from
the landmarks lead the distances that anatomical papers state.  The papers' foot has no width: the talocrural joint is placed on
that of OpenSim, and the ends on the foot keep their distance from it.

No value is assumed.  A ligament becomes taut at a reference strain, or at the dorsiflexion at which one was measured to become
taut; a value that no source here states is None, and ``models.foot.build`` asks for it.

Sources:

Delp et al., An interactive graphics-based model of the lower extremity, IEEE Trans Biomed Eng 37 (1990) 757-767: bones.
Haytmanek et al., Radiographic identification of the primary lateral ankle structures, Am J Sports Med 43 (2015) 79-87,
doi 10.1177/0363546514553778, abstract: fibular ends, from the tip of the lateral malleolus.
Robbins et al., Radiographic anatomy of the lateral ankle ligament complex, Foot Ankle Int 45 (2023) 179-187,
doi 10.1177/10711007231213355, abstract: distal ends, from the lateral process of the talus and the posterior facet's apex.
Clanton et al., Radiographic identification of the deltoid ligament complex of the medial ankle, Am J Sports Med 42 (2014),
abstract, and Campbell et al., The ligament anatomy of the deltoid complex of the ankle, J Bone Joint Surg Am 96 (2014) e62,
abstract: ends of the tibionavicular and tibiospring ligaments.
Yang et al., Anatomical observation, classification, fracture and finite element analysis of the posterior process of the Asian
adult talus, J Orthop Surg Res 17 (2022), doi 10.1186/s13018-022-03345-5, Table 1: stiffnesses and places of both talofibular
and both tibiotalar ligaments.
Takao et al., Strain patterns in normal anterior talofibular and calcaneofibular ligaments and after anatomical reconstruction,
BMC Musculoskelet Disord 22 (2021), doi 10.1186/s12891-021-04444-w, abstract; Strain pattern of each ligamentous band of the
superficial deltoid ligament, BMC Musculoskelet Disord 21 (2020), doi 10.1186/s12891-020-03296-0, abstract: where they become
taut.
Kitaoka et al., Material properties of the plantar aponeurosis, Foot Ankle Int 15 (1994) 557-560, abstract: 203.7 +/- 50.5 N/mm.
D'Hondt et al., A dynamic foot model for predictive simulations of human gait, PLoS Comput Biol 20 (2024) e1012219,
doi 10.1371/journal.pcbi.1012219, model with four segments: slack length of the plantar fascia, and, evaluated by OpenSim 4.6,
its length and its moment arm at the toe joint.
Blankevoort and Huiskes, Ligament-bone interaction in a three-dimensional model of the knee, J Biomech Eng 113 (1991) 263-269,
as the documentation of OpenSim's Blankevoort1991Ligament states it: the law and its toe region up to a strain of 0.06.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from models.foot_anatomy import Ankle, mirrored
from models.rotations import about
from runtime import Builder, ModelError
from runtime.support import Usual, ask, finite, finite_number, warn
from runtime.support.arrays import Floats

TOE_STRAIN = 0.03  # [1] half of the strain at which the toe region ends: Blankevoort and Huiskes (1991)
LEG, TALUS, FOOT = "leg", "talus", "main_foot"  # the talus is the link of the ankle
Point = tuple[float, float, float]
_PLACES = Usual(0.0, 0.2, "m", "the distance of an attachment from the talocrural joint")
USUAL: Mapping[str, Usual] = {
    "stiffness": Usual(1e3, 1e6, "N/m", "the stiffness of a ligament"),
    "reference_strain": Usual(0.0, 0.2, "1", "the strain of a ligament in the neutral pose"),
    "toe_strain": Usual(0.0, 0.2, "1", "half of the strain at which a toe region ends"),
    "taut_deg": Usual(0.0, 60.0, "degrees", "an angle of the ankle"),
    "proximal": _PLACES,
    "distal": _PLACES,
    "slack_length": Usual(0.01, 0.4, "m", "the length of a plantar fascia"),
    "radius": Usual(0.0, 0.05, "m", "the moment arm of a plantar fascia"),
}
RULES: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "stiffness": (lambda k: k >= 0.0, "must not be below 0 N/m; give its magnitude"),
    "reference_strain": (lambda e: e > -1.0, "must be above -1; it is length over slack length, less 1"),
    "toe_strain": (lambda e: e > 0.0, "must be above 0; leave it out for that of Blankevoort and Huiskes (1991)"),
    "taut_deg": (
        lambda angle: abs(angle) <= 90.0,
        "must lie between -90 and 90 degrees; it is an angle of dorsiflexion",
    ),
    "slack_length": (lambda length: length > 0.0, "must be above 0 m; leave it out for that of the source"),
    "radius": (lambda arm: arm >= 0.0, "must not be below 0 m; give its magnitude"),
}


class Ligament(NamedTuple):
    """A ligament from the leg to the talus or the main foot, on the published right foot; see the module."""

    bone: str  # "talus" or "main_foot"
    proximal: Point  # [m] on the leg, from the talocrural joint, neutral pose
    distal: Point  # [m] on the bone, likewise
    stiffness: float | None  # [N/m] of the linear region
    taut_deg: float | None = None  # [deg] dorsiflexion at which it becomes taut
    reference_strain: float | None = (
        None  # [1] in the neutral pose; negative where it is slack there; in place of taut_deg
    )
    toe_strain: float = TOE_STRAIN

    @property
    def missing(self) -> tuple[str, ...]:
        """Values that no source states."""
        unknown = ("reference_strain",) if self.taut_deg is None and self.reference_strain is None else ()
        return unknown if self.stiffness is not None else ("stiffness", *unknown)


class Fascia(NamedTuple):
    """The plantar fascia, which winds around the metatarsal heads; see the module."""

    slack_length: float  # [m]
    radius: float  # [m] its moment arm at the toe joint
    stiffness: float  # [N/m]
    reference_strain: float  # [1] at the toes' neutral angle
    toe_strain: float = TOE_STRAIN

    @property
    def missing(self) -> tuple[str, ...]:
        """Values that no source states: none."""
        return ()


def _mm(*components: float) -> Point:
    x, y, z = components
    return x / 1e3, y / 1e3, z / 1e3


# Landmarks [mm]: tip of the lateral malleolus (-5.0, -27.0, -1.5), apex of the lateral process of the talus (4.0, -20.0, -13.4),
# posterior apex of the calcaneus's posterior facet (-18.0, -10.8, -4.0), anterior and posterior colliculus of the medial
# malleolus (6.0, 17.4, 14.7) and (-9.1, 15.3, 15.9), sustentaculum tali (-8.2 to 3.2, 16, -13.5), tuberosity of the navicular
# (33.3, 31.3, -17.1).
STRUCTURES: Mapping[str, Ligament | Fascia] = MappingProxyType(
    {
        # 8.4 mm proximal and anterior of the malleolus (Haytmanek); 11.5 mm above and 4.8 mm before the process (Robbins).
        # 14.2 N/mm (Yang).  Taut from 0 degrees on, in plantarflexion (Takao).
        "anterior_talofibular": Ligament(TALUS, _mm(0.9, -25.0, 4.4), _mm(8.8, -16.5, -1.9), 14.2e3, 0.0),
        # From the malleolar fossa to the lateral tubercle of the talus; 16 N/mm (Yang).
        "posterior_talofibular": Ligament(TALUS, _mm(-8.3, -24.1, 9.4), _mm(-17.2, -5.6, -4.3), 16.0e3),
        # 5.0 mm above and before the malleolus (Haytmanek); 14.3 mm below and 5.9 mm behind the apex (Robbins).
        "calcaneofibular": Ligament(FOOT, _mm(-1.5, -27.0, 2.0), _mm(-23.9, -22.0, -18.3), None),
        # From between the colliculi to the middle of the sustentaculum.  Taut from 0 degrees on, in dorsiflexion (BMC 2020).
        "tibiocalcaneal": Ligament(FOOT, _mm(-1.5, 16.4, 15.3), _mm(-2.5, 16.0, -13.5), None, 0.0),
        # 7.6 mm above and before the malleolus (Clanton); 9.7 mm from the tuberosity (Campbell).  Taut from 10 degrees of
        # plantarflexion on (BMC 2020).
        "tibionavicular": Ligament(FOOT, _mm(11.4, 17.4, 20.1), _mm(33.0, 27.0, -8.4), None, -10.0),
        # 3 mm nearer to the tip (Campbell); midway between sustentaculum and navicular, on the spring ligament.  Taut from 15
        # degrees of plantarflexion on (BMC 2020).
        "tibiospring": Ligament(FOOT, _mm(9.3, 17.4, 18.0), _mm(18.0, 24.0, -15.0), None, -15.0),
        # From the malleolus's anterior margin to the anterior border of the talus's medial facet; 115 N/mm (Yang).
        "anterior_tibiotalar": Ligament(TALUS, _mm(11.0, 17.0, 17.0), _mm(17.5, 20.2, -0.9), 115.0e3),
        # From the intercollicular groove to the talar body's posterosuperior margin; 115 N/mm (Yang).  Taut from 0 degrees on,
        # in dorsiflexion, as its superficial part (BMC 2020).
        "posterior_tibiotalar": Ligament(TALUS, _mm(-2.0, 16.5, 15.5), _mm(-8.2, 19.2, -2.4), 115.0e3, 0.0),
        # 203.7 N/mm (Kitaoka); slack length 0.146 m, length 0.14612 m and moment arm 6.7 mm at 0 degrees (D'Hondt).
        "plantar_fascia": Fascia(0.146, 0.0067, 203.7e3, 0.0008),
    }
)


def ligament_values(
    ligaments: bool | str | Mapping[str, Any] | Sequence[str] | None, *, locked_toes: bool = False
) -> dict[str, Ligament | Fascia]:
    """The structures that ``ligaments`` of ``models.foot.build`` names, with the values that it changes.

    Raises
    ------
    ModelError
        For an unknown name or value, and for values that no source states and that are not given.
    """
    if ligaments is None or isinstance(ligaments, bool):
        known = {name: each for name, each in STRUCTURES.items() if ligaments and not each.missing}
        return {name: each for name, each in known.items() if not (locked_toes and isinstance(each, Fascia))}
    names = (ligaments,) if isinstance(ligaments, str) else tuple(ligaments)
    given = ligaments if isinstance(ligaments, Mapping) else {}
    found = {name: _changed(name, given.get(name, {})) for name in names}
    if asked := {name: each.missing for name, each in found.items() if each.missing}:
        what = "; ".join(f"{name}: {', '.join(missing)}" for name, missing in asked.items())
        name, missing = next(iter(asked.items()))
        example = ", ".join(f"'{value}': ..." for value in missing)
        raise ModelError(
            f"ligaments: no source of models.foot_ligaments states these values: {what}; give them, such as "
            f"ligaments={{'{name}': {{{example}}}}}, stiffness in N/m"
        )
    for name, each in found.items():
        if locked_toes and isinstance(each, Fascia):
            warn(
                f"ligament '{name}': toes are locked, so that its length is constant; give toes='free' or 'sprung' too"
            )
    return found


def _changed(name: str, changed: Any) -> Ligament | Fascia:
    """A structure with other values, checked."""
    if name not in STRUCTURES:
        raise ModelError(f"ligaments: unknown {name!r}; use {', '.join(STRUCTURES)}")
    known, what = STRUCTURES[name], f"ligament '{name}'"
    if not isinstance(changed, Mapping):
        raise ModelError(
            f"{what} = {changed!r}; give a mapping of its values, such as {{'stiffness': 80e3}}, or {{}} for those of its sources"
        )
    if unknown := [key for key in changed if key not in known._fields or key == "bone"]:
        takes = ", ".join(field for field in known._fields if field != "bone")
        raise ModelError(f"{what} has no {unknown[0]!r}; it takes {takes}")
    if {"taut_deg", "reference_strain"} <= set(changed):
        raise ModelError(f"{what}: taut_deg and reference_strain both state its slack length; give one of them")
    return known._replace(**{key: _checked(f"{what}: {key}", key, value) for key, value in changed.items()})


def _checked(what: str, key: str, value: Any) -> Any:
    """A finite point, or a number by its rule."""
    if key not in RULES:
        return tuple(finite(value, (3,), what))
    number, (kept, rule) = finite_number(value, what), RULES[key]
    if not kept(number):
        raise ModelError(f"{what} = {number:g} {rule}")
    return number


def add_ligaments(
    b: Builder, ankle: Ankle, structures: Mapping[str, Ligament | Fascia], *, check_units: bool = True
) -> None:
    """Add structures by their names, as forces; ``check_units``: warn of values that no ligament has."""
    for name, each in structures.items():
        for key, of in USUAL.items() if check_units else ():
            ask(f"ligament '{name}': {key}", getattr(each, key, None), of)
        if isinstance(each, Fascia):
            _add_fascia(b, ankle, name, each)
        else:
            _add_ligament(b, ankle, name, each)


def _add_ligament(b: Builder, ankle: Ankle, name: str, each: Ligament) -> None:
    proximal, distal = mirrored([each.proximal, each.distal], ankle.side) * ankle.size.foot
    slack = _slack_length(name, each, proximal, distal, ankle.axes[0])
    assert each.stiffness is not None  # asked for
    ends: dict[str, Any] = dict(s_i=ankle.on_leg[0] + proximal)
    if each.bone == TALUS:
        a_i, a_j = ankle.axes
        first, second, normal = np.linalg.solve(np.column_stack([a_i, a_j, np.cross(a_i, a_j)]), distal)
        ends |= dict(
            s_hinge_i=ankle.on_leg[0], a_i=a_i, a_j=a_j, along_first=first, along_second=second, along_normal=normal
        )
    else:
        ends["s_j"] = ankle.on_foot + distal
    b.force(
        name, "link_ligament" if each.bone == TALUS else "ligament", LEG, FOOT, **ends,
        stiffness=each.stiffness * slack, toe_strain=each.toe_strain, slack_length=slack,
    )  # fmt: skip


def _add_fascia(b: Builder, ankle: Ankle, name: str, each: Fascia) -> None:
    slack = each.slack_length * ankle.size.foot
    b.force(
        name, "windlass", FOOT, "toes", a_i=(0, -1, 0), b_i=(1, 0, 0), c_j=(1, 0, 0),
        neutral_length=slack * (1.0 + each.reference_strain), radius=each.radius * ankle.size.foot,
        stiffness=each.stiffness * slack, toe_strain=each.toe_strain, slack_length=slack,
    )  # fmt: skip


def _slack_length(name: str, each: Ligament, proximal: Floats, distal: Floats, dorsiflexes: Floats) -> float:
    """Slack length [m]: by the strain in the neutral pose, or the length where it becomes taut."""
    strain, taut_deg = (0.0, each.taut_deg) if each.reference_strain is None else (each.reference_strain, 0.0)
    assert taut_deg is not None  # asked for
    taut = about(dorsiflexes, np.deg2rad(taut_deg)) @ distal
    length = float(np.linalg.norm(taut - proximal))
    if length == 0.0:
        raise ModelError(f"ligament '{name}': proximal and distal coincide where it becomes taut; give two places")
    return length / (1.0 + strain)
