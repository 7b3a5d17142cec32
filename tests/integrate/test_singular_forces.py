"""Messages of runs whose steps become short where a force or motor is singular."""

import numpy as np
import pytest

import runtime
from runtime import Builder, Status
from runtime.integrate.singular_forces import singular_force


def ball(damping, y):
    """A ball that passes the axis about which a motor turns its link, at a distance y [m]."""
    b = Builder("ball", gravity=(0, 0, 0))
    b.body("ball", mass=1.0, inertia=(0.02, 0.02, 0.03), r=(0.5, y, 0.3), v=(-1.0, 0, 0), free=True)
    b.motor(
        "link", "guided_link", "ground", "ball", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(1, 0, 0), h_i=(0, 0, 1), beta_t=0.0,
        stiffness=2.0, damping=damping,
    )  # fmt: skip
    return b.build()


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize(
    ("damping", "y", "status"), [(0.02, 1e-3, Status.TOO_MANY_STEPS), (0.5, 0.0, Status.STEP_TOO_SMALL)]
)
def test_short_steps_name_the_motor(damping, y, status, coordinates):
    run = runtime.simulate(ball(damping, y), 3.0, method="dop853", rtol=1e-8, atol=1e-8, coordinates=coordinates)
    assert run.status == status
    assert (
        run.message.count("motor 'link' (guided_link) changes abruptly there: it is singular when the link or a_i is")
        == 1
    )


def sprung(kind, **law):
    b = Builder("arm", gravity=(0, 0, 0))
    b.body("arm", mass=1.0, inertia=(0.02, 0.02, 0.03), r=(0, 0, 0.5), v=(0, 0, 0.1), omega=(0, 1.0, 0), free=True)
    b.force("hold", kind, "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 0), **law)
    return b.build()


def at(system, angle):
    """The state of the arm after a turn about y."""
    y = system.state.y.copy()
    y[3:7] = np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0
    return singular_force(0.0, y, system, system.data)


def test_a_force_is_named_near_its_singular_pose_alone():
    springs = {f"{part}_{axis}": 1.0 for part in ("k", "c", "kt", "ct") for axis in ("xi", "eta", "zeta")}
    system = sprung("bushing", **springs)
    assert at(system, np.pi / 2 - 1e-6).startswith("force 'hold' (bushing) changes abruptly there: it is singular when")
    assert at(system, 0.0) == at(system, 1.4) == ""


@pytest.mark.parametrize("length", [0.5, 0.5 - 1e-6, 0.5 + 1e-6, 0.4])
def test_a_kink_is_no_singular_pose(length):
    assert at(sprung("cable", stiffness=100.0, loss=0.5, slack_length=length), 0.0) == ""
