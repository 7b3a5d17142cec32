"""Claims of Rodrigues da Silva et al. (n.d.), Sections 3 to 7: the model and its drivers, and the list of all its claims."""

from __future__ import annotations

import numpy as np

from models import foot
from models.studies.claims import rodrigues_da_silva_nd_gait as gait
from models.studies.claims.costs import ranged, ratios
from models.studies.claims.verdicts import Claims, listed
from models.studies.claims.walk_runs import HINGES, WalkRuns
from models.walking import synthetic
from models.walking.leg_foot import driven_angles
from runtime import simulate

EXACT = 1e-9  # relative variation of what the rows keep
CLEARLY = 1.1  # ratio of evaluations that counts as efficiency


def checked(e: WalkRuns) -> Claims:
    """All claims of Sections 3 to 7."""
    claims = Claims(
        "Rodrigues da Silva et al. (n.d.), Sections 3 to 7.  Their subject is not published: curves are checked on one walker, "
        "whose motion and the mean ground force of 14 adults drive the model of the paper, and on the mean curves of the adults.",
        "Rodrigues da Silva n.d.",
    )
    _structure(claims, e)
    _anatomy(claims, e)
    _talus(claims, e)
    _drivers(claims, e)
    gait.angles(claims, e)
    gait.moments(claims, e)
    gait.pressure(claims, e)
    gait.powers(claims, e)
    gait.conclusions(claims, e)
    return claims


def _structure(claims: Claims, e: WalkRuns) -> None:
    modified, classical = e.massless["modified"].system, e.massless["classical"].system
    rows = len(modified.joint("ankle").rows)
    claims.check(
        "Section 3",
        "the modified universal joint takes four equations and leaves two degrees of freedom",
        printed="4, 2",
        computed=f"{rows} rows; the foot with a fixed leg and locked toes has {modified.degrees_of_freedom} degrees of freedom",
        holds=[rows == 4, modified.degrees_of_freedom == 2],
    )
    free, rows = e.undriven.degrees_of_freedom, sum(len(j.rows) for j in e.undriven.joints)
    claims.check(
        "Section 4",
        "the model, three bodies with a revolute and a modified universal joint, has nine degrees of freedom",
        printed="9",
        computed=f"6 times {len(e.undriven.bodies)} minus {rows} rows; rank of D: {e.undriven.rank}; degrees of freedom: {free}",
        holds=[free == 9, e.undriven.rank == rows],
    )
    shown = {
        name: (len(s.bodies), sum(len(j.rows) for j in s.joints))
        for name, s in (("modified", modified), ("classical", classical))
    }
    with_body = next(iter(e.taluses.values())).system
    claims.check(
        "Section 3",
        "the number of coordinates and constraints is unchanged by the link",
        computed=", ".join(f"{name} {bodies} bodies and {n} rows" for name, (bodies, n) in shown.items())
        + f"; with the talus as a body {len(with_body.bodies)} bodies and {sum(len(j.rows) for j in with_body.joints)} rows",
        holds=shown["modified"] == shown["classical"],
    )


def _anatomy(claims: Claims, e: WalkRuns) -> None:
    length, angle, distance = e.ends.length, e.ends.angle, e.ends.distance
    varies = [float(np.ptp(values) / values[0]) for values in (length, angle, distance)]
    claims.check(
        "Section 3",
        "the link keeps its length, and s_i, s_j and d their relative orientation, at all configurations",
        computed=f"over a gait cycle the length of {1e3 * length[0]:.1f} mm varies by {1e3 * np.ptp(length):.0e} mm, the angle "
        f"of the axes of {np.rad2deg(angle[0]):.1f}° by {np.rad2deg(np.ptp(angle)):.0e}°",
        holds=[v < EXACT for v in varies[:2]],
    )
    claims.check(
        "Section 3",
        "the physiological distance of the talocrural and the talocalcaneal joint is preserved",
        computed=f"distance of the axes {1e3 * distance[0]:.1f} mm, relative variation {varies[2]:.0e}",
        holds=varies[2] < EXACT and distance[0] > 0.0,
    )
    standing = np.arccos(foot.talocalcaneal_axis() @ foot.talocrural_axis())
    run = e.massless["modified"]
    ends = run.system.joint("ankle").values
    axes = run.rotations("main_foot") @ ends["a_i"], run.rotations("leg") @ ends["a_j"]
    along = np.arccos(np.einsum("na,na->n", *axes))
    off = float(np.abs(np.sin(along) - np.sin(standing)).max())
    claims.check(
        "Section 3",
        "the anatomical orientation of the joint axes is taken into account",
        computed=f"both axes are those of Anderson and Pandy; in a free fall of 1 s their angle differs by {off:.0e} rad at most",
        holds=off < 1e-6,
    )


def _talus(claims: Claims, e: WalkRuns) -> None:
    link = e.massless["modified"]

    def largest(run, body):  # type: ignore[no-untyped-def]
        return float(np.linalg.norm(run.v_dot[body], axis=1).max())

    tops = [largest(run, "talus") for run in e.taluses.values()]
    apart = [1e3 * float(np.abs(run.r["main_foot"] - link.r["main_foot"]).max()) for run in e.taluses.values()]
    masses = ", ".join(f"{mass:g}" for mass in e.taluses)
    claims.check(
        "Section 3",
        "a talus of small mass and inertia as a body would lead to high accelerations",
        computed=f"largest acceleration of a talus of {masses} kg: {listed(tops, '.3f')} m/s², of the main foot "
        f"{largest(link, 'main_foot'):.2f} m/s²; the motion tends to that of the link, apart by {listed(apart, '.1g')} mm in 1 s",
        holds=[top > largest(link, "main_foot") for top in tops],
        reason="between two ideal hinges the motion of the talus follows from its neighbours', however small its mass; high "
        "accelerations need clearance, compliance or a force on the talus itself",
    )
    sizes = [
        6 * len(run.system.bodies) + sum(len(joint.rows) for joint in run.system.joints)
        for run in (link, next(iter(e.taluses.values())))
    ]
    more = ratios(e.costs.body, e.costs.link)
    claims.check(
        "Section 3",
        "the link increases the computational efficiency against a talus as a body",
        computed=f"unknowns of Eq. (1): {sizes[0]} with the link, {sizes[1]} with the body; evaluations, body by "
        f"link: {ranged(more)}",
        holds=[sizes[0] < sizes[1], *(ratio > CLEARLY for ratio in more.values())],
        reason="each evaluation solves a smaller system, but the number of evaluations does not grow with the body",
    )


def _drivers(claims: Claims, e: WalkRuns) -> None:
    drivers = e.driven.drivers
    refused = e.fourth.partition(": ")[0]
    claims.check(
        "Section 6",
        "the nine degrees of freedom are guided by centre of mass and Euler parameters of the leg, and three joint angles",
        printed="9",
        computed=f"with three Euler parameters {e.driven.degrees_of_freedom} degrees of freedom are left; with all four the "
        + (f"model is refused: {e.fourth.partition('; leave')[0]}" if refused else "model is accepted"),
        holds=[bool(drivers) and e.driven.degrees_of_freedom == 0, not e.fourth],
        reason="the squares of the four Euler parameters add up to 1: one of ten equations is redundant, and the multipliers are "
        "undetermined; with three, the sign of the fourth is open where it passes 0.  Talus guides the orientation by three rows",
    )
    errors = {hinge: unprojected(e, hinge) for hinge in HINGES}
    claims.check(
        "Section 6",
        "to calculate a joint angle, the link must be projected onto the plane across the joint's axis",
        computed="largest error of the angle without the projection, over a gait cycle: "
        + ", ".join(f"{hinge} {error:.1f}° of {span:.1f}°" for hinge, (error, span) in errors.items()),
        holds=[error > 0.1 for error, _ in errors.values()],
    )
    half = simulate(foot.build(), 1.0, t_eval=[1.0], rtol=1e-10, atol=1e-10, coordinates="joint")
    absolute = e.massless["modified"]
    apart = float(np.abs(half.r["main_foot"][-1] - absolute.r["main_foot"][-1]).max())
    claims.leave(
        "Section 7",
        "the formulation can easily be adapted to natural and fully Cartesian coordinates",
        computed=f"joint coordinates, a third formulation, give the same motion within {apart:.0e} m after 1 s",
        reason="Talus has Cartesian and joint coordinates, neither of the two that are named",
    )


def unprojected(e: WalkRuns, hinge: str) -> tuple[float, float]:
    """Largest error of a hinge's angle if the link is not projected, and the range of the angle, over the walk [deg]."""
    angle = driven_angles(synthetic.subject())[hinge]
    vectors = angle.vectors
    body, other = angle.bodies
    A, B = e.motion.rotations(body), e.motion.rotations(other)
    d = e.motion.r[other] + B @ vectors["s_j"] - e.motion.r[body] - A @ vectors["s_i"]
    axis, a = A @ vectors["h_i"], A @ vectors["a_i"]
    d_p = d - np.einsum("na,na->n", d, axis)[:, None] * axis
    true, printed = (np.rad2deg(np.arccos(np.einsum("na,na->n", a, v) / np.linalg.norm(v, axis=1))) for v in (d_p, d))
    return float(np.abs(printed - true).max()), float(np.ptp(true))
