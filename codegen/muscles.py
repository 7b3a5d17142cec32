"""Muscles: the force of a muscle with its tendon, from the length of its path, the rate of this length and the excitation.

A law is a function of scalars.  Its arguments are, in this order,

    length         of the path, from origin to insertion [m]
    length_dot     its rate, positive where the path lengthens [m/s]
    excitation     [1], from 0 to 1
    states         each argument whose name is a key of the returned ``rates``
    named          an operator, which may be left out: named(x) is x as a statement of its own, which keeps expressions short
    constants      all others; a number in the signature is the default

and it returns by name

    tension        by which the tendon pulls at both ends of the path [N]
    energy         stored in the tendon and the passive fibre [J]:  energy' = tension length' + fiber_power, which is checked
                   where the law reports fiber_power
    rates          a mapping from the names of the states to their rates
    rigid          optional: the same mapping for a tendon that keeps its slack length; the activation is then the only state

and any other names as reported quantities.  With an elastic tendon, the second state is the length of the fibre or, in the law of
De Groote et al., the force of the tendon.  A muscle at rest is in equilibrium where its rate is 0.  Without activation dynamics,
the activation is the excitation.

Each law is stated twice, since OpenSim 4.6 computes others than the papers: ``as_published`` and ``as_opensim``.  ``Curves`` is
what the laws differ in, ``_tendon_and_fibre`` and ``_fibre_alone`` put the parts together.  ``ramp`` and ``step`` select between
pieces of a curve.  The curves of Millard et al., quintic Bezier curves x(u), y(u), are exact, and no tables: ``corner`` is u at a
given x, and, since a x + b y is such a curve as well, at the equilibrium of a damped fibre (``codegen.compiler.corners``).

To add a law, add a function here and run ``python -m codegen``; ``codegen.compile_muscle`` compiles one of a study.  A docstring
has a line for each constant, state and reported quantity, with its unit and its bounds; ``described`` adds those below.

Sources: Thelen (2003), J Biomech Eng 125:70, doi 10.1115/1.1531112, as quoted in OpenSim's sources and in the notebook "Muscle
modeling" of Duarte and Watanabe (github.com/BMClab/BMC).  Millard et al. (2013), J Biomech Eng 135:021005, doi 10.1115/1.4023390,
as quoted in OpenSim's sources and in the port of its first author (mjhmilla/Millard2012EquilibriumMuscleMatlabPort).
De Groote et al. (2016), Ann Biomed Eng 44:2922, doi 10.1007/s10439-016-1591-9, as quoted by ``sympy.physics.biomechanics`` and in
the code of its authors (KULeuvenNeuromechanics/MuscleRedundancySolver).  OpenSim 4.6: opensim-org/opensim-core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from sympy import Dummy, Float, Integer, Rational, asin, diff, exp, log, sin, sinh, sqrt, sympify, tanh

from codegen.compiler.calculus import Expr
from codegen.compiler.corners import area, corner, passed, point, ways
from codegen.compiler.declarations import described, taking_defaults
from codegen.compiler.force_calculus import ramp, step

Parts = dict[str, Any]
Curve = Callable[[Expr], Expr]
Operator = Callable[[Any], Any]

EMPTY = Float("1e-12")  # of the optimal length: a fibre of the length 0, of which no angle is undefined

CONSTANTS = """
max_isometric_force : of the fibre at its optimal length [N], 0 < max_isometric_force
optimal_fiber_length : [m], 0 < optimal_fiber_length
tendon_slack_length : [m], 0 < tendon_slack_length
pennation_angle_at_optimal : between fibre and tendon at the optimal length [rad], 0 <= pennation_angle_at_optimal <= 1.57
max_contraction_velocity : optimal fibre lengths in a second [1/s], 0 < max_contraction_velocity
activation_time_constant : [s], 0 < activation_time_constant
deactivation_time_constant : [s], 0 < deactivation_time_constant
activation_dynamics_smoothing : steepness of the change between both time constants [1], 0 < activation_dynamics_smoothing
minimum_activation : [1], 0 <= minimum_activation <= 1
maximum_pennation_angle : at which the fibre stops shortening [rad], 0 < maximum_pennation_angle <= 1.5707963267948966
fiber_damping : damping force at the maximum velocity by the maximum isometric force [1], 0 <= fiber_damping
fmax_tendon_strain : of the tendon at the maximum isometric force [1], 0 < fmax_tendon_strain
fmax_muscle_strain : of the passive fibre at the maximum isometric force [1], 0 < fmax_muscle_strain
kshape_active : shape of the active curve of force over length [1], 0 < kshape_active
kshape_passive : shape of the passive curve of force over length [1], 0 < kshape_passive
af : shape of the curve of force over velocity [1], 0 < af
flen : greatest force of a lengthening fibre by the isometric one [1], 1 < flen
fv_linear_extrap_threshold : share of flen above which force over velocity is linear [1], 0 < share <= 0.999999
active_force_width_scale : of the active curve of force over length [1], 1 <= active_force_width_scale
passive_fiber_strain_at_one_norm_force : of the passive fibre at the maximum isometric force [1], 0 < strain
tendon_strain_at_one_norm_force : of the tendon at the maximum isometric force [1], 0 < strain
tendon_stiffness : shape of the exponential curve of the tendon, kT [1], 0 < tendon_stiffness
min_norm_active_fiber_length : start of the active curve, in optimal lengths [1], 0 < length
transition_norm_fiber_length : from its steep to its shallow ascending limb [1], 0 < length <= 0.95
max_norm_active_fiber_length : its end [1], 1.1 <= length
shallow_ascending_slope : [1], 0 <= slope
minimum_value : of the active curve at and beyond both ends [1], 0 <= value <= 0.5
concentric_slope_at_vmax : of force over velocity at the maximum shortening velocity [1], 0 <= slope
concentric_slope_near_vmax : at 0.9 of it [1], 0 < slope <= 1
isometric_slope : at rest [1], 1 < slope
eccentric_slope_near_vmax : at 0.9 of the maximum lengthening velocity [1], 0 < slope
eccentric_slope_at_vmax : at the maximum lengthening velocity [1], 0 <= slope
max_eccentric_velocity_force_multiplier : force there by the isometric one [1], 1 < multiplier
concentric_curviness : of force over velocity of a shortening fibre [1], 0 <= curviness <= 1
eccentric_curviness : of a lengthening fibre [1], 0 <= curviness <= 1
passive_fiber_strain_at_zero_force : at which the passive fibre begins to resist [1], -1 <= strain
passive_fiber_stiffness_at_low_force : slope of the passive curve after its toe [1], 0 < stiffness
passive_fiber_stiffness_ratio : slope at one norm force by the mean slope up to it [1], 1 < ratio
passive_fiber_curviness : [1], 0 <= curviness <= 1
tendon_stiffness_ratio : slope of the tendon's curve at one norm force by the mean slope up to it [1], 1 < ratio
tendon_norm_force_at_toe_end : [1], 0 < force <= 0.999999
tendon_curviness : [1], 0 <= curviness <= 1
"""
REPORTED = """
activation : [1], 0 <= activation <= 1
tension : [N]
energy : [J]
fiber_length : [m], 0 <= length
fiber_velocity : positive where the fibre lengthens [m/s]
pennation_angle : [rad]
tendon_length : [m]
active_fiber_force : along the fibre [N]
passive_fiber_force : along the fibre, elastic and damping [N]
fiber_power : that the active and the damping force of the fibre give [W]
normalized_fiber_length : by the optimal length [1]
normalized_fiber_velocity : by the maximum contraction velocity [1]
normalized_tendon_force : by the maximum isometric force [1]
"""


@dataclass(frozen=True)
class Curves:
    """Curves in which the laws differ, normalised: lengths by the optimal or the slack one, forces by the isometric one.

    velocity : of the fibre, from its active and damping force and its strength, which is the activation times ``active``
    force : the active one, from the velocity of the fibre and its strength
    """

    active: Curve
    passive: Curve
    passive_energy: Curve
    tendon: Curve
    tendon_energy: Curve
    velocity: Callable[[Expr, Expr], Expr]
    force: Callable[[Expr, Expr], Expr]


@dataclass(frozen=True)
class Muscle:
    """Constants of every muscle; damping by ``force``, and the length at which the fibre stops shortening, if there is one."""

    named: Operator
    force: Expr
    optimal: Expr
    slack: Expr
    pennation: Expr
    velocity: Expr
    damping: Expr = 0
    shortest: Expr | None = None

    @property
    def width(self) -> Expr:
        """Distance of the fibre's ends across the tendon, which is constant."""
        return self.optimal * sin(self.pennation)

    @property
    def fastest(self) -> Expr:
        """The maximum contraction velocity [m/s]."""
        return self.velocity * self.optimal


class Now(NamedTuple):
    """The path, the activation within its bounds, and its rate."""

    length: Expr
    length_dot: Expr
    activation: Expr
    rate: Expr


@described(CONSTANTS, REPORTED)
def thelen_as_published(
    length: Expr, length_dot: Expr, excitation: Expr, activation: Expr, fiber_length: Expr, named: Operator,
    max_isometric_force: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, pennation_angle_at_optimal: Expr,
    max_contraction_velocity: Expr = 10, activation_time_constant: Expr = 0.015, deactivation_time_constant: Expr = 0.05,
    fmax_tendon_strain: Expr = 0.04, fmax_muscle_strain: Expr = 0.6, kshape_active: Expr = 0.45, kshape_passive: Expr = 5,
    af: Expr = 0.25, flen: Expr = 1.4,
) -> Parts:  # fmt: skip
    """Thelen (2003), with its values of young adults.

    Below their slack lengths tendon and passive fibre push a little, as printed; a rigid tendon longer than the path is slack.
    Singular when the activation is 0, and when the active force reaches -af or flen times the isometric one.
    """
    muscle = Muscle(
        named, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle_at_optimal,
        max_contraction_velocity,
    )  # fmt: skip
    gain = Rational(1, 4) + Rational(3, 4) * activation  # of the maximum contraction velocity
    toe, slope = Float("0.609") * fmax_tendon_strain, Float("1.712") / fmax_tendon_strain
    curves = Curves(
        lambda length: exp(-((length - 1) ** 2) / kshape_active),
        *_elastic(lambda length: _exponential(length - 1, fmax_muscle_strain, kshape_passive)),
        *_elastic(lambda length: _thelen_tendon(length - 1, toe, slope)),
        lambda force, strength: gain * _thelen_velocity(force, strength, af, flen),
        lambda velocity, strength: _thelen_force(velocity / gain, strength, af, flen),
    )
    rate = _first_order(excitation, activation, activation_time_constant, deactivation_time_constant)
    return _tendon_and_fibre(muscle, curves, Now(length, length_dot, activation, rate), fiber_length)


@described(CONSTANTS, REPORTED)
def thelen_as_opensim(
    length: Expr, length_dot: Expr, excitation: Expr, activation: Expr, fiber_length: Expr, named: Operator,
    max_isometric_force: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, pennation_angle_at_optimal: Expr,
    max_contraction_velocity: Expr = 10, activation_time_constant: Expr = 0.015, deactivation_time_constant: Expr = 0.05,
    minimum_activation: Expr = 0.01, maximum_pennation_angle: Expr = 1.4706289056333368,
    fmax_tendon_strain: Expr = 0.04, fmax_muscle_strain: Expr = 0.6, kshape_active: Expr = 0.45, kshape_passive: Expr = 5,
    af: Expr = 0.25, flen: Expr = 1.4, fv_linear_extrap_threshold: Expr = 0.95,
) -> Parts:  # fmt: skip
    """Thelen2003Muscle of OpenSim 4.6, with its defaults.

    Other than in the paper, the toe of the tendon joins its line smoothly, tendon and passive fibre do not push, the velocity is
    linear in the force below 0 and near flen, the activation is at least minimum_activation, and the fibre stops shortening,
    without force, at maximum_pennation_angle.  OpenSim's muscle has no rigid tendon of its own: its static optimisation takes the
    active force of one, which does not push, and neglects the passive force, which is here part of the tension.  Without
    pennation the fibre stops at the length 0.
    """
    muscle = Muscle(
        named, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle_at_optimal,
        max_contraction_velocity,
        shortest=_shortest(optimal_fiber_length, pennation_angle_at_optimal, maximum_pennation_angle, EMPTY),
    )  # fmt: skip
    active = _within(activation, minimum_activation, 1)
    gain = Rational(1, 4) + Rational(3, 4) * active
    toe = (
        fmax_tendon_strain * 99 * exp(3) / (166 * exp(3) - 67)
    )  # from where a line with its slope leads to the force 1
    slope = Rational(67, 100) / (fmax_tendon_strain - toe)

    def velocity(force: Expr, strength: Expr) -> Expr:
        end = fv_linear_extrap_threshold * flen * strength
        return gain * _continued(lambda f: _thelen_velocity(f, strength, af, flen), force, 0, end)

    def force(velocity: Expr, strength: Expr) -> Expr:
        end = _thelen_velocity(fv_linear_extrap_threshold * flen, 1, af, flen)
        return _continued(lambda v: _thelen_force(v, strength, af, flen), _at_least(velocity / gain, -1), -1, end)

    curves = Curves(
        lambda length: exp(-((length - 1) ** 2) / kshape_active),
        *_elastic(lambda length: _exponential(ramp(length - 1), fmax_muscle_strain, kshape_passive)),
        *_elastic(lambda length: _thelen_tendon(ramp(length - 1), toe, slope)),
        velocity,
        force,
    )
    rate = _first_order(excitation, active, activation_time_constant, deactivation_time_constant)
    return _tendon_and_fibre(muscle, curves, Now(length, length_dot, active, rate), fiber_length)


def _millard(
    m: Muscle,
    min_norm_active_fiber_length: Expr = 0.4441, transition_norm_fiber_length: Expr = 0.73,
    max_norm_active_fiber_length: Expr = 1.8123, shallow_ascending_slope: Expr = 0.8616, minimum_value: Expr = 0,
    concentric_slope_at_vmax: Expr = 0, concentric_slope_near_vmax: Expr = 0.25, isometric_slope: Expr = 5,
    eccentric_slope_at_vmax: Expr = 0, eccentric_slope_near_vmax: Expr = 0.15,
    max_eccentric_velocity_force_multiplier: Expr = 1.4, concentric_curviness: Expr = 0.6, eccentric_curviness: Expr = 0.9,
    passive_fiber_strain_at_zero_force: Expr = 0, passive_fiber_strain_at_one_norm_force: Expr = 0.7,
    passive_fiber_stiffness_at_low_force: Expr = 0.2, passive_fiber_stiffness_ratio: Expr = 2,
    passive_fiber_curviness: Expr = 0.75,
    tendon_strain_at_one_norm_force: Expr = 0.049, tendon_stiffness_ratio: Expr = 1.375,
    tendon_norm_force_at_toe_end: Expr = 0.6666666666666666, tendon_curviness: Expr = 0.5,
) -> Curves:  # fmt: skip
    """The curves from their control values; the equilibrium  strength f_V(v) + damping v = force  is a point of the curve f_V."""
    active = _active_curve(
        m.named, min_norm_active_fiber_length, transition_norm_fiber_length, max_norm_active_fiber_length,
        shallow_ascending_slope, minimum_value,
    )  # fmt: skip
    passive = _passive_curve(
        m.named, passive_fiber_strain_at_zero_force, passive_fiber_strain_at_one_norm_force,
        passive_fiber_stiffness_at_low_force, passive_fiber_stiffness_ratio, passive_fiber_curviness,
    )  # fmt: skip
    tendon = _tendon_curve(
        m.named, tendon_strain_at_one_norm_force, tendon_stiffness_ratio, tendon_norm_force_at_toe_end, tendon_curviness
    )
    velocity = _velocity_curve(
        m.named, concentric_slope_at_vmax, concentric_slope_near_vmax, isometric_slope, eccentric_slope_near_vmax,
        eccentric_slope_at_vmax, max_eccentric_velocity_force_multiplier, concentric_curviness, eccentric_curviness,
    )  # fmt: skip
    return Curves(
        active.value, passive.value, passive.energy, tendon.value, tendon.energy,
        lambda force, strength: velocity.place(force, m.damping, strength),
        lambda v, strength: strength * velocity.value(v),
    )  # fmt: skip


@described(CONSTANTS, REPORTED)
@taking_defaults(_millard)
def millard_as_published(
    length: Expr, length_dot: Expr, excitation: Expr, activation: Expr, fiber_length: Expr, named: Operator,
    max_isometric_force: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, pennation_angle_at_optimal: Expr,
    max_contraction_velocity: Expr = 10, activation_time_constant: Expr = 0.01, deactivation_time_constant: Expr = 0.04,
    fiber_damping: Expr = 0.1,
    **curves: Expr,
) -> Parts:  # fmt: skip
    """Millard et al. (2013), damped equilibrium, with the control values of OpenSim's curves.

    A rigid tendon longer than the path is slack.
    a f_L(l) f_V(v) + f_PE(l) + fiber_damping v = f_T / cos(pennation_angle).  Its undamped equilibrium has fiber_damping 0,
    minimum_value 0.1 and slopes above 0 at both maximum velocities, in OpenSim half of the slopes near them; it is singular when
    the activation is 0.
    """
    muscle = Muscle(
        named, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle_at_optimal,
        max_contraction_velocity, damping=fiber_damping,
    )  # fmt: skip
    rate = _first_order(excitation, activation, activation_time_constant, deactivation_time_constant)
    return _tendon_and_fibre(
        muscle, _millard(muscle, **curves), Now(length, length_dot, activation, rate), fiber_length
    )


@described(CONSTANTS, REPORTED)
@taking_defaults(_millard)
def millard_as_opensim(
    length: Expr, length_dot: Expr, excitation: Expr, activation: Expr, fiber_length: Expr, named: Operator,
    max_isometric_force: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, pennation_angle_at_optimal: Expr,
    max_contraction_velocity: Expr = 10, activation_time_constant: Expr = 0.01, deactivation_time_constant: Expr = 0.04,
    minimum_activation: Expr = 0.01, maximum_pennation_angle: Expr = 1.4706289056333368, fiber_damping: Expr = 0.1,
    **curves: Expr,
) -> Parts:  # fmt: skip
    """Millard2012EquilibriumMuscle of OpenSim 4.6, with its defaults.

    Other than in the paper, the activation is at least minimum_activation, the fibre stops shortening, without force, at the
    start of its active curve or, if it is longer there, at maximum_pennation_angle, and a fibre on a rigid tendon does not push.
    Without damping the constants are those of the undamped equilibrium, as of ``millard_as_published``.
    """
    muscle = Muscle(
        named, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle_at_optimal,
        max_contraction_velocity, damping=fiber_damping,
        shortest=_shortest(
            optimal_fiber_length, pennation_angle_at_optimal, maximum_pennation_angle, curves["min_norm_active_fiber_length"]
        ),
    )  # fmt: skip
    active = _within(activation, minimum_activation, 1)
    rate = _first_order(excitation, active, activation_time_constant, deactivation_time_constant)
    return _tendon_and_fibre(muscle, _millard(muscle, **curves), Now(length, length_dot, active, rate), fiber_length)


@described(CONSTANTS, REPORTED)
def de_groote_as_published(
    length: Expr, length_dot: Expr, excitation: Expr, activation: Expr, normalized_tendon_force: Expr, named: Operator,
    max_isometric_force: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, pennation_angle_at_optimal: Expr,
    max_contraction_velocity: Expr = 10, activation_time_constant: Expr = 0.015, deactivation_time_constant: Expr = 0.06,
    activation_dynamics_smoothing: Expr = 0.1, passive_fiber_strain_at_one_norm_force: Expr = 0.6, tendon_stiffness: Expr = 35,
) -> Parts:  # fmt: skip
    """De Groote et al. (2016), with the constants of its supplement, which are rounded.

    The state is the force of the tendon.  The active force at the optimal length, the one at rest and the force of the tendon at
    its slack length are off by up to 0.012, as printed.  A rigid tendon longer than the path is slack; an elastic one is never,
    since its force is the state.  Singular when the activation is 0.
    """
    muscle = Muscle(
        named, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle_at_optimal,
        max_contraction_velocity,
    )  # fmt: skip
    bells = (("0.814", "1.06", "0.162", "0.0633"), ("0.433", "0.717", "-0.0299", "0.2"), ("0.1", "1", "0.354", "0"))
    curves = Curves(
        _bells(bells),
        *_elastic(lambda length: _exponential(length - 1, passive_fiber_strain_at_one_norm_force, 4)),
        *_elastic(_exponential_tendon(Float("0.995"), Float("0.25"), tendon_stiffness)),
        *_hyperbolic(*map(Float, ("-0.318", "-8.149", "-0.374", "0.886"))),
    )
    rate = _smooth_first_order(
        excitation, activation, activation_time_constant, deactivation_time_constant, activation_dynamics_smoothing
    )
    stretch = Float("0.995") + log(5 * normalized_tendon_force + Float("1.25")) / tendon_stiffness
    return _tendon_force_and_fibre(
        muscle, curves, Now(length, length_dot, activation, rate), normalized_tendon_force, stretch
    )


@described(CONSTANTS, REPORTED)
def de_groote_as_opensim(
    length: Expr, length_dot: Expr, excitation: Expr, activation: Expr, normalized_tendon_force: Expr, named: Operator,
    max_isometric_force: Expr, optimal_fiber_length: Expr, tendon_slack_length: Expr, pennation_angle_at_optimal: Expr,
    max_contraction_velocity: Expr = 10, activation_time_constant: Expr = 0.015, deactivation_time_constant: Expr = 0.06,
    activation_dynamics_smoothing: Expr = 0.1, active_force_width_scale: Expr = 1, fiber_damping: Expr = 0,
    passive_fiber_strain_at_one_norm_force: Expr = 0.6, tendon_strain_at_one_norm_force: Expr = 0.049,
) -> Parts:  # fmt: skip
    """DeGrooteFregly2016Muscle of OpenSim 4.6, with its defaults.

    The state is the force of the tendon.  Other than in the paper, the constants are such that the curves pass through their
    points, the passive force is 0 at 0.2 of the optimal length and not at 1, and the stiffness of the tendon follows from its
    strain.  As in OpenSim's explicit form, the damping is no part of the equilibrium with an elastic tendon.  Other than in
    OpenSim, whose fibre turns over and pushes there, a rigid tendon longer than the path is slack; an elastic one is never, since
    its force is the state.  Singular when the activation is 0.
    """
    muscle = Muscle(
        named, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle_at_optimal,
        max_contraction_velocity, damping=fiber_damping,
    )  # fmt: skip
    bells = (
        ("0.8150671134243542", "1.055033428970575", "0.162384573599574", "0.063303448465465"),
        ("0.433004984392647", "0.716775413397760", "-0.029947116970696", "0.200356847296188"),
        ("0.1", "1", "0.353553390593274", "0"),
    )
    stiffness = log(6) / tendon_strain_at_one_norm_force
    curves = Curves(
        lambda length: _bells(bells)((length - 1) / active_force_width_scale + 1),
        *_elastic(
            lambda length: _exponential(length - 1, passive_fiber_strain_at_one_norm_force, 4, Rational(1, 5) - 1)
        ),
        *_elastic(_exponential_tendon(1, Rational(1, 5), stiffness)),
        *_hyperbolic(*map(Float, ("-0.3211346127989808", "-8.149", "-0.374", "0.8825327733249912"))),
    )
    rate = _smooth_first_order(
        excitation, activation, activation_time_constant, deactivation_time_constant, activation_dynamics_smoothing
    )
    stretch = 1 + log(5 * normalized_tendon_force + 1) / stiffness
    return _tendon_force_and_fibre(
        muscle, curves, Now(length, length_dot, activation, rate), normalized_tendon_force, stretch
    )


def _first_order(excitation: Expr, activation: Expr, rise: Expr, fall: Expr) -> Expr:
    """Rate of the activation.  Source: Thelen (2003), Eqs. (1)-(2)."""
    return _towards(excitation, activation, step(excitation - activation), rise, fall)


def _smooth_first_order(excitation: Expr, activation: Expr, rise: Expr, fall: Expr, smoothing: Expr) -> Expr:
    """Rate of the activation.  Source: De Groote et al. (2016), Eqs. (1)-(2)."""
    rising = (1 + tanh(smoothing * (excitation - activation))) / 2
    return _towards(excitation, activation, rising, rise, fall)


def _towards(excitation: Expr, activation: Expr, rising: Expr, rise: Expr, fall: Expr) -> Expr:
    pace = (1 + 3 * activation) / 2
    return (excitation - activation) * (rising / (rise * pace) + (1 - rising) * pace / fall)


def _shortest(optimal: Expr, pennation: Expr, steepest: Expr, least: Expr) -> Expr:
    """Length at which a fibre stops shortening: at its steepest pennation, or at a least normalised length."""
    return optimal * _at_least(sin(pennation) / sin(steepest), least)


def _tendon_and_fibre(m: Muscle, curves: Curves, now: Now, fiber_length: Expr) -> Parts:
    """Equilibrium of tendon and fibre; state: the length of the fibre."""
    fibre = fiber_length if m.shortest is None else m.named(_at_least(fiber_length, m.shortest))
    cosine, normal = m.named(sqrt(1 - (m.width / fibre) ** 2)), m.named(fibre / m.optimal)
    tendon_length = m.named(now.length - fibre * cosine)
    stretch = m.named(tendon_length / m.slack)
    pull = m.named(curves.tendon(stretch))
    elastic = curves.passive(normal)
    force = m.named(pull / cosine - elastic)
    velocity = m.named(curves.velocity(force, m.named(now.activation * curves.active(normal))))
    if m.shortest is not None:
        free = 1 - (1 - step(fiber_length - m.shortest)) * (1 - step(velocity))
        velocity, force = m.named(free * velocity), m.named(free * force)
    damping, stored = m.damping * velocity, m.slack * curves.tendon_energy(stretch)
    passive = elastic, damping
    parts = _parts(m, curves, now.rate, fibre, tendon_length, velocity, force - damping, passive, pull, stored)
    parts["rates"]["fiber_length"] = parts["fiber_velocity"]
    return {**parts, "rigid": _fibre_alone(m, curves, now)}


def _tendon_force_and_fibre(m: Muscle, curves: Curves, now: Now, pull: Expr, stretch: Expr) -> Parts:
    """Equilibrium of tendon and fibre; state: the force of the tendon, ``pull``, with its normalised length, ``stretch``."""
    stretch = m.named(stretch)
    along = m.named(now.length - m.slack * stretch)
    fibre = m.named(sqrt(m.width**2 + along**2))
    cosine, normal = along / fibre, m.named(fibre / m.optimal)
    elastic = curves.passive(normal)
    force = m.named(pull / cosine - elastic)
    velocity = m.named(curves.velocity(force, now.activation * curves.active(normal)))
    stored = m.slack * curves.tendon_energy(stretch)
    passive = elastic, m.damping * velocity
    parts = _parts(m, curves, now.rate, fibre, m.slack * stretch, velocity, force, passive, pull, stored)
    stretching = (now.length_dot - parts["fiber_velocity"] / cosine) / m.slack
    parts["rates"]["normalized_tendon_force"] = _slope_at(curves.tendon, stretch) * stretching
    return {**parts, "rigid": _fibre_alone(m, curves, now)}


def _fibre_alone(m: Muscle, curves: Curves, now: Now) -> Parts:
    """A fibre on a rigid tendon; where the path is too short for the tendon and the shortest fibre, the tendon is slack.

    One that has a shortest length does not push.
    """
    shortest = EMPTY * m.optimal if m.shortest is None else sqrt(m.shortest**2 - m.width**2)
    along, taut = m.named(_at_least(now.length - m.slack, shortest)), step(now.length - m.slack - shortest)
    fibre = m.named(sqrt(m.width**2 + along**2))
    cosine, normal = along / fibre, m.named(fibre / m.optimal)
    velocity = m.named(taut * now.length_dot * cosine / m.fastest)
    active = m.named(taut * curves.force(velocity, m.named(now.activation * curves.active(normal))))
    elastic, damping = taut * curves.passive(normal), m.damping * velocity
    pull = m.named(active + elastic + damping)
    if m.shortest is not None:
        pull, damping = ramp(pull), damping + ramp(-pull)
    return _parts(
        m, curves, now.rate, fibre, now.length - along, velocity, active, (elastic, damping), pull * cosine, 0
    )


def _parts(
    m: Muscle, curves: Curves, rate: Expr, fibre: Expr, tendon_length: Expr, velocity: Expr, active: Expr,
    passive: tuple[Expr, Expr], pull: Expr, stored: Expr,
) -> Parts:  # fmt: skip
    """What a law returns, from normalised velocity and forces.

    ``passive``: elastic force and damping of the fibre; ``stored``: energy of the tendon by the isometric force [m].
    """
    normal, (elastic, damping) = fibre / m.optimal, passive
    return {
        "tension": m.force * pull,
        "energy": m.force * (stored + m.optimal * curves.passive_energy(normal)),
        "rates": {"activation": rate},
        "fiber_length": fibre,
        "fiber_velocity": m.fastest * velocity,
        "pennation_angle": asin(m.width / fibre),
        "tendon_length": tendon_length,
        "active_fiber_force": m.force * active,
        "passive_fiber_force": m.force * (elastic + damping),
        "fiber_power": -m.force * (active + damping) * m.fastest * velocity,
        "normalized_fiber_length": normal,
        "normalized_fiber_velocity": velocity,
        "normalized_tendon_force": pull,
    }


def _exponential(strain: Expr, at_one: Expr, shape: Expr, at_zero: Expr = 0) -> Expr:
    """Energy of a force that grows exponentially from 0 at the strain ``at_zero`` to 1 at the strain ``at_one``."""
    low = exp(shape * at_zero / at_one)
    rise = at_one / shape * (exp(shape * strain / at_one) - low)
    return (rise - low * (strain - at_zero)) / (exp(shape) - low)


def _thelen_tendon(strain: Expr, toe: Expr, slope: Expr) -> Expr:
    """Energy of a tendon with an exponential toe up to the strain ``toe`` and the force 0.33, and a line from there."""
    curved, straight, force = _at_most(strain, toe), ramp(strain - toe), Rational(33, 100)
    rise = toe / 3 * (exp(3 * curved / toe) - 1) - curved
    return force / (exp(3) - 1) * rise + force * straight + slope / 2 * straight**2


def _thelen_velocity(force: Expr, strength: Expr, af: Expr, flen: Expr) -> Expr:
    """Velocity of a fibre by that of one without load.  Source: Thelen (2003), Eqs. (6)-(7)."""
    lengthening, steep = step(force - strength), (2 + 2 / af) / (flen - 1)
    b = (1 - lengthening) * (strength + force / af) + lengthening * steep * (flen * strength - force)
    return (force - strength) / b


def _thelen_force(velocity: Expr, strength: Expr, af: Expr, flen: Expr) -> Expr:
    """The inverse of ``_thelen_velocity``."""
    lengthening, steep = ramp(velocity), (2 + 2 / af) / (flen - 1)
    shortening = velocity - lengthening
    above = (1 + steep * flen * lengthening) / (1 + steep * lengthening)
    return strength * (1 + shortening) / (1 - shortening / af) * above


class Knot(NamedTuple):
    """A point of a curve, and its slope there."""

    x: Expr
    y: Expr
    slope: Expr


class Found(NamedTuple):
    """Where a sum of both coordinates has a value: on which rounded section of a curve, and how far outside of all."""

    u: Expr  # parameter of the corner
    start: tuple[Expr, Expr]  # the knot where it begins
    ways_x: Sequence[Expr]
    ways_y: Sequence[Expr]
    area: Expr  # below all corners before
    before: Expr  # by which the value is below that of the first knot
    after: Expr  # by which it is above that of the last


@dataclass(frozen=True)
class Smooth:
    """A curve of smooth corners between the lines through its knots, which it continues at both ends.

    Source: Millard et al. (2013), with knots and curviness as in OpenSim's SmoothSegmentedFunctionFactory.
    """

    named: Operator
    knots: Sequence[Knot]
    curviness: Sequence[Expr]  # of each corner, from 0 to 1

    def value(self, x: Expr) -> Expr:
        """The curve at x."""
        at, low, high = self._found(x, 1, 0), self.knots[0], self.knots[-1]
        return at.start[1] + point(at.u, at.ways_y) - low.slope * at.before + high.slope * at.after

    def energy(self, x: Expr) -> Expr:
        """The integral of the curve from its first knot to x."""
        at, low, high = self._found(x, 1, 0), self.knots[0], self.knots[-1]
        outside = high.y * at.after + high.slope / 2 * at.after**2 - low.y * at.before + low.slope / 2 * at.before**2
        return at.area + at.start[1] * point(at.u, at.ways_x) + area(at.u, at.ways_x, at.ways_y) + outside

    def place(self, value: Expr, of_x: Expr, of_y: Expr) -> Expr:
        """The x at which  of_x x + of_y y  has a value."""
        at, low, high = self._found(value, of_x, of_y), self.knots[0], self.knots[-1]
        outside = at.after / (of_x + of_y * high.slope) - at.before / (of_x + of_y * low.slope)
        return at.start[0] + point(at.u, at.ways_x) + outside

    @cache  # noqa: B019  value and energy at one place are of one point; curves are few
    def _found(self, value: Expr, of_x: Expr, of_y: Expr) -> Found:
        """The point at which  of_x x + of_y y  has a value."""
        knots, meetings = self.knots, [_meeting(a, b) for a, b in zip(self.knots, self.knots[1:], strict=False)]
        curviness = [Rational(1, 10) + Rational(4, 5) * c for c in self.curviness]
        sums = [self.named(of_x * knot.x + of_y * knot.y) for knot in knots]
        inside, named = self.named(_within(value, sums[0], sums[-1])), self.named

        def of_corner(items: Sequence[Expr]) -> Expr:
            """The item of the corner that is found."""
            steps = zip(sums[1:], items, items[1:], strict=False)
            return named(items[0] + sum(passed(inside - begin) * (item - before) for begin, before, item in steps))

        (x, y), (x_c, y_c), (x_1, y_1) = (
            tuple(of_corner([p[k] for p in points]) for k in range(2)) for points in (knots[:-1], meetings, knots[1:])
        )
        c, start, end = of_corner(curviness), of_corner(sums[:-1]), of_corner(sums[1:])
        bend = of_corner([of_x * m_x + of_y * m_y for m_x, m_y in meetings]) - start
        return Found(
            named(corner((inside - start) / (end - start), bend / (end - start), c)), (x, y),
            ways(x, x_c, x_1, c), ways(y, y_c, y_1, c), of_corner(self._areas(curviness, meetings)),
            ramp(sums[0] - value), ramp(value - sums[-1]),
        )  # fmt: skip

    def _areas(self, curviness: Sequence[Expr], meetings: Sequence[tuple[Expr, Expr]]) -> list[Expr]:
        """The integral of the curve up to each corner."""
        found = [Integer(0)]
        for a, b, (x, y), c in zip(self.knots, self.knots[1:], meetings, curviness, strict=False):
            own = a.y * (b.x - a.x) + area(Integer(1), ways(a.x, x, b.x, c), ways(a.y, y, b.y, c))
            found.append(found[-1] + own)
        return found[:-1]


def _meeting(a: Knot, b: Knot) -> tuple[Expr, Expr]:
    """Where the lines through two knots meet."""
    x = (b.y - a.y - b.x * b.slope + a.x * a.slope) / (a.slope - b.slope)
    return x, a.y + (x - a.x) * a.slope


def _active_curve(named: Operator, first: Expr, transition: Expr, last: Expr, slope: Expr, least: Expr) -> Smooth:
    """Active force over length: it rises steeply, then by a slope, is 1 at the optimal length, and falls."""
    shoulder, half = Rational(95, 100), Rational(1, 2)  # from it on the curve is flat
    steep = 1 - slope * (shoulder - transition)  # where the steep limb would end
    return Smooth(
        named,
        (
            Knot(first, least, 0),
            Knot((first + transition) / 2, steep / 2, Rational(5, 4) * steep / (transition - first)),
            Knot((transition + shoulder) / 2, (1 + steep) / 2, slope),
            Knot(1, 1, 0),
            Knot((1 + Rational(5, 100) + last) / 2, half, -1 / (last - Rational(110, 100))),
            Knot(last, least, 0),
        ),
        (1,) * 5,
    )


def _passive_curve(named: Operator, zero: Expr, one: Expr, low: Expr, ratio: Expr, curviness: Expr) -> Smooth:
    """Passive force over length, from the strain ``zero`` to 1 at the strain ``one``, after a toe with the slope ``low``."""
    slope = ratio / (one - zero)
    toe = 1 / (10 * slope)
    knots = Knot(1 + zero, 0, 0), Knot(1 + zero + toe, low * toe / 2, low), Knot(1 + one, 1, slope)
    return Smooth(named, knots, (curviness,) * 2)


def _tendon_curve(named: Operator, strain: Expr, ratio: Expr, toe_force: Expr, curviness: Expr) -> Smooth:
    """Force of the tendon over length, a line through 1 at the strain from ``toe_force`` on."""
    slope = ratio / strain
    toe, middle = (1 + strain + (force - 1) / slope for force in (toe_force, toe_force / 2))
    foot = 1 + (toe - 1) / 10
    steepness = toe_force / 2 / (middle - foot)
    knots = Knot(1, 0, 0), Knot((foot + middle) / 2, toe_force / 4, steepness), Knot(toe, toe_force, slope)
    return Smooth(named, knots, (curviness,) * 2)


def _velocity_curve(
    named: Operator, concentric: Expr, near_concentric: Expr, isometric: Expr, near_eccentric: Expr, eccentric: Expr, most: Expr,
    shortening: Expr, lengthening: Expr,
) -> Smooth:  # fmt: skip
    """Force over velocity, from 0 at the velocity -1 over 1 at rest to ``most`` at 1, by its slopes there and at -0.9 and 0.9."""
    near = Rational(9, 10)
    knots = (
        Knot(-1, 0, concentric),
        Knot(-near, (near_concentric + concentric) / 20, near_concentric),
        Knot(0, 1, isometric),
        Knot(near, most - (near_eccentric + eccentric) / 20, near_eccentric),
        Knot(1, most, eccentric),
    )
    return Smooth(named, knots, (shortening, shortening, lengthening, lengthening))


def _bells(constants: Sequence[Sequence[str]]) -> Curve:
    """Sum of curves like Gauss's, whose width depends on the length."""

    def curve(length: Expr) -> Expr:
        rows = [tuple(map(Float, row)) for row in constants]
        return sum(
            height * exp(-(((length - at) / (wide + wider * length)) ** 2) / 2) for height, at, wide, wider in rows
        )

    return curve


def _hyperbolic(height: Expr, steep: Expr, shift: Expr, middle: Expr) -> tuple[Callable[[Expr, Expr], Expr], ...]:
    """The velocity of a force over velocity that is an inverse hyperbolic sine, and the force itself."""

    def velocity(force: Expr, strength: Expr) -> Expr:
        return (sinh((force / strength - middle) / height) - shift) / steep

    def force(velocity: Expr, strength: Expr) -> Expr:
        x = steep * velocity + shift
        return strength * (height * log(x + sqrt(x**2 + 1)) + middle)

    return velocity, force


def _exponential_tendon(at: Expr, less: Expr, stiffness: Expr) -> Curve:
    """Energy of the tendon with the force  0.2 exp(stiffness (l - at)) - less, from the length without force on."""

    def energy(length: Expr) -> Expr:
        slack = at + log(5 * less) / stiffness
        return (exp(stiffness * (length - at)) / 5 - less) / stiffness - less * (length - slack)

    return energy


def _elastic(energy: Curve) -> tuple[Curve, Curve]:
    """The force of an energy, and the energy."""
    return lambda length: _slope_at(energy, length), energy


def _slope_at(curve: Curve, x: Expr) -> Expr:
    t = Dummy("t", real=True)
    return diff(curve(t), t).xreplace({t: sympify(x)})


def _continued(curve: Curve, x: Expr, lower: Expr, upper: Expr) -> Expr:
    """A curve that goes on as a line on both sides."""
    outside = _slope_at(curve, upper) * ramp(x - upper) - _slope_at(curve, lower) * ramp(lower - x)
    return curve(_within(x, lower, upper)) + outside


def _within(x: Expr, lower: Expr, upper: Expr) -> Expr:
    return x + ramp(lower - x) - ramp(x - upper)


def _at_least(x: Expr, lower: Expr) -> Expr:
    return x + ramp(lower - x)


def _at_most(x: Expr, upper: Expr) -> Expr:
    return x - ramp(x - upper)
