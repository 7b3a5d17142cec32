"""Values of all kinds, as users and their mistakes give them."""

import datetime
import enum
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import models
import runtime


class Hostile:
    """An object whose every use fails."""

    def __repr__(self):
        raise RuntimeError("no\nrepr")

    def __array__(self, *given, **named):
        raise RuntimeError("no\narray")

    def __len__(self):
        raise RuntimeError("no\nlength")

    __iter__ = __float__ = __int__ = __index__ = __fspath__ = __call__ = __len__


class Number(float):
    """A float of another class."""


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1


def circle():
    """A list that contains itself."""
    found = []
    found.append(found)
    return found


def generator(*values):
    """An iterator, which can be used once."""
    yield from values


# A table.
def plain():
    """Values of Python."""
    return [
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        7,
        2**70,
        10**400,
        0.0,
        -0.0,
        0.5,
        1e-3,
        3.0,
        41.7,
        1e-308,
        5e-324,
        1e308,
        -1e308,
        1e20,
        float("nan"),
        float("inf"),
        -float("inf"),
        1j,
        1 + 0j,
        "",
        "x",
        "leg",
        "rod",
        "pivot",
        "mainfoot",
        "two\nlines",
        "ü\udc80",
        "a\0b",
        "1.0",
        b"",
        b"x",
        bytearray(b"x"),
        [],
        [1.0],
        [1, 2, 3],
        [1.0, 2.0, 3.0, 4.0],
        ["leg"],
        ["a", 1],
        [None],
        [[1], [1, 2]],
        [[0.0, 0.0, 1.0]] * 3,
        [True, 1.0],
        [1j, 2],
        (),
        (1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (1, 2),
        {},
        {"a": 1},
        {1: 2},
        {"rod": [1, 2, 3]},
        {"omega": {"rod": (0, 1, 0)}},
        {"mass.rod": 2.0},
        {"mass.rod": [1.0, 2.0]},
        {"mass.rod": "heavy"},
        OrderedDict(a=1),
        set(),
        {1, 2},
        {"leg"},
        frozenset({1.0}),
        range(3),
        range(0),
        slice(None),
        Ellipsis,
        NotImplemented,
        object(),
        object,
        int,
        Hostile(),
        Number(0.5),
        Colour.RED,
        Decimal("0.5"),
        Decimal("NaN"),
        Decimal("1e400"),
        Fraction(1, 3),
        datetime.datetime(2020, 1, 1),
        datetime.timedelta(seconds=1),
        Path("x"),
        Path("/no/such/folder/x"),
        Path(""),
        lambda: 0,
        lambda t, state: 1.0,
        abs,
        print,
        np,
        models.foot,
        models.foot.build,
        runtime.State,
        ValueError("x"),
        circle(),
        memoryview(b"abc"),
        iter([1.0]),
        map(abs, [1]),
        generator(),
        generator(1.0, 2.0),
        generator("rod"),
        zip([1], [2], strict=True),
        "rod" * 10_000,
    ]


# A table.
def of_numpy():
    """Values of numpy."""
    x = np.arange(3.0)
    records = np.zeros(3, "f4,i4")
    return [
        np.float64(0.5),
        np.float32(0.5),
        np.int64(3),
        np.bool_(True),
        np.str_("rod"),
        np.complex128(1),
        np.array(0.5),
        np.array(3),
        np.array("rod"),
        np.array(None),
        x,
        x.astype(np.float32),
        x.astype(">f8"),
        x.astype(int),
        x.astype(np.longdouble),
        x > 1.0,
        x.astype(complex),
        x.astype(str),
        x.astype("S"),
        x.astype(object),
        x[::-1],
        np.arange(6.0)[::2],
        np.zeros(0),
        np.zeros((0, 3)),
        np.eye(3),
        np.asfortranarray(np.ones((2, 3))),
        np.full(3, np.nan),
        np.array([0.0, np.inf]),
        np.array([1e308] * 3),
        np.ones(13),
        np.ones(12),
        np.zeros(26),
        np.ones((2, 2, 2)),
        np.arange(1000.0),
        np.ma.array(x, mask=[0, 1, 0]),
        np.ma.array(x),
        np.ma.masked,
        [np.ma.masked, 1.0],
        np.timedelta64(1, "ms"),
        np.timedelta64("NaT", "s"),
        x.astype("m8[ms]"),
        np.datetime64("2020-01-01"),
        x.astype("M8[s]"),
        [np.timedelta64(1, "s"), 1.0],
        records,
        records[0],
        np.rec.array(records),
        np.void(b"ab"),
        np.array([None, 1.0]),
        np.array([Decimal(1), Fraction(1, 2)]),
        np.array([object()]),
        np.broadcast_to(1.0, 3),
        np.random.default_rng(0),
        np.dtype(float),
        np.nditer(x),
        np.array(["a", 1.0], dtype=object),
        [x, x],
        [x.astype("m8[s]")],
        [np.ma.array(x, mask=[0, 1, 0])] * 3,
    ]


def of_talus(world):
    """Talus's own values, right and wrong."""
    state = world["state"]
    spoilt = runtime.State(state.names, np.full(len(state.y), np.nan))
    flat = runtime.State(state.names, np.zeros(len(state.y)))
    changed = runtime.State(state.names, state.y)
    changed.y.flags.writeable = True
    changed.y[0] = np.inf
    return [
        *(
            world[name]
            for name in (
                "system",
                "state",
                "run",
                "foot",
                "foot_state",
                "signal",
                "cone",
                "builder",
                "ensemble",
                "motion",
            )
        ),
        spoilt,
        flat,
        changed,
        runtime.Event("up", lambda t, s: 1.0),
        [runtime.at_rest()],
        generator(runtime.at_rest()),
        generator(*[runtime.Event("up", lambda t, s: s.r["rod"][2] - 1.0)]),
        runtime.Event("no", lambda t, s: None),
        [runtime.Event("truth", lambda t, s: True)],
        [runtime.Event("twice", lambda t, s: 1.0)] * 2,
        runtime.Status.REACHED_END,
        runtime.Signal.constant(1.0),
        [runtime.Signal.constant(0.0)] * 3,
        world["limit"],
        runtime.Builder,
        runtime.simulate,
    ]


class Drawn:
    """A value, made anew where it is used: iterators are used up, and hostile objects cannot be shown."""

    def __init__(self, make, text):
        self.make, self.text = make, text

    def __repr__(self):
        return self.text


def anything(world):
    """A strategy of all values, as ``Drawn``."""
    tables = {"plain": plain, "of_numpy": of_numpy, "of_talus": lambda: of_talus(world)}
    places = [(name, k) for name, table in tables.items() for k in range(len(table()))]
    made = st.sampled_from(places).map(lambda at: Drawn(lambda: tables[at[0]]()[at[1]], f"{at[0]}()[{at[1]}]"))
    drawn = st.one_of(
        st.floats(),
        st.integers(-(10**6), 10**6),
        st.text(max_size=20),
        st.lists(st.floats(), max_size=15),
        st.lists(st.floats(-10, 10), min_size=3, max_size=3),
        st.dictionaries(st.text(max_size=5), st.floats(), max_size=3),
        st.binary(max_size=5),
        st.complex_numbers(),
        st.dates(),
        st.timedeltas(),
        st.decimals(),
        st.fractions(),
    ).map(lambda value: Drawn(lambda: value, repr(value)))
    return st.one_of(made, made, drawn)
