"""Pages in a real browser, without any network: they open, play, and react."""

import re
from shutil import which

import numpy as np
import pytest

import models
import runtime
from runtime.view import Scene, write
from runtime.view.colours import of_activation, rgb
from runtime.view.output import Framed
from runtime.view.scene import Arrows, Group, Solid
from runtime.view.triangles import box
from tests.support.browser import WAIT, in_browser
from tests.support.muscles import leg_with_muscles
from tests.support.refusals import assert_refused

pytest.importorskip("viser", reason="pages need the extra view")
LARGEST = 3_000_000  # [bytes]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of one run, and of two runs with ghosts."""
    folder = tmp_path_factory.mktemp("pages")
    t = np.linspace(0.0, 1.0, 51)
    lengths = {f"{1000 * l:.0f} mm": models.foot.build(link_length=l) for l in (0.03, 0.05)}
    ghosts = {label: runtime.simulate(system, 1.0, t_eval=t) for label, system in lengths.items()}
    modified, classical = (
        runtime.simulate(models.foot.build(name), 1.0, t_eval=t) for name in ("modified", "classical")
    )
    return {
        "one": modified.animation(folder / "one.html"),
        "two": modified.animation(
            folder / "two.html",
            name="modified",
            beside={"classical": classical},
            ghosts=ghosts,
            choice="length of the link",
        ),
        "gait": _trial().animation(folder / "gait.html"),
    }


def _trial():
    """The analysis of the synthetic walking trial."""
    walking = models.walking
    markers, filters = dict(walking.synthetic.MARKERS), walking.Filters.off()
    return walking.analyse(walking.synthetic.static(), walking.synthetic.trial(), markers=markers, filters=filters)


@pytest.fixture
def opened(open_page, pages):
    """A function that opens a page with a scene."""

    def open_scene(name):
        page = open_page(pages[name])
        page.wait_for_function("window.__viserMutable?.scene?.children.length > 0")
        return page

    return open_scene


def visible(page, name):
    """Whether a node of the scene is shown."""
    return page.evaluate(
        """name => { const node = window.__viserSceneTree.getState()[name];
        return node.overrideVisibility ?? node.visibility ?? true; }""",
        name,
    )


def time_of(page):
    return float(re.search(r"t = ([\d.]+) s", page.inner_text("#talus .time"))[1])


@pytest.mark.slow
def test_a_page_is_one_small_file_without_addresses(pages):
    for file in pages.values():
        text = file.read_text(encoding="utf-8")
        assert file.stat().st_size < LARGEST
        assert not re.search(r'(?:src|href)="https?:', text)


@in_browser
def test_a_page_plays_and_shows_the_bodies_in_their_colours(opened):
    from io import BytesIO

    from PIL import Image

    page = opened("one")
    assert page.title() == "foot, modified ankle" and page.locator("#talus label").first.is_visible()
    page.wait_for_function("!document.querySelector('#talus .time').textContent.includes('0.000')")
    before, first = time_of(page), page.screenshot(timeout=WAIT)
    page.wait_for_function(f"!document.querySelector('#talus .time').textContent.includes('{before:.3f}')")
    page.wait_for_timeout(1000)
    second = page.screenshot(timeout=WAIT)
    assert first != second  # pixels have changed
    page.keyboard.press("Space")  # pause
    page.wait_for_timeout(1000)
    paused = time_of(page)
    page.wait_for_timeout(1000)
    assert time_of(page) == paused
    page.evaluate("document.querySelector('#talus').remove()")
    picture = np.asarray(Image.open(BytesIO(page.screenshot(timeout=WAIT))).convert("RGB")).astype(int)
    red, green, blue = (picture[:, :, k] for k in range(3))
    leg, foot = (green > red + 30) & (green > blue), (red > blue + 60) & (red > green + 30)  # green, orange
    assert leg.sum() > 50 and foot.sum() > 50
    assert np.nonzero(leg)[0].mean() < np.nonzero(foot)[0].mean()  # the leg is above the foot


@in_browser
def test_the_legend_hides_and_the_slider_chooses(opened):
    page = opened("two")
    page.wait_for_function("window.__viserSceneTree.getState()['/ghost 1']?.overrideVisibility === false")
    assert visible(page, "/ghost 0")
    page.locator('#talus input[type="range"]').fill("1")
    page.wait_for_function("window.__viserSceneTree.getState()['/ghost 0']?.overrideVisibility === false")
    page.wait_for_timeout(2500)  # the motion, of 1 s, begins again
    assert visible(page, "/ghost 1")
    assert not visible(page, "/ghost 0")
    assert "length of the link: 50 mm" in page.inner_text("#talus")
    page.get_by_label("classical").uncheck()
    page.wait_for_function("window.__viserSceneTree.getState()['/classical']?.overrideVisibility === false")
    assert visible(page, "/modified")


@in_browser
def test_the_markers_of_a_trial_are_hidden_and_shown_as_groups(opened):
    page = opened("gait")
    legend = page.inner_text("#talus")
    for text in ("markers, measured", "markers, modelled", "ground force, up to", "centre of pressure", "angles [deg]"):
        assert text in legend
    nodes = page.evaluate("Object.keys(window.__viserSceneTree.getState())")
    assert (
        len([name for name in nodes if name.startswith("/points markers, modelled/")]) == 15
    )  # of foot, leg, thigh and pelvis
    page.get_by_label("markers, measured").uncheck()
    page.wait_for_function(
        "window.__viserSceneTree.getState()['/points markers, measured']?.overrideVisibility === false"
    )
    assert visible(page, "/points markers, modelled")
    page.get_by_label("markers, measured").check()
    page.wait_for_function(
        "window.__viserSceneTree.getState()['/points markers, measured']?.overrideVisibility === true"
    )


@in_browser
def test_muscles_move_and_take_the_colours_of_their_activation(tmp_path, open_page):
    t = np.linspace(0.0, 0.3, 16)
    run = runtime.simulate(leg_with_muscles().build(), t[-1], t_eval=t)
    page = open_page(run.animation(tmp_path / "a.html", speed=0.1))
    page.wait_for_function("window.__viserMutable?.scene?.children.length > 0")
    assert "linear-gradient" in page.evaluate("document.querySelector('#talus .bar').style.background")
    assert "muscles, activation 0 to 1" in page.inner_text("#talus")
    tube = (
        "Object.entries(window.__viserSceneTree.getState()).find(([name]) => name.endsWith(' flexor'))[1].message.props"
    )
    page.wait_for_function(f"{tube}.color[0] < 50")
    end = page.evaluate(f"Array.from({tube}.vertices).slice(-3)")
    page.wait_for_function(f"{tube}.color[0] > 200")
    assert rgb(of_activation(1.0))[0] >= page.evaluate(f"{tube}.color")[0] > 200
    page.wait_for_function(f"Array.from({tube}.vertices).slice(-3).some((x, k) => Math.abs(x - {end}[k]) > 0.01)")


def small_scene():
    vertices, faces = box(np.ones(3))
    start, vector = np.zeros((2, 3)), np.array([[0, 0, 1.0], [np.nan] * 3])
    return Scene(
        "a <b> & 'c'", np.array([0.0, 1.0]), (Solid("a/b", "x/y", vertices, faces, "#112233"),), (),
        (Arrows("a/b", "force", np.array([0.0, 1.0]), start, vector, "#445566"),), (Group("a/b", "</script>", "#112233"),),
        np.zeros(3), np.ones(3), 0.0,
    )  # fmt: skip


def test_names_do_not_end_the_script(tmp_path):
    text = write(small_scene(), tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<title>a &lt;b&gt; &amp; &#x27;c&#x27;</title>" in text
    assert r'"\u003c/script>"' in text


def test_runs_with_contacts_side_by_side(tmp_path):
    """The names of their parts agree: a sphere, its force, and those of the other runs."""
    t = np.linspace(0.0, 0.2, 5)
    runs = {shape: runtime.simulate(models.foot_ground.build(shape), 0.2, t_eval=t) for shape in ("normal", "flat")}
    file = runs["normal"].animation(tmp_path / "a.html", name="normal", beside={"flat": runs["flat"]})
    assert file.stat().st_size > 100_000


def test_in_a_notebook_a_page_is_a_frame():
    frame = Framed('<p class="a">')._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;p class=&quot;a&quot;&gt;"')


def test_without_viser(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    assert_refused("need viser: pip install 'talus-multibody[view]'", write, small_scene(), tmp_path / "a.html")


@pytest.mark.slow
def test_a_film(tmp_path):
    from PIL import Image

    with Image.open(write(small_scene(), tmp_path / "a.gif", speed=4.0)) as film:
        assert film.n_frames > 5
        film.seek(3)
        assert len(film.convert("RGB").getcolors(10**6)) > 3  # shaded faces


def test_a_film_that_is_too_long(tmp_path):
    assert_refused(
        "limit 1000; give a higher speed, or a shorter run", write, small_scene(), tmp_path / "a.gif", speed=1e-3
    )


@pytest.mark.slow  # after the installation of ffmpeg
@pytest.mark.skipif(which("ffmpeg") is None, reason="needs ffmpeg")
def test_a_film_by_ffmpeg(tmp_path):
    assert write(small_scene(), tmp_path / "a.mp4", speed=4.0).read_bytes()[4:8] == b"ftyp"


@in_browser
def test_the_legend_of_a_small_window_is_folded(pages, open_page):
    page = open_page(pages["one"], width=600, height=500)
    page.wait_for_selector("#talus h1")
    assert not page.locator("#talus label").first.is_visible()
    page.locator("#talus .fold").click()
    assert page.locator("#talus label").first.is_visible()
