"""Any argument of any kind: public functions give an answer, or one of Talus's errors in one line."""

import contextlib
import io
import signal
import sys

import matplotlib
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

import runtime
from runtime import ModelError, analysis, figures, report, results, system
from runtime.integrate import StepError
from runtime.support import results_folder
from tests.support.any_value import anything
from tests.support.public_calls import calls, make_world

matplotlib.use("Agg")
EXAMPLES, PER_NIGHT = 200, 10_000
LONGEST = 60  # [s] of a call, on a busy machine


class Short(dict):
    """A table whose text is short: Hypothesis writes the arguments of a test that fails, and refuses longer ones."""

    def __repr__(self):
        return f"<{len(self)} entries>"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Values of Talus for the calls."""
    return Short(make_world(tmp_path_factory.mktemp("world")))


class TooLong(BaseException):
    """A call does not end."""


@contextlib.contextmanager
def within(seconds):
    """Interrupt what takes longer."""

    def stop(*_):
        raise TooLong(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def refusal(function, arguments):
    """The error with which a function refuses arguments; None if it gives an answer.  Any other exception is a defect."""
    with within(LONGEST), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            function(**arguments) if "" not in arguments else function(arguments[""])
        except (ModelError, StepError) as error:
            text = str(error)
            assert text and text.isprintable() and len(text) < 4000, text
            return error
        finally:
            if plotting := sys.modules.get("matplotlib.pyplot"):
                plotting.close("all")
    return None


@pytest.fixture(scope="module")
def known(world):
    """Name -> function and arguments."""
    return Short(calls(world))


DRAWING = {"save", "legend", "letter", "place_legend", "draw", "side_views"}  # of figures of matplotlib
RESULTS = {name for name in (*analysis.__all__, *results.__all__, *system.__all__) if name[0].isupper()}
VALUES = {"Body", "Joint", "Limit", "Contact"}
OTHER = {
    "GROUND",
    "__version__",
    "AssemblyError",
    "AssemblyWarning",
    "ModelError",
    "StaleKernelsError",
    "Status",
    "UnitWarning",
}


def test_every_public_function_takes_part(known):
    """Left out are classes of results, which functions make, and functions that draw into figures of matplotlib."""
    called = {name.removeprefix("models.").split(".")[-1].split(" ")[0] for name in known}
    public = (
        set(runtime.__all__) | set(analysis.__all__) | set(results.__all__) | set(system.__all__) | {"Table", "Report"}
    )
    for module in (report.plots, report.cone_plots, figures.panels, figures.lines):
        drawn = {name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
        public |= {name for name in drawn if not name.startswith("_")}
    assert public - called - OTHER - (RESULTS - VALUES) - DRAWING == set()
    assert callable(results_folder)


def test_a_failure_can_be_shown(world, known):
    assert len(pretty(dict(world=world, known=known))) < 100


@pytest.mark.slow
def test_the_calls_themselves_work(known, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = {name: str(error) for name, call in known.items() if (error := refusal(*call)) is not None}
    assert wrong.keys() <= {"zero_crossing", "System.limit", "System.contact"} | {
        f"System.{n}" for n in ("body", "joint", "force")
    }, wrong


def spoil(data, world, known):
    """A call with one argument, or two, of any kind; or with one left out, or one too many."""
    name = data.draw(st.sampled_from(sorted(known)), label="function")
    function, arguments = known[name]
    arguments = dict(arguments)
    for _ in range(data.draw(st.integers(1, 2))):
        arguments[data.draw(st.sampled_from(sorted(arguments)), label="argument")] = data.draw(
            anything(world), label="value"
        ).make()
    odd = data.draw(st.sampled_from(["", "", "", "", "drop", "add"]))
    if odd == "drop" and "" not in arguments:
        del arguments[data.draw(st.sampled_from(sorted(arguments)), label="left out")]
    elif odd == "add" and "" not in arguments:
        arguments[data.draw(st.sampled_from(["names", "t_ends", "x", "Rod"]))] = 1.0
    assume(not without_end(arguments))
    return function, arguments


def without_end(arguments):
    """A run of many steps: right, but no test."""
    times = arguments["t"] if "sigma" in arguments and "t" in arguments else arguments.get("t_end", 0.0)
    if isinstance(arguments.get("max_steps"), int) and 0 < arguments["max_steps"] < 1000:
        return False
    try:
        span = float(np.max(times)) - float(arguments.get("t_start", 0.0))
        return span > 1.0 or float(arguments.get("max_step", 1.0)) < 1e-4
    except Exception:
        return False  # refused


# A warning of an unlikely value, which is used as it is, comes with an answer.
unlikely_values = pytest.mark.filterwarnings("ignore::runtime.UnitWarning")
KEPT = dict(
    deadline=None, derandomize=True, database=None, print_blob=False,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


@pytest.mark.slow
@unlikely_values
@given(data=st.data())
@settings(max_examples=EXAMPLES, **KEPT)
def test_any_argument_gives_an_answer_or_one_line(world, known, tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    refusal(*spoil(data, world, known))


@pytest.mark.nightly
@unlikely_values
@given(data=st.data())
@settings(max_examples=PER_NIGHT, **KEPT)
def test_any_argument_of_many_gives_an_answer_or_one_line(world, known, tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    refusal(*spoil(data, world, known))
