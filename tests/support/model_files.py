"""Small models in MJCF and URDF, of each kind of joint."""

HEAD = """<mujoco model="small"><compiler angle="radian"/>
<option gravity="0.4 -0.3 -9.7"><flag contact="disable"/></option><worldbody>"""
BASE = """<body name="base" pos="0.1 0.2 1" euler="0.2 0.1 0.3"><joint name="root" axis="0.6 0 0.8" pos="0 0.1 0"/>
  <inertial mass="2" pos="0.05 0.02 -0.1" fullinertia="0.05 0.06 0.04 0.004 -0.003 0.002"/>"""
TIP = """<inertial mass="1.3" pos="0.06 -0.02 -0.2" euler="0.3 0.5 0.1" diaginertia="0.03 0.02 0.025"/>
  <body name="tip" pos="0.1 0 -0.4"><joint name="end" axis="0 1 0" damping="0.2"/>
  <inertial mass="0.4" pos="0 0.03 -0.1" diaginertia="0.004 0.005 0.003"/></body>"""
JOINTS = {
    "hinge": '<joint name="a" axis="0.48 -0.6 0.64" pos="0.1 0 0.05" stiffness="3" damping="0.3" ref="0.2" springref="0.5"/>',
    "slide": '<joint name="a" type="slide" axis="0.48 -0.6 0.64" stiffness="30" damping="2" ref="0.1" springref="0.2"/>',
    "ball": '<joint name="a" type="ball" pos="0.1 0 0.05" damping="0.4"/>',
    "welded": "",
    "hinges that meet": '<joint name="a" axis="1 0 0" stiffness="2"/><joint name="b" axis="0.3 1 0" damping="1" stiffness="4"/>',
    "hinges apart": '<joint name="a" axis="1 0 0" pos="0 0 0.2" stiffness="2"/><joint name="b" axis="0.3 1 0" damping="0.1"/>',
    "parallel hinges": '<joint name="a" axis="0 1 0" pos="0 0 0.3"/><joint name="b" axis="0 1 0"/>',
    "three hinges": (
        '<joint name="a" axis="1 0 0" stiffness="2"/><joint name="b" axis="0 1 0.5" springref="0.3" stiffness="5"/>'
        '<joint name="c" axis="0 0 1" damping="0.2"/>'
    ),
    "two slides": '<joint name="a" type="slide" axis="1 0 0" stiffness="9"/><joint name="b" type="slide" axis="0 1 0"/>',
    "two slides and a hinge": (
        '<joint name="a" type="slide" axis="1 0 0" damping="1"/><joint name="b" type="slide" axis="0 0 1"/>'
        '<joint name="c" axis="0 1 0"/>'
    ),
    "three slides": (
        '<joint name="a" type="slide" axis="1 0 0"/><joint name="b" type="slide" axis="0 1 0" stiffness="20"/>'
        '<joint name="c" type="slide" axis="0 0 1"/>'
    ),
    "three slides and a ball": (
        '<joint name="a" type="slide" axis="1 0 0"/><joint name="b" type="slide" axis="0 1 0"/>'
        '<joint name="c" type="slide" axis="0 0 1"/><joint name="d" type="ball"/>'
    ),
    "slide along a hinge": '<joint name="a" type="slide" axis="0 0 1"/><joint name="b" axis="0 0 1" pos="0.1 0 0" damping="1"/>',
    "rotors": (
        '<joint name="a" axis="1 0 0" stiffness="2" armature="0.3"/><joint name="b" axis="0 1 0.5" armature="0.01"/>'
        '<joint name="c" axis="0 0 1" damping="0.2" armature="2"/>'
    ),
    "rotors of oblique slides": (
        '<joint name="a" type="slide" axis="1 0 0.2" armature="0.3"/>'
        '<joint name="b" type="slide" axis="0.3 1 0" damping="2" stiffness="20" springref="0.1"/>'
        '<joint name="c" type="slide" axis="0 0.4 1" armature="2"/><joint name="d" type="ball"/>'
    ),
    "rotors of slides": (
        '<joint name="a" type="slide" axis="1 0 0" armature="4"/><joint name="b" type="slide" axis="0 0 1"/>'
        '<joint name="c" axis="0 1 0" armature="0.5"/>'
    ),
    "slide across a hinge": '<joint name="a" type="slide" axis="1 0 0"/><joint name="b" axis="0 0 1" pos="0.1 0 0"/>',
}  # fmt: skip


def mjcf(joints, *, extra=""):
    """A model with joints between its base and its arm."""
    arm = f'<body name="arm" pos="0.2 -0.1 -0.3" euler="0.4 -0.2 0.7">{joints}{TIP}</body>'
    return f"{HEAD}{BASE}{arm}</body></worldbody>{extra}</mujoco>"


FLOATING = f"""{HEAD}<body name="trunk" pos="0 0 1"><freejoint name="root"/>{TIP}</body></worldbody></mujoco>"""

INERTIAL = """<inertial><origin xyz="0.05 -0.02 0.1" rpy="0.3 0.2 -0.4"/><mass value="{mass}"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.04" ixy="0.004" ixz="-0.003" iyz="0.002"/></inertial>"""


def urdf(joints, links="", *, kind="revolute"):
    """A robot: base, arm on a joint of some kind, and more."""
    arm = f"""<joint name="shoulder" type="{kind}"><parent link="base"/><child link="arm"/><axis xyz="0.5 -0.6 0.64"/>
      <origin xyz="0.1 0.2 0.3" rpy="0.4 -0.2 0.7"/><dynamics damping="0.3"/>
      <limit lower="-1" upper="1.5" effort="9" velocity="9"/></joint>"""
    bodies = "".join(f'<link name="{n}">{INERTIAL.format(mass=m)}</link>' for n, m in (("base", 3.0), ("arm", 1.5)))
    return f'<robot name="small">{bodies}{links}{arm}{joints}</robot>'


MASSLESS = (
    '<joint name="elbow" type="continuous"><parent link="arm"/><child link="cross"/><axis xyz="0 1 0"/>'
    '<origin xyz="0 0 0.5"/></joint>'
    '<joint name="wrist" type="prismatic"><parent link="cross2"/><child link="hand"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    '<joint name="weld" type="fixed"><parent link="cross"/><child link="cross2"/>'
    '<origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/></joint>'
    '<joint name="tool" type="fixed"><parent link="hand"/><child link="finger"/><origin xyz="0 0 0.2" rpy="0.5 0 0"/></joint>',
    f'<link name="cross">{INERTIAL.format(mass=0.7)}</link><link name="cross2"/>'
    f'<link name="hand">{INERTIAL.format(mass=0.3)}</link>'
    f'<link name="finger">{INERTIAL.format(mass=0.2)}</link>',
)
