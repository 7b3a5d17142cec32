"""Circumduction: a rod inside its cone.

A spherical pendulum whose direction is limited by a cone of circumduction, in the top view: the polar coordinates are longitude
and latitude of the rod. Without limits the rod leaves the cone; elastic limits return it, dissipative ones let it come to rest.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

runs = {
    limits: runtime.simulate(models.pendulum.build("spherical", limits=limits), 2.0, t_eval=np.linspace(0, 2, 801))
    for limits in ("elastic", "dissipative")
}
cone = runs["elastic"].system.limits[0].cone

figure, ax = plt.subplots(figsize=(5.5, 5.5), subplot_kw={"projection": "polar"}, layout="constrained")
psi = np.linspace(0, 2 * np.pi, 361)
ax.plot(psi, np.rad2deg(cone.maximum_latitude(psi)), "k", label="cone")
for limits, run in runs.items():
    pivot = run.limits["pivot"]
    ax.plot(np.unwrap(pivot.longitude), np.rad2deg(pivot.latitude), label=limits)
ax.set_title("longitude and latitude of the rod [deg]")
ax.legend(loc="lower left", bbox_to_anchor=(-0.1, -0.1))
figure.savefig("circumduction.png")
