"""Mechanics of models that were read, against the programs that own the formats.

Their rates u_o are tied to those of Talus by u = T u_o: columns of T are rates of states with unit rates in the file.
"""

import numpy as np
import pytest

import runtime
from benchmarks.files.owners import MuJoCo, Pinocchio
from benchmarks.files.states import Sample, accelerations_of, random_sample, state_of
from models.files import inverse_dynamics
from runtime import State
from tests.models.files.test_accelerations import FILES, ROBOTS
from tests.support import opensim_models
from tests.support.vectors import largest

EXACT = 1e-10  # of the largest entry


def alike(found, wanted):
    assert np.shape(found) == np.shape(wanted)
    assert largest(found - wanted) <= EXACT * max(largest(wanted), 1e-3)


class Compared:
    """A model in a random state: coordinates and rates of Talus, T, and T' u_o, for the order of the steps of an owner."""

    def __init__(self, reading, seed, names):
        self.reading, self.system = reading, reading.build()
        self.m, self.sample = runtime.mechanics(self.system), random_sample(reading, np.random.default_rng(seed))
        self.steps = {step.name: step for _, step in reading.description.steps}
        self.names, none = names, self.rates(lambda width: np.zeros(width))
        self.q, self.u = self.of(self.sample.u)
        columns = []
        for name in names:
            width = self.width(name)
            for c in range(width):
                unit = np.eye(width)[c]
                columns.append(self.of(none | {name: unit if width > 1 else float(unit[0])})[1])
        self.T = np.array(columns).T
        # Where the rates of the file are constant: rates of floating bodies are those of other points in Talus.
        accelerations = accelerations_of(reading, self.system, self.sample, none)
        self.drift = np.zeros(len(self.m.rate_names))
        for k, name in enumerate(self.m.rate_names):
            body, _, part = name.rpartition(".")
            if part in ("v_x", "v_y", "v_z"):
                self.drift[k] = accelerations[self.system.body_index(body), "xyz".index(part[-1])]

    def width(self, name):
        return {"free": 6, "ball": 3}.get(self.steps[name].kind, 1)

    def rates(self, value):
        return {n: value(self.width(n)) if self.width(n) > 1 else float(value(1)[0]) for n in self.steps}

    def of(self, rates):
        y = state_of(self.reading, self.system, Sample(self.sample.q, rates))
        return self.m.of(State(self.system.body_names, y))

    def agrees(self, M, bias):
        """Mass matrix, and efforts at constant rates with gravity, in the rates of the owner."""
        alike(self.T.T @ self.m.mass_matrix(self.q) @ self.T, M)
        alike(self.T.T @ self.m.inverse_dynamics(self.q, self.u, self.drift), bias)


@pytest.mark.parametrize("name", FILES)
def test_mass_matrix_bias_and_frames_against_mujoco(read, name):
    import mujoco

    sites = '<site name="tool" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"/>'
    reading = read(FILES[name].replace("<inertial", f"{sites}<inertial", 1), "model.xml")
    owner = MuJoCo(reading)
    model, data = owner.model, owner.data
    c = Compared(reading, 3, [step.name for step in owner.steps])
    owner.accelerations(c.sample)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    c.agrees(M, data.qfrc_bias)
    for k in range(1, model.nbody):
        pose = c.m.pose(f"{model.body(k).name}_origin", c.q)
        alike(pose.r, data.xpos[k])
        alike(pose.A.ravel(), data.xmat[k])
    pose, J = c.m.pose("tool", c.q), np.zeros((2, 3, model.nv))
    alike(pose.r, data.site_xpos[0])
    alike(pose.A.ravel(), data.site_xmat[0])
    mujoco.mj_jacSite(model, data, J[0], J[1], 0)
    alike(c.m.jacobian("tool", c.q) @ c.T, J.reshape(6, -1))
    mujoco.mj_subtreeVel(model, data)
    momentum = c.m.momentum(c.q, c.u)
    alike(c.m.centre_of_mass(c.q), data.subtree_com[0])
    alike(momentum[:3], model.body_mass.sum() * data.subtree_linvel[0])
    alike(momentum[3:], data.subtree_angmom[0])


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix_bias_and_frames_against_pinocchio(read, name):
    pin = pytest.importorskip("pinocchio")
    text, floating = ROBOTS[name]
    reading = read(text, "model.urdf", floating=floating)
    owner = Pinocchio(reading)
    names = [owner.free] if owner.free else []
    names += sorted((step.name for step in owner.steps), key=lambda name: owner.model.joints[owner.places[name]].idx_v)
    c = Compared(reading, 3, names)
    owner.accelerations(c.sample)
    model, data, q, u = owner.model, owner.data, owner.q, owner.u
    # Linear rates of a floating base: Pinocchio's are in axes of the link.
    own = np.eye(model.nv)
    drift = np.zeros(model.nv)
    if owner.free:
        A = c.sample.q[owner.free][1]
        own[:3, :3], drift[:3] = A.T, -np.cross(u[3:6], u[:3])
    M = pin.crba(model, data, q)
    M = own.T @ (np.triu(M) + np.triu(M, 1).T) @ own
    c.agrees(M, own.T @ pin.rnea(model, data, q, u, drift))
    pin.framesForwardKinematics(model, data, q)
    for frame, k in ((f, model.getFrameId(f)) for f in ("arm", "hand", "finger") if model.existFrame(f)):
        name = f"{frame}_origin"
        pose = c.m.pose(name, c.q)
        alike(pose.r, data.oMf[k].translation)
        alike(pose.A, data.oMf[k].rotation)
        J = pin.computeFrameJacobian(model, data, q, k, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        alike(c.m.jacobian(name, c.q) @ c.T, J.reshape(6, -1) @ own)
        J = pin.computeFrameJacobian(model, data, q, k, pin.ReferenceFrame.LOCAL)
        alike(c.m.jacobian(name, c.q, axes="frame") @ c.T, J.reshape(6, -1) @ own)


def test_efforts_of_an_opensim_leg_against_virtual_power(read):
    """A knee that slides along splines of its angle: its coordinates are independent, those of the slides follow."""
    reading = read(opensim_models.leg())
    m, random = runtime.mechanics(reading.build()), np.random.default_rng(5)
    names = {law.step: f"{'.'.join(reading.coordinates[law.step])}" for law in reading.source.laws if law.own}
    count = 4
    q, u, a = ({name: random.uniform(-0.5, 0.5, count) for name in (*names, "toe_out")} for _ in range(3))
    q["toe_out"], u["toe_out"], a["toe_out"] = np.zeros((3, count))
    wanted = inverse_dynamics(reading.source, q, u, a)
    reference = {name: one.default for name, one in reading.source.coordinates.items()}
    places = {step: m.rate_names.index(f"{name}_rate") for step, name in names.items()}
    assert sorted(places.values()) == list(range(len(m.rate_names)))
    for k in range(count):
        rates, changes = np.zeros((2, len(places)))
        for step, place in places.items():
            rates[place], changes[place] = u[step][k], a[step][k]
        at = m.configuration({name: q[step][k] - reference[step] for step, name in names.items()})
        found = m.inverse_dynamics(at, rates, changes)
        alike(found[list(places.values())], np.array([wanted[step][k] for step in places]))
        alike(m.forward_dynamics(at, rates, found), changes)
