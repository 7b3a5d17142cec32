"""Systems with seventeen cases each, sixteen and a remainder, whose motions are known by another route than any engine.

The routes are elliptic functions, formulas, quadratures, and SciPy on equations in reduced coordinates that know no bodies,
joints and multipliers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.special import ellipj

import codegen
import models
import runtime
from benchmarks.ensemble_systems import builder_of, driven_four_bar
from runtime import Signal
from runtime.system.quantity import parse
from tests.support import maxwell as of_maxwell
from tests.support.closed_forms import DENSITY, MOMENTS, FourBar, g, reduced_double_pendulum, top
from tests.support.contact_laws import BOUNCES, HEIGHT, MASS, RADIUS, reference
from tests.support.contact_laws import ball as falling_ball
from tests.support.planar_friction import arm_on_a_journal
from tests.support.planar_friction import pendulum as pendulum_on_a_journal
from tests.support.reduced_foot import LEG, LINK_LENGTH, MOVING, ReducedFoot
from tests.support.reduced_limits import ANATOMICAL, ANKLE_DAMPING, HingeLimits, LimitedFoot, Stop, Viscous, integrate

COUNT = 17  # cases
SHARE = np.linspace(0.0, 1.0, COUNT)
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Problem:
    """``exact(case)``: name of an output -> its values at the times t, (n,) or (n, 3).

    ``cases``: name -> values (COUNT, ...), as for ``simulate_many``; ``checked``: cases that are compared; ``sizes``: name of an
    output -> what its errors are relative to, where that is more than its largest value: a stiffness for a force, times 1 m.
    ``system`` may be a function, whose arguments are the names without a dot; ``joint``: what joint coordinates are called where
    forces by reactions leave some equations to absolute ones; ``assemble``: whether cases move points of joints.
    """

    system: runtime.System | Callable[..., runtime.System]
    cases: Mapping[str, np.ndarray]
    t: np.ndarray
    exact: Callable[[int], dict[str, np.ndarray]]
    checked: tuple[int, ...] = (0, 7, 15, 16)
    sizes: Mapping[str, float] = field(default_factory=dict)
    joint: str = "joint"
    assemble: bool = False


INITIAL = ("r", "p", "v", "omega")


def started(problem, case):
    """The system of a case and its state at the start."""
    values = {name: own[case] for name, own in problem.cases.items()}
    system, given = problem.system, {}
    if not isinstance(system, runtime.System):
        given = {name: value for name, value in values.items() if "." not in name}
        system = system(**given)
    parts = {name: parse(name) for name in values if name.split(".")[0] in INITIAL}
    rates = {name.removeprefix("rate."): value for name, value in values.items() if name.startswith("rate.")}
    own = {
        name: value for name, value in values.items() if name not in (*given, *parts) and not name.startswith("rate.")
    }
    system = runtime.with_parameters(system, own) if own else system
    state = runtime.system.displaced(system, rates=rates) if rates else system.state
    for name, quantity in parts.items():
        state = state.replace(**{quantity.part: {quantity.owner: values[name]}})
    return system, state


PROBLEMS: dict[str, Callable[[], Problem]] = {}


def problem(build):
    """Add a problem, which is built when it is wanted."""
    PROBLEMS[build.__name__] = cache(build)
    return build


@problem
def free_body():
    """Euler's top on both sides of the separatrix, which flies."""
    motions = [top(ratio) for ratio in np.append(np.linspace(1.05, 1.15, 9), np.linspace(0.55, 0.95, 8))]
    t, phase, v = np.linspace(0.0, 4.0, 21), 0.4, np.array([0.3, -0.2, 0.1])
    cases = {"omega.body": np.array([motion.omega(phase) for motion in motions])}

    def exact(case):
        motion = motions[case]
        in_body, A = motion.omega(motion.rate * t + phase), motion.attitude(t, phase)
        energy = 0.5 * MOMENTS @ in_body[0] ** 2 + 0.5 * v @ v
        return {
            "omega.body": np.einsum("nab,nb->na", A, in_body), "r.body": t[:, None] * v, "energy": np.full(len(t), energy),
        }  # fmt: skip

    return Problem(models.free_body.build(inertia=MOMENTS, v=v), cases, t, exact)


def swing(t, speed, m, J, r, gravity=g):
    """A body that hangs at a hinge about y, by this distance of its centre and moment about the hinge, and is thrown."""
    rate = np.sqrt(m * gravity * r / J)
    k = abs(speed) / (2 * rate)
    if k < 1:
        sn, cn, _, _ = ellipj(rate * t, k**2)
        angle, turning = 2 * np.arcsin(k * sn), abs(speed) * cn
    else:
        _, _, dn, amplitude = ellipj(abs(speed) * t / 2, k**-2)
        angle, turning = 2 * amplitude, abs(speed) * dn
    # Counted about y, where the coordinate does; x = -r sin(angle) then.
    angle, turning = np.sign(speed) * angle, np.sign(speed) * turning
    radial = np.stack([-np.sin(angle), 0 * t, -np.cos(angle)], axis=1)
    across = np.stack([-np.cos(angle), 0 * t, np.sin(angle)], axis=1)
    a = r * ((-(rate**2) * np.sin(angle))[:, None] * across - (turning**2)[:, None] * radial)
    return {
        "r.rod": r * radial, "omega.rod": turning[:, None] * Y, "angle.pivot.angle": angle,
        "energy": 0.5 * J * turning**2 - m * gravity * r * np.cos(angle), "reaction_force.pivot": m * (a + gravity * Z),
    }  # fmt: skip


@problem
def pendulum():
    """A hinge: swings, a rod at rest and rods that turn over, whose angle has no half turns."""
    m, length = 3.5, 0.3
    J = m * (length**2 + 3 * (length / 30) ** 2) / 12 + m * length**2 / 4
    speeds, t = np.sqrt(m * g * length / 2 / J) * np.linspace(-2.45, 2.45, COUNT), np.linspace(0.0, 2.0, 41)
    cases = {"rate.pivot.angle": speeds}
    return Problem(models.pendulum.build(angle=0.0), cases, t, lambda case: swing(t, speeds[case], m, J, length / 2))


@problem
def pendulums():
    """Rods of other masses and moments on hinges at other points, under other gravity."""
    m, J, r, down = 2.0 + 2.0 * SHARE, 0.02 + 0.03 * SHARE, 0.1 + 0.1 * SHARE, 4.0 + 8.0 * SHARE
    speeds, t = np.linspace(-8.0, 9.0, COUNT), np.linspace(0.0, 1.0, 11)
    cases = gravities(down) | {
        "mass.rod": m, "inertia.rod": J[:, None] * [1.0, 1.0, 0.1], "s_j.pivot": r[:, None] * Z, "rate.pivot.angle": speeds,
    }  # fmt: skip

    def exact(case):
        return swing(t, speeds[case], m[case], J[case] + m[case] * r[case] ** 2, r[case], down[case])

    return Problem(models.pendulum.build(angle=0.0), cases, t, exact, assemble=True)


LIMITS = "talocrural", "talocalcaneal"


def thrown(reduced, t, rates):
    """The foot in two angles, and outputs of its motion."""
    angles = reduced.solve(t, rates)
    bodies = reduced.bodies(angles)
    found = {f"{part}.{body}": getattr(bodies[body], part) for body in MOVING for part in ("r", "v", "omega")}
    return angles, bodies, found | {"energy": reduced.energy(angles) + LEG["mass"] * g * LEG["r"][2]}


def foot_of(reduced, system, rates, t, checked):
    """The foot, thrown at these rates (COUNT, 2)."""
    starts = [reduced.bodies(np.array([[0.0, 0.0, *own]])) for own in rates]
    cases = {
        f"{part}.{body}": np.array([getattr(start[body], part)[0] for start in starts])
        for part in ("v", "omega")
        for body in MOVING
    }

    def exact(case):
        angles, bodies, found = thrown(reduced, t, rates[case])
        if not isinstance(reduced, LimitedFoot):  # whose limits act by the talus, with forces of their own
            return found | {"reaction_force.ankle": -sum(body.force for body in bodies.values())}
        limits, speeds = reduced.limits, reduced.limits.angles(angles[:, 2], angles[:, 3])
        excess = np.maximum([limits.excesses(*own) for own in angles[:, :2]], 0.0)
        moments = np.abs([limits.restricting(*own) for own in angles[:, :2]])
        assert excess.max() > 0.01
        for n, name in enumerate(LIMITS):
            found |= {f"limit_excess.{name}": excess[:, n], f"limit_restricting_moment.{name}": moments[:, n]}
            damped = limits.viscous.hinges[n] * np.abs(speeds[n])
            found |= {f"limit_dissipative_moment.{name}": damped, f"limit_rate.{name}": speeds[n]}
        return found

    stiffness = dict.fromkeys((f"limit_restricting_moment.{name}" for name in LIMITS), 1.5 * 226.0 / np.radians(11.5))
    return Problem(system, cases, t, exact, checked, stiffness)


@problem
def foot():
    """The free modified foot."""
    rates = np.stack([3.0 - 6.0 * SHARE, -4.0 + 9.0 * SHARE], axis=1)
    return foot_of(ReducedFoot(LINK_LENGTH), models.foot.build(), rates, np.linspace(0.0, 0.6, 13), (0, 16))


@problem
def feet_of_a_function():
    """Feet with links of other lengths, and rates by the names of their coordinates."""
    links, t = 0.03 + 0.03 * SHARE, np.linspace(0.0, 0.5, 6)
    rates = np.stack([2.0 - 4.0 * SHARE, -3.0 + 7.0 * SHARE], axis=1)
    cases = {"link_length": links, "rate.ankle.theta_j": -rates[:, 0], "rate.ankle.theta_i": -rates[:, 1]}
    return Problem(
        models.foot.build, cases, t, lambda case: thrown(ReducedFoot(links[case]), t, rates[case])[2], (0, 16)
    )


@problem
def foot_with_elastic_limits():
    rates, t = np.stack([6.0 - 12.0 * SHARE, -9.0 + 18.0 * SHARE], axis=1), np.linspace(0.0, 0.4, 21)
    reduced = LimitedFoot(LINK_LENGTH, HingeLimits(**ANATOMICAL))
    return foot_of(reduced, models.foot.build(limits="elastic"), rates, t, (1, 16))


@problem
def foot_with_dissipative_limits():
    rates, t = np.stack([50.0 - 80.0 * SHARE, 60.0 - 110.0 * SHARE], axis=1), np.linspace(0.0, 0.2, 21)
    reduced = LimitedFoot(LINK_LENGTH, HingeLimits(**ANATOMICAL, viscous=Viscous(hinges=(ANKLE_DAMPING,) * 2)))
    return foot_of(reduced, models.foot.build(limits="dissipative"), rates, t, (1, 16))


@problem
def double_pendulum():
    """Two rods of other masses and moments on ball joints."""
    lengths, masses, t = (0.5, 0.4), np.stack([1.0 + SHARE, 0.8 - 0.3 * SHARE], axis=1), np.linspace(0.0, 0.5, 11)
    omega = np.stack([0.3 + SHARE, -0.5 - SHARE, 2.0 - 4.0 * SHARE], axis=1)
    system = models.double_pendulum.build(lengths=lengths, masses=masses[0])
    places = {name: system.state.r[name] for name in ("upper", "lower")}
    cases = {f"omega.{name}": omega for name in places}
    cases |= {f"v.{name}": np.cross(omega, place) for name, place in places.items()}
    for name, own in zip(places, masses.T, strict=True):
        cases |= {f"mass.{name}": own, f"inertia.{name}": (own / own[0])[:, None, None] * system.body(name).inertia}

    def exact(case):
        r, w = reduced_double_pendulum(t, lengths, masses[case], omega[case])
        return {f"r.{name}": r[name] for name in places} | {f"omega.{name}": w[name] for name in places}

    return Problem(system, cases, t, exact, (0, 16))


@problem
def spring_damper():
    """A bob that falls from the free length of a spring with a damper."""
    m, t, values = 2.0, np.linspace(0.0, 2.0, 21), dict(stiffness=20.0 + 60.0 * SHARE, damping=3.0 * SHARE)
    b = runtime.Builder("bob")
    b.body("bob", mass=m, inertia=(0.1, 0.1, 0.1), r=-Z, free=True)
    law = dict(stiffness=50.0, damping=1.0, free_length=1.0)
    b.force("f", "spring_damper", "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), **law)

    def exact(case):
        k, c = values["stiffness"][case], values["damping"][case]
        decay = c / (2 * m)
        w = np.sqrt(k / m - decay**2)
        fading, wave = np.exp(-decay * t), np.cos(w * t) + decay / w * np.sin(w * t)
        x, v = g * m / k * (1.0 - fading * wave), g / w * fading * np.sin(w * t)
        return {
            "r.bob": -(1.0 + x)[:, None] * Z, "v.bob": -v[:, None] * Z, "force_tension.f": k * x + c * v,
            "energy": 0.5 * m * v**2 + 0.5 * k * x**2 - m * g * (1.0 + x), "force_power.f": -(k * x + c * v) * v,
        }  # fmt: skip

    return Problem(b.build(), {f"{name}.f": own for name, own in values.items()}, t, exact)


@problem
def maxwell():
    """A block on a spring and a damper in series, whose flow is a state of the force."""
    t, values = np.linspace(0.0, 2.0, 21), dict(viscosity=10.0 + 80.0 * SHARE, flow_0=0.3 * SHARE - 0.1)
    k = of_maxwell.VALUES["stiffness"]

    def exact(case):
        own = {name: values_of_cases[case] for name, values_of_cases in values.items()}
        x, v, flow = of_maxwell.closed_form(t, **own).T
        tension = k * (x - 1.0 - flow)
        return {
            "r.block": x[:, None] * X, "v.block": v[:, None] * X, "force_flow.f": flow, "force_tension.f": tension,
            "energy": of_maxwell.MASS / 2 * v**2 + tension**2 / (2 * k), "force_power.f": -tension * v,
        }  # fmt: skip

    cases = {f"{name}.f": own for name, own in values.items()}
    return Problem(of_maxwell.slider(), cases, t, exact, sizes={"force_tension.f": k, "force_power.f": k})


@problem
def bounce():
    """A ball on a linear spring with a damper, until the force has fallen to 0, without gravity."""
    p, speeds, t = BOUNCES["kelvin_voigt"], 0.512 + 0.7 * SHARE, np.linspace(0.0, 0.15, 151)
    a = p["damping"] / (2 * MASS)
    w = np.sqrt(p["stiffness"] / MASS - a**2)
    lasts = (np.pi - np.arctan2(2 * a * w, w**2 - a**2)) / w

    def exact(case):
        v0 = speeds[case]
        since = t - HEIGHT / v0
        s = np.clip(since, 0.0, lasts)
        delta = v0 / w * np.exp(-a * s) * np.sin(w * s)
        rate = v0 * np.exp(-a * s) * (np.cos(w * s) - a / w * np.sin(w * s))
        depth = delta + rate * (since - s)
        force = np.where(s == since, p["stiffness"] * delta + p["damping"] * rate, 0.0) * (s > 0.0)
        return {
            "r.ball": (RADIUS - depth)[:, None] * Z, "v.ball": -rate[:, None] * Z, "contact_normal_force.touch": force,
        }  # fmt: skip

    cases = {"v.ball": -speeds[:, None] * Z}
    sizes = {"contact_normal_force.touch": p["stiffness"]}
    return Problem(falling_ball("kelvin_voigt", gravity=0.0), cases, t, exact, sizes=sizes)


@problem
def bead_on_a_rod():
    """A slide along a rod that swings about a hinge at its end, without a kernel; both centres are off their joints."""
    J, off, M, m, t = 0.2, 0.1, 1.0, 0.5, np.linspace(0.0, 1.0, 11)
    spins = np.linspace(-3.0, 3.0, COUNT)
    b = runtime.Builder("rod with a bead")
    b.body("rod", mass=M, inertia=(0.1, J - 0.01, 0.1), r=off * X)
    b.body("bead", mass=m, inertia=(0.01, 0.01, 0.01), r=0.3 * X)
    b.joint("hinge", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=Y, s_j=-off * X, a_j=Y)
    b.joint("slide", "translational", "rod", "bead", s_i=(0, 0, 0), a_i=X, s_j=-0.05 * X, a_j=X)

    def inertia(place):
        return J + M * off**2 + m * place**2

    def rhs(_, y):
        place, speed, angle, turning = y
        moment = g * np.cos(angle) * (m * place + M * off) - 2.0 * m * place * speed * turning
        return [speed, place * turning**2 + g * np.sin(angle), turning, moment / inertia(place)]

    def exact(case):
        start = [0.3, 0.1, 0.0, spins[case]]
        place, speed, angle, turning = solve_ivp(rhs, (0.0, t[-1]), start, "DOP853", t, rtol=1e-13, atol=1e-13).y
        along = np.stack([np.cos(angle), 0.0 * t, -np.sin(angle)], axis=1)
        kinetic = 0.5 * m * speed**2 + 0.5 * turning**2 * inertia(place)
        return {
            "r.bead": place[:, None] * along, "omega.bead": turning[:, None] * Y, "angle.hinge.angle": angle,
            "energy": kinetic - g * np.sin(angle) * (m * place + M * off),
        }  # fmt: skip

    cases = {"rate.hinge.angle": spins, "rate.slide.distance": np.full(COUNT, 0.1)}
    return Problem(b.build(), cases, t, exact, (0, 16))


def wheel(J=0.5):
    """A builder of a wheel on a hinge about y through its centre, without gravity."""
    b = runtime.Builder("wheel", gravity=(0, 0, 0))
    b.body("wheel", mass=1.0, inertia=(0.3, J, 0.3))
    b.joint("hinge", "revolute", "ground", "wheel", s_i=(0, 0, 0), a_i=Y, s_j=(0, 0, 0), a_j=Y)
    return b


@problem
def wheel_beyond_a_limit():
    """The moment is the largest one beyond the end of the law; the edges of the two sides differ."""
    J, rates, t, edges = 0.5, np.linspace(-0.7, 0.7, COUNT), np.linspace(0.0, 2.0, 21), np.radians([10.0, 6.0])
    moments, b = 0.4 + 0.2 * SHARE, wheel(J)
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (10, 30, 6, 30, 10))
    b.limit("stop", "hinge", reference="ground", xi=X, eta=Y, cone=cone, max_moment=0.4, compliance=0.1, damping=0.0)

    def exact(case):
        stop = Stop(moments[case], 0.1)

        def rhs(_, y):
            return [y[1], (stop.moment(-y[0] - edges[1]) - stop.moment(y[0] - edges[0])) / J]

        def kinks(y):
            return *stop.kinks(y[0] - edges[0]), *stop.kinks(-y[0] - edges[1])

        angle, rate = integrate(rhs, [0.0, rates[case]], t, kinks, 1e-13).T
        excess = np.maximum(np.maximum(angle - edges[0], -angle - edges[1]), 0.0)
        assert excess.max() > stop.compliance
        energy = 0.5 * J * rate**2 + [stop.potential(own) for own in excess]
        return {"angle.hinge.angle": angle, "rate.hinge.angle": rate, "limit_excess.stop": excess, "energy": energy}

    return Problem(b.build(), {"rate.hinge.angle": rates, "max_moment.stop": moments}, t, exact, (0, 2, 16))


@problem
def rod_between_a_stop_and_a_plane():
    """A rod that falls about a hinge against a spring, a stop on both sides, and a plane: contacts beside limits and forces."""
    m, r, radius, low, t = 0.4, 0.3, 0.05, np.sin(0.3), np.linspace(0.0, 0.6, 25)
    J, c, free, edges = 0.04 + m * r**2, 0.02, 0.1, np.radians([25.0, 10.0])
    rates, K, k, moments = np.linspace(-4.0, 4.0, COUNT), 2e3 + 2e3 * SHARE, 1.0 + SHARE, 20.0 - 8.0 * SHARE
    b = runtime.Builder("rod")
    b.body("rod", mass=m, inertia=(0.03, 0.04, 0.03), r=r * X)
    b.joint("hinge", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=Y, s_j=-r * X, a_j=Y)
    b.contact(
        "touch", "rod", centre=(0, 0, 0), radius=radius, point=-(radius + r * low) * Z, law="hertz", stiffness=1e4
    )
    b.force("spring", "torsional_spring", "ground", "rod", a_i=Y, stiffness=1.0, damping=c, free_angle=free)
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (25, 30, 10, 30, 25))
    b.limit("stop", "hinge", reference="ground", xi=X, eta=Y, cone=cone, max_moment=20.0, compliance=0.2, damping=0.0)

    def push(case, angle):
        return K[case] * np.maximum(r * (np.sin(angle) - low), 0.0) ** 1.5

    def exact(case):
        stop = Stop(moments[case], 0.2)

        def rhs(_, y):
            moment = (m * g - push(case, y[0])) * r * np.cos(y[0]) - k[case] * (y[0] - free) - c * y[1]
            return [y[1], (moment + stop.moment(-y[0] - edges[1]) - stop.moment(y[0] - edges[0])) / J]

        def kinks(y):
            return np.sin(y[0]) - low, *stop.kinks(y[0] - edges[0]), *stop.kinks(-y[0] - edges[1])

        angle, rate = integrate(rhs, [0.0, rates[case]], t, kinks, 1e-12).T
        along, force = np.stack([np.cos(angle), 0.0 * t, -np.sin(angle)], axis=1), push(case, angle)
        excess = np.maximum(np.maximum(angle - edges[0], -angle - edges[1]), 0.0)
        assert force.max() > 1.0 and (excess.max() > 0.01 or rates[case] > -2.0)
        return {
            "r.rod": r * along, "omega.rod": rate[:, None] * Y, "angle.hinge.angle": angle, "limit_excess.stop": excess,
            "contact_normal_force.touch": force, "force_moment.spring": -k[case] * (angle - free) - c * rate,
        }  # fmt: skip

    cases = {"rate.hinge.angle": rates, "stiffness.touch": K, "stiffness.spring": k, "max_moment.stop": moments}
    return Problem(b.build(), cases, t, exact, (0, 7, 16), {"contact_normal_force.touch": 4e3})


@problem
def journal():
    """A pendulum whose bearing rubs in proportion to its load; the ground is body j."""
    t, friction = np.linspace(0.0, 2.0, 11), 0.1 + 0.3 * SHARE

    def exact(case):
        angle, rate = pendulum_on_a_journal(t, friction[case], 0.1, 0.5)
        along = np.stack([np.cos(angle), 0.0 * t, -np.sin(angle)], axis=1)
        return {"r.arm": 0.5 * along, "omega.arm": rate[:, None] * Y}

    system = arm_on_a_journal(0.3, 0.1, 0.5, turned=True)
    return Problem(system, {"coefficient.rub": friction}, t, exact, (0, 16), joint="auto")


@problem
def shaken_pendulum():
    """A bob whose pivot drivers move, and which they keep in its plane: angle'' = -m l ((g + z'') sin + x'' cos) / I."""
    length, J, t, masses = 0.4, 0.03, np.linspace(0.0, 1.0, 11), 1.0 + SHARE
    x = Signal.function(lambda t: 0.1 * np.sin(4 * t), 0.0, 2.0)
    z = Signal.function(lambda t: 0.05 * np.cos(6 * t), 0.0, 2.0)
    b = runtime.Builder("shaken", gravity=(0, 0, -g))
    b.body("bob", mass=1.0, inertia=(J, J, J), r=(0, 0, 0.05 - length), free=True)
    b.driver("pivot", "guided_point", "bob", s_i=(0, 0, length), x_t=x, y_t=0.0, z_t=z)
    for n in range(2):
        b.driver(f"plane_{n}", "euler_parameter", "bob", w0=0.0, w1=1.0 - n, w2=0.0, w3=float(n), e_t=0.0)
    system = b.build()
    start = -system.state.omega["bob"][1]

    def exact(case):
        m = masses[case]

        def rhs(time, y):
            push = m * length * ((g + z(time, 2)) * np.sin(y[0]) + x(time, 2) * np.cos(y[0]))
            return [y[1], -push / (J + m * length**2)]

        angle, rate = solve_ivp(rhs, (0.0, t[-1]), [0.0, start], "DOP853", t, rtol=1e-12, atol=1e-12).y
        place = np.column_stack([x(t) + length * np.sin(angle), 0 * t, z(t) - length * np.cos(angle)])
        return {"r.bob": place, "omega.bob": -rate[:, None] * Y}

    return Problem(system, {"mass.bob": masses}, t, exact, (0, 16))


@problem
def motor():
    """A motor with gains and an effort, and a force that turns with the wheel, at a point of it."""
    J, aim, effort, force, arm, t = 0.5, 0.2, 0.4, 1.5, 0.3, np.linspace(0.0, 3.0, 31)
    values = dict(stiffness=2.0 + 6.0 * SHARE, damping=0.1 + 0.4 * SHARE)
    b = wheel(J)
    axes = dict(a_i=X, h_i=-Y, b_j=X)
    b.motor("drive", "guided_angle", "ground", "wheel", **axes, theta_t=aim, stiffness=3.0, damping=0.2, effort=effort)
    b.load("push", "wheel", force=(0.0, 0.0, force), point=(arm, 0.0, 0.0), axes="body")

    def exact(case):
        k, c = values["stiffness"][case], values["damping"][case]
        a = c / (2 * J)
        w, end = np.sqrt(k / J - a**2), aim + (effort + force * arm) / k
        fading = np.exp(-a * t)
        angle = end * (1.0 - fading * (np.cos(w * t) + a / w * np.sin(w * t)))
        rate = end * k / J / w * fading * np.sin(w * t)
        energy = 0.5 * J * rate**2 + 0.5 * k * (angle - aim) ** 2
        return {"angle.hinge.angle": -angle, "omega.wheel": -rate[:, None] * Y, "energy": energy}

    return Problem(b.build(), {f"{name}.drive": own for name, own in values.items()}, t, exact)


TENSION = np.column_stack([[0.6, 0.9, 1.1, 1.4, 2.0], [-10.0, 0.0, 10.0, 60.0, 300.0]])


@problem
def tabulated_spring():
    """A bob on a spring whose tension is a natural cubic spline through given points, with a damper."""
    masses, damping, t = 1.0 + SHARE, 0.3, np.linspace(0.0, 1.0, 21)
    curve = CubicSpline(*TENSION.T, bc_type="natural")
    b = runtime.Builder("bob")
    b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), r=-Z, free=True)
    b.force(
        "f", "tabulated_spring", "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), tension_table=TENSION, damping=damping
    )

    def exact(case):
        m = masses[case]

        def rhs(_, y):
            return [y[1], g - (curve(y[0]) + damping * y[1]) / m]

        length, rate = solve_ivp(rhs, (0.0, t[-1]), [1.0, 0.0], "DOP853", t, rtol=1e-13, atol=1e-13, max_step=0.01).y
        stored = np.array([curve.integrate(TENSION[0, 0], x) for x in length])
        return {
            "r.bob": -length[:, None] * Z, "force_tension.f": curve(length) + damping * rate, "force_energy.f": stored,
        }  # fmt: skip

    return Problem(
        b.build(), {"mass.bob": masses}, t, exact, (0, 16), {"force_tension.f": 500.0, "force_energy.f": 100.0}
    )


@problem
def two_way_spring():
    """A wheel between springs of two stiffnesses, thrown from the kink between them: halves of two harmonic oscillations."""
    J, rates, t = 0.5, np.where(np.arange(COUNT) % 2, -1.0, 1.0) * (0.5 + SHARE), np.linspace(0.0, 3.0, 31)
    values = {"stiffness.f": 2.0 + 3.0 * SHARE, "reverse_stiffness.f": 8.0 - 3.0 * SHARE}
    b = wheel(J)
    along = dict(a_i=Y, b_i=X, c_j=X)
    b.force(
        "f",
        "two_way_spring",
        "ground",
        "wheel",
        **along,
        stiffness=2.0,
        reverse_stiffness=8.0,
        damping=0.0,
        free_angle=0.0,
    )

    def exact(case):
        k = np.array([values["stiffness.f"][case], values["reverse_stiffness.f"][case]])
        first = 0 if rates[case] > 0.0 else 1
        w = np.sqrt(k / J)
        halves = np.pi / w
        into = t % halves.sum()
        second = into >= halves[first]
        side = np.where(second, 1 - first, first)
        phase = w[side] * np.where(second, into - halves[first], into)
        sign = 1.0 - 2.0 * side
        angle, rate = sign * abs(rates[case]) / w[side] * np.sin(phase), sign * abs(rates[case]) * np.cos(phase)
        return {
            "angle.hinge.angle": angle, "omega.wheel": rate[:, None] * Y, "force_moment.f": -k[side] * angle,
            "energy": np.full(len(t), 0.5 * J * rates[case] ** 2),
        }  # fmt: skip

    return Problem(b.build(), {"omega.wheel": rates[:, None] * Y, **values}, t, exact)


def rebound(law):
    """A ball that a surface throws back by the force of a law."""
    p, speeds, t = BOUNCES[law], 0.7 + 0.5 * SHARE, np.array([0.02, 0.1, 0.15, 0.2])

    def exact(case):
        v = speeds[case]
        lasts, delta, rate = reference(law, p | {"impact": v}, v, 0.0)
        after = t - HEIGHT / v - lasts
        z = np.where(after < 0.0, RADIUS + HEIGHT - v * t, RADIUS - delta - rate * after)
        return {"r.ball": z[:, None] * Z, "v.ball": np.where(after < 0.0, -v, -rate)[:, None] * Z}

    return Problem(falling_ball(law, gravity=0.0), {"v.ball": -speeds[:, None] * Z}, t, exact)


PROBLEMS |= {f"rebound_{law}": cache(partial(rebound, law)) for law in BOUNCES}


def block(spring=0.0):
    """A block on a guide along x; the sphere at it is pressed into the ground by a constant depth."""
    b = runtime.Builder("block", gravity=(0, 0, 0))
    b.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0.5, 0, 0))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=X, s_j=(0, 0, 0), a_j=X)
    b.contact(
        "touch", "block", centre=(0, 0, 0), radius=0.05, point=(0, 0, -0.049), normal=Z, law="kelvin_voigt", stiffness=1e4,
        exponent=1.0, damping=5.0, friction="coulomb", mu_c=0.6, mu_d=0.0, transition_velocity=0.1,
    )  # fmt: skip
    if spring:
        points = dict(s_i=(-5.0, 0, 0), s_j=(0, 0, 0))
        b.force("spring", "spring_damper", "ground", "block", **points, stiffness=spring, damping=0.0, free_length=5.5)
    return b.build()


NORMAL, TRANSITION_VELOCITY = 10.0, 0.1  # force [N] and transition velocity [m/s] of ``block``


@problem
def sliding_to_rest():
    """Coulomb's force until the slip is that of the transition, s(x) = 3/2 x - x^3/2 from there on."""
    mu, t, v0 = 0.3 + 0.6 * SHARE, np.linspace(0.0, 1.0, 21), 1.0

    def exact(case):
        a = mu[case] * NORMAL / 2.0
        end = (v0 - TRANSITION_VELOCITY) / a
        late = np.maximum(t - end, 0.0)
        # x' = -a / CREEP (3/2 x - x^3/2) from x = 1:  x^2 / (3 - x^2) = exp(-3 a t / CREEP) / 2
        q = 0.5 * np.exp(-3.0 * a / TRANSITION_VELOCITY * late)
        slow = TRANSITION_VELOCITY * np.sqrt(3.0 * q / (1.0 + q))
        v = np.where(t < end, v0 - a * t, slow)
        x = v / TRANSITION_VELOCITY
        friction = -2.0 * a * np.where(t < end, 1.0, 1.5 * x - 0.5 * x**3)
        force = np.full(len(t), NORMAL)
        return {
            "v.block": v[:, None] * X, "contact_friction.touch": friction[:, None] * X, "contact_normal_force.touch": force,
            "contact_dissipated_power.touch": -friction * v,
        }  # fmt: skip

    cases = {"mu_c.touch": mu, "rate.line.distance": np.full(COUNT, v0)}
    return Problem(block(), cases, t, exact)


@problem
def friction_oscillator():
    """A spring pulls the block to and fro: its slip reverses."""
    k, mu, speeds, t = 80.0, 0.6, np.linspace(2.0, 6.0, COUNT), np.linspace(0.0, 1.2, 25)

    def rhs(_, y):
        x = np.clip(y[1] / TRANSITION_VELOCITY, -1.0, 1.0)
        return [y[1], -0.5 * (k * (y[0] - 0.5) + mu * NORMAL * (1.5 * x - 0.5 * x**3))]

    def exact(case):
        y = integrate(
            rhs, [0.5, speeds[case]], t, lambda y: (y[1] - TRANSITION_VELOCITY, y[1] + TRANSITION_VELOCITY), 1e-12
        )
        return {"r.block": y[:, :1] * X, "v.block": y[:, 1:] * X, "force_tension.spring": k * (y[:, 0] - 0.5)}

    return Problem(block(k), {"rate.line.distance": speeds}, t, exact)


def gravities(values):
    return {"gravity": -values[:, None] * Z}


def energy_of(bars, crank, rate, gravity):
    inertia, potential = bars.inertia_and_height(crank)
    return 0.5 * inertia * rate**2 + potential * gravity / g


def energy_of_motion(bars, crank, rates):
    return np.array([energy_of(bars, angle, rate, 0.0) for angle, rate in zip(crank, rates, strict=True)])


def of_bars(bars, crank, rate):
    """Places and angular velocities of the bars."""
    centres = [bars.centres(angle) for angle in crank]
    ratios = np.array([(1.0, *bars.rates(angle)) for angle in crank])
    found = {}
    for n, name in enumerate(("crank", "coupler", "rocker")):
        places = np.array([own[name] for own in centres])
        found[f"r.{name}"] = np.stack([places[:, 0], 0 * crank, places[:, 1]], axis=1)
        found[f"omega.{name}"] = -(rate * ratios[:, n])[:, None] * Y
    return found


def turned_over(bars, speed, gravity, t, stored=lambda angle: 0.0):
    """A four-bar that turns over, whose energy gives the rate at every angle; ``stored``: energy of all else by that angle."""
    start = np.pi / 3
    whole = energy_of(bars, start, speed, gravity) + stored(start)

    def rate(_, crank):
        inertia, potential = bars.inertia_and_height(crank[0])
        return [np.sqrt(2.0 * (whole - stored(crank[0]) - potential * gravity / g) / inertia)]

    crank = solve_ivp(rate, (0.0, t[-1]), [start], "DOP853", t, rtol=1e-12, atol=1e-12, max_step=0.01).y[0]
    rates = np.array([rate(0.0, [angle])[0] for angle in crank])
    return crank, of_bars(bars, crank, rates) | {"kinetic_energy": energy_of_motion(bars, crank, rates)}


@problem
def closed_loop():
    """A free four-bar of hinges, with redundant rows."""
    bars, speed, own, t = FourBar(), 15.0, np.linspace(4.0, 12.0, COUNT), np.linspace(0.0, 0.5, 11)

    def exact(case):
        whole = energy_of(bars, np.pi / 3, speed, own[case])
        return turned_over(bars, speed, own[case], t)[1] | {"energy": np.full(len(t), whole)}

    return Problem(models.four_bar.build("revolute", crank_speed=speed), gravities(own), t, exact, (0, 16))


@problem
def loops_of_a_function():
    """Four-bars of independent rows, of other lengths and speeds."""
    cranks, rockers, speeds = 0.15 + 0.05 * SHARE, 0.4 - 0.03 * SHARE, 14.0 + 6.0 * SHARE
    t, cases = np.linspace(0.0, 0.4, 9), {"crank": cranks, "rocker": rockers, "crank_speed": speeds}

    def exact(case):
        return turned_over(FourBar(cranks[case], rocker=rockers[case]), speeds[case], g, t)[1]

    return Problem(models.four_bar.build, cases, t, exact, (0, 16))


@problem
def loop_between_a_stop_and_a_plane():
    """A four-bar whose rocker meets a stop and whose coupler presses a sphere into a plane, thrown by all velocities."""
    bars, radius, depth, edge, t = FourBar(), 0.05, 0.01, np.radians(10.0), np.linspace(0.0, 0.5, 26)
    speeds, stiffness, moments = 14.0 + 4.0 * SHARE, 1e5 + 1e5 * SHARE, 3.0 + SHARE
    plain = models.four_bar.build("revolute")
    lowest = min(bars.centres(angle)["coupler"][1] for angle in np.linspace(0.0, 2 * np.pi, 721))
    b = builder_of(plain)
    place = dict(centre=(0, 0, 0), radius=radius, point=(0, 0, lowest + depth - radius), normal=Z)
    b.contact("touch", "coupler", **place, law="hertz", stiffness=1e5)
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (10, 30, 10, 30, 10))
    law = dict(cone=cone, max_moment=3.0, compliance=1.0, damping=0.0)
    b.limit("stop", "D", reference=plain.joint("D").body_i, xi=X, eta=plain.joint("D").values["a_i"], **law)
    states = [bars.thrown(plain, np.pi / 3, speed) for speed in speeds]
    cases = {"stiffness.touch": stiffness, "max_moment.stop": moments} | {
        f"{part}.{body}": np.array([getattr(state, part)[body] for state in states])
        for part in ("v", "omega")
        for body in plain.body_names
    }

    def depth_of(angle):
        return np.maximum(lowest + depth - bars.centres(angle)["coupler"][1], 0.0)

    def excess_of(angle):
        return np.maximum(abs(bars.angles(angle)[1] - bars.angles(np.pi / 3)[1]) - edge, 0.0)

    def exact(case):
        stop = Stop(moments[case], 1.0)

        def stored(angle):
            return stop.potential(excess_of(angle)) + 0.4 * stiffness[case] * depth_of(angle) ** 2.5

        crank, found = turned_over(bars, speeds[case], g, t, stored)
        force = np.array([stiffness[case] * depth_of(angle) ** 1.5 for angle in crank])
        excess = np.array([excess_of(angle) for angle in crank])
        assert force.max() > 1.0 and excess.max() > 0.05
        return found | {"limit_excess.stop": excess, "contact_normal_force.touch": force}

    return Problem(b.build(), cases, t, exact, (0, 16), {"contact_normal_force.touch": 2e5})


@problem
def driven_loop():
    """A four-bar whose crank turns as prescribed; the driver's power is the rate of the energy."""
    bars, own, t = FourBar(), np.linspace(4.0, 12.0, COUNT), np.linspace(0.0, 1.0, 11)

    def slope(f, x, h=1e-3):
        return (8.0 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h)) / (12.0 * h)

    def exact(case):
        s, c = np.sin(3.0 * t), np.cos(3.0 * t)
        crank, rate = np.pi / 3 + 0.5 * s**3, 4.5 * s**2 * c
        second = 27.0 * s * c**2 - 13.5 * s**3
        moment = []
        for angle, u, u_dot in zip(crank, rate, second, strict=True):
            inertia = bars.inertia_and_height(angle)[0]
            of_inertia = slope(lambda x: bars.inertia_and_height(x)[0], angle)
            of_height = slope(lambda x: bars.inertia_and_height(x)[1], angle) * own[case] / g
            moment.append(inertia * u_dot + 0.5 * of_inertia * u**2 + of_height)
        energy = [energy_of(bars, angle, u, own[case]) for angle, u in zip(crank, rate, strict=True)]
        return of_bars(bars, crank, rate) | {"lam.drive.angle": -np.array(moment), "energy": np.array(energy)}

    return Problem(driven_four_bar(), gravities(own), t, exact, (0, 16))


@problem
def prescribed_load():
    """A stone that a force pushes at its centre, by a signal that is linear between knots, and that turns as Euler's top."""
    knots, values = [0.0, 0.13, 0.37, 0.8, 1.0], [0.0, 5.0, -3.0, 4.0, 0.0]
    mass, t, motion = 1.0 + SHARE, np.linspace(0.0, 1.0, 21), top(1.1)
    b = runtime.Builder("stone")
    b.body("stone", mass=1.0, inertia=MOMENTS, omega=motion.omega(0.4), free=True)
    b.load("push", "stone", force=(Signal.spline(knots, values, degree=1), 0.0, 0.0))
    curve = make_interp_spline(knots, values, k=1)

    def exact(case):
        v = curve.antiderivative(1)(t) / mass[case]
        x = curve.antiderivative(2)(t) / mass[case]
        in_body = motion.omega(motion.rate * t + 0.4)
        return {
            "omega.stone": np.einsum("nab,nb->na", motion.attitude(t, 0.4), in_body),
            "v.stone": v[:, None] * X - g * t[:, None] * Z,
            "r.stone": x[:, None] * X - 0.5 * g * (t**2)[:, None] * Z,
        }

    return Problem(b.build(), {"mass.stone": mass}, t, exact)


def two_stiffnesses(r_i, s_i, a_i, r_j, s_j, k, gap, coordinate):
    """A spring that is stiff when pushed and soft when pulled.

    k : stiffness [N/m]
    gap : distance without a force [m]
    """
    x = coordinate(a_i.dot(r_j + s_j - r_i - s_i))
    return {"forces": {x: k * codegen.ramp(gap - x) - 0.25 * k * codegen.ramp(x - gap)}}


@problem
def own_law():
    """A block between two springs of a law with a kink: half a period with each."""
    k, speed, m, t = 50.0 + 100.0 * SHARE, -1.0, 2.0, np.linspace(0.0, 2.0, 41)
    b = runtime.Builder("slider", gravity=(0, 0, 0))
    b.body("block", mass=m, inertia=(0.1, 0.1, 0.1), r=0.5 * X)
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=X, s_j=(0, 0, 0), a_j=X)
    points = dict(s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=X)
    b.force("f", codegen.compile_force(two_stiffnesses), "ground", "block", **points, k=50.0, gap=0.5)

    def exact(case):
        w = np.sqrt(k[case] / m * np.array([1.0, 0.25]))
        halves = np.pi / w
        s = np.mod(t, halves.sum())
        x = np.where(s < halves[0], -np.sin(w[0] * s) / w[0], np.sin(w[1] * (s - halves[0])) / w[1])
        v = np.where(s < halves[0], -np.cos(w[0] * s), np.cos(w[1] * (s - halves[0])))
        return {"r.block": (0.5 + x)[:, None] * X, "v.block": v[:, None] * X}

    cases = {"k.f": k, "rate.line.distance": np.full(COUNT, speed)}
    return Problem(b.build(), cases, t, exact)


assert DENSITY == 2.0  # [kg/m] of the bars of ``models.four_bar``
