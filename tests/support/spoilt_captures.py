"""Captures with one defect each."""

from dataclasses import replace

import numpy as np


def gap(walk, label, start, stop):
    p = np.array(walk.marker(label))
    p[start:stop] = np.nan
    return replace(walk, markers={**walk.markers, label: p})


def cut(plate, until):
    part = plate.t < until
    return replace(plate, **{name: getattr(plate, name)[part] for name in ("t", "force", "cop", "free_moment")})


def without(*labels):
    return lambda markers: {label: p for label, p in markers.items() if label not in labels}
