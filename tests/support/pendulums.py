"""Pendulums, a free body and a folding four-bar, and the slope of a convergence plot."""

import numpy as np
from scipy.special import ellipk

import models

g = 9.81


def slope(h, errors):
    return np.polyfit(np.log(h), np.log(errors), 1)[0]


def free_body():
    return models.free_body.build(inertia=(0.02, 0.05, 0.06), omega=(1.0, 3.0, 0.5))


AMPLITUDE = np.radians(120.0)
LENGTH, MASS = 0.3, 3.5
INERTIA = MASS * (LENGTH**2 + 3 * (LENGTH / 30) ** 2) / 12 + MASS * LENGTH**2 / 4
QUARTER = ellipk(np.sin(AMPLITUDE / 2) ** 2) / np.sqrt(MASS * g * LENGTH / 2 / INERTIA)


def pendulum():
    return models.pendulum.build(angle=AMPLITUDE)


def side(t, state):
    return state.r["rod"][0]


def parallelogram(crank_angle, joints="independent"):
    """A four-bar of equal opposite bars: it lies flat, and may fold, at the crank angles 0 and 180 degrees."""
    return models.four_bar.build(
        joints, crank=0.3, coupler=0.5, rocker=0.3, base=0.5, crank_angle=crank_angle, gravity=(0, 0, 0)
    )


def turning(system, crank_angle, speed):
    tip = 0.3 * speed * np.array([-np.sin(crank_angle), 0.0, np.cos(crank_angle)])
    omega = (0.0, -speed, 0.0)
    return system.state.replace(
        v={"crank": tip / 2, "rocker": tip / 2, "coupler": tip}, omega={"crank": omega, "rocker": omega}
    )
