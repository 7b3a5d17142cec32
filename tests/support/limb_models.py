"""Small lower limbs as OpenSim files: pelvis, and on each side shank, talus and foot by hinges."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

BODY = """<Body name="{name}"><mass>{mass!r}</mass><mass_center>{centre}</mass_center><inertia>{inertia}</inertia></Body>"""
JOINT = """<{kind} name="{name}"><socket_parent_frame>in</socket_parent_frame><socket_child_frame>out</socket_child_frame>
 <coordinates>{coordinates}</coordinates><frames>
 <PhysicalOffsetFrame name="in"><socket_parent>{parent}</socket_parent><translation>{at_parent}</translation>
 <orientation>{turn}</orientation></PhysicalOffsetFrame>
 <PhysicalOffsetFrame name="out"><socket_parent>/bodyset/{child}</socket_parent><translation>{at_child}</translation>
 <orientation>{turn}</orientation></PhysicalOffsetFrame></frames></{kind}>"""
COORDINATE = '<Coordinate name="{}"><default_value>0</default_value><locked>{}</locked></Coordinate>'
MARKER = """<Marker name="{}"><socket_parent_frame>/bodyset/{}</socket_parent_frame><location>{}</location></Marker>"""
MIRROR = np.array([1.0, 1.0, -1.0])
SIDES = {"r": np.ones(3), "l": MIRROR}


@dataclass(frozen=True)
class Inertial:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2]."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    def on(self, side):
        """Mirrored for a left side."""
        S = np.diag(SIDES[side])
        return Inertial(self.mass, S @ self.centre, S @ self.inertia @ S)


def inertial(mass, centre, moments, turn=(0.2, -0.3, 0.1)):
    R = Rotation.from_rotvec(turn).as_matrix()
    return Inertial(mass, np.array(centre), R @ np.diag(moments) @ R.T)


@dataclass(frozen=True)
class Limb:
    """What a file states of the right side; the left one is its mirror image.  Points in axes of the body before them."""

    ankle_axis: np.ndarray = field(default_factory=lambda: np.array([-0.10501355, -0.17402245, 0.97912632]))
    subtalar_axis: np.ndarray = field(default_factory=lambda: np.array([0.78717961, 0.60474746, -0.12094949]))
    ankle: np.ndarray = field(
        default_factory=lambda: np.array([0.01, -0.41, 0.003])
    )  # in the shank: origin of the talus
    foot: np.ndarray = field(
        default_factory=lambda: np.array([-0.0488, -0.042, 0.0279])
    )  # origin of the foot in the talus
    subtalar: np.ndarray | None = None  # in the talus; default: origin of the foot
    shank: Inertial = field(default_factory=lambda: inertial(3.2, (0.01, -0.18, 0.02), (0.05, 0.006, 0.052)))
    talus: Inertial = field(default_factory=lambda: inertial(0.1, (0.005, 0.01, -0.004), (3e-4, 2e-4, 4e-4)))
    calcn: Inertial = field(default_factory=lambda: inertial(1.2, (0.08, 0.02, 0.01), (0.0013, 0.0039, 0.0042)))
    locked: bool = False
    welded: bool = False  # the foot to the talus
    one_foot: bool = False  # no talus: the ankle carries the foot
    markers: str = ""

    def text(self):
        """The file."""
        bodies, joints = [body("pelvis", inertial(11.0, (0.0, 0.05, 0.0), (0.1, 0.08, 0.06)))], [_pelvis()]
        for side, S in SIDES.items():
            for name in ("shank", "calcn") if self.one_foot else ("shank", "talus", "calcn"):
                bodies.append(body(f"{name}_{side}", getattr(self, name).on(side)))
            knee, at = np.array([0.0, 0.0, 1.0]), np.array([0.0, -0.4, 0.08])
            subtalar = self.foot if self.subtalar is None else self.subtalar
            # A mirrored axis of rotation: x and y change sign, so that the same angle mirrors the motion.
            outer = f"calcn_{side}" if self.one_foot else f"talus_{side}"
            joints += [
                hinge(f"knee_{side}", f"knee_angle_{side}", "pelvis", f"shank_{side}", S * at, knee, np.zeros(3)),
                hinge(f"ankle_{side}", f"ankle_angle_{side}", f"shank_{side}", outer, S * self.ankle,
                      -S * self.ankle_axis if side == "l" else self.ankle_axis, -S * self.foot * self.one_foot),
                hinge(f"subtalar_{side}", f"subtalar_angle_{side}", f"talus_{side}", f"calcn_{side}", S * subtalar,
                      -S * self.subtalar_axis if side == "l" else self.subtalar_axis, S * (subtalar - self.foot),
                      locked=self.locked, welded=self.welded),
            ][: 2 if self.one_foot else 3]  # fmt: skip
        markers = MARKER.format("heel", "calcn_r", "-0.02 0.02 0") + MARKER.format(
            "dome", "shank_r" if self.one_foot else "talus_r", "0 0.01 0.02"
        )
        return f"""<?xml version="1.0" encoding="UTF-8" ?><OpenSimDocument Version="40000"><Model name="limb">
 <Ground name="ground"/><gravity>0.1 -9.8 0.2</gravity><BodySet><objects>{"".join(bodies)}</objects></BodySet>
 <JointSet><objects>{"".join(joints)}</objects></JointSet>
 <MarkerSet><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>"""

    def moved_to(self, carrier):
        """With the talus's mass on shank or foot, by spatial inertias about the origin of its carrier; a talus of 1e-12 kg."""
        other = getattr(self, carrier)
        offset = self.ankle if carrier == "shank" else -self.foot
        parts = [spatial(other, np.zeros(3)), spatial(self.talus, offset)]
        return replace(self, **{carrier: of_spatial(sum(parts))}, talus=TINY)


TINY = Inertial(1e-12, np.zeros(3), 1e-16 * np.eye(3))


def spatial(body_inertial, offset):
    """Spatial inertia (6, 6) about a point, from which the body's origin lies at an offset (3,) [m]."""
    c = body_inertial.centre + offset
    X = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    m = body_inertial.mass
    return np.block([[body_inertial.inertia + m * X @ X.T, m * X], [m * X.T, m * np.eye(3)]])


def of_spatial(M):
    """Mass, centre and inertia about it of a spatial inertia (6, 6)."""
    m = M[5, 5]
    X = M[:3, 3:] / m
    return Inertial(m, np.array([X[2, 1], X[0, 2], X[1, 0]]), M[:3, :3] - m * X @ X.T)


def _words(values):
    return " ".join(repr(float(v)) for v in values)


def body(name, of):
    J = of.inertia
    inertia = _words([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    return BODY.format(name=name, mass=float(of.mass), centre=_words(of.centre), inertia=inertia)


def _pelvis():
    coordinates = "".join(COORDINATE.format(f"pelvis_{of}", "false") for of in ("turn", "x", "y"))
    return JOINT.format(
        kind="PlanarJoint", name="pelvis_joint", coordinates=coordinates, parent="/ground", child="pelvis", at_parent="0 0.9 0",
        at_child="0 0 0", turn="0 0 0",
    )  # fmt: skip


def hinge(name, coordinate, parent, child, at_parent, axis, at_child, locked=False, welded=False):
    """A pin joint about an axis, or a weld; the bodies are parallel where the angle is 0."""
    turn, _ = Rotation.align_vectors([axis / np.linalg.norm(axis)], [[0.0, 0.0, 1.0]])
    return JOINT.format(
        kind="WeldJoint" if welded else "PinJoint", name=name, parent=f"/bodyset/{parent}", child=child,
        coordinates="" if welded else COORDINATE.format(coordinate, str(locked).lower()),
        at_parent=_words(at_parent), at_child=_words(at_child), turn=_words(turn.as_euler("XYZ")),
    )  # fmt: skip
