"""A slider-crank with a driver.

A driver turns the crank at 10 rad/s; the multiplier of the driver is the moment that it supplies. Inverse dynamics needs no
integration: every position follows from the constraints.
"""

import matplotlib.pyplot as plt
import numpy as np

import runtime

CRANK, ROD, SPEED = 0.1, 0.3, 10.0  # [m], [m], [rad/s]
b = runtime.Builder("slider-crank", axes="global")
b.body("crank", mass=0.5, inertia=(1e-4, 5e-4, 5e-4), r=(CRANK / 2, 0, 0))
b.body("rod", mass=0.8, inertia=(1e-4, 6e-3, 6e-3), r=(CRANK + ROD / 2, 0, 0))
b.body("piston", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), r=(CRANK + ROD, 0, 0))
b.joint("bearing", "revolute", "ground", "crank", point=(0, 0, 0), axis=(0, 1, 0))
b.joint("crank_pin", "revolute", "crank", "rod", point=(CRANK, 0, 0), axis=(0, 1, 0))
b.joint("piston_pin", "spherical", "rod", "piston", point=(CRANK + ROD, 0, 0))
b.joint("guide", "translational", "ground", "piston", point=(CRANK + ROD, 0, 0), axis=(1, 0, 0))
t = np.linspace(0, 2 * np.pi / SPEED, 201)
b.driver(
    "motor", "guided_angle", "ground", "crank", h_i=(0, -1, 0), a_i=(1, 0, 0), b_j=(1, 0, 0),
    theta_t=runtime.Signal.spline(t, SPEED * t),
)  # fmt: skip
motion = runtime.inverse_dynamics(b.build(), t)

x = CRANK * np.cos(SPEED * t) + np.sqrt(ROD**2 - (CRANK * np.sin(SPEED * t)) ** 2)
print(f"piston against its closed form: {np.abs(motion.r['piston'][:, 0] - x).max():.1e} m")

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(t, motion.r["piston"][:, 0])
axes[0].set(ylabel="piston x [m]")
axes[1].plot(t, motion.driven["motor"].effort["theta_t"], label="moment of the driver [N m]")
axes[1].plot(t, motion.driven["motor"].power, label="its power [W]")
axes[1].set(xlabel="time [s]")
axes[1].legend()
figure.savefig("slider_crank.png")
