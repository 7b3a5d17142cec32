"""A joint of your own: a ball in a slot.

One call compiles the equation of the joint; its Jacobian, its right-hand sides and its reaction are derived. The rod slides along
the slot while it swings.
"""

import matplotlib.pyplot as plt
import numpy as np

import codegen
import runtime


def ball_in_slot(r_i, s_i, a_i, r_j, s_j, a_j, across, held):
    """Ball of body j in a slot of body i along a_i; the angle between a_i and a_j stays constant."""
    b_i, c_i = across(a_i)
    d = r_j + s_j - r_i - s_i
    return {"left": b_i.dot(d), "right": c_i.dot(d), "angle": held(a_i.dot(a_j))}


b = runtime.Builder("slot")
b.body("rod", mass=1.0, inertia=(0.01, 0.002, 0.01), r=(0, 0.5, 0), v=(0.5, 0, 0))
b.joint(
    "slot", codegen.compile_joint(ball_in_slot), "ground", "rod",
    s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, -0.5, 0), a_j=(0, 0, 1),
)  # fmt: skip
run = runtime.simulate(b.build(), 3.0, t_eval=np.linspace(0, 3, 601))
assert run.success, run.message
print(f"rows {run.system.joint('slot').rows}, largest |Phi| {run.violation.max():.0e}")

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
for k, axis in enumerate("xyz"):
    axes[0].plot(run.t, run.r["rod"][:, k], label=axis)
    axes[1].plot(run.t, run.reaction("slot", on="rod").force[:, k], label=axis)
axes[0].set(ylabel="centre of the rod [m]")
axes[1].set(ylabel="reaction on the rod [N]", xlabel="time [s]")
axes[0].legend()
figure.savefig("own_joint.png")
