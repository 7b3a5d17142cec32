"""Designs by gradient against closed forms."""

import numpy as np
import pytest

from runtime import GROUND, Builder, ModelError, minimise, parameters
from tests.support.refusals import assert_refused

MASS, SPEED, T = 2.0, 3.0, 0.5


def spring(stiffness=100.0, damping=0.0, speed=SPEED):
    """A mass on a slider with a spring."""
    b = Builder("spring", axes="global", gravity=(0.0, 0.0, 0.0))
    b.body("mass", mass=MASS, inertia=(0.1, 0.1, 0.1), v=(speed, 0.0, 0.0))
    b.joint("rail", "translational", GROUND, "mass", point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    ends = dict(s_i=(-1.0, 0.0, 0.0), s_j=(0.0, 0.0, 0.0), free_length=1.0)
    b.force("spring", "spring_damper", GROUND, "mass", **ends, stiffness=stiffness, damping=damping)
    return b.build(check_units=False)


def test_the_softest_spring_that_keeps_a_travel():
    """The travel is speed sqrt(mass / stiffness)."""
    travel = 0.2
    found = minimise(
        spring, {"stiffness": 900.0}, T, "stiffness", bounds={"stiffness": (50.0, 2000.0)},
        constraints={"max(r.mass.x)": (None, travel)}, t_eval=np.linspace(0.0, T, 2001), rtol=1e-10, atol=1e-10,
    )  # fmt: skip
    assert found.success and found.active == ("max(r.mass.x)",) and not found.on_bounds
    assert found.values["stiffness"] == pytest.approx(MASS * SPEED**2 / travel**2, rel=1e-5)
    assert found.objective == found.values["stiffness"] and found.runs < 30


def test_a_function_of_the_run_and_an_equation():
    """The damping with which the mass stops at a place, with the least work of the spring: closed form of the oscillator."""

    def distance(run):
        return (run.r["mass"][-1, 0] - 0.1) ** 2

    found = minimise(
        spring, {"stiffness": 100.0}, T, distance, bounds={"stiffness": (20.0, 200.0)}, rtol=1e-11, atol=1e-11
    )
    rate = np.sqrt(found.values["stiffness"] / MASS)
    assert found.success and SPEED / rate * np.sin(rate * T) == pytest.approx(0.1, abs=1e-5)

    met = minimise(
        spring, {"stiffness": 100.0, "speed": 3.0}, T, "speed",
        bounds={"stiffness": (20.0, 200.0), "speed": (0.1, 5.0)}, constraints={"last(r.mass.x)": (0.3, 0.3)},
        rtol=1e-10, atol=1e-10,
    )  # fmt: skip
    assert met.success and met.constraints["last(r.mass.x)"] == pytest.approx(0.3, abs=1e-6)


def kinked(run):
    """Where the mass ends with the stiffness 100, a kink."""
    rate = np.sqrt(100.0 / MASS)
    return abs(run.r["mass"][-1, 0] - SPEED / rate * np.sin(rate * T))


REFUSED = {
    "several values": (dict(objective="r.mass.x"), "objective: 'r.mass.x' has 201 values; give one number"),
    "an unknown result": (dict(objective="max(r.hand.x)"), "hand"),
    "limits the wrong way round": (
        dict(constraints={"last(r.mass.x)": (0.3, 0.1)}),
        "constraints: 'last(r.mass.x)' has the limits (0.3, 0.1); give a lower one, a greater one, or both",
    ),
    "limits of text": (
        dict(constraints={"last(r.mass.x)": "low"}),
        "'last(r.mass.x)' = 'low'; give a mapping from names to items, each 2 items",
    ),
    "a start outside": (dict(bounds={"stiffness": (1.0, 2.0)}), "bounds: stiffness = 100 is not between 1 and 2"),
    "no numbers": (dict(objective=lambda run: "3"), "result '<lambda>' = '3': give a number or an array of numbers"),
    "nothing": (dict(objective=lambda run: None), "result '<lambda>' = None: give a number or an array of numbers"),
    "a function that fails": (
        dict(objective=lambda run: 1 / 0),
        "result '<lambda>': its function failed: ZeroDivisionError",
    ),
    "a time": (dict(objective="time_of_max(r.mass.x)"), "'time_of_max(r.mass.x)' is one of the times of the run"),
    "a kink": (dict(objective=kinked), "derivative: 'kinked' has a kink or a jump"),
    "a parameter that does not vary": (
        dict(given={"stiffness": 100.0, "speed": 3.0}, wrt="stiffness", objective="speed"),
        "minimise: 'speed' is given but not varied; add it to wrt",
    ),
    "two functions of one name": (
        dict(constraints={lambda run: run.energy[0]: (0.0, None), lambda run: run.energy[-1]: (0.0, None)}),
        "constraints: two functions are named '<lambda>'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    changes, message = REFUSED[case]
    question = dict(build=spring, given={"stiffness": 100.0}, t_end=T, objective="stiffness") | changes
    assert_refused(message, minimise, **question)


def test_limits_that_no_value_keeps():
    """The mass cannot stay within a tenth of a millimetre with a spring this soft."""
    found = minimise(
        spring, {"stiffness": 100.0}, T, "stiffness", bounds={"stiffness": (20.0, 200.0)},
        constraints={"max(r.mass.x)": (None, 1e-4)},
    )  # fmt: skip
    assert not found.success and "constraints are not met: max(r.mass.x) = " in found.message
    assert found.on_bounds == {"stiffness": 200.0}


def test_limits_that_cannot_be_met_end_the_search_early():
    found = minimise(
        spring, {"stiffness": 100.0, "damping": 1.0}, T, "stiffness",
        bounds={"stiffness": (20.0, 200.0), "damping": (0.0, 2.0)}, constraints={"max(r.mass.x)": (None, 0.05)},
    )  # fmt: skip
    assert not found.success and found.runs < 15
    assert found.message.startswith("no change of the parameters brings the constraints nearer to their limits")
    assert "constraints are not met: max(r.mass.x) = " in found.message and "at most 0.05" in found.message
    assert found.on_bounds == {"stiffness": 200.0, "damping": 2.0}

    start = dict(constraints={"first(v.mass.x)": (None, 1.0)}, bounds={"stiffness": (20.0, 200.0)})
    unmoved = minimise(spring, {"stiffness": 100.0}, T, "stiffness", **start)
    assert not unmoved.success and unmoved.runs == 1 and "first(v.mass.x) = 3, at most 1" in unmoved.message


def test_a_result_that_no_parameter_changes_is_no_minimum():
    found = minimise(spring, {"stiffness": 100.0, "damping": 1.0}, T, "first(v.mass.x)")
    assert not found.success and found.runs == 1
    words = (
        "no parameter changes the objective 'first(v.mass.x)' at the start: its derivatives by stiffness, damping are 0"
    )
    assert words in found.message


def test_values_that_meet_constraints_are_found_without_an_objective():
    def nothing(run):
        return 0.0

    found = minimise(
        spring, {"stiffness": 900.0}, T, nothing, constraints={"max(r.mass.x)": (0.29, 0.31)}, rtol=1e-9, atol=1e-9
    )
    assert found.success and 0.29 * (1.0 - 1e-6) <= found.constraints["max(r.mass.x)"] <= 0.31 * (1.0 + 1e-6)


def test_values_beyond_an_edge_are_refused():
    """The stiffest spring that its function admits keeps the mass nearest; beyond it there is no system."""

    def build(stiffness):
        if stiffness > 400.0:
            raise ModelError("too stiff")
        return spring(stiffness)

    found = minimise(build, {"stiffness": 100.0}, 0.1, "max(r.mass.x)", rtol=1e-9, atol=1e-9)
    assert found.success and found.values["stiffness"] == pytest.approx(400.0, rel=1e-6)
    assert found.on_bounds["stiffness"] == found.values["stiffness"] and "are refused (too stiff)" in found.message
    assert found.runs < 60


def test_an_edge_that_another_parameter_moves():
    """The stiffest spring that is admitted is stiffer with more damping, and both keep the mass near."""

    def build(stiffness, damping):
        if stiffness > 50.0 + 100.0 * damping:
            raise ModelError("too stiff")
        return spring(stiffness, damping)

    start = {"stiffness": 100.0, "damping": 1.0}
    found = minimise(build, start, 0.3, "max(r.mass.x)", bounds={"damping": (0.0, 5.0)}, rtol=1e-9, atol=1e-9)
    assert found.success and found.values == pytest.approx({"stiffness": 550.0, "damping": 5.0}, rel=1e-6)
    assert set(found.on_bounds) == {"stiffness", "damping"} and "values beyond stiffness = 550" in found.message


def bounded_together(stiffness, damping):
    """A spring of which neither number alone has an edge near the start."""
    if stiffness / 400.0 + damping / 20.0 > 1.0:
        raise ModelError("stiffness and damping are beyond the material")
    return spring(stiffness, damping)


def test_an_edge_that_parameters_share_ends_the_search_early_and_is_followed_as_a_constraint():
    start = {"stiffness": 100.0, "damping": 5.0}
    found = minimise(bounded_together, start, 0.3, "max(r.mass.x)", rtol=1e-8, atol=1e-8)
    assert not found.success and found.runs < 30
    assert found.values["stiffness"] / 400.0 + found.values["damping"] / 20.0 == pytest.approx(1.0, abs=2e-3)
    shown = [f"{name} = {value:.6g}" for name, value in found.values.items()]
    for words in (
        *shown,
        "are refused (stiffness and damping are beyond the material)",
        "give this rule as one of the",
    ):
        assert words in found.message

    def material(run):
        known = parameters(run.system)
        return known["stiffness.spring"] / 400.0 + known["damping.spring"] / 20.0

    rule = {material: (None, 0.999)}
    along = minimise(bounded_together, start, 0.3, "max(r.mass.x)", constraints=rule, rtol=1e-8, atol=1e-8)
    assert along.success and along.active == ("material",) and along.objective < found.objective


def test_a_start_that_is_refused_is_named():
    words = "the start, stiffness = 400, damping = 5, is refused: stiffness and damping are beyond the material; give another"
    assert_refused(words, minimise, bounded_together, {"stiffness": 400.0, "damping": 5.0}, 0.3, "max(r.mass.x)")


def test_runs_used_up():
    found = minimise(
        spring, {"stiffness": 900.0}, T, "stiffness", constraints={"max(r.mass.x)": (None, 0.2)}, max_runs=2
    )  # fmt: skip
    assert not found.success and found.runs == 2 and "max_runs = 2 reached before a minimum" in found.message


def test_refused_values_shorten_the_steps():
    """Steps from a stiff spring lead beyond 0, where a stiffness is refused; the spring sought is three hundred times softer."""
    reach = 1.49

    def miss(run):
        return (run.r["mass"][-1, 0] - reach) ** 2

    found = minimise(spring, {"stiffness": 100.0}, T, miss, rtol=1e-10, atol=1e-10)
    rate = np.sqrt(found.values["stiffness"] / MASS)
    assert found.success and SPEED / rate * np.sin(rate * T) == pytest.approx(reach, abs=1e-5)
