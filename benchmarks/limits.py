"""Joint limits: their cost, whether the damped foot comes to rest, and the energy that the printed law loses.

The closed loops lie outside irregular cones.  A law with a potential does no work around them; Rodrigues da Silva et al. (2024b),
Eqs. (32)-(33), take the distance in the top view as the excess, whose gradient is not the direction in which its moment acts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import models
import runtime
from benchmarks.measure import ANKLES, Answer, Say, evaluation_times, seconds, succeeded
from runtime import Cone, Run, System
from runtime.figures import lines, panels
from runtime.report import Report, Table
from runtime.support.arrays import Floats
from runtime.system import Limit

TOLERANCE, DURATION, FIRST = 1e-10, 5.0, 1.0  # [1], [s], [s]
CASES = (
    ("free", {}),
    *(
        (f"{limits}, {preset}", dict(limits=limits, preset=preset))
        for preset in ("anatomical", "published")
        for limits in ("elastic", "dissipative")
    ),
)
LAWS = ("conservative", "as_published")
QUADRANTS = (0, 90, 180, 270, 360)
CONES = {
    "regular": Cone.from_degrees(QUADRANTS, (30, 30, 30, 30, 30)),
    "elliptical, Fig. 5": Cone.from_degrees(QUADRANTS, (60, 30, 45, 20, 60)),
    "spline, section 4": Cone.from_degrees((0, 90, 135, 180, 270, 315, 360), (30, 70, 100, 80, 50, 45, 30)),
}
LOOP_SEED, POINTS = 3, 100_000


@dataclass(frozen=True)
class Cost:
    """One case of one ankle."""

    ankle: str
    case: str
    system: System
    run: Run
    first: Run
    least: float  # [s]
    drift: float  # [J] largest |E - E(0)| at the steps
    met: float  # [s] the end of the first step beyond a limit; NaN: there is none

    @property
    def later(self) -> int:
        """Evaluations after the first second."""
        return self.run.stats.evaluations - self.first.stats.evaluations

    @property
    def ratio(self) -> float:
        """Ratio of the later evaluations to those of the first second."""
        return self.later / self.first.stats.evaluations

    @property
    def damped(self) -> bool:
        """Whether energy is dissipated."""
        return "dissipative" in self.case


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure the cost of all cases, and the work around closed loops by both laws."""
    report = Report("Joint limits")
    costs = [case for ankle in ANKLES for case in cost(ankle, quick, say)]
    report.tables += [_cost_table(costs), _rest_table(costs)]
    report.tables.append(_evaluation_table(quick, say))
    loops = 1 if quick else 20
    say(f"work around {loops} closed loops by both laws")
    report.tables.append(_loop_table(loops))
    say("energy of runs by both laws")
    drifts = {law: _energies(law) for law in LAWS}
    report.tables.append(_energy_table(drifts))
    return Answer(report, {"energy_by_law": _figure(drifts)})


def cost(ankle: str, quick: bool, say: Say) -> list[Cost]:
    """Runs over five seconds of one ankle without limits and with them."""
    found = []
    for case, options in CASES:
        say(f"{ankle} foot, {case}")
        system = models.foot.build(ankle, **options)  # type: ignore[arg-type]
        settings: dict[str, Any] = dict(rtol=TOLERANCE, atol=TOLERANCE, progress=False)

        def whole(s: System = system, settings: dict[str, Any] = settings) -> Run:
            return runtime.simulate(s, DURATION, t_eval=[DURATION], **settings)

        run = succeeded(whole(), system.name)
        first = runtime.simulate(system, FIRST, t_eval=[FIRST], **settings)
        steps = runtime.simulate(system, DURATION, **settings)
        least = float(seconds({"run": whole}, 3 if quick else 15)["run"].min())
        drift = float(np.abs(steps.energy - steps.energy[0]).max())
        beyond = steps.t[_outside(steps)] if system.limits else steps.t[:0]
        met = float(beyond[0]) if len(beyond) else np.nan
        found.append(Cost(ankle, case, system, run, first, least, drift, met))
    return found


def _cost_table(costs: list[Cost]) -> Table:
    rows = [
        [c.ankle, c.case, c.run.stats.evaluations, c.run.stats.rejections, 1e3 * c.least, None if c.damped else c.drift]
        for c in costs
    ]
    note = (
        f"{DURATION:g} s at tolerance {TOLERANCE:g}, dop853, warm, least of several; drift: largest |E - E(0)| at the steps.  "
        "Steps that are repeated to end at a cone count as rejected."
    )
    return Table("cost", ["ankle", "case", "evaluations", "rejected", "time [ms]", "drift [J]"], rows, note)


def _rest_table(costs: list[Cost]) -> Table:
    rows = [[c.ankle, c.case, c.met, c.first.stats.evaluations, c.later, c.ratio] for c in costs if c.damped]
    note = (
        f"Evaluations of the first {FIRST:g} s and of the {DURATION - FIRST:g} s after it; the papers' integrator stalls once "
        "the foot is damped (Rodrigues da Silva et al., 2024a, section 6).  The later evaluations are settling: the foot rings "
        "at its limit with 90 rad/s and a decay rate of 20 to 30 per second, which the tolerance hides after a second; from then "
        "on these rates bound the stable steps, 15 a second."
    )
    return Table("rest", ["ankle", "case", "limit met [s]", "first", "later", "ratio"], rows, note)


def _evaluation_table(quick: bool, say: Say) -> Table:
    """One evaluation without limits, inside the cones and outside one of them."""
    rows = []
    for ankle in ANKLES:
        say(f"{ankle} foot, one evaluation")
        free, elastic = models.foot.build(ankle), models.foot.build(ankle, limits="elastic")  # type: ignore[arg-type]
        dissipative = models.foot.build(ankle, limits="dissipative")  # type: ignore[arg-type]
        run = runtime.simulate(elastic, 0.4, t_eval=np.linspace(0.0, 0.4, 2001), progress=False)
        deepest = int(run.limits["talocrural"].excess.argmax())
        systems = {
            "without limits": free,
            "inside the cones, elastic": elastic,
            "inside the cones, dissipative": dissipative,
            "outside a cone, elastic": elastic,
        }
        states = {"outside a cone, elastic": run.states[deepest]}
        times = evaluation_times(systems, 5 if quick else 25, states=states)
        rows += [[ankle, case, 1e6 * least] for case, least in times.items()]
    return Table("evaluation", ["ankle", "state", "time [us]"], rows, "Least of several, in turns.")


def loop_work(limit: Limit, seed: int) -> tuple[float, float]:
    """Work of the restricting moment around a smooth closed loop outside the cone, and along it without signs [J]."""
    random = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(POINTS) + 0.5) / POINTS
    longitude = random.uniform(0, 2 * np.pi) + sum(
        random.normal(0, 0.15 / n) * np.sin(n * angle + random.uniform(0, 2 * np.pi)) for n in (1, 2, 3)
    )
    beyond = 0.5 + 0.3 * np.sin(angle + random.uniform(0, 2 * np.pi))
    latitude = limit.cone.maximum_latitude(longitude) + limit.compliance * beyond
    u = np.stack([np.cos(longitude) * np.sin(latitude), np.sin(longitude) * np.sin(latitude), np.cos(latitude)], axis=1)
    moment = runtime.system.restricting_moment(limit, u).moment
    power = np.einsum("na,na->n", moment, np.cross(u, _derivative(u)))
    return float(power.sum() / POINTS), float(np.abs(power).sum() / POINTS)


def loop_shares(limit: Limit, loops: int) -> Floats:
    """Work around random closed loops as shares of the work along them, (loops,)."""
    works = np.array([loop_work(limit, LOOP_SEED + k) for k in range(loops)])
    shares: Floats = np.abs(works[:, 0]) / works[:, 1]
    return shares


def _derivative(u: Floats) -> Floats:
    """Derivative by the fraction of a closed loop, exact for smooth loops."""
    n = len(u)
    factors = 2j * np.pi * np.fft.rfftfreq(n, 1.0 / n)
    values: Floats = np.fft.irfft(factors[:, None] * np.fft.rfft(u, axis=0), n, axis=0)
    return values


def ball(cone: Cone, law: str) -> System:
    """The pendulum of Rodrigues da Silva et al. (2024b), section 4, with one cone, released inside the cone."""
    latitude = float(cone.maximum_latitude(np.deg2rad(135.0)))
    return models.pendulum.build(limits="elastic", cone=cone, law=law, angle=min(np.pi / 2, 0.95 * latitude))  # type: ignore[arg-type]


def _loop_table(loops: int) -> Table:
    rows = []
    for name, cone in CONES.items():
        for law in LAWS:
            limit = ball(cone, law).limits[0]
            shares = loop_shares(limit, loops)
            rows.append([name, law, float(np.median(shares)), float(shares.max())])
    note = (
        f"{loops} random smooth loops, up to 0.8 of the compliance outside the cone; work around the loop as a share of the "
        "work along it without signs.  Figure and section: Rodrigues da Silva et al. (2024b)."
    )
    return Table("closed loops", ["cone", "law", "median share", "largest share"], rows, note)


def _energies(law: str) -> dict[str, Run]:
    times = np.linspace(0.0, DURATION, 2001)
    systems = {
        "pendulum, spline": ball(CONES["spline, section 4"], law),
        "pendulum, elliptical": ball(CONES["elliptical, Fig. 5"], law),
        "classical foot, one cone": models.foot.build("classical", limits="elastic", preset="published", law=law),  # type: ignore[arg-type]
    }
    return {
        name: succeeded(
            runtime.simulate(s, DURATION, t_eval=times, rtol=TOLERANCE, atol=TOLERANCE, progress=False), name
        )
        for name, s in systems.items()
    }


def _outside(run: Run) -> np.ndarray:
    """Whether any limit is exceeded."""
    return np.any([motion.excess > 0.0 for motion in run.limits.values()], axis=0)


def _energy_table(drifts: dict[str, dict[str, Run]]) -> Table:
    rows = []
    for law, runs in drifts.items():
        for name, run in runs.items():
            inside = ~_outside(run)
            energy = (run.kinetic_energy + run.potential_energy)[inside]
            rows.append([name, law, float(np.ptp(energy)), float(np.ptp(run.energy)) if law == LAWS[0] else None])
    note = (
        f"{DURATION:g} s at {TOLERANCE:g}.  Whenever the axis is inside the cone, the sum of kinetic and potential energy must "
        "have the same value.  With the elastic energy, which only the law with a potential has, the sum is the same at every "
        "time."
    )
    return Table("energy", ["motion", "law", "range inside cones [J]", "range of all [J]"], rows, note)


def _figure(drifts: dict[str, dict[str, Run]]) -> Any:
    names = list(drifts[LAWS[0]])
    fig, axes = panels.figure(1, len(names), width=4.4, height=3.0)
    for ax, name in zip(axes[0], names, strict=True):
        for number, law in enumerate(LAWS):
            run = drifts[law][name]
            energy = run.kinetic_energy + run.potential_energy - run.energy[0]
            ax.plot(
                run.t, np.where(_outside(run), np.nan, energy), color=lines.COLOURS[number], linewidth=1.2, label=law
            )
        ax.set(title=name, xlabel="time [s]", ylabel="energy inside the cone − start [J]")
    axes[0, 0].legend(frameon=False)
    return fig
