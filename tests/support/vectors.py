"""Vectors, rotations and Euler parameters in plain numpy, apart from those of the product."""

import numpy as np
from scipy.spatial.transform import Rotation

X, Y, Z = np.eye(3)


def unit(a):
    return np.asarray(a, float) / np.linalg.norm(a)


def across(h, d):
    """The unit vector along the part of d at right angles to the unit vector h."""
    return unit(d - h * (h @ d))


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def about(axis, angle):
    S = skew(axis)
    return np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S


def matrix(p):
    """Rotation matrices of Euler parameters, scalar first."""
    return Rotation.from_quat(np.roll(p, -1, axis=-1)).as_matrix()


def parameters(A):
    """Euler parameters, scalar first."""
    return np.roll(Rotation.from_matrix(A).as_quat(), 1, axis=-1)


def parameter_rates(p, omega, omega_dot):
    """Rates and second rates of Euler parameters (n, 4) from angular velocities and accelerations in global axes."""

    def product(w, p):  # of the quaternions (0, w) and p
        return np.column_stack([-(w * p[:, 1:]).sum(axis=1), p[:, :1] * w + np.cross(w, p[:, 1:])])

    p_dot = product(omega, p) / 2
    return p_dot, product(omega_dot, p) / 2 + product(omega, p_dot) / 2


def euler_parameters(axis, angle):
    """Those of a turn about a unit vector, with the sign that follows the angle."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis)])


def turned(p, turn):
    """Euler parameters after a turn (3,) in global axes."""
    angle = np.linalg.norm(turn)
    e0, e = np.cos(angle / 2), np.sin(angle / 2) * np.asarray(turn) / angle
    return np.concatenate([[e0 * p[0] - e @ p[1:]], e0 * p[1:] + p[0] * e + np.cross(e, p[1:])])


def into_body(p, x):
    return np.einsum("nab,na->nb", matrix(p), x)


def cardan(angles):
    """Rotation about x, the new y, the new z."""
    a, b, c = angles
    return about(X, a) @ about(Y, b) @ about(Z, c)


def cardan_motion(q, u, a):
    """Rotation matrix, angular velocity and acceleration (global) of Cardan angles with rates u and second rates a."""
    A1, A2 = about(X, q[0]), about(X, q[0]) @ about(Y, q[1])
    axes, omega, alpha = (X, A1 @ Y, A2 @ Z), np.zeros(3), np.zeros(3)
    for axis, rate, second in zip(axes, u, a, strict=True):
        alpha = alpha + axis * second + np.cross(omega, axis * rate)
        omega = omega + axis * rate
    return cardan(q), omega, alpha


def largest(*differences):
    return max(float(np.abs(d).max()) for d in differences)
