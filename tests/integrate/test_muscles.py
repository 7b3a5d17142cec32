"""Runs of muscles: against other forces, SciPy's integration of the same equations, and the other ways to run them."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import codegen
import runtime
from runtime.jit.python_code import python_code
from runtime.system.force_building import look_up_tables
from runtime.system.muscle_modules import LAWS
from runtime.system.reference import reference
from tests.support.muscles import (
    CONDITIONAL,
    HILL,
    HINGE,
    MOVING,
    MUSCLE,
    OVER_CYLINDER,
    PATH,
    builder,
    elastic,
    hill,
    leg,
    steady,
)

TIMES = np.linspace(0.0, 0.4, 9)
TIGHT = dict(rtol=1e-10, atol=1e-10)
TWITCH = runtime.Signal.spline([0.0, 0.1, 0.2, 0.3, 0.5], [0.2, 0.8, 0.45, 0.6, 0.2], degree=3)
OVER_FOUR = [PATH[0], ("shank", (0.05, 0.01, 0.15)), ("foot", (0.1, 0.02, 0.0)), ("toe", (0, 0, 0.1))]
SPRING = dict(stiffness=2000.0, loss=0.3)
# Points of three bodies that move with the angle of two others, or leave the path with it.
OF_FOUR = [
    PATH[0], ("conditional", ("shank", "toe", "foot"), dict(s_i=(0.07, 0, 0.15), lower=-0.4, upper=0.3, **HINGE)),
    ("moving", ("foot", "shank", "toe"), MOVING[1][2] | dict(lower=-0.5)), OVER_FOUR[-1],
]  # fmt: skip
METHODS = pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "joint"), ("dop853", "absolute"), ("radau", "absolute")]
)


@pytest.mark.parametrize(("path", "kind", "length"), [
    ([PATH[0], PATH[2]], "cable", 0.28),
    (PATH, "tendon", 0.285),
])  # fmt: skip
def test_an_elastic_law_is_the_force_of_this_elasticity(path, kind, length):
    """Through several times at which it becomes slack or taut."""
    one = leg(elastic, path, 0.3, rate=1.0, slack_length=length, **SPRING)
    other = builder(elastic, path, 0.3, rate=1.0, slack_length=length, **SPRING)
    other._of["forces"].clear()
    points = [location for _, location in path]
    halfway = np.mean(points[:2], axis=0)  # a tendon has two points on its way
    over = {} if kind == "cable" else dict(body_k="ground", body_l="ground", s_k=halfway, s_l=points[1])
    other.force("flexor", kind, "ground", "shank", s_i=points[0], s_j=points[-1], slack_length=length, **over, **SPRING)
    first, second = (runtime.simulate(system, 2.0, t_eval=5 * TIMES, **TIGHT) for system in (one, other.build()))
    assert (first.forces["flexor"].tension == 0.0).any() and (first.forces["flexor"].tension > 1.0).any()
    assert np.abs(first.states - second.states).max() < 1e-8
    for name in ("tension", "length", "energy", "power"):
        assert getattr(first.forces["flexor"], name) == pytest.approx(getattr(second.forces["flexor"], name), abs=1e-6)


@pytest.mark.parametrize("path", [PATH, OVER_CYLINDER])
@pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "joint"), ("dop853", "absolute"), ("radau", "absolute")]
)
def test_an_elastic_tendon_against_an_integration_of_the_law(path, method, coordinates):
    """The law, lambdified, on the length of the path, with one coordinate of the leg: SciPy's LSODA."""
    system = leg(path=path, excitation=TWITCH, rate=1.0)
    run = runtime.simulate(system, TIMES[-1], t_eval=TIMES, method=method, coordinates=coordinates, **TIGHT)
    names = sp.symbols("length length_dot excitation activation fiber_length " + " ".join(HILL), real=True)
    law = sp.lambdify(names, [*hill(*names)["rates"].values(), hill(*names)["tension"]])
    mechanics = runtime.mechanics(system)
    inertia = 0.05 + 3.0 * 0.2**2

    def rates(t, y):
        q, u, *states = y
        arm = mechanics.moment_arms("flexor", [q])[0]
        length = float(mechanics.muscle_length("flexor", [q]))
        *z_dot, tension = law(length, -arm * u, float(TWITCH(t)), *states, *HILL.values())
        return [u, arm * tension / inertia, *z_dot]

    start = [runtime.parameters(system)[f"{state}_0.flexor"] for state in ("activation", "fiber_length")]
    exact = solve_ivp(rates, (0.0, TIMES[-1]), [0.0, 1.0, *start], "LSODA", TIMES, rtol=1e-10, atol=1e-12).y
    flexor, knee = run.forces["flexor"], run.angles["knee"]
    found = np.array([knee.values["angle"], knee.rates["angle"], flexor.activation, flexor.fiber_length])
    assert run.success and np.abs(found - exact).max() < 1e-7
    assert flexor.excitation == pytest.approx(TWITCH(TIMES))
    assert flexor.lengthening_speed == pytest.approx(-flexor.moment_arms["knee.angle"] * knee.rates["angle"], abs=1e-10)


@pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "joint"), ("dop853", "absolute"), ("radau", "absolute")]
)
def test_the_energy_balance_closes(method, coordinates):
    """Stored are tendon and passive fibre; the rest of the work is that of the active and the damping force."""
    run = runtime.simulate(
        leg(excitation=TWITCH, rate=1.0),
        0.4,
        t_eval=np.linspace(0, 0.4, 401),
        method=method,
        coordinates=coordinates,
        **TIGHT,
    )
    flexor = run.forces["flexor"]
    assert np.abs(run.energy_balance.error).max() < 1e-7
    work = np.concatenate([[0.0], np.cumsum(0.5 * (flexor.fiber_power[1:] + flexor.fiber_power[:-1]) * np.diff(run.t))])
    assert np.abs(run.energy_balance.work["flexor"] - work).max() < 2e-3 * np.abs(work).max() > 0.01
    assert flexor.power == pytest.approx(-flexor.tension * flexor.lengthening_speed, abs=1e-9)


@pytest.mark.parametrize("tendon", ["elastic", "rigid"])
@pytest.mark.parametrize("law", [law for law in LAWS if "thelen_as_p" not in law])  # singular without activation
def test_shipped_laws_keep_the_balance_and_agree_in_lanes(law, tendon):
    b = builder()
    b._of["forces"].pop("flexor")
    b.muscle("m", law, PATH, excitation=TWITCH, tendon=tendon, **MUSCLE | dict(tendon_slack_length=0.15))
    system = b.build()
    run = runtime.simulate(system, 0.2, t_eval=[0.0, 0.1, 0.2], rtol=1e-9, atol=1e-9)
    assert run.success and np.abs(run.energy_balance.error).max() < 1e-5
    stiff = runtime.simulate(system, 0.2, t_eval=[0.0, 0.1, 0.2], method="radau", rtol=1e-9, atol=1e-9)
    assert np.abs(run.states - stiff.states).max() < 2e-6
    many = runtime.simulate_many(
        system, {"max_isometric_force.m": [900.0, 1000.0]}, 0.2, t_eval=[0.2], outputs=["r.shank"], rtol=1e-9, atol=1e-9
    )
    assert many.vectorised.all() and np.abs(many["r.shank"][1, 0] - run.r["shank"][-1]).max() < 1e-7


def passed(run):
    """The times at which the conditional point joined or left the path, with the jumps of the length."""
    q = run.angles["knee"].values["angle"]
    inside = (q >= -0.4) & (q <= 0.3)
    at = np.flatnonzero(np.diff(inside.astype(int)))
    mechanics = runtime.mechanics(run.system)
    ends = [min((-0.4, 0.3), key=lambda end, k=k: abs(end - q[k])) for k in at]
    near = [
        [end + by for by in ((-1e-13, 1e-13) if q[k + 1] > q[k] else (1e-13, -1e-13))]
        for end, k in zip(ends, at, strict=True)
    ]
    lengths = [mechanics.muscle_length("flexor", [[q] for q in pair]) for pair in near]
    return at, np.diff(lengths, axis=1).ravel()


@METHODS
@pytest.mark.parametrize("rate", [-2.0, 9.0])
def test_a_conditional_point_that_leaves_the_path_in_closed_form(method, coordinates, rate):
    """With a constant tension T the sum of I u^2 / 2 and T L is constant but for T times the jumps of L."""
    run = runtime.simulate(
        leg(steady, CONDITIONAL, 1.0, rate=rate, max_force=100.0), 0.3, method=method, coordinates=coordinates, **TIGHT
    )
    knee, length = run.angles["knee"], run.forces["flexor"].length
    total = 0.5 * (0.05 + 3.0 * 0.2**2) * knee.rates["angle"] ** 2 + 100.0 * length
    at, jumps = passed(run)
    assert run.success and len(at) > 0 and np.abs(jumps).min() > 1e-3
    for k, jump in zip(at, jumps, strict=True):
        assert min(abs(knee.values["angle"][k + by] - end) for by in (0, 1) for end in (-0.4, 0.3)) < 1e-9, (
            "a step ends there"
        )
        total[k + 1 :] -= 100.0 * jump
    assert np.ptp(total) < 1e-8 * np.abs(total).max()
    assert "energy" not in run.message and np.abs(run.energy_balance.error).max() < 1e-8


@METHODS
def test_a_moving_point_in_closed_form(method, coordinates):
    """Its motion takes part in the work: with a constant tension T the sum of I u^2 / 2 and T L is constant."""
    run = runtime.simulate(
        leg(steady, MOVING, 1.0, rate=12.0, max_force=100.0), 0.5, method=method, coordinates=coordinates, **TIGHT
    )
    knee, flexor = run.angles["knee"], run.forces["flexor"]
    total = 0.5 * (0.05 + 3.0 * 0.2**2) * knee.rates["angle"] ** 2 + 100.0 * flexor.length
    assert run.success and knee.values["angle"].max() > 0.81 and np.ptp(total) < 1e-7 * np.abs(total).max()
    assert flexor.power == pytest.approx(-100.0 * flexor.lengthening_speed, abs=1e-9)
    assert flexor.moment_arms["knee.angle"] * knee.rates["angle"] == pytest.approx(-flexor.lengthening_speed, abs=1e-9)


def test_what_a_muscle_with_a_conditional_point_stores_is_reported_and_no_part_of_the_energy():
    run = runtime.simulate(leg(hill, CONDITIONAL, 0.5, rate=-2.0), 0.3, **TIGHT)
    assert len(passed(run)[0]) == 1 and run.forces["flexor"].energy.max() > 1.0
    assert run.energy == pytest.approx(0.5 * 0.17 * run.angles["knee"].rates["angle"] ** 2, abs=1e-9)
    assert np.abs(run.energy_balance.error).max() < 1e-8
    never = [CONDITIONAL[0], (*CONDITIONAL[1][:2], CONDITIONAL[1][2] | dict(lower=-9.0, upper=9.0)), CONDITIONAL[2]]
    fixed = [PATH[0], ("shank", (0.07, 0, 0.15)), PATH[2]]
    one, other = (runtime.simulate(leg(hill, path, 0.5), 0.1, t_eval=[0.0, 0.1]) for path in (never, fixed))
    assert one.forces["flexor"].energy == pytest.approx(other.forces["flexor"].energy, rel=1e-9)


def test_steps_end_at_kinks_of_a_law_along_a_path_that_moves():
    """Where the muscle becomes slack or taut, by the tables in the states between the ends of a step."""
    run = runtime.simulate(
        leg(elastic, MOVING, 0.3, rate=3.0, slack_length=0.296, stiffness=2e4, loss=0.0), 1.0, **TIGHT
    )
    slack = np.sign(run.forces["flexor"].length - 0.296)
    at = np.flatnonzero(slack[1:] * slack[:-1] < 0.0)
    assert len(at) > 0
    near = np.abs(run.forces["flexor"].length - 0.296)
    assert np.minimum(near[at], near[at + 1]).max() < 1e-10


@pytest.mark.parametrize("path", [PATH, OVER_CYLINDER, CONDITIONAL, MOVING])
def test_cases_equal_single_runs(path):
    """In lanes: an excitation that is a number and one that is a signal, other points, and other constants."""
    excitations, points = np.linspace(0.0, 0.9, 8), np.tile([0.04, 0.0, 0.1], (8, 1)) + 1e-3 * np.arange(8)[:, None]
    last = f"s_{len(path)}_j.flexor"
    given = [{"excitation.flexor": excitations, last: points}, {"max_isometric_force.flexor": 500 + 100 * np.arange(8)}]
    for excitation, cases in zip((0.5, TWITCH), given, strict=True):
        system = leg(path=path, excitation=excitation)
        outputs = ["r.shank", "force_tension.flexor", "force_fiber_length.flexor"]
        many = runtime.simulate_many(system, cases, 0.3, t_eval=[0.1, 0.3], outputs=outputs, **TIGHT)
        assert many.vectorised.all() and many.success
        for k in (0, 3, 7):
            own = runtime.with_parameters(
                system, {name: values[k] for name, values in cases.items()}, check_units=False
            )
            run = runtime.simulate(own, 0.3, t_eval=[0.1, 0.3], **TIGHT)
            assert np.abs(many["r.shank"][k] - run.r["shank"]).max() < 1e-8
            for name, exact in (("tension", 1e-5), ("fiber_length", 1e-9)):
                assert many[f"force_{name}.flexor"][k] == pytest.approx(getattr(run.forces["flexor"], name), abs=exact)


def test_derivatives_of_a_run_equal_differences():
    system = leg(rate=1.0)
    given = {
        name: runtime.parameters(system)[name]
        for name in ("excitation.flexor", "tendon_slack_length.flexor", "fiber_length_0.flexor", "s_3_j.flexor")
    }
    found = runtime.sensitivities(system, given, 0.2, rtol=1e-10, atol=1e-10)

    def end(name, value):
        other = runtime.with_parameters(system, {name: value}, check_units=False)
        return runtime.simulate(other, 0.2, t_eval=[0.2], rtol=1e-12, atol=1e-12).r["shank"][-1]

    for name in ("excitation.flexor", "tendon_slack_length.flexor", "fiber_length_0.flexor"):
        h = 1e-4 * given[name]
        slope = (end(name, given[name] + h) - end(name, given[name] - h)) / (2 * h)
        assert np.abs(found.r["shank"][-1, :, found.names.index(name)] - slope).max() < 1e-5 * np.abs(slope).max()


def test_a_muscle_that_becomes_slack_without_a_slack_tendon_is_named():
    b = builder(rate=8.0)
    b._of["forces"].pop("flexor")
    path = [("ground", (-0.05, 0, 0.2)), ("shank", (-0.05, 0, 0.1))]
    b.muscle("m", "de_groote_as_opensim", path, excitation=0.05, **MUSCLE | dict(tendon_slack_length=0.2))
    run = runtime.simulate(b.build(), 0.3)
    assert not run.success and "muscle 'm' (de_groote_as_opensim_along_i_j) is slack: its path of " in run.message


def test_a_path_that_leaves_a_cylinder_is_named_where_energy_is_lost():
    """Its length jumps by 15 mm."""
    b = runtime.Builder("leg", gravity=(0, 0, -9.81))
    omega = np.array([6.0, 0.0, 0.0])
    b.body("shank", mass=3.0, inertia=(0.05, 0.05, 0.01), r=(0, 0, -0.2), omega=omega, v=np.cross(omega, (0, 0, -0.2)))
    b.joint("knee", "revolute", "ground", "shank", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0.2), a_j=(1, 0, 0))
    short = ("cylinder", "ground", dict(s_k=(0, 0, -0.02), a_k=(0, 1, 0), radius=0.05, length=0.04))
    path = [("ground", (0.01, 0, 0.2)), short, ("shank", (0.01, 0, 0.1))]
    b.muscle("m", "thelen_as_opensim", path, excitation=0.3, **MUSCLE | dict(tendon_slack_length=0.2))
    system, named = (
        b.build(),
        "or give wraps more length if the path of muscle 'm' leaves an end of one, where its length jumps",
    )
    assert named in runtime.simulate(system, 0.4).message
    many = runtime.simulate_many(system, {"excitation.m": [0.1, 0.3]}, 0.4, outputs=["last(angle.knee.angle)"])
    assert all(named in message for message in many.messages.values()) and len(many.messages) == 2


def flexed(law="thelen_as_opensim", **given):
    """The leg with a muscle of a law with kinks."""
    b = builder()
    b._of["forces"].pop("flexor")
    b.muscle("m", law, PATH[::2], **dict(excitation=0.2) | MUSCLE | given)
    return b.build()


def knee_at_end(system, name, value):
    other = runtime.with_parameters(system, {name: value}, check_units=False)
    return runtime.simulate(other, 0.3, t_eval=[0.3], rtol=1e-12, atol=1e-14).angles["knee"].angle[-1]


def slope_ahead(system, name, h=1e-7):
    """Its derivative by differences of order two to one side: no error of the root of h where others pass a kink that is near."""
    own = runtime.parameters(system)[name]
    at, near, far = (knee_at_end(system, name, own + n * h) for n in range(3))
    return (4 * near - 3 * at - far) / (2 * h)


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10])
def test_derivatives_keep_to_the_side_of_a_kink(tolerance):
    """The fibre is near its isometric force, at which force over velocity has a kink, all the time."""
    system, name = flexed(activation_0=0.4), "tendon_slack_length.m"
    own = runtime.parameters(system)[name]
    found = runtime.sensitivities(system, {name: own}, 0.3, rtol=tolerance, atol=1e-2 * tolerance)
    assert found.angles["knee"].angle[-1, 0] == pytest.approx(slope_ahead(system, name), rel=3e-6)


@pytest.mark.parametrize(
    ("law", "excitation"), [("thelen_as_opensim", 0.2), ("millard_as_opensim", 0.2), ("de_groote_as_opensim", 0.05)]
)
def test_a_motion_that_begins_on_a_kink_has_the_derivatives_of_the_side_to_which_it_goes(law, excitation):
    """The fibre begins at its isometric force and then shortens, as it would with a longer tendon from the start on."""
    system, name = flexed(law, excitation=excitation), "tendon_slack_length.m"
    found = runtime.sensitivities(system, {name: runtime.parameters(system)[name]}, 0.3, rtol=1e-8, atol=1e-10)
    assert found.angles["knee"].angle[-1, 0] == pytest.approx(slope_ahead(system, name), rel=1e-5)


@pytest.mark.parametrize("name", ["excitation.m", "activation_0.m"])
def test_a_motion_that_stays_on_a_kink_has_no_derivative_off_it(name):
    """The activation rises and falls at rates of its own; others do not move it off."""
    system = flexed("millard_as_opensim")
    given = runtime.parameters(system)
    with pytest.raises(runtime.ModelError, match=f"the derivative by {name}: force 'm' begins on a kink of its law"):
        runtime.sensitivities(system, {name: given[name]}, 0.3)
    other = "max_isometric_force.m"
    found = runtime.sensitivities(system, {other: given[other]}, 0.3)
    slope = (knee_at_end(system, other, given[other] + 0.1) - knee_at_end(system, other, given[other] - 0.1)) / 0.2
    assert found.angles["knee"].angle[-1, 0] == pytest.approx(slope, rel=1e-5)


def test_at_its_bound_an_excitation_has_the_derivative_to_the_other_side():
    system = flexed("millard_as_opensim", excitation=1.0)
    found = runtime.sensitivities(system, {"excitation.m": 1.0}, 0.3)
    slope = (knee_at_end(system, "excitation.m", 1.0) - knee_at_end(system, "excitation.m", 1.0 - 1e-5)) / 1e-5
    assert found.angles["knee"].angle[-1, 0] == pytest.approx(slope, rel=1e-3)


def knee_slopes(system, given, t_end, coordinates):
    """Derivatives of angle and rate of the knee at the end, found and by central differences of runs, (2, names) each."""

    def end(name, off):
        other = runtime.with_parameters(system, {name: given[name] + off}, check_units=False)
        run = runtime.simulate(other, t_end, t_eval=[t_end], rtol=1e-12, atol=1e-14, coordinates=coordinates)
        return np.array([run.angles["knee"].values["angle"][-1], run.angles["knee"].rates["angle"][-1]])

    found = runtime.sensitivities(system, given, t_end, rtol=1e-9, atol=1e-11, coordinates=coordinates).angles["knee"]
    steps = {name: 1e-4 * abs(value) for name, value in given.items()}
    differences = [(end(name, h) - end(name, -h)) / (2 * h) for name, h in steps.items()]
    return np.array([found.values["angle"][-1], found.rates["angle"][-1]]), np.transpose(differences)


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
@pytest.mark.parametrize(("law", "path", "rate", "t_end", "edge"), [
    (steady, CONDITIONAL, -2.0, 0.3, "lower"), (steady, CONDITIONAL, 9.0, 0.3, "upper"),
    (steady, CONDITIONAL, -2.0, 1.5, "lower"), (hill, CONDITIONAL, -2.0, 0.3, "lower"),
    (steady, MOVING, 12.0, 0.2, "upper"),
])  # fmt: skip
def test_derivatives_jump_where_a_point_joins_or_leaves_the_path_or_stops(law, path, rate, t_end, edge, coordinates):
    """The angle at which it does so, among others; 1.5 s have several such times."""
    constants = {} if law is hill else dict(max_force=100.0)
    system = leg(law, path, 0.5, rate=rate, **constants)
    given = {name: runtime.parameters(system)[name] for name in ("excitation.flexor", f"{edge}_2.flexor", "mass.shank")}
    found, differences = knee_slopes(system, given, t_end, coordinates)
    assert (np.abs(found - differences).max(axis=0) < 1e-5 * np.abs(differences).max(axis=0)).all()


def test_derivatives_jump_once_where_points_of_two_muscles_leave_their_paths():
    b = builder(steady, CONDITIONAL, 0.5, rate=-2.0, max_force=100.0)
    b.muscle("other", codegen.compile_muscle(hill), CONDITIONAL, excitation=0.3, **HILL)
    system = b.build()
    given = {name: runtime.parameters(system)[name] for name in ("excitation.flexor", "max_isometric_force.other")}
    found, differences = knee_slopes(system, given, 0.3, "joint")
    assert found == pytest.approx(differences, rel=1e-5)


@pytest.mark.parametrize("path", [PATH, OVER_CYLINDER, OVER_FOUR, OF_FOUR])
@pytest.mark.parametrize("excitation", [0.5, TWITCH])
def test_tangents_equal_differences(path, excitation):
    """Forces, moments and rates along displacements and changes of velocity of each body, and along the states."""
    b = builder(path=PATH)
    for name in ("foot", "toe"):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0.1, -0.4), free=True)
    b.muscle("m", codegen.compile_muscle(hill), path, excitation=excitation, **HILL)
    force = b.build().force("m")
    module, rng = force.module, np.random.default_rng(3)
    ends = [np.array([*rng.normal(size=3) * 0.05, 1, 0, 0, 0, *rng.normal(size=6)]) for _ in force.bodies]
    x = np.zeros(module.SIZE)
    reference(force, ends[0], ends[1], x, *ends[2:])
    x[module.STATES_PLACE :][:2] = 0.4, 0.09
    if module.SIGNALS:
        x[module.LOADS_PLACE - 3] = 0.7
    look_up_tables(force, ends, x)
    count, states = len(ends), len(module.STATES)
    seeds = np.eye(12 * count + states)
    found = np.zeros((6 * count + states, len(seeds)))
    python_code(module.state_tangent)(*ends, x, seeds, found)
    bodies = np.zeros((6 * count, 12 * count))
    python_code(module.tangent)(*ends, x, np.eye(12 * count), bodies)
    assert np.array_equal(bodies, found[: 6 * count, : 12 * count])
    letters = "ijkl"

    def outputs(seed):
        own, moved, out = x.copy(), [end.copy() for end in ends], np.zeros(80)
        for n, end in enumerate(moved):
            step = seed[12 * n :][:12]
            end[:3] += step[:3]
            end[7:] += step[6:]
            for k, (_, _, body) in enumerate(module.VECTORS):
                if body == letters[n]:
                    own[3 * k : 3 * k + 3] = rotated(step[3:6], own[3 * k : 3 * k + 3])
        own[module.STATES_PLACE :][:states] += seed[12 * count :]
        look_up_tables(force, moved, own)
        python_code(module.evaluate)(*moved, own, out)
        first = 26 + len(module.OUTPUTS)
        return np.concatenate([out[: 6 * count], out[first : first + states]])

    steps = zip((-3, -2, -1, 1, 2, 3), np.array([-1, 9, -45, 45, -9, 1]) / 60, strict=True)
    exact = sum(w / 1e-4 * np.array([outputs(1e-4 * k * seed) for seed in seeds]).T for k, w in steps)
    assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()


def rotated(turn, vector):
    """A vector after a turn, a rotation vector: the formula of Rodrigues."""
    angle = np.linalg.norm(turn)
    if angle == 0.0:
        return vector
    n = turn / angle
    return vector * np.cos(angle) + np.cross(n, vector) * np.sin(angle) + n * (n @ vector) * (1 - np.cos(angle))
