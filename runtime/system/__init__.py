"""Systems as immutable values, building and assembling them, whole-model kernels.  Imports `dynamics` and below."""

from runtime.system.contact_building import hertz_stiffness
from runtime.system.limit_building import RestrictingMoment, restricting_moment
from runtime.system.parts import Body, Contact, Joint, Limit

__all__ = ["Body", "Contact", "Joint", "Limit", "RestrictingMoment", "hertz_stiffness", "restricting_moment"]
