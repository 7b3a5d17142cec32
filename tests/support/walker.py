"""A walker by hand: poses by rotations about the hinges, derivatives by Fourier series, Newton and Euler, no Talus dynamics."""

from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from models.walking import norms, scale_to_subject
from models.walking.capture import Capture, GaitEvent, GroundForce, Subject
from models.walking.leg_foot import JOINTS
from models.walking.norms import CENTRE_OF_PRESSURE, MOTION, NORMS
from models.walking.synthetic import CYCLE, STANCE


class Walker:
    """A subject who walks as the series say: markers, ground force and the joints' moments over one cycle, in n places."""

    def __init__(self, person, *, n=960, stride=1.0, cycle=CYCLE, toes=True):
        self.person, self.n, self.cycle = person, n, cycle
        self.x = np.arange(n) / n
        at = self.at(self.x, stride, toes)
        self.r, self.G, self.hinge = at
        self.slope = stride * norms.STRIDE / cycle

    def at(self, x, stride=1.0, toes=True):
        """Centres of mass (n, 3), turns from standing, and the hinges' points (n, 3) at fractions x of the cycle."""
        s = self.person
        bodies = s.bodies
        standing = {name: b.r + b.A @ h.points[name] for name, b, h in (
            ("leg", bodies["leg"], s.talocrural), ("main_foot", bodies["main_foot"], s.talocalcaneal),
        )}  # fmt: skip
        ball = bodies["toes"].r + bodies["toes"].A @ s.metatarsophalangeal.points["toes"]
        self.axis = {
            "talocrural": -(bodies["leg"].A @ s.talocrural.axes["leg"]),  # dorsiflexion
            "talocalcaneal": bodies["main_foot"].A @ s.talocalcaneal.axes["main_foot"],  # inversion
            "metatarsophalangeal": -(bodies["toes"].A @ s.metatarsophalangeal.axes["toes"]),  # extension
        }
        self.angle = {
            "talocrural": MOTION["dorsiflexion"], "talocalcaneal": MOTION["inversion"],
            "metatarsophalangeal": NORMS["toe_extension"].mean if toes else None,
        }  # fmt: skip

        def about(joint):
            series = self.angle[joint]
            theta = np.zeros(len(x)) if series is None else series(x)
            return Rotation.from_rotvec(theta[:, None] * self.axis[joint])

        G, r, hinge = {}, {}, {}
        G["leg"] = Rotation.from_euler("ZYX", np.column_stack([MOTION[k](x) for k in ("yaw", "pitch", "roll")]))
        talus = G["leg"] * about("talocrural")
        G["main_foot"] = talus * about("talocalcaneal")
        G["toes"] = G["main_foot"] * about("metatarsophalangeal")
        hinge["talocrural"] = standing["leg"] + stride * np.column_stack([MOTION[f"ankle_{k}"](x) for k in "xyz"])
        hinge["talocalcaneal"] = hinge["talocrural"] + talus.apply(standing["main_foot"] - standing["leg"])
        hinge["metatarsophalangeal"] = hinge["talocalcaneal"] + G["main_foot"].apply(ball - standing["main_foot"])
        r["leg"] = hinge["talocrural"] + G["leg"].apply(bodies["leg"].r - standing["leg"])
        r["main_foot"] = hinge["talocalcaneal"] + G["main_foot"].apply(bodies["main_foot"].r - standing["main_foot"])
        r["toes"] = hinge["metatarsophalangeal"] + G["toes"].apply(bodies["toes"].r - ball)
        self.hinge_axis = {
            "talocrural": G["leg"].apply(self.axis["talocrural"]),
            "talocalcaneal": G["main_foot"].apply(self.axis["talocalcaneal"]),
            "metatarsophalangeal": G["toes"].apply(self.axis["metatarsophalangeal"]),
        }
        return r, G, hinge

    def markers(self, x, stride=1.0, toes=True):
        r, G, _ = self.at(x, stride, toes)
        found = {}
        for body, segment in self.person.bodies.items():
            for label, local in segment.markers.items():
                if label not in segment.calibration:
                    found[label] = r[body] + G[body].apply(segment.A @ local)
        return found

    def ground(self, x, stride=1.0, toes=True):
        """Force (n, 3), point (n, 3) and free moment (n,) at fractions of the cycle."""
        s = np.clip(x / STANCE, 0.0, 1.0)
        weight = self.person.mass * 9.81
        force = weight * np.column_stack([NORMS[f"{k}_force"].mean(s) for k in ("anterior", "medial", "vertical")])
        foot = self.person.bodies["main_foot"]
        heel = foot.markers[self.person.landmarks.labels["heel"]]
        r, G, _ = self.at(x, stride, toes)
        path = heel + self.person.foot_length * np.column_stack([CENTRE_OF_PRESSURE[k](s) for k in "xyz"])
        point = r["main_foot"] + G["main_foot"].apply(path @ foot.A.T)
        point[:, 2] = 0.0
        return force, point, self.person.mass * NORMS["free_moment"].mean(x / STANCE)

    def derivative(self, values, order):
        """Of periodic values (n, ...) over time, by their Fourier series up to the 150th harmonic."""
        k = np.fft.rfftfreq(self.n, 1.0 / self.n)
        factor = np.where(k <= 150, (2j * np.pi * k / self.cycle) ** order, 0.0)
        spectrum = np.fft.rfft(values, axis=0) * factor.reshape(-1, *[1] * (values.ndim - 1))
        return np.fft.irfft(spectrum, self.n, axis=0)

    def needed(self, segment, r, A):
        """Force (n, 3), and moment (n, 3) about the origin, that the motion of a body with its weight needs."""
        drift = np.array([self.slope, 0.0, 0.0]) * self.cycle * self.x[:, None]
        a = self.derivative(r - drift, 2)
        A1, A2 = self.derivative(A, 1), self.derivative(A, 2)
        spin = A1 @ np.swapaxes(A, 1, 2)
        turning = A2 @ np.swapaxes(A, 1, 2) + A1 @ np.swapaxes(A1, 1, 2)
        omega, alpha = (np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1) for W in (spin, turning))
        inertia = A @ segment.inertia @ np.swapaxes(A, 1, 2)
        momentum = (inertia @ omega[..., None])[..., 0]
        rate = (inertia @ alpha[..., None])[..., 0] + np.cross(omega, momentum)
        push = segment.mass * (a + [0.0, 0.0, 9.81])
        return push, rate + np.cross(r, push)

    def wrenches(self, share=None):
        """By body: what must act on it beside the ground's force, of which a share (n,) is on the toes, as of ``needed``."""
        force, point, free = self.ground(self.x)
        free = np.outer(free, [0.0, 0.0, 1.0])
        wrench = {
            body: self.needed(segment, self.r[body], self.G[body].as_matrix() @ segment.A)
            for body, segment in self.person.bodies.items()
        }
        part = np.zeros(self.n) if share is None else share
        for body, here in (("main_foot", 1.0 - part), ("toes", part)):
            push, moment = wrench[body]
            here = here[:, None]
            wrench[body] = (push - here * force, moment - here * (np.cross(point, force) + free))
        return wrench

    def loads(self, share=None):
        """Force on the foot at the ankle (n, 3) and moment of each joint (n,); a share (n,) of the ground's force is on toes."""
        wrench, moments = self.wrenches(share), {}
        foot = tuple(a + b for a, b in zip(wrench["main_foot"], wrench["toes"], strict=True))
        for joint, (push, moment) in zip(JOINTS, (foot, foot, wrench["toes"]), strict=True):
            about = moment - np.cross(self.hinge[joint], push)
            moments[joint] = (about * self.hinge_axis[joint]).sum(axis=1)
        return foot[0], moments

    def rate(self, joint):
        """Of an angle, (n,) [rad/s]."""
        series = self.angle[joint]
        return np.zeros(self.n) if series is None else series(self.x, 1) / self.cycle


def relative(found, truth):
    return float(np.abs(found - truth).max() / np.abs(truth).max())


OTHER = {
    "FLE": (0.03, -0.06, 0.42), "FME": (0.03, 0.04, 0.415), "FAX": (0.01, -0.07, 0.37), "TTC": (0.075, -0.01, 0.36),
    "FAL": (0.02, -0.045, 0.066), "TAM": (0.045, 0.03, 0.078), "FCC": (-0.005, 0.0, 0.03),
    "FM1": (0.165, 0.045, 0.028), "FM2": (0.175, 0.01, 0.04), "FM5": (0.135, -0.045, 0.02),
}  # fmt: skip


@cache
def other_laboratory(side, direction, rate=200.0):
    """A woman's static trial and walk in laboratory axes of their own, and the answer by hand."""
    letter, across = side[0].upper(), np.array([1.0, 1.0 if side == "right" else -1.0, 1.0])
    toe_in = Rotation.from_euler("z", 12.0, degrees=True)
    who = Subject("other", 55.0, 1.60, "female", None)
    standing = {f"{letter}_{k}": toe_in.apply([p]) for k, p in OTHER.items()}
    person = scale_to_subject(Capture("other standing", np.zeros(1), standing, subject=who), side)
    cycle, stride = 1.2, 0.85
    walker = Walker(person, n=1200, stride=stride, cycle=cycle, toes=False)
    walker.r, walker.G, walker.hinge = walker.at(walker.x, stride, toes=False)
    walker.ground = lambda x, *_, real=walker.ground: real(x, stride, False)
    t = np.arange(round(1.5 * rate)) / rate
    markers = walker.markers((t - 0.15) / cycle, stride, False)
    t_force = np.arange(1501) / 1000.0
    x = (t_force - 0.15) / cycle
    force, point, free = walker.ground(x)
    point[(x <= 0.0) | (x >= STANCE)] = np.nan
    lab = Rotation.from_euler("z", direction, degrees=True).as_matrix() @ np.diag(across)
    shift = np.array([2.0, -1.0, 0.3])
    plate = GroundForce("plate", t_force, force @ lab.T, point @ lab.T + shift, free * across[1], None, 0.3)
    events = tuple(
        GaitEvent(time, kind, side)
        for time, kind in ((0.15, "foot_strike"), (0.15 + STANCE * cycle, "foot_off"), (0.15 + cycle, "foot_strike"))
    )
    markers = {label: p @ lab.T + shift for label, p in markers.items()}
    walk = Capture("other walk", t, markers, (plate,), events, who)
    facing = Rotation.from_euler("z", -70.0, degrees=True).as_matrix() @ np.diag(across)
    static = Capture("other standing", np.zeros(1), {k: p @ facing.T for k, p in standing.items()}, subject=who)
    return static, walk, walker
