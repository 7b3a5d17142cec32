"""Muscles in scenes: tubes along their paths, coloured by activation, and models that stand upright."""

from dataclasses import replace

import numpy as np
import pytest
from mpl_toolkits.mplot3d import proj3d
from PIL import Image

import runtime
from runtime.report.run_report import run_figures
from runtime.results import read_netcdf
from runtime.results.drawn_bodies import muscle_line
from runtime.results.motion_file import MotionFile
from runtime.view.colours import of_activation, rgb
from runtime.view.triangles import EDGES
from tests.support.muscles import CONDITIONAL, MOVING, OVER_CYLINDER, leg, leg_with_muscles, steady
from tests.support.refusals import assert_refused

T = np.linspace(0.0, 0.3, 16)  # at most 50 per second, so that all are shown


@pytest.fixture(scope="module")
def run():
    return runtime.simulate(leg_with_muscles().build(), T[-1], t_eval=T)


@pytest.fixture(scope="module")
def scene(run):
    return run.scene()


def tubes(scene):
    return {solid.name: solid for solid in scene.solids if solid.group == "muscles"}


def rings(solid):
    """The rings of points of a tube (times, rings, EDGES, 3) without its ends, which are points."""
    return solid.vertices.reshape(len(solid.vertices), -1, EDGES, 3)[:, 1:-1]


def middles(solid):
    return rings(solid).mean(axis=2)


def test_a_tube_runs_along_the_path_and_is_as_long(run, scene):
    """A second route to the length, which the kernel of the muscle reports."""
    for name, solid in tubes(scene).items():
        drawn = np.linalg.norm(np.diff(middles(solid), axis=1), axis=2).sum(axis=1)
        np.testing.assert_allclose(drawn, run.forces[name].length, rtol=1e-3)
    np.testing.assert_allclose(drawn, run.forces["extensor"].length, rtol=1e-12)  # without a wrap
    A = run.rotations("shank")
    for name, (x, y, z) in (("flexor", OVER_CYLINDER[2][1]), ("extensor", (-0.04, 0, 0.1))):
        np.testing.assert_allclose(middles(tubes(scene)[name])[:, -1], run.r["shank"] + A @ (x, y, z), atol=1e-12)


def test_a_tube_passes_around_the_cylinder(run, scene):
    centre = run.r["thigh"] + run.rotations("thigh") @ (0, 0, -0.2)
    off = (middles(tubes(scene)["flexor"])[:, 1:-1] - centre[:, None])[..., [0, 2]]
    distance = np.linalg.norm(off, axis=2)
    touching = np.ptp(distance, axis=1) < 1e-9
    assert touching.any() and (~touching).any()  # the knee bends, and the muscle leaves the cylinder
    np.testing.assert_allclose(distance[touching], OVER_CYLINDER[1][2]["radius"], rtol=1e-9)
    assert distance[~touching].min() > OVER_CYLINDER[1][2]["radius"]


def test_areas_are_in_proportion_to_maximum_isometric_forces(scene):
    found = {}
    for name, solid in tubes(scene).items():
        radii = np.linalg.norm(rings(solid) - middles(solid)[:, :, None], axis=3)
        np.testing.assert_allclose(radii, radii[0, 0, 0], rtol=1e-9)
        found[name] = radii[0, 0, 0]
    assert found["flexor"] == pytest.approx(2.0 * found["extensor"])
    assert 0.002 < found["flexor"] < 0.02


def test_colours_follow_the_activation(run, scene):
    flexor, extensor = (tubes(scene)[name] for name in ("flexor", "extensor"))
    activation = run.forces["flexor"].activation
    assert activation[0] < 0.02 < 0.98 < activation[-1]
    assert flexor.colours == tuple(of_activation(a) for a in activation)
    assert len(set(extensor.colours)) == 1
    (group,) = (group for group in scene.groups if group.key == "muscles")
    assert (group.scale[0], group.scale[-1]) == (of_activation(0.0), of_activation(1.0))


def test_a_law_without_activation_or_strength_shows_the_excitation():
    run = runtime.simulate(leg(steady, excitation=0.6, max_force=5.0), 0.01, t_eval=[0.0, 0.01])
    (solid,) = tubes(run.scene()).values()
    assert set(solid.colours) == {of_activation(0.6)}
    assert np.ptp(rings(solid)[0, 0], axis=0).max() > 1e-3


def test_the_map_is_blue_then_red_and_ever_lighter():
    first, last = rgb(of_activation(0.0)), rgb(of_activation(1.0))
    assert first[2] > 2 * first[0] and last[0] > 2 * last[2]
    lightness = [np.dot((0.2126, 0.7152, 0.0722), rgb(of_activation(a))) for a in np.linspace(0, 1, 21)]
    assert (np.diff(lightness) > 0).all()
    assert (of_activation(-0.1), of_activation(1.1)) == (of_activation(0.0), of_activation(1.0))


def test_a_file_of_a_run_shows_the_same_muscles(run, scene, tmp_path):
    for name, solid in tubes(read_netcdf(run.to_netcdf(tmp_path / "run.nc")).scene()).items():
        np.testing.assert_array_equal(solid.vertices, tubes(scene)[name].vertices)
        assert solid.colours == tubes(scene)[name].colours


def test_runs_side_by_side_and_ghosts_have_muscles_of_their_own(run):
    scene = run.scene(name="one", beside={"two": run}, ghosts={"again": run})
    one, two, ghost = (
        next(s for s in scene.solids if s.name == f"{label} flexor") for label in ("one", "two", "again")
    )
    assert (one.group, two.group, ghost.group) == ("muscles", "muscles", "ghost 0")
    assert two.pose.r[0, 1] - one.pose.r[0, 1] > 0.1 and ghost.opacity < one.opacity == 1.0
    (group,) = (group for group in scene.groups if group.scale)
    assert "activation 0 to 1" in group.label and {"one", "two", "ghost 0"} <= {group.key for group in scene.groups}


def test_a_model_with_y_up_stands_upright(run, scene):
    """As one of OpenSim: the same motion after a turn of a quarter about x, drawn alike."""
    other = runtime.simulate(leg_with_muscles(up="y").build(), T[-1], t_eval=T).scene()
    assert np.abs(other.high - scene.high).max() < 1e-6 and np.abs(other.low - scene.low).max() < 1e-6
    (gravity,) = (arrow for arrow in other.arrows if arrow.name == "gravity")
    assert gravity.vector[0] == pytest.approx([0, 0, -np.linalg.norm(gravity.vector)])
    for name, solid in tubes(other).items():
        turned = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
        np.testing.assert_allclose(middles(solid) @ turned.T, middles(tubes(scene)[name]), atol=1e-7)


def test_a_page_that_follows_a_motion_is_as_near_with_muscles_as_without():
    """The box of what is shown, less its displacement, does not contain the way of the muscles."""
    fast = runtime.simulate(leg_with_muscles(gravity=0.0, speed=10.0).build(), T[-1], t_eval=T).scene()
    assert fast.follow is not None
    assert np.ptp(fast.follow.moved[:, 0]) > 2.5
    assert (fast.follow.high - fast.follow.low)[0] < 1.5


def test_light_bodies_without_shapes_have_no_ellipsoid():
    b = leg_with_muscles()
    b.body("link", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), r=(0, 0, -0.4))
    b.joint("foot", "revolute", "shank", "link", s_i=(0, 0, -0.2), a_i=(0, 1, 0), s_j=(0, 0, 0), a_j=(0, 1, 0))
    names = {solid.name.split()[0] for solid in runtime.simulate(b.build(), 0.01, t_eval=[0, 0.01]).scene().solids}
    assert "link" not in names and {"thigh", "shank"} <= names


def test_stills_show_the_muscles_at_their_times(run, scene, tmp_path):
    """The faces in the red of full activation are where matplotlib projects the tube of the flexor at that time."""
    figure = run.stills([0.0, T[-1]])
    figure.canvas.draw()
    red = np.array(rgb(of_activation(1.0)))
    found = []
    for ax in figure.axes:
        faces = ax.collections[0]
        shades = faces.get_facecolor()[:, :3]
        cosines = shades @ red / np.linalg.norm(red) / np.linalg.norm(shades, axis=1)
        found.append([path.vertices for path, c in zip(faces.get_paths(), cosines, strict=True) if c > np.cos(0.02)])
    assert (len(figure.axes), len(found[0])) == (2, 0)
    flexor, drawn = tubes(scene)["flexor"].vertices[-1], np.concatenate(found[1])
    x, y, _ = proj3d.proj_transform(*flexor.T, figure.axes[1].get_proj())
    assert drawn.min(axis=0) == pytest.approx([x.min(), y.min()]) and drawn.max(axis=0) == pytest.approx(
        [x.max(), y.max()]
    )
    with Image.open(run.animation(tmp_path / "a.png")) as three:
        assert three.width > 1.2 * 150 * run.stills([0.0]).get_figwidth()
    assert_refused("stills: 13 times, limit 1 to 12", run.stills, np.linspace(0, 0.1, 13))
    assert_refused("stills: 0 times", run.stills, [])


def test_the_report_of_a_run_shows_muscles_and_their_tensions(run):
    figures = run_figures(run)
    assert {"muscles", "tensions"} <= set(figures)
    drawn = figures["tensions"].draw()
    lines = {line.get_label(): line for line in drawn.axes[0].lines}
    np.testing.assert_array_equal(lines["flexor"].get_ydata(), run.forces["flexor"].activation)
    assert len(figures["muscles"].draw().axes) == 3


def test_a_muscle_whose_activation_a_file_lacks_is_not_drawn(run):
    motion = replace(run.drawn_motion(), activations={})
    assert tubes(MotionFile("run.nc", motion).scene()) == {}


@pytest.mark.parametrize(("path", "lower", "upper"), [(CONDITIONAL, -0.4, 0.3), (MOVING, -0.6, 0.8)])
def test_points_that_an_angle_moves_are_drawn_where_they_are(path, lower, upper, tmp_path):
    """The drawn line is as long as the path of the run, within the range of the angle and beyond; also from a file."""
    t = np.linspace(0.0, 0.4, 41)
    run = runtime.simulate(leg(steady, path, 1.0, max_force=100.0), t[-1], t_eval=t)
    angle = run.angles["knee"].angle
    assert 5 < ((lower < angle) & (angle < upper)).sum() < len(t) - 5, "the range is left"
    run.to_netcdf(tmp_path / "run.nc")
    for motion in (run.drawn_motion(), read_netcdf(tmp_path / "run.nc").drawn_motion()):
        line = muscle_line(motion, motion.outline.muscles[0], np.arange(len(t)))
        drawn = np.linalg.norm(np.diff(line, axis=1), axis=2).sum(axis=1)
        assert drawn == pytest.approx(run.forces["flexor"].length, abs=1e-12)
