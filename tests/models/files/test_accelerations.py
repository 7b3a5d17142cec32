"""Accelerations of models that were read, against d'Alembert's principle on the links and against the owner of the format."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.files.owners import MuJoCo, Pinocchio, largest_error
from benchmarks.files.states import accelerations_of, random_sample, state_of, talus_accelerations
from runtime.system.trees import trees_of
from tests.support import model_files
from tests.support.file_states import worst
from tests.support.reduced_links import by_links, reduced_accelerations

EXACT = 1e-9
FILES = {name: model_files.mjcf(joints) for name, joints in model_files.JOINTS.items()} | {
    "floating": model_files.FLOATING
}
ROBOTS = {
    **{kind: (model_files.urdf("", kind=kind), False) for kind in ("revolute", "continuous", "prismatic")},
    "chain": (model_files.urdf(*model_files.MASSLESS), False), "floating": (model_files.urdf(*model_files.MASSLESS), True),
}  # fmt: skip


@pytest.fixture(params=FILES)
def model(request, read):
    return read(FILES[request.param], "model.xml")


@pytest.fixture(params=ROBOTS)
def robot(request, read):
    text, floating = ROBOTS[request.param]
    return read(text, "model.urdf", floating=floating)


@pytest.mark.slow
def test_mjcf_against_the_principle_of_dalembert(model):
    assert worst(model, by_links(model)) < EXACT


def test_mjcf_against_mujoco(model):
    assert worst(model, MuJoCo(model).accelerations) < EXACT and trees_of(model.build()).tree is not None


def test_urdf_against_the_principle_of_dalembert(robot):
    assert worst(robot, by_links(robot)) < EXACT


def test_urdf_against_pinocchio(robot):
    pytest.importorskip("pinocchio")
    assert worst(robot, Pinocchio(robot).accelerations) < EXACT


def test_stops_push_back_beyond_the_range(read):
    """Moment by hand: stiffness = inertia / time^2 of the constraint, K d (1 + loss d')."""
    joint = '<joint name="a" axis="1 0 0" range="-0.4 0.6"/><joint name="b" axis="0.3 1 0" range="-0.2 0.5"/>'
    reading = read(model_files.mjcf(joint), "model.xml")
    system, random = reading.build(), np.random.default_rng(2)
    free = replace(reading, description=reading.description.changed())
    for a, b in ((0.8, 0.1), (-0.7, 0.9), (0.1, -0.5)):
        sample = random_sample(reading, random)
        sample.q.update(a=a, b=b)
        steps = {step.name: step for _, step in free.description.steps}
        pushes = {}
        for name, value in (("a", a), ("b", b)):
            beyond = max(value - steps[name].upper, 0.0) + min(value - steps[name].lower, 0.0)
            stiffness = system.force(f"{name}_stop").values["stiffness"]
            pushes[name] = -stiffness * beyond * max(1.0 + np.sign(beyond) * sample.u[name], 0.0)
        wanted = accelerations_of(reading, system, sample, reduced_accelerations(reading.description, sample, pushes))
        found = talus_accelerations(system, state_of(reading, system, sample))
        assert largest_error(wanted, found) < 1e-8
