"""A leg in the sagittal plane that is driven at the hip and at the toes; its ankle is passive."""

import functools

import codegen
import runtime
from runtime import Signal
from runtime.ensemble import chunk

Y = (0.0, 1.0, 0.0)
ACROSS = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))


def driven_leg_of(name, swing, lift):
    """The builder of a leg whose angles at the hip and at the toes are these functions of time, and the signal of the latter."""
    b = runtime.Builder(name, axes="global")
    b.body("leg", mass=3.0, inertia=(4e-2, 4e-2, 5e-3), r=(0.0, 0.0, -0.2))
    b.body("foot", mass=0.9, inertia=(1e-3, 4e-3, 4e-3), r=(0.06, 0.0, -0.45))
    b.body("toes", mass=0.2, inertia=(1e-4, 2e-4, 2e-4), r=(0.17, 0.0, -0.46))
    b.joint("hip", "revolute", "ground", "leg", point=(0, 0, 0), axis=Y)
    b.joint("ankle", "revolute", "leg", "foot", point=(0, 0, -0.4), axis=Y)
    b.joint("ball", "revolute", "foot", "toes", point=(0.14, 0, -0.46), axis=Y)
    at_hip, at_toes = (Signal.function(f, 0.0, 3.0) for f in (swing, lift))
    b.driver("swing", "guided_angle", "ground", "leg", **ACROSS, theta_t=at_hip)
    b.driver("toe_off", "guided_angle", "foot", "toes", **ACROSS, theta_t=at_toes)
    return b, at_toes


def made(system):
    """The system, with a kernel."""
    codegen.compile_model(system)
    return system


def once_with_kernel(build):
    """A function whose systems are built once; tests of each module that calls it compile the kernel for themselves."""
    built = functools.cache(build)
    return functools.wraps(build)(lambda *given: made(built(*given)))


def one_by_one(monkeypatch):
    """No case with closed loops or drivers runs in lanes."""
    monkeypatch.setattr(chunk, "run_side_by_side", lambda *_: None)
