"""The flat data of a system from its parts and its reference configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.angles import COUNT
from runtime.dynamics.loads import AT_BODY_POINT, AT_CENTRE, AT_GLOBAL_POINT, LoadData
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.sparsity import has_loops, sparsity
from runtime.jit.addresses import addresses_of
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats, frozen
from runtime.system.armature import Armature
from runtime.system.contact_building import contact_data
from runtime.system.coupling import Coupling
from runtime.system.force_addresses import counted_angles, place_of_signal
from runtime.system.force_building import force_data
from runtime.system.frames import Frame
from runtime.system.limit_building import limit_data
from runtime.system.mass_data import mass_data
from runtime.system.parts import Body, Contact, Force, Joint, Limit, Load, Motor
from runtime.system.reference import body_places, reference_data, states_with_ground
from runtime.system.shapes import Shape
from runtime.system.signal import NO_SIGNAL, Signal, signal_data

OF_LOAD = 9  # signals of a load
NO_POINT = (NO_SIGNAL,) * 3


class Parts(NamedTuple):
    """The parts of a system; drivers are among the joints."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    limits: tuple[Limit, ...]
    loads: tuple[Load, ...]
    motors: tuple[Motor, ...]
    contacts: tuple[Contact, ...]
    forces: tuple[Force, ...]
    shapes: tuple[Shape, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    armatures: tuple[Armature, ...] = ()
    frames: tuple[Frame, ...] = ()


def model_data(parts: Parts, gravity: Floats, y: Floats, *, fit: bool) -> ModelData:
    """Read-only flat data of a system.

    Held constants and carried vectors are computed in the configuration y.  With ``fit`` the rows of drivers are left out,
    because the drivers are met by least squares.
    """
    bodies, joints = parts.bodies, parts.joints
    places, states = body_places(body.name for body in bodies), states_with_ground(y)
    rows = np.array([0 if fit and j.signals else len(j.rows) for j in joints], np.int64)
    inertia = np.array([np.eye(3)] + [body.inertia for body in bodies])
    inertia_inverse, thin_body, thin = mass_data(bodies, joints)
    of_joints = reference_data("joint", joints, places, states)
    ends = of_joints["body_i"], of_joints["body_j"]
    driven = [
        (k, joint.module.SIZE - 3 * (len(joint.signals) - n))
        for k, joint in enumerate(joints)
        for n in range(len(joint.signals))
    ]
    loads = load_data(parts.loads, parts.motors, places, states, len(driven))
    signals = signals_of(joints, parts.loads, parts.motors, parts.contacts, parts.forces)
    first_of_forces = len(signals) - sum(len(force.signals) for force in parts.forces)
    # The highest derivatives on which accelerations depend: of drivers, of targets of motors, and of all that moves bodies.
    order = np.zeros(len(signals), np.int64)
    order[: len(driven)] = 2
    order[loads.target] = order[first_of_forces:] = 1
    angles = counted_angles(joints, parts.forces, parts.motors)
    data = ModelData(
        mass=np.array([1.0] + [body.mass for body in bodies]),
        inertia=inertia,
        inertia_inverse=inertia_inverse,
        thin_body=thin_body,
        thin=thin,
        gravity=gravity.copy(),
        alpha=5.0,
        beta=5.0,
        closed=int(has_loops(*ends, [j.holds_points for j in joints])),
        redundant=0,
        counted=int(angles[:, COUNT].sum()),
        address=addresses_of(j.module for j in joints),
        rows=rows,
        angles=angles,
        **of_joints,
        signals=signal_data(signals, None if fit else order),  # what is fitted is never integrated
        signal_joint=np.array([k for k, _ in driven], np.int64),
        signal_place=np.array([place for _, place in driven], np.int64),
        sparsity=sparsity(*ends),
        limits=limit_data(parts.limits, places, states),
        loads=loads,
        contacts=contact_data(parts.contacts, places, states, first_of_forces - len(parts.contacts)),
        forces=force_data(parts.forces, joints, places, states, first_of_forces),
    )
    return frozen(data)


def signals_of(
    joints: Sequence[Joint], loads: Sequence[Load], motors: Sequence[Motor], contacts: Sequence[Contact],
    forces: Sequence[Force],
) -> list[Signal]:  # fmt: skip
    """Signals in the order of their numbers: of drivers, loads and motors, contacts and forces."""
    found = [signal for joint in joints for signal in joint.signals.values()]
    found += signals_of_loads(loads, motors) + [contact.belt_speed for contact in contacts]
    return found + [signal for force in forces for signal in force.signals.values()]


def signals_of_loads(loads: Sequence[Load], motors: Sequence[Motor]) -> list[Signal]:
    """Signals in the order of their numbers: force, point and moment of each load, then efforts, then targets of motors."""
    components = [s for load in loads for s in (*load.force, *(load.point or NO_POINT), *load.moment)]
    targets = [signal for motor in motors for signal in motor.joint.signals.values()]
    return components + [motor.effort for motor in motors] + targets


def load_data(
    loads: Sequence[Load], motors: Sequence[Motor], places: Mapping[str, int], states: Floats, first_signal: int
) -> LoadData:
    """Flat data of loads and motors, whose signals are numbered from ``first_signal``."""
    numbers = first_signal + np.arange(len(signals_of_loads(loads, motors)), dtype=np.int64)
    components, efforts, targets = np.split(numbers, np.cumsum([OF_LOAD * len(loads), len(motors)]))
    joints, angle_place = [motor.joint for motor in motors], np.array([place_of_signal(m) for m in motors], np.int64)
    of_motors = reference_data("motor", joints, places, states)
    for k, motor in enumerate(motors):
        if motor.winds:
            ends, x = (of_motors["body_i"][k], of_motors["body_j"][k]), of_motors["x"][k]
            python_code(motor.joint.module.phi)(*states[[*ends]], x, x[angle_place[k] :])
    return LoadData(
        body=np.array([places[load.body] for load in loads], np.int64),
        at=np.array(
            [
                AT_CENTRE if load.point is None else AT_BODY_POINT if load.point_of_body else AT_GLOBAL_POINT
                for load in loads
            ],
            np.int64,
        ),
        in_body_axes=np.array([load.axes == "body" for load in loads], np.int64),
        signal=components.reshape(-1, OF_LOAD),
        address=addresses_of(j.module for j in joints),
        **of_motors,
        effort=efforts,
        target=targets,
        angle_place=angle_place,
        stiffness=np.array([motor.stiffness for motor in motors], float),
        damping=np.array([motor.damping for motor in motors], float),
    )
