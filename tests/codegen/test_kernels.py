"""Every kernel against the motion of its bodies, for every joint and driver.

Both bodies move along analytic curves r(t), p(t).  The time derivatives of Phi come from the values of Phi alone, on a
circle in the complex plane around t = 0 (Cauchy's integral), so they are exact to rounding and independent of the rules by
which codegen differentiates.
"""

import numpy as np
import pytest

from runtime.dynamics.kinematics import rotation
from tests.support.definitions import DEFINITIONS, GENERATED, bodies_of, module_of
from tests.support.kernel_checks import CHECKS, KERNELS, SEEDS, TOLERANCE
from tests.support.kernels import Setting, assembled, call, case
from tests.support.marks import over
from tests.support.motions import G, Motion, derivatives, distance, skew

all_definitions = pytest.mark.parametrize("name", list(DEFINITIONS))
all_generated = pytest.mark.parametrize("name", GENERATED)


@all_definitions
@over("seed", SEEDS)
@over("kernel", KERNELS)
def test_every_kernel_agrees_with_its_definition_and_the_motion(name, seed, kernel):
    assert CHECKS[kernel](case(name, seed), module_of(name)) < TOLERANCE


def test_motion_rotates_as_in_the_runtime():
    motion = Motion(np.random.default_rng(0))
    A, A_dot = derivatives(lambda t: motion.A("i", t), 1)
    assert distance(A_dot, skew(motion.omega("i", 0.0)) @ A) < 1e-13
    ours = np.empty((3, 3))
    rotation.py_func(motion.state("i")[3:7], ours)
    assert distance(ours, A) < 1e-14
    p, p_dot = derivatives(lambda t: motion.state("i", t)[3:7], 1)
    assert distance(p_dot, G(p).T @ motion.omega("i", 0.0) / 2) < 1e-13


@all_definitions
def test_nu_without_signals_is_zero(name):
    c = case(name, 0)
    nu = c.run("nu")
    assert np.all(nu == 0.0) != bool(c.module.SIGNALS)


def test_ground_joint_leaves_body_j_alone():
    alone = [name for name in GENERATED if bodies_of(name) == {"i"}]
    assert "guided_point" in alone and "guided_angle" not in alone
    for name in ("ground_point", "kept_euler_parameter", "driven_euler_parameters", *alone):
        c = case(name, 0)
        assert not c.run("jacobian")[:, 6:].any()
        elsewhere = call(c.module.gamma, c.body_i, c.body_j + 1.0, c.x, len(c.module.ROWS))
        assert np.array_equal(elsewhere, c.run("gamma"))


# On the constraint manifold


@all_generated
@over("seed", SEEDS)
def test_common_rigid_motion_is_free(name, seed):
    """And the rows are independent, and ask of the velocities what the motion has.  Of the driver of one body, only these."""
    rng = np.random.default_rng(seed)
    module = module_of(name)
    setting, (body_i, body_j), _ = assembled(module, rng)
    x, rows = setting.x(body_i, body_j), len(module.ROWS)
    D = call(module.jacobian, body_i, body_j, x, (rows, 12))
    for _ in range(3 if bodies_of(name) == {"i", "j"} else 0):
        u, w = rng.normal(size=(2, 3))
        twist = np.r_[u + np.cross(w, body_i[:3]), w, u + np.cross(w, body_j[:3]), w]
        assert np.abs(D @ twist).max() < 1e-12
    nu = call(module.nu, body_i, body_j, x, rows)
    assert np.abs(D @ np.r_[body_i[7:], body_j[7:]] - nu).max() < 1e-12
    assert np.linalg.svd(D, compute_uv=False)[-1] > 1e-3


@all_generated
def test_held_rows_vanish_in_the_reference_configuration(name):
    """Rows that hold a value are zero where it was taken, whatever the configuration."""
    module, rng = module_of(name), np.random.default_rng(7)
    setting, motion = Setting(module, rng), Motion(rng)
    setting.take_reference(*motion.states())
    body_i, body_j = motion.states()
    x = setting.x(body_i, body_j)
    Phi = call(module.phi, body_i, body_j, x, len(module.ROWS))
    for k in range(module.HELD):
        shifted = x.copy()
        shifted[3 * len(module.VECTORS) + len(module.PARAMETERS) + k] += 1.0
        (row,) = np.flatnonzero(call(module.phi, body_i, body_j, shifted, len(module.ROWS)) != Phi)
        assert abs(Phi[row]) < 1e-14
