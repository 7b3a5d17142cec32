"""Muscles of OpenSim as texts of versions 3 and 4, on the leg of ``opensim_models``."""

from tests.support import opensim_models

KNEE = "<coordinate>knee_angle</coordinate>", "<socket_coordinate>/jointset/shank_joint/knee_angle</socket_coordinate>"
SPLINE = "<SimmSpline><x>-2 -1 0 1</x><y>0.01 0.03 0.02 0.05</y></SimmSpline>"


def place(body, version):
    return f"<body>{body}</body>" if version == 3 else f"<socket_parent_frame>/bodyset/{body}</socket_parent_frame>"


def point(body, location, version=4):
    return f'<PathPoint name="P">{place(body, version)}<location>{location}</location></PathPoint>'


def conditional(body, location, lower, upper, version=4):
    return (
        f'<ConditionalPathPoint name="P">{place(body, version)}<location>{location}</location>{KNEE[version == 4]}'
        f"<range>{lower} {upper}</range></ConditionalPathPoint>"
    )


def moving(body, version=4):
    """Along x by a spline of the knee's angle, along y by a line, at 0.01 m along z."""
    functions = {"x": SPLINE, "y": opensim_models.line(0.02, -0.1), "z": "<Constant><value>0.01</value></Constant>"}
    inside = "".join(f"<{axis}_location>{f}</{axis}_location>" for axis, f in functions.items())
    for axis in functions:
        tag = f"{axis}_coordinate" if version == 3 else f"socket_{axis}_coordinate"
        path = "knee_angle" if version == 3 else "/jointset/shank_joint/knee_angle"
        inside += f"<{tag}>{path}</{tag}>"
    return f'<MovingPathPoint name="P">{place(body, version)}{inside}</MovingPathPoint>'


def wrap(name, span="-1 -1"):
    return (
        f'<PathWrap name="w"><wrap_object>{name}</wrap_object><method>hybrid</method><range>{span}</range></PathWrap>'
    )


def cylinder(name, radius=0.03, quadrant="all", kind="WrapCylinder", more=""):
    return (
        f'<{kind} name="{name}"><xyz_body_rotation>0.1 0.2 0.3</xyz_body_rotation><translation>0.01 -0.15 0.01</translation>'
        f"<quadrant>{quadrant}</quadrant><radius>{radius}</radius><length>0.5</length>{more}</{kind}>"
    )


def muscle(name, points, wraps="", more="", kind="Thelen2003Muscle"):
    return (
        f'<{kind} name="{name}"><GeometryPath name="path"><PathPointSet><objects>{points}</objects></PathPointSet>'
        f"<PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath>{more}</{kind}>"
    )


def leg(muscles, wraps="", version=4):
    """The leg with muscles, and with wrap objects on the thigh."""
    text = opensim_models.leg(version, forces=muscles)
    holder = f"<WrapObjectSet><objects>{wraps}</objects></WrapObjectSet>"
    head, thigh = text.split('<Body name="thigh">')
    return f'{head}<Body name="thigh">{holder}{thigh}'
