"""Reflexes: excitations of muscles that follow from their own length and lengthening speed.

A reflex is a function of scalars.  Its arguments are, in this order,

    length         of the path, from origin to insertion [m]
    length_dot     its rate, positive where the path lengthens [m/s]
    excitation     that the muscle is given [1]; may be left out
    constants      all others; a number in the signature is the default, and one that has the name of a constant of the muscle's
                   law, such as optimal_fiber_length, is this constant

and it returns the excitation [1], or, without this argument, what it adds to the one that is given, in which case the sum is
bounded to 0 and 1.  With a delay, length and rate are those of the time before.  ``ramp`` and ``step`` select between pieces.

To add a reflex, add a function here and run ``python -m codegen``; ``codegen.compile_reflex`` compiles one of a study.  A
docstring has a line for each constant, with its unit and its bounds; ``described`` adds those below.
"""

from __future__ import annotations

from codegen.compiler.calculus import Expr
from codegen.compiler.declarations import described
from codegen.compiler.force_calculus import ramp

CONSTANTS = """
optimal_fiber_length : of the muscle [m], 0 < optimal_fiber_length
tendon_slack_length : of the muscle [m], 0 < tendon_slack_length
max_contraction_velocity : of the muscle, optimal fibre lengths in a second [1/s], 0 < max_contraction_velocity
gain : excitation at a lengthening speed of the maximum contraction velocity [1], 0 <= gain
length_gain : excitation by the stretch in optimal fibre lengths [1], 0 <= length_gain
speed_gain : excitation by the lengthening speed in maximum contraction velocities [1], 0 <= speed_gain
normalized_rest_length : where a stretch begins, by optimal fibre and slack tendon in a row [1], 0 <= normalized_rest_length
normalized_speed_threshold : where a speed begins to count, in maximum contraction velocities [1], 0 <= threshold
"""


@described(CONSTANTS)
def lengthening_speed(
    length: Expr, length_dot: Expr, optimal_fiber_length: Expr, max_contraction_velocity: Expr, gain: Expr
) -> Expr:
    """The speed at which the path lengthens, by the maximum contraction velocity; none where it shortens.

    Source: ToyReflexController of OpenSim 4.6 (opensim-org/opensim-core), which does not bound the excitation.
    """
    return gain * ramp(length_dot) / (optimal_fiber_length * max_contraction_velocity)


@described(CONSTANTS)
def lengthening_speed_as_opensim(
    length: Expr,
    length_dot: Expr,
    excitation: Expr,
    optimal_fiber_length: Expr,
    max_contraction_velocity: Expr,
    gain: Expr,
) -> Expr:
    """ToyReflexController of OpenSim 4.6: as ``lengthening_speed``, but the excitation may be above 1, as after an impact."""
    return excitation + gain * ramp(length_dot) / (optimal_fiber_length * max_contraction_velocity)


@described(CONSTANTS)
def stretch(
    length: Expr, length_dot: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, max_contraction_velocity: Expr,
    length_gain: Expr, speed_gain: Expr, normalized_rest_length: Expr = 1, normalized_speed_threshold: Expr = 0,
) -> Expr:  # fmt: skip
    """Length and lengthening speed of the path, each above a threshold.

    Source: MusclePathStretchController of DeMers (github.com/msdemers/opensim-reflex-controllers), whose threshold of the speed
    is 0.
    """
    fastest = optimal_fiber_length * max_contraction_velocity
    rest = normalized_rest_length * (optimal_fiber_length + tendon_slack_length)
    speed = ramp(length_dot / fastest - normalized_speed_threshold)
    return length_gain * ramp(length - rest) / optimal_fiber_length + speed_gain * speed
