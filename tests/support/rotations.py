"""Rotations of simulated bodies, for comparison with solutions in closed form."""

import numpy as np


def rotations(p):
    """Rotation matrices of Euler parameters (n, 4), by quaternion products of the axes: (n, 3, 3)."""
    e0, e = p[:, :1], p[:, 1:]
    columns = []
    for axis in np.eye(3):
        t = 2.0 * np.cross(e, axis)
        columns.append(axis + e0 * t + np.cross(e, t))
    return np.stack(columns, axis=2)


def about(axis, angle):
    """Rotation by the angle about a unit vector."""
    S = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S


def euler_parameters(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis)])


def into_body(p, x):
    return np.einsum("nab,na->nb", rotations(p), x)


def turned(p, turn):
    """Euler parameters after a turn (3,) in global axes."""
    angle = np.linalg.norm(turn)
    e0, e = np.cos(angle / 2), np.sin(angle / 2) * np.asarray(turn) / angle
    return np.concatenate([[e0 * p[0] - e @ p[1:]], e0 * p[1:] + p[0] * e + np.cross(e, p[1:])])
