"""A small OpenSim model in versions 3 and 4: a free trunk, a limb with a coupled knee, an oblique ankle, a welded toe, an arm."""

PLACES = {
    "pelvis": ("FreeJoint", "ground", "0 0.1 0", "0.1 0.2 0.3", "0.02 0 0.01", "0.1 -0.1 0.2"),
    "femur": ("GimbalJoint", "pelvis", "0.05 -0.06 0.08", "0 0.1 0", "0 0.01 0", "0 0 0.3"),
    "tibia": ("CustomJoint", "femur", "0 -0.01 0.02", "0.2 0 0.1", "0.01 0 0", "0 0.1 0"),
    "talus": ("PinJoint", "tibia", "0 -0.43 0", "0.176 -0.105 0", "0 0 0", "0.176 -0.105 0"),
    "toes": ("WeldJoint", "talus", "0.1 0 0.01", "0 0 0.2", "0 0 0", "0 0 0"),
    "humerus": ("UniversalJoint", "pelvis", "0 0.4 0.2", "0 0 0", "0 0.1 0", "0 0 0"),
    "hand": ("SliderJoint", "humerus", "0 -0.3 0", "0.1 0 0.4", "0 0 0", "0 0 0"),
    "sled": ("PlanarJoint", "ground", "1 0 0", "0.3 0 0", "0 0 0", "0 0.2 0"),
}
COORDINATES = {
    "pelvis": ("p_rx", "p_ry", "p_rz", "p_tx", "p_ty", "p_tz"), "femur": ("hip_x", "hip_y", "hip_z"), "tibia": ("knee", "twist"),
    "talus": ("ankle",), "toes": (), "humerus": ("arm_x", "arm_y"), "hand": ("reach",), "sled": ("s_turn", "s_x", "s_y"),
}  # fmt: skip
MASSES = {
    "pelvis": (11.0, "-0.07 0.01 0.02", (0.1, 0.09, 0.06, 0.002, -0.001, 0.003)),
    "femur": (9.0, "0 -0.17 0", (0.13, 0.035, 0.14, 0, 0, 0)),
    "tibia": (3.7, "0.01 -0.18 0", (0.05, 0.005, 0.051, 0, 0.001, 0)),
    "talus": (0.1, "0 0.01 0", (0.001, 0.0012, 0.001, 0, 0, 0)),
    "toes": (0.2, "0.03 0 -0.01", (0.0001, 0.0002, 0.00015, 0, 0, 0)),
    "humerus": (1.8, "0 -0.18 0", (0.015, 0.0045, 0.013, 0, 0, 0)),
    "hand": (0.5, "0.02 -0.05 0.01", (0.002, 0.001, 0.0015, 0, 0, 0)),
    "sled": (2.0, "0.1 0 0.1", (0.02, 0.03, 0.04, 0.001, 0, 0)),
}
SPLINE = "<SimmSpline{}><x>-2 -1.2 -0.4 0.3 0.9</x><y>-0.003 0.004 0.0041 -0.001 -0.005</y></SimmSpline>"
THREE = "<SimmSpline{}><x>-1 0 0.7</x><y>0.4 0.39 0.41</y></SimmSpline>"
POLYNOMIAL = "<PolynomialFunction{}><coefficients>0.02 -0.01 0.003</coefficients></PolynomialFunction>"
LINEAR = "<LinearFunction{}><coefficients>1 0</coefficients></LinearFunction>"
AXES = {
    "rotation1": ("knee", "0 0.1 2", LINEAR),
    "rotation2": ("twist", "0 1 0", LINEAR),
    "rotation3": ("", "1 0 0", "<Constant{}><value>0.2</value></Constant>"),
    "translation1": (
        "knee", "1 0 0.2",
        f"<MultiplierFunction{{}}><function>{SPLINE.format('')}</function><scale>1.2</scale></MultiplierFunction>",
    ),
    "translation2": ("knee", "0 -1 0", THREE),
    "translation3": ("twist", "0 0 1", POLYNOMIAL),
}  # fmt: skip


def osim(version, *, axes=AXES, extra="", defaults=None):
    """The text of the model; ``extra``: more of <Model>; ``defaults``: values of coordinates."""
    parts = [_body(name, version, axes, defaults or {}) for name in PLACES]
    bodies, joints = "".join(body for body, _ in parts), "".join(joint for _, joint in parts)
    ground = '<Body name="ground"><mass>0</mass></Body>' if version == 3 else ""
    sets = f"<BodySet><objects>{ground}{bodies}</objects></BodySet>"
    if version == 4:
        sets = f'<Ground name="ground"/>{sets}<JointSet><objects>{joints}</objects></JointSet>'
    where = "<body>tibia</body>" if version == 3 else "<socket_parent_frame>/bodyset/tibia</socket_parent_frame>"
    marker = f'<Marker name="shin">{where}<location>0.01 -0.2 0.03</location></Marker>'
    number = {3: "30000", 4: "40000"}[version]
    return (
        f'<?xml version="1.0"?>\n<OpenSimDocument Version="{number}"><Model name="small"><gravity>0.3 -9.8 0.2</gravity>'
        f"{sets}<MarkerSet><objects>{marker}</objects></MarkerSet>{extra}</Model></OpenSimDocument>"
    ).replace("><", ">\n<")


def _body(name, version, axes, defaults):
    kind, parent, *places = PLACES[name]
    coordinates = "".join(
        f'<Coordinate name="{c}"><default_value>{defaults.get(c, 0.0)}</default_value><range>-9 9</range></Coordinate>'
        for c in COORDINATES[name]
    )
    transform = "".join(
        f'<TransformAxis name="{label}"><coordinates>{c}</coordinates><axis>{axis}</axis>{_within(text, version)}</TransformAxis>'
        for label, (c, axis, text) in axes.items()
    )
    transform = f"<SpatialTransform>{transform}</SpatialTransform>" if kind == "CustomJoint" else ""
    mass, centre, inertia = MASSES[name]
    own = f"<mass>{mass}</mass><mass_center>{centre}</mass_center>"
    if version == 3:
        words = zip(("xx", "yy", "zz", "xy", "xz", "yz"), inertia, strict=True)
        own += "".join(f"<inertia_{w}>{v}</inertia_{w}>" for w, v in words)
        tags = ("location_in_parent", "orientation_in_parent", "location", "orientation")
        frames = "".join(f"<{tag}>{value}</{tag}>" for tag, value in zip(tags, places, strict=True))
        group = f"<CoordinateSet><objects>{coordinates}</objects></CoordinateSet>"
        joint = f'<{kind} name="{name}_joint"><parent_body>{parent}</parent_body>{frames}{group}{transform}</{kind}>'
        return f'<Body name="{name}">{own}<Joint>{joint}</Joint></Body>', ""
    own += f"<inertia>{' '.join(map(str, inertia))}</inertia>"
    frames = "".join(
        f'<PhysicalOffsetFrame name="{frame}_offset"><socket_parent>{"" if frame == "ground" else "/bodyset"}/{frame}'
        f"</socket_parent><translation>{t}</translation><orientation>{o}</orientation></PhysicalOffsetFrame>"
        for frame, t, o in ((parent, *places[:2]), (name, *places[2:]))
    )
    joint = (
        f'<{kind} name="{name}_joint"><socket_parent_frame>{parent}_offset</socket_parent_frame>'
        f"<socket_child_frame>{name}_offset</socket_child_frame><coordinates>{coordinates}</coordinates><frames>{frames}</frames>"
        f"{transform}</{kind}>"
    )
    return f'<Body name="{name}">{own}</Body>', joint


def _within(function, version):
    return f"<function>{function.format('')}</function>" if version == 3 else function.format(' name="function"')


# OpenSim 4.6, InverseDynamicsSolver.solve: q, u, u' and generalised force of each coordinate, in SI units.
SOLVED = {
    "p_rx": (0.000, 0.000, -1.437, -33.879340394312),
    "p_ry": (0.000, 0.000, 7.872, 19.70102193166555),
    "p_rz": (0.000, 0.000, -2.164, -55.33657588877643),
    "p_tx": (0.356, -1.320, -3.677, -23.5462652813751),
    "p_ty": (-0.323, -0.662, 1.249, 308.5343322176401),
    "p_tz": (-0.538, 0.935, 5.157, 117.8482620992726),
    "hip_x": (-0.115, 0.049, 0.805, -3.8093368693280865),
    "hip_y": (-0.362, 2.002, -2.928, 24.167794838590442),
    "hip_z": (-0.491, 0.189, -6.706, -41.57891055724732),
    "knee": (0.096, -0.633, -7.008, -8.70366590261008),
    "twist": (-0.242, -0.378, 2.513, 0.5409236921895426),
    "ankle": (0.206, -1.091, 4.949, 0.3663115280459145),
    "arm_x": (-0.361, -1.278, -0.821, -5.918308408316375),
    "arm_y": (0.531, 0.630, -5.372, 0.3768852671084694),
    "reach": (-0.162, 0.581, 4.365, 1.873859782797345),
    "s_turn": (-0.473, 1.295, -6.402, 1.1218664110979262),
    "s_x": (0.155, -0.755, -3.565, -8.419096332767122),
    "s_y": (0.513, 1.689, 3.105, 24.04513041965138),
}
# OpenSim 4.6, SimmSpline through SPLINE_POINTS: argument, value, first and second derivative.
SPLINE_POINTS = (
    (0, 0.174533, 0.349066, 0.523599, 0.698132, 0.872665, 1.0472, 1.22173, 1.39626, 1.5708, 1.74533, 1.91986, 2.0944),
    (
        0.00113686,
        -0.00629212,
        -0.105582,
        -0.253683,
        -0.414245,
        -0.579047,
        -0.747244,
        -0.91799,
        -1.09044,
        -1.26379,
        -1.43763,
        -1.61186,
        -1.78634,
    ),
)
SPLINE_VALUES = (
    (-0.5, -0.1502461754658401, 0.3027660709316802, 0.0),
    (-0.1, -0.02913974709316802, 0.3027660709316802, 0.0),
    (0.0, 0.00113686, 0.3027660709316802, -4.428279658238736),
    (0.1, 0.010621612727903814, -0.09957557711430909, -3.618553302681049),
    (0.3, -0.07087470072178675, -0.6614959885123355, -2.001571711036994),
    (1.0, -0.7014704685865164, -0.9676838863753006, -0.09131480948718346),
    (2.0, -1.691952308638685, -0.999653847671476, -0.005459112879375051),
    (2.0944, -1.78634, -1.0000434701641618, -0.002795600948713599),
    (2.2, -1.891944590449336, -1.0000434701641618, 0.0),
)
