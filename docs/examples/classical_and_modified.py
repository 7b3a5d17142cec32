"""Classical against modified ankle: motion and cost.

Both ankles move freely for 5 s from the neutral pose. The modified joint has the talocalcaneal axis one talus below the
talocrural axis. The table states what each run costs; both have two degrees of freedom.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

t = np.linspace(0, 5, 501)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ankle, line in (("classical", "-"), ("modified", "--")):
    run = runtime.simulate(models.foot.build(ankle), 5.0, t_eval=t)
    assert run.success, run.message
    change = abs(run.energy - run.energy[0]).max()
    print(
        f"{ankle:10} {run.stats.evaluations:5} evaluations, |Phi| {run.violation.max():.0e}, energy change {change:.0e} J"
    )
    r = 1000 * run.r["main_foot"]
    axes[0].plot(r[:, 0], r[:, 2], line, label=ankle)
    axes[1].plot(r[:, 1], r[:, 2], line, label=ankle)
axes[0].set(xlabel="anterior x [mm]", ylabel="up z [mm]", title="sagittal plane", aspect="equal")
axes[1].set(xlabel="medial y [mm]", ylabel="up z [mm]", title="frontal plane", aspect="equal")
axes[1].legend()
figure.savefig("classical_and_modified.png")
