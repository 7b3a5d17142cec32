"""Bricard's linkage: a closed loop with a redundant row.

Five bars and six hinges along the edges of a cube, the data of the IFToMM library of benchmark problems. By the count of rows the
linkage is locked; it moves because one row repeats others. The state is projected onto all rows after each step, redundant ones
too.
"""

import matplotlib.pyplot as plt
import numpy as np

import runtime

corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
b = runtime.Builder("Bricard", axes="global", gravity=(0, -9.81, 0))
bars = [f"bar_{n}" for n in range(1, 6)]
for name, start, end in zip(bars, corners, corners[1:], strict=False):
    inertia = 0.0841667 - 0.0825 * np.abs(end - start)  # of a bar of 1 m with a section of 0.1 m by 0.1 m
    b.body(name, mass=1.0, inertia=inertia, r=(start + end) / 2)
for n, (i, j) in enumerate(zip(["ground", *bars], [*bars, "ground"], strict=True)):
    b.joint(f"hinge_{n + 1}", "revolute", i, j, point=corners[n], axis=axes[n])
system = b.build()
print(f"degrees of freedom {system.degrees_of_freedom}, redundant rows: {', '.join(system.redundant)}")
run = runtime.simulate(system, 10.0, t_eval=np.linspace(0, 10, 1001))
assert run.success, run.message
print(f"largest |Phi| {run.violation.max():.1e}, change of energy {abs(run.energy - run.energy[0]).max():.1e} J")

figure = plt.figure(figsize=(8, 4), layout="constrained")
ax = figure.add_subplot(1, 2, 1, projection="3d")
for n in range(0, 200, 40):
    ends = [corners[0]]
    for name, start, end in zip(bars, corners, corners[1:], strict=False):
        ends.append(run.r[name][n] + run.rotations(name)[n] @ (end - start) / 2)
    ax.plot(*np.array([*ends, corners[0]]).T, ".-", color=plt.cm.viridis(n / 200))
ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", aspect="equal")
ax = figure.add_subplot(1, 2, 2)
for k, axis in enumerate("xyz"):
    ax.plot(run.t, run.r["bar_3"][:, k], label=axis)
ax.set(xlabel="time [s]", ylabel="centre of the third bar [m]")
ax.legend()
figure.savefig("bricard.png")
