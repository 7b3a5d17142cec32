"""Which drivers are coordinates, and expressions whose parts get names of their own; on kernels alone."""

import numpy as np
import pytest
import sympy as sp

from codegen import compile_joint
from codegen.basics import between
from codegen.compiler.derive import derive
from tests.support.definitions import named, nested
from tests.support.kernels import Setting, call
from tests.support.modules import JOINT_MODULES
from tests.support.motions import Motion, distance

SEEDS = range(3)


def is_a_coordinate(module, seed):
    """By numbers: one row, one signal, and neither Phi + signal nor D changes with the signal (angles modulo a turn)."""
    if len(module.ROWS) != 1 or len(module.SIGNALS) != 1:
        return False
    rng = np.random.default_rng(seed)
    setting, motion = Setting(module, rng), Motion(rng)
    bodies, values = motion.states(), []
    for value in rng.normal(size=3):
        setting.signals[0, 0] = value
        x = setting.x(*bodies)
        values.append(
            np.r_[np.exp(1j * (call(module.phi, *bodies, x, 1) + value)), call(module.jacobian, *bodies, x, (1, 12))[0]]
        )
    return max(distance(v, values[0]) for v in values) < 1e-10


@pytest.mark.parametrize("module", JOINT_MODULES, ids=lambda m: m.NAME)
def test_coordinates_are_found(module):
    """An Euler parameter is none, although D does not depend on its signal: no moment belongs to it."""
    assert module.COORDINATE == (module.NAME in ("guided_angle", "guided_link", "guided_distance", "guided_slide"))
    expected = module.COORDINATE or module.NAME == "euler_parameter"
    assert all(is_a_coordinate(module, seed) == expected for seed in SEEDS)


# Name -> definition, whether the row is a coordinate less its signal, and whether it looks like one by numbers: a row of Euler
# parameters does, but no moment belongs to it.  The surface of ``rooted`` is that of a distance, but not its row.
OTHERS = {
    "along": (lambda r_i, s_i, a_i, r_j, s_j, x_t: {"way": a_i.dot(between(r_i, s_i, r_j, s_j)) - x_t}, True, True),
    "distance": (lambda r_i, s_i, r_j, s_j, x_t: {"way": between(r_i, s_i, r_j, s_j).norm() - x_t}, True, True),
    "hinge": (
        lambda a_i, h_i, b_j, theta_t: {"angle": sp.atan2(h_i.dot(a_i.cross(b_j)), a_i.dot(b_j)) - theta_t}, True, True,
    ),
    "half_turn": (lambda p_i, e_t: {"parameter": p_i[1] - e_t}, False, True),
    "sine_of_half_turn": (
        lambda p_i, p_j, e_t: {
            "parameter": p_i[0] * p_j[1] - p_i[1] * p_j[0] - p_i[2] * p_j[3] + p_i[3] * p_j[2] - e_t
        },
        False, True,
    ),
    "reversed": (lambda r_i, s_i, a_i, r_j, s_j, x_t: {"way": x_t - a_i.dot(between(r_i, s_i, r_j, s_j))}, False, False),
    "geared": (lambda r_i, s_i, a_i, r_j, s_j, g_t: {"way": g_t * a_i.dot(between(r_i, s_i, r_j, s_j))}, False, False),
    "rooted": (
        lambda r_i, s_i, r_j, s_j, x_t: {"way": between(r_i, s_i, r_j, s_j).norm() ** 2 - x_t * x_t}, False, False,
    ),
    "two_signals": (
        lambda r_i, s_i, a_i, r_j, s_j, x_t, y_t: {"way": a_i.dot(between(r_i, s_i, r_j, s_j)) - x_t - y_t}, False, False,
    ),
    "a_term_of_both": (lambda a_i, b_j, x_t: {"angle": a_i.dot(b_j) - x_t + x_t * a_i.dot(b_j) ** 2}, False, False),
    "no_signal": (lambda r_i, s_i, a_i, r_j, s_j, held: {"way": held(a_i.dot(between(r_i, s_i, r_j, s_j)))}, False, False),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_rows(name):
    definition, coordinate, by_numbers = OTHERS[name]
    module = compile_joint(named(name, definition))
    assert coordinate == module.COORDINATE and {is_a_coordinate(module, seed) for seed in SEEDS} == {by_numbers}


# Parts of expressions with names of their own; test_kernels.py and test_tangents.py have the values of ``nested``.


def test_equal_parts_share_one_name():
    """The root that occurs twice is named once; parts have parts with names."""
    found = derive(nested).scope.named.values()
    parts, symbols = [m.values[0] for m in found], {s for m in found for s in m.symbols}
    assert len(set(parts)) == len(parts) > 5 and any(part.free_symbols & symbols for part in parts)
