"""The generated modules of joints, drivers, forces and spans of paths."""

from generated import forces, joints, paths
from runtime.system.definitions import Definitions

JOINT_MODULES = tuple(Definitions(joints.MODULES).values())
FORCE_MODULES = tuple(Definitions(forces.MODULES).values())
PATH_MODULES = tuple(Definitions(paths.MODULES).values())
