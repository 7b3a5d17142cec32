"""Mechanics of models that were read, against the programs that own the formats."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.files.states import random_sample, state_of
from benchmarks.queries.by_mujoco import MuJoCoQueries
from benchmarks.queries.by_pinocchio import PinocchioQueries
from benchmarks.queries.question import Measured, bound_of, compare
from benchmarks.queries.tied import Tied
from models.files import inverse_dynamics
from models.files.motion import Coordinates, motion_of
from runtime import State
from tests.models.files.test_accelerations import FILES, ROBOTS
from tests.support import model_files, opensim_models
from tests.support.vectors import largest

EXACT = 1e-10  # of the largest entry


def alike(found, wanted):
    assert np.shape(found) == np.shape(wanted)
    assert largest(found - wanted) <= EXACT * max(largest(wanted), 1e-3)


def worst_of(reading, owner):
    """Queries of which a difference exceeds its bound."""
    found = Measured("model", reading.description.format)
    compare(found, reading, owner, 2)
    assert len(found.worst) == 19
    return {name: value for name, value in found.worst.items() if not value < bound_of(name)}


@pytest.mark.parametrize("name", FILES)
def test_all_queries_against_mujoco(read, name):
    reading = read(FILES[name], "model.xml")
    assert not worst_of(reading, MuJoCoQueries(reading))


def test_a_site_against_mujoco(read):
    import mujoco

    site = '<site name="tool" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"/>'
    reading = read(next(iter(FILES.values())).replace("<inertial", f"{site}<inertial", 1), "model.xml")
    owner, sample = MuJoCoQueries(reading), random_sample(reading, np.random.default_rng(3))
    tied = Tied(reading, runtime.mechanics(reading.build()), owner, sample, np.ones(owner.count))
    owner.place(sample, np.ones(owner.count))
    pose, J = tied.m.pose("tool", tied.q), np.zeros((2, 3, owner.count))
    alike(pose.r, owner.data.site_xpos[0])
    alike(pose.A.ravel(), owner.data.site_xmat[0])
    mujoco.mj_jacSite(owner.model, owner.data, J[0], J[1], 0)
    alike(tied.m.jacobian("tool", tied.q) @ tied.T, J.reshape(6, -1))


@pytest.mark.parametrize("name", ROBOTS)
def test_all_queries_against_pinocchio(read, name):
    pytest.importorskip("pinocchio")
    text, floating = ROBOTS[name]
    reading = read(text, "model.urdf", floating=floating)
    assert not worst_of(reading, PinocchioQueries(reading))


def test_frames_of_links_without_mass(read):
    """Three such links in a row; the first, between the two turns of a modified universal joint, has no body."""
    joint = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="{4}"/><origin xyz="{5}"/></joint>'
    chain = [
        ("yaw", "continuous", "arm", "hub", "0 0 1", "0.1 0 0.2"),
        ("roll", "continuous", "hub", "rim", "1 0 0", "0 0.3 0.1"),
    ]
    chain += [
        ("pitch", "continuous", "rim", "fork", "0 1 0", "0 0 0"),
        ("lift", "continuous", "fork", "hand", "1 0 0", "0.2 0 0.1"),
    ]
    links = "".join(f'<link name="{name}"/>' for name in ("hub", "rim", "fork"))
    hand = f'<link name="hand">{model_files.INERTIAL.format(mass=0.3)}</link>'
    reading = read(model_files.urdf("".join(joint.format(*one) for one in chain), links + hand), "model.urdf")
    m, sample = runtime.mechanics(reading.build()), random_sample(reading, np.random.default_rng(2))
    assert "hub_origin" not in m.frame_names
    q, _ = m.of(State(m.system.body_names, state_of(reading, m.system, sample)))
    wanted = motion_of(reading.source.links, Coordinates(sample.q, sample.u, {}))
    for link in ("arm", "rim", "fork", "hand"):
        pose = m.pose(f"{link}_origin", q)
        alike(pose.r, wanted[link][-1].r)
        alike(pose.A, wanted[link][-1].A)


def test_mechanics_of_a_file(tmp_path):
    text, floating = ROBOTS["floating"]
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    m = runtime.mechanics(file, floating=True)
    assert (
        m.mass_matrix(m.q0).tolist()
        == runtime.mechanics(models.read(file, floating=True).build()).mass_matrix(m.q0).tolist()
    )
    assert len(runtime.mechanics(str(file)).rate_names) == len(m.rate_names) - 6
    with pytest.raises(runtime.ModelError, match="leave them out with a System"):
        runtime.mechanics(m.system, floating=True)
    with pytest.raises(runtime.ModelError, match="robot.obj"):
        runtime.mechanics(tmp_path / "robot.obj")


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
