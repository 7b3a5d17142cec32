"""The parts of the foot over a ground.

Bones, spheres of the sole, axes of the ankle and the massless link between them in the neutral pose, from the lateral side and
from the front. Sectors about each axis are the ranges of motion of the limits.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Wedge

import models

system = models.foot.build(ground=True, limits="dissipative", orthosis="stiff")
centre = system.state.r  # all bodies have global axes in this pose
ankle = system.joint("ankle").values
talocalcaneal = centre["main_foot"] + ankle["s_i"]
talocrural = centre["leg"] + ankle["s_j"]
sphere = [(centre[contact.body] + contact.values["s_i"], contact.values["radius"]) for contact in system.contacts]
ranges = {
    "dorsiflexion": (talocrural, models.foot.DORSIFLEXION_DEG, (0, 2), 1),
    "plantarflexion": (talocrural, models.foot.PLANTARFLEXION_DEG, (0, 2), -1),
    "inversion": (talocalcaneal, models.foot.INVERSION_DEG, (1, 2), 1),
    "eversion": (talocalcaneal, models.foot.EVERSION_DEG, (1, 2), -1),
}

figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(1.17, 1), layout="constrained")
for ax, (across, up), title in zip(panels, ((0, 2), (1, 2)), ("from the lateral side", "from the front"), strict=True):
    for shape in system.shapes:
        if shape.kind == "bone":
            ends = centre[shape.body] + shape.at + np.outer((0, shape.sizes[1]), shape.rotation[:, 2])
            ax.plot(*1000 * ends.T[[across, up]], color="0.8", lw=900 * shape.sizes[0] / 2.2, solid_capstyle="round")
    for n, (point, radius) in enumerate(sphere, 1):
        ax.add_patch(Circle(1000 * point[[across, up]], 1000 * radius, fill=False, color="#D55E00"))
        if across == 0 and n > 1:  # sphere 1 lies inside sphere 2
            ax.annotate(str(n), 1000 * point[[across, up]], ha="center", va="center", fontsize=7, color="#D55E00")
    ax.plot(*1000 * np.array([talocalcaneal, talocrural]).T[[across, up]], color="#CC9900", lw=5)
    for point, axis, name in (
        (talocrural, ankle["a_j"], "talocrural axis"),
        (talocalcaneal, ankle["a_i"], "subtalar axis"),
    ):
        ends = point + np.outer((-0.06, 0.06), axis)
        ax.plot(*1000 * ends.T[[across, up]], "k", lw=1.5)
        ax.annotate(name, 1000 * ends[0, [across, up]], xytext=(-4, -4), textcoords="offset points", fontsize=8,
                    ha="right", va="top")  # fmt: skip
    for name, (point, angle, plane, sign) in ranges.items():
        if plane == (across, up):
            first, last = sorted((0, sign * angle))
            ax.add_patch(Wedge(1000 * point[[across, up]], 85, first, last, color="#56B4E9", alpha=0.4, lw=0))
            middle = np.deg2rad(sign * angle / 2)
            place = 1000 * point[[across, up]] + 88 * np.array([np.cos(middle), np.sin(middle)])
            ax.annotate(f"{name}, {angle:g}°", place, va="center", fontsize=8, color="#0072B2")
    ax.axhline(0, color="0.5", lw=1)
    ax.set(title=title, xlabel=("anterior [mm]", "", "")[across] or "medial [mm]", ylabel="up [mm]", aspect="equal")
    ax.set(ylim=(-12, 190), xlim=(-75, 275) if across == 0 else (-125, 175))
panels[0].annotate("massless link", 1000 * (0.5 * (talocalcaneal + talocrural))[[0, 2]], xytext=(-95, -16), fontsize=8,
                   textcoords="offset points", arrowprops=dict(arrowstyle="-", lw=0.6))  # fmt: skip
panels[0].annotate("spheres of the sole", (90, 18), xytext=(90, -9), fontsize=8, color="#D55E00")
figure.savefig("parts_of_the_foot.png", dpi=110)
