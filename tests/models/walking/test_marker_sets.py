"""Landmarks by the labels of a file, in every marker set and with the user's labels."""

import re

import numpy as np
import pytest

from models.walking import scale_to_subject
from models.walking.capture import Capture
from models.walking.marker_sets import LANDMARKS, MARKER_SETS, SIDES, recognise
from runtime import ModelError
from tests.support.paths import ROOT
from tests.support.refusals import assert_refused
from tests.support.standing_subject import STANDING, SUBJECT, labelled, same, standing, without

ALL_SETS = pytest.mark.parametrize("marker_set", MARKER_SETS, ids=lambda s: s.name)


@ALL_SETS
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("choice", [0, -1])
def test_marker_sets(marker_set, side, choice):
    here = {name: p for name, p in STANDING.items() if name in marker_set.labels}
    found = recognise(labelled(here, side, marker_set, choice), side)
    assert found.marker_set == marker_set.name and set(found.labels) == set(here)
    assert found.labels == dict(zip(here, labelled(here, side, marker_set, choice), strict=True))


def test_the_documentation_lists_all_sets_with_their_labels():
    text = (ROOT / "docs" / "walking.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    heads = [line for line in text.splitlines() if line.startswith("| landmark |")]
    assert heads == ["| landmark | " + " | ".join(f"{s.name}: `R{s.separator}`" for s in MARKER_SETS) + " |"]
    listed = {row[0].strip("`"): row[1:] for row in rows if row[0].strip("`") in LANDMARKS}
    for landmark in {name for s in MARKER_SETS for name in s.labels}:
        assert listed[landmark] == [" ".join(s.labels.get(landmark, ())) for s in MARKER_SETS], landmark


@pytest.mark.parametrize("tail", ["", "_study"])
@pytest.mark.parametrize(("side", "letter"), [("right", "r"), ("left", "L")])
def test_labels_of_opencap(tail, side, letter):
    names = "knee mknee ankle mankle calc toe 5meta sh1 sh2 sh3".split()
    others = [
        "Neck",
        "RKnee",
        "LKnee",
        "RAnkle",
        "LAnkle",
        "RHeel",
        "LHeel",
        "RBigToe",
        "LBigToe",
        "C7_study",
        "r.ASIS_study",
    ]
    found = recognise([*(others if tail else others[-2:]), *(f"{letter}_{name}{tail}" for name in names)], side)
    assert found.marker_set == "OpenCap" and len(found.of("leg") + found.of("knee") + found.of("main_foot")) == 10
    spine = "anterior_iliac_spine" if side == "right" else "opposite_anterior_iliac_spine"
    assert found.labels[spine] == "r.ASIS_study" and len(found.labels) == 11
    assert found.labels["heel"] == f"{letter}_calc{tail}" and found.labels["metatarsal_1"] == f"{letter}_toe{tail}"
    if tail:
        with pytest.raises(ModelError, match="no known marker set"):  # centres of joints that a video shows
            recognise(others[:9], side)


def test_an_unknown_set_is_compared_with_the_closest_one():
    assert_refused(
        ("OpenCap is the closest: of it there is r_calc, r_toe, but not R_knee_study", "; give mark"),
        recognise,
        ["r_calc", "r_toe", "X"],
        "right",
    )


def test_the_labels_have_no_effect_on_the_subject():
    here = without("toe_tip", "metatarsal_2", "fibula_head", "tibial_tuberosity")  # what all sets have
    legs = [scale_to_subject(standing(here, marker_set=s)) for s in MARKER_SETS]
    for other in legs[1:]:
        same(legs[0], other)
    named = {name: f"M{n}" for n, name in enumerate(here)}
    own = Capture("s", np.zeros(1), {named[k]: np.array([p]) for k, p in here.items()}, subject=SUBJECT)
    same(legs[0], scale_to_subject(own, markers=named))
    assert scale_to_subject(own, markers=named).landmarks.marker_set == "the user's"


def test_case_separators_and_the_subjects_name_are_ignored_in_labels():
    labels = ["Ann:r_knee_lat", "Ann:R KNEE MED", "Ann:R-Ankle-Lat", "ann:rheel"]
    assert set(recognise(labels, "right").labels.values()) == set(labels)
    twice = recognise([*labels, "Bob:R_Knee_Lat"], "right").labels
    assert twice["lateral_epicondyle"] == "Ann:r_knee_lat"  # the first of two


def test_a_given_marker_takes_precedence_over_the_set():
    labels = [*labelled(STANDING), "X"]
    found = recognise(labels, "right", markers={"heel": "X"})
    assert found.labels["heel"] == "X" and "R_FCC" not in found.labels.values()
    found = recognise(labels, "right", markers={"heel": "R_FM2"})
    assert found.labels["heel"] == "R_FM2" and "metatarsal_2" not in found


@pytest.mark.parametrize("landmark", ["lateral_malleolus", "medial_malleolus", "heel", "metatarsal_1", "metatarsal_5"])
def test_a_missing_marker_is_named(landmark):
    label = labelled({landmark: 0}).popitem()[0]
    words = rf"^static: no marker on the .* of the right side \({label} in the set Schreiber-Moissenet\), which .* needs; if"
    assert_refused(re.compile(words), scale_to_subject, standing(without(landmark)))
    unseen = STANDING | {landmark: (np.nan,) * 3}
    assert_refused(re.compile(words), scale_to_subject, standing(unseen))


def test_all_landmarks_have_a_body():
    assert {body for body, _ in LANDMARKS.values()} == {"pelvis", "thigh", "knee", "leg", "main_foot", "toes"}
    assert {name for s in MARKER_SETS for name in s.labels} <= set(LANDMARKS)


@pytest.mark.parametrize("side", SIDES)
def test_both_sides_of_the_pelvis_belong_to_a_leg(side):
    legs = [f"{letter}_{label}" for letter in "LR" for label in ("FLE", "FAL", "TAM", "FCC", "IAS", "IPS")]
    found, (own, other) = recognise(legs, side), ("RL" if side == "right" else "LR")
    assert [found.labels[name] for name in found.of("pelvis")] == [
        f"{own}_IAS",
        f"{own}_IPS",
        f"{other}_IAS",
        f"{other}_IPS",
    ]
    found = recognise(["R.Heel", "R.Toe.Tip", "R.Ankle.Lat", "L.Heel", "L.Toe.Tip", "L.Ankle.Lat", "V.Sacral"], side)
    assert found.of("pelvis") == ("sacrum",)
    # A pelvis alone is no leg.
    assert_refused("no known marker set", recognise, ["RASI", "LASI", "RPSI", "LPSI", "SACR"], side)
