"""Moment arms about both axes of the ankle.

Four muscles across the modified ankle, over dorsiflexion (theta_j) and eversion (theta_i): an arm is positive where the muscle
increases the coordinate. Their paths are chosen for this example.
"""

import tempfile
from pathlib import Path

import models
import runtime

with tempfile.TemporaryDirectory() as folder:
    b = runtime.Builder.from_file(models.foot.build(ankle="modified").to_file(Path(folder) / "foot.json"))
paths = {  # x anterior, y medial, z up [m]
    "soleus": [("leg", (0.03, 0, 0.35)), ("main_foot", (0.0, 0.0, 0.035))],
    "tibialis_anterior": [("leg", (0.07, 0, 0.35)), ("leg", (0.085, 0.01, 0.14)), ("main_foot", (0.12, 0.03, 0.05))],
    "tibialis_posterior": [
        ("leg", (0.045, 0, 0.33)),
        ("leg", (0.038, 0.03, 0.115)),
        ("main_foot", (0.1, 0.035, 0.045)),
    ],
    "peroneus_longus": [
        ("leg", (0.045, -0.03, 0.35)),
        ("leg", (0.035, -0.035, 0.11)),
        ("main_foot", (0.09, -0.04, 0.03)),
    ],
}
constants = dict(
    max_isometric_force=1000, optimal_fiber_length=0.06, tendon_slack_length=0.25, pennation_angle_at_optimal=0
)
for name, path in paths.items():
    b.muscle(name, "thelen_as_opensim", path, axes="global", excitation=0.1, tendon="rigid", **constants)
mechanics = runtime.mechanics(b.build())
figure = mechanics.moment_arm_figure({"ankle.theta_j": (-0.6, 0.35), "ankle.theta_i": (-0.45, 0.45)})
figure.savefig("ankle_moment_arms.png", dpi=110)
for name in paths:
    talocrural, subtalar = 1e3 * mechanics.moment_arms(name, mechanics.q0)
    print(f"{name}: {talocrural:.1f} mm about theta_j, {subtalar:.1f} mm about theta_i")
