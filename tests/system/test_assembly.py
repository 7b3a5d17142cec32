"""Assembly of displaced mechanisms, against the least change by dense algebra; mechanisms that cannot close are refused."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import models
import runtime
from runtime import GROUND, AssemblyError, AssemblyWarning, Builder
from tests.support.random_mechanisms import MODULES, SHAPES, Dense, RandomMechanism, random_edges
from tests.support.refusals import refused_with
from tests.support.vectors import matrix, parameters


def turned(p, w):
    """Euler parameters after a further turn by the rotation vector w, global axes."""
    return parameters(Rotation.from_rotvec(w).as_matrix() @ matrix(p))


def turn_between(p, q):
    """The rotation vector that turns p into q."""
    return Rotation.from_matrix(matrix(q) @ matrix(p).T).as_rotvec()


def displaced(system, size, seed):
    rng = np.random.default_rng(seed)
    r = {name: system.state.r[name] + size * rng.standard_normal(3) for name in system.body_names}
    p = {name: turned(system.state.p[name], 3 * size * rng.standard_normal(3)) for name in system.body_names}
    return system.state.replace(r=r, p=p)


# How far Newton's method and first-order estimates reach depends on the mechanism.  The names are fixed, so a new kind of joint
# leaves these mechanisms as they are.
NAMED = [
    "spherical", "revolute", "cylindrical", "translational", "universal", "modified_universal", "fixed", "constant_angle",
    "constant_distance", "point_on_line", "point_on_plane",
]  # fmt: skip
ASSEMBLED = {
    "modified foot": models.foot.build,
    "double pendulum": models.double_pendulum.build,
    "four-bar": models.four_bar.build,
    "four hinges": lambda: models.four_bar.build("revolute"),
    "Hooke joint": models.hooke_shaft.build,
    "ladder": lambda: RandomMechanism(7, SHAPES["ladder"]).build(),
    "random": lambda: RandomMechanism(5, random_edges(5, 10, 8, NAMED)).build(),
}


@pytest.mark.parametrize("build", ASSEMBLED.values(), ids=ASSEMBLED)
def test_displaced_bodies_are_moved_by_the_least_change(build):
    system = build()
    misses = []
    for size in (1e-3, 1e-4):
        given = displaced(system, size, 1)
        done = runtime.assemble(system, given)
        dense = Dense(system, given, system.state)
        assert np.abs(dense.Phi).max() > 0.1 * size
        assert np.abs(Dense(system, done, system.state).Phi).max() < 1e-11
        moved = np.concatenate(
            [
                np.concatenate([done.r[b] - given.r[b], turn_between(given.p[b], done.p[b])])
                for b in system.body_names
            ]
        )  # fmt: skip
        near = Dense(system, system.state)
        least = near.least_change(-dense.Phi)
        misses.append(np.sqrt((moved - least) @ near.M @ (moved - least) / (least @ near.M @ least)))
    # To first order: what is missed falls in proportion to the displacement.
    assert misses[0] < 0.2
    assert misses[1] < 0.2 * misses[0]


FAR = {
    "loop of four": (243, [("revolute", "b0", GROUND), ("translational", "b1", "b0"), ("modified_universal", "b0", "b2"),
                           ("spherical", "b1", "b2")], 0.03),
    "plane and link": (1079, random_edges(1079, 3, 2, NAMED), 0.05),
    "fixed and hinged": (2066, random_edges(2066, 3, 2, NAMED), 0.05),
}  # fmt: skip


@pytest.mark.parametrize("seed, edges, size", FAR.values(), ids=FAR)
def test_bodies_are_assembled_from_where_newton_reaches(seed, edges, size):
    system = RandomMechanism(seed, edges).build()
    given = displaced(system, size, seed)
    state, names = given, system.body_names
    for _ in range(20):  # Newton's method as it stands in the books, with full steps halved while they do not help
        dense = Dense(system, state, system.state)
        u = dense.least_change(-dense.Phi)
        for k in range(12):
            part = 0.5**k * u
            trial = state.replace(
                r={name: state.r[name] + part[6 * n : 6 * n + 3] for n, name in enumerate(names)},
                p={name: turned(state.p[name], part[6 * n + 3 : 6 * n + 6]) for n, name in enumerate(names)},
            )
            if np.abs(Dense(system, trial, system.state).Phi).max() < np.abs(dense.Phi).max():
                break
        state = trial
    assert np.abs(Dense(system, state, system.state).Phi).max() < 1e-14
    try:
        done = runtime.assemble(system, given)
    except AssemblyError as error:  # bodies this far away may lead to a joint's mirror image, which is refused by name
        assert "mirror image" in str(error) and any(j.module.BRANCH_SIGNS for j in system.joints)
    else:
        assert np.abs(Dense(system, done, system.state).Phi).max() < 1e-11


def test_assembled_bodies_stay_where_they_are():
    for build in ASSEMBLED.values():
        system = build()
        done = runtime.assemble(system, system.state)
        for name in system.body_names:
            assert np.abs(done.r[name] - system.state.r[name]).max() < 1e-13
            assert np.abs(done.p[name] - system.state.p[name]).max() < 1e-13
    foot = models.foot.build()
    assert np.array_equal(runtime.assemble(foot, foot.state).y, foot.state.y)


def test_builder_assembles_and_reports_the_displacements():
    def build(off):
        b = Builder("hanging rods")
        b.body("upper", mass=1.0, inertia=(0.01, 0.01, 0.001), r=(0, 0, -0.5), guess=True)
        b.body("lower", mass=1.0, inertia=(0.01, 0.01, 0.001), r=(off, 0, -1.5), guess=True)
        b.joint("top", "spherical", GROUND, "upper", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
        b.joint("middle", "spherical", "upper", "lower", s_i=(0, 0, -0.5), s_j=(0, 0, 0.5))
        return b.build()

    exact, off = build(0.0), build(0.1)
    assert exact.assembly.iterations == 0
    assert exact.assembly.largest_move == exact.assembly.largest_turn == 0.0
    moves = {name: np.linalg.norm(off.state.r[name] - exact.state.r[name]) for name in off.body_names}
    moves["lower"] = np.linalg.norm(off.state.r["lower"] - [0.1, 0, -1.5])
    assert off.assembly.iterations > 0
    assert off.assembly.residual < 1e-12
    assert off.assembly.moved_body == max(moves, key=moves.get)
    assert off.assembly.largest_move == pytest.approx(max(moves.values()), rel=1e-12)
    turns = {name: 2 * np.arccos(abs(off.state.p[name][0])) for name in off.body_names}
    assert off.assembly.turned_body == max(turns, key=turns.get)
    assert off.assembly.largest_turn == pytest.approx(max(turns.values()), rel=1e-9)


def bars(crank, coupler, rocker, ground):
    """A four-bar of given lengths: crank and rocker upright, the coupler level between them, joined as it may be."""
    b = Builder("bars")
    y = (0, 1, 0)
    centres = {"crank": (0, crank / 2), "coupler": (ground / 2, (crank + rocker) / 2), "rocker": (ground, rocker / 2)}
    lengths = {"crank": crank, "coupler": coupler, "rocker": rocker}
    for name, (x, z) in centres.items():
        inertia = lengths[name] ** 2 / 12 * np.array([1, 1, 0.1] if name != "coupler" else [0.1, 1, 1])
        b.body(name, mass=1.0, inertia=inertia, r=(x, 0.0, z), guess=True)
    up = {name: np.array([0, 0, length / 2]) for name, length in lengths.items()}
    along = np.array([coupler / 2, 0, 0])
    b.joint("A", "revolute", GROUND, "crank", s_i=(0, 0, 0), a_i=y, s_j=-up["crank"], a_j=y)
    b.joint("B", "spherical", "crank", "coupler", s_i=up["crank"], s_j=-along)
    b.joint("C", "universal", "coupler", "rocker", s_i=along, a_i=(0, 0, 1), s_j=up["rocker"], a_j=y)
    b.joint("D", "revolute", GROUND, "rocker", s_i=(ground, 0, 0), a_i=y, s_j=-up["rocker"], a_j=y)
    return b


def test_a_mechanism_that_can_just_close_does():
    system = bars(0.2, 0.205, 0.1, 0.5).build()  # 5 mm of play
    assert system.assembly.iterations > 0
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    assert run.violation[0] < 1e-11


@pytest.mark.parametrize("coupler, rocker, gap", [(0.2, 0.05, 0.05), (0.25, 0.02, 0.03), (1.0, 0.1, 0.2)])
def test_a_mechanism_that_cannot_close(coupler, rocker, gap):
    # The longest bar is longer than the other three together, by the gap: some joint of four must show its share.
    builder = bars(0.2, coupler, rocker, 0.5)
    with pytest.raises(AssemblyError, match=r"could not assemble: \|Phi\| = .* worst row .*; start nearer") as refused:
        builder.build()
    joint, row = re.search(r"worst row (\w+)\.(\w+);", str(refused.value)).groups()
    assert joint in "ABCD"
    assert row in {row for kind in ("revolute", "spherical", "universal") for row in MODULES[kind].ROWS}
    residual = float(re.search(r"= (\S+) m after", str(refused.value))[1])
    assert gap / 8 < residual <= 2 * gap


def test_velocities_that_violate_a_row_are_refused_by_name():
    b = Builder("pendulum")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1), v=(0.0, 0.3, 0.0), omega=(0, 0, 1.0))
    b.joint("pivot", "revolute", GROUND, "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 1), a_j=(0, 1, 0))
    violated = r"inconsistent initial velocities: \|Phi'\| = .* in row pivot\.tilt_.*, limit .*project_velocities=True"
    with pytest.raises(AssemblyError, match=violated):
        b.build()
    with pytest.warns(AssemblyWarning, match=r"^v of body 'rod' was changed from \(0, 0\.3, 0\) to \(0, 0, 0\) m/s"):
        system = b.build(project_velocities=True)
    assert np.abs(system.state.y[7:]).max() < 1e-15

    wrong = system.state.replace(v={"rod": (0, 0.3, 0)})
    refused_with(AssemblyError, "pivot.point_y", runtime.assemble, system, wrong, project_velocities=False)
    refused_with(AssemblyError, "pivot.point_y", runtime.simulate, system, 1.0, initial=wrong)
    moved = system.state.replace(r={"rod": (0, 0, -1.1)})
    refused_with(AssemblyError, "pivot.point_z", runtime.simulate, system, 1.0, initial=moved)


def links(size):
    """Three bodies in a row on massless links; all lengths are multiples of a size [m]."""
    builder = Builder("links", axes="global")
    a_i, a_j = np.array([0.6, 0.8, 0.0]), np.array([0.0, 0.28, 0.96])
    normal = np.cross(a_i, a_j) / np.linalg.norm(np.cross(a_i, a_j))
    for k in range(3):
        place = size * np.array([k, 0.17 * k, -0.7 * k])
        builder.body(f"b{k}", mass=1.0, inertia=size**2 * np.array([0.1, 0.12, 0.15]), r=place + size * 0.3)
        vectors = {"s_i": place, "s_j": place + 0.1 * size * normal, "a_i": a_i, "a_j": a_j}
        builder.joint(f"j{k}", "modified_universal", f"b{k - 1}" if k else GROUND, f"b{k}", l=0.1 * size, **vectors)
    return builder


@pytest.mark.parametrize("size", [1e-3, 1e4, 1e6])
def test_rounding_of_large_coordinates_is_no_violation(size):
    system = links(size).build(check_units=False)
    far = runtime.with_parameters(system, {"l.j1": 0.11 * size}, check_units=False)
    assert np.linalg.norm(far.state.r["b1"] - system.state.r["b1"]) > 1e-3 * size
    assert runtime.simulate(far, 1e-6, initial=runtime.assemble(far, far.state), t_eval=[1e-6]).success


def test_advice_about_loops_is_given_of_loops_alone():
    foot = models.foot.build("modified")
    with pytest.raises(AssemblyError, match=r"worst row ankle\.link_length; start nearer or check its geometry$"):
        runtime.with_parameters(foot, {"l.ankle": 0.0})


def test_a_start_is_compared_with_the_size_of_its_joint():
    rod = Builder("watch", axes="global")
    rod.body("hand", mass=1e-6, inertia=(1e-14, 1e-14, 1e-14), r=(0, 0, -1e-4))
    rod.joint("pivot", "revolute", GROUND, "hand", point=(0, 0, 0), axis=(0, 1, 0))
    system = rod.build(check_units=False)
    shifted = system.state.replace(r={"hand": (5e-7, 0, -1e-4)})
    refused_with(
        AssemblyError,
        "violates pivot.point_x: |Phi| = 5.0e-07 m, limit 1e-08; pass it through",
        runtime.simulate,
        system,
        0.01,
        initial=shifted,
    )
