"""A landing on an incline, with and without an orthosis.

The foot with the modified ankle falls 50 mm onto a ground that descends laterally by 20 degrees. The stiffness of an orthosis is
varied by name, up to that of the stiffest of thirteen carbon orthoses. Each line is the angle about the subtalar axis.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

shares = np.linspace(0, 1, 6)
system = models.foot.build(
    ground=True, leg="free", incline_deg=20, limits="dissipative", transition_velocity=0.02, orthosis="stiff"
)
known = runtime.parameters(system)
names = [f"stiffness.orthosis_{motion}" for motion in ("dorsiflexion", "inversion", "rotation")]
cases = {name: shares * known[name] for name in names}
t = np.linspace(0, 0.3, 301)
many = runtime.simulate_many(system, cases, t[-1], t_eval=t, rtol=1e-7, atol=1e-7)
assert many.success, many.messages

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for share, angle in zip(shares, many.angles["ankle"].theta_i, strict=True):
    stiffness = np.deg2rad(share * known["stiffness.orthosis_inversion"])
    ax.plot(1000 * t, -np.rad2deg(angle), color=plt.cm.viridis(0.9 * share), label=f"{stiffness:.2f} N m/deg")
ax.set(xlabel="time [ms]", ylabel="inversion about the subtalar axis [deg]")
ax.legend(title="about the axis of inversion", fontsize=8)
figure.savefig("landing_with_orthosis.png")
