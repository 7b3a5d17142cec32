"""A mass on a spring and a damper, against the closed solution.

A body slides along z, with a spring and a damper between two points. The difference from the closed solution is of the order of
the tolerance.
"""

import matplotlib.pyplot as plt
import numpy as np

import runtime

M, K, C, X0 = 2.0, 200.0, 4.0, 0.1  # [kg], [N/m], [N s/m], [m]
b = runtime.Builder("oscillator", gravity=(0, 0, 0))
b.body("mass", mass=M, inertia=(0.01, 0.01, 0.01), r=(0, 0, 1.0 + X0))
b.joint("guide", "translational", "ground", "mass", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0, 1))
b.force(
    "spring", "spring_damper", "ground", "mass", s_i=(0, 0, 0), s_j=(0, 0, 0), stiffness=K, damping=C, free_length=1.0
)
t = np.linspace(0, 4, 401)
run = runtime.simulate(b.build(), 4.0, t_eval=t, rtol=1e-10, atol=1e-10)
assert run.success, run.message

decay, omega = C / (2 * M), np.sqrt(K / M - (C / (2 * M)) ** 2)
exact = X0 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
print(f"largest difference from the closed solution: {np.abs(run.r['mass'][:, 2] - 1.0 - exact).max():.1e} m")

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(t, 1000 * (run.r["mass"][:, 2] - 1.0))
axes[0].set(ylabel="displacement [mm]")
axes[1].plot(t, run.energy, label="energy")
axes[1].plot(t, run.energy_balance.work["spring"], label="work of the damper")
axes[1].set(xlabel="time [s]", ylabel="[J]")
axes[1].legend()
figure.savefig("spring_damper.png")
