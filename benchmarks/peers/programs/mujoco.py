"""The modified foot in MuJoCo: one body on two hinges, the talocrural one fixed in the leg, the talocalcaneal one in the foot.

MuJoCo applies the joints of one body one after the other, each about its own point; the massless link between them is the talus.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.interface import TREE, Body, Chain, Chained, Floats, Foot, Prepared, Repeated

NAME, DISTRIBUTION, METHOD, INPUT = "MuJoCo", "mujoco", "RK4", TREE
KNOB, LADDER, SHOWN = "step [s]", [10.0 ** (-k / 80) for k in range(120, 321)], [0.02 / 2**k for k in range(8)]
STAGES = 4  # evaluations per step of RK4


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def mjcf(foot: Foot) -> str:
    """The foot as MJCF, with all digits."""
    main, toes = foot.main_foot, foot.toes
    r = np.array(main.r)

    def inertial(body: Body) -> str:
        return f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_text(body.inertia)}"/>'

    return f"""
<mujoco model="foot">
  <compiler angle="radian" inertiafromgeom="false" fusestatic="true"/>
  <option integrator="RK4" gravity="{_text(foot.gravity)}"/>
  <worldbody>
    <body name="main_foot" pos="{_text(r)}">
      {inertial(main)}
      <joint name="talocrural" type="hinge" pos="{_text(foot.talocrural - r)}" axis="{_text(foot.talocrural_axis)}"/>
      <joint name="talocalcaneal" type="hinge" pos="{_text(foot.talocalcaneal - r)}" axis="{_text(foot.talocalcaneal_axis)}"/>
      <body name="toes" pos="{_text(toes.r - r)}">{inertial(toes)}</body>
    </body>
  </worldbody>
</mujoco>"""


def _lean(model: Any) -> Any:
    """The model with every feature that it does not need switched off, which makes MuJoCo faster."""
    import mujoco

    flags = {name: int(flag) for name, flag in mujoco.mjtDisableBit.__members__.items() if name.startswith("mjDSBL_")}
    model.opt.disableflags = sum(flags.values()) - flags["mjDSBL_GRAVITY"]
    return model


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """Fixed steps of RK4 in MuJoCo's own loop; ``mujoco.rollout`` is the same loop and was not faster."""
    import mujoco

    model = _lean(mujoco.MjModel.from_xml_string(mjcf(foot)))
    steps = round(end / setting)
    model.opt.timestep = end / steps
    data, body = mujoco.MjData(model), model.body("main_foot").id

    def run() -> None:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=steps)

    def motion() -> tuple[Floats, Floats]:
        mujoco.mj_resetData(model, data)
        stride = max(1, steps // outputs)
        times = np.arange(0, steps + 1, stride) * (end / steps)
        found = np.empty((len(times), 3))
        for n in range(len(times)):
            mujoco.mj_kinematics(model, data)
            found[n] = data.xpos[body]  # the body's frame is at its own centre of mass
            mujoco.mj_step(model, data, nstep=stride)
        return times, found

    return Prepared(run, motion, lambda: STAGES * steps)


def evaluation(foot: Foot) -> Repeated:
    """One of the four evaluations of a step of RK4, in MuJoCo's own loop."""
    steps = 2000
    return Repeated(prepare(foot, 2e-4 * steps, 2e-4, 1).run, STAGES * steps)


def chain(chain: Chain) -> Chained:
    """Nested bodies on ball joints; one evaluation is ``mj_forward`` within a step of Euler's method, the cheapest one."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.option.gravity = chain.gravity
    body = spec.worldbody
    for link in range(chain.links):
        body = body.add_body(
            pos=[chain.length if link else 0.0, 0.0, 0.0], mass=chain.mass, ipos=[chain.length / 2, 0.0, 0.0],
            inertia=chain.inertia, explicitinertial=True,
        )  # fmt: skip
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    model = _lean(spec.compile())
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    angular_accelerations = np.cumsum(data.qacc.reshape(-1, 3)[:, 1])
    model.opt.timestep = 1e-7  # so short that the state hardly changes
    steps = max(1, 3000 // chain.links)
    return Chained(Repeated(lambda: mujoco.mj_step(model, data, nstep=steps), steps), angular_accelerations)
