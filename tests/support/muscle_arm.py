"""An arm on a hinge, held level against gravity by muscles above it, as a file of OpenSim, and trials of it."""

import numpy as np

from models.files.virtual_power import inverse_dynamics
from models.walking.opensim_trial import UNITS, Trial, kinds_of

MASS, CENTRE, GRAVITY = 2.0, 0.3, 10.0
HEIGHT = 0.3  # of the muscles' origins above the hinge
MOMENT = MASS * GRAVITY * CENTRE
FORM = """<OpenSimDocument Version="40000"><Model name="arm"><Ground name="ground"/><gravity>0 -10 0</gravity>
 <BodySet><objects><Body name="arm"><mass>2</mass><mass_center>0.3 0 0</mass_center>
 <inertia>0.01 0.02 0.02 0 0 0</inertia></Body>{bodies}</objects></BodySet>
 <JointSet><objects><PinJoint name="elbow"><socket_parent_frame>/ground</socket_parent_frame>
 <socket_child_frame>/bodyset/arm</socket_child_frame><coordinates><Coordinate name="elbow"/></coordinates></PinJoint>{joints}
 </objects></JointSet><ForceSet><objects>{forces}</objects></ForceSet>
 <ConstraintSet><objects>{constraints}</objects></ConstraintSet></Model></OpenSimDocument>"""


def length(reach):
    return float(np.hypot(reach, HEIGHT))


def arm(reach):
    """Moment arm of a muscle that is inserted at a distance from the hinge."""
    return reach * HEIGHT / length(reach)


def muscle(name, reach, strength=1000.0, pennation=0.0, kind="Thelen2003Muscle", more="", stretch=1.0):
    """A muscle whose fibre has ``stretch`` times its optimal length, 0.1 m, where the arm is level."""
    along = float(np.sqrt(stretch**2 - np.sin(pennation) ** 2))
    ends = (("/ground", f"0 {HEIGHT} 0"), ("/bodyset/arm", f"{reach} 0 0"))
    points = "".join(
        f'<PathPoint name="p{n}"><socket_parent_frame>{body}</socket_parent_frame><location>{at}</location></PathPoint>'
        for n, (body, at) in enumerate(ends)
    )
    return (
        f'<{kind} name="{name}"><GeometryPath name="path"><PathPointSet><objects>{points}</objects></PathPointSet></GeometryPath>'
        f"<max_isometric_force>{strength}</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length>"
        f"<tendon_slack_length>{length(reach) - 0.1 * along!r}</tendon_slack_length>"
        f"<pennation_angle_at_optimal>{pennation}</pennation_angle_at_optimal>{more}</{kind}>"
    )


def text(*forces, bodies="", joints="", constraints=""):
    return FORM.format(forces="".join(forces), bodies=bodies, joints=joints, constraints=constraints)


def trial(reading, q=None, u=None):
    """The coordinates that are given, all others at rest at 0; two frames unless more are given."""
    names = list(reading.source.coordinates)
    given = q or {name: np.zeros(2) for name in names}
    t = np.arange(len(next(iter(given.values()))), dtype=float)
    q, u = ({name: np.asarray(of.get(name, 0.0 * t), float) for name in names} for of in (given, u or {}))
    u_dot = {name: 0.0 * t for name in names}
    forces = inverse_dynamics(reading.source, q, u, u_dot)
    units = {name: UNITS[kind] for name, kind in kinds_of(reading.source).items()}
    return Trial(t, q, u, u_dot, forces, units, (), {})
