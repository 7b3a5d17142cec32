"""The modified foot in MuJoCo: one body on two hinges, the talocrural one fixed in the leg, the talocalcaneal one in the foot.

The joints of one body turn it one after the other, each about its own point: the massless link between them is the talus.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata, util
from typing import Any

import numpy as np

from benchmarks.measure import BODY, Floats, UnavailableError
from runtime import System

STAGES = 4  # evaluations in a step of RK4


def version() -> str:
    """MuJoCo's version.

    Raises
    ------
    UnavailableError
    """
    if util.find_spec("mujoco") is None:
        raise UnavailableError('mujoco is not installed; install it with: pip install "talus[peers]"')
    return metadata.version("mujoco")


def mjcf(system: System) -> str:
    """The model as MJCF, all numbers in full, from a foot with the modified ankle in its neutral pose."""
    r, ankle = system.state.r, system.joint("ankle")
    leg, of = ankle.body_j, ankle.values
    talocrural = r[leg] + of["s_j"] - r[BODY]  # at the neutral pose all frames are parallel

    def inertial(body: str) -> str:
        data = system.body(body)
        full = (data.inertia[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        return f'<inertial pos="0 0 0" mass="{data.mass!r}" fullinertia="{_text(full)}"/>'

    return f"""
<mujoco model="foot">
  <compiler angle="radian" inertiafromgeom="false" fusestatic="true"/>
  <option integrator="RK4" gravity="{_text(system.gravity)}"/>
  <worldbody>
    <body name="{BODY}" pos="{_text(r[BODY])}">
      {inertial(BODY)}
      <joint name="talocrural" type="hinge" pos="{_text(talocrural)}" axis="{_text(of["a_j"])}"/>
      <joint name="talocalcaneal" type="hinge" pos="{_text(of["s_i"])}" axis="{_text(of["a_i"])}"/>
      <body name="toes" pos="{_text(r["toes"] - r[BODY])}">{inertial("toes")}</body>
    </body>
  </worldbody>
</mujoco>"""


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def prepare(
    system: System, t_end: float, steps: int, outputs: int
) -> tuple[Callable[[], None], Callable[[], tuple[Floats, Floats]]]:
    """A run from 0 to ``t_end`` [s] with this many steps of RK4.

    Returns
    -------
    run : callable
        The whole motion in MuJoCo's own loop, without outputs; ``mujoco.rollout`` is the same loop and was not faster.
    motion : callable
        At least ``outputs`` times, if there are as many steps, (n,) [s]; positions of the main foot's centre of mass,
        (n, 3) [m].
    """
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(system))
    model.opt.timestep = t_end / steps
    # Everything that this model has no use for is switched off, in MuJoCo's favour.
    flags = {name: int(flag) for name, flag in mujoco.mjtDisableBit.__members__.items() if name.startswith("mjDSBL_")}
    model.opt.disableflags = sum(flags.values()) - flags["mjDSBL_GRAVITY"]
    data, body = mujoco.MjData(model), model.body(BODY).id

    def run() -> None:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=steps)

    def motion() -> tuple[Floats, Floats]:
        mujoco.mj_resetData(model, data)
        stride = max(1, steps // outputs)
        times = np.arange(0, steps + 1, stride) * (t_end / steps)
        found = np.empty((len(times), 3))
        for n in range(len(times)):
            mujoco.mj_kinematics(model, data)
            found[n] = data.xpos[body]  # the body's frame is at its own centre of mass
            mujoco.mj_step(model, data, nstep=stride)
        return times, found

    return run, motion
