"""The generated modules of joints, drivers, forces, and spans and points of paths."""

from generated import forces, joints, paths, points
from runtime.system.definitions import Definitions

JOINT_MODULES = tuple(Definitions(joints.MODULES).values())
FORCE_MODULES = tuple(Definitions(forces.MODULES).values())
PATH_MODULES = tuple(Definitions(paths.MODULES).values())
POINT_MODULES = tuple(Definitions(points.MODULES).values())
