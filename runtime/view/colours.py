"""Colours of figures and views: those of Okabe and Ito, distinct for colour-blind readers."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # of bodies, runs, curves
LINK = "#F0E442"  # massless links, such as the talus
AXIS, CONE, GROUND = "#303030", "#56B4E9", "#9A9A9A"
FORCE, MOMENT, GRAVITY, SPRING = "#B2182B", "#7B3294", "#555555", "#777777"
TRAIL = "#009E73"  # of the centre of pressure
POINTS = ("#000000", "#56B4E9", "#E69F00", "#CC79A7")  # groups of points, such as markers
UNLOADED, LOADED = "#FFFFFF", "#B2182B"  # contacts without a force, and with the largest


def rgb(colour: str) -> tuple[int, int, int]:
    """Parts of a colour "#rrggbb", 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def between(first: str, second: str, share: float) -> str:
    """A colour between two others."""
    mixed = (round(a + share * (b - a)) for a, b in zip(rgb(first), rgb(second), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
