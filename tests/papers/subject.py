"""The subject of Moreira et al. (2011) on nine spheres: measures by Winter, forces and stance."""

import numpy as np
from scipy.optimize import brentq

from models import foot
from tests.papers.moreira_2011_data import READINGS, SUBJECT, TABLE_2, spheres

MASS, HEIGHT = SUBJECT
WEIGHT = MASS * 9.81
LEG_LENGTH, FOOT_LENGTH, FOOT_BREADTH = (part * HEIGHT for part in (0.285 - 0.039, 0.152, 0.055))  # Winter, figure 4.1
LEG_MASS, FOOT_MASS = 0.0465 * MASS, 0.0145 * MASS  # Winter, table 4.1
LEG_GYRATION = 0.302  # of its length, about its centre of mass
DENSE = 1200.0  # [kg/m^3] no limb is denser: Winter has 1090 for the leg and 1100 for the foot
PAD, PAD_SPREAD, PAD_LEFT, PAD_LEFT_SPREAD = 0.020, 0.002, 0.62, 0.09
BALL_PAD = 0.457 * 0.0152
MODEL_FOOT_LENGTH, MODEL_MAIN_FOOT_LENGTH = 0.27, 0.1903  # [m] the model
TABLE = np.array(TABLE_2) / 1e3
XI, ZETA, RADIUS = TABLE[:, 0], TABLE[:, 2], TABLE[:, 3]
MAIN, TOES = slice(0, 6), slice(6, 9)


def number(sphere):
    """Place in the arrays of a sphere as the paper counts."""
    return sphere - 1


# Table 2


def direction(pitch):
    """Heights of the spheres' lowest points in body axes [m], for a ground that is pitched against them: heel down above 0."""
    return np.sin(pitch) * XI + np.cos(pitch) * ZETA - RADIUS


def stance(forward=True):
    """Standing: distances x along the ground from the heel's edge, and heights above it [m], before it gives way.

    Main foot on spheres 2 and 6, toes level, joined as in the model.
    """
    pitch = brentq(lambda a: direction(a)[1] - direction(a)[5], -0.2, 0.2)
    c, s = np.cos(pitch), np.sin(pitch)
    moved = spheres(forward)
    main, toes = moved["main_foot"], moved["toes"]

    def turned(xi, zeta):
        return c * xi - s * zeta, s * xi + c * zeta

    x, z = turned(main[:, 0], main[:, 2])
    joint = turned(*np.array(foot.METATARSOPHALANGEAL["main_foot"])[[0, 2]])
    arm = np.array(foot.METATARSOPHALANGEAL["toes"])[[0, 2]]
    x = np.r_[x, joint[0] - arm[0] + toes[:, 0]]
    low = np.r_[z, joint[1] - arm[1] + toes[:, 2]] - RADIUS
    return pitch, x - (x[1] - RADIUS[1]), low - low[1]


# The material


def forces(reading, height, sink):
    """Of all spheres [N], and their slopes [N/m]."""
    K, exponent = READINGS[reading]
    depth = np.clip(sink - height, 0.0, None)
    with np.errstate(divide="ignore"):
        slope = np.where(depth > 0.0, exponent * K * depth ** (exponent - 1.0), 0.0)
    return K * depth**exponent, slope


def at_rest(reading, height, load):
    """Sink [m], and numbers of the spheres in contact, where the spheres at these heights bear the load [N]."""
    sink = brentq(lambda z: forces(reading, height, z)[0].sum() - load, 0.0, 10.0, xtol=1e-15)
    return sink, np.flatnonzero(forces(reading, height, sink)[0] > 0.0) + 1


def heel_strike(reading, load, pitch_deg=20.0):
    low = direction(np.deg2rad(pitch_deg))[MAIN]
    return at_rest(reading, low - low.min(), load)
