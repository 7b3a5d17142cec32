"""The claims of seed 003, section 4: the spherical pendulum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models import measures, pendulum, pendulum_study
from models.verdicts import Claims, about, falling, listed, rising
from runtime import Run, simulate

BODY, LIMIT = pendulum_study.BODY, pendulum_study.LIMIT
CONSERVED = 1e-5  # of the energy that the pendulum exchanges
SAME = 1e-6  # [m] paths that have nothing between them but the tolerance
VISIBLE = 1e-3  # [m] an oscillation that a plot shows


@dataclass(frozen=True)
class Evidence:
    """Runs on which the claims are checked."""

    cases: Mapping[str, Run]
    studies: Mapping[str, Mapping[str, Run]]
    costs: Mapping[str, Mapping[str, Run]]
    printed: Run  # elastic, with the law as printed

    def failures(self) -> list[str]:
        """Messages of runs that failed."""
        runs = {**self.cases, "printed law": self.printed}
        runs |= {f"{name} {label}": run for name, study in self.studies.items() for label, run in study.items()}
        return [f"pendulum, {label}: {run.message}" for label, run in runs.items() if not run.success]


def evidence(t_end: float, tolerance: float) -> Evidence:
    """Make the runs."""
    printed = simulate(
        pendulum.build(limits="elastic", law="printed"),
        t_end,
        t_eval=measures.times(t_end),
        rtol=tolerance,
        atol=tolerance,
    )
    systems = {case: pendulum_study.build(case) for case in pendulum_study.CASES}
    return Evidence(
        cases=pendulum_study.cases(t_end, tolerance),
        studies=pendulum_study.studies(t_end, tolerance),
        costs=pendulum_study.evaluations(systems, t_end, tolerance),
        printed=printed,
    )


def seed_003(e: Evidence) -> Claims:
    """Section 4."""
    claims = Claims(
        "Seed 003, section 4: the spherical pendulum; rod and release are inferred, see models/pendulum.py."
    )
    _trajectories(claims, e)
    _cone(claims, e)
    _moments(claims, e)
    _energy_and_cost(claims, e)
    _compliance(claims, e)
    _max_moment(claims, e)
    _damping(claims, e)
    return claims


def _trajectories(claims: Claims, e: Evidence) -> None:
    free, elastic, damped = e.cases.values()
    (fx, ex), (fy, ey), (fz, ez) = (
        [[1000 * v for v in measures.extent(run, BODY, axis)] for run in (free, elastic)] for axis in range(3)
    )
    claims.check(
        "Fig. 17a",
        "x: the amplitude is reduced with elastic limits",
        ours=f"free {fx[0]:.0f}..{fx[1]:.0f}, elastic {ex[0]:.0f}..{ex[1]:.0f} mm",
        held=[ex[0] > fx[0], ex[1] < fx[1]],
        why="reduced on the side of the narrow cone only; the limit also throws the rod out of its plane",
    )
    claims.check(
        "Fig. 17c",
        "z: reduced with elastic limits at the highest values",
        ours=f"highest after the release: free {1000 * _highest(free):.0f}, elastic {1000 * _highest(elastic):.1f} mm",
        held=_highest(elastic) < _highest(free),
    )
    claims.check(
        "Fig. 17c",
        "z: the minimum, rod vertical, is still reached with limits",
        ours=f"lowest: free {fz[0]:.1f}, elastic {ez[0]:.1f} mm",
        held=about(ez[0], fz[0], 0.01),
    )
    claims.check(
        "Fig. 17b",
        "y reaches higher values with elastic limits than free",
        ours=f"free {fy[1]:.0f}, elastic {ey[1]:.0f} mm",
        held=ey[1] > fy[1],
    )
    end = 1000 * damped.r[BODY][-1]
    claims.check(
        "Fig. 17",
        "with dissipation the rod stops vertical: x and y end at 0",
        paper="0, 0 m",
        ours=f"{end[0]:.2f}, {end[1]:.2f} mm; speed {np.linalg.norm(damped.v[BODY][-1]):.1e} m/s",
        held=bool(np.abs(end[:2]).max() < 1.0),
    )


def _highest(run: Run) -> float:
    """Highest z after the rod has first been low [m]."""
    z = run.r[BODY][:, 2]
    return float(z[int(np.argmin(z[: len(z) // 5])) :].max())


def _cone(claims: Claims, e: Evidence) -> None:
    seen = pendulum_study.seen(e.cases)
    free, elastic, damped = (run.limits[LIMIT] for run in seen.values())
    at = measures.near(free, 315.0)
    claims.check(
        "Fig. 18b",
        "free: the maximum latitude at longitude 315° is exceeded",
        paper="> 45°",
        ours=f"{np.rad2deg(free.latitude[at].max()):.1f}°",
        held=bool((free.excess[at] > 0.0).any()),
    )
    begin, end = measures.contacts(seen["elastic"], LIMIT)[0]
    during = (seen["elastic"].t >= begin) & (seen["elastic"].t <= end)
    n = int(np.argmax(np.where(during, elastic.latitude, 0.0)))
    latitude, longitude = np.rad2deg(elastic.latitude[n]), np.rad2deg(elastic.longitude[n])
    over = float(np.rad2deg(elastic.latitude[n] - elastic.maximum_latitude[n]))
    claims.check(
        "Fig. 18b",
        "elastic: at longitude 315° the latitude reaches about 50°",
        paper="50°",
        ours=f"{latitude:.1f}° at {longitude:.1f}°",
        held=about(latitude, 50.0, 0.02) and abs(longitude - 315.0) < 5.0,
    )
    claims.check(
        "Fig. 18b",
        "and so exceeds the maximum of 45° by about 5°",
        paper="5°",
        ours=f"{over:.1f}°",
        held=abs(over - 5.0) < 1.0,
    )
    largest = float(np.rad2deg(elastic.excess.max()))
    claims.check(
        "Fig. 18b",
        "elastic: the cone is never exceeded by more than the compliance",
        paper="< 11.5°",
        ours=f"{largest:.1f}°",
        held=largest < np.rad2deg(pendulum.COMPLIANCE),
    )
    margin = float(np.rad2deg((damped.maximum_latitude - damped.latitude).min()))
    claims.check(
        "Fig. 18b",
        "dissipative: the cone is not exceeded",
        ours=f"stays {margin:.1f}° inside or more",
        held=not measures.contacts(seen["dissipative"], LIMIT),
    )


def _moments(claims: Claims, e: Evidence) -> None:
    _, elastic, damped = e.cases.values()
    met = measures.contacts(elastic, LIMIT)
    largest, _ = measures.peak(elastic, LIMIT)
    claims.check(
        "Fig. 19a",
        "elastic: the restricting moment is applied several times",
        ours=f"{len(met)} times in {elastic.t[-1]:g} s",
        held=len(met) > 2,
    )
    claims.check(
        "Fig. 19a",
        "elastic: the largest restricting moment, of 226 N m allowed",
        paper="100 N m",
        ours=f"{largest:.1f} N m",
        held=about(largest, 100.0),
    )
    none = float(damped.limits[LIMIT].restricting_moment.max())
    claims.check(
        "Fig. 19a", "dissipative: no restricting moment", paper="0 N m", ours=f"{none:g} N m", held=none == 0.0
    )
    viscous = float(damped.limits[LIMIT].dissipative_moment.max())
    claims.check(
        "Fig. 19b",
        "the dissipative moment is about 20 times lower than the restricting one",
        paper="20",
        ours=f"{largest / viscous:.1f} ({viscous:.2f} N m)",
        held=about(largest / viscous, 20.0, 0.1),
    )


def _energy_and_cost(claims: Claims, e: Evidence) -> None:
    free, elastic, damped = e.cases.values()
    available = float(damped.energy[0] - damped.energy[-1])
    drift = float(np.ptp(free.energy))
    claims.check(
        "Fig. 20",
        "free: the system is conservative",
        ours=f"energy varies by {drift:.0e} J",
        held=drift < CONSERVED * available,
    )
    dips = measures.mechanical(elastic) - elastic.energy[0]
    met = measures.contacts(elastic, LIMIT)
    between = dips[elastic.limits[LIMIT].excess == 0.0]
    claims.check(
        "Fig. 20",
        "elastic: at each contact the system loses energy and recovers it",
        ours=f"{len(met)} dips down to {dips.min():.2f} J, back within {np.abs(between).max():.0e} J",
        held=[
            all((dips[(elastic.t >= a) & (elastic.t <= b)] < 0).any() for a, b in met),
            bool(np.abs(between).max() < CONSERVED * available),
        ],
    )
    varies = [float(np.ptp(elastic.energy)), float(np.ptp(_settled_energy(e.printed)))]
    claims.check(
        "Fig. 20",
        "elastic: the system is conservative",
        ours=f"our law: {varies[0]:.0e} J; the law as printed: {varies[1]:.2f} J of {available:.2f} J, outside contact",
        held=[v < CONSERVED * available for v in varies],
        why="Eqs. (32) and (33) have no potential where the cone is irregular; the default law has one",
    )
    claims.check(
        "Fig. 20",
        "dissipative: the system dissipates energy",
        ours=f"{available:.2f} J lost, never gained",
        held=bool((np.diff(damped.energy) < 1e-9).all()) and available > 0.0,
    )
    for place, words, expected in (
        (
            "Fig. 21",
            "evaluations: the elastic case is the least efficient",
            lambda n: max(n, key=n.__getitem__) == "elastic",
        ),
        (
            "Fig. 21",
            "evaluations: the dissipative case is the most efficient",
            lambda n: min(n, key=n.__getitem__) == "dissipative",
        ),
    ):
        counts = {
            m: {case: by[m].stats.evaluations for case, by in e.costs.items()} for m in pendulum_study.COST_METHODS
        }
        claims.check(
            place,
            words,
            ours="; ".join(f"{m}: " + ", ".join(f"{case} {n}" for case, n in by.items()) for m, by in counts.items()),
            held=[expected(by) for by in counts.values()],
            why="true of the papers' family of methods; an explicit method must resolve the damped spin of the slender rod",
        )


def _settled_energy(run: Run) -> np.ndarray:
    """Energy between contacts: the printed law has no potential to add during them."""
    return measures.mechanical(run)[run.limits[LIMIT].excess == 0.0]


def _firsts(runs: Mapping[str, Run]) -> list[tuple[float, float]]:
    return [measures.contacts(run, LIMIT)[0] for run in runs.values()]


def _apart(runs: Mapping[str, Run], begin: float, end: float) -> float:
    """Largest distance in x between any two runs within a time [m]."""
    x = np.array([run.r[BODY][(run.t >= begin) & (run.t < end), 0] for run in runs.values()])
    return float(np.ptp(x, axis=0).max())


def _compliance(claims: Claims, e: Evidence) -> None:
    runs = e.studies["compliance"]
    labels, firsts = ", ".join(runs), _firsts(runs)
    start = min(begin for begin, _ in firsts)
    claims.check(
        "Fig. 23b",
        "compliance: first restricting moment at about 0.35 s in all five",
        paper="0.35 s",
        ours=f"{listed([begin for begin, _ in firsts], '.3f')} s",
        held=[about(begin, 0.35, 0.015) for begin, _ in firsts],
    )
    before = _apart(runs, 0.0, start)
    claims.check(
        "Fig. 23a",
        "compliance: the five paths are alike until then",
        ours=f"apart by {before:.0e} m at most",
        held=before < SAME,
    )
    early, late = _apart(runs, start, 1.0), _apart(runs, 4.0, 5.0)
    claims.check(
        "Fig. 23a",
        "compliance: afterwards they differ, the more the later",
        ours=f"in x until 1 s {1000 * early:.0f} mm, after 4 s {1000 * late:.0f} mm",
        held=late > early > SAME,
    )
    lasting = [1000 * (end - begin) for begin, end in firsts]
    claims.check(
        "Fig. 23a",
        "compliance: the larger, the longer until the rod is back inside",
        ours=f"first contact {listed(lasting, '.0f')} ms for {labels}",
        held=rising(lasting),
    )
    peaks = [measures.peak(run, LIMIT, contact)[0] for run, contact in zip(runs.values(), firsts, strict=True)]
    claims.check(
        "Fig. 23b",
        "compliance: the smaller, the larger the moment",
        ours=f"first contact {listed(peaks, '.0f')} N m",
        held=falling(peaks),
    )
    top = measures.peak(next(iter(runs.values())), LIMIT)[0]
    claims.check(
        "Fig. 23b",
        "compliance 1.5°: the greatest moment is reached",
        paper="226 N m",
        ours=f"{top:.1f} N m",
        held=about(top, pendulum.MAX_MOMENT, 0.001),
    )
    claims.check(
        "Fig. 23b",
        "compliance 1.5°: back inside in the shortest time",
        ours=f"{lasting[0]:.0f} ms",
        held=lasting[0] == min(lasting),
    )
    excess = [float(np.rad2deg(run.limits[LIMIT].excess[run.t < 2.0].max())) for run in runs.values()]
    claims.check(
        "Fig. 23c",
        "compliance: the larger, the farther beyond the cone",
        ours=f"{listed(excess, '.1f')}° within 2 s",
        held=rising(excess),
    )
    _conserved(claims, "Fig. 23", "compliance", runs)


def _conserved(claims: Claims, place: str, name: str, runs: Mapping[str, Run]) -> None:
    drifts = [float(np.ptp(run.energy)) for run in runs.values()]
    stored = float(np.ptp(next(iter(runs.values())).kinetic_energy))
    claims.check(
        place,
        f"{name}: energy is conserved in all five",
        ours=f"varies by {max(drifts):.0e} J at most (default law)",
        held=[drift < CONSERVED * stored for drift in drifts],
    )


def _max_moment(claims: Claims, e: Evidence) -> None:
    runs = e.studies["max_moment"]
    firsts = _firsts(runs)
    start = min(begin for begin, _ in firsts)
    apart, beside = _apart(runs, start, 1.0), _apart(e.studies["compliance"], start, 1.0)
    claims.check(
        "Fig. 25a",
        "greatest moment: the paths differ less than with the compliance",
        ours=f"until 1 s {1000 * apart:.0f} mm against {1000 * beside:.0f} mm",
        held=SAME < apart < beside,
    )
    late = _apart(runs, 4.0, 5.0)
    claims.check(
        "Fig. 25a",
        "greatest moment: the differences grow with time",
        ours=f"until 1 s {1000 * apart:.0f} mm, after 4 s {1000 * late:.0f} mm",
        held=late > apart,
    )
    peaks = [measures.peak(run, LIMIT, contact) for run, contact in zip(runs.values(), firsts, strict=True)]
    claims.check(
        "Fig. 25b",
        "greatest moment: the higher, the earlier the peak",
        ours=f"{listed([1000 * t for _, t in peaks], '.0f')} ms",
        held=falling([t for _, t in peaks]),
    )
    steep = [moment / (t - begin) / 1000 for (moment, t), (begin, _) in zip(peaks, firsts, strict=True)]
    claims.check(
        "Fig. 25b",
        "greatest moment: the higher, the steeper the curve",
        ours=f"mean rise {listed(steep, '.1f')} N m/ms",
        held=rising(steep),
    )
    lasting = [1000 * (end - begin) for begin, end in firsts]
    claims.check(
        "Fig. 25b",
        "greatest moment: the higher, the sooner the rod is back inside",
        ours=f"first contact {listed(lasting, '.1f')} ms",
        held=falling(lasting),
    )
    reached = [measures.peak(run, LIMIT)[0] for run in runs.values()]
    claims.check(
        "Fig. 25b",
        "greatest moment: never reached in this study",
        ours=f"{listed(reached, '.0f')} N m",
        held=[moment < most for moment, most in zip(reached, pendulum_study.MAX_MOMENTS, strict=True)],
    )
    claims.check(
        "Fig. 25b",
        "greatest moment: the largest moment of the study",
        paper="115 N m",
        ours=f"{max(reached):.1f} N m",
        held=about(max(reached), 115.0),
    )
    excess = [float(np.rad2deg(run.limits[LIMIT].excess[run.t < 2.0].max())) for run in runs.values()]
    claims.check(
        "Fig. 25c",
        "greatest moment: the higher, the less beyond the cone",
        ours=f"{listed(excess, '.1f')}° within 2 s",
        held=falling(excess),
    )
    _conserved(claims, "Fig. 25", "greatest moment", runs)


def _damping(claims: Claims, e: Evidence) -> None:
    runs = e.studies["damping"]
    labels = ", ".join(label.split()[0] for label in runs)
    swings = [_swings(run) for run in runs.values()]
    claims.check(
        "Fig. 26a",
        "damping: the more, the fewer oscillations in x",
        ours=f"{listed(swings, 'd')} swings across for {labels} N m s",
        held=[swings[0] > max(swings[1:]), all(a >= b for a, b in zip(swings, swings[1:], strict=False))],
    )
    waves = [_maxima(run.limits[LIMIT].dissipative_moment) for run in runs.values()]
    claims.check(
        "Fig. 26b",
        "damping: the more, the fewer oscillations of the dissipative moment",
        ours=f"{listed(waves, 'd')} peaks",
        held=[waves[0] > max(waves[1:]), all(a >= b for a, b in zip(waves, waves[1:], strict=False))],
    )
    met = [measures.contacts(run, LIMIT) for run in runs.values()]
    claims.check(
        "Fig. 26c",
        "damping: only with 0.10 N m s the cone is exceeded",
        ours=f"{listed([len(m) for m in met], 'd')} times",
        held=bool(met[0]) and not any(met[1:]),
    )
    first = next(iter(runs.values()))
    begin, end = met[0][0]
    longitude = float(np.rad2deg(first.limits[LIMIT].longitude[int(np.searchsorted(first.t, begin))]))
    claims.check(
        "Fig. 26c",
        "damping 0.10: exceeded at longitude 315°",
        paper="315°",
        ours=f"{longitude:.1f}°",
        held=abs(longitude - 315.0) < 5.0,
    )
    moment, when = measures.peak(first, LIMIT)
    claims.check(
        "Fig. 26d",
        "damping 0.10: the restricting moment acts at about 0.40 s",
        paper="0.40 s",
        ours=f"{begin:.2f} to {end:.2f} s, {moment:.0f} N m at {when:.3f} s",
        held=begin <= 0.40 <= end,
    )
    lost = [float(run.energy[0] - run.energy[-1]) for run in runs.values()]
    claims.check(
        "Fig. 26e",
        "damping: all reach a similar mechanical energy",
        ours=f"lost after 5 s: {listed(lost, '.2f')} J",
        held=min(lost) > 0.95 * max(lost),
    )
    share = measures.SETTLED * max(lost)
    times = [float(run.t[int(np.argmax(run.energy[0] - run.energy >= share))]) for run in runs.values()]
    claims.check(
        "Fig. 26e",
        "damping: the more, the later that energy is reached",
        ours=f"95 % after {listed(times, '.2f')} s",
        held=[b > a for a, b in zip(times, times[1:], strict=False)],
        why=f"with {labels.split(',')[0]} N m s the rod swings on and its energy goes slowly too",
    )
    fast = [float(np.linalg.norm(run.v[BODY], axis=1).max()) for run in runs.values()]
    claims.check(
        "Fig. 26e",
        "damping: the more, the slower the rod moves",
        ours=f"at most {listed(fast, '.2f')} m/s",
        held=falling(fast),
    )


def _swings(run: Run) -> int:
    """How often the rod crosses over visibly."""
    x = run.r[BODY][:, 0]
    return int((np.diff(np.sign(x[np.abs(x) > VISIBLE])) != 0).sum())


def _maxima(values: np.ndarray) -> int:
    """Maxima that a plot shows."""
    inner = (values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:]) & (values[1:-1] > 0.01 * values.max())
    return int(inner.sum())
