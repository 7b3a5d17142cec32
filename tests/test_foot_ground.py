"""Foot and ground: standing, sliding, rolling, falling, by the implicit method and against SciPy's."""

import sys

import numpy as np
import pytest

import runtime
import runtime.cli
from models import drop_study, foot_ground, measures
from runtime import Builder, ModelError, Signal, equilibrium, linearisation, plots, simulate

G = 9.81


def block(tilt, *, friction="coulomb", mu_c=0.5, mu_d=0.0, speed=0.0, creep=1e-3):
    """A foot-like block on four spheres, at its static sink on an incline, about to slide down along it."""
    n, down = np.array([np.sin(tilt), 0.0, np.cos(tilt)]), np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    mass, stiffness, radius = 1.3, 4e4, 0.02
    sink = mass * G * np.cos(tilt) / 4 / stiffness
    b = Builder("block")
    b.body(
        "block", mass=mass, inertia=(3e-3, 4e-3, 5e-3), r=n * (0.03 + radius - sink), v=speed * down,
        p=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0), free=True,
    )  # fmt: skip
    for k, (x, y) in enumerate([(0.08, 0.03), (0.08, -0.03), (-0.08, 0.03), (-0.08, -0.03)]):
        b.contact(
            f"corner_{k}", "block", centre=(x, y, -0.03), radius=radius, law="kelvin_voigt", stiffness=stiffness,
            exponent=1.0, damping=300.0, friction=friction, mu_c=mu_c, mu_d=mu_d, normal=n, creep=creep,
        )  # fmt: skip
    return b.build(), down


STIFF = dict(method="radau", rtol=1e-9, atol=1e-9)
CRITICAL = np.arctan(0.5)


@pytest.mark.parametrize("over", [np.deg2rad(0.05), 0.1, 0.3])
def test_acceleration_on_an_incline_is_coulombs(over):
    system, down = block(CRITICAL + over)
    run = simulate(system, 1.0, **STIFF)
    coulomb = G * (np.sin(CRITICAL + over) - 0.5 * np.cos(CRITICAL + over))
    assert run.success and run.v["block"][-1] @ down > 1e-3
    assert run.v_dot["block"][-1] @ down == pytest.approx(coulomb, abs=1e-7)


@pytest.mark.parametrize("under", [np.deg2rad(0.05), 0.1, 0.3])
def test_below_the_critical_angle_only_creep_is_left(under):
    system, down = block(CRITICAL - under)
    run = simulate(system, 2.0, **STIFF)
    # What the regularisation states: the slip stays below the creep speed, where s(x) = 3/2 x - x^3/2 is the share needed.
    share = np.tan(CRITICAL - under) / 0.5
    x = min(root.real for root in np.roots([-0.5, 0.0, 1.5, -share]) if abs(root.imag) < 1e-9 and root.real > 0)
    assert run.v["block"][-1] @ down == pytest.approx(1e-3 * x, rel=1e-5)


def test_smooth_friction_is_short_of_coulombs_by_the_stated_share():
    tilt = CRITICAL + 0.2
    system, down = block(tilt, friction="smooth", speed=0.5, creep=0.01)
    run = simulate(system, 0.2, t_eval=[0.1, 0.2], **STIFF)
    for n in range(2):
        v = run.v["block"][n] @ down
        short = 1.0 - v / np.hypot(v, 0.01)
        assert short < 0.01**2 / (2 * v**2)
        a = G * (np.sin(tilt) - 0.5 * (1 - short) * np.cos(tilt))
        assert run.v_dot["block"][n] @ down == pytest.approx(a, abs=1e-6)


def ball(speed, omega, **changes):
    b = Builder("ball")
    b.body("ball", mass=0.4, inertia=(2e-4,) * 3, r=(0, 0, 0.0499), v=speed, omega=omega, free=True)
    settings = dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.5, friction="coulomb", mu_c=0.8, mu_d=3.0)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, **(settings | changes))
    return b.build()


def test_rolling_without_sliding_has_no_friction():
    run = simulate(ball((1.0, 0, 0), (0, 20.0, 0)), 0.5, **STIFF)
    contact = run.contacts["sole"]
    assert contact.normal_force.max() > 1.0
    assert np.abs(contact.slip).max() < 1e-12 and np.abs(contact.friction).max() < 1e-9
    assert run.v["ball"][-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_sliding_ball_ends_rolling_and_keeps_what_friction_cannot_change():
    run = simulate(ball((1.0, 0, 0), (0, 0, 0), mu_d=0.0), 1.0, **STIFF)
    # About the contact point: m R v + J omega stays; with v = omega R at the end.
    v, omega = run.v["ball"][-1, 0], run.omega["ball"][-1, 1]
    assert 0.4 * 0.05 * v + 2e-4 * omega == pytest.approx(0.4 * 0.05 * 1.0, rel=1e-7)
    assert v == pytest.approx(0.05 * omega, rel=1e-6)


def test_a_belt_carries_what_stands_on_it():
    run = simulate(ball((0, 0, 0), (0, 0, 0), belt=(1, 0, 0), belt_speed=0.7), 2.0, **STIFF)
    contact = run.contacts["sole"]
    assert np.abs(contact.slip[-1]).max() < 1e-6  # the ball rolls on the belt
    assert run.v["ball"][-1, 0] - 0.05 * run.omega["ball"][-1, 1] == pytest.approx(0.7, rel=1e-6)
    lifted = simulate(ball((0, 0, 0), (0, 0, 0), belt=(1, 0, 0), belt_speed=Signal.constant(0.7)), 2.0, **STIFF)
    assert np.array_equal(lifted.final.y, run.final.y)


# --- standing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", foot_ground.SHAPE_NAMES)
def test_a_standing_foot_carries_its_weight(shape):
    system = foot_ground.build(shape, height=0.0, pitch_deg=-2.0)
    state = equilibrium(system, simulate(system, 1.0, **STIFF).final)
    run = simulate(system, 1e-6, initial=state, **STIFF)
    masses = np.array([body.mass for body in system.bodies])
    reaction = run.ground_reaction()
    assert abs(reaction.force[0, 2] - G * masses.sum()) < 1e-10 * G * masses.sum()
    centre = sum(mass * state.r[name] for mass, name in zip(masses, system.body_names, strict=True)) / masses.sum()
    assert np.abs(reaction.centre_of_pressure[0, :2] - centre[:2]).max() < 1e-9
    assert reaction.centre_of_pressure[0, 2] == 0.0 and abs(reaction.free_moment[0]) < 1e-9
    still = simulate(system, 1.0, initial=state, **STIFF)
    assert max(np.abs(still.r[name][-1] - state.r[name]).max() for name in system.body_names) < 1e-7


def test_the_sink_of_a_sphere_is_that_of_its_law():
    system = ball((0, 0, 0), (0, 0, 0))
    sink = (0.4 * G / 1e5) ** (2 / 3)
    assert 0.05 - equilibrium(system).r["ball"][2] == pytest.approx(sink, rel=1e-10)
    stiffness = linearisation(system, equilibrium(system)).displacement[2, 2]
    assert -0.4 * stiffness == pytest.approx(1.5 * 1e5 * np.sqrt(sink), rel=1e-9)


def test_without_equilibrium_the_body_is_named():
    b = Builder("falling")
    b.body("stone", mass=1.0, inertia=(1, 1, 1), free=True)
    with pytest.raises(
        ModelError, match="system 'falling': no equilibrium .* body 'stone' is still accelerated by 9.8e"
    ):
        equilibrium(b.build())


def test_a_message_tells_why_there_is_no_equilibrium():
    hovering = Builder("hovering")
    hovering.body("ball", mass=0.4, inertia=(2e-4,) * 3, r=(0, 0, 0.1), free=True)
    hovering.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="hertz", stiffness=1e5)
    with pytest.raises(ModelError, match="no equilibrium near this state, where no displacement changes") as error:
        equilibrium(hovering.build())
    assert "200 steps" not in str(error.value) and "friction" not in str(error.value)
    system, _ = block(CRITICAL - 0.1)
    with pytest.raises(
        ModelError, match="friction begins with slip, so that of contact 'corner_0' holds nothing at rest"
    ):
        equilibrium(system)


# --- falling -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fall():
    return simulate(
        foot_ground.build(mu_d=3.0), 0.3, t_eval=np.linspace(0, 0.3, 61), method="radau", rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_a_fall_is_that_of_scipys_methods(fall, method):
    other = simulate(fall.system, 0.3, t_eval=fall.t, method=method, rtol=1e-8, atol=1e-9)
    assert other.success
    for name in fall.system.body_names:
        assert np.abs(fall.r[name] - other.r[name]).max() < 1e-6


def test_a_fall_by_both_compiled_methods(fall):
    # Friction makes the explicit method's steps short: it is asked for the first contacts only.
    other = simulate(fall.system, 0.12, t_eval=fall.t[:25], rtol=1e-11, atol=1e-11)
    assert max(np.abs(fall.r[name][:25] - other.r[name]).max() for name in fall.system.body_names) < 1e-8
    ours, theirs = (run.touches[run.touches[:, 0] < 0.12] for run in (fall, other))
    assert len(ours) == len(theirs) >= 1 and np.array_equal(ours[:, 1:3], theirs[:, 1:3])
    assert np.abs(ours[:, 0] - theirs[:, 0]).max() < 1e-9


def test_touch_downs_and_lift_offs_are_where_the_force_begins_and_ends(fall):
    assert any(len(contact.touch_down) for contact in fall.contacts.values())
    for name, contact in fall.contacts.items():
        for times, sign in ((contact.touch_down, 1), (contact.lift_off, -1)):
            for time in times:
                at = np.array([time - 1e-7, time + 1e-7]) if 1e-7 < time < 0.3 - 1e-7 else None
                if at is None:
                    continue
                run = simulate(fall.system, 0.3, t_eval=at, method="radau", rtol=1e-10, atol=1e-10)
                force = run.contacts[name].normal_force
                assert (force[1] > 0) == (sign > 0) and (force[0] > 0) == (sign < 0)


def test_energy_is_lost_and_never_gained(fall):
    assert np.diff(fall.energy).max() < 1e-7 * fall.energy[0]
    power = sum(contact.dissipated_power for contact in fall.contacts.values())
    assert power.min() >= 0.0 and power.max() > 1.0


def test_a_contact_that_gains_and_loses_its_force_without_end_is_ended():
    # The viscous part of Eq. (14) does not fade with the normal force, and pulls the sphere back as soon as it is without it.
    system = foot_ground.build(mu_d=30.0, pitch_deg=-10.0, speed=1.0)
    run = simulate(system, 1.0, method="radau", rtol=1e-8, atol=1e-8)
    assert run.success and len(run.touches) < 60


def test_methods_that_find_no_touch_down_are_refused_where_a_law_needs_it():
    b = Builder("ball")
    b.body("ball", mass=0.4, inertia=(2e-4,) * 3, r=(0, 0, 0.1), free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="flores", stiffness=1e5, exponent=1.5, restitution=0.7)
    with pytest.raises(
        ModelError, match="contact 'sole' damps by the speed of touch-down, which method 'BDF' does not find"
    ):
        simulate(b.build(), 0.1, method="BDF")


def test_events_and_steps_of_python_see_contacts(fall):
    rest = runtime.Event("up", lambda t, state: state.v["leg"][2], direction=1)
    run = simulate(fall.system, 0.3, events=[rest], method="radau", rtol=1e-10, atol=1e-10)
    assert run.success and len(run.events["up"]) >= 1
    assert np.array_equal(run.touches[:, 1:3], fall.touches[:, 1:3])
    assert np.abs(run.touches[:, 0] - fall.touches[:, 0]).max() < 1e-9


def test_data_of_contacts_are_written(fall, tmp_path):
    data = fall.to_xarray()
    assert list(data.contact.values) == [f"sphere_{k}" for k in range(1, 10)]
    assert data.contact_force.dims == ("time", "contact", "axis") and data.contact_force.attrs["units"] == "N"
    assert np.array_equal(data.contact_normal_force[:, 1], fall.contacts["sphere_2"].normal_force)
    assert len(data.touch_time) == len(fall.touches)
    text = fall.to_csv(tmp_path / "fall.csv").read_text().splitlines()[0]
    assert "sphere_2.normal_force [N]" in text and "sphere_9.point_z [m]" in text


@pytest.fixture(scope="module")
def dropped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drop")
    return folder, drop_study.drop(folder, lambda line: None, t_end=0.5)


def records(report, title):
    (table,) = [table for table in report.tables if table.title.startswith(title)]
    return table.records(), table.note


def test_drop(dropped):
    folder, report = dropped
    assert not report.failures
    names = {file.name for file in report.files}
    assert {"fig07_snapshots.png", "slip_and_lean.png", "reaction.svg", "soles.png", "Coulomb.nc", "flat.nc"} <= names
    assert [row[""] for row in records(report, "friction")[0]] == list(drop_study.FRICTIONS)


@pytest.fixture(scope="module")
def fine():
    """The first fall with so many outputs about the impact that sums over them are integrals."""
    system = foot_ground.build(**drop_study.FALL, mu_d=0.0)
    spans = ((0.1, 0.14, 5e-6), (0.10558, 0.10564, 2e-8), (0.0, 0.5, 1e-4))
    times = np.unique(np.concatenate([np.arange(*span) for span in spans] + [[0.5]]))
    return simulate(system, 0.5, t_eval=times, method="radau", rtol=1e-8, atol=1e-8)


def test_slip_is_that_of_the_spheres_on_the_ground(dropped, fine):
    rows, note = records(dropped[1], "friction")
    paths = {
        name.removeprefix("sphere_"): 1e3 * np.trapezoid(np.hypot(*c.slip[:, :2].T) * (c.normal_force > 0.0), fine.t)
        for name, c in fine.contacts.items()
    }
    most = max(paths, key=paths.get)
    assert rows[0]["sphere"] == most and rows[0]["slip [mm]"] == pytest.approx(paths[most], rel=2e-3)
    # The main foot's centre goes much farther: it is not slip.
    gone = 1e3 * (fine.r["main_foot"][-1, 0] - np.interp(fine.touches[0, 0], fine.t, fine.r["main_foot"][:, 0]))
    assert rows[0]["main foot [mm]"] == pytest.approx(gone, rel=1e-3) and gone > 5.0 * paths[most]
    change = abs(rows[1]["slip [mm]"] - rows[0]["slip [mm]"])
    assert 0.0 < change < 0.01 and f"the viscous part changes that by {change:.1g} mm" in note
    assert "takes 0.6 % of the work of friction, ten times of it 6 %" in note


def test_greatest_forces_are_those_between_outputs_too(dropped, fine):
    row = records(dropped[1], "friction")[0][0]
    force = fine.ground_reaction().force
    assert row["up [N]"] == pytest.approx(force[:, 2].max(), rel=2e-3)
    assert row["along [N]"] == pytest.approx(np.abs(force[:, 0]).max(), rel=5e-3)
    coarse = simulate(fine.system, 0.5, t_eval=np.linspace(0.0, 0.5, 501), method="radau", rtol=1e-8, atol=1e-8)
    assert np.abs(coarse.ground_reaction().force[:, 0]).max() < 0.7 * row["along [N]"]


def test_soles_stand_at_rest(dropped):
    rows, note = records(dropped[1], "standing")
    weight = G * sum(body.mass for body in foot_ground.build().bodies)
    shapes = {row.pop("sole"): row for row in rows}
    for row in shapes.values():
        assert row["sum"] == pytest.approx(weight, rel=1e-9)
        assert row["sum"] == pytest.approx(sum(row[str(k)] for k in range(1, 10)), rel=1e-12)
    assert shapes["cavus"] == shapes["normal"] and shapes["flat"]["4"] > 1.0
    assert (
        "A cavus foot differs in spheres 4 and 5 alone, and these touch neither of the normal nor of the cavus" in note
    )


@pytest.mark.parametrize(
    "options, sentence",
    [
        (
            dict(t_end=0.05),
            "the foot did not land within 0.05 s: it takes 0.101 s to fall 0.05 m; give a longer --t-end",
        ),
        (dict(height=1e9), "the foot did not land within 1 s: it takes 1.43e+04 s to fall 1e+09 m"),
    ],
)
def test_a_foot_that_does_not_land_is_no_result(tmp_path, options, sentence):
    report = drop_study.drop(tmp_path, lambda line: None, **options)
    assert len(report.failures) == 1 and report.failures[0].startswith(sentence)
    rows, note = records(report, "friction")
    assert all(row[name] is None for row in rows for name in ("slip [mm]", "main foot [mm]", "up [N]", "along [N]"))
    assert "Seed 004" not in note and "dropped" not in records(report, "standing")[1]
    assert not list(tmp_path.glob("*.png")) and len(report.tables) == 2


def test_the_command_fails_where_the_foot_does_not_land(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["talus", "drop", "--t-end", "0.05", "--json", "--out", str(tmp_path / "o")])
    with pytest.raises(SystemExit) as stop:
        runtime.cli.main()
    assert stop.value.code == 1 and "did not land" in capsys.readouterr().out


# --- figures -------------------------------------------------------------------------------------------------------


def test_panels_over_time_share_their_axis_and_show_differences(fall):
    height = {"up\n[m]": lambda run: run.r["leg"][:, 2]}
    late = {"late [m]": lambda run: np.where(run.t > 0.1, run.r["toes"][:, 2], np.nan)}
    figure = plots.over_time({"one": fall, "two": fall}, height | late, differences=True)
    axes = np.array(figure.axes).reshape(2, 2)
    assert axes[0, 0].get_xlim() == axes[1, 0].get_xlim() and axes[0, 1].get_xlim() == axes[1, 1].get_xlim()
    assert axes[0, 1].get_title() == "difference from one"
    assert np.abs(axes[0, 1].lines[1].get_ydata()).max() == 0.0


def test_a_centre_of_pressure_is_shown_where_it_is_loaded():
    systems = {shape: foot_ground.build(shape, pitch_deg=0.0) for shape in ("normal", "flat")}
    for run in measures.resolved(systems, 0.2, method="radau", rtol=1e-8, atol=1e-8).values():
        shown = drop_study._pressure_from_heel(run)
        # Under the sole, though just before a lift-off the moment of viscous friction takes it anywhere.
        assert np.nanmin(shown) > -40.0 and np.nanmax(shown) < 250.0 and np.isfinite(shown).any()


def test_snapshots_show_the_sole_at_large():
    run = simulate(foot_ground.build(**drop_study.FALL), 0.4, t_eval=np.linspace(0.0, 0.4, 5), method="radau")
    figure = drop_study._snapshots({label: run for label in drop_study.FRICTIONS})
    figure.canvas.draw()
    assert len(figure.axes) == 2 * drop_study.SNAPSHOTS
    ax = figure.axes[0]
    # The heel's sphere is a good part of a drawing, and the drawings are most of the page.
    assert 2 * foot_ground.spheres()["sphere_2"][2] > 0.15 * np.ptp(ax.get_xlim())
    boxes = [each.get_position() for each in figure.axes]
    assert sum(box.width * box.height for box in boxes) > 0.5
    (spheres,) = [line for line in ax.lines if line.get_label() == "spheres"]
    assert np.nanmin(spheres.get_ydata()) > ax.get_ylim()[0] and np.nanmax(spheres.get_xdata()) < ax.get_xlim()[1]


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (dict(shape="round"), "shape = 'round'; use 'normal', 'cavus', 'flat'"),
        (dict(friction="ice"), "friction = 'ice'; use 'coulomb', 'smooth'"),
        (dict(height=np.nan), "height = nan must be a finite number"),
        (dict(mu_c=-1.0), "mu_c = -1, must not be below 0"),
        (dict(stiffness=0.0), "stiffness = 0 N/m^n, must be above 0 N/m^n"),
    ],
)
def test_bad_input(changes, sentence):
    with pytest.raises(ModelError) as error:
        foot_ground.build(**changes)
    assert sentence in str(error.value)
