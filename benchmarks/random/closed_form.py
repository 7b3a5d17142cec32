"""Four-bars with change points by one coordinate in closed form: the smooth branches through singular poses.

With A and D on the base, B on the crank and C on the rocker, and rho the distance of B and D, the angle psi at D between D-B and
D-C has  cos psi = (rho^2 + c^2 - b^2) / (2 rho c)  and
sin psi = +- sqrt(rho^2 - (c - b)^2) sqrt((c + b)^2 - rho^2) / (2 rho c),  rho^2 = a^2 + d^2 - 2 a d cos q.
Where |a - d| = |c - b| the first root is 2 sqrt(a d) sin(q / 2), where a + d = b + c the second is 2 sqrt(a d) cos(q / 2): with
these signs, which change, the branches are smooth.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.random.mechanism import Floats


class Jet:
    """A function of q with its first two derivatives."""

    def __init__(self, f: float, f1: float = 0.0, f2: float = 0.0) -> None:
        self.f, self.f1, self.f2 = f, f1, f2

    def __add__(self, o: Jet | float) -> Jet:
        o = o if isinstance(o, Jet) else Jet(o)
        return Jet(self.f + o.f, self.f1 + o.f1, self.f2 + o.f2)

    __radd__ = __add__

    def __mul__(self, o: Jet | float) -> Jet:
        o = o if isinstance(o, Jet) else Jet(o)
        return Jet(self.f * o.f, self.f1 * o.f + self.f * o.f1, self.f2 * o.f + 2 * self.f1 * o.f1 + self.f * o.f2)

    __rmul__ = __mul__

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, o: Jet | float) -> Jet:
        return self + -1.0 * (o if isinstance(o, Jet) else Jet(o))

    def __rsub__(self, o: float) -> Jet:
        return -self + o

    def of(self, g: float, g1: float, g2: float) -> Jet:
        """The composition with a function whose value and derivatives at ``self.f`` are given."""
        return Jet(g, g1 * self.f1, g2 * self.f1**2 + g1 * self.f2)

    def sqrt(self) -> Jet:
        """Square root."""
        root = np.sqrt(self.f)
        return self.of(root, 0.5 / root, -0.25 / root**3)

    def inverse(self) -> Jet:
        """Inverse."""
        return self.of(1 / self.f, -1 / self.f**2, 2 / self.f**3)


def turning(q: float) -> tuple[Jet, Jet]:
    """Cosine and sine of q."""
    c, s = np.cos(q), np.sin(q)
    return Jet(c, -s, -c), Jet(s, c, -s)


class ChangePoint:
    """A four-bar with lengths a (crank), b (coupler), c (rocker), d (base) whose crank turns fully; sign: its branch."""

    def __init__(self, lengths: Floats, sign: int) -> None:
        self.a, self.b, self.c, self.d = map(float, lengths)
        self.sign = sign
        a, b, c, d = self.a, self.b, self.c, self.d
        small = 1e-13 * (a + b + c + d)
        self.first = abs(abs(a - d) - abs(c - b)) < small
        self.second = abs(a + d - b - c) < small
        self.coincident = abs(a - d) < small  # B passes through D
        # Factors of the roots, without cancellation: misses of the change points by length.
        self.misses = abs(a - d) - abs(c - b), b + c - a - d
        if not min(self.misses) > -small:
            raise ValueError("the crank does not turn fully")

    def points(self, q: float) -> tuple[list[Jet], list[Jet]]:
        """B and C, coordinates of the plane with A at the origin and D at (d, 0)."""
        a, b, c, d = self.a, self.b, self.c, self.d
        cos, sin = turning(q)
        half_cos, half_sin = (Jet(j.f, j.f1 / 2, j.f2 / 4) for j in turning(q / 2))
        B = [a * cos, a * sin]
        square = a * a + d * d - 2 * a * d * cos
        low = self.misses[0] * (abs(a - d) + abs(c - b)) + 4 * a * d * half_sin * half_sin
        high = self.misses[1] * (a + b + c + d) + 4 * a * d * half_cos * half_cos
        first = 2 * np.sqrt(a * d) * half_sin if self.first else low.sqrt()
        second = 2 * np.sqrt(a * d) * half_cos if self.second else high.sqrt()
        if self.coincident:
            # rho = 2 a sin(q / 2) with its sign, and the direction from D to B is (-sin(q / 2), cos(q / 2)).
            rho = 2 * a * half_sin
            e = [-half_sin, half_cos]
            if abs(c - b) < 1e-13 * (b + c):
                cos_psi, sin_psi = rho * (1 / (2 * c)), second * (self.sign / (2 * c))
            else:
                raise ValueError("B reaches D, which b and c do not allow")
        else:
            inverse = square.sqrt().inverse()
            e = [(B[0] - d) * inverse, B[1] * inverse]
            cos_psi = (square + (c * c - b * b)) * inverse * (1 / (2 * c))
            sin_psi = first * second * inverse * (self.sign / (2 * c))
        C = [d + c * (e[0] * cos_psi - e[1] * sin_psi), c * (e[1] * cos_psi + e[0] * sin_psi)]
        return B, C

    def bars(self, q: float) -> list[tuple[list[Jet], list[Jet]]]:
        """For crank, coupler and rocker: their start, and the unit vector along them."""
        B, C = self.points(q)
        A, D = [Jet(0.0), Jet(0.0)], [Jet(self.d), Jet(0.0)]
        found = []
        for start, end, length in ((A, B, self.a), (B, C, self.b), (D, C, self.c)):
            found.append((start, [(end[k] - start[k]) * (1 / length) for k in range(2)]))
        return found


class Motion:
    """The motion of a change-point four-bar: bars with mass, moment about the centre of mass, and its place on the bar."""

    def __init__(self, linkage: ChangePoint, masses: Floats, moments: Floats, centres: Floats, gravity: Floats) -> None:
        self.linkage, self.masses, self.moments, self.centres, self.gravity = linkage, masses, moments, centres, gravity

    def centre(self, bar: tuple[list[Jet], list[Jet]], place: Floats) -> list[Jet]:
        """A point of a bar: ``place`` along it and across it."""
        (x, y), (u, v) = bar
        return [x + place[0] * u + -place[1] * v, y + place[0] * v + place[1] * u]

    def derivative(self, t: float, state: Floats) -> list[float]:
        """Rates of the coordinate and of its rate: m q'' + m' q'^2 / 2 = Q."""
        q, rate = state
        m = slope = force = 0.0
        for bar, mass, moment, place in zip(self.linkage.bars(q), self.masses, self.moments, self.centres, strict=True):
            for x, g in zip(self.centre(bar, place), self.gravity, strict=True):
                m += mass * x.f1**2
                slope += 2 * mass * x.f1 * x.f2
                force += mass * g * x.f1
            for x in bar[1]:
                m += moment * x.f1**2
                slope += 2 * moment * x.f1 * x.f2
        return [rate, (force - 0.5 * slope * rate**2) / m]

    def potential(self, q: float) -> float:
        """Potential energy of gravity [J]."""
        bars = zip(self.linkage.bars(q), self.masses, self.centres, strict=True)
        return -sum(m * g * x.f for bar, m, at in bars for x, g in zip(self.centre(bar, at), self.gravity, strict=True))

    def inertia(self, q: float) -> float:
        """The mass m of q'^2 / 2 [kg m^2]."""
        bars = zip(self.linkage.bars(q), self.masses, self.moments, self.centres, strict=True)
        return sum(
            m * sum(x.f1**2 for x in self.centre(bar, at)) + J * sum(x.f1**2 for x in bar[1]) for bar, m, J, at in bars
        )

    def solve(self, q: float, rate: float, times: Floats) -> Floats:
        """The coordinate and its rate at times, (n, 2)."""
        run = solve_ivp(
            self.derivative, (times[0], times[-1]), [q, rate], "DOP853", times, rtol=3e-14, atol=1e-14 * max(abs(rate), 1.0)
        )  # fmt: skip
        found: Floats = run.y.T
        return found
