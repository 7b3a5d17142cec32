"""Problems in MuJoCo: trees of bodies, springs as spatial tendons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.mechanisms.geometry import GROUND, Data, Floats, Points, Pose, poses, refuse_unknown, stepped, tree

NAME, DISTRIBUTION = "MuJoCo", "mujoco"
KINDS = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}
STAGES = 4  # evaluations per step of RK4


def method(data: Data) -> str:
    """The implicit method where dampers may be stiff."""
    return "implicit" if _damped(data) else "RK4"


def _damped(data: Data) -> bool:
    return any(force.get("c", 0.0) > 0.0 for force in data["forces"])


def settings(data: Data, t_end: float) -> list[float]:
    """Steps [s]."""
    return stepped(t_end)


def prepare(data: Data, times: Floats, points: Points, setting: float) -> Callable[[], tuple[Floats, int | None]]:
    """Steps of equal length between two times, in MuJoCo's own loop."""
    import mujoco

    refuse_unknown(data, tuple(KINDS), ("spring_damper", "body_torque"), loops="closes loops by soft constraints only")
    model = mujoco.MjModel.from_xml_string(_mjcf(data))
    start, where = mujoco.MjData(model), poses(data)
    for branch in tree(data)[0]:
        kind, turning = branch.joint["type"], branch.turning(where)
        if kind == "spherical":
            velocity = where[branch.child].A.T @ turning
        else:
            velocity = [branch.axis() @ (turning if kind == "revolute" else branch.sliding(where))]
        first = model.joint(branch.joint["name"]).dofadr[0]
        start.qvel[first : first + len(velocity)] = velocity
    for force in data["forces"]:
        if force["type"] == "body_torque":
            start.xfrc_applied[model.body(force["body"]).id, 3:] += force["torque"]
    sites = [(model.body(body).id, np.array(local, float)) for body, local in points]
    counts = [max(1, round(gap / setting)) for gap in np.diff(times)]

    def run() -> tuple[Floats, int | None]:
        now, found = mujoco.MjData(model), np.empty((len(points), len(times), 3))
        now.qvel[:], now.xfrc_applied[:] = start.qvel, start.xfrc_applied
        for n in range(len(times)):
            if n:
                model.opt.timestep = (times[n] - times[n - 1]) / counts[n - 1]
                mujoco.mj_step(model, now, nstep=counts[n - 1])
            mujoco.mj_kinematics(model, now)
            for k, (body, local) in enumerate(sites):
                found[k, n] = now.xpos[body] + now.xmat[body].reshape(3, 3) @ local
        return found, sum(counts) * (1 if _damped(data) else STAGES)

    return run


def _text(values: Iterable[Any]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _mjcf(data: Data) -> str:
    """The problem as MJCF, with all digits."""
    where, springs = poses(data), [f for f in data["forces"] if f["type"] == "spring_damper"]
    tendons = "".join(
        f'<spatial stiffness="{f["k"]!r}" damping="{f.get("c", 0.0)!r}" springlength="{f["l0"]!r}">'
        f'<site site="{f["name"]}_i"/><site site="{f["name"]}_j"/></spatial>'
        for f in springs
    )
    sites: dict[str, str] = {}
    for f in springs:
        for end in "ij":
            at = _text(where[f[end]].local(f[f"point_{end}"]))
            sites[f[end]] = sites.get(f[end], "") + f'<site name="{f["name"]}_{end}" pos="{at}"/>'
    return f"""
<mujoco model="problem">
  <compiler angle="radian" inertiafromgeom="false"/>
  <option integrator="{method(data)}" gravity="{_text(data["gravity"])}"><flag contact="disable"/></option>
  <worldbody>{sites.get(GROUND, "")}{_children(data, where, sites, GROUND)}</worldbody>
  <tendon>{tendons}</tendon>
</mujoco>"""


def _children(data: Data, where: dict[str, Pose], sites: dict[str, str], parent: str) -> str:
    """The bodies that hang on a body, each with those that hang on it."""
    text = ""
    for branch in (branch for branch in tree(data)[0] if branch.parent == parent):
        body, pose, on = data["bodies"][branch.child], where[branch.child], where[parent]
        axis = "" if branch.joint["type"] == "spherical" else f'axis="{_text(pose.A.T @ branch.axis())}"'
        J = np.array(body["inertia"], float)
        x, y = (on.A.T @ pose.A).T[:2]
        text += (
            f'<body name="{branch.child}" pos="{_text(on.local(pose.r))}" xyaxes="{_text([*x, *y])}">'
            f'<inertial pos="0 0 0" mass="{body["mass"]!r}" '
            f'fullinertia="{_text(J[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))}"/>'
            f'<joint name="{branch.joint["name"]}" type="{KINDS[branch.joint["type"]]}" '
            f'pos="{_text(pose.local(branch.joint["point"]))}" {axis}/>'
            f"{sites.get(branch.child, '')}{_children(data, where, sites, branch.child)}</body>"
        )
    return text
