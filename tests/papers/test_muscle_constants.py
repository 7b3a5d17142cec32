"""Constants and equations of the muscle models of Thelen (2003) and De Groote et al. (2016), as they are quoted: which are right.

There is no transcript of these papers: what they print is known from OpenSim's sources, from the notebook "Muscle modeling" of
Duarte and Watanabe, and from ``sympy.physics.biomechanics``, as ``codegen.muscles`` states.
"""

import numpy as np
import pytest
import sympy as sp
from sympy.physics import biomechanics

from tests.support.muscle_laws import MODULES, outputs

UNIT = dict(max_isometric_force=1.0, optimal_fiber_length=1.0, tendon_slack_length=1.0, pennation_angle_at_optimal=0.0)
THELEN, DE_GROOTE = MODULES["thelen_as_published"], MODULES["de_groote_as_published"]
RIGHT = MODULES["de_groote_as_opensim"]


def rigid(module, length, velocity=0.0):
    """Outputs of a fully active fibre with this normalised length and velocity."""
    return outputs(module, "rigid", **UNIT, activation=1.0, length=1 + length, length_dot=10 * velocity)


def tendon_force(module, strain):
    """Force of a tendon with this strain, in a law whose state is the length of the fibre."""
    return outputs(module, "law", **UNIT, activation=1.0, length=2 + strain, fiber_length=1.0)["tension"]


def test_the_toe_of_thelen_is_rounded():
    """Equal slopes at the end of the toe and the force 1 at the strain e0 give 0.60862 e0 and 1.7119 / e0."""
    toe = 99 * np.exp(3) / (166 * np.exp(3) - 67)
    assert round(toe, 3) == 0.609 and round(0.67 / (1 - toe), 3) == 1.712
    assert tendon_force(THELEN, 0.04) == pytest.approx(0.33 + 1.712 * (1 - 0.609), rel=1e-14)
    assert tendon_force(MODULES["thelen_as_opensim"], 0.04) == pytest.approx(1.0, rel=1e-14)


def test_a_slack_tendon_and_a_short_passive_fibre_of_thelen_push_as_printed():
    assert tendon_force(THELEN, -0.01) < -0.005 and tendon_force(MODULES["thelen_as_opensim"], -0.01) == 0.0
    assert rigid(THELEN, 0.5)["passive_fiber_force"] < -0.005
    assert rigid(MODULES["thelen_as_opensim"], 0.5)["passive_fiber_force"] == 0.0


def test_force_over_velocity_of_thelen_has_half_the_slope_where_the_fibre_lengthens():
    slopes = [(rigid(THELEN, 1.0, v)["active_fiber_force"] - 1) / v for v in (-1e-7, 1e-7)]
    assert slopes[1] == pytest.approx(2 * slopes[0], rel=1e-5) and slopes[0] == pytest.approx(5, rel=1e-5)


def curve_of_sympy(name):
    """A curve of ``sympy.physics.biomechanics`` as a function of numbers."""
    x = sp.Symbol("x")
    return sp.lambdify(x, getattr(biomechanics, f"{name}DeGroote2016").with_defaults(x).doit())


def test_curves_of_de_groote_are_those_of_sympy():
    active, passive = curve_of_sympy("FiberForceLengthActive"), curve_of_sympy("FiberForceLengthPassive")
    speed, tendon = curve_of_sympy("FiberForceVelocity"), curve_of_sympy("TendonForceLength")
    for length, velocity in zip(np.linspace(0.4, 1.7, 14), np.linspace(-1, 1, 14), strict=True):
        found = rigid(DE_GROOTE, length, velocity)
        assert found["active_fiber_force"] == pytest.approx(active(length) * speed(velocity), abs=1e-14)
        assert found["passive_fiber_force"] == pytest.approx(passive(length), abs=1e-14)
        stretch = 1 + (length - 0.4) / 20
        given = dict(
            tendon_stiffness=33.93669377311689, normalized_tendon_force=tendon(stretch), length=2.0, activation=1.0
        )
        assert outputs(DE_GROOTE, "law", **UNIT, **given)["tendon_length"] == pytest.approx(stretch, abs=1e-14)


def test_constants_of_de_groote_miss_their_points():
    """They are rounded; those of OpenSim meet the points."""
    at_rest, right = rigid(DE_GROOTE, 1.0), rigid(RIGHT, 1.0)
    assert at_rest["active_fiber_force"] - 1 == pytest.approx(-0.00355, abs=1e-5)
    assert abs(rigid(DE_GROOTE, 1.0, -1.0)["active_fiber_force"]) > 1e-3
    assert right["active_fiber_force"] == pytest.approx(1.0, abs=1e-12)
    assert rigid(RIGHT, 1.0, -1.0)["active_fiber_force"] == pytest.approx(0.0, abs=1e-12)
    slack = outputs(DE_GROOTE, "law", **UNIT, activation=1.0, length=2.0, normalized_tendon_force=0.0)
    assert slack["tendon_length"] == pytest.approx(1.00138, abs=1e-5)
    assert 0.2 * np.exp(35 * 0.005) - 0.25 == pytest.approx(-0.0118, abs=1e-4)


def test_the_tendon_of_sympy_has_the_force_one_at_another_strain_than_its_documentation_says():
    force = curve_of_sympy("TendonForceLength")
    assert force(1.049) == pytest.approx(1.0, abs=1e-12) and force(1.05) == pytest.approx(1.043, abs=1e-3)


def test_the_inverse_of_force_over_velocity_lacks_a_constant_in_the_supplement():
    """OpenSim's sources say that - d3 is missing before the division by d2; the inverse is one only with it."""
    d1, d2, d3, d4 = -0.318, -8.149, -0.374, 0.886
    for velocity in (-0.8, -0.1, 0.3):
        force = d1 * np.log(d2 * velocity + d3 + np.sqrt((d2 * velocity + d3) ** 2 + 1)) + d4
        assert (np.sinh((force - d4) / d1) - d3) / d2 == pytest.approx(velocity, abs=1e-13)
        assert np.sinh((force - d4) / d1) / d2 == pytest.approx(velocity + d3 / d2, abs=1e-13)


def test_the_bells_of_the_active_curve_have_squared_denominators():
    """By OpenSim's sources the square is missing in the supplement; without it, the force at the optimal length is far from 1."""
    rows = ((0.814, 1.06, 0.162, 0.0633), (0.433, 0.717, -0.0299, 0.2), (0.1, 1.0, 0.354, 0.0))
    right, printed = (
        sum(b1 * np.exp(-((1 - b2) ** 2) / (2 * (b3 + b4) ** power)) for b1, b2, b3, b4 in rows) for power in (2, 1)
    )
    assert right == pytest.approx(1.0, abs=6e-3) and abs(printed - 1) > 0.1
