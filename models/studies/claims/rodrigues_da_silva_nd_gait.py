"""Claims of Rodrigues da Silva et al. (n.d.), Section 7: joint angles, moments and powers over the gait cycle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.studies.claims.verdicts import Claims
from models.studies.claims.walk_runs import HINGES, PERCENT, WalkRuns
from models.walking import synthetic
from runtime.support.arrays import Floats

TIMING = 5.0  # [%] of the cycle, within which an event is at a time that is read from a plot
NEAR_ZERO = 0.1  # of the peak
BAND, WITHIN = 2.0, 0.9  # standard deviations; part of the cycle that must lie within them
CRURAL, CALCANEAL = HINGES
OWN = "it is a result of the paper's own subject, whose recordings are not published"


def _at(curve: Floats, percent: float) -> float:
    return float(np.interp(percent, PERCENT, curve))


def _window(begin: float, end: float) -> np.ndarray:
    return (PERCENT >= begin) & (PERCENT <= end)


def _extreme(curve: Floats, begin: float, end: float, sign: int) -> tuple[float, float]:
    """Percent and value of the largest (sign 1) or smallest (-1) value within a part of the cycle."""
    inside = np.flatnonzero(_window(begin, end))
    n = inside[int(np.argmax(sign * curve[inside]))]
    return float(PERCENT[n]), float(curve[n])


def _both(e: WalkRuns, joint: str, what: str) -> dict[str, Floats]:
    """The curve of the walker, and the mean of 14 adults where it is known."""
    found = {"walker": e.curves[joint, what]}
    if (joint, what) in e.adults:
        found["adults"] = e.adults[joint, what][0]
    return found


def _named(values: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in values.items())


def angles(claims: Claims, e: WalkRuns) -> None:
    """Fig. 5a and 5b."""
    curves = _both(e, CRURAL, "angle")
    peaks = {name: [_extreme(c, a, b, -1)[0] for a, b in ((0, 25), (50, 85))] for name, c in curves.items()}
    claims.check(
        "Fig. 5a",
        "talocrural angle: two peaks of plantarflexion, at 10 % and 65 % of the cycle",
        printed="10 %, 65 %",
        computed=_named({name: f"{a:.0f} % and {b:.0f} %" for name, (a, b) in peaks.items()}),
        holds=[abs(p - at) <= TIMING for found in peaks.values() for p, at in zip(found, (10, 65), strict=True)],
    )
    for words, begin, end, sign in (
        ("plantarflexes from 0 to 10 %", 0.0, 10.0, -1),
        ("dorsiflexes from 10 to 50 %", 10.0, 50.0, 1),
        ("plantarflexes before toe-off", 50.0, e.toe_off, -1),
    ):
        change = {name: _at(c, end) - _at(c, begin) for name, c in curves.items()}
        claims.check(
            "Fig. 5a",
            f"the talocrural joint {words}",
            computed=_named({name: f"{value:+.1f}°" for name, value in change.items()}),
            holds=[sign * value > 0.0 for value in change.values()],
        )
    rises = {name: _extreme(c, 65, 100, 1)[1] - _at(c, 65.0) for name, c in curves.items()}
    claims.check(
        "Fig. 5a",
        "the talocrural joint dorsiflexes during swing",
        computed=_named({name: f"{value:+.1f}°" for name, value in rises.items()}),
        holds=[value > 0.0 for value in rises.values()],
    )
    claims.check(
        "text",
        "toe-off at approximately 63 % of the cycle",
        printed="63 %",
        computed=f"walker {e.toe_off:.1f} %",
        holds=abs(e.toe_off - 63.0) <= TIMING / 2,
    )
    inversion = _both(e, CALCANEAL, "angle")
    claims.check(
        "Fig. 5b",
        "according to the literature the talocalcaneal angle varies between -10° and 10°",
        printed="-10° .. 10°",
        computed=_named({name: f"{c.min():.1f} .. {c.max():.1f}°" for name, c in inversion.items()}),
        holds=[c.min() >= -10.0 and c.max() <= 10.0 for c in inversion.values()],
    )
    low = _named({name: f"{_extreme(c, 50, 75, -1)[1]:.1f}°" for name, c in inversion.items()})
    claims.leave(
        "Fig. 5b",
        "the subject's foot is excessively everted before toe-off, to -25°",
        printed="-25°",
        computed=f"smallest angle from 50 to 75 %: {low}",
        reason=OWN,
    )
    spread = {joint: float(e.adults[joint, "angle"][1].mean()) for joint in HINGES}
    claims.leave(
        "Fig. 5",
        "the variability within the subject is greater at the talocalcaneal than at the talocrural joint",
        computed=f"between the 14 adults, mean standard deviation: {_named({j: f'{s:.1f}°' for j, s in spread.items()})}",
        reason=OWN + "; the spread between adults is not that between the trials of one",
    )


def moments(claims: Claims, e: WalkRuns) -> None:
    """Fig. 5c and 5d; dorsiflexion and inversion are positive."""
    curves = _both(e, CRURAL, "moment")
    early = {name: _extreme(c, 0, 10, 1)[1] for name, c in curves.items()}
    claims.check(
        "Fig. 5c",
        "talocrural moment: a small one of dorsiflexion at the beginning of the cycle",
        computed=_named({name: f"{value:.2f} N m/kg" for name, value in early.items()}),
        holds=[0.0 < value < NEAR_ZERO * -c.min() for value, c in zip(early.values(), curves.values(), strict=True)],
    )
    begins = {name: _onset(c) for name, c in curves.items()}
    claims.check(
        "Fig. 5c",
        "talocrural moment: a large one of plantarflexion from 5 to 50 %",
        printed="5 .. 50 %",
        computed=_named({n: f"from {begins[n]:.0f} %, {-c.min():.2f} N m/kg at most" for n, c in curves.items()}),
        holds=[abs(begin - 5.0) <= TIMING for begin in begins.values()]
        + [bool((c[_window(15, 50)] < 0.0).all()) for c in curves.values()],
        reason="the moment of plantarflexion begins later, when the force has moved in front of the ankle",
    )
    before = {name: (-_at(c, 50.0), -_at(c, e.toe_off)) for name, c in curves.items()}
    claims.check(
        "Fig. 5c",
        "talocrural moment: decreases prior to toe-off",
        computed=_named({name: f"{a:.2f} to {b:.2f} N m/kg" for name, (a, b) in before.items()}),
        holds=[b < a for a, b in before.values()],
    )
    swing = _window(e.toe_off + 2.0, 95.0)
    claims.check(
        "Fig. 5c",
        "talocrural moment: a small one of dorsiflexion during swing",
        computed=_named({name: f"{c[swing].mean():.3f} N m/kg on average" for name, c in curves.items()}),
        holds=[0.0 < c[swing].mean() < NEAR_ZERO * -c.min() for c in curves.values()],
    )
    curves = _both(e, CALCANEAL, "moment")
    early = {name: _extreme(c, 0, 10, -1)[1] for name, c in curves.items()}
    claims.check(
        "Fig. 5d",
        "talocalcaneal moment: a small one of eversion at the beginning of the cycle",
        computed=_named({name: f"{value:.3f} N m/kg" for name, value in early.items()}),
        holds=[-NEAR_ZERO * c.max() < v < 0.0 for v, c in zip(early.values(), curves.values(), strict=True)],
    )
    stance = _window(0.0, e.toe_off)
    share = {name: float((c[stance] > NEAR_ZERO * c.max()).mean()) for name, c in curves.items()}
    claims.check(
        "Fig. 5d",
        "talocalcaneal moment: a large one of inversion during the majority of stance",
        computed=_named(
            {n: f"{100 * s:.0f} % of stance, {curves[n].max():.2f} N m/kg at most" for n, s in share.items()}
        ),
        holds=[s > 0.5 for s in share.values()],
    )
    claims.check(
        "Fig. 5d",
        "talocalcaneal moment: near zero during swing",
        computed=_named({name: f"{np.abs(c[swing]).max():.3f} N m/kg at most" for name, c in curves.items()}),
        holds=[np.abs(c[swing]).max() < NEAR_ZERO * c.max() for c in curves.values()],
    )


def _onset(moment: Floats) -> float:
    """Percent at which the moment of plantarflexion (negative) begins for good."""
    last = int(np.argmin(moment))
    inside = np.flatnonzero(moment[:last] >= 0.0)
    return float(PERCENT[inside[-1]]) if len(inside) else 0.0


def pressure(claims: Claims, e: WalkRuns) -> None:
    """Fig. 6: the path of the centre of pressure and the talocalcaneal moment."""
    stance = _window(15.0, 50.0)
    muscles, ground = e.curves[CALCANEAL, "moment"][stance], e.ground_moment[stance]
    off = float(np.abs(muscles + ground).max() / muscles.max())
    claims.check(
        "Fig. 6",
        "a moment of eversion of the ground is compensated by a moment of inversion",
        computed=f"15 to 50 %: the ground {ground.min():.2f} .. {ground.max():.2f}, the muscles {muscles.min():.2f} .. "
        f"{muscles.max():.2f} N m/kg, their sum at most {100 * off:.0f} % of the peak",
        holds=[bool((ground < 0.0).all()), bool((muscles > 0.0).all()), off < NEAR_ZERO],
    )
    more = (e.lateral - e.ground_moment)[stance]
    claims.check(
        "Fig. 6",
        "a centre of pressure that is deviated to the lateral side everts the foot",
        computed=f"10 mm more lateral: {more.min():.3f} .. {more.max():.3f} N m/kg more inversion by the ground",
        holds=bool((more < 0.0).all()),
    )
    claims.leave(
        "Fig. 6",
        "the subject's centre of pressure is deviated to the lateral side of the foot",
        reason=OWN,
    )


def powers(claims: Claims, e: WalkRuns) -> None:
    """Fig. 7."""
    curves, moment = _both(e, CRURAL, "power"), _both(e, CRURAL, "moment")
    low = {name: _extreme(c, 0, 15, -1) for name, c in curves.items()}
    first = {name: _extreme(c, 0, 9, -1)[0] for name, c in curves.items()}
    claims.check(
        "Fig. 7a",
        "talocrural power: absorption from 0 to 15 %, by the muscles of dorsiflexion",
        printed="0 .. 15 %",
        computed=_named({
            n: f"mean {c[_window(0, 15)].mean():.2f} W/kg; moment of dorsiflexion until {_onset(moment[n]):.0f} %"
            for n, c in curves.items()
        }),
        holds=[c[_window(0, 15)].mean() < 0.0 for c in curves.values()]
        + [_at(moment[n], first[n]) > 0.0 for n in curves]
        + [_at(moment[n], low[n][0]) > 0.0 for n in curves],
        reason="the muscles of dorsiflexion absorb until 10 % only; from there to 15 % those of plantarflexion do, and more",
    )  # fmt: skip
    ends = {name: _first_positive(c) for name, c in curves.items()}
    claims.check(
        "Fig. 7a",
        "talocrural power: absorption by the muscles of plantarflexion increases from 15 to 50 %",
        printed="15 .. 50 %",
        computed=_named({
            n: f"{_at(c, 20.0):.2f} at 20 %, {_extreme(c, 15, 50, -1)[1]:.2f} W/kg at {_extreme(c, 15, 50, -1)[0]:.0f} %, "
            f"generation from {ends[n]:.0f} %"
            for n, c in curves.items()
        }),
        holds=[_extreme(c, 15, 50, -1)[0] > 30.0 for c in curves.values()]
        + [abs(end - 50.0) <= TIMING for end in ends.values()],
    )  # fmt: skip
    top = {name: _extreme(c, 0, 100, 1) for name, c in curves.items()}
    claims.check(
        "Fig. 7a",
        "talocrural power: the largest generation at around 55 %",
        printed="55 %",
        computed=_named({name: f"{value:.2f} W/kg at {at:.0f} %" for name, (at, value) in top.items()}),
        holds=[abs(at - 55.0) <= TIMING for at, _ in top.values()],
    )
    power = e.curves[CALCANEAL, "power"]
    (early_at, early), (top_at, most) = _extreme(power, 0, 15, -1), _extreme(power, 0, 100, 1)
    claims.check(
        "Fig. 7b",
        "talocalcaneal power: absorption at the beginning, then generation with its maximum at around 50 %",
        printed="50 %",
        computed=f"walker {early:.2f} W/kg at {early_at:.0f} %, {most:.2f} W/kg at {top_at:.0f} %",
        holds=[early < 0.0, abs(top_at - 50.0) <= TIMING],
    )
    at, late = _extreme(power, 50, e.toe_off, -1)
    claims.leave(
        "Fig. 7b",
        "talocalcaneal power: before toe-off the subject absorbs up to 0.60 W/kg, unlike the literature",
        printed="-0.60 W/kg",
        computed=f"walker, smallest power from 50 % to toe-off: {late:.2f} W/kg at {at:.0f} %",
        reason=OWN,
    )


def _first_positive(power: Floats) -> float:
    """Percent at which the absorption before push-off ends."""
    top = int(np.argmax(power))
    return float(PERCENT[np.flatnonzero(power[:top] <= 0.0)[-1]])


def conclusions(claims: Claims, e: WalkRuns) -> None:
    """Agreement with the literature, and the method."""
    within = {}
    for (joint, what), (mean, sd) in e.adults.items():
        off = np.abs(e.curves[joint, what] - mean)
        within[f"{joint} {what}"] = float((off <= BAND * np.maximum(sd, 0.01 * np.ptp(mean))).mean())
    claims.check(
        "Section 8",
        "angles, moments and powers by the model agree with the literature",
        computed=f"part of the cycle within {BAND:g} standard deviations of 14 adults: "
        + _named({name: f"{100 * share:.0f} %" for name, share in within.items()}),
        holds=[share >= WITHIN for share in within.values()],
        reason="the walker is faster than the adults on average, and generates more power at push-off; the paper's own curves "
        "are not published",
    )
    one = e.recovered
    exact = synthetic.exact(one.t)
    angle, moment = (
        max(float(np.abs(found[joint] - exact[joint, what]).max() / np.ptp(exact[joint, what])) for joint in HINGES)
        for what, found in (("angle", one.angles), ("moment", one.moments))
    )
    claims.check(
        "Section 7",
        "the driving constraints prescribe experimental data to the model correctly",
        computed=f"from markers and forces of a walk that is known: angles within {100 * angle:.2g} %, moments within "
        f"{100 * moment:.2g} % of their range",
        holds=[angle < 0.01, moment < 0.01],
    )
