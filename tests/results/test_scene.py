"""Scenes of runs: what is drawn is where the run says."""

import numpy as np
import pytest

import models
import runtime
from runtime.results.drawn_bodies import body_triangles, semi_axes
from runtime.results.outline import outline_of
from tests.support.refusals import assert_refused
from tests.support.vectors import matrix

T = np.linspace(0.0, 0.3, 16)  # at most 50 per second, so that all are shown


@pytest.fixture(scope="module")
def run():
    """The modified foot with limits."""
    return runtime.simulate(models.foot.build(limits="elastic"), T[-1], t_eval=T)


@pytest.fixture(scope="module")
def scene(run):
    return run.scene()


def of_group(parts, group):
    return [part for part in parts if part.group == group]


def test_bodies_are_where_the_run_says(run, scene):
    for solid in scene.solids:
        if solid.group != "axes" and solid.name.split()[0] in run.r:
            body = solid.name.split()[0]
            np.testing.assert_array_equal(solid.pose.r, run.r[body])
            np.testing.assert_allclose(matrix(solid.pose.p[-1]), run.rotations(body)[-1], atol=1e-12)
    assert {"toes", "main_foot", "leg"} <= {group.key for group in scene.groups}


def test_the_link_joins_the_axes(run, scene):
    (link,) = of_group(scene.lines, "massless link")
    lengths = np.linalg.norm(link.points[:, 0, 1] - link.points[:, 0, 0], axis=1)
    np.testing.assert_allclose(lengths, models.foot.LINK_LENGTH, atol=1e-9)


def test_directions_stay_in_their_cones_as_far_as_the_limits_say(run, scene):
    """The drawn direction has the latitude that the limit reports, about the axis of the drawn cone."""
    for line in of_group(scene.lines, "limits"):
        name = line.name.removeprefix("direction ")
        limit, motion = run.system.limit(name), run.limits[name]
        u = line.points[:, 0, 1] - line.points[:, 0, 0]
        u /= np.linalg.norm(u, axis=1)[:, None]
        zeta = run.rotations(limit.reference) @ limit.values["u_zeta_i"]
        np.testing.assert_allclose(np.arccos(np.clip((u * zeta).sum(1), -1, 1)), motion.latitude, atol=1e-6)


def test_the_direction_of_a_linked_hinge_is_in_the_plane_of_its_motion(run, scene):
    """A second route: the direction between the ends of the link, less its part along the axis of the hinge."""
    (link,) = of_group(scene.lines, "massless link")
    line = next(line for line in scene.lines if line.name == "direction talocrural")
    u = line.points[:, 0, 1] - line.points[:, 0, 0]
    d = link.points[:, 0, 0] - link.points[:, 0, 1]  # from the leg to the foot
    axis = run.rotations("leg") @ run.system.joint("ankle").values["a_j"]
    d = d - (d * axis).sum(1)[:, None] * axis
    cosine = (u * d).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(d, axis=1)
    np.testing.assert_allclose(cosine, 1.0, atol=1e-6)


def test_hinge_axes_are_drawn_once_for_each_hinge(run, scene):
    # of the revolute joint one, of the modified universal joint two
    assert len(of_group(scene.solids, "axes")) == 3


def test_forces_act_at_contacts_and_are_drawn_to_scale():
    run = runtime.simulate(models.foot_ground.build(), 0.3, t_eval=T)
    scene = run.scene()
    forces = np.array([run.contacts[name].force for name in run.system.contact_names])
    most = np.linalg.norm(forces, axis=2).max()
    assert most > 0
    arrows = [next(a for a in scene.arrows if a.name == name) for name in run.system.contact_names]
    vectors = np.array([arrow.vector for arrow in arrows])
    scale = np.nanmax(np.linalg.norm(vectors, axis=2)) / most  # one for all
    seen = np.isfinite(vectors).all(axis=2)
    np.testing.assert_allclose(vectors[seen], scale * forces[seen])
    assert np.linalg.norm(forces[~seen], axis=1).max() < 0.01 * most
    for name, arrow in zip(run.system.contact_names, arrows, strict=True):
        np.testing.assert_array_equal(arrow.start, run.contacts[name].point)
    spheres = of_group(scene.solids, "contacts")
    assert len(spheres) == len(forces)
    assert {spheres[0].colours[0]} == {"#ffffff"}  # in the air
    assert any("#b2182b" in sphere.colours for sphere in spheres)


def test_runs_side_by_side_and_ghosts(run):
    classical = runtime.simulate(models.foot.build("classical"), T[-1], t_eval=T)
    scene = run.scene(name="modified", beside={"classical": classical}, ghosts={"again": run}, choice="run")
    keys = {group.key: group for group in scene.groups}
    assert {"modified", "classical", "ghost 0"} <= set(keys)
    assert keys["ghost 0"].choice
    assert not keys["modified"].choice
    legs = [solid for solid in scene.solids if solid.name.endswith("leg 0")]
    apart = [leg.pose.r[0] - run.r["leg"][0] for leg in legs]
    assert apart[0] == pytest.approx(0)
    assert apart[1][1] > 0.1  # side by side along y
    assert apart[2] == pytest.approx(0)
    assert legs[2].opacity < 1


def test_at_most_fifty_outputs_per_second_of_playing(run):
    dense = runtime.simulate(models.pendulum.build(), 1.0, t_eval=np.linspace(0, 1, 5001))
    assert 40 < len(dense.scene().t) <= 52
    assert 160 < len(dense.scene(speed=0.25).t) <= 204
    assert dense.scene().t[-1] == 1.0


def test_a_body_without_shapes_has_the_ellipsoid_of_its_inertia():
    b = runtime.Builder("egg")
    semi = np.array([0.1, 0.2, 0.3])
    moments = 0.2 * 3.0 * (semi @ semi - semi**2)
    b.body("egg", mass=3.0, inertia=moments, free=True)
    system = b.build()
    outline = outline_of(system)
    assert semi_axes(outline.body("egg")) == pytest.approx(sorted(semi, reverse=True))
    (((vertices, _), _, _),) = body_triangles(outline, outline.body("egg"), 1.0)
    assert np.abs(vertices).max(axis=0) == pytest.approx(semi, rel=0.02)


@pytest.mark.parametrize("name", ["chain", "double_pendulum", "four_bar", "free_body", "hooke_shaft", "pendulum"])
def test_all_models_can_be_seen(name):
    run = runtime.simulate(getattr(models, name).build(), 0.05, t_eval=[0.0, 0.05])
    scene = run.scene()
    assert len(scene.solids) >= len(run.system.bodies)
    assert np.isfinite([scene.low, scene.high]).all()
    assert (scene.high > scene.low).all()


def test_bad_scenes(run, tmp_path):
    for more, text in (
        (dict(beside={run.system.name: run}), "two runs have the name"),
        (dict(beside={"a": 3}), "'a' is 3; give what runtime.simulate returned"),
        (dict(speed=0), "speed = 0"),
    ):
        assert_refused(text, run.scene, **more)
    assert_refused("the format '.avi' is not known; use .html, .gif, .mp4, .png", run.animation, tmp_path / "a.avi")
    (tmp_path / "b.html").touch()
    assert_refused("exists; choose another name or pass overwrite=True", run.animation, tmp_path / "b.html")


def test_a_view_prints_nothing(run, monkeypatch, capfd):
    """The server of the library that draws pages announces its address, which is gone when the page is shown."""
    pytest.importorskip("viser", reason="pages need the extra view")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)) or True)
    assert run.view() is None and opened[0].endswith("view.html")
    assert capfd.readouterr() == ("", "")
