"""Claims of Rodrigues da Silva et al. (2024a), Section 6: the motion without limits, and the list of all its claims."""

from __future__ import annotations

import numpy as np

from models import foot
from models.studies.ankle.runs import ANKLES, BODY, HINGES, mean_y
from models.studies.claims import rodrigues_da_silva_2024a_limits as limits
from models.studies.claims.foot_runs import FootRuns, largest_angle, span, y_extent
from models.studies.claims.verdicts import Claims, about, listed
from runtime.support import DOWN


def checked(e: FootRuns) -> Claims:
    """All claims of Section 6."""
    claims = Claims(
        "Rodrigues da Silva et al. (2024a), Section 6: classical and modified universal joint; lengths are those of the main "
        "foot's centre.",
        "Rodrigues da Silva 2024a",
    )
    _free(claims, e)
    _levers(claims, e)
    _kinematics(claims, e)
    _portraits(claims, e)
    limits.amplitudes(claims, e)
    limits.sides(claims, e)
    limits.energy(claims, e)
    limits.dissipation(claims, e)
    limits.cost(claims, e)
    limits.lengths(claims, e)
    return claims


def _free(claims: Claims, e: FootRuns) -> None:
    classical, modified = (e.published.runs[name]["free"] for name in ANKLES)
    same = [span(modified, axis) / span(classical, axis) for axis in (0, 2)]
    claims.check(
        "Fig. 10a",
        "free: no substantial difference in the sagittal plane",
        computed=f"ranges of x and z: modified {listed(same, '.2f')} times classical",
        holds=[about(r, 1.0) for r in same],
    )
    y = {name: span(run, 1) for name, run in (("modified", modified), ("classical", classical))}
    claims.check(
        "Fig. 10",
        "free: the modified joint allows the larger mediolateral amplitude",
        computed=f"range of y: modified {y['modified']:.1f}, classical {y['classical']:.1f} mm",
        holds=y["modified"] > y["classical"],
    )
    for run, name, side in ((classical, "classical", -1), (modified, "modified", 1)):
        low, high = y_extent(run)
        claims.check(
            "Fig. 10",
            f"free: with the {name} joint the foot tends to the {'medial' if side > 0 else 'lateral'} side",
            computed=f"y from {low:.1f} to {high:.1f}, mean {mean_y(run):.1f} mm",
            holds=side * mean_y(run) > 0.0,
        )
    over = {name: largest_angle(e.published.hinges[name]["free"], HINGES[0], -1) for name in ANKLES}
    claims.check(
        "Fig. 10a",
        "free: plantarflexion goes beyond its limit with both joints",
        printed="> 35°",
        computed=", ".join(f"{name} {angle:.1f}°" for name, angle in over.items()),
        holds=[angle > foot.PLANTARFLEXION_DEG for angle in over.values()],
    )
    inside = {}
    for name in ANKLES:
        run, (inversion, eversion) = e.published.hinges[name]["free"], e.published.range_of_motion
        inside[name] = (largest_angle(run, HINGES[1], 1), inversion, largest_angle(run, HINGES[1], -1), eversion)
    claims.check(
        "Fig. 10",
        "free: inversion and eversion never exceed their limits",
        computed="; ".join(
            f"{name}: inversion {a:.1f}° of {b:g}°, eversion {c:.1f}° of {d:g}°"
            for name, (a, b, c, d) in inside.items()
        ),
        holds=[value <= limit for a, b, c, d in inside.values() for value, limit in ((a, b), (c, d))],
        reason="the inversion of the modified joint exceeds the printed 25°, as (2024c) also states, but not the 35° of the text",
    )


def _levers(claims: Claims, e: FootRuns) -> None:
    levers, moments = {}, {}
    for name in ANKLES:
        run = e.published.runs[name]["free"]
        ends = run.system.joint("ankle").values
        axis, arm = np.asarray(ends["a_i"]), -np.asarray(ends["s_i"])  # at the start all axes are parallel
        levers[name] = 1000 * float(np.linalg.norm(np.cross(axis, arm)))
        moments[name] = abs(float(axis @ np.cross(arm, np.multiply(foot.BODIES[BODY]["mass"], DOWN))))  # type: ignore[operator]
    claims.check(
        "text",
        "the modified joint's talocalcaneal axis is closer to the foot's centre",
        computed=f"distance: modified {levers['modified']:.1f}, classical {levers['classical']:.1f} mm",
        holds=levers["modified"] < levers["classical"],
    )
    claims.check(
        "text",
        "the moment of the weight about that axis is smaller",
        computed=f"at the start {moments['modified']:.4f} against {moments['classical']:.4f} N m",
        holds=moments["modified"] < moments["classical"],
        reason="the axis is shifted along the line of action of the weight: the moment in the neutral pose is unchanged",
    )


def _kinematics(claims: Claims, e: FootRuns) -> None:
    classical, modified = (e.published.runs[name]["free"] for name in ANKLES)
    peaks = {
        (what, axis): (float(np.abs(b[:, axis]).max()), float(np.abs(a[:, axis]).max()))
        for what, a, b in (
            ("v", classical.v[BODY], modified.v[BODY]),
            ("a", classical.v_dot[BODY], modified.v_dot[BODY]),
        )
        for axis in range(3)
    }
    (vm, vc), (am, ac) = peaks["v", 1], peaks["a", 1]
    claims.check(
        "Fig. 12",
        "free: y velocity and acceleration are larger with the modified joint",
        computed=f"peaks: {vm:.2f} against {vc:.2f} m/s, {am:.1f} against {ac:.1f} m/s²",
        holds=[vm > vc, am > ac],
    )
    against = [
        float((np.sign(b[:, 1]) != np.sign(a[:, 1])).mean())
        for a, b in ((classical.v[BODY], modified.v[BODY]), (classical.v_dot[BODY], modified.v_dot[BODY]))
    ]
    claims.check(
        "Fig. 12",
        "free: y velocity and acceleration have opposite signs with the two joints",
        computed=f"opposite signs in {100 * against[0]:.0f} % (v) and {100 * against[1]:.0f} % (a) of the time",
        holds=[share > 0.5 for share in against],
    )
    ratios = {key: modified / classical for key, (modified, classical) in peaks.items() if key[1] != 1}
    claims.check(
        "Fig. 12",
        "free: x and z are quite similar, with small differences in the peaks",
        computed="peaks, modified by classical: "
        + ", ".join(f"{w}_{'xyz'[k]} {r:.2f}" for (w, k), r in ratios.items()),
        holds=[about(r, 1.0, 0.15) for r in ratios.values()],
    )
    claims.check(
        "Fig. 12",
        "free: in x and z the classical joint has the higher peaks",
        computed=f"higher in {sum(r < 1.0 for r in ratios.values())} of {len(ratios)}",
        holds=[r < 1.0 for r in ratios.values()],
    )


def _portraits(claims: Claims, e: FootRuns) -> None:
    classical, modified = (e.published.runs[name]["free"] for name in ANKLES)
    rates = [np.sqrt((np.gradient(run.v_dot[BODY], run.t, axis=0) ** 2).mean(axis=0)) for run in (modified, classical)]
    rougher = rates[0] / rates[1]
    claims.check(
        "Fig. 13",
        "free: the motion with the modified joint is less smooth, its phase portraits more scattered",
        computed="rms rate of the acceleration, modified by classical: "
        + ", ".join(f"{c} {r:.2f}" for c, r in zip("xyz", rougher, strict=True)),
        holds=[r > 1.0 for r in rougher],
        reason="not in every direction; the paper defines no measure of scatter, so this one is assumed",
    )
    by_axis = [abs(np.log(span(modified, k) / span(classical, k))) for k in range(3)]
    claims.check(
        "Fig. 13",
        "free: the phase portraits differ most in y",
        computed="range, modified by classical: "
        + ", ".join(f"{'xyz'[k]} {span(modified, k) / span(classical, k):.2f}" for k in range(3)),
        holds=by_axis[1] == max(by_axis),
    )
