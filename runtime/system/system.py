"""A system: bodies and joints by name, checked and assembled; immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from runtime.dynamics.model_data import ModelData
from runtime.jit.addresses import addresses_of
from runtime.support.arguments import checked_class, unchecked
from runtime.support.arrays import Floats, frozen
from runtime.support.checks import check_array
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.support.files import free_file, write_text
from runtime.support.html import html_table
from runtime.support.names import named
from runtime.system.armature import Armature
from runtime.system.coupling import Coupling
from runtime.system.force_addresses import (
    contact_addresses,
    counted_angles,
    force_addresses,
    limit_addresses,
    reactive_data,
)
from runtime.system.frames import Frame
from runtime.system.joint_motion import JointMotion, joint_motion
from runtime.system.model_description import Model, describe_model
from runtime.system.model_reading import read_model
from runtime.system.model_restoring import system_fields
from runtime.system.model_text import text_of
from runtime.system.model_writing import system_document
from runtime.system.muscle_modules import DELAYED
from runtime.system.parts import Assembly, Body, Contact, Force, Joint, Limit, Load, Motor
from runtime.system.reference import body_places, states_with_ground
from runtime.system.shapes import Shape
from runtime.system.signal import Signal
from runtime.system.state import State
from runtime.system.trees import Trees

T = TypeVar("T")
PARTS = ("bodies", "joints", "limits", "loads", "motors", "contacts", "forces", "gravity", "couplings", "armatures")


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class System:
    """Bodies, joints and forces, checked and assembled; immutable.  Made by ``Builder.build``.

    ``runtime.parameters(system)`` lists its parameters, ``runtime.with_parameters(system, {...})`` makes a system with others,
    ``runtime.assemble(system, state)`` moves another state onto its constraints.
    """

    MADE_BY: ClassVar[str] = "a runtime.System, from Builder.build()"
    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    limits: tuple[Limit, ...]
    loads: tuple[Load, ...]
    motors: tuple[Motor, ...]
    contacts: tuple[Contact, ...]
    forces: tuple[Force, ...]
    gravity: Floats  # (3,) [m/s^2]
    time: float  # [s] of the initial state, at which signals are evaluated
    state: State  # the assembled initial state
    assembly: Assembly
    degrees_of_freedom: int
    rank: int  # of D in the reference configuration
    redundant: tuple[str, ...]  # names of rows that repeat others, "joint.row"
    overdetermined: bool  # drivers are met by least squares
    branch_signs: tuple[tuple[float, ...], ...]  # of each joint's definition, in the reference configuration
    data: ModelData = field(repr=False)
    shapes: tuple[Shape, ...] = ()  # drawn in views
    couplings: tuple[Coupling, ...] = ()  # of coordinates of joints
    armatures: tuple[Armature, ...] = ()  # inertia of rotors along coordinates of joints
    frames: tuple[Frame, ...] = ()  # fixed in bodies
    reference: State | None = None  # its reference configuration; None: the initial state
    _made_of: tuple[Any, ...] = field(default=(), repr=False)  # the parts that the data follow from

    def __post_init__(self) -> None:
        """Refuse parts that the data do not follow from: ``dataclasses.replace`` would change a part, but no result."""
        parts = tuple(getattr(self, name) for name in PARTS)
        if type(self._made_of) is not tuple or len(self._made_of) not in (0, len(PARTS)):
            raise ModelError(f"system '{self.name}': _made_of is its own; build a system with runtime.Builder")
        if not self._made_of:
            object.__setattr__(self, "_made_of", parts)
        for name, part, known in zip(PARTS, parts, self._made_of or parts, strict=True):
            if part is not known:
                raise ModelError(
                    f"system '{self.name}': {name} cannot be replaced alone, since all data of the system follow from its parts; "
                    "use runtime.with_parameters, or build the system anew"
                )
        check_array(self.gravity, (3,), "system: gravity")
        self.check_bodies(self.state)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields without cached properties."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle: look up the addresses of compiled code in this process, and make the arrays read-only, as it requires."""
        self.__dict__.update(state)
        loads = self.data.loads._replace(address=addresses_of(motor.joint.module for motor in self.motors))
        reactive = reactive_data(self.forces, self.joints)
        kernels: dict[str, Any] = {**force_addresses(self.forces), "reactive": reactive}
        forces = self.data.forces._replace(**kernels)
        angles = counted_angles(self.joints, self.forces, self.motors)
        limits = self.data.limits._replace(address=limit_addresses(self.limits))
        contacts = self.data.contacts._replace(address=contact_addresses(self.contacts))
        address = addresses_of(j.module for j in self.joints)
        data = self.data._replace(
            address=address, angles=angles, loads=loads, limits=limits, contacts=contacts, forces=forces
        )
        object.__setattr__(self, "data", frozen(data))
        for body in self.bodies:
            body.inertia.flags.writeable = False
        self.gravity.flags.writeable = False

    def __repr__(self) -> str:
        counts = len(self.bodies), len(self.joints) - len(self.drivers), self.degrees_of_freedom
        nouns = ("body", "bodies"), ("joint", "joints"), ("degree of freedom", "degrees of freedom")
        parts = ", ".join(f"{n} {noun[n != 1]}" for n, noun in zip(counts, nouns, strict=True))
        for what in ("limit", "driver", "load", "motor", "contact", "force", "coupling"):
            if names := getattr(self, f"{what}_names"):
                parts += f", {what}s {', '.join(names)}"
        return f"System('{self.name}', {parts})"

    def _repr_html_(self) -> str:
        """Bodies and joints, for notebooks."""
        bodies = [(body.name, f"{body.mass:.4g}") for body in self.bodies]
        joints = [(joint.name, joint.kind, joint.body_i, joint.body_j) for joint in self.joints]
        of_joints = html_table("joints and drivers", ("name", "definition", "body i", "body j"), joints)
        return html_table(repr(self), ("body", "mass [kg]"), bodies) + of_joints

    def to_file(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the system to a file of JSON, from which ``from_file`` makes the same system, bit by bit; returns the file.

        Raises
        ------
        ModelError
            Where the file exists, unless ``overwrite``, or cannot be written.
        """
        return write_text(free_file(Path(file), overwrite), text_of(system_document(self)))

    @classmethod
    def from_file(cls, file: str | Path, *, definitions: Sequence[ModuleType] = ()) -> System:
        """Return the system of a file that ``to_file`` wrote; nothing is assembled anew.

        Parameters
        ----------
        file : path
        definitions : sequence of modules
            What ``codegen.compile_joint`` and ``codegen.compile_force`` returned, for the user's own definitions of the system.

        Raises
        ------
        ModelError
            Naming the file, the line, the part and the rule; also where the file or a definition was changed since it was
            written, from which ``Builder.from_file(file).build()`` makes a system.
        """
        return cls(**system_fields(read_model(Path(file), definitions)))

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in order."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in order."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def drivers(self) -> tuple[Joint, ...]:
        """The joints that are moved by prescribed signals of time."""
        return tuple(joint for joint in self.joints if joint.signals)

    @property
    def driver_names(self) -> tuple[str, ...]:
        """Names of the drivers in order."""
        return tuple(driver.name for driver in self.drivers)

    @property
    def load_names(self) -> tuple[str, ...]:
        """Names of the loads in order."""
        return tuple(load.name for load in self.loads)

    @property
    def motor_names(self) -> tuple[str, ...]:
        """Names of the motors in order."""
        return tuple(motor.name for motor in self.motors)

    @property
    def force_names(self) -> tuple[str, ...]:
        """Names of the forces in order."""
        return tuple(force.name for force in self.forces)

    def force(self, name: str) -> Force:
        """The force of this name."""
        return self.forces[_index(name, self.force_names, "force")]

    @cached_property
    def signals(self) -> Mapping[str, Signal]:
        """All signals by the names of their driver, load, motor, contact or force and their own, such as "leg.x_t"."""
        found = {f"{driver.name}.{name}": signal for driver in self.drivers for name, signal in driver.signals.items()}
        for load in self.loads:
            for what in ("force", "moment", "point"):
                parts = getattr(load, what) or ()
                found |= {f"{load.name}.{what}_{axis}": part for axis, part in zip("xyz", parts, strict=False)}
        found |= {f"{motor.name}.effort": motor.effort for motor in self.motors}
        found |= {f"{contact.name}.belt_speed": contact.belt_speed for contact in self.contacts}
        targets = {f"{m.name}.target": signal for m in self.motors for signal in m.joint.signals.values()}
        of_forces = ((force.name, *of) for force in self.forces for of in force.signals.items())
        found |= {f"{force}.{name}": signal for force, name, signal in of_forces if name not in DELAYED}
        return named("signal", found | targets)

    def check_span(self, t_start: float, t_end: float, what: str) -> None:
        """Refuse an interval of time [s] on which a signal is not defined; ``what``: subject of the message."""
        for name, signal in self.signals.items():
            first, last = signal.span
            slack = 1e-12 * max(abs(t_start), abs(t_end))
            if t_start < first - slack or t_end > last + slack:
                raise ModelError(
                    f"{what} from {t_start:g} to {t_end:g} s, but the signal '{name}' of system '{self.name}' is defined from "
                    f"{first:g} to {last:g} s; stay within, or give longer signals"
                )

    @property
    def limit_names(self) -> tuple[str, ...]:
        """Names of the limits in order."""
        return tuple(limit.name for limit in self.limits)

    def limit(self, name: str) -> Limit:
        """The limit of this name."""
        return self.limits[_index(name, self.limit_names, "limit")]

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contacts in order."""
        return tuple(contact.name for contact in self.contacts)

    def contact(self, name: str) -> Contact:
        """The contact of this name."""
        return self.contacts[_index(name, self.contact_names, "contact")]

    @property
    def coupling_names(self) -> tuple[str, ...]:
        """Names of the couplings in order."""
        return tuple(coupling.name for coupling in self.couplings)

    def coupling(self, name: str) -> Coupling:
        """The coupling of this name."""
        return self.couplings[_index(name, self.coupling_names, "coupling")]

    def body(self, name: str) -> Body:
        """The body of this name."""
        return self.bodies[self.body_index(name)]

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return self.joints[_index(name, self.joint_names, "joint")]

    def body_index(self, name: str) -> int:
        """Index of a body among the bodies."""
        return _index(name, self.body_names, "body", "bodies")

    def row_name(self, joint: int, row: int) -> str:
        """``joint.row`` of a row, for messages."""
        if 0 <= (k := joint - len(self.joints)) < len(self.couplings):
            return f"coupling '{self.couplings[k].name}'"
        if not (0 <= joint < len(self.joints) and 0 <= row < len(self.joints[joint].rows)):
            raise ModelError(f"system '{self.name}': there is no row {row} of joint {joint}; see system.joints")
        return f"{self.joints[joint].name}.{self.joints[joint].rows[row]}"

    @cached_property
    def model(self) -> Model:
        """Description of the system for a whole-model kernel, ``codegen.compile_model``."""
        loaded = bool(self.limits or self.loads or self.motors or self.contacts or self.forces)
        return describe_model(self.name, self.body_names, self.joints, loaded, self.data, self.state.y)

    @property
    def reference_configuration(self) -> State:
        """The state in which constants of joints, limits and forces were computed and coordinates of joints are 0."""
        return self.reference or self.state

    @cached_property
    def joint_motions(self) -> Mapping[str, JointMotion]:
        """Motions of the joints that have coordinates, by their names."""
        states, places = states_with_ground(self.reference_configuration.y), body_places(self.body_names)
        found = {j.name: joint_motion(j, states[places[j.body_i]], states[places[j.body_j]]) for j in self.joints}
        return {name: motion for name, motion in found.items() if motion is not None}

    @cached_property
    def _trees(self) -> Trees:
        """For ``runtime.system.trees.trees_of``, and for codegen, which imports no other room."""
        return Trees(self)

    @cached_property
    def joint_coordinates_only(self) -> bool:
        """Whether couplings or armature act along its coordinates, which the equations of all bodies do not know."""
        return bool(self.couplings or self.armatures)

    @property
    def loaded(self) -> bool:
        """Whether forces other than gravity and reactions act on its bodies."""
        return any((self.limits, self.contacts, self.forces, self.loads, self.motors))

    def check_bodies(self, state: State) -> None:
        """Refuse a state of other bodies than this system's."""
        if not isinstance(state, State):
            raise ModelError(
                f"system '{self.name}': {shown(state)} is no State; change system.state with its replace()"
            )
        if state.names != self.body_names:
            raise ModelError(
                f"system '{self.name}': the state is of the bodies {', '.join(state.names)}, not {', '.join(self.body_names)}; "
                "change system.state with its replace()"
            )
        state.check(len(self.data.mass) - 1)


def with_fields(one: T, **changes: Any) -> T:
    """``dataclasses.replace`` for values whose types are known: checking them again takes most of its time."""
    own = fields(one)  # type: ignore[arg-type]
    return unchecked(type(one), **{f.name: changes.get(f.name, getattr(one, f.name)) for f in own})


def _index(name: str, names: tuple[str, ...], what: str, several: str = "") -> int:
    if name not in names:
        raise unknown_name(name, names, what, several)
    return names.index(name)
