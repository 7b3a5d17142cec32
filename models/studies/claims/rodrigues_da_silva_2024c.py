"""Claims of Rodrigues da Silva et al. (2024c), Section 5: the modified universal joint, one cone for each hinge."""

from __future__ import annotations

import numpy as np

from models import foot
from models.studies import measures
from models.studies.ankle.runs import BODY, CASES, HINGES, LIMITED
from models.studies.claims.costs import beside_next, check_over_settings
from models.studies.claims.foot_runs import (
    BETWEEN,
    FootRuns,
    first_limit,
    largest_angle,
    later_counts,
    later_shares,
    near_printed,
    reversals,
    span,
    y_extent,
)
from models.studies.claims.verdicts import Claims, about, falling, listed


def checked(e: FootRuns) -> Claims:
    """All claims of Section 5."""
    claims = Claims(
        "Rodrigues da Silva et al. (2024c), Section 5: the modified universal joint, with one cone for each hinge.",
        "Rodrigues da Silva 2024c",
    )
    _paths(claims, e)
    _smoothness(claims, e)
    _latitudes(claims, e)
    _moments(claims, e)
    _settling(claims, e)
    _cost(claims, e)
    return claims


def _paths(claims: Claims, e: FootRuns) -> None:
    runs, seen = e.published.runs["modified"], e.published.hinges["modified"]
    dorsal = {case: largest_angle(seen[case], HINGES[0], 1) for case in CASES}
    claims.check(
        "Fig. 14",
        "the limit of dorsiflexion is never reached",
        printed="< 20°",
        computed=", ".join(f"{case} {a:.1f}°" for case, a in dorsal.items()),
        holds=[angle < foot.DORSIFLEXION_DEG for angle in dorsal.values()],
    )
    for axis in (0, 2):
        ranges = [span(runs[case], axis) for case in CASES]
        claims.check(
            "Fig. 12",
            f"the amplitude in {'xyz'[axis]} is significantly smaller with limits, elastic or dissipative",
            computed=f"free {ranges[0]:.0f}, elastic {ranges[1]:.0f}, dissipative {ranges[2]:.0f} mm",
            holds=[r < 0.8 * ranges[0] for r in ranges[1:]],
        )
    inversion, eversion = e.published.range_of_motion
    free = largest_angle(seen["free"], HINGES[1], 1), largest_angle(seen["free"], HINGES[1], -1)
    claims.check(
        "Fig. 14",
        "free: the limit of eversion is not reached",
        printed=f"< {eversion:g}°",
        computed=f"{free[1]:.1f}°",
        holds=free[1] < eversion,
    )
    claims.check(
        "Fig. 12",
        "elastic: the foot reaches farther laterally than without limits",
        computed=f"{y_extent(runs['elastic'])[0]:.1f} against {y_extent(runs['free'])[0]:.1f} mm",
        holds=y_extent(runs["elastic"])[0] < y_extent(runs["free"])[0],
    )
    claims.check(
        "Fig. 14",
        "free: the limit of inversion is exceeded",
        printed=f"> {inversion:g}°",
        computed=f"{free[0]:.1f}°, the text's limit is {foot.INVERSION_DEG:g}°",
        holds=[free[0] > inversion, free[0] > foot.INVERSION_DEG],
        reason="only the limit of the printed vector, 25°, is exceeded; the text limits inversion to 35°",
    )
    over = {case: largest_angle(seen[case], HINGES[1], 1) - inversion for case in LIMITED}
    claims.check(
        "Fig. 14",
        "with limits, inversion is restricted to its limit plus the compliance",
        computed=", ".join(f"{case} {over[case]:+.1f}°" for case in LIMITED),
        holds=[o < np.rad2deg(foot.COMPLIANCE) for o in over.values()],
    )


def _smoothness(claims: Claims, e: FootRuns) -> None:
    runs = e.published.runs["modified"]
    turns = {case: reversals(runs[case]) for case in CASES}
    claims.check(
        "Fig. 12",
        "elastic: the path is less smooth, with successive changes of direction",
        computed=", ".join(f"{case} {n}" for case, n in turns.items()) + " changes of direction in y",
        holds=turns["elastic"] > turns["free"],
    )
    claims.check(
        "Fig. 12",
        "dissipation makes the path smoother",
        computed=f"{turns['dissipative']} changes of direction in y against {turns['elastic']}",
        holds=turns["dissipative"] < turns["elastic"],
    )


def _latitudes(claims: Claims, e: FootRuns) -> None:
    runs, seen = e.published.runs["modified"], e.published.hinges["modified"]
    top = {case: largest_angle(seen[case], HINGES[0], -1) for case in CASES}
    claims.check(
        "Fig. 14a",
        "free: the latitude at longitude 180° is almost 90°",
        printed="90°",
        computed=f"{top['free']:.1f}°",
        holds=about(top["free"], 90.0),
    )
    for case, printed in (("elastic", 37), ("dissipative", 35)):
        claims.check(
            "Fig. 14c",
            f"{case}: the largest latitude at longitude 180°",
            printed=f"{printed}°",
            computed=f"{top[case]:.2f}°",
            holds=round(top[case]) == printed,
        )
    over = top["elastic"] - foot.PLANTARFLEXION_DEG
    claims.check(
        "Fig. 14c",
        "elastic: the maximum is exceeded by 2°",
        printed="2°",
        computed=f"{over:.2f}°",
        holds=round(over) == 2,
    )
    end = float(np.rad2deg(-runs["dissipative"].limits[HINGES[0]].angle[-1]))
    speed = float(np.linalg.norm(runs["dissipative"].omega[BODY][-1]))
    claims.check(
        "Fig. 14",
        "dissipative: the foot comes to rest at the limit of plantarflexion",
        printed="35°",
        computed=f"{end:.2f}°, still turning at {speed:.0e} rad/s",
        holds=round(end) == foot.PLANTARFLEXION_DEG and speed < 1e-4,
    )
    inversion, eversion = e.published.range_of_motion
    angles = {
        case: (largest_angle(seen[case], HINGES[1], 1), largest_angle(seen[case], HINGES[1], -1)) for case in LIMITED
    }
    slack = float(np.rad2deg(foot.COMPLIANCE))
    claims.check(
        "Fig. 14",
        "with limits, inversion and eversion are restricted, considering the compliance",
        computed="; ".join(f"{case}: {a:.1f}° and {b:.1f}°" for case, (a, b) in angles.items()),
        holds=[a < inversion + slack and b < eversion + slack for a, b in angles.values()],
    )
    reached = [
        top["elastic"] - foot.PLANTARFLEXION_DEG,
        angles["elastic"][0] - inversion,
        angles["elastic"][1] - eversion,
    ]
    claims.check(
        "Fig. 15",
        "elastic: plantarflexion, inversion and eversion all reach their limits",
        computed=f"beyond them by {listed(reached, '.1f')}°",
        holds=[excess > 0.0 for excess in reached],
    )


def _moments(claims: Claims, e: FootRuns) -> None:
    elastic, damped = (e.published.runs["modified"][case] for case in LIMITED)
    crural, calcaneal = (damped.limits[hinge] for hinge in HINGES)
    zero = [float(elastic.limits[hinge].dissipative_moment.max()) for hinge in HINGES]
    claims.check(
        "Fig. 15",
        "elastic: only the restricting moment acts",
        computed=f"dissipative moments {listed(zero, 'g')} N m",
        holds=[z == 0.0 for z in zero],
    )
    viscous = [float(m.dissipative_moment.max()) for m in (crural, calcaneal)]
    claims.check(
        "Fig. 15",
        "dissipative moment: talocrural nearly three times talocalcaneal",
        printed="3",
        computed=f"{viscous[0]:.3f} against {viscous[1]:.3f} N m: {viscous[0] / viscous[1]:.2f}",
        holds=[viscous[0] > 2.0 * viscous[1], about(viscous[0] / viscous[1], 3.0, 0.1)],
        reason="the ratio is larger; the text does not explain the difference",
    )
    claims.check(
        "Fig. 15",
        "dissipative: at the talocalcaneal joint only the dissipative moment acts",
        computed=f"restricting moment {calcaneal.restricting_moment.max():g} N m",
        holds=calcaneal.restricting_moment.max() == 0.0,
    )
    claims.check(
        "Fig. 15",
        "dissipative: at the talocrural joint both moments act",
        computed=f"up to {crural.restricting_moment.max():.2f} and {viscous[0]:.2f} N m",
        holds=[crural.restricting_moment.max() > 0.0, viscous[0] > 0.0],
    )
    outside = measures.excursions(damped, HINGES[0])[0]
    steps = np.abs(np.diff(crural.dissipative_moment))
    early = damped.t[1:] > 0.5 * outside[0]  # leaves out the start, where the foot begins to move
    when = float(damped.t[1:][early][int(np.argmax(steps[early]))])
    claims.check(
        "Fig. 15",
        "restricting moments cause the discontinuities of the dissipative ones",
        computed=f"steepest at {when:.3f} s, limit first exceeded from {outside[0]:.3f} to {outside[1]:.3f} s",
        holds=outside[0] <= when <= outside[1],
    )
    tops = [float(elastic.limits[hinge].restricting_moment.max()) for hinge in HINGES]
    damped_tops = [float(m.restricting_moment.max()) for m in (crural, calcaneal)]
    claims.check(
        "Fig. 15",
        "for both joints the restricting moment is much higher than the dissipative one",
        computed=f"restricting {listed(tops)} elastic, {listed(damped_tops)} dissipative; dissipative {listed(viscous)} N m",
        holds=[a > 5 * b for a, b in zip(tops, viscous, strict=True)]
        + [a > 5 * b for a, b in zip(damped_tops, viscous, strict=True)],
        reason=f"holds for the elastic run; in the dissipative run {damped_tops[0] / viscous[0]:.1f} times (talocrural) and "
        f"{damped_tops[1]:g} N m (talocalcaneal)",
    )
    short = {hinge: float((elastic.limits[hinge].excess > 0.0).mean()) for hinge in HINGES}
    claims.check(
        "Fig. 15",
        "the restricting moment is applied for very short times",
        computed="elastic: " + ", ".join(f"{hinge} {100 * s:.0f} %" for hinge, s in short.items()) + " of the time",
        holds=[s < 0.2 for s in short.values()],
    )


def _settling(claims: Claims, e: FootRuns) -> None:
    damped = e.published.runs["modified"]["dissipative"]
    begin, top = first_limit(e, "modified")
    claims.check(
        "Fig. 15",
        "dissipative: plantarflexion first reaches its limit",
        printed="0.43 s",
        computed=f"reached at {begin:.3f} s, largest excess at {top:.3f} s",
        holds=near_printed(begin, top, 0.43),
        reason=BETWEEN,
    )
    moment = damped.limits[HINGES[0]].restricting_moment
    inner = np.flatnonzero((moment[1:-1] > moment[:-2]) & (moment[1:-1] >= moment[2:])) + 1
    peaks = [float(m) for m in moment[inner][:5]]
    claims.check(
        "Fig. 15c",
        "the first restricting moment is the largest, later ones decrease",
        computed=f"peaks {listed(peaks)} N m",
        holds=falling(peaks),
    )
    end = float(moment[-1])
    claims.check(
        "Fig. 15c",
        "the restricting moment stabilises around 0.14 N m",
        printed="0.14 N m",
        computed=f"{end:.4f} N m",
        holds=round(end, 2) == 0.14,
    )
    later = moment[damped.t >= 1.0]
    claims.check(
        "Fig. 15c",
        "the restricting moment stays constant from then on",
        computed=f"between {later.min():.4f} and {later.max():.4f} N m after 1 s",
        holds=np.ptp(later) < 0.01 * end,
    )
    rate = np.abs(damped.limits[HINGES[0]].rate)
    windows = [float(rate[(damped.t >= a) & (damped.t < a + 0.25)].max()) for a in (0.0, 0.25, 0.5, 0.75)]
    claims.check(
        "text",
        "damping makes the relative velocity decrease",
        computed=f"largest talocrural rate by quarter of the first second: {listed(windows, '.2g')} rad/s",
        holds=falling(windows),
    )


def _cost(claims: Claims, e: FootRuns) -> None:
    by_case = {case: e.costs.first["published", "modified", case] for case in CASES}
    for words, case, most in (
        ("1 s: the most efficient is the free case", "free", True),
        ("1 s: the least efficient is the elastic case", "elastic", False),
    ):
        check_over_settings(
            claims,
            "Fig. 16",
            words,
            {"": beside_next(by_case, case, most=most)},
            lambda ratio: ratio > 1.0,
            quantity=f"evaluations, {'next case by free' if most else 'elastic by next case'}",
        )
    check_over_settings(
        claims,
        "text",
        "dissipative, 5 s: steps become very small once the foot is fully damped",
        {"": later_shares(e, "modified")},
        lambda share: share > 1.0,
        quantity="evaluations of a later second relative to the first",
        reason=later_counts(e, "modified"),
    )
