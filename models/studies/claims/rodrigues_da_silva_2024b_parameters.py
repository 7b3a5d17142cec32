"""Claims of Rodrigues da Silva et al. (2024b), Section 4, on compliance, maximum moment and damping of the limit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models import pendulum
from models.studies import measures
from models.studies import pendulum as study
from models.studies.claims.pendulum_runs import BODY, CONSERVED, LIMIT, PendulumRuns
from models.studies.claims.verdicts import Claims, about, falling, listed, rising
from runtime import Run

SAME = 1e-6  # [m] distance of paths that differ by the tolerance only
SIMILAR = 0.95  # ratio of energies that look alike in a plot
VISIBLE = 1e-3  # [m] amplitude of an oscillation that is visible in a plot


def _firsts(runs: Mapping[str, Run]) -> list[tuple[float, float]]:
    """Begin and end of the first excursion of each run [s]."""
    return [measures.excursions(run, LIMIT)[0] for run in runs.values()]


def _apart(runs: Mapping[str, Run], begin: float, end: float) -> float:
    """Largest distance in x between any two runs during a time span [m]."""
    x = np.array([run.r[BODY][(run.t >= begin) & (run.t < end), 0] for run in runs.values()])
    return float(np.ptp(x, axis=0).max())


def compliance(claims: Claims, e: PendulumRuns) -> None:
    """Effect of the compliance, Fig. 23."""
    runs = e.studies["compliance"]
    _compliance_paths(claims, runs)
    _compliance_moments(claims, runs)
    _conserved(claims, "Fig. 23", "compliance", runs)


def _compliance_paths(claims: Claims, runs: Mapping[str, Run]) -> None:
    firsts = _firsts(runs)
    start = min(begin for begin, _ in firsts)
    claims.check(
        "Fig. 23b",
        "compliance: first restricting moment at about 0.35 s in all five",
        printed="0.35 s",
        computed=f"{listed([begin for begin, _ in firsts], '.3f')} s",
        holds=[about(begin, 0.35, 0.015) for begin, _ in firsts],
    )
    before = _apart(runs, 0.0, start)
    claims.check(
        "Fig. 23a",
        "compliance: the five paths coincide until the first restricting moment",
        computed=f"apart by {before:.0e} m at most",
        holds=before < SAME,
    )
    early, late = _apart(runs, start, 1.0), _apart(runs, 4.0, 5.0)
    claims.check(
        "Fig. 23a",
        "compliance: afterwards they differ, the more the later",
        computed=f"in x until 1 s {1000 * early:.0f} mm, after 4 s {1000 * late:.0f} mm",
        holds=late > early > SAME,
    )


def _compliance_moments(claims: Claims, runs: Mapping[str, Run]) -> None:
    labels, firsts = ", ".join(runs), _firsts(runs)
    lasting = [1000 * (end - begin) for begin, end in firsts]
    claims.check(
        "Fig. 23a",
        "compliance: the larger, the longer until the rod is back inside",
        computed=f"first excursion {listed(lasting, '.0f')} ms for {labels}",
        holds=rising(lasting),
    )
    peaks = [measures.peak(run, LIMIT, excursion)[0] for run, excursion in zip(runs.values(), firsts, strict=True)]
    claims.check(
        "Fig. 23b",
        "compliance: the smaller, the larger the moment",
        computed=f"first excursion {listed(peaks, '.0f')} N m",
        holds=falling(peaks),
    )
    top = measures.peak(next(iter(runs.values())), LIMIT)[0]
    claims.check(
        "Fig. 23b",
        "compliance 1.5°: the maximum moment is reached",
        printed="226 N m",
        computed=f"{top:.1f} N m",
        holds=about(top, pendulum.MAX_MOMENT, 0.001),
    )
    claims.check(
        "Fig. 23b",
        "compliance 1.5°: the rod is back inside in the shortest time",
        computed=f"{lasting[0]:.0f} ms",
        holds=lasting[0] == min(lasting),
    )
    excess = [float(np.rad2deg(run.limits[LIMIT].excess[run.t < 2.0].max())) for run in runs.values()]
    claims.check(
        "Fig. 23c",
        "compliance: the larger, the farther beyond the cone",
        computed=f"{listed(excess, '.1f')}° within 2 s",
        holds=rising(excess),
    )


def _conserved(claims: Claims, place: str, name: str, runs: Mapping[str, Run]) -> None:
    drifts = [float(np.ptp(run.energy)) for run in runs.values()]
    stored = float(np.ptp(next(iter(runs.values())).kinetic_energy))
    claims.check(
        place,
        f"{name}: energy is conserved in all five",
        computed=f"varies by {max(drifts):.0e} J at most (default law)",
        holds=[drift < CONSERVED * stored for drift in drifts],
    )


def max_moment(claims: Claims, e: PendulumRuns) -> None:
    """Effect of the maximum moment, Fig. 25."""
    runs = e.studies["max_moment"]
    _moment_paths(claims, runs, e.studies["compliance"])
    _moment_curves(claims, runs)
    _conserved(claims, "Fig. 25", "maximum moment", runs)


def _moment_paths(claims: Claims, runs: Mapping[str, Run], by_compliance: Mapping[str, Run]) -> None:
    start = min(begin for begin, _ in _firsts(runs))
    apart, beside = _apart(runs, start, 1.0), _apart(by_compliance, start, 1.0)
    claims.check(
        "Fig. 25a",
        "maximum moment: the paths differ less than with the compliance",
        computed=f"until 1 s {1000 * apart:.0f} mm against {1000 * beside:.0f} mm",
        holds=SAME < apart < beside,
    )
    late = _apart(runs, 4.0, 5.0)
    claims.check(
        "Fig. 25a",
        "maximum moment: the differences grow with time",
        computed=f"until 1 s {1000 * apart:.0f} mm, after 4 s {1000 * late:.0f} mm",
        holds=late > apart,
    )


def _moment_curves(claims: Claims, runs: Mapping[str, Run]) -> None:
    firsts = _firsts(runs)
    peaks = [measures.peak(run, LIMIT, excursion) for run, excursion in zip(runs.values(), firsts, strict=True)]
    claims.check(
        "Fig. 25b",
        "maximum moment: the higher, the earlier the peak",
        computed=f"{listed([1000 * t for _, t in peaks], '.0f')} ms",
        holds=falling([t for _, t in peaks]),
    )
    steep = [moment / (t - begin) / 1000 for (moment, t), (begin, _) in zip(peaks, firsts, strict=True)]
    claims.check(
        "Fig. 25b",
        "maximum moment: the higher, the steeper the curve",
        computed=f"mean rise {listed(steep, '.1f')} N m/ms",
        holds=rising(steep),
    )
    lasting = [1000 * (end - begin) for begin, end in firsts]
    claims.check(
        "Fig. 25b",
        "maximum moment: the higher, the sooner the rod is back inside",
        computed=f"first excursion {listed(lasting, '.1f')} ms",
        holds=falling(lasting),
    )
    reached = [measures.peak(run, LIMIT)[0] for run in runs.values()]
    claims.check(
        "Fig. 25b",
        "maximum moment: never reached in this study",
        computed=f"{listed(reached, '.0f')} N m",
        holds=[moment < most for moment, most in zip(reached, study.MAX_MOMENTS, strict=True)],
    )
    claims.check(
        "Fig. 25b",
        "maximum moment: the largest moment of the study",
        printed="115 N m",
        computed=f"{max(reached):.1f} N m",
        holds=about(max(reached), 115.0),
    )
    excess = [float(np.rad2deg(run.limits[LIMIT].excess[run.t < 2.0].max())) for run in runs.values()]
    claims.check(
        "Fig. 25c",
        "maximum moment: the higher, the less beyond the cone",
        computed=f"{listed(excess, '.1f')}° within 2 s",
        holds=falling(excess),
    )


def damping(claims: Claims, e: PendulumRuns) -> None:
    """Effect of the damping, Fig. 26."""
    runs = e.studies["damping"]
    _damping_motion(claims, runs)
    _damping_energy(claims, runs)


def _damping_motion(claims: Claims, runs: Mapping[str, Run]) -> None:
    labels = ", ".join(label.split()[0] for label in runs)
    swings = [_swings(run) for run in runs.values()]
    claims.check(
        "Fig. 26a",
        "damping: the larger, the fewer oscillations in x",
        computed=f"{listed(swings, 'd')} swings across for {labels} N m s",
        holds=[swings[0] > max(swings[1:]), all(a >= b for a, b in zip(swings, swings[1:], strict=False))],
    )
    waves = [_maxima(run.limits[LIMIT].dissipative_moment) for run in runs.values()]
    claims.check(
        "Fig. 26b",
        "damping: the larger, the fewer oscillations of the dissipative moment",
        computed=f"{listed(waves, 'd')} peaks",
        holds=[waves[0] > max(waves[1:]), all(a >= b for a, b in zip(waves, waves[1:], strict=False))],
    )
    outside = [measures.excursions(run, LIMIT) for run in runs.values()]
    claims.check(
        "Fig. 26c",
        "damping: only with 0.10 N m s the cone is exceeded",
        computed=f"{listed([len(found) for found in outside], 'd')} times",
        holds=bool(outside[0]) and not any(outside[1:]),
    )
    first = next(iter(runs.values()))
    begin, end = outside[0][0]
    longitude = float(np.rad2deg(first.limits[LIMIT].longitude[int(np.searchsorted(first.t, begin))]))
    claims.check(
        "Fig. 26c",
        "damping 0.10: the cone is exceeded at longitude 315°",
        printed="315°",
        computed=f"{longitude:.1f}°",
        holds=abs(longitude - 315.0) < 5.0,
    )
    moment, when = measures.peak(first, LIMIT)
    claims.check(
        "Fig. 26d",
        "damping 0.10: the restricting moment acts at about 0.40 s",
        printed="0.40 s",
        computed=f"{begin:.2f} to {end:.2f} s, {moment:.0f} N m at {when:.3f} s",
        holds=begin <= 0.40 <= end,
    )


def _damping_energy(claims: Claims, runs: Mapping[str, Run]) -> None:
    smallest = next(iter(runs)).split()[0]
    lost = [float(run.energy[0] - run.energy[-1]) for run in runs.values()]
    claims.check(
        "Fig. 26e",
        "damping: all reach a similar mechanical energy",
        computed=f"lost after 5 s: {listed(lost, '.2f')} J",
        holds=min(lost) > SIMILAR * max(lost),
    )
    share = SIMILAR * max(lost)
    times = [float(run.t[int(np.argmax(run.energy[0] - run.energy >= share))]) for run in runs.values()]
    claims.check(
        "Fig. 26e",
        "damping: the larger, the later that energy is reached",
        computed=f"{100 * SIMILAR:.0f} % after {listed(times, '.2f')} s",
        holds=[b > a for a, b in zip(times, times[1:], strict=False)],
        reason=f"with {smallest} N m s the rod keeps swinging, and its energy decreases slowly as well",
    )
    fast = [float(np.linalg.norm(run.v[BODY], axis=1).max()) for run in runs.values()]
    claims.check(
        "Fig. 26e",
        "damping: the larger, the slower the rod moves",
        computed=f"at most {listed(fast, '.2f')} m/s",
        holds=falling(fast),
    )


def _swings(run: Run) -> int:
    """Number of visible changes of side in x."""
    x = run.r[BODY][:, 0]
    return int((np.diff(np.sign(x[np.abs(x) > VISIBLE])) != 0).sum())


def _maxima(values: np.ndarray) -> int:
    """Number of maxima that are visible in a plot."""
    inner = (values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:]) & (values[1:-1] > 0.01 * values.max())
    return int(inner.sum())
