"""Checks of figures: nothing is cut off, and no label covers another one."""

from contextlib import contextmanager
from itertools import combinations

import pytest

from runtime.figures import panels
from runtime.support import beside

SLACK = 2.0  # [px] at 150 dots per inch


def faults(figure):
    """Sentences on labels of a figure that are cut off or cover others."""
    if figure.get_layout_engine() is not None:  # otherwise ``panels.save`` has placed all
        figure.dpi = 150
        for _ in range(2):  # as it does
            figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    labels = [(legend, "legend") for legend in figure.legends]
    for number, ax in enumerate(figure.axes):
        if not ax.get_visible():
            continue
        labels += [
            (ax.title, f"title {number}"),
            (ax.xaxis.label, f"x label {number}"),
            (ax.yaxis.label, f"y label {number}"),
        ]
        labels += [(text, f"letter {text.get_text()}") for text in ax.texts if text.get_gid() == panels.LETTER]
        for axis, name in ((ax.xaxis, "x"), (ax.yaxis, "y")):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high and tick.label1.get_visible():
                    labels.append((tick.label1, f"{name} number {number}: {tick.label1.get_text()}"))
    boxes = [
        (artist.get_window_extent(renderer), name)
        for artist, name in labels
        if name == "legend" or (artist.get_visible() and artist.get_text())
    ]
    found = [
        f"{name} is cut off"
        for box, name in boxes
        if min(box.x0, box.y0) < -SLACK or box.x1 > figure.bbox.x1 + SLACK or box.y1 > figure.bbox.y1 + SLACK
    ]
    for (one, first), (other, second) in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        if min(width, height) > SLACK:
            found.append(f"{first} covers {second} by {width:.0f} x {height:.0f} px")
    return found


@contextmanager
def faults_of_figures():
    """Draws the figures of studies in this process; gives the faults of each by its name, where there are any."""
    found, save = {}, panels.save

    def saved(figure, folder, name, figure_format):
        files = save(figure, folder, name, figure_format)
        if wrong := faults(figure):
            found[name] = wrong
        return files

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beside, "cores", lambda: 1)
        patch.setattr(panels, "save", saved)
        yield found
