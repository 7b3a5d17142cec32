"""Systems as immutable values, building and assembling them, whole-model kernels.  Imports `lanes` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.system.contact_building import hertz_stiffness
    from runtime.system.coupling import Coupling
    from runtime.system.displacement import displaced, joint_coordinates
    from runtime.system.frames import Frame
    from runtime.system.laws_at import limit_moment, rigid_constants, rigid_muscle
    from runtime.system.limit_building import RestrictingMoment, restricting_moment
    from runtime.system.muscle_start import in_equilibrium
    from runtime.system.parts import Body, Contact, Joint, Limit
    from runtime.system.quantity import coordinate_units
    from runtime.system.shapes import Shape
    from runtime.system.spans import span_at
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "contact_building": "hertz_stiffness",
            "coupling": "Coupling",
            "displacement": "displaced joint_coordinates",
            "laws_at": "limit_moment rigid_constants rigid_muscle",
            "limit_building": "RestrictingMoment restricting_moment",
            "muscle_start": "in_equilibrium",
            "parts": "Body Contact Joint Limit",
            "quantity": "coordinate_units",
            "frames": "Frame",
            "shapes": "Shape",
            "spans": "span_at",
        },
    )

__all__ = [
    "Body",
    "Contact",
    "Coupling",
    "Joint",
    "Limit",
    "RestrictingMoment",
    "Frame",
    "Shape",
    "coordinate_units",
    "displaced",
    "hertz_stiffness",
    "in_equilibrium",
    "joint_coordinates",
    "limit_moment",
    "restricting_moment",
    "rigid_constants",
    "rigid_muscle",
    "span_at",
]
