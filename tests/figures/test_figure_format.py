"""Formats and resolution of the files of figures."""

import re

import numpy as np
import pytest
from PIL import Image

from runtime.figures import FigureFormat, panels
from tests.support.refusals import assert_refused


def lines(rows=1, columns=2):
    fig, axes = panels.figure(rows, columns)
    for ax in axes.flat:
        ax.plot([0.0, 1.0], [0.0, 1.0])
    return fig


def test_formats_are_named_once_each():
    assert FigureFormat.named(" PNG, svg,png", 200) == FigureFormat(("png", "svg"), 200)
    for text in ("", "png,", "bmp"):
        assert_refused(("figure_format = ", "use png, svg, pdf"), FigureFormat.named, text, 150)
    for dpi in (49, 601, -1):
        assert_refused((f"dpi = {dpi}, limit 50 to 600", "write svg or pdf"), FigureFormat, ("png",), dpi)


@pytest.mark.parametrize("dpi", [72, 150, 300])
def test_a_picture_has_its_dots_and_states_them(tmp_path, dpi):
    fig = lines()
    (file,) = panels.save(fig, tmp_path, "f", FigureFormat(dpi=dpi))
    with Image.open(file) as picture:
        assert np.allclose(picture.size, dpi * fig.get_size_inches(), atol=1.0)
        assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=0.02)


def test_letters_of_a_pdf_are_text(tmp_path):
    """Journals refuse fonts of Type 3."""
    (file,) = panels.save(lines(), tmp_path, "f", FigureFormat(("pdf",)))
    assert file.read_bytes().startswith(b"%PDF") and set(re.findall(rb"/Subtype /(\w*Type\w+)", file.read_bytes())) <= {
        b"CIDFontType2",
        b"TrueType",
        b"Type0",
    }


def test_panels_have_letters_once_in_the_order_of_reading(tmp_path):
    fig = lines(2, 2)
    fig.axes[1].set_visible(False)
    fig.colorbar(fig.axes[0].scatter([0.0], [0.0], c=[1.0]), ax=fig.axes[0])
    for _ in range(2):  # a figure that is written twice
        panels.save(fig, tmp_path, "f")
    assert [[text.get_text() for text in ax.texts] for ax in fig.axes] == [["a"], [], ["b"], ["c"], []]
    single = lines(1, 1)
    panels.save(single, tmp_path, "g")
    assert not single.axes[0].texts
