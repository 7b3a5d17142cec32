"""A walk with a known answer, and feet with a talus as a body, on which the claims about inverse dynamics are checked.

The subject of Rodrigues da Silva et al. (n.d.) is not published.  In its place stand one walker, whose motion drives the model of
the paper while the mean ground force of 14 adults loads it (``models.walking.synthetic``), and the mean curves of these adults
(``models.walking.norms``), which come from measured trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from models import foot
from models.studies import measures
from models.studies.ankle.runs import BODY
from models.studies.claims.costs import Counts, counted
from models.walking import Filters, analyse, leg_foot, norms, synthetic
from models.walking.gait_result import Gait
from runtime import GROUND, Builder, ModelError, Run, System, inverse_dynamics, simulate
from runtime.analysis import Motion
from runtime.support.arrays import Floats

PERCENT = np.linspace(0.0, 100.0, 401)  # of the gait cycle
TALUS_MASSES = (1e-1, 1e-3, 1e-5)  # [kg] of a talus that is a body
TALUS_RADIUS = 0.02  # [m] of the ball whose inertia it has
TALUS_SECONDS = 1.0
HINGES = ("talocrural", "talocalcaneal")
COST_METHODS = ("BDF", "LSODA", "dop853")


@dataclass(frozen=True)
class TalusCosts:
    """Evaluations of a free fall with the link and with a talus of ``TALUS_MASSES[1]``."""

    link: Counts
    body: Counts
    failures: tuple[str, ...]


@cache
def talus_costs() -> TalusCosts:
    """Evaluations with and without a talus; counted once in a process."""
    failures: list[str] = []
    systems = foot.build(), with_talus(TALUS_MASSES[1])
    link, body = (counted(system, TALUS_SECONDS, COST_METHODS, failures) for system in systems)
    return TalusCosts(link, body, tuple(failures))


@dataclass(frozen=True)
class Ends:
    """Ends of the massless link (n, 3) [m] and axes of both hinges (n, 3) over the walk."""

    on_foot: Floats
    on_leg: Floats
    talocalcaneal: Floats
    talocrural: Floats

    @property
    def distance(self) -> Floats:
        """Distance of the two axes, (n,) [m]."""
        normal = np.cross(self.talocalcaneal, self.talocrural)
        d = self.on_leg - self.on_foot
        return np.asarray(np.abs(np.einsum("na,na->n", d, normal)) / np.linalg.norm(normal, axis=1))

    @property
    def angle(self) -> Floats:
        """Angle between the two axes, (n,) [rad]."""
        return np.asarray(np.arccos(np.einsum("na,na->n", self.talocalcaneal, self.talocrural)))

    @property
    def length(self) -> Floats:
        """Length of the link, (n,) [m]."""
        return np.asarray(np.linalg.norm(self.on_leg - self.on_foot, axis=1))


@dataclass(frozen=True)
class WalkRuns:
    """Runs on which the claims are checked.

    ``curves``: of the walker by joint and quantity ("angle" [deg], "moment" [N m/kg], "power" [W/kg]) over ``PERCENT``;
    ``adults``: mean and standard deviation of the same curves of 14 adults, without the talocalcaneal power.
    """

    curves: Mapping[tuple[str, str], Floats]
    adults: Mapping[tuple[str, str], tuple[Floats, Floats]]
    toe_off: float  # percent
    motion: Motion
    ends: Ends
    ground_moment: Floats  # (n,) [N m/kg] of the ground's force about the talocalcaneal axis, inversion positive
    lateral: Floats  # (n,) [N m/kg] the same with the centre of pressure moved laterally by 10 mm
    recovered: Gait  # the synthetic trial, analysed
    taluses: Mapping[float, Run]  # by mass
    massless: Mapping[str, Run]  # by ankle
    undriven: System
    driven: System  # by three Euler parameters of the leg
    fourth: str  # refusal of the fourth; empty if it is accepted
    costs: TalusCosts

    def failures(self) -> list[str]:
        """Messages of the runs that failed."""
        runs = {f"talus of {mass:g} kg": run for mass, run in self.taluses.items()}
        runs |= {f"{name} ankle": run for name, run in self.massless.items()}
        return [f"foot, {label}: {run.message}" for label, run in runs.items() if not run.success] + list(
            self.costs.failures
        )


def walk_runs(tolerance: float) -> WalkRuns:
    """Analyse the walk, and simulate the feet with ``tolerance``."""
    t = synthetic.STRIKE + synthetic.CYCLE * PERCENT / 100.0
    exact, mass = synthetic.exact(t), synthetic.MASS
    curves = {
        (joint, what): np.rad2deg(values) if what == "angle" else values / mass
        for (joint, what), values in exact.items()
    }
    motion = inverse_dynamics(synthetic.build(), t)
    ends = _ends(motion)
    unfiltered = Filters(markers=None, cop=None, forces=None)
    at: dict[str, Any] = dict(
        t_eval=measures.times(TALUS_SECONDS),
        rtol=tolerance,
        atol=tolerance,
        coordinates=measures.EQUATIONS,
        method="dop853",
    )
    return WalkRuns(
        curves=curves,
        adults=_adults(),
        toe_off=100.0 * synthetic.STANCE,
        motion=motion,
        ends=ends,
        ground_moment=_ground_moment(ends, t, 0.0),
        lateral=_ground_moment(ends, t, -0.01),
        recovered=analyse(synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS, filters=unfiltered),
        taluses={mass: simulate(with_talus(mass), TALUS_SECONDS, **at) for mass in TALUS_MASSES},
        massless={ankle: simulate(foot.build(ankle), TALUS_SECONDS, **at) for ankle in ("classical", "modified")},  # type: ignore[arg-type]
        undriven=leg_foot.skeleton(synthetic.subject(), "leg and foot").build(),
        driven=driven_by_parameters(3),
        fourth=_refusal(),
        costs=talus_costs(),
    )


def _adults() -> dict[tuple[str, str], tuple[Floats, Floats]]:
    """Mean and standard deviation of 14 adults over ``PERCENT``, with the signs and units of ``curves``."""
    names = {
        ("talocrural", "angle"): ("dorsiflexion", 180.0 / np.pi),
        ("talocalcaneal", "angle"): ("inversion", 180.0 / np.pi),
        ("talocrural", "moment"): ("plantarflexor_moment", -1.0),
        ("talocalcaneal", "moment"): ("inversion_moment", 1.0),
        ("talocrural", "power"): ("ankle_power", 1.0),
    }
    found = {}
    for key, (name, factor) in names.items():
        percent, mean, sd = norms.band(name)
        found[key] = factor * np.interp(PERCENT, percent, mean), abs(factor) * np.interp(PERCENT, percent, sd)
    return found


def _ends(motion: Motion) -> Ends:
    """Ends of the link and axes over the motion of the synthetic subject."""
    person = synthetic.subject()
    calcaneal, crural = person.talocalcaneal, person.talocrural
    on_foot, on_leg = motion.rotations("main_foot"), motion.rotations("leg")
    return Ends(
        motion.r["main_foot"] + on_foot @ calcaneal.points["main_foot"],
        motion.r["leg"] + on_leg @ crural.points["leg"],
        on_foot @ calcaneal.axes["main_foot"],
        on_leg @ crural.axes["leg"],
    )


def _ground_moment(ends: Ends, t: Floats, medial: float) -> Floats:
    """Moment of the ground about the talocalcaneal axis, (n,) [N m/kg], its point of action moved by ``medial`` [m]."""
    (load,) = synthetic.ground()
    force, point = (np.column_stack([signal(t) for signal in signals]) for signals in (load.force, load.point))
    moment = np.cross(point + (0.0, medial, 0.0) - ends.on_foot, force)
    moment[:, 2] += load.free_moment(t)
    return np.asarray(np.einsum("na,na->n", moment, ends.talocalcaneal) / synthetic.MASS)


def driven_by_parameters(count: int) -> System:
    """The leg and foot guided as the paper says: centre of mass and Euler parameters of the leg, and three joint angles.

    ``count`` : Euler parameters that are guided, the first ones.
    """
    person, signals = synthetic.subject(), synthetic.coordinates()
    b = leg_foot.skeleton(person, "leg guided by Euler parameters")
    x, y, z = signals.leg
    b.driver("leg", "guided_point", "leg", s_i=(0, 0, 0), x_t=x, y_t=y, z_t=z)
    for k, signal in enumerate(signals.turn[:count]):
        chosen = {f"w{n}": float(n == k) for n in range(4)}
        b.driver(f"e{k}", "euler_parameter", "leg", e_t=signal, **chosen)
    for joint, angle in leg_foot.driven_angles(person).items():
        b.driver(angle.driver, angle.kind, *angle.bodies, **angle.inputs(signals.angle(joint)))
    return b.build(time=synthetic.STRIKE)


def _refusal() -> str:
    """Message on a leg that is guided by all four Euler parameters."""
    try:
        driven_by_parameters(4)
    except ModelError as error:
        return str(error)
    return ""


def with_talus(mass: float) -> System:
    """The modified foot with a body of this mass [kg], on two hinges, in place of the massless link."""
    main_foot, leg = (np.array(foot.BODIES[body]["r"]) for body in (BODY, "leg"))
    upper = leg + foot.TALOCRURAL["leg"]
    lower = upper - (0.0, 0.0, foot.LINK_LENGTH)
    centre = (upper + lower) / 2.0
    b = Builder("foot with a talus")
    for name, data in foot.BODIES.items():
        b.body(name, **data)
    b.body("talus", r=centre, mass=mass, inertia=(0.4 * mass * TALUS_RADIUS**2,) * 3)
    toes, ball = foot.METATARSOPHALANGEAL["toes"], foot.METATARSOPHALANGEAL[BODY]
    b.joint("metatarsophalangeal", "revolute", "toes", BODY, s_i=toes, a_i=(0, 1, 0), s_j=ball, a_j=(0, 1, 0))
    b.joint("metatarsophalangeal_lock", "constant_angle", "toes", BODY, a_i=(1, 0, 0), a_j=(0, 0, 1))
    for hinge, body_i, body_j, s_i, s_j, axis in (
        (HINGES[1], BODY, "talus", lower - main_foot, lower - centre, foot.talocalcaneal_axis()),
        (HINGES[0], "talus", "leg", upper - centre, foot.TALOCRURAL["leg"], foot.talocrural_axis()),
    ):
        b.joint(hinge, "revolute", body_i, body_j, s_i=s_i, a_i=axis, s_j=s_j, a_j=axis)
    b.joint("ground", "fixed", GROUND, "leg")
    return b.build()
