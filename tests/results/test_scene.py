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


@pytest.fixture(scope="module")
def slider_crank():
    """A crank, a rod between a pin and a ball, and a slider on a line of the ground that rises."""
    b = runtime.Builder("slider crank")
    way, y = np.array([0.8, 0.0, 0.6]), (0, 1, 0)
    b.body("crank", mass=1.0, inertia=(0.01, 0.01, 0.001), r=(0, 0, 0.1))
    b.body("rod", mass=1.0, inertia=(0.001, 0.01, 0.01), r=(0.25, 0, 0.2))
    b.body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.5, 0.05, 0.2))
    b.joint("bearing", "revolute", "ground", "crank", s_i=(0, 0, 0), a_i=y, s_j=(0, 0, -0.1), a_j=y)
    b.joint("pin", "revolute", "crank", "rod", s_i=(0, 0, 0.1), a_i=y, s_j=(-0.25, 0, 0), a_j=y)
    b.joint("ball", "spherical", "slider", "rod", s_i=(0, -0.05, 0), s_j=(0.25, 0, 0))
    b.joint("line", "translational", "ground", "slider", s_i=(0.5, 0.05, 0.2), a_i=way, s_j=(0, 0, 0), a_j=way)
    return runtime.simulate(b.build(), 0.5, t_eval=np.linspace(0.0, 0.5, 26))


def moved(solid):
    """Vertices (n, v, 3) of a solid at all times, in global axes."""
    turns = np.array([matrix(p) for p in solid.pose.p])
    return solid.pose.r[:, None] + np.einsum("nab,vb->nva", turns, solid.vertices)


def middle(points):
    return 0.5 * (points.min(axis=1) + points.max(axis=1))


def test_joints_of_bodies_without_shapes_are_drawn_by_their_motion(slider_crank):
    scene = slider_crank.scene()
    pin, ball, block = (
        moved(next(s for s in of_group(scene.solids, "joints") if s.name == f"{name}, 0")) for name in ("pin", "ball", "line")
    )  # fmt: skip
    rotations, r = slider_crank.rotations("rod"), slider_crank.r["rod"]
    np.testing.assert_allclose(middle(pin), r + rotations @ (-0.25, 0, 0), atol=1e-9)
    assert np.ptp(pin[:, :, 1], axis=1) == pytest.approx(np.ptp(pin[0, :, 1])) and np.ptp(pin[0, :, 1]) > 0.02
    assert np.ptp(pin[0], axis=0).argmax() == 1  # along its axis
    np.testing.assert_allclose(middle(ball), r + rotations @ (0.25, 0, 0), atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(ball - middle(ball)[:, None], axis=2).max(), 0.022 * 0.5, rtol=0.4)
    np.testing.assert_allclose(block.mean(axis=1), slider_crank.r["slider"], atol=1e-12)


def test_a_slider_stays_on_its_guide(slider_crank):
    guide = next(s for s in of_group(slider_crank.scene().solids, "ground") if s.name == "line, 1")
    (ends,), way = moved(guide), np.array([0.8, 0.0, 0.6])
    along, travel = ends @ way, slider_crank.r["slider"] @ way
    assert np.ptp(travel) > 0.03
    assert along.min() < travel.min() - 0.01 and travel.max() + 0.01 < along.max()
    assert along.max() - along.min() < np.ptp(travel) + 0.2  # and is no longer than needed
    np.testing.assert_allclose(
        middle(ends[None])[0] @ (0.6, 0, -0.8), slider_crank.r["slider"][0] @ (0.6, 0, -0.8), atol=1e-3
    )


def test_points_of_the_ground_have_pedestals_below_or_above(slider_crank):
    pedestals = {s.name.split(",")[0]: moved(s)[0] for s in of_group(slider_crank.scene().solids, "ground")}
    assert set(pedestals) == {"bearing", "line"}
    assert pedestals["bearing"][:, 2].max() == pytest.approx(0.0, abs=1e-12)  # below: the crank begins above it
    hanging = runtime.simulate(models.pendulum.build(), 0.01, t_eval=[0.0, 0.01]).scene()
    (above,) = of_group(hanging.solids, "ground")
    assert above.vertices[:, 2].min() == pytest.approx(0.0, abs=1e-12) and above.vertices[:, 2].max() > 0.0


def test_links_reach_from_joint_to_joint_and_free_ends_as_far_as_homogeneous_rods():
    run = runtime.simulate(models.double_pendulum.build(lengths=(0.7, 0.4)), 0.01, t_eval=[0.0, 0.01])
    scene, shoulder = run.scene(), np.zeros(3)
    elbow = run.r["upper"][0] + run.rotations("upper")[0] @ run.system.joint("elbow").values["s_i"]
    for body, start, length in (("upper", shoulder, 0.7), ("lower", elbow, 0.4)):
        points = np.concatenate([moved(s)[0] for s in scene.solids if s.name.rpartition(" ")[0] == body])
        far = np.linalg.norm(points - start, axis=1)
        assert far.max() == pytest.approx(length, abs=0.02)


def test_a_slider_that_is_held_at_its_centre_of_mass_is_a_block():
    b = runtime.Builder("slider")
    b.body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("line", "translational", "ground", "slider", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0, 1))
    outline = outline_of(b.build())
    (((vertices, _), _, _),) = body_triangles(outline, outline.body("slider"), 1.0)
    assert np.linalg.norm(vertices, axis=1).max() < 0.1 * semi_axes(outline.body("slider")).max() + 0.01


def test_bodies_with_shapes_have_axes_in_place_of_pins(scene):
    keys = {group.key for group in scene.groups}
    assert "axes" in keys and "joints" not in keys


def test_a_plane_lies_below_the_spheres_that_touch_it():
    run = runtime.simulate(models.foot_ground.build(), 0.3, t_eval=T)
    (plane,) = of_group(run.scene().solids, "ground")
    (points,) = moved(plane)
    assert points[:, 2].max() == pytest.approx(0.0, abs=1e-12)
    centres = np.array([run.r[c.body] + run.rotations(c.body) @ c.values["s_i"] for c in run.system.contacts])
    assert (points.min(axis=0)[:2] < centres.min(axis=(0, 1))[:2]).all()
    assert (points.max(axis=0)[:2] > centres.max(axis=(0, 1))[:2]).all()


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
