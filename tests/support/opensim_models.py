"""Small models of OpenSim, as texts of versions 3 and 4."""

KNEE = "-2 -1 0 1 2", "0.3 0.1 0 0.2 0.15"  # knots and values of a spline

BODY_3 = """<Body name="{name}"><mass>{mass}</mass><mass_center>{centre}</mass_center><inertia_xx>{moment}</inertia_xx>
 <inertia_yy>0.02</inertia_yy><inertia_zz>0.03</inertia_zz><inertia_xy>0.001</inertia_xy><inertia_xz>0</inertia_xz>
 <inertia_yz>-0.002</inertia_yz><Joint>{joint}</Joint></Body>"""
BODY_4 = """<Body name="{name}"><mass>{mass}</mass><mass_center>{centre}</mass_center>
 <inertia>{moment} 0.02 0.03 0.001 0 -0.002</inertia></Body>"""
JOINT_3 = """<{kind} name="{name}"><parent_body>{parent}</parent_body><location_in_parent>{at_parent}</location_in_parent>
 <orientation_in_parent>{turn_parent}</orientation_in_parent><location>{at_child}</location>
 <orientation>{turn_child}</orientation><CoordinateSet><objects>{coordinates}</objects></CoordinateSet>{more}</{kind}>"""
JOINT_4 = """<{kind} name="{name}"><socket_parent_frame>of_parent</socket_parent_frame>
 <socket_child_frame>of_child</socket_child_frame><coordinates>{coordinates}</coordinates><frames>
 <PhysicalOffsetFrame name="of_parent"><socket_parent>{path}</socket_parent><translation>{at_parent}</translation>
 <orientation>{turn_parent}</orientation></PhysicalOffsetFrame>
 <PhysicalOffsetFrame name="of_child"><socket_parent>/bodyset/{child}</socket_parent><translation>{at_child}</translation>
 <orientation>{turn_child}</orientation></PhysicalOffsetFrame></frames>{more}</{kind}>"""


def coordinate(name, value=0.0, more=""):
    return f'<Coordinate name="{name}"><default_value>{value}</default_value>{more}</Coordinate>'


def axis(name, direction, by="", function="<Constant><value>0</value></Constant>", version=4):
    inner = function if version == 4 else f"<function>{function}</function>"
    return (
        f'<TransformAxis name="{name}"><coordinates>{by}</coordinates><axis>{direction}</axis>{inner}</TransformAxis>'
    )


def line(slope=1, constant=0):
    return f"<LinearFunction><coefficients>{slope} {constant}</coefficients></LinearFunction>"


def spline(kind="SimmSpline"):
    return f"<{kind}><x>{KNEE[0]}</x><y>{KNEE[1]}</y></{kind}>"


def hip(version):
    """Two slides along axes that are not perpendicular, then three turns, the second one backwards; one turn is constant."""
    return "<SpatialTransform>{}</SpatialTransform>".format(
        "".join(
            axis(*given, version=version)
            for given in (
                ("rotation1", "0 0 1", "flexion", line()),
                ("rotation2", "0.6 0.8 0", "adduction", line(-1)),
                ("rotation3", "0 1 0", "rotation", line(1, 0.3)),
                ("translation1", "1 0 0", "forward", line()),
                ("translation2", "0.6 0.8 0", "up", line()),
                ("translation3", "0 0 1", "", "<Constant><value>0.05</value></Constant>"),
            )
        )
    )


def knee(version):
    """A turn, along with which the joint slides on a spline."""
    return "<SpatialTransform>{}</SpatialTransform>".format(
        "".join(
            axis(*given, version=version)
            for given in (
                ("rotation1", "0.1 0 1", "knee_angle", line()),
                ("rotation2", "0 1 0"),
                ("rotation3", "1 0 0"),
                (
                    "translation1",
                    "1 0 0",
                    "knee_angle",
                    f"<MultiplierFunction><function>{spline()}</function><scale>2</scale></MultiplierFunction>",
                ),
                ("translation2", "0 1 0", "knee_angle", spline("NaturalCubicSpline")),
                ("translation3", "0 0 1"),
            )
        )
    )


def leg(version=4, more="", forces="", constraints=""):
    """Pelvis, thigh, shank and a foot of two hinges, with a marker."""
    joints = {
        "pelvis": ("PlanarJoint", "ground", "0 0.9 0", "0 0 0", "0 0 0", "0 0.2 0",
                   [coordinate("pelvis_turn", 0.1), coordinate("pelvis_x", 0.2), coordinate("pelvis_y")], ""),
        "thigh": ("CustomJoint", "pelvis", "0 -0.1 0.08", "0.1 0.2 -0.3", "0 0.2 0", "0.3 0 0.2",
                  [coordinate(n, v) for n, v in (("flexion", 0.2), ("adduction", -0.1), ("rotation", 0.0), ("forward", 0.01),
                                                 ("up", 0.02))], hip(version)),
        "shank": ("CustomJoint", "thigh", "0 -0.2 0", "0 0 0", "0 0.2 0", "0 0.1 0",
                  [coordinate("knee_angle", -0.7)], knee(version)),
        "talus": ("PinJoint", "shank", "0 -0.2 0", "0.2 -0.1 0.3", "0.01 0 0", "0.1 0 0", [coordinate("ankle", 0.1)], ""),
        "foot": ("UniversalJoint", "talus", "0 -0.04 0", "0.6 0.4 0", "0 0 0", "0 0 0",
                 [coordinate("subtalar"), coordinate("toe_out", 0.0, "<locked>true</locked>")], ""),
    }  # fmt: skip
    masses = {"pelvis": 11.0, "thigh": 9.0, "shank": 3.5, "talus": 0.2, "foot": 1.2}
    bodies, made = [], []
    for child, (kind, parent, at, turn, at_child, turn_child, coordinates, inside) in joints.items():
        path = "/ground" if parent == "ground" else f"/bodyset/{parent}"
        values = dict(
            kind=kind, name=f"{child}_joint", parent=parent, child=child, path=path, at_parent=at, turn_parent=turn,
            at_child=at_child, turn_child=turn_child, coordinates="".join(coordinates), more=inside,
        )  # fmt: skip
        joint = (JOINT_4 if version == 4 else JOINT_3).format(**values)
        form = BODY_4 if version == 4 else BODY_3
        bodies.append(form.format(name=child, mass=masses[child], centre="0.01 -0.1 0.02", moment=0.025, joint=joint))
        made.append(joint)
    where = "<socket_parent_frame>/bodyset/foot</socket_parent_frame>" if version == 4 else "<body>foot</body>"
    marker = f'<Marker name="toe">{where}<location>0.1 0 0</location></Marker>'
    ground = '<Ground name="ground"/>' if version == 4 else ""
    jointset = f"<JointSet><objects>{''.join(made)}</objects></JointSet>" if version == 4 else ""
    fixed = '<Body name="ground"><mass>0</mass></Body>' if version != 4 else ""
    return f"""<?xml version="1.0" encoding="UTF-8" ?><OpenSimDocument Version="{version}0000"><Model name="leg">
 {ground}<gravity>0 -9.8 0.1</gravity><BodySet><objects>{fixed}{"".join(bodies)}</objects></BodySet>{jointset}
 <MarkerSet><objects>{marker}</objects></MarkerSet><ForceSet><objects>{forces}</objects></ForceSet>
 <ConstraintSet><objects>{constraints}</objects></ConstraintSet>{more}</Model></OpenSimDocument>"""
