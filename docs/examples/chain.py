"""A chain on ball joints that falls.

Eight links on ball joints, released from the horizontal. Joint coordinates keep the links on their joints to rounding; the figure
shows the chain every 0.05 s.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

N, LENGTH = 8, 0.1
system = models.chain.build(N, length=LENGTH)
run = runtime.simulate(system, 0.5, t_eval=np.linspace(0, 0.5, 11), coordinates="joint")
assert run.success, run.message
print(f"largest |Phi|: {run.violation.max():.1e} m, change of energy: {abs(run.energy - run.energy[0]).max():.1e} J")

figure, ax = plt.subplots(figsize=(6, 5.5), layout="constrained")
for n, t in enumerate(run.t):
    ends = [np.zeros(3)]
    for link in system.body_names:
        ends.append(run.r[link][n] + run.rotations(link)[n] @ (LENGTH / 2, 0, 0))
    x, _, z = np.array(ends).T
    ax.plot(x, z, ".-", color=plt.cm.viridis(t / run.t[-1]), label=f"{t:.2f} s")
ax.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
ax.legend(fontsize=8)
figure.savefig("chain.png")
