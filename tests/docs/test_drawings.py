"""Drawings are made of the definitions: every joint and model has one, and arrows point where bodies move."""

import inspect
import re
import sys

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

import codegen.joints
import models
from tests.support.paths import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))
import drawings
import runner


def test_every_joint_of_the_dictionary_has_a_drawing():
    joints = {name for name, value in vars(codegen.joints).items() if inspect.isfunction(value) and name[0] != "_"}
    of_others = {name for name in joints if getattr(codegen.joints, name).__module__ != "codegen.joints"}
    assert set(drawings.EXAMPLES) == set(drawings.names_of_joints()) == joints - of_others


def test_every_model_of_the_command_is_drawn_on_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.rst"))
    assert sorted(re.findall(r"^\.\. drawing:: model (\w+)$", pages, re.MULTILINE)) == sorted(drawings.models_by_name())


@pytest.mark.parametrize("name", ["universal", "modified_universal", "parallel_axes", "point_on_plane", "fixed"])
def test_a_drawing_names_what_the_definition_names(name):
    """Points, axes and lengths of the signature, and coordinates of the motion; texts do not overlap."""
    figure = drawings.figure_of(3.6, 2.2)
    drawings.joint(name, figure)
    (axes,) = figure.axes
    written = " ".join(text.get_text() for text in axes.texts)
    for argument in inspect.signature(getattr(codegen.joints, name)).parameters:
        if argument[0] in "abcs" and argument[1:] in ("_i", "_j"):
            assert argument.replace("s_", "P_") in written
    steps = {
        "universal": ["theta_i", "theta_j"],
        "parallel_axes": ["angle", "distance 1"],
        "point_on_plane": ["orientation"],
    }
    assert all(step in written for step in steps.get(name, ()))
    assert ("no motion" in written) == (name == "fixed")
    assert ("$l$" in written) == (name == "modified_universal")
    boxes = [text.get_window_extent(figure.canvas.get_renderer()) for text in axes.texts]
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])


@pytest.mark.parametrize(("motion", "ankle_deg"), [("dorsiflexion", (10.0, 0.0)), ("inversion", (0.0, 10.0))])
def test_the_foot_moves_about_the_drawn_axis_in_the_positive_direction(motion, ankle_deg):
    _, axis = drawings.ankle_turns(models.foot.build())[motion]
    turned = models.foot.build(ankle_deg=ankle_deg).state
    leg, foot = (Rotation.from_quat(turned.p[body], scalar_first=True) for body in ("leg", "main_foot"))
    np.testing.assert_allclose((leg.inv() * foot).as_rotvec(), np.deg2rad(10.0) * axis, atol=1e-9)


def test_the_film_of_the_front_page_moves_and_is_small():
    file = ROOT / "docs" / "pictures" / "foot.gif"
    with Image.open(file) as film:
        assert film.n_frames > 20 and film.info["loop"] == 0
    assert file.stat().st_size < 400_000
    assert all((ROOT / "docs" / "pictures" / name).is_file() for name in drawings.PICTURES)


def test_a_drawing_is_kept_for_its_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "DRAWINGS", tmp_path)
    file = runner.drawing("joint", "spherical", "digest")
    made = file.stat().st_mtime_ns
    assert runner.drawing("joint", "spherical", "digest").stat().st_mtime_ns == made
    assert runner.drawing("joint", "spherical", "other") != file
