"""Muscles of a kick.

A seated leg with five muscles, the quadriceps around the knee: tubes along their paths, from blue to red by activation, with
cross-sections in proportion to the maximum isometric forces. Strengths, paths and excitations are chosen for this example.
"""

import numpy as np

import runtime

HIP, KNEE, ANKLE = (0, 0, 0.5), (0.42, 0, 0.5), (0.42, 0, 0.09)
AXIS = (0, 1, 0)  # of both hinges
FRONT = (np.sqrt(0.5), 0, np.sqrt(0.5))  # the side of the knee on which the quadriceps passes
TIMES = (0.0, 0.05, 0.12, 0.2, 0.3)

b = runtime.Builder("kick")
b.body("shank", mass=3.5, inertia=(0.05, 0.05, 0.006), r=(0.42, 0, 0.32))
b.body("foot", mass=1.0, inertia=(0.001, 0.004, 0.004), r=(0.47, 0, 0.05))
b.joint("knee", "revolute", "ground", "shank", s_i=KNEE, a_i=AXIS, s_j=KNEE, a_j=AXIS, axes="global")
b.joint("ankle", "revolute", "shank", "foot", s_i=ANKLE, a_i=AXIS, s_j=ANKLE, a_j=AXIS, axes="global")
b.shape("ground", "bone", start=HIP, end=KNEE, radius=0.022, axes="global", colour="#D8D0C0")
b.shape("shank", "bone", start=KNEE, end=ANKLE, radius=0.018, axes="global", colour="#D8D0C0")
b.shape("foot", "bone", start=(0.38, 0, 0.05), end=(0.6, 0, 0.03), radius=0.018, axes="global", colour="#D8D0C0")


def muscle(name, path, strength, slack, excitations):
    """A muscle whose excitation passes through values at TIMES; slack is the length of its tendon [m]."""
    still = np.zeros(len(TIMES))
    excitation = runtime.Signal.samples(TIMES, excitations, still, still)
    b.muscle(
        name, "thelen_as_opensim", path, axes="global", excitation=excitation, tendon="rigid", max_isometric_force=strength,
        optimal_fiber_length=0.1, tendon_slack_length=slack, pennation_angle_at_optimal=0.0,
    )  # fmt: skip


around = ("cylinder_side", "ground", dict(s_k=KNEE, a_k=AXIS, n_k=FRONT, radius=0.04, length=0.2))
muscle(
    "quadriceps",
    [("ground", (0.05, 0, 0.55)), around, ("shank", (0.455, 0, 0.41))],
    4500,
    0.42,
    (0.02, 0.1, 0.9, 0.5, 0.02),
)
muscle("hamstrings", [("ground", (0, 0, 0.45)), ("shank", (0.39, 0, 0.43))], 2500, 0.32, (0.02, 0.02, 0.02, 0.1, 0.4))
calf = [("ground", (0.4, 0, 0.47)), ("shank", (0.365, 0, 0.38)), ("foot", (0.37, 0, 0.06))]
muscle("gastrocnemius", calf, 1500, 0.34, (0.02, 0.02, 0.02, 0.2, 0.3))
muscle("soleus", [("shank", (0.405, 0, 0.36)), ("foot", (0.37, 0, 0.06))], 3500, 0.21, (0.02, 0.02, 0.02, 0.05, 0.1))
shin = [("shank", (0.44, 0, 0.4)), ("shank", (0.46, 0, 0.13)), ("foot", (0.52, 0, 0.06))]
muscle("tibialis_anterior", shin, 1000, 0.26, (0.05, 0.2, 0.5, 0.5, 0.3))

run = runtime.simulate(b.build(), TIMES[-1], t_eval=np.linspace(0, TIMES[-1], 31))
for name, force in run.forces.items():
    print(f"{name}: activation up to {force.activation.max():.2f}, tension up to {force.tension.max():.0f} N")
run.stills([0.0, 0.14, 0.3]).savefig("leg_muscles.png", dpi=110)
