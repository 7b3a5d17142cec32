"""A person who walks along +x, in closed form: markers, ground forces and a capture of both; z up, SI."""

import numpy as np

from models.walking.capture import Capture, GroundForce

RATE, FORCE_RATE = 100.0, 500.0  # [Hz] of markers and forces
STRIDE_LENGTH, CYCLE, DUTY = 1.3, 1.1, 0.62  # [m], [s], share of the cycle in stance
STRIKES = {"R": 0.25, "L": 0.25 + CYCLE / 2}  # [s]


def foot_forward(t, strike):
    """Position (n,) [m] of a foot that strikes at a time and every cycle later, stands, then swings ahead."""
    phase, number = np.modf((t - strike) / CYCLE + 10.0)
    swing = np.clip((phase - DUTY) / (1 - DUTY), 0.0, 1.0)
    return STRIDE_LENGTH * (number - 10.0 + swing - np.sin(2 * np.pi * swing) / (2 * np.pi))


def person(n=300):
    """Times (n,) [s] and markers (n, 3) [m] by label."""
    t = np.arange(n) / RATE
    speed = STRIDE_LENGTH / CYCLE
    markers = {}
    for side, y in (("R", -0.1), ("L", 0.1)):
        x = foot_forward(t, STRIKES[side]) + speed * (STRIKES[side] - 0.25)
        lift = 0.05 * np.clip(np.gradient(x, t) / speed - 0.2, 0.0, 1.0)
        for label, at in {
            "FCC": (-0.1, 0, 0.03),
            "FM1": (0.1, -0.04 * np.sign(y), 0.03),
            "FM5": (0.08, 0.04 * np.sign(y), 0.02),
        }.items():
            markers[f"{side}_{label}"] = np.stack([x + at[0], np.full(n, y + at[1]), at[2] + lift], axis=1)
        for label, height in (("IAS", 0.95), ("FTC", 0.85)):
            sway = 0.02 * np.sin(4 * np.pi * t / CYCLE)
            markers[f"{side}_{label}"] = np.stack(
                [speed * (t - 0.25) - 0.3 + 0.0 * t, np.full(n, y), height + sway], axis=1
            )
    return t, markers


def push(side, strike, t=None, weight=700.0):
    """Force (m, 3), centre of pressure (m, 3) and free moment (m,) of one stance of a foot that strikes at a time."""
    t = np.arange(int(3.0 * FORCE_RATE)) / FORCE_RATE if t is None else t
    share = (t - strike) / (DUTY * CYCLE)
    on = (share >= 0) & (share <= 1)
    s = np.clip(share, 0, 1)
    up = np.where(on, weight * (np.sin(np.pi * s) ** 0.5 + 0.15 * np.sin(3 * np.pi * s)), 0.0)
    force = np.stack([-0.2 * up * np.cos(np.pi * s), 0.05 * up * np.sin(np.pi * s), up], axis=1)
    x = STRIDE_LENGTH / CYCLE * (strike - 0.25)
    cop = np.stack([x - 0.09 + 0.18 * s, np.full(len(t), -0.1 if side == "R" else 0.1) + 0.01 * s, 0.0 * s], axis=1)
    return t, force, np.where(on[:, None], cop, np.nan), np.where(on, 3.0 * np.sin(2 * np.pi * s), 0.0)


def walker(n=300, **changes):
    """A capture of the person with a plate under the first stance of each foot."""
    t, markers = person(n)
    forces = []
    for plate, side in (("plate1", "R"), ("plate2", "L")):
        times, force, cop, free = push(side, STRIKES[side])
        cop[force[:, 2] < 5.0] = np.nan
        forces.append(GroundForce(plate, times, force, cop, free))
    return Capture("walker", **({"t": t, "markers": markers, "forces": tuple(forces)} | changes))


def check_first_stance(grf):
    """Compare with the right foot's first stance."""
    _, force, cop, free = push("R", STRIKES["R"], grf.t)
    loaded = force[:, 2] > 20.0
    assert loaded.sum() > 300
    assert np.allclose(grf.force, force, atol=1e-3)
    assert np.allclose(grf.cop[loaded], cop[loaded], atol=2e-6)
    assert np.allclose(grf.free_moment[loaded], free[loaded], atol=1e-3)
    assert np.isnan(grf.cop[force[:, 2] == 0.0]).all()
