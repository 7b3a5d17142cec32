"""Trees of joints: their motion and forces from the joints' coordinates, by Newton and Euler in plain numpy.

``Tree``: hinges, ankles with and without a link, ball joints and floating bodies; the same tree as a ``Builder``, and with
drivers, motors and loads.
"""

from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation

from runtime import Builder, Signal
from tests.support.vectors import (
    X,
    Y,
    about,
    across,
    cardan,
    cardan_motion,
    largest,
    matrix,
    parameter_rates,
    parameters,
    unit,
)

GRAVITY = np.array([0.4, -0.3, -9.81])  # askew, so that no component is left out


def signals_of(names, functions):
    return {name: f for name, f in zip(names, functions, strict=True)}


def quadrature(n):
    """Nodes and weights of Gauss and Legendre from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return 0.5 * nodes + 0.5, 0.5 * weights


def smooth(t, x, v, a):
    """A signal through values, rates and accelerations (n, c), one of each column."""
    return [Signal.samples(t, x[:, c], v[:, c], a[:, c]) for c in range(x.shape[1])]


def continuous(p):
    """Euler parameters without jumps of their sign."""
    p = p.copy()
    for n in range(1, len(p)):
        p[n] *= np.sign(p[n] @ p[n - 1])
    return p


class Tree:
    """Bodies in a tree with the ground as its root; coordinates, motion and forces in plain numpy.

    Each joint is a chain of links: a hinge of one; an ankle of two, with a massless body between them.  A ball and a floating
    body have their orientation with respect to the ground as coordinates, in Cardan angles.
    """

    def __init__(self, kinds, parents, seed):
        rng = self.rng = np.random.default_rng([seed, 77])
        self.kinds, self.parents, self.names = kinds, parents, [f"body_{k}" for k in range(len(kinds))]
        self.mass = rng.uniform(0.5, 3.0, len(kinds))
        self.inertia = [self._inertia() for _ in kinds]
        self.data, self.coordinates = [], []
        for kind in kinds:
            axes = [unit(rng.standard_normal(3)) for _ in range(2)]
            while abs(axes[0] @ axes[1]) > 0.6:
                axes[1] = unit(rng.standard_normal(3))
            offset = 0.2 * across(unit(np.cross(*axes)), rng.standard_normal(3)) * 0.3 + 0.2 * unit(np.cross(*axes))
            A = cardan(rng.uniform(-0.6, 0.6, 3))  # at the start, with respect to the ground
            self.data.append(
                SimpleNamespace(
                    s_parent=rng.uniform(-0.3, 0.3, 3), s_own=rng.uniform(-0.3, 0.3, 3), axes=axes, A=A,
                    link=offset if kind == "modified_universal" else np.zeros(3),
                )
            )  # fmt: skip
            count = {"revolute": 1, "universal": 2, "modified_universal": 2, "spherical": 3, "free": 6}[kind]
            start = sum(map(len, self.coordinates))
            self.coordinates.append(list(range(start, start + count)))
        self.size = sum(map(len, self.coordinates))
        # Coordinates at the start: 0 of hinges, of an orientation its Cardan angles.
        self.q0 = np.zeros(self.size)
        for k, data in enumerate(self.data):
            if kinds[k] in ("spherical", "free"):
                self.q0[self.coordinates[k][-3:]] = Rotation.from_matrix(data.A).as_euler("XYZ")
        start = self.motion(self.q0, np.zeros(self.size), np.zeros(self.size))
        self.start = [(body.r, body.A) for body in start]

    def _inertia(self):
        A = cardan(self.rng.uniform(-3, 3, 3))
        J = A @ np.diag(self.rng.uniform(0.02, 0.03, 3) * self.rng.uniform(0.5, 3.0)) @ A.T
        return (J + J.T) / 2

    def relative(self, k):
        """Orientation of a body with respect to its parent, at the start."""
        parent = self.parents[k]
        return (np.eye(3) if parent is None else self.data[parent].A).T @ self.data[k].A

    def motion(self, q, u, a):
        """Of each body: r, A, v, omega, v_dot, omega_dot; ``points`` and ``axes`` of its joint."""
        bodies = []
        for k, kind in enumerate(self.kinds):
            d, c = self.data[k], self.coordinates[k]
            parent = None if self.parents[k] is None else bodies[self.parents[k]]
            if parent is None:
                parent = SimpleNamespace(
                    r=np.zeros(3), A=np.eye(3), v=np.zeros(3), omega=np.zeros(3), v_dot=np.zeros(3), omega_dot=np.zeros(3)
                )  # fmt: skip
            if kind == "free":
                A, omega, alpha = cardan_motion(q[c[3:]], u[c[3:]], a[c[3:]])
                bodies.append(
                    SimpleNamespace(r=q[c[:3]], v=u[c[:3]], v_dot=a[c[:3]], A=A, omega=omega, omega_dot=alpha)
                )
                bodies[-1].points = bodies[-1].axes = []
                continue
            point, v, v_dot = self.point(parent, d.s_parent)
            A, omega, alpha = parent.A, parent.omega, parent.omega_dot
            points, axes = [point], []
            if kind == "spherical":
                A, omega, alpha = cardan_motion(q[c], u[c], a[c])
            else:
                for n, axis in enumerate(d.axes[: len(c)]):
                    h = A @ axis  # axes and link are given in the parent's axes at the start
                    alpha = alpha + h * a[c[n]] + np.cross(omega, h * u[c[n]])
                    omega = omega + h * u[c[n]]
                    A = A @ about(axis, q[c[n]])
                    axes.append(h)
                    if n == 0 and kind == "modified_universal":
                        link = A @ d.link
                        v_dot = v_dot + np.cross(alpha, link) + np.cross(omega, np.cross(omega, link))
                        v, point = v + np.cross(omega, link), point + link
                        points.append(point)
                A = A @ self.relative(k)
            to_centre = -(A @ d.s_own)
            bodies.append(
                SimpleNamespace(
                    r=point + to_centre, A=A, v=v + np.cross(omega, to_centre), omega=omega, omega_dot=alpha, points=points,
                    axes=axes, v_dot=v_dot + np.cross(alpha, to_centre) + np.cross(omega, np.cross(omega, to_centre)),
                )
            )  # fmt: skip
        return bodies

    @staticmethod
    def point(body, s):
        arm = body.A @ s
        v_dot = body.v_dot + np.cross(body.omega_dot, arm) + np.cross(body.omega, np.cross(body.omega, arm))
        return body.r + arm, body.v + np.cross(body.omega, arm), v_dot

    def inverse(self, q, u, a, wrenches=None):
        """Efforts (size,) of the coordinates of hinges and ankles, moments of balls in x, y, z of the ground, and of each
        joint the force and the moment about its last point on its body.  ``wrenches``: body -> force, moment about the centre.
        """
        bodies = self.motion(q, u, a)
        efforts, crossing = np.zeros(self.size), [None] * len(bodies)
        forces, moments = [], []
        for k, body in enumerate(bodies):
            J = body.A @ self.inertia[k] @ body.A.T
            force, moment = (wrenches or {}).get(k, (np.zeros(3), np.zeros(3)))
            forces.append(self.mass[k] * (body.v_dot - GRAVITY) - force)
            moments.append(J @ body.omega_dot + np.cross(body.omega, J @ body.omega) - moment)
        for k in reversed(range(len(bodies))):
            body, c = bodies[k], self.coordinates[k]
            if self.kinds[k] == "free":
                efforts[c] = np.concatenate([forces[k], moments[k]])
                crossing[k] = forces[k], moments[k]
                continue
            at_last = moments[k] + np.cross(body.r - body.points[-1], forces[k])
            at_first = moments[k] + np.cross(body.r - body.points[0], forces[k])
            crossing[k] = forces[k], at_last
            if self.kinds[k] == "spherical":
                efforts[c] = at_last
            else:
                efforts[c] = [h @ m for h, m in zip(body.axes, (at_first, at_last), strict=False)]
            if self.parents[k] is not None:
                parent = bodies[self.parents[k]]
                forces[self.parents[k]] = forces[self.parents[k]] + forces[k]
                moments[self.parents[k]] = (
                    moments[self.parents[k]] + at_first + np.cross(body.points[0] - parent.r, forces[k])
                )
        return efforts, crossing

    def partials(self, q):
        """Velocities v, omega of all bodies when one coordinate has the rate 1: (size, bodies, 6)."""
        zero = np.zeros(self.size)
        motions = [self.motion(q, one, zero) for one in np.eye(self.size)]
        return np.array([[np.concatenate([body.v, body.omega]) for body in bodies] for bodies in motions])

    def kane(self, q, u, a, wrenches=None, partials=None):
        """The generalised force of every coordinate, of Cardan angles and places too, by Kane's equations."""
        needed = []
        for k, body in enumerate(self.motion(q, u, a)):
            J = body.A @ self.inertia[k] @ body.A.T
            force, moment = (wrenches or {}).get(k, (np.zeros(3), np.zeros(3)))
            spin = J @ body.omega_dot + np.cross(body.omega, J @ body.omega) - moment
            needed.append(np.concatenate([self.mass[k] * (body.v_dot - GRAVITY) - force, spin]))
        return np.einsum("nkc,kc->n", self.partials(q) if partials is None else partials, np.array(needed))

    def mass_matrix(self, q, partials):
        """From the same partial velocities."""
        matrices = np.zeros((len(self.names), 6, 6))
        for k, body in enumerate(self.motion(q, np.zeros(self.size), np.zeros(self.size))):
            matrices[k, :3, :3] = self.mass[k] * np.eye(3)
            matrices[k, 3:, 3:] = body.A @ self.inertia[k] @ body.A.T
        return np.einsum("nkc,kcd,mkd->nm", partials, matrices, partials)

    def builder(self, name="tree"):
        """The bodies and joints."""
        b = Builder(name, gravity=GRAVITY)
        for k, (r, A) in enumerate(self.start):
            b.body(
                self.names[k],
                mass=self.mass[k],
                inertia=self.inertia[k],
                r=r,
                p=parameters(A),
                free=self.kinds[k] == "free",
            )
        for k, kind in enumerate(self.kinds):
            if kind != "free":
                ends = self.ends(k)
                length = dict(l=np.linalg.norm(self.data[k].link)) if kind == "modified_universal" else {}
                keys = ("s_i", "s_j") if kind == "spherical" else ("s_i", "a_i", "s_j", "a_j")
                b.joint(
                    f"joint_{k}", kind, self.parent_name(k), self.names[k], **{key: ends[key] for key in keys}, **length
                )
        return b

    def parent_name(self, k):
        return "ground" if self.parents[k] is None else self.names[self.parents[k]]

    def ends(self, k):
        """The vectors of a joint in the axes of its bodies."""
        d, B = self.data[k], self.relative(k).T
        last = d.axes[0] if self.kinds[k] == "revolute" else d.axes[1]
        return dict(s_i=d.s_parent, a_i=d.axes[0], s_j=d.s_own, a_j=B @ last)

    def guides(self, k, ahead=0.0):
        """Name, kind, bodies and vectors of the driver of each coordinate of a hinge or an ankle, 0 at the start.

        ahead [rad] : by how much each driver's angle is above the coordinate
        """
        d, e, B = self.data[k], self.ends(k), self.relative(k).T
        near, far, kind = self.parent_name(k), self.names[k], self.kinds[k]
        if kind == "revolute":
            x = across(e["a_i"], X + Y)
            b = B @ about(e["a_i"], ahead) @ x
            return [(f"turn_{k}", "angle", near, far, dict(a_i=x, h_i=e["a_i"], b_j=b))]
        first, second = e["a_i"], e["a_j"]
        if kind == "universal":
            x, y = across(first, d.axes[1]), across(second, B @ first)
            return [
                (f"near_{k}", "angle", near, far, dict(a_i=about(first, -ahead) @ x, h_i=first, b_j=second)),
                (f"far_{k}", "angle", far, near, dict(a_i=about(second, ahead) @ y, h_i=-second, b_j=first)),
            ]
        x, y = across(first, d.link), across(second, -B @ d.link)
        ends = dict(s_i=e["s_i"], s_j=e["s_j"])
        flipped = dict(s_i=e["s_j"], s_j=e["s_i"])
        return [
            (f"near_{k}", "link", near, far, dict(a_i=about(first, -ahead) @ x, h_i=first, **ends)),
            (f"far_{k}", "link", far, near, dict(a_i=about(second, ahead) @ y, h_i=-second, **flipped)),
        ]

    def guide(self, b, q, *, orientation="guided_cardan", leave=()):
        """Add the drivers of all coordinates, whose signals are q."""
        for k, kind in enumerate(self.kinds):
            c, name = self.coordinates[k], self.names[k]
            if kind == "free":
                b.driver(
                    f"place_{k}",
                    "guided_point",
                    name,
                    s_i=(0, 0, 0),
                    **signals_of(("x_t", "y_t", "z_t"), (q[n] for n in c[:3])),
                )
            if kind in ("free", "spherical"):
                keys = (
                    ("alpha_t", "beta_t", "gamma_t")
                    if orientation == "guided_cardan"
                    else ("e0_t", "e1_t", "e2_t", "e3_t")
                )
                signals = [q[n] for n in c[-3:]] if orientation == "guided_cardan" else orientation(k)
                b.driver(
                    f"orient_{k}",
                    "guided_cardan" if len(keys) == 3 else "guided_orientation",
                    name,
                    **signals_of(keys, signals),
                )
                continue
            for (driver, sort, near, far, vectors), n in zip(self.guides(k), c, strict=True):
                if driver not in leave:
                    signal = {"theta_t" if sort == "angle" else "beta_t": q[n]}
                    b.driver(driver, f"guided_{sort}", near, far, **vectors, **signal)


def random_tree(seed, *, floating=False):
    """Five bodies, a joint of every kind, in a random order and shape."""
    rng = np.random.default_rng([seed, 5])
    kinds = list(rng.permutation(["revolute", "universal", "modified_universal", "spherical", "revolute"]))
    parents = [None] + [int(rng.integers(0, k)) for k in range(1, 5)]
    return Tree(["free", *kinds[1:]] if floating else kinds, parents, seed)


def wandering(tree, seed, *, size=1.0, turns=0.0, t_end=1.0):
    """A smooth signal for every coordinate, from its start; hinges make ``turns`` [rad/s] besides."""
    rng = np.random.default_rng([seed, 11])
    orientations = {n for k, c in enumerate(tree.coordinates) if tree.kinds[k] in ("free", "spherical") for n in c}
    signals = []
    for n in range(tree.size):
        a, w, f = rng.uniform(0.3, 1.0) * size, rng.uniform(2.0, 6.0), rng.uniform(0.0, 6.0)
        drift = 0.0 if n in orientations else turns * rng.choice((-1.0, 1.0))

        def curve(t, n=n, a=a, w=w, f=f, drift=drift):
            return tree.q0[n] + a * (np.sin(w * t + f) - np.sin(f)) + drift * t

        signals.append(Signal.function(curve, 0.0, t_end, step=2e-3))
    return signals


def single(kind, seed=3):
    """A floating body, or a hinge or an ankle on the ground."""
    return Tree([kind], [None], seed)


def signal_values(signals, t):
    """Values, rates, accelerations of signals at times: (3, n, signals)."""
    return np.array([[s(t, order) for s in signals] for order in range(3)]).transpose(0, 2, 1)


def with_loads(tree, b, seed, size=3.0):
    """A load of every sort on the bodies; returns the wrench (force, moment about the centre) by time and motion."""
    rng = np.random.default_rng([seed, 13])
    waves = [
        Signal.function(lambda t, w=w, f=f: size * np.sin(w * t + f), 0.0, 1.0, step=0.01)
        for w, f in rng.uniform(1, 6, (12, 2))
    ]
    sorts = [("global", None), ("body", None), ("global", "point"), ("body", "point")]
    given = []
    for n, (axes, at) in enumerate(sorts):
        k = int(rng.integers(len(tree.names)))
        force, moment, place = ([waves[i] for i in rng.permutation(12)[:3]] for _ in range(3))
        place = [Signal.spline(s.knots, 0.3 / size * s(s.knots)) for s in place]
        b.load(f"load_{n}", tree.names[k], force=force, moment=moment, point=None if at is None else place, axes=axes)
        given.append((k, force, moment, place, axes, at))

    def wrenches(t, bodies):
        total = {}
        for k, force, moment, place, axes, at in given:
            F, M, P = (np.array([float(s(t)) for s in part]) for part in (force, moment, place))
            if axes == "body":
                F, M, P = bodies[k].A @ F, bodies[k].A @ M, bodies[k].A @ P + bodies[k].r
            if at is not None:
                M = M + np.cross(P - bodies[k].r, F)
            before = total.get(k, (np.zeros(3), np.zeros(3)))
            total[k] = before[0] + F, before[1] + M
        return total

    return wrenches


def euler_signals(tree, k, q, t):
    """The Euler parameters of a body's Cardan angles, of the other sign and twice their length, as signals through t."""
    motions = [cardan_motion(*signal_values([q[n] for n in tree.coordinates[k][-3:]], t)[:, n]) for n in range(len(t))]
    A, omega, alpha = (np.array(part) for part in zip(*motions, strict=True))
    p = continuous(parameters(A))
    rates, seconds = parameter_rates(p, omega, alpha)
    return [Signal.samples(t, -2 * p[:, c], -2 * rates[:, c], -2 * seconds[:, c]) for c in range(4)]


def motors_of(tree, b, efforts):
    """A motor on every coordinate of hinges and ankles; returns their coordinates."""
    moved = []
    for k, c in enumerate(tree.coordinates):
        if tree.kinds[k] in ("free", "spherical"):
            continue
        for (name, sort, near, far, vectors), n in zip(tree.guides(k, ahead=0.3), c, strict=True):
            b.motor(name, f"guided_{sort}", near, far, effort=efforts[n], **vectors)
            moved.append(n)
    return moved


def coordinate_names(tree, k):
    """Names of a joint's degrees of freedom, in the order of its coordinates (of a ball and a floating body: of their axes)."""
    if tree.kinds[k] == "free":
        return [f"body_{k}.{part}{axis}" for part in ("", "turn_") for axis in "xyz"]
    return [
        f"joint_{k}.{axis}" for axis in {"revolute": ("a_i",), "spherical": "xyz"}.get(tree.kinds[k], ("a_i", "a_j"))
    ]


def matches(tree, run, states, tolerance):
    """The bodies of a run are where the tree says, and move so."""
    for k, name in enumerate(tree.names):
        for part, what in (("r", "r"), ("v", "v"), ("omega", "omega"), ("v_dot", "v_dot"), ("omega_dot", "omega_dot")):
            exact = np.array([getattr(s[k], what) for s in states])
            assert largest(getattr(run, part)[name] - exact) < tolerance * max(1.0, largest(exact)), (name, part)
        assert largest(matrix(run.p[name]) - np.array([s[k].A for s in states])) < tolerance
