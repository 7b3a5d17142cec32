"""Markers on a foot, followed by a model with each kind of ankle.

The published foot with its modified ankle swings; six points of main foot and leg are the markers. A file of OpenSim with the
same foot finds the angles again from these markers; with a classical universal joint in place of the massless link they differ,
and the markers cannot all be met.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import models
import runtime
from models import walking
from models.walking.capture import Capture

system = models.foot.build()
run = runtime.simulate(system, t_end=1.0, t_eval=np.linspace(0.0, 1.0, 101))
places = {  # [m] in axes of the bodies, from their centres of mass
    "heel": ("main_foot", (-0.08, 0.0, -0.03)), "ball": ("main_foot", (0.09, 0.04, -0.03)),
    "instep": ("main_foot", (0.03, -0.02, 0.04)), "shin": ("leg", (0.05, 0.0, 0.0)), "calf": ("leg", (-0.05, 0.02, 0.1)),
    "knee": ("leg", (0.0, -0.05, 0.2)),
}  # fmt: skip
markers = {
    name: run.r[body] + Rotation.from_quat(np.roll(run.p[body], -1, axis=1)).apply(place)
    for name, (body, place) in places.items()
}

file = Path(tempfile.mkdtemp()) / "foot.osim"
models.write(system, file)
marker = (
    '<Marker name="{}"><socket_parent_frame>/bodyset/{}</socket_parent_frame><location>{} {} {}</location></Marker>'
)
made = "".join(marker.format(name, body, *place) for name, (body, place) in places.items())
made = f"<MarkerSet><objects>{made}</objects></MarkerSet></Model>"
file.write_text(file.read_text().replace("</Model>", made))

reading = models.read(file)
classical = models.swap(reading, "ankle_1", "ankle_2", with_="universal")
trial = Capture("swing", run.t, markers)
own, other = (walking.inverse_kinematics(model, trial) for model in (reading, classical))
off = max(np.abs(own.q[f"ankle_{name}"] - run.angles["ankle"].values[name]).max() for name in ("theta_i", "theta_j"))
print(f"modified universal joint: angles of the run within {off:.0e} rad, markers within {1e3 * own.worst[1]:.0e} mm")
print(f"classical universal joint: markers within {1e3 * other.worst[1]:.1f} mm")
assert off < 1e-7 and own.worst[1] < 1e-8 < other.worst[1]

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for ax, name, title in zip(axes, ("ankle_theta_i", "ankle_theta_j"), ("talocalcaneal", "talocrural"), strict=False):
    ax.plot(own.t, np.rad2deg(own.q[name]), label="modified universal")
    ax.plot(other.t, np.rad2deg(other.q[name]), "--", label="universal")
    ax.set(title=f"{title} angle", xlabel="time [s]", ylabel="[deg]")
for motion, dashes in ((own, "-"), (other, "--")):
    axes[2].plot(motion.t, 1e3 * motion.rms, dashes)
axes[2].set(title="distance of the markers, RMS", xlabel="time [s]", ylabel="[mm]")
axes[0].legend()
figure.savefig("swapped_ankle.png")
