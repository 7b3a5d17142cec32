"""Controllers of OpenSim models that set excitations of muscles: functions of time, and the reflex of ToyReflexController.

Source of the rules: Controller, PrescribedController and ToyReflexController of OpenSim 4.6.  Their excitations add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models.files.description import FileController, Muscle
from models.files.naming import identifiers
from models.files.osim_functions import LINEAR, numbers, read_function, read_line_through_points
from models.files.osim_xml import objects, text_of, truth
from runtime import ModelError, Signal
from runtime.support import Element

TOY, PRESCRIBED = "ToyReflexController", "PrescribedController"
REFLEX = "lengthening_speed_as_opensim"
EVERY = "ALL"  # in place of names of actuators
LONG = 1e4  # [s] for which a function that ends level goes on
GAIN = 1.0  # of OpenSim


def controllers_of(model: Element, muscles: Sequence[str]) -> tuple[FileController, ...]:
    """The controllers of a model; ``muscles``: the names of those that it may set."""
    return tuple(_controller(e, muscles) for e in objects(model, "ControllerSet", None))


def _controller(e: Element, muscles: Sequence[str]) -> FileController:
    name = e.attributes.get("name") or f"{e.tag}, line {e.line}"
    enabled = truth(e, "enabled", True) and not truth(e, "isDisabled", False)
    try:
        actuators = _actuators(e, muscles)
        if e.tag == TOY:
            gain = float(numbers(e, "gain", 1, (GAIN,))[0])
            return FileController(name, enabled, gains={one: gain for one in actuators if one in muscles})
        if e.tag != PRESCRIBED:
            raise ModelError(f"controllers of the kind {e.tag} are not read; the kinds are {TOY} and {PRESCRIBED}")
        signals = dict(zip(actuators, _functions(e, len(actuators)), strict=True))
    except ModelError as error:
        return FileController(name, enabled, unread=str(error))
    of_muscles = {one: signal for one, signal in signals.items() if one in muscles}
    return FileController(
        name, enabled, signals=of_muscles, others=tuple(one for one in signals if one not in of_muscles)
    )


def _actuators(e: Element, muscles: Sequence[str]) -> list[str]:
    """Names of the actuators of a controller."""
    given = [word.split("/")[-1] for word in (text_of(e, "actuator_list") or text_of(e, "socket_actuators")).split()]
    if given[:1] and given[0].upper() == EVERY:
        if e.tag == PRESCRIBED:
            raise ModelError("sets all actuators of the model by their order; name them")
        return list(muscles)
    return [identifiers([name])[name] for name in given]


def _functions(e: Element, count: int) -> Iterator[Signal]:
    """The functions of time of a controller, one for each of its actuators in their order."""
    if text_of(e, "controls_file"):
        raise ModelError("takes its controls from a file; give excitations instead")
    found = objects(e, "ControlFunctions", None) or objects(e, "FunctionSet", None)
    if len(found) != count:
        raise ModelError(f"has {len(found)} functions for {count} actuators; give one for each, in their order")
    return map(_signal, found)


def _signal(e: Element) -> Signal:
    """A function of time; one that ends level goes on."""
    function = read_line_through_points(e) if e.tag == LINEAR else read_function(e)
    if function is not None and function.line is not None and function.line[0] == 0.0:
        return Signal.constant(function.line[1])
    if function is None or function.knots is None or len(function.knots) < 4:
        raise ModelError(
            f"has a function of the kind {e.tag}, which is not read; give a constant, a spline, lines or a step"
        )
    knots, rows = function.knots.copy(), function.coefficients
    level = [not rows[end, 1:].any() for end in (0, -1)]  # beyond its points it is a line
    knots[[0, -1]] = np.where(level, [-LONG, LONG], knots[[0, -1]])
    inner = slice(0 if level[0] else 1, len(rows) if level[1] else -1)
    return Signal(knots[inner.start : len(rows[inner]) + inner.start + 1], rows[inner])


def with_controllers(muscles: Sequence[Muscle], acting: Sequence[FileController]) -> tuple[Muscle, ...]:
    """Muscles with the excitations of the controllers that act, which begin with their default activations; others as they are.

    Raises
    ------
    ModelError
        Naming a muscle that is set by several functions of time.
    """
    found = []
    for muscle in muscles:
        signals = [one.signals[muscle.name] for one in acting if muscle.name in one.signals]
        gains = [one.gains[muscle.name] for one in acting if muscle.name in one.gains]
        if signals or gains:
            controlled: dict[str, Any] = {"activation_0": muscle.excitation}  # the default activation
            controlled |= {"reflex": REFLEX, "gain": sum(gains)} if gains else {}
            muscle = replace(muscle, excitation=_sum(muscle.name, signals), controlled=controlled)
        found.append(muscle)
    return tuple(found)


def _sum(muscle: str, signals: Sequence[Signal]) -> Signal | float:
    varying = [signal for signal in signals if not signal.is_constant]
    constant = sum(float(signal.coefficients[0, 0]) for signal in signals if signal.is_constant)
    if not varying:
        return constant
    if len(varying) > 1:
        raise ModelError(
            f"muscle '{muscle}' is set by {len(varying)} controllers over time, limit 1; choose by controllers="
        )
    coefficients = varying[0].coefficients.copy()
    coefficients[:, 0] += constant
    return Signal(varying[0].knots, coefficients)


def acting_controllers(
    controllers: Sequence[FileController], chosen: bool | Sequence[str], known: Mapping[str, FileController]
) -> tuple[FileController, ...]:
    """The controllers that act: those that the file enables and that are read, or those with these names.

    Raises
    ------
    ModelError
        For a name of none, or of one that is not read.
    """
    if isinstance(chosen, bool):
        return tuple(one for one in controllers if chosen and one.enabled and not one.unread)
    for name in chosen:
        if known[name].unread:
            raise ModelError(f"controller '{name}': {known[name].unread}; or leave its name out")
    return tuple(known[name] for name in chosen)
