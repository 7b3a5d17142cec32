"""The printed law of the limits and the energy.

A spherical pendulum in an elastic cone. With the moment as printed by Rodrigues da Silva et al. (2024b), Eqs. (32) and (33),
the total energy changes at each contact with the cone. The moment has no potential; the conservative law keeps the energy.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for law in ("conservative", "as_published"):
    system = models.pendulum.build("spherical", limits="elastic", law=law)
    run = runtime.simulate(system, 4.0, t_eval=np.linspace(0, 4, 801), rtol=1e-10, atol=1e-10)
    free = run.limits["pivot"].excess <= 0  # the printed law has no energy of its own to add
    lost = np.where(free, run.kinetic_energy + run.potential_energy - run.energy[0], np.nan)
    ax.plot(run.t, lost, ".", ms=2, label=law)
    print(f"{law:12} energy at the end less that at the start: {lost[free][-1]: .2e} J")
ax.set(xlabel="time [s]", ylabel="change of energy inside the cone [J]")
ax.legend()
figure.savefig("printed_limit_law.png")
