"""Coordinates that follow others: against equations of the independent coordinates, and what is refused."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import runtime
from runtime import Builder, ModelError, Signal
from runtime.system import displaced, joint_coordinates
from tests.support.refusals import assert_refused

G = 9.81
# Inertia about the hinge and static moment of both bodies.
MOMENTS = np.array([0.2 + 1.0 * 0.5**2, 0.3 + 2.0 * 0.5**2])
STATIC = np.array([1.0, 2.0]) * 0.5
X = np.linspace(-4.0, 4.0, 60)
LAWS = {
    "ratio": -0.5, "polynomial": (0.1, 0.3, 0.2, -0.05, 0.01), "spline": Signal.spline(X, np.sin(1.3 * X)),
    "cubic spline": Signal.spline(X, np.cos(X), degree=3), "number": Signal.constant(0.4),
}  # fmt: skip


def pair(law, **build):
    """Two pendulums about the y axis, side by side; the angle of the second follows that of the first."""
    b = Builder("pair")
    b.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.5, 0.0, 0.0))
    b.body("two", mass=2.0, inertia=(0.1, 0.3, 0.2), r=(0.5, 1.0, 0.0))
    b.joint("a", "revolute", "ground", "one", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("b", "revolute", "ground", "two", axes="global", point=(0, 1, 0), axis=(0, 1, 0))
    b.coupling("gear", "b.angle", "a.angle", law)
    b.initial_coordinates("a", angle=0.3, rates={"angle": 1.0})
    return b.build(**build)


def change(law, q, u):
    """Second derivative of the angle of the first body, by Lagrange's equation with the law put in."""
    f, f1, f2 = (float(law(q, order)) for order in range(3))
    moments = G * STATIC * np.cos([q, f])
    return (moments[0] + f1 * moments[1] - MOMENTS[1] * f1 * f2 * u**2) / (MOMENTS[0] + MOMENTS[1] * f1**2)


@pytest.mark.parametrize("kind", LAWS)
def test_two_pendulums_against_the_equation_of_one_angle(kind):
    system = pair(LAWS[kind])
    law = system.coupling("gear").value
    assert system.degrees_of_freedom == 1
    run = runtime.simulate(system, 1.0, rtol=1e-11, atol=1e-11)
    assert run.success
    q, u = run.angles["a"].values["angle"], run.angles["a"].rates["angle"]
    own = solve_ivp(
        lambda t, y: [y[1], change(law, *y)], (0.0, 1.0), [0.3, 1.0], rtol=1e-12, atol=1e-12, t_eval=run.t, method="DOP853"
    )  # fmt: skip
    assert np.abs(own.y[0] - q).max() < (1e-6 if kind == "cubic spline" else 1e-8)
    followed = run.angles["b"].values["angle"]
    assert np.abs(followed - law(q)).max() < 1e-12
    wanted = np.array([change(law, *one) for one in zip(q, u, strict=True)])
    behind = law(q, 1) * wanted + law(q, 2) * u**2
    assert np.abs(run.omega_dot["one"][:, 1] - wanted).max() < 1e-9
    assert np.abs(run.omega_dot["two"][:, 1] - behind).max() < 1e-9
    force = MOMENTS[1] * behind - G * STATIC[1] * np.cos(followed)
    assert np.abs(run.coupling_forces["gear"] - force).max() < 1e-9
    assert np.ptp(run.energy) < 1e-6 * max(1.0, np.abs(run.energy).max())
    for joint in ("a", "b"):  # the axis carries neither weight nor moment of the gear
        assert np.abs(run.reaction(joint, on={"a": "one", "b": "two"}[joint]).moment[:, 1]).max() < 1e-9


def screw(lead):
    """A body on a cylindrical joint about z whose slide follows its turn."""
    b = Builder("screw")
    b.body("nut", mass=2.0, inertia=(0.01, 0.02, 0.03), r=(0.0, 0.0, 0.1))
    b.joint("thread", "cylindrical", "ground", "nut", axes="global", point=(0, 0, 0), axis=(0, 0, 1))
    b.coupling("lead", "thread.distance", "thread.angle", lead)
    return b.build()


def test_a_screw_falls_as_its_inertia_allows():
    h = 0.05
    system = screw(h)
    run = runtime.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 101))
    a = -G / (1.0 + 0.03 / (2.0 * h**2))
    assert run.success
    assert np.abs(run.v_dot["nut"][:, 2] - a).max() < 1e-11
    assert run.r["nut"][-1, 2] == pytest.approx(0.1 + a / 2.0, abs=1e-9)
    turned = run.angles["thread"].values["angle"]
    assert np.abs(turned * h - (run.r["nut"][:, 2] - 0.1)).max() < 1e-12
    assert abs(turned[-1]) > 2.0 * np.pi  # states do not tell how many turns were made; the slide does
    after = runtime.simulate(system, 1.0, initial=run.final, t_start=0.0)
    assert after.success and np.abs(after.v_dot["nut"][:, 2] - a).max() < 1e-11


def chain_of_three(**more):
    b = Builder("chain", gravity=(0.0, -G, 0.0))
    for k in range(3):
        b.body(f"link_{k}", mass=1.0 + k, inertia=(0.07, 0.08, 0.1), r=(0.5 + k, 0.0, 0.0))
        before = f"link_{k - 1}" if k else "ground"
        b.joint(f"j{k}", "revolute", before, f"link_{k}", axes="global", point=(k, 0.0, 0.0), axis=(0, 0, 1))
    b.coupling("second", "j2.angle", "j1.angle", -1.5)  # before that of its leader
    b.coupling("first", "j1.angle", "j0.angle", (0.2, 0.5, 0.1))
    b.initial_coordinates("j0", angle=0.4, rates={"angle": 0.7})
    return b.build(**more)


def test_a_leader_may_follow_another():
    """One degree of freedom of three links: their angles and the energy."""
    system = chain_of_three()
    assert system.degrees_of_freedom == 1
    run = runtime.simulate(system, 1.0, rtol=1e-11, atol=1e-11)
    q = [run.angles[f"j{k}"].values["angle"] for k in range(3)]
    assert np.abs(q[1] - (0.2 + 0.5 * q[0] + 0.1 * q[0] ** 2)).max() < 1e-12
    assert np.abs(q[2] + 1.5 * q[1]).max() < 1e-12
    assert np.ptp(run.energy) < 1e-8


def test_limits_springs_and_loads_act_beside_couplings():
    b = Builder("loaded")
    b.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.5, 0.0, 0.0))
    b.body("two", mass=2.0, inertia=(0.1, 0.3, 0.2), r=(0.5, 1.0, 0.0))
    b.joint("a", "revolute", "ground", "one", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("b", "revolute", "ground", "two", axes="global", point=(0, 1, 0), axis=(0, 1, 0))
    b.coupling("gear", "b.angle", "a.angle", 0.5)
    b.force("spring", "hinge_spring", "ground", "two", axes="global", a_i=(0, 1, 0), b_i=(0, 0, 1), c_j=(0, 0, 1),
            stiffness=30.0, damping=0.5, free_angle=0.0)  # fmt: skip
    b.load("push", "one", force=(0.0, 0.0, 3.0))
    run = runtime.simulate(b.build(), 0.5, rtol=1e-10, atol=1e-10)
    q, u = run.angles["a"].values["angle"], run.angles["a"].rates["angle"]
    measured = run.angles["b"].values["angle"]
    moment = -30.0 * measured - 0.5 * 0.5 * u
    first = (G * 1.0 - 3.0) * 0.5 * np.cos(q)
    second = G * STATIC[1] * np.cos(measured) + moment
    wanted = (first + 0.5 * second) / (MOMENTS[0] + MOMENTS[1] / 4.0)
    assert run.success and np.abs(run.omega_dot["one"][:, 1] - wanted).max() < 1e-9


def test_closed_loops_and_couplings():
    """A parallelogram linkage of which a pendulum on the ground follows the crank."""
    b = Builder("linkage", gravity=(0.0, 0.0, -G))
    for name, r, long in (("crank", (0, 0, 0.5), 1.0), ("rocker", (2, 0, 0.5), 1.0), ("coupler", (1, 0, 1.0), 2.0)):
        b.body(name, mass=long, inertia=(0.1, 0.1, 0.1), r=r)
    b.body("hand", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(5.0, 0.0, 0.5))
    for name, i, j, point in (
        ("o", "ground", "crank", (0, 0, 0)), ("p", "ground", "rocker", (2, 0, 0)), ("q", "crank", "coupler", (0, 0, 1)),
        ("h", "ground", "hand", (5, 0, 0)),
    ):  # fmt: skip
        b.joint(name, "revolute", i, j, axes="global", point=point, axis=(0, 1, 0))
    b.joint("s", "spherical", "coupler", "rocker", axes="global", point=(2, 0, 1))
    b.coupling("gear", "h.angle", "o.angle", -2.0)
    system = b.build()
    assert system.degrees_of_freedom == 1
    # The crank, the rocker, the coupler's translation, and the hand, turned twice as far the other way round.
    inertia = 2 * (0.1 + 0.25) + 2.0 + 4.0 * (0.1 + 0.25)
    lever = 2 * 0.5 + 2.0

    def slope(t, y):
        return [y[1], G * (lever * np.sin(y[0]) + 0.5 * 2.0 * np.sin(2.0 * y[0])) / inertia]

    start = runtime.State(system.body_names, system.state.y)
    run = runtime.simulate(system, 1.0, rtol=1e-11, atol=1e-11, initial=start)
    assert run.success and np.ptp(run.energy) < 1e-8
    turned = run.angles["o"].values["angle"]
    assert np.abs(run.angles["h"].values["angle"] + 2.0 * turned).max() < 1e-11
    own = solve_ivp(slope, (0, 1), [turned[0], run.angles["o"].rates["angle"][0]], t_eval=run.t, rtol=1e-12, atol=1e-12)
    assert np.abs(own.y[0] - turned).max() < 1e-7


def test_followers_start_where_leaders_put_them():
    system = pair((0.2, 0.5))
    angles, rates = joint_coordinates(system)
    assert angles["b.angle"] == pytest.approx(0.35, abs=1e-14) and rates["b.angle"] == pytest.approx(0.5, abs=1e-14)
    moved = displaced(system, {"a.angle": -0.8}, {"a.angle": 2.0})
    angles, rates = joint_coordinates(system, moved)
    assert angles["b.angle"] == pytest.approx(-0.2, abs=1e-14) and rates["b.angle"] == pytest.approx(1.0, abs=1e-14)
    assert runtime.simulate(system, 0.1, initial=moved).success


def test_files_and_copies_keep_couplings(tmp_path):
    import pickle

    system = pair(LAWS["spline"])
    run = runtime.simulate(system, 0.3)
    again = runtime.System.from_file(system.to_file(tmp_path / "pair.json"))
    for other in (again, pickle.loads(pickle.dumps(system))):
        assert other.coupling_names == ("gear",)
        assert np.array_equal(runtime.simulate(other, 0.3).states, run.states)
    built = Builder.from_file(tmp_path / "pair.json").build()
    assert np.abs(runtime.simulate(built, 0.3, t_eval=run.t).states - run.states).max() < 1e-12


def test_splines_go_on_straight():
    one = pair(Signal.spline(np.linspace(0.0, 1.0, 8), np.linspace(0.0, 1.0, 8) ** 2)).coupling("gear")
    assert one.value(np.array([-2.0, 0.5, 3.0])) == pytest.approx([0.0, 0.25, 5.0], abs=1e-9)


REFUSED = {
    "absolute": lambda s: runtime.simulate(s, 1.0, coordinates="absolute"),
    "method 'radau' integrates absolute": lambda s: runtime.simulate(s, 1.0, method="radau"),
    "alpha and beta": lambda s: runtime.simulate(s, 1.0, alpha=1.0, beta=1.0),
    "sensitivities": lambda s: runtime.sensitivities(s, 1.0, parameters=["mass.one"]),
    "kinematics": lambda s: runtime.kinematics(s, [0.0, 1.0]),
    "leave it out, or change the leader": lambda s: displaced(s, {"a.angle": 0.1, "b.angle": 1.0}),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_does_not_know_couplings_refuses_them(sentence):
    assert_refused(sentence, REFUSED[sentence], pair(0.5))


def test_a_state_off_a_coupling_is_refused():
    system, free = pair(0.5), pair(0.25)
    assert_refused("from where coupling 'gear' puts it", runtime.simulate, system, 0.1, initial=free.state)


def builder():
    b = Builder("pair")
    b.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3))
    b.body("two", mass=1.0, inertia=(0.1, 0.2, 0.3))
    b.joint("a", "revolute", "ground", "one", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    b.joint("b", "spherical", "ground", "two", s_i=(0, 0, 0), s_j=(0, 0, 0))
    return b


BAD = {
    "unknown joint 'c'": ("c.angle", "a.angle", 1.0), "form a circle": ("a.angle", "a.angle", 1.0),
    "7 coefficients": ("b.angle", "a.angle", [1.0] * 7), "no turn or slide": ("b.orientation_x", "a.angle", 1.0),
    "'a.angel' is no turn": ("a.angel", "a.angle", 1.0), "'a.x' is no turn": ("a.angle", "a.x", 1.0),
    "give a ratio": ("b.angle", "a.angle", "x"), "finite": ("b.angle", "a.angle", float("nan")),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BAD)
def test_bad_couplings_are_refused(sentence):
    b = builder()
    with pytest.raises(ModelError) as found:
        b.coupling("gear", *BAD[sentence])
        b.build()
    assert sentence in str(found.value) and "\n" not in str(found.value)


def test_a_coordinate_has_one_leader():
    b = builder()
    b.joint("c", "revolute", "ground", "two", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    b.coupling("one", "c.angle", "a.angle", 1.0)
    assert_refused("follows already by coupling 'one'", b.coupling, "two", "c.angle", "a.angle", 2.0)


def test_files_refuse_what_the_builder_refuses(tmp_path):
    import json

    file = pair(0.5).to_file(tmp_path / "pair.json")
    value = json.loads(file.read_text())
    second = {**value["couplings"][0], "name": "other"}
    for couplings, sentence in (
        ([*value["couplings"], second], "follows already by coupling 'gear'"),
        ([*value["couplings"], {**second, "name": "gear"}], "exists already"),
        ([*value["couplings"], {**second, "follower": "a.angle", "leader": "b.angle"}], "form a circle"),
        ([{**second, "leader": "c.angle"}], "unknown joint 'c'"),
    ):
        file.write_text(json.dumps({**value, "couplings": couplings}))
        assert_refused(sentence, Builder.from_file, file)


# Coefficients, powers, frequencies and phases of two leaders, and the same as a text.
SEVERAL = runtime.SumOfProducts(
    [0.1, 0.3, -0.2, 0.4, 0.05],
    [[0, 0], [1, 0], [2, 1], [0, 0], [0, 7]],
    [[0, 0], [0, 0], [0, 0], [1.0, 0.7], [0, 0]],
    [[np.pi / 2, np.pi / 2], [np.pi / 2, np.pi / 2], [np.pi / 2, np.pi / 2], [0.2, np.pi / 2], [np.pi / 2, np.pi / 2]],
)
WRITTEN = "0.1 + 0.3*x - 0.2*x**2*y + 0.4*sin(x + 0.2)*cos(0.7*y) + 0.05*y**7"


def test_derivatives_of_sums_of_products():
    x, y = sp.symbols("x y")
    f, at = sp.sympify(WRITTEN), np.random.default_rng(0).uniform(-1.0, 1.0, (2, 7))
    wanted = [
        [sp.lambdify((x, y), sp.diff(f, *by) if by else f)(*at) for by in of]
        for of in (((),), ((x,), (y,)), ((x, x), (x, y), (y, y)))
    ]
    value, slopes, curvatures = SEVERAL.derivatives(*at)
    np.testing.assert_allclose(value, wanted[0][0], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(slopes.T, wanted[1], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        [curvatures[:, 0, 0], curvatures[:, 0, 1], curvatures[:, 1, 1]], wanted[2], rtol=1e-12, atol=1e-12
    )
    assert np.isfinite(SEVERAL.derivatives(0.0, 0.0)[2]).all()


def trio(law, **build):
    """Three pendulums side by side; the angle of the third follows those of the others."""
    b = Builder("trio")
    for k, name in enumerate("abc"):
        b.body(name, mass=1.0 + k, inertia=(0.1, 0.2 + 0.1 * k, 0.3), r=(0.5, k, 0.0))
        b.joint(f"j{name}", "revolute", "ground", name, axes="global", point=(0, k, 0), axis=(0, 1, 0))
    b.coupling("gear", "jc.angle", ["ja.angle", "jb.angle"], law)
    b.initial_coordinates("ja", angle=0.3, rates={"angle": 1.0})
    b.initial_coordinates("jb", angle=-0.2, rates={"angle": -0.7})
    return b.build(**build)


def test_a_coordinate_follows_two_others(tmp_path):
    """Against Lagrange's equations of the two independent angles; the file holds the law."""
    system = runtime.System.from_file(trio(SEVERAL).to_file(tmp_path / "trio.json"))
    assert system.degrees_of_freedom == 2
    run = runtime.simulate(system, 0.5, rtol=1e-11, atol=1e-11)
    q = np.array([run.angles[f"j{name}"].values["angle"] for name in "abc"])
    u = np.array([run.angles[f"j{name}"].rates["angle"] for name in "ab"])
    value, slopes, curvatures = SEVERAL.derivatives(*q[:2])
    assert run.success and np.abs(q[2] - value).max() < 1e-12 and np.ptp(run.energy) < 1e-7
    moments = np.array([0.2 + 0.1 * k + (1.0 + k) * 0.25 for k in range(3)])
    pull = G * 0.5 * np.array([1.0, 2.0, 3.0])[:, None] * np.cos(q)
    bend = np.einsum("nij,in,jn->n", curvatures, u, u)
    M = np.diag(moments[:2]) + moments[2] * slopes[:, :, None] * slopes[:, None, :]
    Q = pull[:2].T + slopes * (pull[2] - moments[2] * bend)[:, None]
    wanted = np.linalg.solve(M, Q[..., None])[..., 0]
    found = np.stack([run.omega_dot[name][:, 1] for name in "ab"], axis=1)
    assert np.abs(found - wanted).max() < 1e-9
    force = moments[2] * (np.einsum("ni,ni->n", slopes, wanted) + bend) - pull[2]
    assert np.abs(run.coupling_forces["gear"] - force).max() < 1e-9
    again = runtime.simulate(system, 0.1, initial=displaced(system, angles={"ja.angle": 0.5}))
    assert again.success


@pytest.mark.parametrize(
    "leaders, law, sentence",
    [
        (["ja.angle"], SEVERAL, "1 leaders (ja.angle), and a law of 2"),
        (["ja.angle", "ja.angle"], SEVERAL, "as many different coordinates"),
        (["ja.angle", "jb.angle"], 0.5, "and a law of 1"),
    ],
)
def test_laws_of_several_leaders_that_are_refused(leaders, law, sentence):
    b = Builder("pair")
    for k, name in enumerate("abc"):
        b.body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.5, k, 0.0))
        b.joint(f"j{name}", "revolute", "ground", name, axes="global", point=(0, k, 0), axis=(0, 1, 0))
    assert_refused(sentence, b.coupling, "gear", "jc.angle", leaders, law)
    assert_refused("whole numbers", runtime.SumOfProducts, [1.0], [[0.5, 1.0]])
