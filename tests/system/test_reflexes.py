"""Reflexes of a builder: parameters, files, copies in other processes, the start, and messages."""

import pickle

import pytest

import codegen
import runtime
from runtime import ModelError
from runtime.system.muscle_modules import muscle_module_of
from tests.support.delayed_reflexes import by_length
from tests.support.muscles import HILL, MUSCLE, PATH, builder, hill

TWITCH = runtime.Signal.spline([0.0, 0.1, 0.3], [0.1, 0.5, 0.2], degree=1)
STRETCH = dict(reflex="stretch", length_gain=3.0, speed_gain=1.0)


def leg(law="thelen_as_opensim", excitation=0.1, *, own=False, **how):
    b = builder(hill, PATH, excitation)
    b._of["forces"].clear()
    law = codegen.compile_muscle(hill) if own else law
    b.muscle("flexor", law, PATH, excitation=excitation, **(HILL if own else MUSCLE), **how)
    return b


def end_of(system):
    return runtime.simulate(system, 0.1, t_eval=[0.05, 0.1]).states.tobytes()


def test_constants_of_law_and_reflex_are_parameters_once():
    system = leg(**STRETCH, delay=0.05).build()
    names = [name.removesuffix(".flexor") for name in runtime.parameters(system) if name.endswith(".flexor")]
    assert len(names) == len(set(names)) and {"length_gain", "normalized_rest_length", "delay", "excitation"} <= set(
        names
    )
    other = runtime.with_parameters(system, {"normalized_rest_length.flexor": 0.9, "delay.flexor": 0.02})
    assert other.force("flexor").values["delay"] == 0.02 and not system.signals


def test_the_start_is_that_of_the_muscle_at_rest():
    """A reflex of the length counts at the start, one of the speed does not, with a delay and without."""
    for delay in (0.0, 0.05):
        stretched = runtime.parameters(
            leg(**STRETCH | {"length_gain": 1.0}, normalized_rest_length=0.9, delay=delay).build()
        )
        expected = 0.1 + (stretched_length() - 0.9 * 0.28) / 0.1
        assert stretched["activation_0.flexor"] == pytest.approx(expected) and 0.2 < expected < 1.0
        moving = leg(reflex="lengthening_speed", gain=5.0, delay=delay).build()
        assert runtime.parameters(moving)["activation_0.flexor"] == 0.1


def stretched_length():
    system = leg().build()
    return float(runtime.mechanics(system).muscle_length("flexor", [0.0]))


@pytest.mark.parametrize("delay", [0.0, 0.03])
@pytest.mark.parametrize("excitation", [0.1, TWITCH])
def test_files_and_copies_give_the_same_bits(tmp_path, excitation, delay):
    system = leg(excitation=excitation, **STRETCH, delay=delay, tendon="rigid").build()
    read = runtime.System.from_file(system.to_file(tmp_path / "leg.json"))
    copy = pickle.loads(pickle.dumps(system))
    assert read.force("flexor").module is copy.force("flexor").module is system.force("flexor").module
    assert end_of(system) == end_of(read) == end_of(copy)


def test_a_file_with_a_run_has_its_past(tmp_path):
    run = runtime.simulate(leg(**STRETCH, delay=0.03).build(), 0.1)
    read = runtime.System.from_file(run.system.to_file(tmp_path / "leg.json"))
    past = (system.force("flexor").signals["delayed_length"](0.07) for system in (read, run.system))
    assert next(past) == next(past) > 0.1


@pytest.mark.parametrize("own", [False, True])
def test_files_with_reflexes_of_a_user(tmp_path, own):
    reflex = codegen.compile_reflex(by_length)
    how = dict(own=own, reflex=reflex, gain=2.0, rest=0.25)
    file = leg(**how, delay=0.02).build().to_file(tmp_path / "leg.json")
    wanted = "codegen.compile_muscle\\(hill\\), codegen.compile_reflex" if own else "codegen.compile_reflex"
    with pytest.raises(ModelError, match=f"definitions=\\[{wanted}\\(by_length\\)\\]"):
        runtime.System.from_file(file)
    definitions = [reflex, *[codegen.compile_muscle(hill)] * own]
    read = runtime.System.from_file(file, definitions=definitions)
    assert end_of(read) == end_of(leg(**how, delay=0.02).build())
    with pytest.raises(ModelError, match="cannot be pickled"):
        pickle.dumps(read)


@pytest.mark.parametrize("name", [
    "thelen_as_opensim_reflex_strech_along_i_j", "thelen_as_opensim_reflex_stretch_late_along_i_j",
    "thelen_as_opensim_delayed_along_i_j", "thelen_as_opensim_reflex_stretch_rigid_along_i_j",
])  # fmt: skip
def test_names_of_no_muscle_are_unknown(name):
    with pytest.raises(KeyError):
        muscle_module_of(name)
    assert (
        muscle_module_of("thelen_as_opensim_rigid_by_signal_reflex_stretch_delayed_along_i_j").SIGNALS[0]
        == "excitation"
    )


WRONG = [
    (dict(reflex="strech", length_gain=1.0), "unknown reflex 'strech'; did you mean 'stretch'"),
    (dict(reflex=codegen.compile_muscle(hill)), "unknown reflex"),
    (dict(delay=0.05), "delay = 0.05 s is that of a reflex; give reflex"),
    (STRETCH | dict(delay=-0.05), "delay = -0.05 s, must not be below 0 s"),
    (dict(reflex="stretch", length_gain=1.0), "missing speed_gain"),
    (dict(gain=1.0), "unused gain"),
    (dict(reflex="lengthening_speed", gain=-1.0), "gain = -1, must not be below 0"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_what_is_no_reflex_is_refused_by_name(given, message):
    with pytest.raises(ModelError, match=f"muscle 'flexor'.*{message}"):
        leg(**given)
