"""What the ligaments of the ankle store and where they oppose its two hinges.

Ligaments of the modified ankle at rest, over plantarflexion and dorsiflexion and over eversion and inversion: their strains, and
the energy that all of them store. Stiffnesses and reference strains that no source states are chosen for this example, the same
for all: 80 N/mm and 0.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

CHOSEN = {"stiffness": 80e3, "reference_strain": 0.0}
known = models.foot_ligaments.STRUCTURES
ligaments = {
    name: {value: CHOSEN[value] for value in each.missing} for name, each in known.items() if name != "plantar_fascia"
}
RANGES = {
    "dorsiflexion": ((-35, 20), lambda angle: (angle, 0)),
    "inversion": ((-25, 35), lambda angle: (0, angle)),
}

figure, panels = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained", sharex="col", height_ratios=(2, 1))
for column, (motion, ((least, most), angles_of)) in enumerate(RANGES.items()):
    angles = np.arange(least, most + 1, 2.5)
    poses = [models.foot.build(ligaments=ligaments, ankle_deg=angles_of(angle)) for angle in angles]
    forces = [runtime.simulate(pose, 1e-9).forces for pose in poses]
    strain = {name: np.array([100 * each[name].strain[0] for each in forces]) for name in ligaments}
    tension = {name: np.array([each[name].tension[0] for each in forces]) for name in ligaments}
    energy = {name: np.array([each[name].energy[0] for each in forces]) for name in ligaments}
    for name in ligaments:
        panels[0, column].plot(angles, strain[name], label=name.replace("_", " "))
    total = sum(energy.values())
    panels[1, column].plot(angles, total, color="black")
    panels[0, column].axhline(0, color="gray", linewidth=0.5)
    panels[1, column].set(xlabel=f"{motion} [deg]", ylabel="energy [J]")
    panels[0, column].set(ylabel="strain [%]")
    for end in (0, -1):
        largest = sorted(
            (name for name in ligaments if energy[name][end] > 0.005), key=lambda name: -energy[name][end]
        )[:3]
        parts = ", ".join(f"{name} {energy[name][end]:.2f} J at {tension[name][end]:.0f} N" for name in largest)
        print(f"{motion} of {angles[end]:.0f} degrees: {total[end]:.2f} J; {parts}")
panels[0, 1].legend(fontsize=7)
for ankle in ("modified", "classical"):
    poses = [models.foot.build(ankle, ligaments=ligaments, ankle_deg=(0, angle)) for angle in (-25, 35)]
    ends = [runtime.simulate(pose, 1e-9).forces["calcaneofibular"].strain[0] for pose in poses]
    print(
        f"calcaneofibular strain, {ankle} ankle: {ends[0]:.3f} in 25 degrees of eversion, {ends[1]:.3f} in 35 of inversion"
    )
figure.savefig("ankle_ligaments.png")
