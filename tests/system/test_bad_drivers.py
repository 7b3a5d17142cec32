"""Bad input to drivers, motors, loads, signals and analyses is refused by name."""

import numpy as np
import pytest

import runtime
from runtime import ModelError, State
from tests.support.refusals import assert_refused
from tests.support.two_bodies import AXES, PLACE, WAVE, two_bodies, two_guided
from tests.support.vectors import X, Y


def driver(kind="guided_angle", body="leg", other="foot", name="d", **values):
    return lambda b: b.driver(name, kind, body, other, **(values or AXES | dict(theta_t=0.0)))


def motor(kind="guided_angle", body="leg", other="foot", name="m", effort=1.0, **values):
    return lambda b: b.motor(name, kind, body, other, effort=effort, **(values or AXES))


def load(body="leg", **values):
    return lambda b: b.load("l", body, **values)


BAD_CALLS = {
    "driver of an unknown kind": (driver("guided"), "driver 'd': unknown kind 'guided'; did you mean 'guided_link'?"),
    "driver of a joint's kind": (driver("revolute"), "driver 'd' (revolute): has no signal to drive it; add it with"),
    "driver of a number": (driver(5), "driver 'd': kind = 5: give text or what a function of codegen, such as compile_joint, "),
    "joint of a driver's kind": (
        lambda b: b.joint("j", "guided_point", "leg", "ground", s_i=(0, 0, 0), **PLACE),
        "joint 'j' (guided_point): driven by x_t, y_t, z_t; add it with Builder.driver",
    ),
    "driver of an unknown body": (driver(body="shin"), "driver 'd' (guided_angle): unknown body 'shin'; the bodies are leg"),
    "driver of the same body": (driver(other="leg"), "joins body 'leg' to itself"),
    "driver of a joint's name": (driver(name="ankle"), "driver 'ankle' exists already"),
    "driver's name": (driver(name="a.b"), "driver name 'a.b': use letters"),
    "missing signal": (driver(**AXES), "driver 'd' (guided_angle): missing theta_t; needs a_i, h_i, b_j, theta_t"),
    "missing vector": (driver(a_i=X, b_j=X, theta_t=0.0), "missing h_i; needs a_i, h_i, b_j, theta_t"),
    "unused value": (driver(**AXES, theta_t=0.0, l=1.0), "unused l; needs a_i, h_i, b_j, theta_t"),
    "axis not of unit length": (driver(a_i=2 * X, h_i=Y, b_j=X, theta_t=0.0), "a_i has the length 2, limit 1 within 1e-09"),
    "axis NaN": (driver(a_i=X * np.nan, h_i=Y, b_j=X, theta_t=0.0), "a_i = [nan, nan, nan] is not finite"),
    "point of two": (driver("guided_point", other="ground", s_i=(0, 0), **PLACE), "s_i has the shape (2,); give 3 numbers"),
    "signal NaN": (driver(**AXES, theta_t=np.nan), "driver 'd' (guided_angle): theta_t = nan: give a runtime.Signal or a finite"),
    "signal of a list": (driver(**AXES, theta_t=[0.0, 1.0]), "theta_t = [0.0, 1.0]: give a runtime.Signal or a finite number"),
    "signal of a function": (driver(**AXES, theta_t=np.sin), "give a runtime.Signal or a finite number"),
    "signal of a truth": (driver(**AXES, theta_t=True), "theta_t = True: give a runtime.Signal or a finite number"),
    "motor of an unknown kind": (motor("engine"), "motor 'm': unknown kind 'engine'"),
    "motor without a coordinate": (
        motor("guided_point", s_i=(0, 0, 0)), "motor 'm' (guided_point): drives no single coordinate; use guided_angle"
    ),
    "motor of a cosine": (motor("cosine_of_angle", a_i=X, b_j=X), "motor 'm' (cosine_of_angle): drives no single coordinate"),
    "motor of a joint's kind": (motor("spherical"), "motor 'm' (spherical): drives no single coordinate"),
    "motor without its target": (motor(**AXES, stiffness=1.0), "motor 'm' (guided_angle): missing theta_t"),
    "motor that drives away": (motor(**AXES, theta_t=0.0, stiffness=-1.0), "stiffness = -1 is negative; give 0 or more"),
    "motor of negative damping": (motor(**AXES, theta_t=0.0, damping=-1.0), "damping = -1 is negative; give 0 or more"),
    "motor's stiffness NaN": (motor(**AXES, theta_t=0.0, stiffness=np.nan), "motor 'm' (guided_angle): stiffness = nan is not"),
    "motor's target NaN": (motor(**AXES, theta_t=np.nan, stiffness=1.0), "theta_t = nan: give a runtime.Signal or a finite"),
    "motor's effort NaN": (motor(effort=np.nan), "effort = nan: give a runtime.Signal or a finite number"),
    "motor's missing vector": (motor(a_i=X, b_j=X), "motor 'm' (guided_angle): missing h_i"),
    "motor of an Euler parameter": (
        motor("euler_parameter", other="ground", w0=0, w1=1, w2=0, w3=0), "(euler_parameter): drives no single coordinate; use"
    ),
    "driver of one body with a second one": (
        driver("guided_point", s_i=(0, 0, 0), **PLACE), "driver 'd' (guided_point): guides 'leg' alone, not 'foot'"
    ),
    "load on a list": (load(["leg"]), "load 'l': body = ['leg']: give text"),
    "motor of an unknown body": (motor(other="shin"), "unknown body 'shin'"),
    "load on the ground": (load("ground", force=(1, 0, 0)), "load 'l': unknown body 'ground'; the bodies are leg, foot"),
    "load on an unknown body": (load("shin"), "load 'l': unknown body 'shin'; the bodies are leg, foot"),
    "load of two": (load(force=(1.0, 0.0)), "load 'l': force = (1.0, 0.0): give three signals or numbers"),
    "load of one": (load(moment=1.0), "load 'l': moment = 1.0: give a sequence of items, each a runtime.Signal or one number"),
    "load NaN": (load(force=(0.0, np.nan, 0.0)), "load 'l': force = nan: give a runtime.Signal or a finite number"),
    "point of text": (load(point="abc"), "load 'l': point = 'abc': give a sequence of items, each a runtime.Signal"),
    "load's axes": (load(axes="foot"), "load 'l': axes = 'foot'; use 'global' or 'body'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_calls_of_the_builder(case):
    call, message = BAD_CALLS[case]
    assert_refused(message, call, two_bodies())


def test_names_of_loads_and_motors_differ():
    b = two_bodies()
    b.load("push", "leg")
    motor(name="push")(b)
    assert_refused("load 'push' exists already", b.load, "push", "leg")
    assert_refused("motor 'push' exists already", motor(name="push"), b)


BAD_ANALYSES = {
    "text": (lambda s, f: f(s, "abc"), "t = 'abc': give a list of times"),
    "nothing": (lambda s, f: f(s, None), "t = None: give a list of times [s]"),
    "no times": (lambda s, f: f(s, []), "t has the shape (0,); give a list of times [s]"),
    "a NaN time": (lambda s, f: f(s, [0.0, np.nan]), "t: time 1 is not finite"),
    "a table of times": (lambda s, f: f(s, [[0.0, 0.1]]), "t has the shape (1, 2)"),
    "times backwards": (lambda s, f: f(s, [0.2, 0.1]), "t must increase from each time to the next; 0.1 s follows 0.2 s"),
    "a time twice": (lambda s, f: f(s, [0.1, 0.1]), "0.1 s follows 0.1 s"),
    "beyond a signal": (lambda s, f: f(s, [0.9, 1.1]), "analysing from 0.9 to 1.1 s, but the signal 'angle.theta_t' of system"),
    "another state": (
        lambda s, f: f(s, [0.0], initial=State(("z",), np.zeros(13))), "the state is of the bodies z, not ",
    ),
    "no state": (lambda s, f: f(s, [0.0], initial="rest"), "initial = 'rest': give a runtime.State"),
}  # fmt: skip


@pytest.mark.parametrize("analysis", [runtime.kinematics, runtime.inverse_dynamics])
@pytest.mark.parametrize("case", BAD_ANALYSES)
def test_bad_calls_of_the_analyses(case, analysis):
    call, message = BAD_ANALYSES[case]
    assert_refused(message, call, two_guided(), analysis)


BAD_BUILDS = [
    (dict(redundant="maybe"), "redundant = 'maybe'; use 'keep' or 'refuse'"),
    (dict(time=np.nan), "build: time = nan is not finite"),
    (dict(time="now"), "build: time = 'now': give one number"),
    (dict(time=1.5), "the initial configuration is taken from 1.5 to 1.5 s, but the signal 'angle.theta_t'"),
]
BAD_LOADS = [
    (dict(joint="knee", on="leg"), "unknown joint 'knee'"),
    (dict(joint="angle", on="foot"), "'angle' is a driver; ask for the load of a joint, or for driven['angle']"),
    (dict(on="ground"), "joint 'ankle' does not act on body 'ground'; it joins 'leg' and 'foot'"),
    (dict(at="knee"), "at = 'knee'; use 'joint', 'centre' or three local components"),
    (dict(at=(0, np.nan, 0)), "is not finite"),
    (dict(axes="knee"), "unknown body or frame 'knee'"),
]


def test_bad_calls_of_build_and_results():
    for build, message in BAD_BUILDS:
        assert_refused(message, two_guided, **build)
    system = two_guided()
    m = runtime.inverse_dynamics(system, [0.0, 0.5])
    for load_of, message in BAD_LOADS:
        assert_refused(message, m.joint_load, **(dict(joint="ankle", on="leg") | load_of))
    assert_refused("assemble: time = 'now': give one number", runtime.assemble, system, system.state, time="now")


def build_with(call):
    b = two_bodies()
    call(b)
    return b.build()


SINGULAR = {
    "driver": (driver(a_i=Y, h_i=Y, b_j=X, theta_t=0.0), "driver 'd' (guided_angle): row angle vanishes in this configuration"),
    "link as printed": (
        driver("cosine_of_link", s_i=(0, 0, 0), a_i=X, h_i=Y, s_j=(-1, 0, 0), beta_t=0.0),
        "driver 'd' (cosine_of_link): row cosine vanishes in this configuration",
    ),
    "motor": (motor(a_i=Y, h_i=Y, b_j=X), "motor 'm' (guided_angle): its coordinate has no gradient in this configuration"),
    "motor's other direction": (motor(a_i=X, h_i=Y, b_j=Y), "motor 'm' (guided_angle): its coordinate has no gradient"),
    "motor of no link": (
        motor("guided_link", s_i=(0, 0, 0), a_i=X, h_i=Y, s_j=(-1, 0, 0)), "motor 'm' (guided_link): its coordinate has no"
    ),
    "motor of a link along its axis": (
        motor("guided_link", s_i=(0, 0, 0), a_i=Y, h_i=X, s_j=(0, 0, 0)), "motor 'm' (guided_link): its coordinate has no"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SINGULAR)
def test_drivers_and_motors_that_are_singular_at_the_start_are_refused_by_name(case):
    call, message = SINGULAR[case]
    assert "it is singular when " in assert_refused(message, build_with, call)


def test_a_motor_of_a_drivers_name_hides_nothing():
    b = two_bodies()
    b.driver("place", "guided_point", "leg", s_i=(0, 0, 0), **PLACE)
    b.driver("turn", "guided_cardan", "leg", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
    b.driver("angle", "guided_angle", "leg", "foot", **AXES, theta_t=WAVE)
    with pytest.raises(ModelError):  # refused here, or else where its span is left
        b.motor("angle", "guided_angle", "leg", "foot", **AXES, effort=1.0)
        runtime.kinematics(b.build(), [0.0, 3.0])
