"""Arguments at the border: their kinds follow from annotations, and a refusal is one sentence with the remedy."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import models
import runtime
from runtime import ModelError, State, analysis, simulate
from runtime.support import checked
from runtime.support.errors import ArgumentError, UnknownNameError
from tests.support.refusals import assert_refused

SHORT = dict(rtol=1e-6, atol=1e-6, progress=False)


@pytest.fixture(scope="module")
def pendulum():
    return models.pendulum.build()


@checked
def takes(
    number: float = 0.0,
    count: int = 0,
    truth: bool = False,
    text: str = "",
    path: Path | None = None,
    kind: Literal["elastic", "dissipative"] | None = None,
    many: Sequence[float] = (),
    pair: tuple[float, float] = (0.0, 0.0),
    named: Mapping[str, float] | None = None,
    function: Callable[..., float] | None = None,
    state: State | None = None,
    **more: float,
):
    return locals()


@pytest.mark.parametrize(
    "given, value",
    [
        (dict(number=np.float32(0.5)), 0.5),
        (dict(number=Fraction(1, 2)), 0.5),
        (dict(number=Decimal("0.5")), 0.5),
        (dict(number=np.array(2)), 2.0),
        (dict(number=3), 3.0),
        (dict(count=np.int64(3)), 3),
        (dict(truth=np.True_), True),
        (dict(path="a"), Path("a")),
        (dict(many=iter([1, 2.0])), [1.0, 2.0]),
        (dict(many=[1.0, 2.0]), [1.0, 2.0]),
        (dict(pair=[1, Fraction(1, 2)]), (1.0, 0.5)),
        (dict(named={"a": np.float32(1)}), {"a": 1.0}),
    ],
)
def test_values_of_the_right_kind_arrive_in_their_proper_type(given, value):
    ((name, _),) = given.items()
    found = takes(**given)[name]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(number="1"), "takes: number = '1': give one number"),
        (dict(number=True), "takes: number = True: give one number"),
        (dict(number=None), "takes: number = None: give one number"),
        (dict(number=1j), "takes: number = 1j is complex numbers; give one number"),
        (dict(number=[1.0]), "takes: number has the shape (1,); give one number"),
        (
            dict(number=np.timedelta64(1, "ms")),
            "is a duration with a unit of its own; divide it by np.timedelta64(1, 's')",
        ),
        (
            dict(number=np.ma.masked),
            "has masked elements; fill them with filled(), or leave them out with compressed()",
        ),
        (dict(count=1.0), "takes: count = 1.0: give a whole number"),
        (dict(count=True), "takes: count = True: give a whole number"),
        (dict(truth=1), "takes: truth = 1: give True or False"),
        (dict(text=b"a"), "takes: text = b'a': give text"),
        (dict(kind="elastc"), "takes: kind = 'elastc'; did you mean 'elastic'? use 'elastic' or 'dissipative'"),
        (dict(many=3.0), "takes: many = 3.0: give a sequence of numbers"),
        (dict(many="12"), "takes: many = '12': give a sequence of numbers"),
        (dict(many=[1.0, "2"]), "takes: many = [1.0, '2'] has item 1 = '2'; give a sequence of numbers"),
        (dict(many=itertools.count()), "has more than 10000000 items"),
        (dict(many={1.0, 2.0}), "has no order; give a sequence of numbers"),
        (dict(pair=(1.0,)), "takes: pair = (1.0,) has 1 items; give 2 items"),
        (dict(named=[1.0]), "takes: named = [1.0]: give a mapping from names to numbers"),
        (dict(named={1: 1.0}), "has the key 1, which is no text"),
        (dict(function=3), "takes: function = 3: give a function"),
        (dict(other="a"), "takes: other = 'a': give one number"),
        (dict(state=models.foot), "takes: state = module models.foot: give a runtime.State"),
    ],
)
def test_values_of_a_wrong_kind_are_refused_in_one_sentence(given, message):
    assert_refused(message, takes, **given)


@pytest.mark.parametrize("order", ["names first", "mapping first"])
def test_a_mapping_with_wrong_values_is_no_sequence_of_its_names(order):
    names, values = Sequence[str], Mapping[str, float]

    def select(outputs=None):
        return outputs

    select.__annotations__["outputs"] = names | values if order == "names first" else values | names
    select = checked(select)
    assert select({"a": np.float32(1)}) == {"a": 1.0} and select(("a", "b")) == ("a", "b")
    assert_refused("has 'a' = 'one'", select, {"a": "one"})


def test_likely_slips_are_told_how_to_go_on(pendulum):
    run = simulate(pendulum, 0.01, **SHORT)
    for call, message in (
        (
            lambda: simulate(models.foot.build, 1.0),
            "system = models.foot.build: give a runtime.System, from Builder.build()",
        ),
        (
            lambda: simulate(models.foot, 1.0),
            "system = module models.foot: give a runtime.System, from Builder.build()",
        ),
        (
            lambda: simulate(pendulum, 1.0, initial=run),
            ": give a runtime.State, system.state or what its replace() returns",
        ),
        (lambda: simulate(pendulum), "missing a required argument: 't_end'; it takes system, t_end"),
        (
            lambda: simulate(pendulum, t_ends=1.0),
            "unknown argument 't_ends'; did you mean 't_end'? it takes system, t_end",
        ),
        (
            lambda: runtime.Builder("a").body("b", mas=1.0, inertia=(1, 1, 1)),
            "body: unknown argument 'mas'; did you mean 'mass'?",
        ),
    ):
        assert_refused(message, call)


def test_a_call_that_does_not_fit_is_a_type_error_too(pendulum):
    with pytest.raises(TypeError) as error:
        simulate(pendulum)
    assert isinstance(error.value, ArgumentError) and isinstance(error.value, ModelError)


def test_a_type_error_from_inside_is_not_taken_for_a_wrong_call():
    @checked
    def broken(number: float) -> float:
        return number + "a"

    with pytest.raises(TypeError, match="unsupported operand") as error:
        broken(1.0)
    assert not isinstance(error.value, ModelError)


def test_a_generator_of_events_is_not_used_up(pendulum):
    def events():
        yield runtime.Event("low", lambda t, s: s.r["rod"][2] + 0.1, terminal=True)

    run = simulate(pendulum, 1.0, events=events(), **SHORT)
    assert run.status == runtime.Status.STOPPED_BY_EVENT and len(run.events["low"]) == 1
    assert run.final.r["rod"][2] == pytest.approx(-0.1, abs=1e-9)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda t, s: None, "event 'e': function returned None; it must return one number"),
        (lambda t, s: t > 0.5, "function returned False; it must return one number"),
        (lambda t, s: s.r["rod"], "which has the shape (3,); it must return one number"),
        (lambda t: t, "event 'e': its function failed: TypeError"),
        (lambda t, s: s.r["rot"][0], "unknown body 'rot'; did you mean 'rod'?"),
    ],
)
def test_event_functions_that_return_no_number(pendulum, function, message):
    assert_refused(message, simulate, pendulum, 1.0, events=[runtime.Event("e", function)], **SHORT)


@pytest.mark.parametrize(
    "spoilt, message",
    [
        (lambda y: y[:-1], "y has the shape (12,); give 13 numbers"),
        (lambda y: np.append(y, 0.0), "y has the shape (14,); give 13 numbers"),
        (lambda y: np.ma.array(y, mask=y == y[0]), "has masked elements"),
        (lambda y: y.astype(complex), "holds complex numbers"),
        (lambda y: np.full(13, np.nan), "[0] = nan is not finite"),
        (lambda y: np.zeros(13), "p of body 'rod' has the length 0; give Euler parameters of length 1"),
        (lambda y: np.where(np.arange(13) == 8, 1e60, y), "[8] = 1e+60 overflows in products"),
    ],
)
def test_no_state_reaches_compiled_code_that_it_cannot_take(pendulum, spoilt, message):
    assert_refused(
        ("state", message), lambda: simulate(pendulum, 0.1, initial=State(("rod",), spoilt(pendulum.state.y)), **SHORT)
    )


def test_states_of_other_types_are_the_same_states(pendulum):
    y = pendulum.state.y
    expected = simulate(pendulum, 0.1, **SHORT).final.y
    wide = np.repeat(y, 2)[::2]
    for other in (y.astype(">f8"), y.astype(np.longdouble), wide, list(y), y.astype(object)):
        assert (simulate(pendulum, 0.1, initial=State(("rod",), other), **SHORT).final.y == expected).all()


def test_a_state_that_was_changed_behind_its_back_is_refused(pendulum):
    state = State(("rod",), pendulum.state.y)
    state.y = state.y[:5]
    assert_refused("give an array (13,) of float64", simulate, pendulum, 0.1, initial=state, **SHORT)


def test_runs_made_by_hand_are_checked(pendulum):
    from dataclasses import replace

    run = simulate(pendulum, 0.1, t_eval=[0.0, 0.1], **SHORT)
    assert_refused(("run: t = range(", "); give (0,) of float64"), replace, run, t=range(10**12))
    assert_refused("run: status = Decimal('sNaN'): give a runtime.Status", replace, run, status=Decimal("sNaN"))
    assert_refused(
        "run: states has the shape (2, 12) of float64; give (2, 13)", replace, run, states=run.states[:, :12]
    )
    with pytest.raises(ModelError, match="run: states\\[1, 0\\] = .* is not finite"):
        broken = run.states.copy()
        broken[1, 0] = np.nan
        _ = replace(run, states=broken).energy


@pytest.mark.parametrize("progress", [lambda: None, lambda t, t_end: 1 / 0])
def test_functions_of_progress_that_fail_are_named(pendulum, progress):
    with pytest.raises(ModelError, match="progress failed: (TypeError|ZeroDivisionError): .*\\(.*, line"):
        simulate(pendulum, 0.1, rtol=1e-6, atol=1e-6, progress=progress)


def test_masked_measurements_count_as_missing():
    t = np.linspace(0.0, 1.0, 21)
    run = simulate(models.pendulum.build(length=0.5), 1.0, t_eval=t, rtol=1e-9, atol=1e-9, progress=False)
    data = np.ma.array(run.r["rod"].copy(), mask=False)
    data[5:8] = 1e3
    data[5:8] = np.ma.masked
    found = runtime.fit_parameters(models.pendulum.build, {"length": 0.6}, t, {"r.rod": data}, rtol=1e-9, atol=1e-9)
    assert found.values["length"] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("mass", [1e308, 1e60, 1e-60, 5e-324])
def test_masses_whose_products_overflow_are_refused(mass):
    assert_refused("overflows in products", models.free_body.build, mass=mass, check_units=False)


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(max_step=1e-308), "max_step = 1e-308: its reciprocal overflows"),
        (dict(max_step=1e-20), "max_step = 1e-20 s is below the rounding of time, 9e-16 s at t = 1 s; give more"),
        (dict(max_step=1e-12), "max_step = 1e-12 s makes 1e+12 steps, limit 1e+10; give more"),
        (dict(t_start=0.5, first_step=1e-20), "first_step = 1e-20 s is below the rounding of time at t_start = 0.5 s"),
        (
            dict(alpha=1e40),
            "alpha = 1e+40 1/s, limit 1e+10 1/s, from where on the rounding of Phi decides the step; give less",
        ),
        (dict(alpha=5.0, beta=2e10), "beta = 2e+10 1/s, limit 1e+10 1/s"),
        (dict(t_start=1e15), "t_start = 1e+15 s, limit 1e+12 s, from where on the rounding of time"),
    ],
)
def test_steps_below_rounding_are_not_answered_by_tolerances(pendulum, settings, message):
    with pytest.raises(ModelError) as error:
        simulate(pendulum, 1.0, **SHORT, **settings)
    assert message in str(error.value) and "rtol" not in str(error.value)


def test_lookups_list_the_names_and_offer_the_nearest(foot):
    run = simulate(foot, 0.01, t_eval=[0.0, 0.01], **SHORT)
    many = runtime.simulate_many(foot, {"mass.toes": [0.2, 0.21]}, 0.01, **SHORT)
    bodies = "did you mean 'main_foot'? the bodies are toes, main_foot, leg"
    for lookup, message in (
        (lambda: run.r["mainfoot"], bodies),
        (lambda: run.omega_dot["Main-Foot"], bodies),
        (lambda: run.lam["ankl"], "unknown joint 'ankl'; did you mean 'ankle'? the joints are metatarsophalangeal"),
        (lambda: run.limits["ankle"], "unknown limit 'ankle'; the limits are none"),
        (lambda: run.contacts["heel"], "unknown contact 'heel'; the contacts are none"),
        (lambda: run.events["rest"], "unknown event 'rest'; the events are none"),
        (lambda: run.r[0], "unknown body 0; the bodies are toes"),
        (lambda: run.r[["toes"]], "unknown body ['toes']; the bodies are toes"),
        (lambda: run.r[memoryview(bytearray(1))], "unknown body <memory at"),
        (lambda: run.final.r["mainfoot"], bodies),
        (lambda: many.r["mainfoot"], bodies),
        (lambda: many.cases["mass.toe"], "unknown case 'mass.toe'; did you mean 'mass.toes'?"),
        (lambda: foot.body("mainfoot"), bodies),
        (lambda: foot.joint("ankel"), "did you mean 'ankle'?"),
        (
            lambda: runtime.parameters(foot)["mass.mainfoot"],
            "unknown parameter 'mass.mainfoot'; did you mean 'mass.main_foot'?",
        ),
        (
            lambda: runtime.with_parameters(foot, {"mass.mainfoot": 1.0}),
            "did you mean 'mass.main_foot'? it has gravity",
        ),
    ):
        with pytest.raises(UnknownNameError) as error:
            lookup()
        assert message in str(error.value) and isinstance(error.value, KeyError)


def test_names_that_packages_do_not_have_get_the_nearest():
    for package, name, near in (
        (runtime, "simulte", "simulate"),
        (models, "foott", "foot"),
        (analysis, "coordinat", "coordinate"),
    ):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean '{near}'?"):
            getattr(package, name)


def test_a_check_at_the_border_costs_no_copy():
    y = np.arange(3.0)

    @checked
    def given(values: np.ndarray, numbers: Sequence[float]):
        return values, numbers

    numbers = [1.0, 2.0]
    assert given(y, numbers)[0] is y and given(y, numbers)[1] is numbers
