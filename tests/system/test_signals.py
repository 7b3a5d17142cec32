"""Prescribed signals of time: values and derivatives, where they are defined, and that compiled code sees the same."""

import copy
import pickle

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import runtime
from runtime import Builder, Signal
from tests.support.refusals import assert_refused

THROUGH = (copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing)))


def wave(t, order=0):
    """sin(3 t + 0.4) and its derivatives."""
    return 3.0**order * np.sin(3.0 * t + 0.4 + order * np.pi / 2)


def uneven(n, start=-0.7, end=2.1, seed=3):
    """Increasing times, unevenly apart."""
    gaps = np.random.default_rng(seed).uniform(0.5, 1.5, n - 1)
    t = start + (end - start) * np.concatenate([[0.0], np.cumsum(gaps)]) / gaps.sum()
    t[-1] = end
    return t


def kinds():
    """Signals of every kind, and where each has jumps."""
    t = uneven(30)
    cubic = Signal.spline(t, wave(t), degree=3)
    return {
        "constant": (Signal.constant(-1.25), []),
        "spline 5": (Signal.spline(t, wave(t)), []),
        "spline 3": (cubic, []),
        "spline 1": (Signal.spline(t, wave(t), degree=1), t[1:-1]),
        "samples": (Signal.samples(t, wave(t), wave(t, 1), wave(t, 2)), []),
        "function": (Signal.function(wave, -0.7, 2.1, step=0.05), []),
        "joined": (
            Signal.joined([cubic, Signal.spline([2.1, 2.5, 3.0], [5.0, 4.0, 6.0], degree=1), Signal.function(wave, 3.0, 3.5)]),
            [2.1, 2.5, 3.0],
        ),
    }  # fmt: skip


KINDS = kinds()
each = pytest.mark.parametrize("kind", KINDS)


def times_of(kind, n=401):
    """Times within the span of a signal, off its jumps."""
    signal, jumps = KINDS[kind]
    low, high = np.clip(signal.span, -5.0, 5.0)
    t = np.linspace(low, high, n)
    return t[np.abs(t[:, None] - np.array([*jumps, np.inf])).min(axis=1) > 1e-3]


# --- values and derivatives -----------------------------------------------------------------------------------------


def test_a_constant():
    signal, t = Signal.constant(2.5), np.array([-1e6, 0.0, 3.0])
    assert signal.span == (-np.inf, np.inf)
    assert signal(t).tolist() == [2.5] * 3
    assert signal(7.0) == 2.5 and signal(7.0).shape == ()
    for order in (1, 2, 3):
        assert signal(t, order).tolist() == [0.0] * 3


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_spline_is_that_of_scipy(degree):
    """Not-a-knot, through the samples, as smooth as its degree allows, exact for polynomials of its degree."""
    t = uneven(25)
    values = np.random.default_rng(degree).standard_normal(25)
    signal, other = Signal.spline(t, values, degree=degree), make_interp_spline(t, values, k=degree)
    assert signal.span == (t[0], t[-1])
    at = np.linspace(t[0], t[-1], 1003)[1:-1]
    for order in range(degree + 1):
        exact = other.derivative(order)(at)
        assert np.abs(signal(at, order) - exact).max() < 1e-11 * np.abs(exact).max()
    assert np.abs(signal(t) - values).max() < 1e-13
    assert not signal(at, degree + 1).any()


def test_samples_are_met_exactly():
    t = uneven(15)
    rng = np.random.default_rng(1)
    parts = rng.standard_normal((3, 15)) * [[1.0], [20.0], [400.0]]
    signal = Signal.samples(t, *parts)
    assert np.array_equal(signal(t[:-1]), parts[0, :-1])  # the last of the times is the end of a piece, not a start
    for order in range(3):
        assert np.abs(signal(t[:-1], order) - parts[order, :-1]).max() < 1e-15 * np.abs(parts[order]).max()
        assert abs(signal(t[-1], order) - parts[order, -1]) < 1e-12 * np.abs(parts[order]).max()
        before = signal(np.nextafter(t[1:], -np.inf), order)
        assert np.abs(before - parts[order, 1:]).max() < 2e-11 * np.abs(parts[order]).max()


@pytest.mark.parametrize(
    "make, orders",
    [
        (lambda h: Signal.function(wave, -0.7, 2.1, step=h), (6, 5, 4)),
        (lambda h: Signal.samples(even(h), *(wave(even(h), k) for k in range(3))), (6, 5, 4)),
    ],
    ids=["function", "samples"],
)
def test_order_of_convergence(make, orders):
    steps = 0.1 / 2.0 ** np.arange(4)
    # Away from the ends, where a spline knows less.
    at = np.linspace(0.0, 1.4, 3001)
    for k, order in enumerate(orders):
        errors = [np.abs(make(h)(at, k) - wave(at, k)).max() for h in steps]
        slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
        assert abs(slope - order) < 0.12


def even(h):
    return np.linspace(-0.7, 2.1, int(round(2.8 / h)) + 1)


def test_a_function_is_sampled_as_finely_as_asked():
    asked = []
    Signal.function(lambda t: asked.append(t) or 0.0 * t, 1.0, 2.0, step=0.03)
    assert np.diff(asked[0]).max() <= 0.03 and asked[0][0] == 1.0 and asked[0][-1] == 2.0
    signal = Signal.function(wave, 0.0, 1e-4)  # however short it is
    assert abs(signal(5e-5, 1) - wave(5e-5, 1)) < 1e-7


@each
def test_derivatives_belong_together(kind):
    signal, _ = KINDS[kind]
    t = times_of(kind)[1:-1]
    t = t[np.abs(t[:, None] - signal.knots).min(axis=1) > 1e-5]  # where pieces meet, they differ by rounding
    for order in range(5):
        low, high = signal(t - 1e-6, order), signal(t + 1e-6, order)
        slope = signal(t, order + 1)
        smooth = np.abs(signal(t - 1e-6, order + 1) - signal(t + 1e-6, order + 1)) < 1e-3 * (1.0 + np.abs(slope))
        error = np.abs((high - low) / 2e-6 - slope)[smooth]
        assert smooth.mean() > 0.9
        assert (
            error.max()
            < 1e-8 * max(1.0, np.abs(low).max()) + 1e-3 * max(1.0, np.abs(signal(t, order + 2)).max()) * 1e-3
        )


def test_joined_pieces_each_hold_from_where_they_begin():
    first, second = Signal.spline([0.0, 1.0], [0.0, 1.0], degree=1), Signal.spline([1.0, 3.0], [5.0, 4.0], degree=1)
    signal = Signal.joined([first, second])
    assert signal.span == (0.0, 3.0)
    assert signal([0.0, 0.5, 1.0, 2.0, 3.0]).tolist() == [0.0, 0.5, 5.0, 4.5, 4.0]
    assert signal([0.5, 1.0, 2.0], 1).tolist() == [1.0, -0.5, -0.5]
    assert signal(np.nextafter(1.0, 0.0)) == pytest.approx(1.0)
    assert Signal.joined([first]).span == first.span


def test_shapes():
    signal = Signal.spline([0.0, 1.0, 2.0], [1.0, 3.0, 2.0], degree=1)
    assert signal(0.5).shape == () and signal(0.5) == 2.0
    assert signal([0.5, 1.5]).shape == (2,) and signal(np.zeros((2, 3))).shape == (2, 3)
    assert signal([]).shape == (0,)
    assert "0 .. 2 s, 2 pieces" in repr(signal) and repr(Signal.constant(2.0)) == "Signal.constant(2)"


# --- where it is defined, and what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize("t", [-1e-9, 2.0 + 1e-9, [0.0, 3.0], np.nan, np.inf])
def test_outside_of_its_span_a_signal_is_not_defined(t):
    signal = Signal.spline([0.0, 1.0, 2.0], [1.0, 3.0, 2.0], degree=1)
    assert_refused(("signal asked for at t = ", "defined from 0 to 2 s"), signal, t)
    assert signal([0.0, 2.0]).tolist() == [1.0, 2.0]


T6 = np.arange(6.0)
BAD = {
    "constant NaN": (lambda: Signal.constant(np.nan), "the constant nan is no finite number"),
    "constant infinite": (lambda: Signal.constant(-np.inf), "the constant -inf is no finite number"),
    "constant text": (lambda: Signal.constant("a"), "constant: value = 'a': give one number"),
    "constant nothing": (lambda: Signal.constant(None), "constant: value = None: give one number"),
    "constant truth": (lambda: Signal.constant(True), "constant: value = True: give one number"),
    "even degree": (lambda: Signal.spline(T6, T6, degree=4), "degree = 4; use 1, 3 or 5"),
    "degree no number": (lambda: Signal.spline(T6, T6, degree="5"), "spline: degree = '5': give a whole number"),
    "few samples": (lambda: Signal.spline(T6[:5], T6[:5]), "5 samples, a spline of degree 5 needs 6 or more"),
    "one sample": (lambda: Signal.spline([0.0], [1.0], degree=1), "1 samples, a spline of degree 1 needs 2 or more"),
    "one of samples": (lambda: Signal.samples([0.0], [1.0], [0.0], [0.0]), "give two samples or more, or Signal.constant"),
    "lengths": (lambda: Signal.spline(T6, T6[:5]), "times (6,) and samples (5,) must be lists of the same length"),
    "lengths of rates": (lambda: Signal.samples(T6, T6, T6[:5], T6), "times (6,) and samples (5,) must be"),
    "a table": (lambda: Signal.spline(T6, np.ones((6, 3))), "samples (6, 3) must be lists"),
    "a number": (lambda: Signal.spline(1.0, 1.0), "signal: t has the shape ()"),
    "NaN": (lambda: Signal.spline(T6, [0, 1, np.nan, 3, 4, 5]), "sample 2 is not finite; fill or leave out"),
    "NaN of accelerations": (lambda: Signal.samples(T6, T6, T6, [0, 1, 2, 3, np.inf, 5]), "sample 4 is not finite"),
    "NaN time": (lambda: Signal.spline([0, 1, 2, np.nan, 4, 5], T6), "signal: t: time 3 is not finite"),
    "standing time": (lambda: Signal.spline([0, 1, 1, 2, 3, 4], T6), "1 s follows 1 s"),
    "time backwards": (lambda: Signal.spline(T6[::-1], T6), "the next; 4 s follows 5 s"),
    "text": (lambda: Signal.spline(["a"] * 6, T6), "holds text; give a list of times [s]"),
    "ragged": (lambda: Signal.spline(T6, [[1], [1, 2], 3, 4, 5, 6]), "its rows differ in shape"),
    "function backwards": (lambda: Signal.function(np.sin, 1.0, 0.0), "from t_start = 1.0 to t_end = 0.0 s; give finite times"),
    "function without an end": (lambda: Signal.function(np.sin, 0.0, np.nan), "from t_start = 0.0 to t_end = nan s; give finite"),
    "function without a span": (lambda: Signal.function(np.sin, 0.0, 0.0), "from t_start = 0.0 to t_end = 0.0 s; give finite"),
    "step of zero": (lambda: Signal.function(np.sin, 0.0, 1.0, step=0.0), "step = 0.0 s must be a finite number above 0 s"),
    "step negative": (lambda: Signal.function(np.sin, 0.0, 1.0, step=-1.0), "step = -1.0 s must be a finite number above 0 s"),
    "step NaN": (lambda: Signal.function(np.sin, 0.0, 1.0, step=np.nan), "step = nan s must be a finite number above 0 s"),
    "function of a wrong shape": (lambda: Signal.function(lambda t: 1.0, 0.0, 1.0), "samples () must be lists"),
    "function not finite": (lambda: Signal.function(lambda t: t + np.inf, 0.0, 1.0), "sample 0 is not finite"),
    "a gap": (
        lambda: Signal.joined([Signal.spline([0, 1], [0, 1], degree=1), Signal.spline([1.5, 2], [0, 1], degree=1)]),
        "a piece ends at t = 1 s and the next begins at 1.5 s",
    ),
    "joined nothing": (lambda: Signal.joined([]), "signal: join a list of one Signal or more"),
    "joined numbers": (lambda: Signal.joined([1.0, 2.0]), "joined: signals = [1.0, 2.0] has item 0 = 1.0; give a sequence"),
    "joined constants": (lambda: Signal.joined([Signal.constant(1.0)] * 2), "ends at t = inf s and the next begins at -inf"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    make, message = BAD[case]
    assert_refused(message, make)


# --- unchanged by anybody -------------------------------------------------------------------------------------------


def test_a_signal_keeps_its_numbers():
    t, values = uneven(10), wave(uneven(10))
    signal = Signal.spline(t, values)
    before = signal(0.3)
    t += 1.0
    values[:] = 0.0
    assert signal(0.3) == before
    for array in (signal.knots, signal.coefficients):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


@each
@pytest.mark.parametrize("through", THROUGH)
def test_pickling(kind, through):
    signal, _ = KINDS[kind]
    again, t = through(signal), times_of(kind)
    assert again.span == signal.span and repr(again) == repr(signal)
    for order in range(3):
        assert np.array_equal(again(t, order), signal(t, order))
    with pytest.raises(ValueError, match="read-only"):
        again.coefficients[0] = 0.0


# --- compiled code sees the same ------------------------------------------------------------------------------------


def puppet(signals):
    """A body that goes where three signals say, at a point off its centre, and turns by constants."""
    b = Builder("puppet")
    b.body("doll", mass=2.0, inertia=(0.1, 0.2, 0.25), free=True)
    b.driver("hand", "guided_point", "doll", s_i=(0, 0, 0), **dict(zip(("x_t", "y_t", "z_t"), signals, strict=True)))
    b.driver("wrist", "guided_orientation", "doll", e0_t=1.0, e1_t=0.0, e2_t=0.0, e3_t=0.0)
    return b


@each
def test_a_guided_body_follows_its_signal(kind):
    """Positions, velocities, accelerations and forces: what compiled code makes of a signal is what the signal says."""
    signal, jumps = KINDS[kind]
    t = times_of(kind, 57)
    if kind == "joined":
        t = np.union1d(t, jumps)  # on a jump the later piece holds, in compiled code too
    other = Signal.function(lambda time: np.cos(time), t[0], t[-1])
    system = puppet((signal, other, -2.0)).build(time=t[0])
    motion = runtime.inverse_dynamics(system, t)
    expected = np.array([[s(t, order) for s in (signal, other)] for order in range(3)])
    assert np.abs(motion.r["doll"][:, 0] - expected[0, 0]).max() < 1e-12 * max(1.0, np.abs(expected[0, 0]).max())
    assert np.abs(motion.v["doll"][:, 0] - expected[1, 0]).max() < 1e-12 * max(1.0, np.abs(expected[1, 0]).max())
    assert np.abs(motion.v_dot["doll"][:, 0] - expected[2, 0]).max() < 1e-11 * max(1.0, np.abs(expected[2, 0]).max())
    for order, part in enumerate((motion.r, motion.v, motion.v_dot)):
        assert np.abs(part["doll"][:, 1] - expected[order, 1]).max() < 1e-11
    hand = motion.driven["hand"]
    assert np.array_equal(hand.value["x_t"], expected[0, 0]) and np.array_equal(hand.rate["x_t"], expected[1, 0])
    assert np.abs(hand.effort["x_t"] - 2.0 * expected[2, 0]).max() < 1e-10 * max(1.0, np.abs(expected[2, 0]).max())
    assert np.abs(hand.effort["z_t"] - 2.0 * 9.81).max() < 1e-10


def test_a_signal_of_many_pieces_is_found_by_its_time():
    """Every one of many short pieces, by an order that no search can guess."""
    t = uneven(400, 0.0, 1.0)
    values = np.random.default_rng(5).standard_normal(400)
    signal = Signal.spline(t, values, degree=1)
    motion = runtime.kinematics(puppet((signal, 0.0, 0.0)).build(), t)
    assert np.abs(motion.r["doll"][:, 0] - values).max() < 1e-12


def test_a_simulated_body_under_a_load_integrates_its_signal():
    """m x'' = f(t): the compiled integrator sees the quintic, whose second integral is known."""
    t = uneven(8, 0.0, 1.5)
    force = Signal.spline(t, np.random.default_rng(2).standard_normal(8))
    b = Builder("pushed", gravity=(0, 0, 0))
    b.body("ball", mass=0.5, inertia=(1, 1, 1), free=True)
    b.load("push", "ball", force=(force, 0.0, 0.0))
    at = np.linspace(0.0, 1.5, 31)
    run = runtime.simulate(b.build(), 1.5, t_eval=at, rtol=1e-13, atol=1e-13)
    spline = make_interp_spline(t, force(t), k=5)
    exact = (spline.antiderivative(2)(at) - spline.antiderivative(1)(0.0) * at) / 0.5
    assert np.abs(run.r["ball"][:, 0] - exact).max() < 1e-10
    assert np.abs(run.v_dot["ball"][:, 0] - force(at) / 0.5).max() < 1e-12


def test_spans_are_watched_by_every_user_of_a_signal():
    signal = Signal.spline([0.0, 0.5, 1.0], [0.0, 0.1, 0.0], degree=1)
    b = puppet((signal, 0.0, 0.0))
    system = b.build()
    name = "the signal 'hand.x_t' of system 'puppet' is defined from 0 to 1 s"
    for doing, call in (
        ("the initial configuration is taken from 2 to 2 s", lambda: b.build(time=2.0)),
        ("simulating from 0 to 1.5 s", lambda: runtime.simulate(system, 1.5)),
        ("analysing from 0 to 1.5 s", lambda: runtime.kinematics(system, [0.0, 1.5])),
        ("analysing from -0.1 to 0.5 s", lambda: runtime.inverse_dynamics(system, [-0.1, 0.5])),
        ("assembling from 1.5 to 1.5 s", lambda: runtime.assemble(system, system.state, time=1.5)),
    ):
        assert_refused(f"{doing}, but {name}", call)
    assert runtime.kinematics(system, [0.0, 1.0]).t.tolist() == [0.0, 1.0]


def test_the_end_of_a_span_may_be_missed_by_rounding():
    """0.1 * 3 is above 0.3: times made by counting steps do not fail, and every result follows the signal."""
    end = 0.1 * 3
    assert end > 0.3
    signal = Signal.spline([0.0, 0.1, 0.3], [0.0, 0.1, 0.0], degree=1)
    motion = runtime.inverse_dynamics(puppet((signal, 0.0, 0.0)).build(), [0.0, 0.1, end])
    assert motion.driven["hand"].value["x_t"][-1] == pytest.approx(0.0, abs=1e-15)
