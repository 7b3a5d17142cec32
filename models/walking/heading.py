"""Direction of walking, from the markers of body and feet, and captures turned so that it is along +x."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from models.walking.capture.trial import SIDES, Capture, Side
from models.walking.marker_sets import recognise
from models.walking.samples import all_finite
from runtime import ModelError
from runtime.support.arrays import Floats

WALKED = 0.3  # [m] travel of the markers' centre in a trial over ground; less is standing or a treadmill
SKEW = math.radians(10.0)  # between the direction of walking and an axis of the laboratory that it is meant to follow

FootMarkers = Mapping[Side, Sequence[str]]

# Labels of feet beside those of the marker sets: heel first, then the forefoot; {s} is the side's letter.  The first row with a
# heel and a forefoot marker applies.
KNOWN_FEET: tuple[tuple[str, ...], ...] = (
    ("{s}_FCC", "{s}_FM1", "{s}_FM5", "{s}_FM2"),
    ("{s}HEE", "{s}TOE"),
    ("{s}HEEL", "{s}MT1", "{s}MT5"),
    ("{s}Heel", "{s}Toe"),
    ("{s}_Heel", "{s}_Toe"),
    ("{s}_heel", "{s}_toe"),
    ("{s}Calc", "{s}MT1", "{s}MT5", "{s}Toe"),
    ("{s}_calc", "{s}_mt1", "{s}_mt5"),
)


def foot_markers(capture: Capture) -> dict[Side, tuple[str, ...]]:
    """Heel and forefoot markers of each foot, heel first, by the labels of the marker sets known here.

    Raises
    ------
    ModelError
        If neither foot has them.
    """
    found: dict[Side, tuple[str, ...]] = {}
    visible = [label for label, p in capture.markers.items() if np.isfinite(p).any()]
    for side in SIDES:
        with suppress(ModelError):  # of no known set
            known = recognise(visible, side)
            of_foot = [known.labels[name] for name in (*known.of("main_foot"), *known.of("toes"))]
            if "heel" in known and len(of_foot) > 1:
                found[side] = (known.labels["heel"], *(label for label in of_foot if label != known.labels["heel"]))
                continue
        for row in KNOWN_FEET:
            heel, *fore = (label.format(s=side[0].upper()) for label in row)
            seen = {label for label in (heel, *fore) if np.isfinite(capture.markers.get(label, np.nan)).any()}
            here = [label for label in fore if label in seen]
            if heel in seen and here:
                found[side] = (heel, *here)
                break
    if not found:
        raise ModelError(
            f"{capture.name}: no heel and forefoot markers among {', '.join(capture.markers)}; name them, heel first: "
            "feet={'right': ('R_heel', 'R_toe')}"
        )
    return found


def heading(capture: Capture, feet: FootMarkers | None = None) -> tuple[float, str]:
    """Direction of walking as an angle [rad] about the vertical from x towards y, and a sentence on how it was found.

    Over ground: from the first to the last position of the markers.  Standing or on a treadmill: from the heels to the
    forefeet.  ``capture.turned(-angle)`` aligns the direction of walking with +x.

    Parameters
    ----------
    capture : Capture
    feet : mapping of side to labels, optional
        Heel first, then forefoot markers; ``foot_markers`` by default.

    Raises
    ------
    ModelError
        If the markers stay in place and no foot shows heel and forefoot.
    """
    points = np.stack(list(capture.markers.values()), axis=1)
    first, last = _ends(points)
    # Only markers visible in both frames, so that one that drops out does not move the centre.
    both = np.isfinite(points[[first, last]]).all(axis=(0, 2))
    way = (points[last, both] - points[first, both]).mean(axis=0)[:2] if both.any() else np.zeros(2)
    if np.linalg.norm(way) > WALKED:
        angle = math.atan2(way[1], way[0])
        return angle, f"walks {np.linalg.norm(way):.2f} m towards {round(math.degrees(angle))} degrees from x"
    along = np.zeros(2)
    for heel, *fore in (feet or foot_markers(capture)).values():
        foot = np.mean([capture.marker(label) for label in fore], axis=0) - capture.marker(heel)
        seen = all_finite(foot)
        if seen.any():
            along += foot[seen].mean(axis=0)[:2]
    if not along.any():
        raise ModelError(
            f"{capture.name}: no direction of walking: the markers stay in place, and no foot shows heel and forefoot"
        )
    angle = math.atan2(along[1], along[0])
    return angle, f"stays in place; the feet point towards {round(math.degrees(angle))} degrees from x"


def along_x(capture: Capture, feet: FootMarkers | None = None) -> tuple[Capture, str]:
    """Turn a capture about the vertical so that walking goes along +x; also returns a sentence on the turn.

    The axes of the laboratory are kept where possible: a heading within 10 degrees of one of them is turned by exact quarter
    turns, any other by its own angle.
    """
    angle, found = heading(capture, feet)
    quarters = round(2.0 * angle / math.pi)
    turn = quarters * math.pi / 2.0 if abs(angle - quarters * math.pi / 2.0) < SKEW else angle
    if not turn:
        return capture, f"{capture.name} {found}"
    return capture.turned(
        -turn
    ), f"{capture.name} {found}; turned by {-math.degrees(turn):g} degrees so that it is along +x"


def _ends(points: Floats) -> tuple[int, int]:
    """First and last frame in which at least half as many markers are visible as in the best frame."""
    seen = all_finite(points).sum(axis=1)
    good = np.flatnonzero(seen >= 0.5 * seen.max())
    return int(good[0]), int(good[-1])
