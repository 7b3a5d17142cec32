"""A misplaced hinge of an orthosis.

A hinge with one axis, the talocrural, or with two joins a plate on the foot and a cuff on the leg. Its axes coincide with the
ankle's, or are misplaced by 10 mm or 10 degrees. Springs strap the cuff to the leg. Once a second the ankle moves between 20
degrees of plantarflexion and of dorsiflexion, and inverts and everts by 5 degrees.

Bars: the larger peak of both senses of a misplacement. The force is largest with one axis for a turn in the transverse plane,
with two for an anterior or posterior shift.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import runtime
from models import foot

STIFFNESS = (1e4, 1e4, 1e4, 20.0, 20.0, 20.0)  # of the straps [N/m], [N m/rad]: chosen, not measured
DAMPING = (40.0, 40.0, 40.0, 0.2, 0.2, 0.2)  # [N s/m], [N m s/rad]
SHIFT, TURN = 0.01, 10.0  # [m], [deg]
CUFF = np.array([0.0, 0.0, 0.07])  # from the leg's centre of mass [m]
talocrural = np.add(foot.BODIES["leg"]["r"], foot.TALOCRURAL["leg"])
axes = np.array(
    [-foot.talocrural_axis(), foot.talocalcaneal_axis()]
)  # dorsiflexion and inversion are positive about them
points = talocrural - np.outer((0, foot.LINK_LENGTH), (0, 0, 1))


def worn(dorsiflexion, inversion, count=1, shift=(0, 0, 0), turn_deg=(0, 0, 0), stiffness=STIFFNESS):
    """Leg and foot with prescribed angles of the ankle [rad], and an orthosis with a hinge of one or two axes."""
    b = runtime.Builder("misplaced hinge", gravity=(0, 0, 0), axes="global")
    for name in ("leg", "main_foot"):
        b.body(name, **foot.BODIES[name])
    b.joint("ground", "fixed", "ground", "leg")
    link = dict(s_i=points[1], a_i=axes[1], s_j=points[0], a_j=axes[0], l=foot.LINK_LENGTH)
    b.joint("ankle", "modified_universal", "main_foot", "leg", **link)
    b.driver("dorsiflexion", "guided_link", "leg", "main_foot", s_i=points[0], s_j=points[1], a_i=(0, 0, -1), h_i=axes[0],
             beta_t=dorsiflexion)  # fmt: skip
    b.driver("inversion", "guided_link", "main_foot", "leg", s_i=points[1], s_j=points[0], a_i=(0, 0, 1), h_i=-axes[1],
             beta_t=inversion)  # fmt: skip
    turn = Rotation.from_rotvec(turn_deg, degrees=True)
    hinge = {"point": talocrural + shift + turn.apply(points - talocrural), "axis": turn.apply(axes)}
    b.orthosis("afo", "leg", "main_foot", stiffness=(0, 0, 0), mass=(0.2, 0.15), plate=(0.005, 0, -0.05), cuff=CUFF,
               hinge={key: rows if count == 2 else rows[0] for key, rows in hinge.items()},
               straps={"cuff": {"stiffness": stiffness, "damping": DAMPING}})  # fmt: skip
    return b.build()


# At rest, with the ankle dorsiflexed by 20 degrees and springs that resist displacements alone, the centre of the cuff is as far
# from its place as that place is from the circle about the displaced hinge.
tilt, aside = np.deg2rad(20), np.array([SHIFT, 0, 0])
held = worn(tilt, 0.0, shift=aside, stiffness=(*STIFFNESS[:3], 0, 0, 0))
straps = runtime.simulate(held, 1e-9, initial=runtime.equilibrium(held)).forces["afo_cuff_strap"]
centre = np.add(foot.BODIES["leg"]["r"], CUFF)
arms = [centre - talocrural - Rotation.from_rotvec(a * axes[0]).apply(aside) for a in (0.0, tilt)]
radii = [np.linalg.norm(np.cross(axes[0], arm)) for arm in arms]
expected = STIFFNESS[0] * abs(radii[1] - radii[0])
force = np.linalg.norm(straps.force[0])
print(f"straps at rest: {force:.4f} N, closed form {expected:.4f} N")
assert abs(force - expected) < 1e-9 * expected

t = np.linspace(0, 2, 201)
second = t[t >= 1]  # the first cycle begins with a jerk of the cuff
motion = [runtime.Signal.spline(t, np.deg2rad(a) * np.sin(2 * np.pi * t + p)) for a, p in ((20, 0), (5, np.pi / 2))]
directions = {
    "anterior": dict(shift=(SHIFT, 0, 0)), "medial": dict(shift=(0, SHIFT, 0)), "up": dict(shift=(0, 0, SHIFT)),
    "frontal plane": dict(turn_deg=(TURN, 0, 0)), "sagittal plane": dict(turn_deg=(0, TURN, 0)),
    "transverse plane": dict(turn_deg=(0, 0, TURN)),
}  # fmt: skip


def peaks(motion, count, **misplaced):
    """Largest force [N] and energy [mJ] of the straps in a cycle."""
    run = runtime.simulate(worn(*motion, count, **misplaced), 2.0, t_eval=second, rtol=1e-7, atol=1e-7)
    assert run.success, run.message
    straps = run.forces["afo_cuff_strap"]
    return np.linalg.norm(straps.force, axis=1).max(), 1000 * straps.energy.max()


figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
cases = {"one axis, ankle without inversion": ((motion[0], 0.0), 1), "one axis": (motion, 1), "two axes": (motion, 2)}
for k, (label, case) in enumerate(cases.items()):
    aligned = peaks(*case)
    print(f"{label}, aligned: {aligned[0]:.1f} N, {aligned[1]:.1f} mJ")
    worst = []
    for direction, values in directions.items():
        senses = [peaks(*case, **{key: sign * np.array(value) for key, value in values.items()}) for sign in (1, -1)]
        worst.append(np.max(senses, axis=0))
        print(f"  {direction}: {worst[-1][0]:.1f} N, {worst[-1][1]:.1f} mJ")
    for ax, bars, level in zip(panels, np.transpose(worst), aligned, strict=True):
        ax.barh(np.arange(len(bars)) + 0.27 * (k - 1), bars, 0.27, color=f"C{k}", label=label)
        ax.axvline(level if level > 1 else np.nan, color=f"C{k}", lw=1, ls="--")
for ax, label in zip(panels, ("peak force of the straps [N]", "peak energy of the straps [mJ]"), strict=True):
    ax.set(xscale="log", xlim=(1, None), xlabel=label, yticks=range(len(directions)), yticklabels=list(directions))
panels[0].invert_yaxis()
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, title="dashed: aligned")
figure.savefig("misplaced_hinge.png", dpi=110)
