"""Quantities of results: their names, components, units and meanings, in datasets, tables and outputs of ensembles."""

from __future__ import annotations

from runtime.system.state import AXES, EULER, STATE_UNITS

CONVENTION = (
    "x anterior, y medial of a right foot and lateral of a left foot, z up; global axes; SI units; "
    + "Euler parameters scalar first"
)
# name -> components, unit, meaning
BODY_QUANTITIES = {
    "r": (AXES, STATE_UNITS["r"], "centre of mass"),
    "p": (EULER, STATE_UNITS["p"], "Euler parameters"),
    "v": (AXES, STATE_UNITS["v"], "velocity of the centre of mass"),
    "omega": (AXES, STATE_UNITS["omega"], "angular velocity"),
    "v_dot": (AXES, "m/s^2", "acceleration of the centre of mass"),
    "omega_dot": (AXES, "rad/s^2", "angular acceleration"),
}
SCALARS = {
    "kinetic_energy": ("J", "kinetic energy"),
    "potential_energy": ("J", "potential energy of gravity, zero at the origin"),
    "elastic_energy": ("J", "energy stored in joint limits, springs of motors, contacts and forces"),
    "energy": ("J", "kinetic, potential and elastic energy"),
    "violation": ("", "largest abs Phi of all rows, each in its own unit"),
    "velocity_violation": ("", "largest abs Phi' of all rows, each in its own unit per second"),
    "norm_violation": ("1", "largest abs(|p| - 1) of all bodies"),
}
# Of all bodies that can move: components, unit, meaning
SYSTEM_QUANTITIES = {
    "centre_of_mass": (AXES, "m", "centre of mass of all bodies that can move"),
    "momentum": (AXES, "kg m/s", "linear momentum of all bodies that can move"),
    "angular_momentum": (AXES, "kg m^2/s", "their angular momentum about the centre of mass, without that of rotors"),
}
MOTOR_QUANTITIES = {
    "effort": ("", "effort of the motor on its coordinate, with its spring and damper"),  # the unit is the motor's
    "power": ("W", "power of the motor"),
}
LIMIT_QUANTITIES = {
    "angle": ("rad", "hinge angle, signed; latitude if the limit has no hinge"),
    "rate": ("rad/s", "rate of the hinge angle; magnitude of the relative angular velocity if there is no hinge"),
    "latitude": ("rad", "latitude of the restrained direction"),
    "longitude": ("rad", "longitude of the restrained direction"),
    "maximum_latitude": ("rad", "maximum latitude at that longitude"),
    "excess": ("rad", "angle outside the cone"),
    "restricting_moment": ("N m", "magnitude of the restricting moment"),
    "dissipative_moment": ("N m", "magnitude of the dissipative moment"),
    "elastic_energy": ("J", "energy stored in the limit"),
    "dissipated_power": ("W", "power of the damper"),
}
CONTACT_QUANTITIES = {
    "penetration": ("m", "depth of the sphere in the plane, negative away from it"),
    "penetration_rate": ("m/s", "rate of the penetration"),
    "slip": ("m/s", "velocity of the sphere's point relative to the plane's"),
    "normal_force": ("N", "normal force"),
    "friction": ("N", "friction on the sphere's body, part of its force"),
    "force": ("N", "force on the sphere's body"),
    "point": ("m", "point of application of the force"),
    "elastic_energy": ("J", "energy stored in the contact"),
    "dissipated_power": ("W", "power of damping and friction"),
}

WRENCH_QUANTITIES = {
    "force": ("N", "force on the body, global axes"),
    "moment": ("N m", "moment on the body about the point, global axes"),
    "point": ("m", "point of action; of a joint, its point on the body"),
}
VECTORS_OF_CONTACTS = ("slip", "friction", "force", "point")
