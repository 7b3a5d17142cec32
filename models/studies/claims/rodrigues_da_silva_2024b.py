"""Claims of Rodrigues da Silva et al. (2024b), Section 4: the three cases of the pendulum, and the list of all its claims."""

from __future__ import annotations

import numpy as np

from models import pendulum
from models.studies import measures
from models.studies import pendulum as study
from models.studies.claims import rodrigues_da_silva_2024b_parameters as parameters
from models.studies.claims.costs import beside_next, check_over_settings
from models.studies.claims.pendulum_runs import BODY, CONSERVED, LIMIT, PendulumRuns
from models.studies.claims.verdicts import Claims, about
from runtime import Run


def checked(e: PendulumRuns) -> Claims:
    """All claims of Section 4."""
    claims = Claims(
        "Rodrigues da Silva et al. (2024b), Section 4: the spherical pendulum; rod and release are inferred, see "
        "models/pendulum.py.",
        "Rodrigues da Silva 2024b",
    )
    _trajectories(claims, e)
    _cone(claims, e)
    moments(claims, e)
    _energy(claims, e)
    _cost(claims, e)
    parameters.compliance(claims, e)
    parameters.max_moment(claims, e)
    parameters.damping(claims, e)
    return claims


def _trajectories(claims: Claims, e: PendulumRuns) -> None:
    free, elastic, damped = e.cases.values()
    (fx, ex), (fy, ey), (fz, ez) = (
        [[1000 * v for v in measures.extent(run, BODY, axis)] for run in (free, elastic)] for axis in range(3)
    )
    claims.check(
        "Fig. 17a",
        "x: the amplitude is reduced with elastic limits",
        computed=f"free {fx[0]:.0f}..{fx[1]:.0f}, elastic {ex[0]:.0f}..{ex[1]:.0f} mm",
        holds=[ex[0] > fx[0], ex[1] < fx[1]],
        reason="reduced only on the side of the narrow cone; the limit also deflects the rod out of its plane",
    )
    claims.check(
        "Fig. 17c",
        "z: the highest values are reduced with elastic limits",
        computed=f"highest after the release: free {1000 * _highest(free):.0f}, elastic {1000 * _highest(elastic):.1f} mm",
        holds=_highest(elastic) < _highest(free),
    )
    claims.check(
        "Fig. 17c",
        "z: the minimum, rod vertical, is still reached with limits",
        computed=f"lowest: free {fz[0]:.1f}, elastic {ez[0]:.1f} mm",
        holds=about(ez[0], fz[0], 0.01),
    )
    claims.check(
        "Fig. 17b",
        "y reaches higher values with elastic limits than without",
        computed=f"free {fy[1]:.0f}, elastic {ey[1]:.0f} mm",
        holds=ey[1] > fy[1],
    )
    end = 1000 * damped.r[BODY][-1]
    claims.check(
        "Fig. 17",
        "with dissipation the rod comes to rest vertically: x and y end at 0",
        printed="0, 0 m",
        computed=f"{end[0]:.2f}, {end[1]:.2f} mm; speed {np.linalg.norm(damped.v[BODY][-1]):.1e} m/s",
        holds=bool(np.abs(end[:2]).max() < 1.0),
    )


def _highest(run: Run) -> float:
    """Largest z after the first passage of the lowest point [m]."""
    z = run.r[BODY][:, 2]
    return float(z[int(np.argmin(z[: len(z) // 5])) :].max())


def _cone(claims: Claims, e: PendulumRuns) -> None:
    seen = study.seen(e.cases)
    free, elastic, damped = (run.limits[LIMIT] for run in seen.values())
    at = measures.near(free, 315.0)
    claims.check(
        "Fig. 18b",
        "free: the maximum latitude at longitude 315° is exceeded",
        printed="> 45°",
        computed=f"{np.rad2deg(free.latitude[at].max()):.1f}°",
        holds=bool((free.excess[at] > 0.0).any()),
    )
    latitude, longitude, over = study.first_excess(seen["elastic"])
    claims.check(
        "Fig. 18b",
        "elastic: at longitude 315° the latitude reaches about 50°",
        printed="50°",
        computed=f"{latitude:.1f}° at {longitude:.1f}°",
        holds=about(latitude, 50.0, 0.02) and abs(longitude - 315.0) < 5.0,
    )
    claims.check(
        "Fig. 18b",
        "elastic: the maximum of 45° there is exceeded by about 5°",
        printed="5°",
        computed=f"{over:.1f}°",
        holds=abs(over - 5.0) < 1.0,
    )
    largest = float(np.rad2deg(elastic.excess.max()))
    claims.check(
        "Fig. 18b",
        "elastic: the cone is never exceeded by more than the compliance",
        printed="< 11.5°",
        computed=f"{largest:.1f}°",
        holds=largest < np.rad2deg(pendulum.COMPLIANCE),
    )
    margin = float(np.rad2deg((damped.maximum_latitude - damped.latitude).min()))
    claims.check(
        "Fig. 18b",
        "dissipative: the cone is not exceeded",
        computed=f"at least {margin:.1f}° inside",
        holds=not measures.excursions(seen["dissipative"], LIMIT),
    )


def moments(claims: Claims, e: PendulumRuns) -> None:
    """Restricting and dissipative moments."""
    _, elastic, damped = e.cases.values()
    outside = measures.excursions(elastic, LIMIT)
    largest, _ = measures.peak(elastic, LIMIT)
    claims.check(
        "Fig. 19a",
        "elastic: the restricting moment is applied several times",
        computed=f"{len(outside)} times in {elastic.t[-1]:g} s",
        holds=len(outside) > 2,
    )
    claims.check(
        "Fig. 19a",
        "elastic: the largest restricting moment, of 226 N m allowed",
        printed="100 N m",
        computed=f"{largest:.1f} N m",
        holds=about(largest, 100.0),
    )
    none = float(damped.limits[LIMIT].restricting_moment.max())
    claims.check(
        "Fig. 19a", "dissipative: no restricting moment", printed="0 N m", computed=f"{none:g} N m", holds=none == 0.0
    )
    viscous = float(damped.limits[LIMIT].dissipative_moment.max())
    claims.check(
        "Fig. 19b",
        "the dissipative moment is about 20 times lower than the restricting one",
        printed="20",
        computed=f"{largest / viscous:.1f} ({viscous:.2f} N m)",
        holds=about(largest / viscous, 20.0, 0.1),
    )


def _energy(claims: Claims, e: PendulumRuns) -> None:
    free, elastic, damped = e.cases.values()
    available = float(damped.energy[0] - damped.energy[-1])
    drift = float(np.ptp(free.energy))
    claims.check(
        "Fig. 20",
        "free: the system is conservative",
        computed=f"energy varies by {drift:.0e} J",
        holds=drift < CONSERVED * available,
    )
    dips = measures.mechanical(elastic) - elastic.energy[0]
    outside = measures.excursions(elastic, LIMIT)
    between = dips[elastic.limits[LIMIT].excess == 0.0]
    claims.check(
        "Fig. 20",
        "elastic: the system loses energy each time the limit is exceeded, and recovers it",
        computed=f"{len(outside)} falls, the lowest to {dips.min():.2f} J, recovered within {np.abs(between).max():.0e} J",
        holds=[
            all((dips[(elastic.t >= a) & (elastic.t <= b)] < 0).any() for a, b in outside),
            bool(np.abs(between).max() < CONSERVED * available),
        ],
    )
    varies = [float(np.ptp(elastic.energy)), float(np.ptp(_energy_inside(e.printed)))]
    claims.check(
        "Fig. 20",
        "elastic: the system is conservative",
        computed=f"default law: {varies[0]:.0e} J; law as printed: {varies[1]:.2f} J of {available:.2f} J, inside the cone",
        holds=[v < CONSERVED * available for v in varies],
        reason="Eqs. (32) and (33) have no potential where the cone is irregular; the default law has one",
    )
    claims.check(
        "Fig. 20",
        "dissipative: the system dissipates energy",
        computed=f"{available:.2f} J lost, never gained",
        holds=bool((np.diff(damped.energy) < 1e-9).all()) and available > 0.0,
    )


def _cost(claims: Claims, e: PendulumRuns) -> None:
    rod, isotropic = e.costs.rod, e.costs.isotropic
    for words, case, most in (
        ("evaluations: the elastic case is the least efficient", "elastic", False),
        ("evaluations: the dissipative case is the most efficient", "dissipative", True),
    ):
        check_over_settings(
            claims,
            "Fig. 21",
            words,
            {
                "slender rod": beside_next(rod, case, most=most),
                "equal moments of inertia": beside_next(isotropic, case, most=most),
            },
            lambda ratio: ratio > 1.0,
            quantity=f"evaluations, {'next case by dissipative' if most else 'elastic by next case'}",
            reason=f"an explicit method must resolve the damped spin of the slender rod that is inferred here: dop853 at 1e-10 "
            f"takes {rod['dissipative']['dop853', 1e-10]} evaluations of it, and {isotropic['dissipative']['dop853', 1e-10]} "
            "with equal moments of inertia; the moments that the paper used are not in the text",
        )


def _energy_inside(run: Run) -> np.ndarray:
    """Energy inside the cone; outside, the printed law has no potential that could be added, (m,) [J]."""
    return measures.mechanical(run)[run.limits[LIMIT].excess == 0.0]
