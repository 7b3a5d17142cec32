"""Colours of figures and views: those of Okabe and Ito, distinct for colour-blind readers."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # of bodies, runs, curves
# Joints and cases, by the first word of a label: the same in figures and views.
NAMED = {
    "classical": "#E69F00",
    "modified": "#0072B2",
    "free": "#B8B8B8",
    "elastic": "#882255",
    "dissipative": "#009E73",
    "universal": "#E69F00",  # the classical one
}
LINK = "#F0E442"  # massless links, such as the talus
AXIS, CONE, GROUND = "#303030", "#56B4E9", "#9A9A9A"
FORCE, MOMENT, GRAVITY, SPRING = "#B2182B", "#7B3294", "#555555", "#777777"
TRAIL = "#009E73"  # of the centre of pressure
POINTS = ("#000000", "#56B4E9", "#E69F00", "#CC79A7")  # groups of points, such as markers
UNLOADED, LOADED = "#FFFFFF", "#B2182B"  # contacts without a force, and with the largest
ACTIVATION, REDDEST = "plasma", 0.62  # map of matplotlib, whose lightness rises evenly, and its part from blue to red


def of_run(number: int, label: str) -> str:
    """Colour of a run: that of the joint or case that its label begins with, else by its number."""
    return NAMED.get(first_word(label), PALETTE[number % len(PALETTE)])


def first_word(label: str) -> str:
    """The first word of a label, without a comma."""
    return label.replace(",", " ").partition(" ")[0]


def rgb(colour: str) -> tuple[int, int, int]:
    """Parts of a colour "#rrggbb", 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def of_activation(activation: float) -> str:
    """Colour of a muscle: blue at activation 0, red at 1."""
    from matplotlib import colormaps, colors  # here because most views have no muscles

    return str(colors.to_hex(colormaps[ACTIVATION](REDDEST * min(max(activation, 0.0), 1.0))))


def between(first: str, second: str, share: float) -> str:
    """A colour between two others."""
    mixed = (round(a + share * (b - a)) for a, b in zip(rgb(first), rgb(second), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
