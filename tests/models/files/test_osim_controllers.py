"""Controllers of OpenSim files: excitations over time and by reflexes, in the built system, and against OpenSim's controls."""

import json
from pathlib import Path

import numpy as np
import pytest

import models
import runtime
from runtime.jit.python_code import with_arrays
from runtime.system.force_building import look_up_tables
from runtime.system.reference import reference, states_with_ground
from tests.support import osim_muscles as osim
from tests.support.landing_model import unlocked
from tests.support.paths import shared_file

OPENSIM = json.loads(Path(osim.__file__).with_name("opensim_controllers.json").read_text())
ENABLED = ("Reflexes", "R-inverter-controls", "R-everter-controls")
TWO = osim.point("pelvis", "0.02 0 0.02") + osim.point("foot", "0.1 0 0.02")
SLACK = "<tendon_slack_length>0.5</tendon_slack_length><optimal_fiber_length>0.3</optimal_fiber_length>"
STEP = (
    "<StepFunction><transition_start_time>0.1</transition_start_time><transition_end_time>0.2</transition_end_time>"
    "<start_value>0.1</start_value><end_value>0.5</end_value></StepFunction>"
)
SPLINE = "<SimmSpline><x>0 0.1 0.2 0.4</x><y>0.1 0.3 0.2 0.25</y></SimmSpline>"
SINE = "<Sine><amplitude>0.1</amplitude><offset>0.3</offset></Sine>"


def constant(value):
    return f"<Constant><value>{value}</value></Constant>"


def prescribed(name, actuators, *functions, enabled="true", more=""):
    return (
        f'<PrescribedController name="{name}"><enabled>{enabled}</enabled><actuator_list>{actuators}</actuator_list>{more}'
        f'<FunctionSet name="ControlFunctions"><objects>{"".join(functions)}</objects></FunctionSet></PrescribedController>'
    )


def toy(name, actuators, gain=0.85, enabled="true"):
    return (
        f'<ToyReflexController name="{name}"><enabled>{enabled}</enabled><actuator_list>{actuators}</actuator_list>'
        f"<gain>{gain}</gain></ToyReflexController>"
    )


def leg(*controllers, names="abc"):
    """The leg with muscles a, b and c, and these controllers."""
    text = osim.leg("".join(osim.muscle(name, TWO, more=SLACK) for name in names))
    held = f'<ControllerSet name="controllerset"><objects>{"".join(controllers)}</objects></ControllerSet>'
    return text.replace("</Model>", f"{held}</Model>")


def excitations(reading, times=(0.0,)):
    """Excitations (times,) of the muscles of a reading at rest, and the gains of their reflexes."""
    found, gains = {}, {}
    for force in reading.build().forces:
        if "activation" not in force.outputs:
            continue
        given = force.signals.get("excitation", force.values.get("excitation"))
        found[force.name] = np.array([float(given(t) if callable(given) else given) for t in times])
        if "reflex_lengthening_speed" in force.kind:
            gains[force.name] = force.values["gain"]
    return found, gains


def left_out(reading):
    return {name: one.reason for one in reading.left_out if one.sort == "controllers" for name in one.names}


def test_what_controllers_give_adds_up(read):
    """Constants and a step over time, and gains of reflexes; a muscle without a controller keeps its default activation."""
    text = leg(
        prescribed("one", "a b", constant(0.2), STEP), prescribed("two", "b", constant(0.05)), toy("stretch", "b a"),
        toy("more", "/forceset/a", 0.4), prescribed("off", "a", constant(0.7), enabled="false"),
    )  # fmt: skip
    reading = read(text, ignore="couplers", muscles=True)
    found, gains = excitations(reading, (0.0, 0.15, 3.0))
    assert found["a"] == pytest.approx([0.2] * 3) and found["b"] == pytest.approx([0.15, 0.35, 0.55])
    assert found["c"] == pytest.approx([0.05] * 3) and gains == pytest.approx({"a": 1.25, "b": 0.85})
    start = runtime.parameters(reading.build())
    assert [start[f"activation_0.{name}"] for name in "abc"] == [0.05] * 3, "the default activation"
    assert left_out(reading) == {"off": "not enabled, or not chosen by controllers="}


def test_controllers_are_chosen_by_name(read):
    text = leg(toy("stretch", "ALL"), prescribed("off", "a c", constant(0.7), SPLINE, enabled="false"))
    chosen = read(text, ignore="couplers", muscles=True, controllers="off")
    found, gains = excitations(chosen, (0.0, 0.1, 0.4))
    assert found["a"] == pytest.approx([0.7] * 3) and found["c"] == pytest.approx([0.1, 0.3, 0.25]) and not gains
    assert set(left_out(chosen)) == {"stretch"}
    none = read(text, ignore="couplers", muscles=True, controllers=False)
    assert excitations(none)[0]["a"] == pytest.approx(0.05) and set(left_out(none)) == {"stretch", "off"}
    every = read(text, ignore="couplers", muscles=True)
    assert excitations(every)[1] == dict.fromkeys("abc", 0.85) and excitations(every)[0]["a"] == 0.0


def test_excitations_that_are_given_replace_controllers(read):
    text = leg(toy("stretch", "a b"), prescribed("one", "a", constant(0.2)))
    found, gains = excitations(read(text, ignore="couplers", muscles={"a": 0.4}))
    assert found == {"a": pytest.approx(0.4)} and not gains


def test_without_muscles_controllers_are_listed(read):
    assert "muscles=True" in left_out(read(leg(toy("stretch", "a")), ignore="couplers"))["stretch"]


NOT_READ = {
    "is not read; give a constant, a spline or a step": prescribed("bad", "a", SINE),
    "has 1 functions for 2 actuators": prescribed("bad", "a b", constant(0.2)),
    "takes its controls from a file": prescribed("bad", "a", constant(0.2), more="<controls_file>c.sto</controls_file>"),
    "sets all actuators": prescribed("bad", "ALL", constant(0.2)),
    "controllers of the kind CorrectionController": '<CorrectionController name="bad"/>',
}  # fmt: skip


@pytest.mark.parametrize("reason", NOT_READ)
def test_a_controller_that_is_not_read_is_left_out_alone(read, reason):
    text = leg(NOT_READ[reason], toy("good", "a"))
    reading = read(text, ignore="couplers", muscles=True)
    assert excitations(reading)[1] == {"a": 0.85}
    assert set(left_out(reading)) == {"bad"} and reason in left_out(reading)["bad"]
    with pytest.raises(runtime.ModelError, match=f"limb.osim: controller 'bad': .*{reason}.*; or leave its name out"):
        read(text, ignore="couplers", muscles=True, controllers=["good", "bad"])


def test_other_refusals(read):
    text = leg(prescribed("one", "a d", STEP, constant(0.1)), prescribed("two", "a", SPLINE))
    with pytest.raises(runtime.ModelError, match="limb.osim: muscle 'a' is set by 2 controllers over time, limit 1"):
        read(text, ignore="couplers", muscles=True)
    assert set(left_out(read(text, ignore="couplers"))) == {"one", "two"}
    reading = read(text, ignore="couplers", muscles=True, controllers=["one"])
    assert "other actuators" in left_out(reading)["one of d"]
    with pytest.raises(runtime.ModelError, match="unknown controller 'tow'; did you mean 'two'"):
        read(text, ignore="couplers", muscles=True, controllers="tow")
    reading = read(leg(prescribed("one", "a", constant(1.5))), ignore="couplers", muscles=True)
    above = [one.reason for one in reading.left_out if one.sort == "muscles"]
    assert above and "excitation = 1.5, must not be above 1" in above[0]


@pytest.mark.parametrize("one", range(len(OPENSIM["controls"])))
def test_controls_of_the_landing_model_are_those_of_opensim(one):
    """With all three controllers, in random states, muscle by muscle; tests/support/opensim_controllers.py made the digits."""
    expected = OPENSIM["controls"][one]
    reading = models.read(shared_file("opensim", "landing", "ToyLandingModel.osim"), muscles=True, controllers=ENABLED)
    system = reading.build()
    mechanics = runtime.mechanics(system)
    q = mechanics.configuration(reading.coordinate_values({k: v for k, (v, _) in expected["coordinates"].items()}))
    u = np.zeros(len(mechanics.rate_names))
    for name, (_, rate) in expected["coordinates"].items():
        u[mechanics.rate_names.index(f"{'.'.join(reading.coordinates[name])}_rate")] = rate
    state = mechanics.state(q, u)
    states = dict(zip(("ground", *system.body_names), states_with_ground(state.y), strict=True))
    compared, active = 0, 0
    for force in system.forces:
        if "activation" not in force.outputs:
            continue
        ends, x, out = [states[body] for body in force.bodies], np.zeros(force.module.SIZE), {}
        reference(force, ends[0], ends[1], x, *ends[2:])
        x[force.module.STATES_PLACE :][: len(force.module.STATES)] = 0.1
        look_up_tables(force, ends, x)
        with_arrays(force.module.evaluate)(*ends, x, out)
        found = out[26 + [name for name, _ in force.module.OUTPUTS].index("excitation")]
        assert found == pytest.approx(expected["controls"][force.name], abs=1e-9), force.name
        compared, active = compared + 1, active + (found > 0.0)
    assert compared >= 25 and active >= 15


def test_a_fall_with_reflexes_is_that_of_opensim():
    """Five muscles of Thelen about the ankle, all by reflexes, two of them co-activated; ankle and foot turn at the start."""
    expected = OPENSIM["fall"]
    reading = models.read(
        shared_file("opensim", "landing", "ToyLandingModel.osim"), muscles=list(expected["tension"]),
        controllers=("Reflexes", "R-everter-controls"),
    )  # fmt: skip
    rates = {".".join(reading.coordinates[name]): rate for name, rate in expected["rates"].items()}
    system = reading.build()
    start, t = runtime.system.displaced(system, rates=rates), expected["t"]
    run = runtime.simulate(system, t, t_eval=[0.0, 0.05, t], initial=start, rtol=1e-10, atol=1e-10)
    assert run.success, run.message
    for name, tension in expected["tension"].items():
        muscle = run.forces[name]
        assert muscle.tension[-1] == pytest.approx(tension, rel=1e-5), name
        assert muscle.activation[-1] == pytest.approx(expected["activation"][name], abs=1e-7), name
    assert max(np.ptp(run.forces[name].excitation) for name in expected["tension"]) > 0.05
    reference_pose = {step.name: step.reference for _, step in reading.description.steps}
    for name, value in expected["coordinate"].items():
        joint, coordinate = reading.coordinates[name]
        found = run.angles[joint].values[coordinate][-1] + reference_pose[name]
        assert found == pytest.approx(value, abs=1e-7), name


@pytest.mark.slow
@pytest.mark.parametrize("name", OPENSIM["landings"])
def test_a_landing_with_all_muscles_is_that_of_opensim(tmp_path, name):
    """Angles of the ankle through impact and peak to 1e-3 degrees.

    Of the 38 muscles that cross a joint which moves 7 have conditional points, of the 70 with both legs free 14.  The digits are
    of an accuracy of 1e-8; from 1e-7 to 1e-9 OpenSim's peaks move by up to 1e-4 degrees.
    """
    expected = OPENSIM["landings"][name]
    text = shared_file("opensim", "landing", "ToyLandingModel.osim").read_text()
    (file := tmp_path / "landing.osim").write_text(unlocked(text) if expected["free"] else text)
    reading = models.read(file, muscles=True, controllers=("Reflexes", *expected["enabled"]))
    system = reading.build()
    assert sum("activation" in force.outputs for force in system.forces) == (70 if expected["free"] else 38)
    run = runtime.simulate(system, expected["t"][-1], t_eval=[0.0, *expected["t"]], rtol=1e-7, atol=1e-7)
    assert run.success, run.message
    zero = {step.name: step.reference for _, step in reading.description.steps}
    for coordinate, wanted in expected["angles"].items():
        joint, own = reading.coordinates[coordinate]
        found = np.rad2deg(run.angles[joint].values[own][1:] + zero[coordinate])
        assert np.abs(found - wanted).max() < 1e-3, coordinate
        assert found.max() == pytest.approx(max(wanted), abs=2e-4)
    assert max(expected["angles"]["subtalar_angle_r"]) > 40.0, "the ankle inverts"
