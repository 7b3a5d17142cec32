"""PD laws: a joint in closed form, and an arm of six hinges for 1 s beside MuJoCo at equal error.

Continuous laws are servos of MJCF, which Talus reads as motors and MuJoCo has as actuators; sampled ones are functions in Python
that both programs call at 1 kHz.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import models
import runtime
from benchmarks.files.motion import first_within
from benchmarks.files.states import Floats
from benchmarks.measure import Answer, BenchmarkError, Say
from runtime import System
from runtime.analysis.mechanics import Mechanics
from runtime.integrate import RunState
from runtime.report import Report, Table

KP, KD, INERTIA = 40.0, 3.0, 0.1  # [N m/rad], [N m s/rad], [kg m^2] of the joint
START = 0.7  # [rad] away from the target, at rest
RATE = 1000  # [Hz]
GAINS = ((400, 400, 200, 60, 40, 20), (40, 40, 20, 4, 2, 1))  # of the arm
POSE = (0.3, -0.5, 0.8, 0.4, -0.6, 0.2)  # [rad] away from the targets
WANTED = (1e-6, 1e-9)  # [rad]
TOLERANCES = tuple(10.0**-k for k in range(4, 13))
STEPS = tuple(125 * 2**k for k in range(10))  # of MuJoCo in 1 s
EXACT = 1e-13


def ask(*, quick: bool, say: Say) -> Answer:
    """Both joints and both arms."""
    say("a joint")
    tables = [_joint()]
    for name, table in (("a continuous law", _continuous), ("a sampled law", _sampled)):
        say(f"an arm with {name}")
        try:
            tables += [table(wanted) for wanted in (WANTED[:1] if quick else WANTED)]
        except ImportError as error:
            raise BenchmarkError(f"MuJoCo cannot be asked: {error}; pip install mujoco") from None
    return Answer(Report("PD laws", tables), {})


def joint(*, sampled: bool) -> System:
    """A hinge without gravity, with a PD law towards 0."""
    b = runtime.Builder("joint", gravity=(0, 0, 0))
    b.body("arm", mass=1.0, inertia=(1.0, INERTIA, 1.0), r=(0, 0, 0))
    b.joint("hinge", "revolute", "ground", "arm", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    law: dict[str, Any] = {"effort": 0.0} if sampled else {"stiffness": KP, "damping": KD, "target": 0.0}
    b.motor("servo", coordinate="hinge.angle", **law)
    return b.build()


def continuous_angle(t: Floats) -> Floats:
    """J a'' + KD a' + KP a = 0 from rest at START."""
    roots = np.roots([INERTIA, KD, KP]).astype(complex)
    parts = START / (roots[1] - roots[0]) * np.array([roots[1], -roots[0]])
    return np.asarray((parts[:, None] * np.exp(roots[:, None] * t)).sum(axis=0).real)


def sampled_angle(count: int) -> Floats:
    """Angles at count + 1 calls: the moment is constant between calls."""
    a, w, h, found = START, 0.0, 1.0 / RATE, [START]
    for _ in range(count):
        change = -(KP * a + KD * w) / INERTIA
        a, w = a + h * w + 0.5 * h**2 * change, w + h * change
        found.append(a)
    return np.array(found)


def _joint() -> Table:
    t = np.linspace(0.0, 1.0, RATE + 1)
    rows = []
    for name, wanted in (("continuous", continuous_angle(t)), ("sampled", sampled_angle(RATE))):
        system = joint(sampled=name == "sampled")
        m = runtime.mechanics(system)
        names = list(system.motor_names)
        control = runtime.Controller("law", _law(np.array([KP]), np.array([KD])), rate_hz=RATE, efforts=names)
        controllers = [control] if name == "sampled" else []
        run = runtime.simulate(system, 1.0, initial=m.state([START]), t_eval=t, controllers=controllers)
        rows.append([name, float(np.abs(run.angles["hinge"].angle - wanted).max())])
    note = "Largest difference of the angle from the closed form in 1 s, default tolerances; the sampled law at 1 kHz."
    return Table("joint", ["law", "error [rad]"], rows, note)


def _law(kp: Floats, kd: Floats) -> Callable[[float, RunState], Floats]:
    return lambda t, state: -kp * state.q - kd * state.u


def arm(servos: bool) -> str:
    """An arm of six hinges in MJCF, with servos towards 0 or with motors."""
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
    lengths, masses = (0.2, 0.4, 0.35, 0.1, 0.1, 0.08), (4.0, 6.0, 4.0, 1.5, 1.0, 0.5)
    bodies, at = "", "0 0 0.1"
    for k, (axis, length, mass) in enumerate(zip(axes, lengths, masses, strict=True)):
        moment = mass * length**2 / 10 + 0.002
        bodies += (
            f'<body name="link_{k}" pos="{at}"><joint name="joint_{k}" axis="{axis}"/><inertial mass="{mass}" '
            f'pos="0.01 0.02 {length / 2}" diaginertia="{moment} {1.1 * moment} {0.5 * moment}"/>'
        )
        at = f"0 0 {length}"
    kinds = (
        f'<position name="servo_{k}" joint="joint_{k}" kp="{kp}" kv="{kd}"/>'
        if servos
        else f'<motor name="servo_{k}" joint="joint_{k}"/>'
        for k, (kp, kd) in enumerate(zip(*GAINS, strict=True))
    )
    return (
        f'<mujoco model="arm"><compiler angle="radian"/><option><flag contact="disable"/></option><worldbody>{bodies}'
        f"{'</body>' * 6}</worldbody><actuator>{''.join(kinds)}</actuator></mujoco>"
    )


def read_arm(servos: bool) -> tuple[Mechanics, Any]:
    """The arm in both programs."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.xml"
        file.write_text(arm(servos), encoding="utf-8")
        return runtime.mechanics(models.read(file, actuators=True).build()), mujoco.MjModel.from_xml_path(str(file))


def _continuous(wanted: float) -> Table:
    m, model = read_arm(servos=True)

    def own(tolerance: float) -> Floats:
        run = runtime.simulate(
            m.system, 1.0, initial=m.state(_pose(m)), t_eval=[1.0], rtol=tolerance, atol=tolerance, coordinates="joint"
        )
        return m.of(run)[0][-1]

    def other(steps: int) -> Callable[[], Floats]:
        def run() -> Floats:
            mujoco, data = _started(model, steps)
            mujoco.mj_step(model, data, nstep=steps)
            return np.array(data.qpos)

        return run

    return _at_equal_error("continuous", wanted, own, other)


def _sampled(wanted: float) -> Table:
    m, model = read_arm(servos=False)
    kp, kd = np.array(GAINS, float)
    controller = runtime.Controller("law", _law(kp, kd), rate_hz=RATE, efforts=[f"servo_{k}" for k in range(6)])

    def own(tolerance: float) -> Floats:
        run = runtime.simulate(
            m.system, 1.0, initial=m.state(_pose(m)), t_eval=[1.0], rtol=tolerance, atol=tolerance, coordinates="joint",
            controllers=[controller],
        )  # fmt: skip
        return m.of(run)[0][-1]

    def other(steps: int) -> Callable[[], Floats]:
        def run() -> Floats:
            mujoco, data = _started(model, steps)
            for _ in range(RATE):
                data.ctrl[:] = -kp * data.qpos - kd * data.qvel
                mujoco.mj_step(model, data, nstep=steps // RATE)
            return np.array(data.qpos)

        return run

    return _at_equal_error("sampled", wanted, own, other)


def _pose(m: Mechanics) -> Floats:
    return m.configuration({f"joint_{k}.angle": angle for k, angle in enumerate(POSE)})


def _started(model: Any, steps: int) -> tuple[Any, Any]:
    import mujoco

    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1.0 / steps
    data = mujoco.MjData(model)
    data.qpos[:] = POSE
    return mujoco, data


def _at_equal_error(
    law: str, wanted: float, own: Callable[[float], Floats], other: Callable[[int], Callable[[], Floats]]
) -> Table:
    steps = [n for n in STEPS if law == "continuous" or n % RATE == 0]
    exact = own(EXACT)
    settings = [(f"tolerance {x:g}", lambda x=x: own(x)) for x in TOLERANCES]
    rows = [
        ["Talus", *first_within(wanted, settings, exact)],  # type: ignore[arg-type]
        ["MuJoCo, RK4", *first_within(wanted, [(f"{n} steps", other(n)) for n in steps], exact)],
    ]
    note = (
        f"1 s of an arm of six hinges with a PD law on each, under gravity: the first setting with an error of the angles below "
        f"{wanted:g} rad of a run with tolerance {EXACT:g}, and the least of several times."
    )
    return Table(f"{law} law to {wanted:g} rad", ["program", "setting", "error [rad]", "time [ms]"], rows, note)
