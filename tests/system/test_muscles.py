"""Muscles of a builder: paths, moment arms, states at the start, files, and messages."""

import inspect
import itertools
import linecache
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sympy import Rational

import codegen
import models
import runtime
from runtime import ModelError
from runtime.system import in_equilibrium
from runtime.system.muscle_modules import LAWS
from tests.support.muscle_laws import outputs
from tests.support.muscles import (
    BODIES,
    CONDITIONAL,
    HILL,
    HINGE,
    MOVING,
    MUSCLE,
    OVER_CYLINDER,
    PATH,
    WAYS,
    builder,
    hill,
    leg,
    steady,
)

TWO = dict(first_radius=0.03, first_length=0.2, first_sided=0, second_radius=0.02, second_length=0.2, second_sided=0)
OVER_TWO = [
    ("ground", (0.02, 0.01, 0.2)),
    ("two_cylinders", ("ground", "shank"), TWO | dict(
        s_k=(0.02, 0, 0.08), a_k=(0, 1, 0), n_k=(1, 0, 0), s_l=(0.02, 0, 0.12), a_l=(0, 1, 0), n_l=(1, 0, 0)
    )),
    ("shank", (0.02, -0.01, 0.0)),
]  # fmt: skip
ROUND = dict(s_k=(0, 0, 0), a_k=(0, 1, 0), radius=0.03, length=0.2)
OVERSHOOT = runtime.Signal.spline([0, 0.1, 0.2, 0.3, 0.4], [0.05, 0.95, 0.95, 0.05, 0.05], degree=3)
STENCIL = tuple(zip((-3, -2, -1, 1, 2, 3), np.array([-1, 9, -45, 45, -9, 1]) / 60, strict=True))


def arms_by_differences(mechanics, muscle, q, h=1e-3):
    """-dL/dq in closed form but for differences of order six, (states, n)."""
    units = np.eye(len(mechanics.rate_names))
    lengths = [
        sum(w / h * mechanics.muscle_length(muscle, mechanics.integrate(q, k * h * unit)) for k, w in STENCIL)
        for unit in units
    ]
    return -np.array(lengths).T


@pytest.mark.parametrize("path", [PATH, OVER_CYLINDER, OVER_TWO, CONDITIONAL, MOVING])
def test_moment_arms_are_the_derivative_of_the_length(path):
    system = leg(path=path)
    mechanics, q = runtime.mechanics(system), np.linspace(-1.0, 2.0, 14)[:, None]
    arms = mechanics.moment_arms("flexor", q)
    assert np.abs(arms - arms_by_differences(mechanics, "flexor", q, 3e-4)).max() < 1e-10
    assert np.ptp(arms) > 0.1


def test_a_length_in_closed_form():
    """Around the cylinder: two tangents and an arc in the plane, and the way along the axis of the unrolled line."""
    system = leg(path=OVER_CYLINDER)
    (_, start), (_, _, wrap), (_, end) = OVER_CYLINDER
    p, q = np.array([start[0], start[2]]), np.array([end[0], end[2] + -0.2])
    radius = wrap["radius"]
    tangents = [np.sqrt(x @ x - radius**2) for x in (p, q)]
    angle = np.arccos(p @ q / np.linalg.norm(p) / np.linalg.norm(q))
    arc = radius * (angle - sum(np.arctan2(t, radius) for t in tangents))
    assert arc > 0.0
    length = np.hypot(sum(tangents) + arc, start[1] - end[1])
    mechanics = runtime.mechanics(system)
    assert mechanics.muscle_length("flexor", mechanics.q0) == pytest.approx(length, abs=1e-15)


def planar(q, x, z):
    """Place of a point of the shank beside the axis of the knee."""
    return np.array([np.cos(q) * x + np.sin(q) * (z - 0.2), -np.sin(q) * x + np.cos(q) * (z - 0.2)])


@pytest.mark.parametrize("q", [-0.9, -0.4 - 1e-9, -0.4 + 1e-9, 0.0, 0.3 - 1e-9, 0.3 + 1e-9, 0.7, 1.2])
def test_lengths_over_conditional_and_moving_points_in_closed_form(q):
    """The length jumps where the conditional point leaves the path; the moving one stays beyond its range."""
    origin, insertion = np.array([0.05, 0.2]), planar(q, 0.04, 0.1)
    pieces = [origin, planar(q, 0.07, 0.15), insertion] if -0.4 <= q <= 0.3 else [origin, insertion]
    bent = sum(np.linalg.norm(np.subtract(a, b)) for a, b in itertools.pairwise(pieces))
    xi, eta, zeta = (way(np.clip(q, -0.6, 0.8)) for way in WAYS.values())
    straight = np.hypot(np.linalg.norm(planar(q, 0.04 + xi, 0.1 + zeta) - origin), eta)
    for path, length in ((CONDITIONAL, bent), (MOVING, straight)):
        mechanics = runtime.mechanics(leg(path=path))
        assert mechanics.muscle_length("flexor", [q]) == pytest.approx(length, abs=1e-15)


def test_revolutions_of_a_coordinate_count():
    """Beyond half a turn the conditional point does not come back, and the moving one stays."""
    for q in (1.2, 3.5, 5.0, 6.3, 7.0, -6.0):
        origin, (xi, eta, zeta) = np.array([0.05, 0.2]), (way(0.8 if q > 0.0 else -0.6) for way in WAYS.values())
        straight = np.hypot(np.linalg.norm(planar(q, 0.04 + xi, 0.1 + zeta) - origin), eta)
        for path, length in ((CONDITIONAL, np.linalg.norm(planar(q, 0.04, 0.1) - origin)), (MOVING, straight)):
            mechanics = runtime.mechanics(leg(path=path))
            assert mechanics.muscle_length("flexor", [q]) == pytest.approx(length, abs=1e-14)


def test_several_conditional_points_in_a_row():
    """Whatever of them belongs to the path, its length is that over the points that do."""
    limits = [(-0.5, 0.2), (0.0, 0.6), (0.3, 0.9)]
    places = [(0.07, 0.15), (0.08, 0.13), (0.06, 0.11)]
    points = [
        ("conditional", BODIES, dict(s_i=(x, 0, z), lower=lower, upper=upper, **HINGE))
        for (x, z), (lower, upper) in zip(places, limits, strict=True)
    ]
    mechanics = runtime.mechanics(leg(path=[PATH[0], *points, PATH[2]]))
    for q in (-0.7, -0.2, 0.1, 0.25, 0.4, 0.8, 1.0):
        inside = [planar(q, *at) for at, (lower, upper) in zip(places, limits, strict=True) if lower <= q <= upper]
        pieces = [np.array([0.05, 0.2]), *inside, planar(q, 0.04, 0.1)]
        length = sum(np.linalg.norm(a - b) for a, b in itertools.pairwise(pieces))
        assert mechanics.muscle_length("flexor", [q]) == pytest.approx(length, abs=1e-15)


@pytest.fixture(scope="module")
def ankle(tmp_path_factory):
    """The foot on the modified ankle with a muscle from the leg, over the leg again, to the main foot and the toes."""
    file = models.foot.build(ankle="modified").to_file(tmp_path_factory.mktemp("foot") / "foot.json")
    b = runtime.Builder.from_file(file)
    path = [
        ("leg", (0.02, 0.01, -0.1)),
        ("leg", (0.03, 0.02, -0.2)),
        ("main_foot", (0.05, 0.01, 0.02)),
        ("toes", (0.0, 0, 0.01)),
    ]
    b.muscle("dorsiflexor", codegen.compile_muscle(steady), path, excitation=0.6, max_force=500.0)
    return b.build()


def test_moment_arms_across_the_massless_link(ankle):
    """Over the link, of which no body tells: equal to differences of the length, and to the efforts that the muscle exerts."""
    mechanics = runtime.mechanics(ankle)
    rng = np.random.default_rng(1)
    q = np.array(
        [mechanics.integrate(mechanics.q0, 0.3 * rng.normal(size=len(mechanics.rate_names))) for _ in range(20)]
    )
    arms = mechanics.moment_arms("dorsiflexor", q)
    assert np.abs(arms - arms_by_differences(mechanics, "dorsiflexor", q)).max() < 1e-10
    names = [name for name in mechanics.rate_names if name.startswith("ankle.")]
    assert len(names) == 2 and np.abs(arms[:, mechanics.rate_names.index(names[0])]).min() > 1e-3
    efforts = mechanics.applied_forces(q, np.zeros_like(arms)) - 300.0 * arms
    assert np.abs(efforts - efforts[:1]).max() < 1e-9 or np.abs(efforts).max() < 1e-9


def test_moment_arms_of_a_path_from_the_outer_body_to_the_inner_one():
    b = builder()
    b.body("foot", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.1, 0, -0.4))
    b.joint("ankle", "revolute", "shank", "foot", point=(0, 0, -0.4), axis=(0, 1, 0), axes="global")
    points = [("foot", (0.05, 0, 0.02)), ("shank", (0.03, 0, 0.05)), ("ground", (0.06, 0, 0.2))]
    for name, path in (("down", points[::-1]), ("up", points)):
        b.muscle(name, codegen.compile_muscle(steady), path, excitation=1.0, max_force=10.0)
    mechanics, q = runtime.mechanics(b.build()), np.random.default_rng(2).uniform(-0.5, 0.5, (5, 2))
    arms = mechanics.moment_arms("up", q)
    assert np.abs(arms).min() > 1e-4 and arms == pytest.approx(mechanics.moment_arms("down", q), abs=1e-15)
    assert np.abs(arms - arms_by_differences(mechanics, "up", q)).max() < 1e-10


def test_moment_arms_of_a_run(ankle):
    run = runtime.simulate(ankle, 0.05, t_eval=[0.0, 0.02, 0.05])
    mechanics = runtime.mechanics(ankle)
    arms = mechanics.moment_arms("dorsiflexor", mechanics.of(run)[0])
    of_run = run.forces["dorsiflexor"].moment_arms
    for name, own in zip(mechanics.rate_names, arms.T, strict=True):
        assert np.abs(of_run[name.removesuffix("_rate")] - own).max() < 1e-12


def test_moment_arms_of_what_is_no_muscle():
    b = builder()
    b.force(
        "spring", "cable", "ground", "shank", s_i=(0, 0, 0.1), s_j=(0, 0, 0), stiffness=1.0, loss=0.0, slack_length=0.1
    )
    mechanics = runtime.mechanics(b.build())
    with pytest.raises(ModelError, match=r"force 'spring' \(cable\) is no muscle, so it has no path"):
        mechanics.moment_arms("spring", mechanics.q0)


def test_muscles_of_one_structure_share_a_module():
    """Also a constant and another constant excitation, other points and other constants; a signal is another module."""
    b = builder()
    other = [("ground", (0.05, 0.1, 0.2)), ("ground", (0.06, 0.1, 0.05)), ("shank", (0.04, 0.1, 0.1))]
    definition = codegen.compile_muscle(hill)
    b.muscle("second", definition, other, excitation=0.1, **HILL | {"max_isometric_force": 20.0})
    b.muscle("third", definition, other, excitation=runtime.Signal.spline([0.0, 1.0], [0.0, 1.0], degree=1), **HILL)
    first, second, third = b.build().forces
    assert first.module is second.module is not third.module
    assert first.kind == "hill_along_i_i_j" and third.kind == "hill_by_signal_along_i_i_j"


def rates_at(system, muscle="flexor"):
    """Rates of the states of a muscle at the start with all bodies at rest."""
    f = runtime.rhs(system)
    y = f.y0.copy()
    y[[k for k, name in enumerate(f.names) if name.startswith(("v.", "omega."))]] = 0.0
    return f(system.time, y)[[k for k, name in enumerate(f.names) if name.startswith(f"{muscle}.")]]


@pytest.mark.parametrize("tendon", ["elastic", "rigid"])
@pytest.mark.parametrize("law", list(LAWS))
def test_shipped_laws_begin_in_equilibrium(law, tendon):
    """Also where the rate of the fibre has a pole beside its zero."""
    b = builder()
    b.muscle("second", law, PATH[::2], excitation=0.3, tendon=tendon, **MUSCLE)
    system = b.build()
    assert len(system.force("second").module.STATES) == (2 if tendon == "elastic" else 1)
    assert np.abs(rates_at(system, "second")).max() < 1e-9
    assert runtime.parameters(system)["activation_0.second"] == 0.3
    b = builder(rate=3.0)  # bodies that move at the start do not change it
    b.muscle("second", law, PATH[::2], excitation=0.3, tendon=tendon, **MUSCLE)
    other = b.build().force("second").values
    assert all(np.array_equal(other[key], value) for key, value in system.force("second").values.items())


def test_the_equilibrium_comes_before_the_check_of_forces():
    """The exponential force of a fibre of one metre, where the search has not begun, is not finite."""
    b = builder()
    short = MUSCLE | dict(optimal_fiber_length=0.004, tendon_slack_length=0.27)
    b.muscle("second", "thelen_as_opensim", PATH[::2], excitation=0.3, **short)
    system = b.build()
    assert np.abs(rates_at(system, "second")).max() < 1e-9
    far = {"fiber_length_0.second": 1.0}
    with pytest.raises(ModelError, match="force 'second'"):
        runtime.with_parameters(system, far, check_units=False)


def shipped(law, path=PATH[::2], excitation=0.3, tendon="elastic", **constants):
    """The leg with a muscle of a shipped law alone."""
    b = builder()
    b._of["forces"].pop("flexor")
    b.muscle("m", law, path, excitation=excitation, tendon=tendon, **{**MUSCLE, **constants})
    return b.build()


@pytest.mark.parametrize("stretch", [0.7, 1.0, 1.3, 1.4, 1.5, 1.6, 1.75, 1.9])
@pytest.mark.parametrize("excitation", [0.01, 0.05, 0.3])
def test_an_equilibrium_close_to_a_pole_is_found(stretch, excitation):
    """The rate of a fibre of Thelen is infinite where its force is a little above the isometric one."""
    along = np.sqrt((0.1 * stretch) ** 2 - (0.1 * np.sin(0.2)) ** 2)
    path = [("ground", (0, 0, 0.2)), ("shank", (0, 0, 0.22 - along))]  # of the length 0.18 + along
    fibre = runtime.parameters(shipped("thelen_as_published", path, excitation))["fiber_length_0.m"]
    now = dict(length=0.18 + along, activation=excitation, fiber_length=fibre)
    found = outputs(LAWS["thelen_as_published"], "law", **MUSCLE, **now)
    isometric = 1000.0 * excitation * np.exp(-((fibre / 0.1 - 1) ** 2) / 0.45)
    assert found["active_fiber_force"] == pytest.approx(isometric, rel=1e-6)
    assert found["rate of fiber_length"] == pytest.approx(0.0, abs=1e-6)


def pulled(length, length_dot, excitation, force, strength=1000.0, lag=0.05):
    """A force that follows the excitation.

    force : [N]
    strength : [N], 0 < strength
    lag : [s], 0 < lag
    tension : [N]
    energy : [J]
    """
    return {"tension": force, "energy": 0, "rates": {"force": (excitation * strength - force) / lag}}


def by_calcium(length, length_dot, excitation, calcium, activation, strength=1000.0, lag=0.05):
    """An activation that follows another state.

    calcium : [1]
    activation : [1]
    strength : [N], 0 < strength
    lag : [s], 0 < lag
    tension : [N]
    energy : [J]
    """
    bound = calcium**2 / (calcium**2 + Rational(1, 10))
    rates = {"calcium": (excitation - calcium) / lag, "activation": (bound - activation) / lag}
    return {"tension": activation * strength, "energy": 0, "rates": rates}


@pytest.mark.parametrize(("law", "starts"), [
    (pulled, {"force": 300.0}), (by_calcium, {"calcium": 0.3, "activation": 0.09 / 0.19}),
])  # fmt: skip
def test_own_laws_begin_in_equilibrium(law, starts):
    b = builder()
    b.muscle("m", codegen.compile_muscle(law), PATH[::2], excitation=0.3)
    system = b.build()
    assert np.abs(rates_at(system, "m")).max() < 1e-9
    for state, value in starts.items():
        assert runtime.parameters(system)[f"{state}_0.m"] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("rise", [0.3001, 0.302, 0.35, 0.6])
def test_the_first_of_several_equilibria_is_found(rise):
    """Also where the rate rises again soon behind it."""

    def folded(length, length_dot, excitation, stretch, rise):
        """A part whose rate falls through 0 at stretches of 0.3 and 0.7.

        stretch : [1]
        rise : [1], 0 < rise
        tension : [N]
        energy : [J]
        """
        rate = (Rational(3, 10) - stretch) * (rise - stretch) * (Rational(7, 10) - stretch)
        return {"tension": stretch, "energy": 0, "rates": {"stretch": rate}}

    b = builder()
    b.muscle("m", codegen.compile_muscle(folded), PATH[::2], excitation=0.05, rise=rise)
    assert runtime.parameters(b.build())["stretch_0.m"] == pytest.approx(0.3, rel=1e-12)


def test_muscles_begin_as_they_do_alone():
    """Equilibria of muscles with one law are sought together; the values of one that are given stay."""
    kinds = [("first", 0.3, {}), ("second", 0.05, {"tendon_slack_length": 0.19}), ("third", 0.7, {"activation_0": 0.2})]

    def starts(some):
        b = builder()
        for name, excitation, more in some:
            b.muscle(name, "millard_as_opensim", PATH[::2], excitation=excitation, **{**MUSCLE, **more})
        return {k: v for k, v in runtime.parameters(b.build()).items() if "_0." in k and not k.endswith("flexor")}

    together, alone = starts(kinds), {k: v for kind in kinds for k, v in starts([kind]).items()}
    assert together == pytest.approx(alone, rel=1e-13) and together["activation_0.third"] == 0.2
    assert len({*together.values()}) == 6


def test_a_slack_fibre_of_thelen_without_pennation_begins_at_the_length_0():
    system = shipped("thelen_as_opensim", pennation_angle_at_optimal=0.0, tendon_slack_length=0.35)
    assert runtime.parameters(system)["fiber_length_0.m"] == 0.0
    run = runtime.simulate(system, 0.05, t_eval=[0.0, 0.05])
    assert run.success and (run.forces["m"].tension == 0.0).all()


def test_an_excitation_below_the_minimum_activation_is_warned_of():
    with pytest.warns(UserWarning, match="muscle 'm' .*: at the excitation 0.005 its activation falls without end"):
        system = shipped("millard_as_opensim", excitation=0.005)
    assert runtime.parameters(system)["activation_0.m"] == 0.005


def test_an_excitation_may_be_off_its_bounds_by_rounding():
    assert runtime.parameters(shipped("millard_as_opensim", excitation=1.0 + 1e-12))["excitation.m"] == 1.0
    shipped("millard_as_opensim", excitation=runtime.Signal.spline([0.0, 1.0], [0.5, 1.0 + 1e-13], degree=1))


def test_a_slack_muscle_whose_law_has_no_slack_tendon_is_named():
    with pytest.raises(
        ModelError, match=r"muscle 'm' .*found no normalized_tendon_force up to 10 at which .* path of 0.3002"
    ):
        shipped("de_groote_as_opensim", tendon_slack_length=0.35)


@pytest.mark.parametrize("name", ["x_rigid", "x_by_signal", "x_along_y", "x_reflex_y"])
def test_a_law_whose_name_no_file_can_state_is_refused(name):
    own = {}
    exec(inspect.getsource(steady).replace("steady", name), own)
    linecache.cache[name] = 0, None, inspect.getsource(steady).replace("steady", name).splitlines(keepends=True), name
    with pytest.raises(ModelError, match=f"muscle 'm': the law '{name}' has a part in its name"):
        builder().muscle("m", codegen.compile_muscle(own[name]), PATH, excitation=0.5, max_force=1.0)


def test_an_end_inside_a_wrap_is_warned_of():
    path = [("ground", (0.01, 0.01, 0.02)), *OVER_CYLINDER[1:]]
    with pytest.warns(
        UserWarning, match="muscle 'm': point 1 of its path lies within a wrap, 0.02236 m from the axis, radius 0.03 m"
    ):
        shipped("millard_as_opensim", path, tendon_slack_length=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shipped("millard_as_opensim", OVER_CYLINDER)
        shipped("millard_as_opensim", OVER_TWO)


@pytest.mark.parametrize("excitation", [0.0, 0.05, 0.5, 1.0])
def test_a_muscle_begins_in_equilibrium(excitation):
    values = runtime.parameters(leg(excitation=excitation))
    assert values["activation_0.flexor"] == pytest.approx(excitation, abs=1e-15)
    assert np.abs(rates_at(leg(excitation=excitation))).max() < 1e-12


def test_the_equilibrium_is_that_of_the_start():
    """Of the displaced pose and the excitation at the time of the start, not those that the builder was given."""
    b = builder(excitation=runtime.Signal.spline([0.0, 1.0, 2.0], [0.1, 0.7, 0.2], degree=1))
    b.initial_coordinates("knee", angle=0.8)
    system = b.build(time=1.0)
    assert runtime.parameters(system)["activation_0.flexor"] == pytest.approx(0.7)
    assert np.abs(rates_at(system)).max() < 1e-12
    assert runtime.parameters(b.build(time=0.0))["activation_0.flexor"] == pytest.approx(0.1)


def test_initial_values_that_are_given():
    system = leg(**HILL, activation_0=0.2, fiber_length_0=0.11)
    assert [runtime.parameters(system)[f"{state}_0.flexor"] for state in ("activation", "fiber_length")] == [0.2, 0.11]
    assert in_equilibrium(system) is system and rates_at(system)[1] != 0.0
    half = leg(**HILL, activation_0=0.2)
    assert runtime.parameters(half)["activation_0.flexor"] == 0.2 and rates_at(half)[1] == pytest.approx(0.0, abs=1e-12)


def test_other_parameters_keep_the_start_until_it_is_asked_for():
    system = leg()
    other = runtime.with_parameters(system, {"tendon_slack_length.flexor": 0.19})
    names = ["activation_0.flexor", "fiber_length_0.flexor"]
    assert [runtime.parameters(other)[n] for n in names] == [runtime.parameters(system)[n] for n in names]
    assert np.abs(rates_at(other)).max() > 1e-3 and np.abs(rates_at(in_equilibrium(other))).max() < 1e-12
    given = runtime.with_parameters(system, {"fiber_length_0.flexor": 0.1})
    assert (
        in_equilibrium(given) is not given and runtime.parameters(in_equilibrium(given))["fiber_length_0.flexor"] == 0.1
    )


@pytest.mark.parametrize("path", [OVER_CYLINDER, CONDITIONAL, MOVING])
def test_global_axes_give_the_same_muscle(path):
    def moved(body, location):
        return np.add(location, (0, 0, -0.2)) if body == "shank" else location

    b, same = builder(path=path), []
    for element in path:
        values = dict(element[-1]) if isinstance(element[-1], dict) else {}
        if "s_i" in values:
            values["s_i"] = moved("shank", values["s_i"])
        same.append((*element[:2], values) if values else (element[0], moved(*element)))
    b.muscle("same", codegen.compile_muscle(hill), same, excitation=0.5, axes="global", **HILL)
    one, other = b.build().forces
    assert all(np.allclose(one.values[key], other.values[key], atol=1e-15) for key in one.values)


@pytest.mark.parametrize("path", [OVER_CYLINDER, CONDITIONAL, MOVING])
def test_files_and_other_processes_have_the_same_muscle(tmp_path, path):
    """The file states law, path and constants; the module is made again."""
    law = codegen.compile_muscle(hill)
    b = builder(excitation=runtime.Signal.spline([0.0, 1.0], [0.1, 0.9], degree=1), path=path)
    system = b.build()
    end = runtime.simulate(system, 0.2).states.tobytes()
    b.to_file(tmp_path / "b.json")
    system.to_file(tmp_path / "s.json")
    again = [
        runtime.Builder.from_file(tmp_path / "b.json", definitions=[law]).build(),
        runtime.Builder.from_file(tmp_path / "s.json", definitions=[law]).build(),
        runtime.System.from_file(tmp_path / "s.json", definitions=[law]),
    ]
    assert [runtime.simulate(one, 0.2).states.tobytes() for one in again] == [end] * 3
    assert all(one.forces[0].settled == system.forces[0].settled for one in again)
    with pytest.raises(ModelError, match="definitions=\\[codegen.compile_muscle"):
        runtime.Builder.from_file(tmp_path / "b.json")
    with pytest.raises(ModelError, match="cannot be pickled"):
        pickle.dumps(system)


@pytest.mark.parametrize("kind", [
    "thelen_as_opensim_along_i", "thelen_as_opensim_along_i_i", "thelen_as_opensim_along_i_cylinder_j", "spring_along_i_j",
    "thelen_as_opensim_along_i_cylinder_i_cylinder_i_j", "thelen_as_opensim_along_i_torus_i_j", "thelen_as_opensim_along_",
    "thelen_as_opensim_along_conditional_i_i_j_j", "thelen_as_opensim_along_i_conditional_i_i_j",
    "thelen_as_opensim_along_i_cylinder_i_conditional_i_i_j_j", "thelen_as_opensim_along_i_conditional_i_i_cylinder_i_j",
    "thelen_as_opensim_along_cylinder_i_j", "thelen_as_opensim_along_i_two_cylinders_i_j", "rigid_along_i_j",
])  # fmt: skip
def test_names_of_no_muscle_are_unknown_kinds(kind):
    b = builder()
    with pytest.raises(ModelError, match=f"force 'second': unknown kind '{kind}'"):
        b.force("second", kind, "ground", "shank")


@pytest.mark.slow
def test_a_muscle_in_a_spawned_process_gives_the_same_bits():
    b = builder()
    b.muscle("second", "thelen_as_opensim", OVER_CYLINDER, excitation=0.3, **MUSCLE)
    b._of["forces"].pop("flexor")  # a law of the user's own cannot be pickled
    system = b.build()
    again = pickle.loads(pickle.dumps(system))
    assert again.forces[0].module is system.forces[0].module
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(end_of, system).result() == end_of(system)


def end_of(system):
    return runtime.simulate(system, 0.1).states.tobytes()


def other_end(path, **values):
    """A path with other values of its second element."""
    (kind, bodies, own) = path[1]
    return [path[0], (kind, bodies, own | values), *path[2:]]


WRONG = [
    (dict(path=[("ground", (0, 0, 0))]), "its path needs a point at each end, on two or more bodies"),
    (
        dict(path=[("shank", (0, 0, 0)), ("shank", (0, 0, 0.1))]),
        "its path needs a point at each end, on two or more bodies",
    ),
    (dict(path=[OVER_CYLINDER[0], OVER_CYLINDER[1]]), "its path needs a point at each end"),
    (dict(path=[OVER_CYLINDER[k] for k in (0, 1, 1, 2)]), "cylinder and cylinder without a point between them"),
    (
        dict(path=[("ground", (0, 0, 0)), ("torus", "ground", {}), ("shank", (0, 0, 0))]),
        "unknown wrap or point 'torus'",
    ),
    (dict(path=[("ground", (0, 0, 0)), ("shnk", (0, 0, 0))]), "unknown body 'shnk'; did you mean 'shank'"),
    (dict(path=[("ground", (0, 0, 0)), "shank"]), r"path: 'shank'; give \(body, point\)"),
    (dict(path=[("ground", (0, 0, 0)), ("shank", (0, 0))]), "s_2_j"),
    (dict(excitation=1.2), "excitation = 1.2, must not be above 1"),
    (dict(excitation=runtime.Signal.spline([0, 1], [0, -0.1], degree=1)), "excitation = -0.1"),
    (dict(constants=HILL | {"tendon_slack": 0.2}), "unused tendon_slack"),
    (dict(constants={k: v for k, v in HILL.items() if k != "tendon_slack_length"}), "missing tendon_slack_length"),
    (dict(constants=HILL | {"optimal_fiber_length": -0.1}), "optimal_fiber_length = -0.1 m, must be above 0 m"),
    (dict(path=[PATH[0], ("two_cylinders", "ground", {}), PATH[2]]), "two_cylinders on 1 bodies, needs 2"),
    (dict(path=[PATH[0], (3, (0, 0, 0))]), "unknown body 3"),
    (
        dict(path=[PATH[0], ("cylinder", "ground", dict(s_l=(0, 0, 0))), PATH[2]]),
        "missing s_k, a_k, radius, length, unused s_l",
    ),
    (dict(law="thelen"), "unknown law 'thelen'"),
    (dict(path=CONDITIONAL[:2]), "its path needs a point at each end"),
    (dict(path=CONDITIONAL[1:]), "its path needs a point at each end"),
    (
        dict(path=[PATH[0], OVER_CYLINDER[1], *CONDITIONAL[1:]]),
        "cylinder and conditional beside each other; give a point",
    ),
    (
        dict(path=[*CONDITIONAL[:2], OVER_CYLINDER[1], PATH[2]]),
        "conditional and cylinder beside each other; give a point",
    ),
    (dict(path=[PATH[0], ("moving", "shank", {})]), "moving on 1 bodies, needs 3"),
    (dict(path=other_end(CONDITIONAL, upper=-0.5)), "conditional point 2: lower = -0.4 rad, above upper = -0.5 rad"),
    (
        dict(path=other_end(CONDITIONAL, b_j=(0, -1, 0))),
        "conditional point 2: b_j, from which its angle counts, is along its axis a_j: the sine between them is 0,",
    ),
    (
        dict(path=other_end(CONDITIONAL, c_k=(0, -1, 0))),
        "conditional point 2: c_k, whose angle counts, is along its axis a_j at the start: the sine between them is 0,",
    ),
    (
        dict(path=[CONDITIONAL[0], ("conditional", ("shank",) * 3, CONDITIONAL[1][2]), CONDITIONAL[2]]),
        "conditional point 2: axis a_j and direction c_k are both of shank, so that its angle never changes",
    ),
    (
        dict(path=other_end(CONDITIONAL, d_k=(1, 0, 0))),
        "path: conditional: unused d_k; needs s_i, a_j, b_j, c_k, lower, upper",
    ),
    (
        dict(path=other_end(MOVING, eta_table=[(0, 0, 0, 0)] * 2)),
        r"eta_table_2 has the shape \(2, 4\); give two or more points",
    ),
    (dict(path=other_end(MOVING, eta_table=[(0, 0), (0, 1)])), r"eta_table_2\[1, 0\] = 0 is not above the one before"),
    (dict(path=other_end(MOVING, c_k=(0, 0, 0.5))), "c_2_j"),
    (dict(tendon="rigid"), "the law 'hill' has no rigid tendon"),
    (
        dict(path=[PATH[0], ("cylinder_side", "ground", ROUND), PATH[2]]),
        "path: cylinder_side: missing n_k; needs s_k, a_k, n_k",
    ),
    (
        dict(path=[PATH[0], ("cylinder_side", "ground", ROUND | dict(n_k=(0, 1, 0))), PATH[2]]),
        "n_2_i, the side of a wrap, is not across its axis a_2_i: the cosine between them is 1,",
    ),
    (
        dict(excitation=OVERSHOOT),
        "excitation = -0.2.*, must not be below 0; give a signal within 0 and 1, also between its knots",
    ),
    (dict(excitation=1.0 + 1e-6), "excitation = 1, must not be above 1"),
    (dict(constants=HILL | {"activation_0": -0.5}), "activation_0 = -0.5, must not be below 0"),
    (dict(constants=HILL | {"activation_0": 2.0}), "activation_0 = 2, must not be above 1"),
    (dict(constants=HILL | {"fiber_length_0": -0.1}), "fiber_length_0 = -0.1 m, must be above 0 m"),
    (
        dict(law="thelen_as_opensim", constants=MUSCLE | {"fiber_length_0": -0.1}),
        "fiber_length_0 = -0.1 m, must not be below 0",
    ),
    (
        dict(law="thelen_as_opensim", constants=MUSCLE | {"maximum_pennation_angle": 0.1}),
        "maximum_pennation_angle = 0.1 rad is below pennation_angle_at_optimal = 0.2 rad",
    ),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_what_is_no_muscle_is_refused_by_name(given, message):
    b = builder()
    arguments = (
        dict(law=codegen.compile_muscle(hill), path=PATH, excitation=0.5, constants=HILL, tendon="elastic") | given
    )
    with pytest.raises(ModelError, match=f"muscle 'second'.*{message}"):
        b.muscle(
            "second",
            arguments["law"],
            arguments["path"],
            tendon=arguments["tendon"],
            excitation=arguments["excitation"],
            **arguments["constants"],
        )
    assert b.build().force_names == ("flexor",)


def test_the_direction_of_a_point_is_off_its_axis_in_the_pose_of_the_start():
    """A shank that lies on its side: its z axis, not its y axis, is along y of the ground, about which the angle counts."""
    b = runtime.Builder("lying")
    b.body("shank", mass=1.0, inertia=(0.1, 0.1, 0.1), p=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
    given = dict(law="thelen_as_opensim", tendon="rigid", excitation=0.1, **MUSCLE)
    b.muscle("across", path=other_end(CONDITIONAL, c_k=(0, 1, 0)), **given)
    with pytest.raises(
        ModelError, match="muscle 'along': path: conditional point 2: c_k, .* along its axis a_j at the start"
    ):
        b.muscle("along", path=other_end(CONDITIONAL, c_k=(0, 0, 1)), **given)


def test_a_path_over_five_bodies_is_refused():
    b = runtime.Builder("chain")
    for name in "abcde":
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), free=True)
    path = [(name, (0.1 * k, 0, 0)) for k, name in enumerate("abcde")]
    with pytest.raises(ModelError, match=r"muscle 'm': its path is over 5 bodies \(a, b, c, d, e\), limit 4"):
        b.muscle("m", codegen.compile_muscle(steady), path, excitation=1.0, max_force=1.0)


def test_a_muscle_without_equilibrium_is_refused():
    """The tendon alone is twice as long as the path: with a fibre of any length it pulls less than the fibre."""
    refused = (
        r"muscle 'flexor' \(hill_along_i_i_j\): found no fiber_length up to 3.017 m at which its rate falls through 0"
    )
    with pytest.raises(ModelError, match=refused):
        leg(**HILL | {"tendon_slack_length": 0.6})


def test_lengths_in_another_unit_are_asked_about():
    with pytest.warns(runtime.UnitWarning, match="muscle 'flexor': activation_time_constant = 20 s.*20 ms are 0.02 s"):
        leg(**HILL | {"activation_time_constant": 20.0})
    far = [("ground", (50, 0, 200)), ("shank", (40, 0, 100))]
    of_path = "muscle 'm': length of its path = 100.698 m, but with a fibre and a tendon of 0.28 m"
    with pytest.warns(runtime.UnitWarning, match=of_path):
        shipped("millard_as_opensim", far, fiber_length_0=0.1, activation_0=0.1)
    turned = other_end(MOVING, eta_table=[(-60, 0), (60, 0.01)])
    with pytest.warns(
        runtime.UnitWarning, match="muscle 'm': an angle of eta_table_2 = 60 rad.*60 degrees are 1.047 rad"
    ):
        shipped("millard_as_opensim", turned, fiber_length_0=0.1, activation_0=0.1)
    moved = other_end(MOVING, eta_table=[(-1, 0), (1, 10)])
    with pytest.warns(runtime.UnitWarning, match="muscle 'm': a place of eta_table_2 = 10 m.*10 mm are 0.01 m"):
        shipped("millard_as_opensim", moved, fiber_length_0=0.1, activation_0=0.1)
    with pytest.warns(runtime.UnitWarning, match="muscle 'm': delay = 60 s.*60 ms are 0.06 s"):
        shipped("thelen_as_opensim", reflex="lengthening_speed", gain=1.0, delay=60.0)
    with pytest.warns(runtime.UnitWarning, match=r"muscle 'flexor': optimal_fiber_length = 90 m.*90 mm are 0.09 m"):
        leg(**HILL | {"optimal_fiber_length": 90.0}, fiber_length_0=0.1, activation_0=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leg()


@pytest.mark.parametrize(
    ("force", "asked"),
    [(0.05, "0.05 N, .* is 0.05886 to 58860 N; .*0.05 kN are 50 N"), (9e4, "90000 N, .*; is another unit meant")],
)
def test_an_isometric_force_far_from_the_weight_of_the_system_is_asked_about(force, asked):
    with pytest.warns(runtime.UnitWarning, match=f"muscle 'flexor': max_isometric_force = {asked}"):
        leg(**HILL | {"max_isometric_force": force})
