"""The command ``talus drop``: tables against finer runs, messages, and figures."""

import numpy as np
import pytest

from models import foot_ground, foot_sole
from models.studies import drop as study
from models.studies import measures
from runtime import simulate
from runtime.report import plots
from tests.package.test_table_widths import check_report
from tests.support.contact_bodies import G
from tests.support.reports import check_figures, quiet, records, spoiling, table

STANDING = "standing on soles of three shapes"


@pytest.mark.slow
def test_figures_and_data_are_written(drop, monkeypatch):
    folder, report, faults = drop
    assert not report.failures
    check_figures(folder, records(report, "figures"))
    assert faults == {}
    check_report(report, monkeypatch)
    assert {"Coulomb.nc", "flat.nc"} <= {file.name for file in report.files}
    assert [row[""] for row in records(report, "friction")] == list(study.FRICTIONS)


@pytest.fixture(scope="module")
def fine():
    """The first fall, with enough outputs about the impact for integrals."""
    system = foot_ground.build(**study.FALL, mu_d=0.0)
    spans = ((0.1, 0.14, 5e-6), (0.10558, 0.10564, 2e-8), (0.0, 0.5, 1e-4))
    times = np.unique(np.concatenate([np.arange(*span) for span in spans] + [[0.5]]))
    return simulate(system, 0.5, t_eval=times, method="radau", rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_slip_is_that_of_the_spheres_on_the_ground(drop, fine):
    rows, note = records(drop[1], "friction"), table(drop[1], "friction").note
    paths = {
        name.removeprefix("sphere_"): 1e3 * np.trapezoid(np.hypot(*c.slip[:, :2].T) * (c.normal_force > 0.0), fine.t)
        for name, c in fine.contacts.items()
    }
    most = max(paths, key=paths.get)
    assert rows[0]["sphere"] == most and rows[0]["slip [mm]"] == pytest.approx(paths[most], rel=2e-3)
    # The main foot's centre goes much farther: it is not slip.
    gone = 1e3 * (fine.r["main_foot"][-1, 0] - np.interp(fine.contact_events[0, 0], fine.t, fine.r["main_foot"][:, 0]))
    assert rows[0]["main foot [mm]"] == pytest.approx(gone, rel=1e-3) and gone > 5.0 * paths[most]
    change = abs(rows[1]["slip [mm]"] - rows[0]["slip [mm]"])
    assert 0.0 < change < 0.01 and f"the viscous part changes the slip by {change:.1g} mm" in note
    assert "it does 0.6 % of the work of friction; a ten times larger one does 6 %" in note


@pytest.mark.slow
def test_largest_forces_include_those_between_outputs(drop, fine):
    row = records(drop[1], "friction")[0]
    force = fine.ground_reaction().force
    assert row["vertical [N]"] == pytest.approx(force[:, 2].max(), rel=2e-3)
    assert row["horizontal [N]"] == pytest.approx(np.abs(force[:, 0]).max(), rel=5e-3)
    coarse = simulate(fine.system, 0.5, t_eval=np.linspace(0.0, 0.5, 501), method="radau", rtol=1e-8, atol=1e-8)
    assert np.abs(coarse.ground_reaction().force[:, 0]).max() < 0.7 * row["horizontal [N]"]


@pytest.mark.slow
def test_soles_stand_at_rest(drop):
    rows, note = records(drop[1], STANDING), table(drop[1], STANDING).note
    weight = G * sum(body.mass for body in foot_ground.build().bodies)
    shapes = {row.pop("sole"): row for row in rows}
    for row in shapes.values():
        assert row["sum"] == pytest.approx(weight, rel=1e-9)
        assert row["sum"] == pytest.approx(sum(row[str(k)] for k in range(1, 10)), rel=1e-12)
    assert shapes["cavus"] == shapes["normal"] and shapes["flat"]["4"] > 1.0
    assert "A cavus foot differs from the normal one in spheres 4 and 5 only, and these do not touch the ground" in note


@pytest.mark.slow
@pytest.mark.parametrize(
    "options, sentence",
    [
        (
            dict(t_end=0.05),
            "the foot did not land within 0.05 s: it takes 0.101 s to fall 0.05 m; give a longer --t-end",
        ),
        (dict(height=9.0), "the foot did not land within 1 s: it takes 1.35 s to fall 9 m"),
    ],
)
def test_a_foot_that_does_not_land_is_reported(tmp_path, options, sentence):
    report = study.drop(tmp_path, quiet, **options)
    assert len(report.failures) == 1 and report.failures[0].startswith(sentence)
    rows, note = records(report, "friction"), table(report, "friction").note
    assert all(
        row[name] is None for row in rows for name in ("slip [mm]", "main foot [mm]", "vertical [N]", "horizontal [N]")
    )
    assert "Moreira" not in note and "dropped" not in table(report, STANDING).note
    assert not list(tmp_path.glob("*.png")) and len(report.tables) == 2


@pytest.mark.slow
def test_a_failed_run_is_named_and_its_comparison_left_out(tmp_path, without_figures, monkeypatch):
    monkeypatch.setattr(study.measures, "resolved", spoiling(measures.resolved, ["Coulomb and viscous"]))
    report = study.drop(tmp_path, quiet, t_end=0.15)
    (failure,) = report.failures
    assert failure.startswith("Coulomb and viscous, with outputs within steps: ")
    assert [table.title for table in report.tables] == [STANDING] and not report.answer


@pytest.mark.slow
def test_the_command_fails_where_the_foot_does_not_land(command):
    done = command("drop", "--t-end", "0.05", "--json", "--out", "o")
    assert done.code == 1 and "did not land" in done.out


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
        shown = study.pressure_from_heel(run)
        # Under the sole, except just before a lift-off, where the moment of viscous friction shifts it far.
        assert np.nanmin(shown) > -40.0 and np.nanmax(shown) < 250.0 and np.isfinite(shown).any()


def test_snapshots_show_the_sole_large():
    run = simulate(foot_ground.build(**study.FALL), 0.4, t_eval=np.linspace(0.0, 0.4, 5), method="radau")
    figure = study.snapshots({label: run for label in study.FRICTIONS})
    figure.canvas.draw()
    assert len(figure.axes) == 2 * study.SNAPSHOTS
    ax = figure.axes[0]
    # The heel's sphere is a good part of a drawing, and the drawings are most of the page.
    assert 2 * foot_sole.spheres()["sphere_2"][2] > 0.15 * np.ptp(ax.get_xlim())
    boxes = [each.get_position() for each in figure.axes]
    assert sum(box.width * box.height for box in boxes) > 0.5
    (spheres,) = [line for line in ax.lines if line.get_label() == "spheres"]
    assert np.nanmin(spheres.get_ydata()) > ax.get_ylim()[0] and np.nanmax(spheres.get_xdata()) < ax.get_xlim()[1]
