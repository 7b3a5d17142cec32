"""Claims of Rodrigues da Silva et al. (2024a), Section 6, on joint limits, energy, cost and the length of the link."""

from __future__ import annotations

import numpy as np

from models.studies import measures
from models.studies.ankle.runs import ANKLES, BODY, CASES, HINGES, mean_y
from models.studies.claims.costs import Setting, check_over_settings, ratios
from models.studies.claims.foot_runs import (
    FootRuns,
    largest_angle,
    later_counts,
    later_shares,
    reversals,
    span,
    y_extent,
)
from models.studies.claims.verdicts import Claims, listed, rising

CONSERVED = 1e-5  # admissible variation, relative to the energy that the foot exchanges
ALIKE = 0.05  # relative difference that is not visible in a plot
READ_OFF = 0.015  # [s] admissible difference from a time that the text states as "around"
CLEARLY = 1.1  # ratio of evaluations that a plot shows


def amplitudes(claims: Claims, e: FootRuns) -> None:
    """Amplitudes and regularity of the motion with limits."""
    runs = e.published.runs
    for axis, words in ((0, "x"), (2, "z")):
        table = {name: [span(runs[name][case], axis) for case in CASES] for name in ANKLES}
        claims.check(
            "Fig. 14",
            f"limits reduce the amplitude in {words}, elastic and dissipative, both joints",
            computed="; ".join(f"{name} {listed(v, '.0f')} mm" for name, v in table.items()),
            holds=[limited < 0.8 * v[0] for v in table.values() for limited in v[1:]],
        )
    free, elastic = ({name: y_extent(runs[name][case]) for name in ANKLES} for case in ("free", "elastic"))
    m, c = "modified", "classical"
    claims.check(
        "Fig. 14",
        "elastic: the modified joint reaches farther laterally than without limits",
        computed=f"{elastic[m][0]:.1f} against {free[m][0]:.1f} mm (medial {elastic[m][1]:.1f} against {free[m][1]:.1f})",
        holds=elastic[m][0] < free[m][0],
    )
    claims.check(
        "Fig. 14",
        "elastic: the classical joint reaches farther both laterally and medially",
        computed=f"{elastic[c][0]:.1f} .. {elastic[c][1]:.1f} against {free[c][0]:.1f} .. {free[c][1]:.1f} mm",
        holds=[elastic[c][0] < free[c][0], elastic[c][1] > free[c][1]],
    )
    reached = {}
    for name in ANKLES:
        run, (inversion, eversion) = e.published.hinges[name]["elastic"], e.published.range_of_motion
        reached[name] = (largest_angle(run, HINGES[1], 1), inversion, largest_angle(run, HINGES[1], -1), eversion)
    claims.check(
        "Fig. 14",
        "elastic: the moment may drive the foot to the limit of inversion or eversion",
        computed="; ".join(f"{name}: inversion {a:.1f}°, eversion {b:.1f}°" for name, (a, _, b, _) in reached.items()),
        holds=[a > b or c > d for a, b, c, d in reached.values()],
    )
    turns = {case: {name: reversals(runs[name][case]) for name in ANKLES} for case in CASES}
    claims.check(
        "Fig. 14",
        "elastic: the motion in y is less regular than without limits",
        computed="changes of direction: "
        + ", ".join(f"{case} {listed(turns[case].values(), 'd')}" for case in ("free", "elastic"))
        + " (classical, modified)",
        holds=[turns["elastic"][name] > turns["free"][name] for name in ANKLES],
    )
    widths = {name: (span(runs[name]["dissipative"], 1), span(runs[name]["free"], 1)) for name in ANKLES}
    claims.check(
        "Fig. 14",
        "dissipative: the amplitude in y is smaller than without limits",
        computed="; ".join(f"{name} {a:.1f} against {b:.1f} mm" for name, (a, b) in widths.items()),
        holds=[a < b for a, b in widths.values()],
    )


def sides(claims: Claims, e: FootRuns) -> None:
    """The limit and the side to which the damped foot tends."""
    runs = e.published.runs
    reached = {name: e.published.plantarflexion(name, "dissipative") for name in ANKLES}
    claims.check(
        "Fig. 14",
        "dissipative: the limit of plantarflexion is reached with both joints",
        computed=", ".join(f"{name} at {when:.3f} s" if when else f"{name} never" for name, when in reached.items()),
        holds=[when is not None for when in reached.values()],
    )
    ends = {name: 1000 * float(runs[name]["dissipative"].r[BODY][-1, 1]) for name in ANKLES}
    claims.check(
        "Fig. 14d",
        "dissipative: the foot tends to the medial side with both joints",
        computed=", ".join(f"{name} ends at y = {y:.1f} mm" for name, y in ends.items()),
        holds=[y > 0.0 for y in ends.values()],
    )
    free = mean_y(runs["classical"]["free"])
    claims.check(
        "Fig. 14d",
        "without limits the classical joint tends to the lateral side",
        computed=f"mean y without limits {free:.1f} mm, end of the dissipative run {ends['classical']:.1f} mm",
        holds=free < 0.0 < ends["classical"],
    )


def energy(claims: Claims, e: FootRuns) -> None:
    """Conservation and dissipation of energy."""
    runs = e.published.runs
    drifts = {case: [float(np.ptp(runs[name][case].energy)) for name in ANKLES] for case in CASES}
    lost = {name: float(runs[name]["dissipative"].energy[0] - runs[name]["dissipative"].energy[-1]) for name in ANKLES}
    scale = CONSERVED * min(lost.values())
    claims.check(
        "Fig. 17",
        "free: both systems are conservative",
        computed=f"energy varies by {max(drifts['free']):.0e} J",
        holds=[d < scale for d in drifts["free"]],
    )
    dips = [
        float((measures.mechanical(runs[name]["elastic"]) - runs[name]["elastic"].energy[0]).min()) for name in ANKLES
    ]
    claims.check(
        "Fig. 17",
        "elastic: energy is lost and restored each time a limit is exceeded; both systems are conservative",
        computed=f"falls to {listed(dips, '.2f')} J; with the energy of the limits it varies by {max(drifts['elastic']):.0e} J",
        holds=[dip < 0.0 for dip in dips] + [d < scale for d in drifts["elastic"]],
    )
    claims.check(
        "Fig. 17",
        "dissipative: both systems dissipate energy",
        computed=", ".join(f"{name} {v:.3f} J" for name, v in lost.items()),
        holds=[bool((np.diff(runs[name]["dissipative"].energy) < 1e-9).all()) for name in ANKLES],
    )


def dissipation(claims: Claims, e: FootRuns) -> None:
    """When the mechanical energy reaches its plateau, and which joint dissipates energy faster."""
    published, equal = (
        {name: measures.plateau(m.runs[name]["dissipative"]) for name in ANKLES} for m in (e.published, e.anatomical)
    )
    for name, printed in (("classical", 0.73), ("modified", 0.43)):
        claims.check(
            "Fig. 17",
            f"dissipative: time at which the mechanical energy reaches its plateau, {name} joint",
            printed=f"around {printed} s",
            computed=f"{published[name]:.3f} s ({100 * measures.SETTLED:.0f} % of the loss remain)",
            holds=abs(published[name] - printed) < READ_OFF,
        )
    times = {
        "as published": published,
        "equal on each hinge": equal,
        # The published classical joint is damped by the relative angular velocity.
        "equal on the relative angular velocity": published | {"modified": measures.plateau(e.vector)},
    }
    claims.check(
        "Fig. 17",
        "the modified joint dissipates energy faster than the classical one",
        computed="; ".join(
            f"{name}: plateau at {t['modified']:.3f} against {t['classical']:.3f} s" for name, t in times.items()
        ),
        holds=[t["modified"] < (1.0 - ALIKE) * t["classical"] for t in times.values()],
        reason="depends on the damping: the published joints are damped unequally, 0.284 N m s on each hinge and 0.568 on the "
        "relative angular velocity; with equal damping on the hinges both reach the plateau at almost the same time, and in the "
        "papers' vector form the modified joint is later",
    )


def cost(claims: Claims, e: FootRuns) -> None:
    """Function evaluations, at all methods and tolerances of ``costs``."""
    for name in ANKLES:
        check_over_settings(
            claims,
            "text",
            f"dissipative, 5 s: the integration stalls once the foot is at rest ({name})",
            {"": later_shares(e, name)},
            lambda share: share > 1.0,
            quantity="evaluations of a later second relative to the first",
            reason=later_counts(e, name),
        )
    first = e.costs.first

    def compared(case: str, preset: str = "published") -> dict[Setting, float]:
        return ratios(first[preset, "modified", case], first[preset, "classical", case])

    even = {"as published": compared("dissipative"), "with equal damping": compared("dissipative", "anatomical")}
    for words, groups, least, reason in (
        (
            "free: the modified joint is slightly less efficient",
            {"": compared("free")},
            1.0,
            "both joints take the same number of evaluations within a tenth",
        ),
        ("elastic: the classical joint is clearly more efficient", {"": compared("elastic")}, CLEARLY, ""),
        (
            "dissipative: the classical joint is clearly more efficient",
            even,
            CLEARLY,
            "with equal damping of the hinges the stiff methods BDF and Radau take as many evaluations with either joint",
        ),
    ):
        check_over_settings(
            claims,
            "Fig. 18",
            words,
            groups,
            lambda ratio, least=least: ratio > least,  # type: ignore[misc]
            quantity="evaluations, modified by classical",
            reason=reason,
        )
    saved = {
        name: ratios(first["published", name, "dissipative"], first["published", name, "elastic"]) for name in ANKLES
    }
    check_over_settings(
        claims,
        "Fig. 18",
        "dissipation decreases the cost of both joints",
        saved,
        lambda ratio: ratio < 1.0,
        quantity="evaluations, dissipative by elastic",
    )


def lengths(claims: Claims, e: FootRuns) -> None:
    """Length of the massless link."""
    means = [mean_y(run) for run in e.lengths.values()]
    labels = ", ".join(f"{1000 * length:.1f}" for length in e.lengths)
    claims.check(
        "Fig. 20",
        "a longer link moves the foot progressively to the medial side",
        computed=f"mean y {listed(means, '.1f')} mm for {labels} mm",
        holds=rising(means),
    )
    widths = [span(run, 1) for run in e.lengths.values()]
    claims.check(
        "Fig. 20",
        "a longer link widens the mediolateral motion",
        computed=f"range of y {listed(widths, '.1f')} mm",
        holds=rising(widths),
    )
    gaps = [b - a for a, b in zip(means, means[1:], strict=False)]
    claims.check(
        "Fig. 20",
        "the motion differs most for the link of length 0, the classical joint",
        computed=f"steps of the mean {listed(gaps, '.1f')} mm",
        holds=gaps[0] == max(gaps),
    )
