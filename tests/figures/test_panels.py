"""Panels: aligned, with equal scales where asked for, and with the lines that belong to joints and cases."""

import numpy as np
import pytest
from PIL import Image

from runtime.figures import lines, panels
from tests.support.layouts import faults
from tests.support.refusals import assert_refused


def drawn(**options):
    figure, axes = panels.figure(2, 2, **options)
    for number, ax in enumerate(axes.flat):
        ax.plot([0.0, 10.0**number], [0.0, 10.0 ** (2 - number)], label="line")
        ax.set(
            xlabel="across",
            ylabel="a label\nof two lines" if number == 2 else "up",
            title="title" if number < 2 else "",
        )
    panels.legend(figure, axes[0, 0])
    figure.draw_without_rendering()
    return figure, [ax.get_position() for ax in axes.flat]


def test_panels_of_a_row_and_of_a_column_have_the_same_edges():
    figure, (one, two, three, four) = drawn()
    assert faults(figure) == []
    for first, second, sides in ((one, three, ("x0", "x1")), (two, four, ("x0", "x1")), (one, two, ("y0", "y1"))):
        assert all(getattr(first, side) == pytest.approx(getattr(second, side)) for side in sides)
    assert one.width == pytest.approx(four.width) and one.height == pytest.approx(four.height)


def test_one_unit_has_the_same_length_in_all_panels():
    figure, boxes = drawn(widths=(1.0, 3.0), heights=(2.0, 1.0))
    width, height = figure.get_size_inches()
    assert np.ptp([b.width * width / w for b, w in zip(boxes, (1.0, 3.0, 1.0, 3.0), strict=True)]) < 1e-9
    assert boxes[0].width * width / 1.0 == pytest.approx(boxes[0].height * height / 2.0)
    assert boxes[1].x1 * width == pytest.approx(width, abs=0.2)


def test_sizes_of_panels_are_one_for_each():
    assert_refused(("widths = ", "give 2 numbers above 0"), panels.figure, 1, 2, widths=(1.0,))


def test_labels_that_are_cut_off_or_covered_are_found():
    figure, axes = panels.figure(1, 2, width=2.0, height=1.5)
    axes[0, 0].set(title="a title that is much too long for it", ylabel="a label that is longer than its figure")
    axes[0, 1].set(title="another one that is beside it")
    panels.letter(figure)
    found = " ".join(faults(figure))
    assert "y label 0 is cut off" in found and "title 0 covers title 1" in found and "title 0 covers letter a" in found


def test_joints_and_cases_have_one_line_each_that_differs_in_grey():
    from matplotlib.colors import to_rgb

    assert lines.style(2, "universal") == lines.style(0, "classical")
    found = [lines.style(number, name) for number, name in enumerate(lines.NAMED) if name != "universal"]
    assert lines.style(3, "modified universal joint") == lines.style(0, "modified")
    assert lines.style(1, "elastic, modified") == lines.style(4, "elastic")
    for group in (found[:2], found[2:]):
        looks = {
            (str(line["linestyle"]), round(float(np.dot(to_rgb(line["color"]), (0.3, 0.59, 0.11))), 1))
            for line in group
        }
        assert len(looks) == len({line["color"] for line in group}) == len(group)
        assert len({line["linewidth"] for line in group}) == len(group)


def test_a_picture_has_the_rows_of_its_figure(tmp_path):
    """11.4 inches are 1709.9999 dots: rows of 1709 would lean."""
    fig, axes = panels.figure(1, 3, width=3.8, height=2.7)
    for ax in axes.flat:
        ax.axvline(0.5, color="black", linewidth=4)
    (file,) = panels.save(fig, tmp_path, "bars")
    dark = np.asarray(Image.open(file).convert("L"))[100:300] < 60
    columns = dark.all(axis=0).sum()
    assert columns >= 3 * 6  # three upright bars
