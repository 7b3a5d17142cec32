"""Every result of a run is in its dataset and in its table."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import models
import runtime
from runtime import Builder, Cone, Event, Signal, inverse_dynamics, simulate

T = np.linspace(0.0, 0.3, 4)


def loaded():
    """A rod on a hinge with a limit of the same name, a spring, a load and a contact."""
    a = (0.0, 1.0, 0.0)
    b = Builder("loaded")
    b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.01), r=(0, 0, -0.5), v=(-1.0, 0, 0), omega=(0, 2.0, 0))
    b.joint("knee", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=a, s_j=(0, 0, 0.5), a_j=a)
    cone = Cone.from_degrees((0, 90, 180, 270, 360), [20.0] * 5)
    b.limit(
        "knee", "knee", reference="ground", xi=a, eta=(1, 0, 0), cone=cone, max_moment=20.0, compliance=0.2, damping=0.1
    )
    b.contact("tip", "rod", centre=(0, 0, -0.4), radius=0.1, law="hertz", stiffness=1e5, point=(0, 0, -0.99))
    b.force(
        "band",
        "spring_damper",
        "ground",
        "rod",
        s_i=(1, 0, 0),
        s_j=(0, 0, 0),
        stiffness=5.0,
        damping=1.0,
        free_length=1.0,
    )
    b.load("push", "rod", force=(0.0, 2.0, 3.0))
    return b.build()


@pytest.fixture(scope="module")
def run():
    return simulate(loaded(), 0.3, t_eval=T, events=[Event("low", lambda t, state: state.r["rod"][2] + 0.49)])


@pytest.fixture
def columns(run, tmp_path):
    return read(run.to_csv(tmp_path / "run.csv"))


def read(file):
    with open(file, encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert len(set(header)) == len(header)
    return dict(zip(header, np.array(rows, float).T, strict=True))


def test_a_run_with_other_times_is_written_without_the_work_at_them(run):
    fewer = replace(run, t=run.t[::3].copy(), states=run.states[::3].copy())
    assert "work" in run.to_xarray() and "work" not in fewer.to_xarray()
    with pytest.raises(runtime.ModelError, match="known at the 4 times that were integrated, not at the 2 times"):
        _ = fewer.energy_balance


def test_results_of_loads_limits_contacts_and_forces(run, columns):
    data = run.to_xarray()
    band, tip, reaction = run.forces["band"], run.contacts["tip"], run.reaction("knee", on="rod")
    assert (data["band.force_j"].values == band.force_j).all() and (
        columns["band.force_j_z [N]"] == band.force_j[:, 2]
    ).all()
    assert (data["band.moment_i"].values == band.moment_i).all() and (columns["band.tension [N]"] == band.tension).all()
    assert (data.contact_friction.sel(contact="tip").values == tip.friction).all() and "tip.friction_x [N]" in columns
    assert (columns["knee.reaction_force_x [N]"] == reaction.force[:, 0]).all()
    assert (columns["push.load_force_z [N]"] == 3.0).all()
    assert (columns["knee.angle [rad]"] == run.angles["knee"].angle).all()
    assert (columns["knee (limit).angle [rad]"] == run.limits["knee"].angle).all()
    balance = run.energy_balance
    for source, work in balance.work.items():
        assert (data.work.sel(source=source).values == work).all() and (columns[f"{source}.work [J]"] == work).all()
    assert (data.energy_balance_error.values == balance.error).all() and (
        columns["energy_balance_error [J]"] == balance.error
    ).all()
    assert (columns["centre_of_pressure_x [m]"] == run.ground_reaction().centre_of_pressure[:, 0])[
        tip.normal_force > 0
    ].all()
    assert data.contact_event_speed.values.tolist() == run.contact_events[:, 3].tolist()
    assert data.event_name.values.tolist() == ["low"] * len(run.events["low"])
    assert data.event_time.values == pytest.approx(run.events["low"]) and len(run.events["low"])


def test_forces_of_couplings(tmp_path):
    b = Builder("screw")
    b.body("nut", mass=2.0, inertia=(0.01, 0.02, 0.03), r=(0.0, 0.0, 0.1))
    b.joint("thread", "cylindrical", "ground", "nut", axes="global", point=(0, 0, 0), axis=(0, 0, 1))
    b.coupling("lead", "thread.distance", "thread.angle", 0.005)
    run = simulate(b.build(), 0.3, t_eval=T)
    force, data = run.coupling_forces["lead"], run.to_xarray()
    assert force.any() and (data.coupling_force.sel(coupling="lead").values == force).all()
    assert data.coupling_unit.values.tolist() == ["N"]
    assert (read(run.to_csv(tmp_path / "run.csv"))["lead.coupling_force [N]"] == force).all()


def test_efforts_of_driven_motions(tmp_path):
    b = Builder("guided")
    b.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -0.5))
    b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    values = dict(
        a_i=(0, 0, 1), h_i=(0, 1, 0), b_j=(0, 0, 1), theta_t=Signal.function(lambda t: 0.3 * np.sin(5 * t), 0.0, 0.3)
    )
    b.driver("angle", "guided_angle", "rod", "ground", **values)
    motion = inverse_dynamics(b.build(project_velocities=True), T)
    data, columns = motion.to_xarray(), read(motion.to_csv(tmp_path / "motion.csv"))
    (name, along), driver = next(iter(motion.degrees_of_freedom.items())), motion.driven["angle"]
    assert (data.degree_of_freedom_effort.sel(degree_of_freedom=name).values == along.effort).all()
    assert (columns[f"{name}.effort [N m]"] == along.effort).all() and along.effort.any()
    assert (data.signal_effort.sel(signal="angle.theta_t").values == driver.effort["theta_t"]).all()
    assert (columns["angle.theta_t.power [W]"] == driver.power).all()


def test_files_hold_what_datasets_hold(run, tmp_path):
    file = run.to_netcdf(tmp_path / "run.nc")
    import xarray

    again = xarray.load_dataset(file, engine="scipy", decode_timedelta=False)
    assert set(again.variables) == set(run.to_xarray().variables)
    assert runtime.results.read_netcdf(file).motion.t == pytest.approx(T)
    assert "knee_limit/angle" in run.to_sto(tmp_path / "run.sto").read_text()
    assert models.files.read_angles(tmp_path / "run.sto", run.system).data["angle.knee.angle"] == pytest.approx(
        run.angles["knee"].angle
    )
