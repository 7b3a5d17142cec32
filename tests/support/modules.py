"""The generated modules of joints, drivers and forces."""

from generated import forces, joints
from runtime.system.definitions import Definitions

JOINT_MODULES = tuple(Definitions(joints.MODULES).values())
FORCE_MODULES = tuple(Definitions(forces.MODULES).values())
