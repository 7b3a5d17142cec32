"""Systems that are written as files of other programs, and accelerations of all their bodies by these programs."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np

import runtime
from models import chain, double_pendulum, foot, free_body, pendulum
from runtime import Builder
from runtime.system import displaced

BRICK = dict(mass=1.3, inertia=((0.03, 0.002, -0.001), (0.002, 0.04, 0.003), (-0.001, 0.003, 0.05)))


def arm():
    """Two bodies that are joined in both directions, by a slide along a hinge and a universal joint that is not rectangular."""
    b = Builder("arm, both ways", gravity=(0.3, -0.2, -9.7), axes="global")
    b.body("base", **BRICK, r=(0.1, 0.2, 0.3), p=(0.8, 0.6, 0.0, 0.0))
    b.body("tip", mass=0.4, inertia=(0.004, 0.006, 0.005), r=(0.4, 0.1, 0.2), p=(0.6, 0.0, 0.8, 0.0))
    b.body("end", mass=0.2, inertia=(0.002, 0.001, 0.002), r=(0.6, 0.1, 0.0))
    b.joint("sleeve", "cylindrical", "base", "ground", point=(0, 0, 0.1), axis=(0.2, 0.3, 1.0))
    b.joint("cross", "universal", "tip", "base", point=(0.2, 0.2, 0.2), a_i=(1, 0, 0.2), a_j=(0.1, 1, 0))
    b.joint("link", "revolute", "tip", "end", point=(0.5, 0.1, 0.1), axis=(0, 1, 1))
    return b.build()


def sprung(damped=True):
    """Slides and a hinge with springs and dampers, a ball with a damper."""
    b = Builder("sprung", axes="global")
    b.body("cart", **BRICK, r=(0, 0, 0.5))
    b.body("rod", mass=0.4, inertia=(0.004, 0.006, 0.005), r=(0.3, 0.0, 0.5))
    b.body("bob", mass=0.2, inertia=(0.002, 0.001, 0.002), r=(0.6, 0.1, 0.5))
    b.joint("rail", "plane_translation", "ground", "cart", point=(0, 0, 0.5), a_i=(1, 0, 0), b_i=(0, 1, 0))
    b.joint("hinge", "revolute", "rod", "cart", point=(0.1, 0, 0.5), axis=(0, 1, 0.4))
    b.joint("ball", "spherical", "rod", "bob", point=(0.5, 0.05, 0.5))
    across = dict(b_i=(1, 0, 0), c_j=(0.8, 0.6, 0.0))
    b.force(
        "back", "hinge_spring", "rod", "cart", a_i=(0, -1, -0.4), **across, stiffness=5.0, damping=0.3, free_angle=0.4
    )
    points = dict(s_i=(0, 0.1, 0.5), s_j=(0.2, 0, 0.5))
    b.force(
        "along",
        "slider_spring",
        "cart",
        "ground",
        **points,
        a_i=(-1, 0, 0),
        stiffness=40.0,
        damping=2.0,
        free_distance=0.1,
    )
    if damped:
        b.force("slow", "rotational_damper", "rod", "bob", damping=0.2)
    return b.build()


WRITTEN = {
    **{f"foot, {ankle}, {side}": (lambda a=ankle, s=side: foot.build(a, side=s))
       for ankle in ("classical", "modified") for side in ("right", "left")},
    "double pendulum": double_pendulum.build, "chain": lambda: chain.build(4), "free body": free_body.build,
    "ball": lambda: pendulum.build("spherical"), "arm": arm, "sprung": sprung,
}  # fmt: skip


def moved(system, seed):
    """The system in a random state that its joints allow."""
    random, state = np.random.default_rng(seed), system.state
    for body in system.bodies:
        if not any(body.name in (joint.body_i, joint.body_j) for joint in system.joints):
            p = random.standard_normal(4)
            vectors = {key: {body.name: random.standard_normal(3)} for key in ("r", "v", "omega")}
            state = state.replace(**vectors, p={body.name: p / np.linalg.norm(p)})
    held = {one.name for one in system.joints for two in system.joints if one is not two and ends(one) == ends(two)}
    names = [f"{name}.{c}" for name, motion in system.joint_motions.items() if name not in held for c in motion.units]
    angles = dict(zip(names, random.uniform(-0.7, 0.7, len(names)), strict=True))
    rates = dict(zip(names, random.standard_normal(len(names)), strict=True))
    return replace(
        system, state=displaced(system, angles, rates, state=state), reference=system.reference_configuration
    )


def ends(joint):
    return {joint.body_i, joint.body_j}


def by_mujoco(file):
    """Poses, velocities and accelerations of bodies in the keyframe: r, A, omega, v, alpha, a by the name of the body."""
    import mujoco

    m = mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    mujoco.mj_rnePostConstraint(m, d)
    found, six = {}, np.zeros(6)
    for n in range(1, m.nbody):
        row = [d.xipos[n].copy(), d.xmat[n].reshape(3, 3).copy()]
        mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, n, six, 0)
        row += [six[:3].copy(), six[3:].copy()]
        mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_XBODY, n, six, 0)
        found[m.body(n).name] = (*row, six[:3].copy(), six[3:] + m.opt.gravity)
    return found


def by_pinocchio(file, q, u, damping):
    """The same by Pinocchio at coordinates and rates by the names of the file's joints."""
    import pinocchio as pin

    m = pin.buildModelFromUrdf(str(file))
    data, at, v, tau = m.createData(), pin.neutral(m), np.zeros(m.nv), np.zeros(m.nv)
    for name, value in q.items():
        if m.existJointName(name):
            joint = m.joints[m.getJointId(name)]
            at[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
            v[joint.idx_v], tau[joint.idx_v] = u[name], -damping.get(name, 0.0) * u[name]
    a = pin.aba(m, data, at, v, tau)
    pin.forwardKinematics(m, data, at, v, a)
    pin.updateFramePlacements(m, data)
    inertials = {link.get("name"): link.find("inertial/origin") for link in ET.parse(file).getroot().iter("link")}
    centres = {name: np.array(e.get("xyz").split(), float) for name, e in inertials.items() if e is not None}
    found, axes = {}, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for k, frame in enumerate(m.frames):
        if frame.type == pin.FrameType.BODY:
            speed, slope = (f(m, data, k, axes) for f in (pin.getFrameVelocity, pin.getFrameClassicalAcceleration))
            pose, d = data.oMf[k], data.oMf[k].rotation @ centres.get(frame.name, np.zeros(3))
            omega, alpha = speed.angular, slope.angular
            rim = np.cross(omega, d)
            v, a = speed.linear + rim, slope.linear + np.cross(alpha, d) + np.cross(omega, rim)
            found[frame.name] = (pose.translation + d, pose.rotation, omega, v, alpha, a)
    return found


OPENSIM = r"""
import json, sys, opensim
opensim.Logger.setLevelString("off")
file, motion, loads, time = sys.argv[1:5]
model = opensim.Model(file)
if loads:
    model.addModelComponent(opensim.ExternalLoads(loads, True))
state = model.initSystem()
state.setTime(float(time))
three = lambda v: [v.get(k) for k in range(3)]
bodies = [model.getBodySet().get(k) for k in range(model.getBodySet().getSize())]
def rows():
    found = {}
    for body in bodies:
        R = body.getTransformInGround(state).R()
        A = [[R.get(i, j) for j in range(3)] for i in range(3)]
        kinematic = (body.getAngularVelocityInGround, body.getLinearVelocityInGround)
        slopes = (body.getAngularAccelerationInGround, body.getLinearAccelerationInGround)
        place = three(body.getPositionInGround(state))
        found[body.getName()] = [place, A, *(three(f(state)) for f in kinematic), *(three(f(state)) for f in slopes)]
    return found
model.realizeAcceleration(state)
out = {"state": rows(), "motion": []}
coordinates = model.getCoordinateSet()
if motion:
    table = opensim.TimeSeriesTable(motion)
    out["columns"] = list(table.getColumnLabels())
    out["coordinates"] = [coordinates.get(k).getName() for k in range(coordinates.getSize())]
    storage = opensim.Storage(motion)
    model.getSimbodyEngine().convertDegreesToRadians(storage)
    for k in range(storage.getSize()):
        row, values = storage.getStateVector(k), opensim.ArrayDouble()
        for n, name in enumerate(out["columns"]):
            coordinate = coordinates.get(name)
            coordinate.setLocked(state, False)
            coordinate.setValue(state, row.getData().get(n), False)
        model.realizeAcceleration(state)
        out["motion"].append(rows())
print("ANSWER" + json.dumps(out))
"""


def by_opensim(file, motion="", loads="", time=0.0):
    """The same by OpenSim, in a process of its own: in the initial state with external loads, and at the times of a .mot file."""
    done = subprocess.run(
        [sys.executable, "-c", OPENSIM, str(file), str(motion), str(loads), repr(time)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER")]
    assert answers, done.stderr[-2000:]
    return json.loads(answers[0].removeprefix("ANSWER"))


def worst(system, found):
    """Largest differences of poses [m], [1], of velocities, and of accelerations as a fraction of the largest."""
    from benchmarks.files.states import talus_accelerations
    from runtime.system.reference import rotation_matrix

    own = talus_accelerations(system, system.state.y)
    errors, state = np.zeros(3), system.state
    for k, body in enumerate(system.body_names):
        r, A, omega, v, alpha, a = map(np.asarray, found[body])
        pose = max(np.abs(r - state.r[body]).max(), np.abs(A - rotation_matrix(state.p[body])).max())
        rate = max(np.abs(v - state.v[body]).max(), np.abs(omega - state.omega[body]).max())
        slope = np.abs(np.concatenate([a, alpha]) - own[k]).max() / np.abs(own).max()
        errors = np.maximum(errors, (pose, rate, slope))
    return errors


def same_run(system, other, names=None, t_end=1.0):
    """Largest difference of two runs: of coordinates, by names of those of the other, or of the places of all bodies."""
    t, settings = np.linspace(0.0, t_end, 11), dict(rtol=1e-11, atol=1e-11)
    one, two = (runtime.simulate(s, t_end, t_eval=t, **settings) for s in (system, other))
    assert one.success and two.success, (one.message, two.message)
    if names is None:
        return max(float(np.abs(one.r[body] - two.r[body]).max()) for body in system.body_names)
    pairs = [(one.angles[a][c], two.angles[b][d]) for (a, c), (b, d) in names.items()]
    return max(float(np.abs(x - y).max()) for x, y in pairs)
