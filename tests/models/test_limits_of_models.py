"""Limits of the foot and of the pendulum: energy, signs, results, and an independent reference."""

import pickle
from functools import cache

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import models
import runtime
from tests.support.limits import IRREGULAR, both_ankles, both_presets
from tests.support.reduced_foot import LINK_LENGTH, MOVING
from tests.support.reduced_limits import (
    ANATOMICAL,
    ANKLE_DAMPING,
    DOWN,
    PUBLISHED,
    PUBLISHED_CONE,
    ConeLimit,
    HingeLimits,
    LimitedFoot,
    Viscous,
    elliptical_cone,
)
from tests.support.refusals import assert_refused

# Energy


@pytest.mark.parametrize("shape", [*IRREGULAR, "published"])
def test_energy_of_the_pendulum(shape):
    thrown = dict(angle=0.3, longitude=0.7, omega=(3.0, 4.0, 1.0))
    options = {} if shape == "published" else dict(cone=IRREGULAR[shape], **thrown)
    run = runtime.simulate(models.pendulum.build(limits="elastic", **options), 5.0, rtol=1e-10, atol=1e-10)
    assert run.limits["pivot"].excess.max() > (0.05 if shape == "published" else 0.03)
    assert np.ptp(run.energy) < 1e-7


@both_ankles
@both_presets
def test_the_lost_energy_is_the_work_of_the_damper(ankle, preset):
    system = models.foot.build(ankle, limits="dissipative", preset=preset)
    run = runtime.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 8001))
    power = sum(motion.dissipated_power for motion in run.limits.values())
    assert (power >= 0.0).all()
    taken = cumulative_simpson(power, x=run.t, initial=0.0)
    assert taken[-1] > 0.2
    assert np.ptp(run.energy + taken) < 1e-7


def test_printed_law_has_no_potential_and_does_not_conserve():
    system = models.pendulum.build(limits="elastic", law="as_published")
    run = runtime.simulate(system, 5.0, rtol=1e-10, atol=1e-10)
    assert run.limits["pivot"].restricting_moment.max() > 1.0
    assert not run.elastic_energy.any() and not run.limits["pivot"].elastic_energy.any()
    free = run.limits["pivot"].excess == 0.0
    assert np.ptp(run.energy[free]) > 1e-3


def test_angle_of_a_cone_is_its_latitude():
    run = runtime.simulate(models.pendulum.build(limits="elastic"), 1.0)
    motion = run.limits["pivot"]
    assert np.array_equal(motion.angle, motion.latitude)
    u = np.einsum("nab,b->na", run.rotations("rod"), [0, 0, -1.0]) * [-1, 1, -1]  # in xi, eta, zeta
    assert np.abs(motion.latitude - np.arctan2(np.hypot(u[:, 0], u[:, 1]), u[:, 2])).max() < 1e-14
    assert np.abs(np.exp(1j * motion.longitude) - (u[:, 0] + 1j * u[:, 1]) / np.hypot(u[:, 0], u[:, 1])).max() < 1e-12
    assert np.abs(motion.rate - np.linalg.norm(run.omega["rod"], axis=1)).max() < 1e-14


# Results

QUANTITIES = (
    "angle", "rate", "latitude", "longitude", "maximum_latitude", "excess", "restricting_moment", "dissipative_moment",
)  # fmt: skip


@cache
def foot_run():
    return runtime.simulate(models.foot.build(limits="dissipative"), 0.5, t_eval=np.linspace(0, 0.5, 51))


def test_names_and_shapes():
    run = foot_run()
    assert tuple(run.limits) == run.system.limit_names == ("talocrural", "talocalcaneal")
    assert tuple(models.foot.build("classical", limits="elastic", preset="published").limit_names) == ("talocrural",)
    for name, motion in run.limits.items():
        assert motion.name == name
        for quantity in (*QUANTITIES, "elastic_energy", "dissipated_power"):
            assert getattr(motion, quantity).shape == (51,), quantity
            assert np.isfinite(getattr(motion, quantity)).all()
    assert np.abs(run.elastic_energy - sum(m.elastic_energy for m in run.limits.values())).max() < 1e-15
    assert not models.foot.build().limits and not runtime.simulate(models.foot.build(), 0.01).limits
    assert_refused("unknown limit 'knee'; the limits are talocrural, talocalcaneal", run.system.limit, "knee")


def test_exports_hold_the_limits(tmp_path):
    run = foot_run()
    data = run.to_xarray()
    assert list(data["limit"].values) == ["talocrural", "talocalcaneal"]
    table = np.genfromtxt(run.to_csv(tmp_path / "run.csv"), delimiter=",", names=True, deletechars="")
    storage = (run.to_sto(tmp_path / "run.sto")).read_text(encoding="utf-8")
    for quantity in QUANTITIES:
        values = np.stack([getattr(motion, quantity) for motion in run.limits.values()], axis=1)
        assert np.array_equal(data[f"limit_{quantity}"].values, values)
        assert data[f"limit_{quantity}"].attrs["units"]
        for k, limit in enumerate(run.limits):
            (column,) = [name for name in table.dtype.names if name.startswith(f"{limit}.{quantity}_[")]
            assert np.array_equal(table[column], values[:, k])
            assert f"{limit}/{quantity}" in storage
    assert data.elastic_energy.attrs["units"] == "J"


def test_systems_and_runs_with_limits_can_be_pickled():
    run = foot_run()
    system, again = pickle.loads(pickle.dumps(run.system)), pickle.loads(pickle.dumps(run))
    repeated = runtime.simulate(system, 0.5, t_eval=run.t)
    assert np.array_equal(repeated.states, run.states)
    for name, motion in run.limits.items():
        assert np.array_equal(repeated.limits[name].excess, motion.excess)
        assert np.array_equal(again.limits[name].angle, motion.angle)
        assert system.limit(name).cone == run.system.limit(name).cone
    with pytest.raises(TypeError):
        system.limit("talocrural").values["damping"] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        system.limit("talocrural").values["e_i"][0] = 1.0


# An independent reference

TIMES = np.linspace(0.0, 5.0, 101)


@pytest.mark.slow
@both_ankles
@both_presets
def test_foot_against_its_motion_in_two_angles(ankle, preset):
    damping = ANKLE_DAMPING
    if preset == "published" and ankle == "classical":
        model = ConeLimit(elliptical_cone(PUBLISHED_CONE), u=DOWN, viscous=Viscous(relative=damping))
    else:
        each = damping / 2 if preset == "published" else damping
        model = HingeLimits(
            **(PUBLISHED if preset == "published" else ANATOMICAL), viscous=Viscous(hinges=(each, each))
        )
    foot = LimitedFoot(LINK_LENGTH if ankle == "modified" else 0.0, model)
    angles = foot.solve(TIMES, tolerance=1e-12 if isinstance(model, ConeLimit) else 1e-11)
    motions = foot.bodies(angles)
    run = runtime.simulate(models.foot.build(ankle, limits="dissipative", preset=preset), TIMES[-1], t_eval=TIMES)
    assert max(np.abs(run.r[name] - motions[name].r).max() for name in MOVING) < 1e-7
    assert max(np.abs(run.omega[name] - motions[name].omega).max() for name in MOVING) < 1e-4
    if isinstance(model, HingeLimits):
        ours = np.stack([run.limits[name].angle for name in ("talocrural", "talocalcaneal")], axis=1)
        assert np.abs(ours - np.stack(model.angles(angles[:, 0], angles[:, 1]), axis=1)).max() < 1e-6
    else:
        assert np.abs(run.limits["talocrural"].excess - [max(model.excess(*y[:2]), 0.0) for y in angles]).max() < 1e-6
